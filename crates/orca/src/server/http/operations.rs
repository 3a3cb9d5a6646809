//! Work that takes longer than a request: begun, looked at later, kept for a while when it is done.
//!
//! Every script is an operation; a request that waits for it waits for its outcome. A request that names a key joins the
//! operation that was begun under this key, so that a client may try again.

use super::Front;
use super::problem::{Problem, Problems};
use super::request::Path;
use crate::failure::Failure;
use axum::Json;
use axum::extract::State;
use data::{Scalar, Type, format_iso};
use env::{Chance, Clock, Kind, OsChance, RealClock};
use parking_lot::Mutex;
use serde::Serialize;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use utoipa::ToSchema;

/// Operations that are kept.
const KEPT_MAX: usize = 1_000;

/// Keys that are kept, and for how long.
const KEYS_MAX: usize = 10_000;
const KEY_LIFE: Duration = Duration::from_secs(3_600);

/// What an operation came to.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    seconds: f64,
    pub(super) result: Result<serde_json::Value, Problem>,
}

/// Work under way, or done.
pub(super) struct Operation {
    pub(super) id: String,
    what: String,
    started_ms: i64,
    begun: Instant,
    outcome: watch::Sender<Option<Outcome>>,
}

/// An operation as a client sees it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct OperationState {
    /// Its id.
    pub(crate) operation: String,
    /// What it does.
    pub(crate) what: String,
    /// `running`, `done` or `failed`.
    pub(crate) state: String,
    /// When it was begun.
    pub(crate) started: String,
    /// How long it has run, or took.
    pub(crate) seconds: f64,
    /// What it gave, if it is done: the answer of the request that waits.
    #[schema(value_type = Option<Object>)]
    pub(crate) result: Option<serde_json::Value>,
    /// Why it failed, if it has.
    pub(crate) problem: Option<Problem>,
}

impl Operation {
    /// Waits until it is done.
    pub(super) async fn outcome(&self) -> Outcome {
        let mut outcome = self.outcome.subscribe();
        let done = outcome.wait_for(Option::is_some).await.expect("an operation has its sender");
        done.clone().expect("waited for")
    }

    fn state(&self) -> OperationState {
        let outcome = self.outcome.borrow().clone();
        let (state, seconds, result, problem) = match outcome {
            None => ("running", self.begun.elapsed().as_secs_f64(), None, None),
            Some(Outcome { seconds, result: Ok(result) }) => ("done", seconds, Some(result), None),
            Some(Outcome { seconds, result: Err(problem) }) => ("failed", seconds, None, Some(problem)),
        };
        OperationState {
            operation: self.id.clone(),
            what: self.what.clone(),
            state: state.to_string(),
            started: format_iso(Type::Timestamp, self.started_ms) + "Z",
            seconds,
            result,
            problem,
        }
    }
}

/// The operations of this process.
#[derive(Default)]
pub(super) struct Operations {
    kept: Mutex<VecDeque<Arc<Operation>>>,
    keys: Mutex<HashMap<String, Keyed>>,
    hashes: RandomState,
}

struct Keyed {
    digest: u64,
    begun: Instant,
    operation: Arc<Operation>,
}

impl Operations {
    /// Begins work on a thread that may block.
    pub(super) fn begin(
        &self,
        what: String,
        work: impl FnOnce() -> Result<serde_json::Value, Failure> + Send + 'static,
    ) -> Arc<Operation> {
        let operation = Arc::new(Operation {
            id: format!("{:016x}", OsChance.next()),
            what,
            started_ms: RealClock::new().wall_ms(),
            begun: Instant::now(),
            outcome: watch::Sender::new(None),
        });
        let mut kept = self.kept.lock();
        if kept.len() >= KEPT_MAX {
            // The oldest that is done; if none is, the oldest.
            let done = kept.iter().position(|operation| operation.outcome.borrow().is_some());
            kept.remove(done.unwrap_or(0));
        }
        kept.push_back(operation.clone());
        drop(kept);
        let under_way = operation.clone();
        tokio::spawn(async move {
            let result = super::request::blocking(work).await;
            let seconds = under_way.begun.elapsed().as_secs_f64();
            under_way.outcome.send_replace(Some(Outcome { seconds, result }));
        });
        operation
    }

    /// The operation that was begun under this key by the same request, or what `begin` begins. An error if the key was
    /// used by another request.
    pub(super) fn once(
        &self,
        key: &str,
        request: &impl std::hash::Hash,
        begin: impl FnOnce() -> Arc<Operation>,
    ) -> Result<Arc<Operation>, Failure> {
        let digest = self.hashes.hash_one(request);
        let mut keys = self.keys.lock();
        match keys.get(key) {
            Some(keyed) if keyed.begun.elapsed() < KEY_LIFE && keyed.digest == digest => {
                return Ok(keyed.operation.clone());
            }
            Some(keyed) if keyed.begun.elapsed() < KEY_LIFE => {
                let message = format!("idempotency key was used by another request: key=`{key}`");
                return Err(Failure::of(Kind::Conflict, message));
            }
            _ => {}
        }
        if keys.len() >= KEYS_MAX {
            keys.retain(|_, keyed| keyed.begun.elapsed() < KEY_LIFE);
        }
        if keys.len() >= KEYS_MAX {
            let oldest = keys.iter().min_by_key(|(_, keyed)| keyed.begun).map(|(key, _)| key.clone());
            keys.remove(&oldest.expect("there is one"));
        }
        let operation = begin();
        keys.insert(key.to_string(), Keyed { digest, begun: Instant::now(), operation: operation.clone() });
        Ok(operation)
    }

    /// Every operation as a row of a table.
    pub(super) fn rows(&self) -> Vec<Vec<Scalar>> {
        let text = |text: String| Scalar::Text(text.into());
        let row = |operation: &Arc<Operation>| {
            let state = operation.state();
            vec![
                text(state.operation),
                text(state.what),
                text(state.state),
                Scalar::Int(operation.started_ms),
                Scalar::Float(state.seconds),
                state.problem.map_or(Scalar::Null, |problem| text(problem.detail)),
            ]
        };
        self.kept.lock().iter().map(row).collect()
    }

    /// Every operation that is kept, the newest last.
    pub(super) fn all(&self) -> Vec<OperationState> {
        self.kept.lock().iter().map(|operation| operation.state()).collect()
    }
}

/// The operations that are kept, the newest last
#[utoipa::path(
    get, path = "/v1/operations", tag = "operations", operation_id = "list_operations",
    responses((status = 200, description = "The operations.", body = Vec<OperationState>), Problems)
)]
pub(super) async fn list(State(front): State<Arc<Front>>) -> Json<Vec<OperationState>> {
    Json(front.operations.all())
}

/// One operation
#[utoipa::path(
    get, path = "/v1/operations/{id}", tag = "operations", operation_id = "show_operation",
    params(("id" = String, Path, description = "Its id.")),
    responses((status = 200, description = "The operation.", body = OperationState), Problems)
)]
pub(super) async fn show(
    State(front): State<Arc<Front>>,
    Path(id): Path<String>,
) -> Result<Json<OperationState>, Problem> {
    let found = front.operations.kept.lock().iter().find(|operation| operation.id == id).cloned();
    match found {
        Some(operation) => Ok(Json(operation.state())),
        None => Err(Failure::of(Kind::NotFound, format!("no such operation: operation=`{id}`")).into()),
    }
}
