//! A folder that one process at a time may use.

use crate::error::{Error, Result};
use std::fs::{File, OpenOptions, TryLockError, create_dir_all};
use std::path::Path;

/// The file that is locked, in the folder.
const NAME: &str = "lock";

/// Holds a folder until it is dropped or the process ends, however it ends.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Takes the folder, which is made if it is missing; an error if another process holds it.
    pub fn take(folder: &Path) -> Result<FolderLock> {
        let path = folder.join(NAME).display().to_string();
        let failed = |reason: String| Error::Io { action: "lock", path: path.clone(), reason };
        create_dir_all(folder).map_err(|error| failed(error.to_string()))?;
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(folder.join(NAME));
        let file = file.map_err(|error| failed(error.to_string()))?;
        match file.try_lock() {
            Ok(()) => Ok(FolderLock { _file: file }),
            Err(TryLockError::WouldBlock) => Err(Error::InUse { folder: folder.display().to_string() }),
            Err(TryLockError::Error(error)) => Err(failed(error.to_string())),
        }
    }
}
