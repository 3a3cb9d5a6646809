//! `orca bench kline`: the K-line job over a market day, beside a hand-written loop over the same rows in the same run.

use super::{Failure, Format};
use crate::embedded::{Embedded, LogMode, Options};
use crate::market::{self, Market};
use data::{Batch, Column, Type};
use env::{Clock, RealClock};
use serde_json::{Value as Json, json};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

/// What is measured.
#[derive(Debug, clap::Args)]
pub struct Kline {
    /// Trades to use: a Parquet or CSV file with the columns symbol, ts or datetime, price, volume.
    #[arg(long)]
    data: Option<PathBuf>,
    /// How many trades; the generator makes as many, of a file the first ones are used.
    #[arg(long, default_value = "20000000")]
    rows: NonZeroU64,
    /// How many symbols the generator uses.
    #[arg(long, default_value = "5000")]
    symbols: NonZeroUsize,
    /// Into how many parts each branch of the graph is split.
    #[arg(long, default_value = "1")]
    parallel: NonZeroUsize,
    /// Rows in one append.
    #[arg(long, default_value = "10000")]
    batch_rows: NonZeroUsize,
    /// What stands behind the tables: nothing, a log, or a log that is forced to the disk.
    #[arg(long, value_enum, default_value_t = LogMode::Off)]
    log: LogMode,
    /// Where the log goes; a folder of its own in the system's temporary one if left out.
    #[arg(long)]
    data_dir: Option<PathBuf>,
    /// How the figures are printed.
    #[arg(long, value_enum, default_value_t = Format::Json)]
    format: Format,
}

