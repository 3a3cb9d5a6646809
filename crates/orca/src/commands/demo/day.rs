//! The trades of the day, and the thread that feeds them at a pace.

use super::{Demo, SCRIPT};
use crate::failure::Failure;
use crate::market::{self, Market};
use crate::server::{Append, Server};
use data::Batch;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The day's speed, one being that of `--day`, in this many parts.
const SPEED_PARTS: u32 = 100;

/// The script, its trades, and which symbols trade most.
pub(super) struct Day {
    pub script: String,
    pub batches: Arc<Vec<Batch>>,
    pub rows: u64,
    /// The most traded first.
    pub symbols: Vec<Arc<str>>,
}

impl Day {
    /// Trades in appends of a small part of a market minute, so that candles come one after another.
    pub fn new(arguments: &Demo) -> Result<Day, Failure> {
        let (script, batches) = match &arguments.feed {
            None => {
                let rows = arguments.rows.get();
                let batch_rows = (rows / 2_400).clamp(1, 10_000) as usize;
                let market = Market::new(arguments.seed, arguments.symbols.get(), rows, batch_rows);
                (SCRIPT.to_string(), market.collect::<Vec<_>>())
            }
            Some(path) => {
                let (schema, batches) = market::read(path, 1_000)?;
                // Where the file trades in fractions, so does the script.
                let script = SCRIPT.replace("DOUBLE, INT]", &format!("DOUBLE, {}]", schema.fields()[3].ty));
                (script, batches.collect::<Result<Vec<_>, _>>()?)
            }
        };
        let rows = batches.iter().map(|batch| batch.rows() as u64).sum();
        let mut symbols = by_trades(&batches);
        if let Some(wanted) = &arguments.symbol {
            let place = symbols.iter().position(|symbol| **symbol == **wanted);
            let place = place.ok_or_else(|| Failure::new(format!("no trade of this symbol: symbol=`{wanted}`")))?;
            symbols[..=place].rotate_right(1);
        }
        if symbols.is_empty() {
            return Err(Failure::new("there are no trades"));
        }
        Ok(Day { script, batches: Arc::new(batches), rows, symbols })
    }
}

/// The symbols, the most traded first.
fn by_trades(batches: &[Batch]) -> Vec<Arc<str>> {
    let mut trades = BTreeMap::<Arc<str>, u64>::new();
    for batch in batches {
        let symbols = batch.column(0);
        let dictionary = symbols.dictionary().expect("a SYMBOL column has a dictionary");
        let mut by_code = vec![0u64; dictionary.len()];
        let valid = (0..batch.rows()).filter(|&row| !symbols.is_null(row));
        valid.for_each(|row| by_code[symbols.codes()[row] as usize] += 1);
        for (code, count) in by_code.iter().enumerate().filter(|(_, count)| **count > 0) {
            *trades.entry(dictionary.text(code as u32)).or_default() += count;
        }
    }
    let mut symbols: Vec<(Arc<str>, u64)> = trades.into_iter().collect();
    symbols.sort_by(|(a, many), (b, others)| others.cmp(many).then(a.cmp(b)));
    symbols.into_iter().map(|(symbol, _)| symbol).collect()
}

/// What the feeding thread and whoever watches it share.
#[derive(Default)]
struct Shared {
    fed: AtomicU64,
    speed: AtomicU32,
    is_paused: AtomicBool,
    is_stopped: AtomicBool,
    is_done: AtomicBool,
}

/// A thread that appends the day's trades.
pub(super) struct Feeder {
    shared: Arc<Shared>,
    thread: JoinHandle<Result<(), Failure>>,
    started: Instant,
}

impl Feeder {
    /// Begins; the whole day takes `pace_s` seconds, or as long as it must.
    pub fn start(server: Arc<Server>, day: &Day, pace_s: Option<f64>) -> Result<Feeder, Failure> {
        let shared = Arc::new(Shared { speed: AtomicU32::new(SPEED_PARTS), ..Shared::default() });
        let (told, batches, rows) = (shared.clone(), day.batches.clone(), day.rows);
        let row_s = pace_s.map(|seconds| seconds / rows.max(1) as f64);
        let table = server.table_name("market.orca_table.Trade")?;
        let thread = std::thread::Builder::new().name("feeder".into()).spawn(move || {
            let writer = stream::Writer::named("demo");
            for (place, rows) in batches.iter().enumerate() {
                while told.is_paused.load(Ordering::Relaxed) && !told.is_stopped.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(20));
                }
                if told.is_stopped.load(Ordering::Relaxed) {
                    return Ok(());
                }
                let append = Append {
                    table: table.clone(),
                    writer: Some((writer.clone(), place as u64 + 1)),
                    rows: rows.clone(),
                };
                let begun = Instant::now();
                server.append(append)?;
                told.fed.fetch_add(rows.rows() as u64, Ordering::Relaxed);
                if let Some(row_s) = row_s {
                    let speed = f64::from(told.speed.load(Ordering::Relaxed)) / f64::from(SPEED_PARTS);
                    let due = Duration::from_secs_f64(row_s * rows.rows() as f64 / speed);
                    std::thread::sleep(due.saturating_sub(begun.elapsed()));
                }
            }
            told.is_done.store(true, Ordering::Release);
            Ok(())
        })?;
        Ok(Feeder { shared, thread, started: Instant::now() })
    }

    /// How many trades were appended.
    pub fn fed(&self) -> u64 {
        self.shared.fed.load(Ordering::Relaxed)
    }

    /// Seconds since it began.
    pub fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Is there nothing more to append?
    pub fn is_done(&self) -> bool {
        self.shared.is_done.load(Ordering::Acquire) || self.thread.is_finished()
    }

    /// Does it wait?
    pub fn is_paused(&self) -> bool {
        self.shared.is_paused.load(Ordering::Relaxed)
    }

    /// Waits, or goes on.
    pub fn pause(&self) {
        self.shared.is_paused.fetch_xor(true, Ordering::Relaxed);
    }

    /// The speed, one being that of the start.
    pub fn speed(&self) -> f64 {
        f64::from(self.shared.speed.load(Ordering::Relaxed)) / f64::from(SPEED_PARTS)
    }

    /// Goes twice, or half, as fast.
    pub fn change_speed(&self, faster: bool) {
        let change = |speed: u32| Some(if faster { (speed * 2).min(SPEED_PARTS * 64) } else { (speed / 2).max(1) });
        // The closure never declines.
        let _ = self.shared.speed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
    }

    /// Ends it before its time, if need be.
    pub fn stop(self) {
        self.shared.is_stopped.store(true, Ordering::Relaxed);
        if let Ok(Err(failure)) = self.thread.join() {
            eprintln!("the day broke off: {failure}");
        }
    }
}
