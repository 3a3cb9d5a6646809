//! What the readers of one table share.
//!
//! Whoever appends rings a table's one bell, at most once until somebody has looked. The new rows are then read once for all
//! readers, and what they are sent is made once, so that many of them ask the table no more than one does.

use super::text::Text;
use data::Batch;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;
use stream::{Cursor, Start, Table};
use tokio::sync::{Notify, watch};

/// Appends within this time of one another are read together.
const PAUSE: Duration = Duration::from_millis(1);

/// How long one processor is left to others for each reader there is, after the readers of a table were told of rows: many
/// readers pause longer, so that together they cost the same.
const PAUSE_EACH: Duration = Duration::from_millis(1);

/// How many rows at most are read for all; of more each reader reads what it wants.
const SHARED_ROWS_MAX: usize = 8_192;

/// How many texts are kept for readers that are not quite together.
const TEXTS_KEPT: usize = 16;

/// What the readers of one table share.
pub(super) struct Hub {
    table: Arc<Table>,
    bell: Arc<Bell>,
    told: watch::Sender<Told>,
    pub(super) texts: Texts,
}

/// What the readers of a table are told.
#[derive(Debug, Clone, Default)]
pub(super) struct Told {
    /// The offset to read to.
    pub(super) end: u64,
    /// The last rows before it: their era, the offset of the first, and the rows; none if there are too many.
    pub(super) rows: Option<(u64, u64, Batch)>,
}

/// The part of a table that a text is about.
#[derive(PartialEq, Eq)]
pub(super) struct Part {
    pub(super) filter: Option<String>,
    pub(super) era: u64,
    pub(super) from: u64,
    pub(super) next: u64,
    pub(super) missed: u64,
}

impl Hub {
    /// A hub of readers that are to come, and what tells them of new rows until there are none left. `readers` counts those
    /// of all tables.
    pub(super) fn new(
        table: Arc<Table>,
        readers: impl Fn() -> u32 + Send,
    ) -> (Arc<Hub>, impl Future<Output = ()> + Send) {
        let bell = Arc::new(Bell::default());
        let (end, heard) = (table.end(), Arc::downgrade(&bell));
        table.listen(
            end,
            Box::new(move |_| match heard.upgrade() {
                Some(bell) => {
                    bell.ring();
                    true
                }
                None => false,
            }),
        );
        let told = watch::Sender::new(Told { end, rows: None });
        let hub = Arc::new(Hub { table, bell: bell.clone(), told, texts: Texts::default() });
        let telling = tell(Arc::downgrade(&hub), bell, readers);
        (hub, telling)
    }

    pub(super) fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// What is there, now and as it grows.
    pub(super) fn told(&self) -> watch::Receiver<Told> {
        self.told.subscribe()
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        // Whoever tells its readers hears that there are none left.
        self.bell.ring();
    }
}

/// Texts about the parts that were read last.
#[derive(Default)]
pub(super) struct Texts(Mutex<VecDeque<(Part, Making)>>);

/// A text that is made, or will be.
type Making = Arc<OnceLock<Arc<Text>>>;

impl Texts {
    /// The text for a part; made if none of its readers has.
    pub(super) fn get(&self, part: Part, make: impl FnOnce() -> String) -> Arc<Text> {
        let text = {
            let mut texts = self.0.lock();
            match texts.iter().find(|(of, _)| *of == part) {
                Some((_, text)) => text.clone(),
                None => {
                    texts.truncate(TEXTS_KEPT - 1);
                    let text = Arc::default();
                    texts.push_front((part, Arc::clone(&text)));
                    text
                }
            }
        };
        text.get_or_init(|| Arc::new(make().into())).clone()
    }
}

/// Tells the readers of a table of new rows, as long as there are readers.
async fn tell(hub: Weak<Hub>, bell: Arc<Bell>, readers: impl Fn() -> u32) {
    let mut cursor = None;
    loop {
        bell.rung().await;
        let Some(hub) = hub.upgrade() else { return };
        // Heard before looked: what is appended in between rings again.
        bell.heard();
        hub.told.send_replace(look(&hub.table, &mut cursor));
        drop(hub);
        tokio::time::sleep(PAUSE.max(PAUSE_EACH * readers() / env::processors() as u32)).await;
    }
}

/// What has come since the cursor was moved here last. Readers find out for themselves what is wrong with a table.
fn look(table: &Arc<Table>, cursor: &mut Option<Cursor>) -> Told {
    let mut rows = None;
    if let Some(cursor) = cursor {
        let (era, from) = (cursor.era(), cursor.offset());
        rows = cursor.next(SHARED_ROWS_MAX).ok().flatten().map(|rows| (era, from, rows));
    }
    let end = table.end();
    if rows.is_none() || cursor.as_ref().is_none_or(|cursor| cursor.offset() < end) {
        (rows, *cursor) = (None, Cursor::new(table.clone(), Start::At(end)).ok());
    }
    Told { end, rows }
}

/// Rung by whoever appends, heard by whoever tells a table's readers.
#[derive(Default)]
struct Bell {
    is_rung: AtomicBool,
    notify: Notify,
}

impl Bell {
    fn ring(&self) {
        // Either whoever hears sees the rows that were appended before, or this sees that it has not looked since; a
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_made_once_for_all_who_read_the_same() {
        let texts = Texts::default();
        let part =
            |from, filter: Option<&str>| Part { filter: filter.map(String::from), era: 0, from, next: 9, missed: 0 };
        let mut made = 0;
        let mut text = |from, filter| {
            let make = || {
                made += 1;
                format!("{from} {filter:?}")
            };
            texts.get(part(from, filter), make).plain()
        };
        assert_eq!(text(1, None), text(1, None));
        assert_eq!(text(1, Some("n > 1")), "1 Some(\"n > 1\")");
        assert_eq!(text(2, None), "2 None");
        assert_eq!(text(1, None), "1 None");
        (0..TEXTS_KEPT as u64).for_each(|from| assert_eq!(text(10 + from, None), format!("{} None", 10 + from)));
        assert_eq!(text(1, None), "1 None");
        assert_eq!(made, 3 + TEXTS_KEPT + 1);
    }
}
