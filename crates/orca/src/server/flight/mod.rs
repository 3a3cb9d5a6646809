//! The Flight SQL front.
