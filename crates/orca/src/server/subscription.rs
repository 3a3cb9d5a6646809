//! A reader of a table that is told of new rows: a place in the table and a bell, and no queue.
//!
//! The table keeps its rows anyway, so a reader that stops reading costs nothing but its place; whoever appends rings the
//! bell at most once until the reader has looked. What is sent to readers is made on threads that give way to graphs: on a
//! busy machine a reader falls behind, and its messages get longer.

use crate::failure::Failure;
use data::Batch;
use env::Kind;
use futures::future::{Either, select};
use futures::{Stream, StreamExt};
use parking_lot::Mutex;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use stream::{Cursor, Start, Table};
use tokio::runtime::Handle;
use tokio::sync::{Notify, mpsc};

/// How often a reader without news makes sure that its table is still there.
const LOOK: Duration = Duration::from_secs(1);

/// Appends within this time of one another are read together.
const PAUSE: Duration = Duration::from_millis(1);

/// Many readers pause longer, so that together they cost appends the same.
const PAUSE_EACH: Duration = Duration::from_micros(200);

/// What becomes of a reader that is further behind than it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slow {
    /// It reads on from where it is, as long as the table keeps the rows.
    Wait,
    /// It goes on with the newest rows that it may be behind, and hears how many it missed.
    DropOldest,
    /// It is ended; the error names the offset to go on from.
    Disconnect,
}

impl Slow {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Slow::Wait => "wait",
            Slow::DropOldest => "drop_oldest",
            Slow::Disconnect => "disconnect",
        }
    }

    /// The policy of this name: `wait`, `drop_oldest` or `disconnect`.
    pub fn parse(name: &str) -> Result<Slow, Failure> {
        match name {
            "wait" => Ok(Slow::Wait),
            "drop_oldest" => Ok(Slow::DropOldest),
            "disconnect" => Ok(Slow::Disconnect),
            _ => Err(Failure::new(format!("no such policy: slow=`{name}`, known=`wait, drop_oldest, disconnect`"))),
        }
    }
}

/// Where to begin, as clients write it.
pub fn parse_start(text: &str) -> Result<Start, Failure> {
    match text {
        "first" => Ok(Start::First),
        "next" => Ok(Start::Next),
        number => number
            .parse()
            .map(Start::At)
            .map_err(|_| Failure::new(format!("an offset is first, next or a number: from=`{text}`"))),
    }
}

/// What a reader wants.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Where to begin.
    pub start: Start,
    /// The era that the offset is of; the present one if `None`.
    pub era: Option<u64>,
    /// Which rows: a condition as it stands after WHERE.
    pub filter: Option<String>,
    /// What happens when it is too slow.
    pub slow: Slow,
    /// How many rows it may be behind, where that matters.
    pub lag_rows_max: u64,
    /// How many rows it gets at once.
    pub rows_max: usize,
}

impl Default for Wanted {
    fn default() -> Wanted {
        Wanted {
            start: Start::First,
            era: None,
            filter: None,
            slow: Slow::Wait,
            lag_rows_max: 1_000_000,
            rows_max: 8_192,
        }
    }
}

/// What a reader gets.
#[derive(Debug, Clone)]
pub struct News {
    /// The era of the offsets.
    pub era: u64,
    /// The offset to go on from.
    pub next: u64,
    /// How many rows were passed over before these.
    pub missed: u64,
    /// The rows, less those that the filter leaves out; there may be none left.
    pub rows: Batch,
}

/// Tells whether a table has not been dropped.
type IsThere = Box<dyn Fn(&Arc<Table>) -> bool + Send + Sync>;

/// Where a reader is, for whoever looks on.
#[derive(Debug)]
pub struct Place {
    /// Its table.
    pub table: Arc<Table>,
    /// What happens when it is too slow.
    pub slow: Slow,
    /// Which rows it wants.
    pub filter: Option<String>,
    /// The offset of the next row it reads.
    pub offset: AtomicU64,
    /// Rows that were passed over so far.
    pub missed: AtomicU64,
}

impl Place {
    /// How many rows it is behind.
    pub fn lag(&self) -> u64 {
        self.table.end().saturating_sub(self.offset.load(Ordering::Relaxed))
    }
}

/// The readers there are, and the threads on which their messages are made.
pub(super) struct Readers {
    places: Mutex<Vec<Weak<Place>>>,
    /// Each reader holds it too: it counts them.
    together: Arc<()>,
    threads: Handle,
}

