//! The program's settings: what each is, its default, and where its value comes from.
//!
//! A flag goes before the environment (`ORCA__HTTP__LISTEN`), that before the file (`orca.toml`, `[http] listen = …`), that
//! before the default. A name that no setting has is an error wherever it stands.

use crate::failure::Failure;
use lang::Diagnostic;
use std::collections::BTreeMap;
use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};

/// The file that is read if none is named.
const FILE: &str = "orca.toml";

/// How a variable of the environment begins that is a setting.
const ENVIRONMENT: &str = "ORCA__";

/// One setting.
#[derive(Debug)]
pub struct Setting {
    /// Section and name: `http.listen`.
    pub key: &'static str,
    /// Its value if nobody gives one; empty for none.
    pub default: &'static str,
    /// What it does.
    pub help: &'static str,
    check: fn(&str) -> Result<(), String>,
}

/// All settings, by key.
pub static SETTINGS: &[Setting] = &[
    Setting {
        key: "data.dir",
        default: "orca-data",
        help: "Where tables, journals and metadata are kept; `memory` for nowhere.",
        check: any,
    },
    Setting {
        key: "data.log",
        default: "async",
        help: "What stands behind the tables: `off`, `async` (a killed process loses nothing) or `fsync` (a power loss loses nothing).",
        check: |value| one_of(value, &["off", "async", "fsync"]),
    },
    Setting {
        key: "graph.threads",
        default: "0",
        help: "Threads that run graphs; 0 for one a processor.",
        check: whole,
    },
    Setting {
        key: "http.listen",
        default: "127.0.0.1:8848",
        help: "Where REST, Flight and metrics are served: host and port; port 0 for a free one.",
        check: address,
    },
    Setting {
        key: "log.format",
        default: "text",
        help: "How the server's log is written: `text` or `json`, a line an event.",
        check: |value| one_of(value, &["text", "json"]),
    },
    Setting {
        key: "log.level",
        default: "info",
        help: "What is logged: `error`, `warn`, `info`, `debug` or `trace`.",
        check: |value| one_of(value, &["error", "warn", "info", "debug", "trace"]),
    },
    Setting {
        key: "login.password",
        default: "",
        help: "The password that clients must give; needed where a listener is not on loopback.",
        check: any,
    },
    Setting { key: "login.user", default: "orca", help: "The name that goes with the password.", check: any },
    Setting {
        key: "metrics.series_max",
        default: "10000",
        help: "Series of one metric; what goes beyond is summed under the label `other`.",
        check: whole,
    },
    Setting {
        key: "pg.listen",
        default: "127.0.0.1:8849",
        help: "Where the PostgreSQL protocol is served: host and port; port 0 for a free one.",
        check: address,
    },
    Setting {
        key: "script.modules",
        default: "",
        help: "The folder of the modules that clients' scripts may use; none if empty.",
        check: any,
    },
    Setting {
        key: "script.seconds_max",
        default: "300",
        help: "How long a client's script may take; 0 for as long as it likes.",
        check: whole,
    },
    Setting {
        key: "script.sessions_max",
        default: "1000",
        help: "Script sessions kept for clients that go on with them; the one unused longest is ended first.",
        check: whole,
    },
    Setting {
        key: "trace.endpoint",
        default: "",
        help: "Where traces of submits and queries go by OTLP (gRPC): `http://host:4317`; nowhere if empty.",
        check: any,
    },
];

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The command line.
    Flag,
    /// A variable of the environment.
    Environment(String),
    /// A file.
    File(PathBuf),
    /// Nobody gave one.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Flag => f.write_str("flag"),
            Origin::Environment(name) => write!(f, "environment {name}"),
            Origin::File(path) => write!(f, "file {}", path.display()),
            Origin::Default => f.write_str("default"),
        }
    }
}

/// The value of every setting, and its origin.
#[derive(Debug, Clone)]
pub struct Settings {
    values: BTreeMap<&'static str, (String, Origin)>,
}

impl Default for Settings {
    fn default() -> Settings {
        let default = |setting: &Setting| (setting.key, (setting.default.to_string(), Origin::Default));
        Settings { values: SETTINGS.iter().map(default).collect() }
    }
}

