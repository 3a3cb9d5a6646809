//! `orca bundle`: what somebody needs who is asked for help, in one folder, without passwords.

use super::serve::Flags;
use super::{Format, config, doctor, graph};
use crate::client::{Client, Error, Place, Query};
use crate::failure::Failure;
use env::{Clock, RealClock};
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is gathered, and where it goes.
#[derive(Debug, clap::Args)]
pub struct Bundle {
    /// The folder that is made; `orca-bundle-` and the time if left out.
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// A file with the server's log, to be taken along; the server writes its log to standard error.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    #[command(flatten)]
    flags: Flags,
    #[command(flatten)]
    place: Place,
}

/// How long a server may take for each thing it is asked.
const PATIENCE: Duration = Duration::from_secs(30);

/// So much of the end of a log is taken.
const LOG_BYTES: usize = 8 << 20;

/// What stands for a password.
const HIDDEN: &str = "(hidden)";

/// Gathers it. What cannot be had is noted in the bundle instead.
pub fn bundle(arguments: &Bundle) -> Result<(), Error> {
    let folder = match &arguments.out {
        Some(folder) => folder.clone(),
        None => PathBuf::from(format!("orca-bundle-{}", RealClock::new().wall_ms() / 1000)),
    };
    if folder.exists() {
        let text = format!("there is something of this name: folder=`{}` (name another: --out)", folder.display());
        return Err(Failure::of(env::Kind::Conflict, text).into());
    }
    let client = arguments.place.client_with(Some(PATIENCE))?;
    std::fs::create_dir_all(folder.join("plans"))?;
    let mut gathered = Gathered { folder, secrets: arguments.place.password().into_iter().collect(), missing: vec![] };
    gathered.of_here(arguments)?;
    gathered.of_server(&client)?;
    gathered.finish()?;
    println!("{}", gathered.folder.display());
    gathered.missing.iter().for_each(|missing| eprintln!("note: {missing}"));
    Ok(())
}

struct Gathered {
    folder: PathBuf,
    /// Texts that must not stand in it.
    secrets: Vec<String>,
    missing: Vec<String>,
}

impl Gathered {
    /// What is known without a server: settings, checks, the machine, the log.
    fn of_here(&mut self, arguments: &Bundle) -> Result<(), Error> {
        match arguments.flags.load() {
            Ok(settings) => {
                let password = settings.text("login.password");
                self.secrets.extend((!password.is_empty()).then(|| password.to_string()));
                self.json("settings-here.json", &Json::from(config::rows(&settings)))?;
            }
            Err(failure) => self.missing.push(format!("settings are not legal: {failure}")),
        }
        match doctor::told(&arguments.place) {
            Ok(checks) => self.json("doctor.json", &Json::from(checks))?,
            Err(error) => self.missing.push(format!("no checks: {error}")),
        }
        self.json("system.json", &system())?;
        match &arguments.log {
            None => self.missing.push("no log: name the file it went to with --log".into()),
            Some(file) => match std::fs::read(file) {
                Ok(bytes) => {
                    let end = &bytes[bytes.len().saturating_sub(LOG_BYTES)..];
                    self.text("server.log", &String::from_utf8_lossy(end))?;
                }
                Err(error) => self.missing.push(format!("no log: file=`{}`, {error}", file.display())),
            },
        }
        Ok(())
    }

