//! Statements that clients have prepared, and queries that can be cancelled.
//!
//! Invariants:
//! - So many prepared statements are kept at most; the one unused longest goes first.
//! - A query is among the running ones exactly as long as its answer is being read.

use super::status::status;
use crate::failure::Failure;
use data::{Scalar, Type};
use env::{Chance, Kind, OsChance};
use parking_lot::Mutex;
use query::Prepared;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Notify;
use tonic::Status;

/// How many prepared statements are kept for all clients together.
const PREPARED_MAX: usize = 1_000;

/// The values of `$1`, `$2`, … for one run.
pub(super) type Parameters = Vec<(Type, Scalar)>;

/// A prepared statement and the parameters that were bound to it last, a list for each run.
#[derive(Clone)]
pub(super) struct Statement {
    /// The statement.
    pub(super) prepared: Prepared,
    /// Nothing was bound: it runs once, without parameters.
    pub(super) bound: Option<Arc<Vec<Parameters>>>,
}

impl Statement {
    /// The parameters of each of its runs.
    pub(super) fn runs(&self) -> Result<Vec<Parameters>, Status> {
        let wanted = self.prepared.parameters().len();
        match &self.bound {
            Some(runs) => Ok(runs.to_vec()),
            None if wanted == 0 => Ok(vec![vec![]]),
            None => Err(status(Failure::new(format!("parameters are missing: wanted=`{wanted}`, given=`0`")))),
        }
    }
}

/// All of them.
#[derive(Default)]
pub(super) struct Statements {
    prepared: Mutex<BTreeMap<String, (Statement, Instant)>>,
    running: Arc<Mutex<BTreeMap<String, Arc<Notify>>>>,
}

impl Statements {
    /// Keeps a prepared statement; gives its handle.
    pub(super) fn keep(&self, prepared: Prepared) -> String {
        let handle = new_id();
        let mut kept = self.prepared.lock();
        while kept.len() >= PREPARED_MAX {
            let oldest = kept.iter().min_by_key(|(_, (_, used))| *used).map(|(handle, _)| handle.clone());
            kept.remove(&oldest.expect("there is one"));
        }
        kept.insert(handle.clone(), (Statement { prepared, bound: None }, Instant::now()));
        handle
    }

    /// A prepared statement.
    pub(super) fn get(&self, handle: &str) -> Result<Statement, Status> {
        let mut kept = self.prepared.lock();
        let (statement, used) = kept.get_mut(handle).ok_or_else(|| no_such_statement(handle))?;
        *used = Instant::now();
        Ok(statement.clone())
    }

    /// Binds parameters to a statement, for its next runs.
    pub(super) fn bind(&self, handle: &str, runs: Vec<Parameters>) -> Result<(), Status> {
        let mut kept = self.prepared.lock();
        let (statement, _) = kept.get_mut(handle).ok_or_else(|| no_such_statement(handle))?;
        statement.bound = Some(Arc::new(runs));
        Ok(())
    }

    /// Forgets a statement; nothing if there is none.
    pub(super) fn close(&self, handle: &str) {
        self.prepared.lock().remove(handle);
    }

    /// Takes a query among the running ones, until what is given is dropped.
    pub(super) fn run(&self, id: &str) -> Run {
        let cancelled = Arc::new(Notify::new());
        self.running.lock().insert(id.to_string(), cancelled.clone());
        Run { id: id.to_string(), cancelled, running: self.running.clone() }
    }

    /// Cancels a query; false if no such one is running.
    pub(super) fn cancel(&self, id: &str) -> bool {
        self.running.lock().get(id).map(|cancelled| cancelled.notify_one()).is_some()
    }
}

/// A query that runs.
pub(super) struct Run {
    id: String,
    cancelled: Arc<Notify>,
    running: Arc<Mutex<BTreeMap<String, Arc<Notify>>>>,
}

impl Run {
    /// Resolves when somebody cancels it.
    pub(super) async fn cancelled(self) -> Status {
        self.cancelled.notified().await;
        Status::cancelled("query was cancelled")
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let mut running = self.running.lock();
        // The same ticket may be read twice; the later reader's entry is its own.
        if running.get(&self.id).is_some_and(|cancelled| Arc::ptr_eq(cancelled, &self.cancelled)) {
            running.remove(&self.id);
        }
    }
}

fn no_such_statement(handle: &str) -> Status {
    status(Failure::of(
        Kind::NotFound,
        format!("no such prepared statement: handle=`{handle}`; it was closed, or is among those unused longest"),
    ))
}

/// A name that nobody guesses.
pub(super) fn new_id() -> String {
    format!("{:016x}{:016x}", OsChance.next(), OsChance.next())
}
