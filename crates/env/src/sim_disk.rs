//! A disk in memory that can be stopped at any write.
//!
//! Invariants:
//! - Every change is a *boundary*, counted from 0: each write, sync, replacement, cut and removal.
//! - After the boundary at which the process is killed nothing it asks for has an effect or an answer.

use crate::disk::{Append, Disk, parts};
use crate::error::{Error, Result};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How much of the write at which the process dies still happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kill {
    /// Nothing.
    Before,
    /// The first half of its bytes; of what cannot be halved, nothing.
    Half,
    /// All of it.
    After,
}

/// A disk in memory. Clones are one disk.
#[derive(Debug, Clone, Default)]
pub struct SimDisk {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<String, SimFile>,
    boundaries: u64,
    kill: Option<(u64, Kill)>,
    dead: bool,
}

#[derive(Debug, Clone, Default)]
struct SimFile {
    bytes: Vec<u8>,
    synced: usize,
}

impl State {
    fn alive(&self) -> Result<()> {
        if self.dead { Err(Error::Killed) } else { Ok(()) }
    }

    /// Passes a boundary: how much of the change is to happen, and whether the caller then hears of it.
    fn pass(&mut self) -> Result<(Kill, Result<()>)> {
        self.alive()?;
        let boundary = self.boundaries;
        self.boundaries += 1;
        match self.kill {
            Some((at, kill)) if at == boundary => {
                self.dead = true;
                Ok((kill, Err(Error::Killed)))
            }
            _ => Ok((Kill::After, Ok(()))),
        }
    }

    /// A change that happens whole or not at all.
    fn change(&mut self, change: impl FnOnce(&mut State)) -> Result<()> {
        let (kill, answer) = self.pass()?;
        if kill == Kill::After {
            change(self);
        }
        answer
    }

    fn file(&self, path: &str) -> Result<&SimFile> {
        self.alive()?;
        self.files.get(path).ok_or_else(|| Error::NotFound { path: path.to_string() })
    }
}

impl SimDisk {
    /// An empty disk.
    pub fn new() -> SimDisk {
        SimDisk::default()
    }

    /// How many boundaries were passed so far.
    pub fn boundaries(&self) -> u64 {
        self.state.lock().boundaries
    }

    /// Kills the process at this boundary.
    pub fn kill_at(&self, boundary: u64, kill: Kill) {
        self.state.lock().kill = Some((boundary, kill));
    }

    /// The disk as the next process finds it: with all that was written.
    pub fn revive(&self) -> SimDisk {
        SimDisk::of(self.state.lock().files.clone())
    }

    /// The disk after a power loss: with what was synced alone.
    pub fn power_loss(&self) -> SimDisk {
        let mut files = self.state.lock().files.clone();
        files.values_mut().for_each(|file| file.bytes.truncate(file.synced));
        SimDisk::of(files)
    }

    fn of(files: BTreeMap<String, SimFile>) -> SimDisk {
        SimDisk { state: Arc::new(Mutex::new(State { files, ..State::default() })) }
    }
}

/// A path in its one spelling.
fn spelled(path: &str) -> Result<String> {
    let parts = parts(path)?;
    if parts.is_empty() { Err(Error::Path { path: path.to_string() }) } else { Ok(parts.join("/")) }
}

/// What the paths of all files in a folder start with.
fn prefix(folder: &str) -> Result<String> {
    Ok(parts(folder)?.iter().fold(String::new(), |prefix, part| prefix + part + "/"))
}

impl Disk for SimDisk {
    fn append(&self, path: &str) -> Result<Box<dyn Append>> {
        let path = spelled(path)?;
        let mut state = self.state.lock();
        state.alive()?;
        state.files.entry(path.clone()).or_default();
        Ok(Box::new(SimAppend { state: self.state.clone(), path }))
    }

    fn len(&self, path: &str) -> Result<u64> {
        Ok(self.state.lock().file(&spelled(path)?)?.bytes.len() as u64)
    }

    fn read(&self, path: &str) -> Result<Vec<u8>> {
        Ok(self.state.lock().file(&spelled(path)?)?.bytes.clone())
    }

    fn read_range(&self, path: &str, offset: u64, len: u64) -> Result<Vec<u8>> {
        let state = self.state.lock();
        let bytes = &state.file(&spelled(path)?)?.bytes;
        let start = (offset as usize).min(bytes.len());
        let end = start.saturating_add(len as usize).min(bytes.len());
        Ok(bytes[start..end].to_vec())
    }

    fn list(&self, folder: &str) -> Result<Vec<String>> {
        let prefix = prefix(folder)?;
        let state = self.state.lock();
        state.alive()?;
        let below = state.files.keys().filter_map(|path| path.strip_prefix(&prefix));
        let mut names: Vec<String> = below.filter_map(|rest| rest.split('/').next()).map(str::to_string).collect();
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }

    fn replace(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let file = SimFile { bytes: bytes.to_vec(), synced: bytes.len() };
        let path = spelled(path)?;
        self.state.lock().change(|state| {
            state.files.insert(path, file);
        })
    }

    fn truncate(&self, path: &str, len: u64) -> Result<()> {
        let path = spelled(path)?;
        let mut state = self.state.lock();
        state.file(&path)?;
        state.change(|state| {
            let file = state.files.get_mut(&path).expect("looked up under this lock");
            file.bytes.resize(len as usize, 0);
            file.synced = file.bytes.len();
        })
    }

    fn remove(&self, path: &str) -> Result<()> {
        let path = spelled(path)?;
        self.state.lock().change(|state| {
            state.files.remove(&path);
        })
    }

    fn remove_folder(&self, folder: &str) -> Result<()> {
        let prefix = prefix(&spelled(folder)?)?;
        self.state.lock().change(|state| state.files.retain(|path, _| !path.starts_with(&prefix)))
    }
}

struct SimAppend {
    state: Arc<Mutex<State>>,
    path: String,
}

impl Append for SimAppend {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let mut state = self.state.lock();
        let (kill, answer) = state.pass()?;
        let written = match kill {
            Kill::Before => 0,
            Kill::Half => bytes.len() / 2,
            Kill::After => bytes.len(),
        };
        state.files.entry(self.path.clone()).or_default().bytes.extend_from_slice(&bytes[..written]);
        answer
    }

    fn sync(&mut self) -> Result<()> {
        let path = &self.path;
        self.state.lock().change(|state| {
            if let Some(file) = state.files.get_mut(path) {
                file.synced = file.bytes.len();
            }
        })
    }
}
