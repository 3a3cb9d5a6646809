//! A reader of a table that is told of new rows: a place in the table, and no queue.
//!
//! The table keeps its rows anyway, so a reader that stops reading costs nothing but its place.

use super::hub::{Hub, Part, Told};
use super::text::Text;
use crate::failure::Failure;
use data::Batch;
use env::Kind;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use stream::{Cursor, Start, Table};
use tokio::sync::watch;

/// How often a reader without news makes sure that its table is still there, and the same.
const LOOK: Duration = Duration::from_secs(1);

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
    /// The offset of the first row, if the filter leaves it in.
    pub from: u64,
    /// The offset to go on from.
    pub next: u64,
    /// How many rows were passed over before these.
    pub missed: u64,
    /// The rows, less those that the filter leaves out; there may be none left.
    pub rows: Batch,
}

/// Tells whether a table has not been dropped.
pub(super) type IsThere = Box<dyn Fn(&Arc<Table>) -> bool + Send + Sync>;

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
        self.table.end().saturating_sub(self.offset.load(Relaxed))
    }
}

/// A reader of one table.
pub struct Subscription {
    place: Arc<Place>,
    hub: Arc<Hub>,
    told: watch::Receiver<Told>,
    /// Where the table ended when it began.
    end_then: u64,
    cursor: Cursor,
    wanted: Wanted,
    filter: Option<query::Filter>,
    is_there: IsThere,
    /// Passed over and not told yet.
    missed: u64,
}

impl Subscription {
    /// Begins to read what the hub's table has. `is_there` tells whether the table has not been dropped.
    pub(super) fn new(hub: Arc<Hub>, wanted: Wanted, is_there: IsThere) -> Result<Subscription, Failure> {
        let table = hub.table();
        let filter = match &wanted.filter {
            Some(text) => Some(query::Filter::new(table.schema(), text)?),
            None => None,
        };
        let cursor = match (wanted.start, wanted.era) {
            (Start::At(offset), Some(era)) => Cursor::resume(table.clone(), era, offset)?,
            (start, _) => Cursor::new(table.clone(), start)?,
        };
        let place = Arc::new(Place {
            table: table.clone(),
            slow: wanted.slow,
            filter: wanted.filter.clone(),
            offset: AtomicU64::new(cursor.offset()),
            missed: AtomicU64::new(0),
        });
        let (told, end_then) = (hub.told(), table.end());
        Ok(Subscription { place, hub, told, end_then, cursor, wanted, filter, is_there, missed: 0 })
    }

    /// Where it is, for whoever looks on.
    pub(super) fn place(&self) -> &Arc<Place> {
        &self.place
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
            let Told { end, rows } = self.told.borrow_and_update().clone();
            if let Some(news) = self.read(end.max(self.end_then), rows)? {
                return Ok(news);
            }
            if tokio::time::timeout(LOOK, self.told.changed()).await.is_ok() {
                continue;
            }
            if !(self.is_there)(self.table()) {
                return Err(Failure::of(Kind::NotFound, format!("table was dropped: table=`{}`", self.table().name())));
            }
            // A table that was cut back tells nobody.
            if let Some(news) = self.look()? {
                return Ok(news);
            }
        }
    }

    /// The next rows, if there are some.
    pub fn look(&mut self) -> Result<Option<News>, Failure> {
        let end = self.cursor.end()?;
        self.read(end, None)
    }

    /// What stands for these rows in a message; made once for all readers that get the same. One kind of text only is shared
    /// by the readers of a table.
    pub fn shared(&self, news: &News, make: impl FnOnce(&News) -> String) -> Arc<Text> {
        let News { era, from, next, missed, .. } = *news;
        self.hub.texts.get(Part { filter: self.wanted.filter.clone(), era, from, next, missed }, || make(news))
    }

    /// The next rows before this offset; `read` are the last of them, with their era and first offset, if somebody has them.
    fn read(&mut self, end: u64, read: Option<(u64, u64, Batch)>) -> Result<Option<News>, Failure> {
        self.keep_up(end)?;
        let (era, from, rows_max) = (self.era(), self.offset(), self.wanted.rows_max.max(1));
        let rows = match read {
            Some((of, first, rows)) if (of, first) == (era, from) && rows.rows() <= rows_max => {
                self.cursor.pass(&rows);
                Some(rows)
            }
            _ if end <= from => None,
            _ => self.cursor.next(rows_max.min((end - from) as usize))?,
        };
        self.place.offset.store(self.offset(), Relaxed);
        let Some(rows) = rows else { return Ok(None) };
        let rows = match &self.filter {
            Some(filter) => filter.apply(&rows)?,
            None => rows,
        };
        Ok(Some(News { era, from, next: self.offset(), missed: std::mem::take(&mut self.missed), rows }))
    }

    /// Does what the policy says if it is too far behind this offset.
    fn keep_up(&mut self, end: u64) -> Result<(), Failure> {
        let lag = end.saturating_sub(self.offset());
        match self.wanted.slow {
            Slow::DropOldest if lag > self.wanted.lag_rows_max || lag > 0 && self.offset() < self.table().start() => {
                let (_, start, end) = self.table().extent();
                let offset = end.saturating_sub(self.wanted.lag_rows_max).max(start);
                let missed = offset - self.offset();
                self.cursor = Cursor::resume(self.table().clone(), self.era(), offset)?;
                self.missed += missed;
                self.place.missed.fetch_add(missed, Relaxed);
                Ok(())
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
            _ => Ok(()),
        }
    }
}
