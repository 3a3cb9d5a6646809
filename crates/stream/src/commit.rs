//! Group commit: while one thread writes, the requests of others gather, and the next one to write takes them all.

use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;

/// What is written to, behind a lock, and the requests that wait for it.
#[derive(Debug, Default)]
pub(crate) struct GroupCommit<S, Q, A> {
    state: Mutex<S>,
    waiting: Mutex<Vec<Waiting<Q, A>>>,
}

#[derive(Debug)]
struct Waiting<Q, A> {
    request: Q,
    answer: Arc<Mutex<Option<A>>>,
}

impl<S, Q, A> GroupCommit<S, Q, A> {
    pub(crate) fn new(state: S) -> GroupCommit<S, Q, A> {
        GroupCommit { state: Mutex::new(state), waiting: Mutex::new(vec![]) }
    }

    /// The state, for what is no request.
    pub(crate) fn lock(&self) -> MutexGuard<'_, S> {
        self.state.lock()
    }

    /// Has a request committed, by this thread or by one that was here before. `commit` gives an answer a request.
    pub(crate) fn run(&self, request: Q, commit: impl FnOnce(&mut S, Vec<Q>) -> Vec<A>) -> A {
        let mine = Arc::new(Mutex::new(None));
        self.waiting.lock().push(Waiting { request, answer: mine.clone() });
        let mut state = self.state.lock();
        if let Some(answer) = mine.lock().take() {
            return answer;
        }
        let waiting = std::mem::take(&mut *self.waiting.lock());
        let (requests, slots): (Vec<_>, Vec<_>) = waiting.into_iter().map(|one| (one.request, one.answer)).unzip();
        let answers = commit(&mut state, requests);
        assert_eq!(answers.len(), slots.len(), "an answer a request");
        slots.iter().zip(answers).for_each(|(slot, answer)| *slot.lock() = Some(answer));
        mine.lock().take().expect("a request that waited was among those committed")
    }
}