/// The third script of the principles article, with the parallelism left open.
fn script(parallel: NonZeroUsize) -> String {
    let branch = |place: usize, minutes: usize| {
        format!(
            r#"branches[{place}]
    .parallelize("symbol", {parallel})
    .timeSeriesEngine({minutes}*60*1000, {minutes}*60*1000,
        <[first(price), max(price), min(price), last(price), sum(volume)]>,
        "datetime", false, "symbol")
    .reactiveStateEngine(
        <[datetime, first_price, max_price, min_price, last_price, sum_volume,
          mmax(max_price, 5), mavg(sum_volume, 5)]>, `symbol)
    .sync()
    .sink("output_{minutes}min")
"#
        )
    };
    format!(
        r#"if (!existsCatalog("orca")) {{ createCatalog("orca") }}
go
use catalog orca
g = createStreamGraph("kline_graph")
branches = g.source("Trade", `symbol`datetime`price`volume, [SYMBOL, TIMESTAMP, DOUBLE, INT]).fork(2)
{}
{}
g.submit()
"#,
        branch(0, 1),
        branch(1, 5)
    )
}

/// Runs it and prints the figures.
pub fn kline(arguments: &Kline) -> Result<(), Failure> {
    let batches = trades(arguments)?;
    let rows: u64 = batches.iter().map(|batch| batch.rows() as u64).sum();
    let hand = by_hand(&batches);
    let folder = match (&arguments.data_dir, arguments.log) {
        (_, LogMode::Off) => None,
        (Some(folder), _) => Some(folder.clone()),
        (None, _) => Some(std::env::temp_dir().join(format!("orca-bench-{}", std::process::id()))),
    };
    let options = Options { data_dir: folder.clone(), log: arguments.log, ..Options::default() };
    let orca = Embedded::open(&options)?;
    orca.run_script(&lang::Source::new("kline.dos", script(arguments.parallel)))?;
    let trade = orca.table("orca.orca_table.Trade")?;
    let writer = stream::Writer::named("bench");
    let clock = RealClock::default();
    let (cpu, wall) = (env::process_cpu_ns(), clock.monotonic_ns());
    for (seq, batch) in batches.iter().enumerate() {
        trade.append(&writer, seq as u64 + 1, 0, batch).map_err(|error| Failure::new(error.to_string()))?;
        orca.make_room();
    }
    orca.wait()?;
    let cpu_s = (env::process_cpu_ns() - cpu) as f64 / 1e9;
    let wall_s = (clock.monotonic_ns() - wall) as f64 / 1e9;
    let (mut bars, mut volume) = (0, 0);
    for minutes in [1, 5] {
        let sql = format!("select count(*), sum(sum_volume) from orca.orca_table.output_{minutes}min");
        let answer = orca.query(&sql)?;
        let cell = |column: usize| match Column::from_arrow(Type::Long, answer.batches[0].column(column)) {
            Ok(column) => column.get(0).as_i64().unwrap_or(0),
            Err(_) => 0,
        };
        bars += cell(0);
        volume += cell(1);
    }
    orca.close();
    if let (Some(folder), None) = (&folder, &arguments.data_dir) {
        std::fs::remove_dir_all(folder).ok();
    }
    let agrees = bars == hand.bars - hand.open_bars && volume == hand.volume - hand.open_volume;
    let figures = json!({
        "bench": "kline",
        "rows": rows,
        "parallel": arguments.parallel,
        "batch_rows": arguments.batch_rows,
        "log": arguments.log.to_string(),
        "bars": bars,
        "volume": volume,
        "cpu_s": round(cpu_s),
        "wall_s": round(wall_s),
        "rows_per_cpu_s": (rows as f64 / cpu_s) as u64,
        "peak_mb": env::process_peak_bytes() / 1_048_576,
        "hand_loop": {
            "bars": hand.bars,
            "volume": hand.volume,
            "open_bars": hand.open_bars,
            "open_volume": hand.open_volume,
            "cpu_s": round(hand.cpu_s),
            "rows_per_cpu_s": (rows as f64 / hand.cpu_s) as u64,
        },
        "agrees": agrees,
    });
    print(&figures, arguments.format);
    if agrees { Ok(()) } else { Err(Failure::new("bars or volume differ from the hand-written loop")) }
}

fn round(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

fn print(figures: &Json, format: Format) {
    match format {
        Format::Json => println!("{figures}"),
        Format::Csv | Format::Table => {
            for (name, value) in figures.as_object().expect("an object of figures") {
                println!("{name}{}{value}", if format == Format::Csv { "," } else { "  " });
            }
        }
    }
}

fn trades(arguments: &Kline) -> Result<Vec<Batch>, Failure> {
    let Some(path) = &arguments.data else {
        return Ok(Market::new(42, arguments.symbols.get(), arguments.rows.get(), arguments.batch_rows.get()).collect());
    };
    let wrong = |error: connect::Error| Failure::new(error.to_string());
    let (schema, reader) = market::read(path, arguments.batch_rows.get()).map_err(wrong)?;
    if !schema.same_as(&market::schema()) {
        return Err(Failure::new("the benchmark takes whole volumes: column=`volume`"));
    }
    let (mut batches, mut left) = (vec![], arguments.rows.get());
    for batch in reader {
        let batch = batch.map_err(wrong)?;
        let batch = batch.slice(0, batch.rows().min(left as usize));
        left -= batch.rows() as u64;
        batches.push(batch);
        if left == 0 {
            break;
        }
    }
    Ok(batches)
}

/// What the hand-written loop finds. Its last window of each symbol is never closed by a later row, so an engine does
/// not give it: those are counted apart.
struct ByHand {
    bars: i64,
    volume: i64,
    open_bars: i64,
    open_volume: i64,
    cpu_s: f64,
}

#[derive(Clone, Copy)]
struct Bar {
    window: i64,
    high: f64,
    low: f64,
    first: f64,
    last: f64,
    volume: i64,
    closed: usize,
    highs: [f64; 5],
    volumes: [i64; 5],
}

const NO_BAR: Bar = Bar {
    window: -1,
    high: 0.0,
    low: 0.0,
    first: 0.0,
    last: 0.0,
    volume: 0,
    closed: 0,
    highs: [0.0; 5],
    volumes: [0; 5],
};

/// A closed bar with its moving figures, written out so that the loop does the same work.
type ClosedBar = (u32, i64, [f64; 4], i64, f64, f64);

impl Bar {
    fn close(&mut self, symbol: u32, out: &mut Vec<ClosedBar>) {
        self.highs[self.closed % 5] = self.high;
        self.volumes[self.closed % 5] = self.volume;
        self.closed += 1;
        let kept = self.closed.min(5);
        let top = self.highs[..kept].iter().copied().fold(f64::MIN, f64::max);
        let mean = self.volumes[..kept].iter().sum::<i64>() as f64 / kept as f64;
        out.push((symbol, self.window, [self.first, self.high, self.low, self.last], self.volume, top, mean));
    }

    #[inline(always)]
    fn take(&mut self, symbol: u32, window: i64, price: f64, volume: i32, out: &mut Vec<ClosedBar>) {
        if window != self.window {
            if self.window >= 0 {
                self.close(symbol, out);
            }
            *self = Bar { window, high: price, low: price, first: price, volume: 0, ..*self };
        }
        self.high = if price > self.high { price } else { self.high };
        self.low = if price < self.low { price } else { self.low };
        self.last = price;
        self.volume += volume as i64;
    }
}

fn by_hand(batches: &[Batch]) -> ByHand {
    let symbols = batches.iter().filter_map(|batch| batch.column(0).dictionary()).map(|entries| entries.len()).max();
    let mut minutes = vec![NO_BAR; symbols.unwrap_or(0)];
    let mut fives = minutes.clone();
    let mut out = Vec::with_capacity(1 << 16);
    let start = env::process_cpu_ns();
    for batch in batches {
        let (codes, times) = (batch.column(0).codes(), batch.column(1).i64s());
        let (prices, volumes) = (batch.column(2).f64s(), batch.column(3).i32s());
        for row in 0..batch.rows() {
            let (symbol, window) = (codes[row], times[row] / 60_000);
            minutes[symbol as usize].take(symbol, window, prices[row], volumes[row], &mut out);
            fives[symbol as usize].take(symbol, window / 5, prices[row], volumes[row], &mut out);
        }
    }
    let closed = out.len() as i64;
    for bars in [&mut minutes, &mut fives] {
        for (symbol, bar) in bars.iter_mut().enumerate().filter(|(_, bar)| bar.window >= 0) {
            bar.close(symbol as u32, &mut out);
        }
    }
    let cpu_s = (env::process_cpu_ns() - start) as f64 / 1e9;
    let volume = |bars: &[ClosedBar]| bars.iter().map(|bar| bar.3).sum::<i64>();
    let (bars, open) = (out.len() as i64, &out[closed as usize..]);
    ByHand { bars, volume: volume(&out), open_bars: open.len() as i64, open_volume: volume(open), cpu_s }
}
