//! Orca: real-time computing from one script. Master and worker in one process, and the commands of the program.

pub mod client;
pub mod commands;
pub mod embedded;
pub mod failure;
pub mod market;
pub mod metrics;
mod platform;
mod report;
pub mod script_session;
pub mod server;
pub mod settings;
mod store;
pub mod tables;
pub mod trace;
