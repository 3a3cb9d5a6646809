//! `orca serve`: the server, until it is asked to end.

use super::Failure;
use crate::server::Running;
use crate::settings::Settings;
use crate::trace::Traces;
use std::io::IsTerminal;
use std::path::PathBuf;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

/// How it is served. Every setting may also stand in the environment or in the file; `orca config` lists them.
#[derive(Debug, clap::Args)]
pub struct Serve {
    #[command(flatten)]
    flags: Flags,
}

/// The settings that have a flag.
#[derive(Debug, Default, clap::Args)]
pub struct Flags {
    /// The file with settings; `orca.toml` of this folder, if there is one, when left out.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Where tables, journals and metadata are kept; `memory` for nowhere.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<String>,
    /// Where REST, Flight and metrics are served.
    #[arg(long, value_name = "HOST:PORT")]
    http: Option<String>,
    /// Where the PostgreSQL protocol is served.
    #[arg(long, value_name = "HOST:PORT")]
    pg: Option<String>,
    /// Any other setting.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = pair)]
    settings: Vec<(String, String)>,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("a setting is KEY=VALUE")?;
    Ok((key.to_string(), value.to_string()))
}

impl Flags {
    /// The settings of the process with these flags.
    pub fn load(&self) -> Result<Settings, Failure> {
        let named = [("data.dir", &self.data_dir), ("http.listen", &self.http), ("pg.listen", &self.pg)];
        let named = named.into_iter().filter_map(|(key, value)| Some((key, value.clone()?)));
        let others = self.settings.iter().map(|(key, value)| (key.as_str(), value.clone()));
        Settings::load(&named.chain(others).collect::<Vec<_>>(), self.config.as_deref())
    }
}

/// Serves.
pub fn serve(arguments: &Serve) -> Result<(), Failure> {
    let settings = arguments.flags.load()?;
    let traces = log(&settings)?;
    let running = Running::start(settings)?;
    tracing::info!(http = %running.http, pg = %running.pg, "orca is ready");
    running.until_asked_to_end()?;
    tracing::info!("orca stops");
    running.stop()?;
    if let Some(traces) = traces {
        traces.finish();
    }
    Ok(())
}

/// Where events go: standard error, a line each; and spans to the endpoint for traces, if there is one.
fn log(settings: &Settings) -> Result<Option<Traces>, Failure> {
    let level: LevelFilter = settings.text("log.level").parse().expect("checked when it was set");
    let lines = fmt::layer().with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
    let lines = match settings.text("log.format") {
        "json" => lines.json().boxed(),
        _ => lines.boxed(),
    };
    let traces = match settings.text("trace.endpoint") {
        "" => None,
        endpoint => Some(Traces::start(endpoint)?),
    };
    let spans = traces.as_ref().map(Traces::layer);
    tracing_subscriber::registry().with(lines.with_filter(level)).with(spans).init();
    Ok(traces)
}
