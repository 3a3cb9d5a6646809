//! connect.
