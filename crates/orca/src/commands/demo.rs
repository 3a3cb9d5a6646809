//! `orca demo`: a market day's trades become candles with moving indicators, printed as they form.

use super::Failure;
use crate::embedded::{Embedded, Options};
use crate::market::{self, Market};
use data::{Batch, Scalar, Type, format_iso};
use env::{Clock, RealClock};
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

/// The script that the demo runs.
const SCRIPT: &str = include_str!("../../scripts/kline.dos");

/// How long the day takes on a terminal, so that the candles can be watched.
const DAY_S: f64 = 15.0;

/// How the demo runs.
#[derive(Debug, clap::Args)]
pub struct Demo {
    /// Real trades instead of made ones: a CSV or Parquet file with the columns symbol, datetime, price, volume.
    #[arg(long, value_name = "FILE")]
    feed: Option<PathBuf>,
    /// The symbol whose candles are printed; the most traded one if left out.
    #[arg(long)]
    symbol: Option<String>,
    /// How many trades are made.
    #[arg(long, default_value = "2000000")]
    rows: NonZeroU64,
    /// Of how many symbols.
    #[arg(long, default_value = "500")]
    symbols: NonZeroUsize,
    /// The seed of the day; the same seed gives the same day.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// As fast as this machine can, without pauses for reading.
    #[arg(long)]
    fast: bool,
}

/// Runs it.
pub fn demo(arguments: &Demo) -> Result<(), Failure> {
    let (script, batches) = day(arguments)?;
    let rows: u64 = batches.iter().map(|batch| batch.rows() as u64).sum();
    let symbol = match &arguments.symbol {
        Some(symbol) => symbol.clone(),
        None => most_traded(&batches)?,
    };
    let orca = Embedded::open(&Options::default())?;
    orca.run_script(&lang::Source::new("kline.dos", script))?;
    let trade = orca.table("market.orca_table.Trade")?;
    let candles = [orca.table("market.orca_table.kline_1min")?, orca.table("market.orca_table.kline_5min")?];
    let terminal = std::io::stdout().is_terminal();
    let mut out = std::io::stdout();
    writeln!(out, "{} trades; candles of {symbol} as they close:\n", HumanCount(rows))?;
    writeln!(out, "{}", heading())?;
    let progress = progress(rows, terminal);
    let writer = stream::Writer::named("demo");
    let clock = RealClock::default();
    let start = clock.monotonic_ns();
    let pace = (terminal && !arguments.fast).then_some(DAY_S / rows.max(1) as f64);
    let (mut seen, mut fed) = ([0, 0], 0);
    for (seq, batch) in batches.iter().enumerate() {
        trade.append(&writer, seq as u64 + 1, 0, batch).map_err(|error| Failure::new(error.to_string()))?;
        fed += batch.rows() as u64;
        orca.make_room();
        for (place, table) in candles.iter().enumerate() {
            let end = table.end();
            for (_, batch) in table.read(seen[place]..end).map_err(|error| Failure::new(error.to_string()))? {
                for line in lines(&batch, &symbol, [1, 5][place]) {
                    progress.suspend(|| writeln!(out, "{line}"))?;
                }
            }
            seen[place] = end;
        }
        progress.set_position(fed);
        if let Some(pace) = pace {
            let ahead = fed as f64 * pace - (clock.monotonic_ns() - start) as f64 / 1e9;
            if ahead > 0.0 {
                std::thread::sleep(Duration::from_secs_f64(ahead));
            }
        }
    }
    orca.wait()?;
    let seconds = (clock.monotonic_ns() - start) as f64 / 1e9;
    progress.finish_and_clear();
    writeln!(out)?;
    let rate = HumanCount((rows as f64 / seconds) as u64);
    writeln!(out, "{} trades in {seconds:.1} s, {rate} a second. The day by SQL:\n", HumanCount(rows))?;
    for sql in [
        "select count(*) as candles, count(distinct symbol) as symbols, sum(sum_volume) as volume \
         from market.orca_table.kline_1min",
        "select symbol, max(max_price) as high, min(min_price) as low, sum(sum_volume) as volume \
         from market.orca_table.kline_5min group by symbol order by volume desc limit 5",
    ] {
        writeln!(out, "{sql}")?;
        query::format::write(&orca.query(sql)?, query::format::Format::Table, &mut out)?;
        writeln!(out)?;
    }
    writeln!(
        out,
        "The script that did this is {} lines; `orca demo --help` tells what can be changed.",
        SCRIPT.lines().count()
    )?;
    orca.close();
    Ok(())
}

