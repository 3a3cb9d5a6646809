//! master.
