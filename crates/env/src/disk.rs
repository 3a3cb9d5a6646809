//! A disk: files below one root, written at their ends.
//!
//! Paths are relative to the root, parts apart by `/`. What is appended survives a killed process once `write`
//! returned, and a power loss once `sync` returned; all other changes survive both once they returned.

use crate::error::{Error, Result};

/// Files and folders below one root.
pub trait Disk: Send + Sync {
    /// Opens a file for writing at its end; it and its folders are made if they are missing.
    fn append(&self, path: &str) -> Result<Box<dyn Append>>;
    /// How many bytes the file has.
    fn len(&self, path: &str) -> Result<u64>;
    /// The whole file.
    fn read(&self, path: &str) -> Result<Vec<u8>>;
    /// `len` bytes from `offset` on; fewer where the file ends before.
    fn read_range(&self, path: &str, offset: u64, len: u64) -> Result<Vec<u8>>;
    /// Names of the files and folders in a folder, sorted. A missing folder has none.
    fn list(&self, folder: &str) -> Result<Vec<String>>;
    /// Puts a small file in place, whole or not at all. Its folders are made if they are missing.
    fn replace(&self, path: &str, bytes: &[u8]) -> Result<()>;
    /// Cuts a file to its first `len` bytes.
    fn truncate(&self, path: &str, len: u64) -> Result<()>;
    /// Removes a file; no error if there is none.
    fn remove(&self, path: &str) -> Result<()>;
    /// Removes a folder and all in it; no error if there is none.
    fn remove_folder(&self, folder: &str) -> Result<()>;
}

/// A file open for writing at its end.
pub trait Append: Send {
    /// Writes all bytes at the end, by one call to the operating system unless it takes fewer.
    fn write(&mut self, bytes: &[u8]) -> Result<()>;
    /// Returns when all that was written survives a power loss.
    fn sync(&mut self) -> Result<()>;
}

/// The parts of a path, if it stays below the root. The root itself has none.
pub(crate) fn parts(path: &str) -> Result<Vec<&str>> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let strange = |part: &&str| matches!(*part, "." | "..") || part.contains(['\\', '\0']);
    if path.starts_with('/') || parts.iter().any(strange) {
        return Err(Error::Path { path: path.to_string() });
    }
    Ok(parts)
}
