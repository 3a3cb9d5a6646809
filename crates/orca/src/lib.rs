//! Orca: real-time computing from one script. Master and worker in one process, and the commands of the program.

pub mod commands;
pub mod embedded;
pub mod market;
mod platform;
mod report;
mod store;
mod tables;
