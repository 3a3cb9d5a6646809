//! Scripts of clients: each in a session of its own, or in one that the client goes on with.

use crate::embedded::Embedded;
use crate::failure::Failure;
use crate::script_session::{Said, ScriptSession};
use env::{Chance, Kind, OsChance};
use lang::{Source, Value};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// Names a session; nobody guesses it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionId(String);

impl SessionId {
    /// The id that a client gives back.
    pub fn parse(text: &str) -> SessionId {
        SessionId(text.to_string())
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a script came to.
#[derive(Debug, Clone)]
pub struct Ran {
    /// Its last value.
    pub value: Value,
    /// What it printed and warned of, in order.
    pub said: Vec<Said>,
    /// The current catalog after it.
    pub catalog: Option<String>,
}

#[derive(Default)]
pub(super) struct Scripts {
    sessions: Mutex<BTreeMap<SessionId, Entry>>,
}

struct Entry {
    session: Arc<Mutex<Session>>,
    used: Instant,
}

struct Session {
    scripts: ScriptSession,
    said: Arc<Mutex<Vec<Said>>>,
}

impl Session {
    fn new(orca: &Embedded) -> Session {
        let said = Arc::new(Mutex::new(vec![]));
        let heard = said.clone();
        Session { scripts: orca.session(Box::new(move |line| heard.lock().push(line))), said }
    }

    fn run(&mut self, source: &Arc<Source>) -> Result<Ran, Failure> {
        let value = self.scripts.run(source);
        let said = std::mem::take(&mut *self.said.lock());
        Ok(Ran { value: value?, said, catalog: self.scripts.catalog().map(String::from) })
    }
}

impl Scripts {
    pub(super) fn open(&self, orca: &Embedded, sessions_max: usize) -> SessionId {
        let id = SessionId(format!("{:016x}{:016x}", OsChance.next(), OsChance.next()));
        let mut sessions = self.sessions.lock();
        while sessions.len() >= sessions_max.max(1) {
            let oldest = sessions.iter().min_by_key(|(_, entry)| entry.used).map(|(id, _)| id.clone());
            sessions.remove(&oldest.expect("there is one"));
        }
        sessions.insert(id.clone(), Entry { session: Arc::new(Mutex::new(Session::new(orca))), used: Instant::now() });
        id
    }

    pub(super) fn close(&self, id: &SessionId) -> bool {
        self.sessions.lock().remove(id).is_some()
    }

    pub(super) fn run(&self, orca: &Embedded, id: Option<&SessionId>, source: &Arc<Source>) -> Result<Ran, Failure> {
        let Some(id) = id else { return Session::new(orca).run(source) };
        let session = {
            let mut sessions = self.sessions.lock();
            let entry = sessions.get_mut(id);
            let entry = entry.ok_or_else(|| Failure::of(Kind::NotFound, format!("no such session: session=`{id}`")))?;
            entry.used = Instant::now();
            entry.session.clone()
        };
        let mut session = session.lock();
        session.run(source)
    }
}
