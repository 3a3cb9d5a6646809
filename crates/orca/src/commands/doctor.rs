//! `orca doctor`: what would keep a server from running well here, and how the one that runs is.

use super::serve::Flags;
use super::{Format, listing};
use crate::client::{Client, Error, Place};
use crate::failure::Failure;
use crate::settings::Settings;
use data::Type;
use env::{Clock, RealClock};
use serde_json::{Value as Json, json};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::time::Duration;

/// What is looked at.
#[derive(Debug, clap::Args)]
pub struct Doctor {
    #[command(flatten)]
    flags: Flags,
    /// How the checks are printed.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    #[command(flatten)]
    place: Place,
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Health {
    Ok,
    Warn,
    Fail,
}

/// One check.
struct Check {
    name: &'static str,
    health: Health,
    found: String,
    mend: &'static str,
}

/// How long a server may take to tell how it is.
const PATIENCE: Duration = Duration::from_secs(5);

/// Less free space than this is little, and so little that appends will soon fail.
const FREE_BYTES: [u64; 2] = [5 << 30, 256 << 20];

/// Each client, segment of a log and file takes one.
const OPEN_FILES: u64 = 4_096;

/// A clock before this has never been set: the first of January 2024.
const CLOCK_MS: i64 = 1_704_067_200_000;

/// How far the clocks of server and client may be apart.
const APART_S: i64 = 5;

/// Checks and prints; ends as failed if a check does.
pub fn doctor(arguments: &Doctor) -> Result<(), Error> {
    let checks = checks(arguments)?;
    let failed = checks.iter().filter(|check| check.health == Health::Fail).count();
    let columns = ["check", "health", "found", "mend"].map(|name| (name, Type::String));
    listing::print(arguments.format, &columns, &rows(&checks))?;
    match failed {
        0 => Ok(()),
        _ => Err(Failure::new(format!("something is in the way: checks=`{failed}`")).into()),
    }
}

fn rows(checks: &[Check]) -> Vec<Json> {
    let row = |check: &Check| {
        let health = match check.health {
            Health::Ok => "ok",
            Health::Warn => "warn",
            Health::Fail => "fail",
        };
        let mend = Some(check.mend).filter(|_| check.health != Health::Ok);
        json!({ "check": check.name, "health": health, "found": check.found, "mend": mend })
    };
    checks.iter().map(row).collect()
}

/// The checks as objects, for a bundle.
pub fn told(place: &Place) -> Result<Vec<Json>, Error> {
    let arguments = Doctor { flags: Flags::default(), format: Format::Json, place: place.clone() };
    Ok(rows(&checks(&arguments)?))
}

fn checks(arguments: &Doctor) -> Result<Vec<Check>, Error> {
    let client = arguments.place.client_with(Some(PATIENCE))?;
    let healthy = client.get(&["healthz"], &[]);
    let answers = healthy.is_ok();
    let mut checks = vec![];
    match arguments.flags.load() {
        Ok(settings) => {
            checks.push(check("settings", Health::Ok, "legal", ""));
            checks.push(data_folder(Path::new(settings.text("data.dir"))));
            checks.push(port("http.listen", settings.address("http.listen"), answers));
            checks.push(port("pg.listen", settings.address("pg.listen"), answers));
            checks.push(threads(&settings));
        }
        Err(failure) => {
            checks.push(check("settings", Health::Fail, &failure.to_string(), "mend what is told; see `orca config`"));
        }
    }
    checks.push(open_files());
    checks.push(clock());
    checks.extend(server(&client, healthy));
    Ok(checks)
}

fn check(name: &'static str, health: Health, found: &str, mend: &'static str) -> Check {
    Check { name, health, found: found.to_string(), mend }
}

/// Can the data folder, or the one it would be made in, be written, and how much fits?
fn data_folder(folder: &Path) -> Check {
    let name = "data folder";
    if folder == Path::new("memory") {
        return check(name, Health::Warn, "memory: a restart forgets all", "name a folder: --data-dir");
    }
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
    let there = absolute.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    let trial = there.join(format!(".orca-doctor-{}", std::process::id()));
    let written = std::fs::write(&trial, b"x");
    let removed = std::fs::remove_file(&trial);
    if let Err(error) = written.and(removed) {
        let found = format!("cannot be written: folder=`{}`, {error}", there.display());
        return check(name, Health::Fail, &found, "let this user write there, or name another: --data-dir");
    }
    let Some(free) = env::free_bytes(there) else {
        return check(name, Health::Warn, "can be written; free space unknown", "see that there is room");
    };
    let found = format!("{}: can be written, {:.1} GB free", absolute.display(), free as f64 / 1e9);
    match free {
        _ if free < FREE_BYTES[1] => check(name, Health::Fail, &found, "make room, or name another: --data-dir"),
        _ if free < FREE_BYTES[0] => check(name, Health::Warn, &found, "make room"),
        _ => check(name, Health::Ok, &found, ""),
    }
}

/// Is the port free, or a server behind it?
fn port(name: &'static str, at: SocketAddr, answers: bool) -> Check {
    match TcpListener::bind(at) {
        Ok(_) => check(name, Health::Ok, &format!("{at} is free"), ""),
        Err(_) if answers => check(name, Health::Ok, &format!("{at} is in use, and a server answers"), ""),
        Err(error) => {
            let found = format!("{at} cannot be listened at: {error}");
            check(name, Health::Fail, &found, "end what listens there, or name another address: --http, --pg")
        }
    }
}

fn threads(settings: &Settings) -> Check {
    let (processors, wanted) = (env::processors(), settings.whole("graph.threads"));
    let found = match wanted {
        0 => format!("{processors} processors, a thread that runs graphs on each"),
        wanted => format!("{processors} processors, {wanted} threads that run graphs"),
    };
    match wanted > 4 * processors as u64 {
        true => check("threads", Health::Warn, &found, "more threads than processors only wait: graph.threads"),
        false => check("threads", Health::Ok, &found, ""),
    }
}

fn open_files() -> Check {
    let name = "open files";
    match env::open_files_max() {
        None => check(name, Health::Warn, "unknown", "see `ulimit -n`"),
        Some(limit) if limit < OPEN_FILES => {
            check(name, Health::Warn, &format!("at most {limit}"), "raise it for many clients: `ulimit -n 65536`")
        }
        Some(limit) => check(name, Health::Ok, &format!("at most {limit}"), ""),
    }
}

fn clock() -> Check {
    let now = RealClock::new().wall_ms();
    let found = data::format_iso(Type::Timestamp, now);
    match now < CLOCK_MS {
        true => check("clock", Health::Fail, &found, "set the machine's clock"),
        false => check("clock", Health::Ok, &found, ""),
    }
}

/// How the server is: there, ready, of this version, its clock near ours, and we may log in.
fn server(client: &Client, healthy: Result<crate::client::Reply, Error>) -> Vec<Check> {
    let reply = match healthy {
        Ok(reply) => reply,
        Err(error) => {
            let found = match error {
                Error::Unreachable { url, reason } => format!("nobody answers at {url}: {reason}"),
                Error::Failed(failure) => failure.to_string(),
            };
            return vec![check("server", Health::Warn, &found, "start one with `orca serve`, or name it: --url")];
        }
    };
    let mut checks = vec![];
    let theirs = reply.header("date").and_then(http_date_s);
    let health = reply.json().unwrap_or_default();
    let (ours, version) = (env!("CARGO_PKG_VERSION"), health["version"].as_str().unwrap_or("unknown"));
    checks.push(check("server", Health::Ok, &format!("answers at {}", client.url()), ""));
    checks.push(match version == ours {
        true => check("version", Health::Ok, &format!("{ours} here and there"), ""),
        false => {
            check("version", Health::Warn, &format!("{ours} here, {version} there"), "use the same one at both ends")
        }
    });
    checks.push(match client.get(&["readyz"], &[]) {
        Ok(_) => check("ready", Health::Ok, "takes requests", ""),
        Err(error) => check("ready", Health::Fail, &error.to_string(), "wait, or look at its log"),
    });
    checks.push(match client.get(&["v1", "settings"], &[]) {
        Ok(_) => check("login", Health::Ok, "accepted", ""),
        Err(error) => check("login", Health::Fail, &error.to_string(), "give --user and --password"),
    });
    if let Some(theirs) = theirs {
        let apart = theirs - RealClock::new().wall_ms() / 1000;
        let found = format!("{apart} s apart");
        checks.push(match apart.abs() > APART_S {
            true => check("clocks", Health::Warn, &found, "set both clocks by one source"),
            false => check("clocks", Health::Ok, &found, ""),
        });
    }
    checks
}

/// The seconds since 1970 of a date as HTTP has it: `Sun, 06 Nov 1994 08:49:37 GMT`.
fn http_date_s(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let parts: Vec<&str> = text.split_whitespace().collect();
    let [_, day, month, year, time, "GMT"] = parts.as_slice() else { return None };
    let month = MONTHS.iter().position(|known| known == month)? + 1;
    let iso = format!("{year}-{month:02}-{day}T{time}");
    data::parse_temporal(Type::Datetime, &iso).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_of_http_is_read() {
        assert_eq!(http_date_s("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(http_date_s("yesterday"), None);
    }

    #[test]
    fn a_folder_that_cannot_be_written_fails_with_its_mend() {
        let found = data_folder(Path::new("/proc/no/such"));
        assert_eq!(found.health, Health::Fail);
        assert!(found.found.contains("folder=`/proc") && found.mend.contains("--data-dir"), "{}", found.found);
        let folder = tempfile::tempdir().expect("a folder");
        assert_ne!(data_folder(&folder.path().join("new")).health, Health::Fail);
    }
}