/// The script, and trades in appends of about a market minute, so that candles come one after another.
fn day(arguments: &Demo) -> Result<(String, Vec<Batch>), Failure> {
    let Some(path) = &arguments.feed else {
        let rows = arguments.rows.get();
        let batch_rows = (rows / 240).clamp(1, 10_000) as usize;
        let market = Market::new(arguments.seed, arguments.symbols.get(), rows, batch_rows);
        return Ok((SCRIPT.to_string(), market.collect()));
    };
    let wrong = |error: connect::Error| Failure::new(error.to_string());
    let (schema, batches) = market::read(path, 1_000).map_err(wrong)?;
    // Where the file trades in fractions, so does the script.
    let script = SCRIPT.replace("DOUBLE, INT]", &format!("DOUBLE, {}]", schema.fields()[3].ty));
    Ok((script, batches.collect::<Result<_, _>>().map_err(wrong)?))
}

fn most_traded(batches: &[Batch]) -> Result<String, Failure> {
    let mut trades = std::collections::BTreeMap::<std::sync::Arc<str>, u64>::new();
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
    let most = trades.into_iter().max_by_key(|(_, count)| *count);
    most.map(|(symbol, _)| symbol.to_string()).ok_or_else(|| Failure::new("there are no trades"))
}

fn heading() -> String {
    format!(
        "{:<4} {:<8} {:>9} {:>9} {:>9} {:>9} {:>11} {:>9} {:>11}",
        "min", "time", "open", "high", "low", "close", "volume", "high 5", "volume 5"
    )
}

/// A line for each candle of the symbol.
fn lines(batch: &Batch, symbol: &str, minutes: u32) -> Vec<String> {
    let symbols = batch.column(0);
    let Some(code) = symbols.dictionary().and_then(|dictionary| dictionary.find(symbol)) else { return vec![] };
    let rows = (0..batch.rows()).filter(|&row| !symbols.is_null(row) && symbols.codes()[row] == code);
    rows.map(|row| line(batch, row, minutes)).collect()
}

fn line(batch: &Batch, row: usize, minutes: u32) -> String {
    let number = |column: usize, digits: usize, width: usize| match batch.column(column).get(row) {
        Scalar::Null => format!("{:>width$}", "-"),
        value => format!("{:>width$.digits$}", value.as_f64().unwrap_or(f64::NAN)),
    };
    let time = match batch.column(1).get(row) {
        Scalar::Int(time) => format_iso(Type::Timestamp, time)[11..19].to_string(),
        _ => String::new(),
    };
    // Cents tell little of what costs less than one.
    let cheap = batch.column(2).get(row).as_f64().is_some_and(|price| price.abs() < 1.0);
    let digits = if cheap { 6 } else { 2 };
    let prices: Vec<String> = (2..6).map(|column| number(column, digits, 9)).collect();
    let (volume, high, mean) = (number(6, 0, 11), number(7, digits, 9), number(8, 0, 11));
    format!("{minutes:<4} {time:<8} {} {volume} {high} {mean}", prices.join(" "))
}

fn progress(rows: u64, terminal: bool) -> ProgressBar {
    let progress = ProgressBar::new(rows);
    if !terminal {
        progress.set_draw_target(ProgressDrawTarget::hidden());
    }
    let style = ProgressStyle::with_template("{bar:30} {percent}% {human_pos} trades, {per_sec}");
    progress.set_style(style.expect("a template of known keys"));
    progress
}
