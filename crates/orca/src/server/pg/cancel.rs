//! Keys by which a client ends its query from another connection.

use env::{Chance, OsChance};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::oneshot;

/// Names a connection; nobody guesses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) pid: i32,
    pub(super) secret: i32,
}

/// What ends the work that a connection does now, if it does some.
pub(super) type Stop = Arc<Mutex<Option<oneshot::Sender<()>>>>;

/// The keys of all connections.
#[derive(Default)]
pub(super) struct Keys {
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    last_pid: i32,
    /// The secret of each connection, and what ends its work.
    by_pid: HashMap<i32, (i32, Stop)>,
}

impl Keys {
    /// A key for a connection, until what is given back is dropped.
    pub(super) fn give(self: &Arc<Keys>) -> Held {
        let mut known = self.known.lock();
        known.last_pid = known.last_pid.wrapping_add(1).max(1);
        let key = Key { pid: known.last_pid, secret: OsChance.next() as i32 };
        let stop = Stop::default();
        known.by_pid.insert(key.pid, (key.secret, stop.clone()));
        Held { keys: self.clone(), key, stop }
    }

    /// How many connections there are.
    pub(super) fn count(&self) -> usize {
        self.known.lock().by_pid.len()
    }

    /// Ends what the connection of this key does.
    pub(super) fn cancel(&self, key: Key) {
        let known = self.known.lock();
        if let Some((secret, stop)) = known.by_pid.get(&key.pid)
            && *secret == key.secret
            && let Some(stop) = stop.lock().take()
        {
            // The work may be done already.
            let _ = stop.send(());
        }
    }
}

/// A key that is in use.
pub(super) struct Held {
    keys: Arc<Keys>,
    pub(super) key: Key,
    pub(super) stop: Stop,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.keys.known.lock().by_pid.remove(&self.key.pid);
    }
}
