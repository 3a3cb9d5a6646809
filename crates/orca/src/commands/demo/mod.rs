//! `orca demo`: a server with a market day: its trades become candles with moving averages, drawn as they form.

mod candles;
mod day;
mod lines;
mod screen;

use super::Failure;
use crate::server::Running;
use crate::settings::Settings;
use day::{Day, Feeder};
use std::io::IsTerminal;
use std::net::TcpListener;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

/// The script that the demo runs.
const SCRIPT: &str = include_str!("../../../scripts/kline.dos");

/// How the demo runs.
#[derive(Debug, clap::Args)]
pub struct Demo {
    /// Real trades instead of made ones: a CSV or Parquet file with the columns symbol, datetime, price, volume.
    #[arg(long, value_name = "FILE")]
    feed: Option<PathBuf>,
    /// The symbol that is shown first; the most traded one if left out.
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
    /// How long the day takes, in seconds.
    #[arg(long, default_value = "60", value_name = "SECONDS")]
    day: NonZeroU64,
    /// As fast as this machine can, candles printed as lines.
    #[arg(long)]
    fast: bool,
    /// Candles printed as lines, not drawn; always so where the output is no terminal.
    #[arg(long)]
    lines: bool,
}

/// Runs it.
pub fn demo(arguments: &Demo) -> Result<(), Failure> {
    let is_drawn = std::io::stdout().is_terminal() && !arguments.lines && !arguments.fast;
    let day = Day::new(arguments)?;
    let running = Running::start(settings()?)?;
    running.server().run_script(None, &lang::Source::new("kline.dos", day.script.clone()))?;
    let pace_s = (std::io::stdout().is_terminal() && !arguments.fast).then_some(arguments.day.get() as f64);
    let feeder = Feeder::start(running.server().clone(), &day, pace_s)?;
    let shown = match is_drawn {
        true => screen::show(&running, &day, &feeder),
        false => lines::show(&running, &day, &feeder),
    };
    feeder.stop();
    running.stop()?;
    shown
}

/// The usual ports if they are free, else others.
fn settings() -> Result<Settings, Failure> {
    let defaults = Settings::default();
    let mut flags = vec![("data.dir", "memory".to_string()), ("log.level", "error".to_string())];
    for key in ["http.listen", "pg.listen"] {
        if TcpListener::bind(defaults.address(key)).is_err() {
            flags.push((key, "127.0.0.1:0".to_string()));
        }
    }
    let flags: Vec<(&str, String)> = flags.into_iter().collect();
    Settings::load(&flags, None)
}

/// How to reach the server while it runs.
fn ways_in(running: &Running) -> [String; 3] {
    [
        format!("psql -h 127.0.0.1 -p {} -d market -c \"select * from kline_1min limit 5\"", running.pg.port()),
        format!("orca sql --url http://{} \"select count(*) from Trade\"", running.http),
        format!("python: orca.connect(\"http://{}\").sql(\"select * from kline_5min\").to_pandas()", running.http),
    ]
}