impl Settings {
    /// The settings of this process: `flags` are keys and values from the command line, `file` what it names. Without
    /// one `orca.toml` of the working folder is read if it is there. All that is wrong is told at once.
    pub fn load(flags: &[(&str, String)], file: Option<&Path>) -> Result<Settings, Failure> {
        let mut settings = Settings::default();
        let mut wrong = vec![];
        match (file, Path::new(FILE)) {
            (Some(file), _) => settings.read(file, &mut wrong),
            (None, file) if file.exists() => settings.read(file, &mut wrong),
            _ => {}
        }
        let mut variables: Vec<(String, String)> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned())))
            .filter(|(name, _)| name.starts_with(ENVIRONMENT))
            .collect();
        variables.sort();
        for (name, value) in variables {
            let key = name[ENVIRONMENT.len()..].to_lowercase().replace("__", ".");
            settings.set(&key, value, Origin::Environment(name.clone()), &mut wrong);
        }
        for (key, value) in flags {
            settings.set(key, value.clone(), Origin::Flag, &mut wrong);
        }
        if wrong.is_empty() { Ok(settings) } else { Err(wrong.into()) }
    }

    fn read(&mut self, file: &Path, wrong: &mut Vec<Diagnostic>) {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) => {
                wrong.push(Diagnostic::new(format!("cannot read settings: file=`{}`, {error}", file.display())));
                return;
            }
        };
        let sections: toml::Table = match text.parse() {
            Ok(sections) => sections,
            Err(error) => {
                let reason = error.to_string();
                wrong.push(Diagnostic::new(format!("cannot read settings: file=`{}`, {reason}", file.display())));
                return;
            }
        };
        for (section, entries) in sections {
            let toml::Value::Table(entries) = entries else {
                let text = format!("settings stand in sections: file=`{}`, found=`{section}`", file.display());
                wrong.push(Diagnostic::new(text));
                continue;
            };
            for (name, value) in entries {
                let value = match value {
                    toml::Value::String(text) => text,
                    other => other.to_string(),
                };
                self.set(&format!("{section}.{name}"), value, Origin::File(file.to_path_buf()), wrong);
            }
        }
    }

    fn set(&mut self, key: &str, value: String, origin: Origin, wrong: &mut Vec<Diagnostic>) {
        let Some(setting) = SETTINGS.iter().find(|setting| setting.key == key) else {
            let error = Diagnostic::new(format!("no such setting: setting=`{key}`, from=`{origin}`"));
            wrong.push(error.suggest(key, SETTINGS.iter().map(|setting| setting.key)));
            return;
        };
        match (setting.check)(&value) {
            Ok(()) => drop(self.values.insert(setting.key, (value, origin))),
            Err(wanted) => wrong.push(Diagnostic::new(format!(
                "bad value of a setting: setting=`{key}`, value=`{value}`, wanted=`{wanted}`, from=`{origin}`"
            ))),
        }
    }

    /// Each setting with its value and origin, by key. Passwords are not told.
    pub fn shown(&self) -> impl Iterator<Item = (&'static Setting, &str, &Origin)> {
        SETTINGS.iter().map(|setting| {
            let (value, origin) = &self.values[setting.key];
            let hidden = setting.key.ends_with("password") && !value.is_empty();
            (setting, if hidden { "(hidden)" } else { value.as_str() }, origin)
        })
    }

    /// The value of a setting that there is.
    pub fn text(&self, key: &str) -> &str {
        &self.values.get(key).unwrap_or_else(|| panic!("no setting `{key}`")).0
    }

    /// The value of a setting that is a whole number.
    pub fn whole(&self, key: &str) -> u64 {
        self.text(key).parse().expect("checked when it was set")
    }

    /// The address of a listener.
    pub fn address(&self, key: &str) -> SocketAddr {
        let found = self.text(key).to_socket_addrs().ok().and_then(|mut found| found.next());
        found.expect("checked when it was set")
    }
}

fn any(_: &str) -> Result<(), String> {
    Ok(())
}

fn whole(value: &str) -> Result<(), String> {
    value.parse::<u64>().map(|_| ()).map_err(|_| "a whole number".into())
}

fn one_of(value: &str, known: &[&str]) -> Result<(), String> {
    if known.contains(&value) { Ok(()) } else { Err(known.join(", ")) }
}

fn address(value: &str) -> Result<(), String> {
    let found = value.to_socket_addrs().ok().and_then(|mut found| found.next());
    found.map(|_| ()).ok_or_else(|| "host:port".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_goes_before_the_file_and_that_before_the_default() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("orca.toml");
        std::fs::write(&file, "[http]\nlisten = \"127.0.0.1:1\"\n[graph]\nthreads = 3\n").expect("a file");
        let flags = [("http.listen", "127.0.0.1:2".to_string())];
        let settings = Settings::load(&flags, Some(&file)).expect("settings");
        assert_eq!(settings.address("http.listen").port(), 2);
        assert_eq!(settings.whole("graph.threads"), 3);
        assert_eq!(settings.text("data.log"), "async");
        let origins: Vec<String> = settings.shown().map(|(_, _, origin)| origin.to_string()).collect();
        assert!(origins.contains(&"flag".to_string()) && origins.contains(&format!("file {}", file.display())));
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once_with_its_mend() {
        let flags = [("htp.listen", "x".to_string()), ("data.log", "often".to_string())];
        let told = Settings::load(&flags, None).expect_err("two mistakes").to_string();
        for part in
            ["no such setting: setting=`htp.listen`", "did you mean `http.listen`?", "wanted=`off, async, fsync`"]
        {
            assert!(told.contains(part), "{part} in {told}");
        }
    }

    #[test]
    fn every_default_is_legal_and_keys_are_in_order() {
        for setting in SETTINGS {
            assert_eq!((setting.check)(setting.default), Ok(()), "{}", setting.key);
        }
        assert!(SETTINGS.is_sorted_by_key(|setting| setting.key));
    }
}
