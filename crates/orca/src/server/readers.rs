//! All readers of tables as they grow, and the threads on which their messages are made: these give way to graphs, so that on
//! a busy machine readers fall behind, and their messages get longer.

use super::hub::Hub;
use super::subscription::{IsThere, Place, Subscription, Wanted};
use crate::failure::Failure;
use futures::future::{Either, select};
use futures::{Stream, StreamExt};
use parking_lot::Mutex;
use std::pin::pin;
use std::sync::{Arc, Weak};
use stream::Table;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// All readers there are.
pub(super) struct Readers {
    places: Arc<Places>,
    hubs: Mutex<Vec<Weak<Hub>>>,
    threads: Handle,
}

/// Readers, of which some may have gone.
type Places = Mutex<Vec<Weak<Place>>>;

impl Readers {
    pub(super) fn new(threads: Handle) -> Readers {
        Readers { places: Arc::default(), hubs: Mutex::default(), threads }
    }

    /// Begins to read a table. `is_there` tells whether it has not been dropped.
    pub(super) fn join(&self, table: Arc<Table>, wanted: Wanted, is_there: IsThere) -> Result<Subscription, Failure> {
        let subscription = Subscription::new(self.hub(table), wanted, is_there)?;
        self.places.lock().push(Arc::downgrade(subscription.place()));
        Ok(subscription)
    }

    fn hub(&self, table: Arc<Table>) -> Arc<Hub> {
        let mut hubs = self.hubs.lock();
        hubs.retain(|hub| hub.strong_count() > 0);
        let hub = hubs.iter().filter_map(Weak::upgrade).find(|hub| Arc::ptr_eq(hub.table(), &table));
        hub.unwrap_or_else(|| {
            let places = self.places.clone();
            let (hub, telling) = Hub::new(table, move || {
                let mut places = places.lock();
                places.retain(|place| place.strong_count() > 0);
                places.len() as u32
            });
            self.threads.spawn(telling);
            hubs.push(Arc::downgrade(&hub));
            hub
        })
    }

    /// Does work on the readers' threads.
    pub(super) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
        self.threads.spawn(work)
    }

    /// The same messages, made on the readers' threads one ahead of whoever takes them. Dropping it ends them.
    pub(super) fn aside<S>(&self, messages: S) -> impl Stream<Item = S::Item> + Send + use<S>
    where
        S: Stream<Item: Send> + Send + 'static,
    {
        let (sender, mut receiver) = mpsc::channel(1);
        self.threads.spawn(async move {
            let mut messages = pin!(messages);
            while let Either::Left((Some(message), _)) = select(messages.next(), pin!(sender.closed())).await {
                if sender.send(message).await.is_err() {
                    return;
                }
            }
        });
        futures::stream::poll_fn(move |context| receiver.poll_recv(context))
    }

    /// Where each reader is.
    pub(super) fn places(&self) -> Vec<Arc<Place>> {
        self.places.lock().iter().filter_map(Weak::upgrade).collect()
    }
}