impl Readers {
    pub(super) fn new(threads: Handle) -> Readers {
        Readers { places: Mutex::default(), together: Arc::default(), threads }
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

    /// Looks on at a reader until it goes.
    pub(super) fn watch(&self, subscription: &mut Subscription) {
        let mut places = self.places.lock();
        places.retain(|place| place.strong_count() > 0);
        places.push(Arc::downgrade(&subscription.place));
        subscription.together = self.together.clone();
    }

    /// Where each reader is.
    pub(super) fn places(&self) -> Vec<Arc<Place>> {
        self.places.lock().iter().filter_map(Weak::upgrade).collect()
    }
}

/// A reader of one table.
pub struct Subscription {
    place: Arc<Place>,
    cursor: Cursor,
    wanted: Wanted,
    filter: Option<query::Filter>,
    bell: Arc<Bell>,
    is_there: IsThere,
    together: Arc<()>,
    looked: Instant,
}

impl Subscription {
    /// Begins to read. `is_there` tells whether the table has not been dropped.
    pub fn new(
        table: Arc<Table>,
        wanted: Wanted,
        is_there: impl Fn(&Arc<Table>) -> bool + Send + Sync + 'static,
    ) -> Result<Subscription, Failure> {
        let filter = match &wanted.filter {
            Some(text) => Some(query::Filter::new(table.schema(), text)?),
            None => None,
        };
        let cursor = match (wanted.start, wanted.era) {
            (Start::At(offset), Some(era)) => Cursor::resume(table.clone(), era, offset)?,
            (start, _) => Cursor::new(table.clone(), start)?,
        };
        let bell = Arc::new(Bell::default());
        let heard = Arc::downgrade(&bell);
        table.listen(
            table.end(),
            Box::new(move |_| match heard.upgrade() {
                Some(bell) => {
                    bell.ring();
                    true
                }
                None => false,
            }),
        );
        let place = Arc::new(Place {
            table: table.clone(),
            slow: wanted.slow,
            filter: wanted.filter.clone(),
            offset: AtomicU64::new(cursor.offset()),
            missed: AtomicU64::new(0),
        });
        let (is_there, together, looked) = (Box::new(is_there), Arc::default(), Instant::now());
        Ok(Subscription { place, cursor, wanted, filter, bell, is_there, together, looked })
    }

    /// The table.
    pub fn table(&self) -> &Arc<Table> {
        self.cursor.table()
    }

    /// The era of its offset.
    pub fn era(&self) -> u64 {
        self.cursor.era()
    }

    /// The offset of the next row it reads.
    pub fn offset(&self) -> u64 {
        self.cursor.offset()
    }

    /// The next rows, as soon as there are some. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Result<News, Failure> {
        loop {
            // Heard before looked: what is appended in between rings again.
            self.bell.heard();
            self.looked = Instant::now();
            if let Some(news) = self.look()? {
                return Ok(news);
            }
            match tokio::time::timeout(LOOK, self.bell.rung()).await {
                Ok(()) => {
                    let readers = Arc::strong_count(&self.together) as u32 - 1;
                    let pause = PAUSE.max(PAUSE_EACH * readers);
                    tokio::time::sleep_until((self.looked + pause).into()).await;
                }
                Err(_) if (self.is_there)(self.table()) => {}
                Err(_) => {
                    return Err(Failure::of(
                        Kind::NotFound,
                        format!("table was dropped: table=`{}`", self.table().name()),
                    ));
                }
            }
        }
    }

    /// The next rows, if there are some.
    pub fn look(&mut self) -> Result<Option<News>, Failure> {
        let missed = self.keep_up()?;
        let rows = self.cursor.next(self.wanted.rows_max.max(1))?;
        self.place.missed.fetch_add(missed, Ordering::Relaxed);
        self.place.offset.store(self.offset(), Ordering::Relaxed);
        let Some(rows) = rows else { return Ok(None) };
        let rows = match &self.filter {
            Some(filter) => filter.apply(&rows)?,
            None => rows,
        };
        Ok(Some(News { era: self.era(), next: self.offset(), missed, rows }))
    }

    /// Does what the policy says if it is too far behind; gives how many rows were passed over.
    fn keep_up(&mut self) -> Result<u64, Failure> {
        let (_, start, end) = self.table().extent();
        let lag = end.saturating_sub(self.offset());
        match self.wanted.slow {
            Slow::DropOldest if lag > self.wanted.lag_rows_max || self.offset() < start => {
                let offset = end.saturating_sub(self.wanted.lag_rows_max).max(start);
                let missed = offset - self.offset();
                self.cursor = Cursor::resume(self.table().clone(), self.era(), offset)?;
                Ok(missed)
            }
            Slow::Disconnect if lag > self.wanted.lag_rows_max => Err(Failure::of(
                Kind::Unavailable,
                format!(
                    "reader is too slow: table=`{}`, behind=`{lag}`, lag_rows_max=`{}`, go on from=`{}`, era=`{}`",
                    self.table().name(),
                    self.wanted.lag_rows_max,
                    self.offset(),
                    self.era()
                ),
            )),
            _ => Ok(0),
        }
    }
}

/// Rung by whoever appends, heard by one reader.
#[derive(Default)]
struct Bell {
    is_rung: AtomicBool,
    notify: Notify,
}

impl Bell {
    fn ring(&self) {
        // Either the reader sees the rows that were appended before, or this sees that the reader has not looked since; a
        // bell that is rung already is looked at only, for others ring it as well.
        fence(Ordering::SeqCst);
        if !self.is_rung.load(Ordering::Relaxed) && !self.is_rung.swap(true, Ordering::SeqCst) {
            self.notify.notify_one();
        }
    }

    fn heard(&self) {
        self.is_rung.store(false, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    async fn rung(&self) {
        self.notify.notified().await;
    }
}