    /// What the server tells of itself.
    fn of_server(&mut self, client: &Client) -> Result<(), Error> {
        for (name, path, query) in [
            ("health.json", &["healthz"][..], &[][..]),
            ("ready.json", &["readyz"], &[]),
            ("settings.json", &["v1", "settings"], &[]),
            ("tables.json", &["v1", "tables"], &[]),
            ("graphs.json", &["v1", "graphs"], &[]),
            ("operations.json", &["v1", "operations"], &[]),
            ("metrics.txt", &["metrics"], &[]),
        ] {
            let text = self.ask(client, name, path, query)?;
            let listed = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(Json::Null);
            let names = |of: &str| {
                let objects = listed.as_array().into_iter().flatten();
                objects.filter_map(|object| object[of].as_str()).map(String::from).collect::<Vec<_>>()
            };
            match name {
                "graphs.json" => {
                    for graph in names("graph") {
                        match graph::of_server(client, &graph, Format::Table) {
                            Ok(plan) => self.text(&format!("plans/{}.txt", file_name(&graph)), &plan)?,
                            Err(error) => self.missing.push(format!("no plan: graph=`{graph}`, {error}")),
                        }
                    }
                }
                "tables.json" => {
                    let mut tables = vec![];
                    for table in names("table") {
                        match client.get(&["v1", "tables", &table], &[]).and_then(|reply| reply.json()) {
                            Ok(shown) => tables.push(shown),
                            Err(error) => self.missing.push(format!("no schema: table=`{table}`, {error}")),
                        }
                    }
                    self.json("schemas.json", &Json::from(tables))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn ask(&mut self, client: &Client, name: &str, path: &[&str], query: Query) -> Result<Option<String>, Failure> {
        match client.get(path, query).and_then(|reply| reply.text()) {
            Ok(text) => {
                self.text(name, &text)?;
                Ok(Some(text))
            }
            Err(error) => {
                self.missing.push(format!("no {name}: {error}"));
                Ok(None)
            }
        }
    }

    fn finish(&mut self) -> Result<(), Failure> {
        let mut text = String::from(
            "A bundle of orca: settings (here and of the server), catalog (tables, schemas, graphs), plans, operations,\n\
             metrics, the checks of `orca doctor`, and facts of this machine. Passwords are left out.\n",
        );
        for missing in &self.missing {
            text.push_str(&format!("missing: {missing}\n"));
        }
        self.text("README.txt", &text)
    }

    fn json(&self, name: &str, value: &Json) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(value).expect("a value of texts and numbers");
        self.text(name, &text)
    }

    fn text(&self, name: &str, text: &str) -> Result<(), Failure> {
        Ok(std::fs::write(self.folder.join(name), redacted(text, &self.secrets))?)
    }
}

/// A text without passwords: those that are known, those within URLs, and what stands behind `password` in JSON or
/// `key=value`.
fn redacted(text: &str, secrets: &[String]) -> String {
    let mut text = text.to_string();
    for secret in secrets {
        text = text.replace(secret.as_str(), HIDDEN);
    }
    text.split_inclusive('\n').map(|line| without_password(&without_login(line))).collect()
}

/// `scheme://name:password@host` without its password.
fn without_login(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(start) = rest.find("://") {
        let (before, after) = rest.split_at(start + 3);
        out.push_str(before);
        let end = after.find(|letter: char| letter.is_whitespace() || "\"'`/,".contains(letter)).unwrap_or(after.len());
        rest = match after[..end].rsplit_once('@') {
            Some((_, host)) => {
                out.push_str(HIDDEN);
                out.push('@');
                out.push_str(host);
                &after[end..]
            }
            None => after,
        };
    }
    out + rest
}

/// `password=…`, `password: …` or `"password": "…"` without what follows.
fn without_password(line: &str) -> String {
    let lower = line.to_ascii_lowercase();
    let Some(found) = lower.find("password") else { return line.to_string() };
    let after = found + "password".len();
    let is_quote = |letter: char| matches!(letter, '"' | '\'' | '`');
    let rest = &line[after..];
    let value = rest.trim_start_matches(|letter: char| is_quote(letter) || letter == ' ');
    let Some(value) = value.strip_prefix(['=', ':']) else {
        return format!("{}{}", &line[..after], without_password(rest));
    };
    let value = value.trim_start_matches(|letter: char| is_quote(letter) || letter == ' ');
    let start = line.len() - value.len();
    let end = value.find(|letter: char| is_quote(letter) || letter.is_whitespace() || letter == ',');
    let end = start + end.unwrap_or(value.len());
    let hidden = if end > start { HIDDEN } else { "" };
    format!("{}{hidden}{}", &line[..start], without_password(&line[end..]))
}

/// A name that is one of a file everywhere.
fn file_name(name: &str) -> String {
    name.chars().map(|letter| if letter.is_alphanumeric() || "._-".contains(letter) { letter } else { '_' }).collect()
}

/// The machine and this program.
fn system() -> Json {
    let read = |path: &str| std::fs::read_to_string(path).map(|text| text.trim().to_string()).ok();
    let line = |path: &str, name: &str| {
        read(path)?
            .lines()
            .find_map(|line| Some(line.strip_prefix(name)?.trim_start_matches([':', ' ', '\t']).to_string()))
    };
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "os": std::env::consts::OS,
        "architecture": std::env::consts::ARCH,
        "kernel": read("/proc/sys/kernel/osrelease"),
        "processors": env::processors(),
        "memory": line("/proc/meminfo", "MemTotal"),
        "memory_free": line("/proc/meminfo", "MemAvailable"),
        "load": read("/proc/loadavg"),
        "open_files_max": env::open_files_max(),
        "free_bytes_here": env::free_bytes(Path::new(".")),
        "time": data::format_iso(data::Type::Timestamp, RealClock::new().wall_ms()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_is_left() {
        for (text, wanted) in [
            ("a s3cret here", "a (hidden) here"),
            ("to http://me:pw@host:1/x and http://host", "to http://(hidden)@host:1/x and http://host"),
            ("login.password=abc, user=me", "login.password=(hidden), user=me"),
            (r#"{"password": "abc", "user": "me"}"#, r#"{"password": "(hidden)", "user": "me"}"#),
            ("password: abc\npassword=\n", "password: (hidden)\npassword=\n"),
            (r#""setting": "login.password","#, r#""setting": "login.password","#),
            ("the password that clients must give", "the password that clients must give"),
        ] {
            assert_eq!(redacted(text, &["s3cret".into()]), wanted);
        }
    }
}
