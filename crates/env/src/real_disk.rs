//! The machine's disk.

use crate::disk::{Append, Disk, parts};
use crate::error::{Error, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Ends the names of files that [`Disk::replace`] has not yet put in place.
const UNFINISHED: &str = ".tmp";

/// Files below one folder of the machine.
#[derive(Debug, Clone)]
pub struct RealDisk {
    root: PathBuf,
}

impl RealDisk {
    /// The disk whose root is this folder; made if it is missing.
    pub fn new(root: impl Into<PathBuf>) -> Result<RealDisk> {
        let root = root.into();
        make_folders(&root).map_err(|error| failed("create", &root.to_string_lossy(), error))?;
        Ok(RealDisk { root })
    }

    fn at(&self, path: &str) -> Result<PathBuf> {
        Ok(parts(path)?.iter().fold(self.root.clone(), |at, part| at.join(part)))
    }

    /// Where a file is; an error for the root, which is none.
    fn file_at(&self, path: &str) -> Result<PathBuf> {
        let at = self.at(path)?;
        if at == self.root { Err(Error::Path { path: path.to_string() }) } else { Ok(at) }
    }
}

fn failed(action: &'static str, path: &str, error: std::io::Error) -> Error {
    match error.kind() {
        ErrorKind::NotFound => Error::NotFound { path: path.to_string() },
        _ => Error::Io { action, path: path.to_string(), reason: error.to_string() },
    }
}

/// Makes a folder and those above it, each of them durable in the one that holds it.
fn make_folders(folder: &Path) -> std::io::Result<()> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    let above = folder.parent();
    above.map_or(Ok(()), make_folders)?;
    match fs::create_dir(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    above.map_or(Ok(()), sync_folder)
}

/// Makes the names in a folder durable. Only Unix has it, and only there it is needed.
fn sync_folder(folder: &Path) -> std::io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

fn sync_parent(path: &Path) -> std::io::Result<()> {
    path.parent().map_or(Ok(()), sync_folder)
}

impl Disk for RealDisk {
    fn append(&self, path: &str) -> Result<Box<dyn Append>> {
        let at = self.file_at(path)?;
        let open = || {
            at.parent().map_or(Ok(()), make_folders)?;
            let known = at.exists();
            let file = OpenOptions::new().append(true).create(true).open(&at)?;
            if !known {
                sync_parent(&at)?;
            }
            Ok(file)
        };
        let file = open().map_err(|error| failed("open", path, error))?;
        Ok(Box::new(RealFile { file, path: path.to_string() }))
    }

    fn len(&self, path: &str) -> Result<u64> {
        let data = fs::metadata(self.file_at(path)?).map_err(|error| failed("measure", path, error))?;
        Ok(data.len())
    }

    fn read(&self, path: &str) -> Result<Vec<u8>> {
        fs::read(self.file_at(path)?).map_err(|error| failed("read", path, error))
    }

    fn read_range(&self, path: &str, offset: u64, len: u64) -> Result<Vec<u8>> {
        let at = self.file_at(path)?;
        let read = || {
            let mut file = File::open(&at)?;
            file.seek(SeekFrom::Start(offset))?;
            let mut bytes = Vec::with_capacity(len as usize);
            file.take(len).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        read().map_err(|error| failed("read", path, error))
    }

    fn list(&self, folder: &str) -> Result<Vec<String>> {
        let entries = match fs::read_dir(self.at(folder)?) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(vec![]),
            entries => entries.map_err(|error| failed("list", folder, error))?,
        };
        let mut names = vec![];
        for entry in entries {
            let name = entry.map_err(|error| failed("list", folder, error))?.file_name();
            // A name that is no text is not one of ours, and a file half replaced is not there.
            names.extend(name.into_string().ok().filter(|name| !name.ends_with(UNFINISHED)));
        }
        names.sort_unstable();
        Ok(names)
    }

    fn replace(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let at = self.file_at(path)?;
        let mut unfinished = at.clone().into_os_string();
        unfinished.push(UNFINISHED);
        let replace = || {
            at.parent().map_or(Ok(()), make_folders)?;
            let mut file = File::create(&unfinished)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&unfinished, &at)?;
            sync_parent(&at)
        };
        replace().map_err(|error| failed("replace", path, error))
    }

    fn truncate(&self, path: &str, len: u64) -> Result<()> {
        let at = self.file_at(path)?;
        let truncate = || {
            let file = OpenOptions::new().write(true).open(&at)?;
            file.set_len(len)?;
            file.sync_all()
        };
        truncate().map_err(|error| failed("truncate", path, error))
    }

    fn remove(&self, path: &str) -> Result<()> {
        let at = self.file_at(path)?;
        match fs::remove_file(&at).and_then(|()| sync_parent(&at)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(failed("remove", path, error)),
            _ => Ok(()),
        }
    }

    fn remove_folder(&self, folder: &str) -> Result<()> {
        let at = self.file_at(folder)?;
        match fs::remove_dir_all(&at).and_then(|()| sync_parent(&at)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(failed("remove", folder, error)),
            _ => Ok(()),
        }
    }
}

struct RealFile {
    file: File,
    path: String,
}

impl Append for RealFile {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|error| failed("write", &self.path, error))
    }

    fn sync(&mut self) -> Result<()> {
        self.file.sync_data().map_err(|error| failed("sync", &self.path, error))
    }
}
