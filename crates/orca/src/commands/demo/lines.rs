//! The candles of one symbol as lines, and the day by SQL in the end.

use super::candles::{Candle, Candles, MINUTES};
use super::day::{Day, Feeder};
use super::{SCRIPT, ways_in};
use crate::failure::Failure;
use crate::server::Running;
use data::{Type, format_iso};
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::time::Duration;

/// Prints candles until the day is over.
pub(super) fn show(running: &Running, day: &Day, feeder: &Feeder) -> Result<(), Failure> {
    let orca = running.server().orca();
    let (mut out, symbol) = (std::io::stdout(), &day.symbols[0]);
    let mut candles =
        Candles::new([orca.table("market.orca_table.kline_1min")?, orca.table("market.orca_table.kline_5min")?])?;
    for way in ways_in(running) {
        writeln!(out, "{way}")?;
    }
    writeln!(out, "\n{} trades; candles of {symbol} as they close:\n", HumanCount(day.rows))?;
    writeln!(out, "{}", heading())?;
    let progress = progress(day.rows);
    loop {
        let is_done = feeder.is_done();
        if is_done {
            orca.wait()?;
        }
        let mut lines = vec![];
        candles.read(|fresh| {
            if fresh.symbol == *symbol {
                lines.push(line(&fresh.candle, MINUTES[fresh.period]));
            }
        })?;
        for line in lines {
            progress.suspend(|| writeln!(out, "{line}"))?;
        }
        progress.set_position(feeder.fed());
        if is_done {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let seconds = feeder.seconds();
    progress.finish_and_clear();
    let rate = HumanCount((feeder.fed() as f64 / seconds) as u64);
    writeln!(out, "\n{} trades in {seconds:.1} s, {rate} a second. The day by SQL:\n", HumanCount(feeder.fed()))?;
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
    Ok(())
}

fn heading() -> String {
    format!(
        "{:<4} {:<8} {:>9} {:>9} {:>9} {:>9} {:>11} {:>9} {:>9} {:>11}",
        "min", "time", "open", "high", "low", "close", "volume", "mean 5", "mean 20", "volume 5"
    )
}

fn line(candle: &Candle, minutes: u32) -> String {
    let number = |value: f64, digits: usize, width: usize| match value.is_nan() {
        true => format!("{:>width$}", "-"),
        false => format!("{value:>width$.digits$}"),
    };
    // Cents tell little of what costs less than one.
    let digits = if candle.open.abs() < 1.0 { 6 } else { 2 };
    let Candle { open, high, low, close, volume, means, mean_volume, .. } = *candle;
    let prices = [open, high, low, close].map(|price| number(price, digits, 9)).join(" ");
    let means = means.map(|mean| number(mean, digits, 9)).join(" ");
    let time = &format_iso(Type::Timestamp, candle.time)[11..19];
    format!("{minutes:<4} {time:<8} {prices} {} {means} {}", number(volume, 0, 11), number(mean_volume, 0, 11))
}

fn progress(rows: u64) -> ProgressBar {
    let progress = ProgressBar::new(rows);
    if !std::io::stdout().is_terminal() {
        progress.set_draw_target(ProgressDrawTarget::hidden());
    }
    let style = ProgressStyle::with_template("{bar:30} {percent}% {human_pos} trades, {per_sec}");
    progress.set_style(style.expect("a template of known keys"));
    progress
}
