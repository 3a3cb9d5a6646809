//! Where the server is, and who asks.

use super::{Client, Error};
use crate::failure::Failure;
use std::time::Duration;

/// Where a server is looked for if nobody says.
pub const URL: &str = "http://127.0.0.1:8848";

/// Where the server is, and who asks.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Server")]
pub struct Place {
    /// Where the server is; else ORCA_URL says, else it is `http://127.0.0.1:8848`.
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// The name to log in with; else ORCA__LOGIN__USER says, else it is `orca`.
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// The password to log in with; else ORCA__LOGIN__PASSWORD says.
    #[arg(long, value_name = "PASSWORD")]
    password: Option<String>,
}

impl Place {
    /// A client of the server there. Nothing is sent yet.
    pub fn client(&self) -> Result<Client, Error> {
        self.client_with(None)
    }

    /// A client that waits no longer than this for an answer.
    pub fn client_with(&self, patience: Option<Duration>) -> Result<Client, Error> {
        let url = url(&said(&self.url, "ORCA_URL").unwrap_or_else(|| URL.to_string()))?;
        let user = said(&self.user, "ORCA__LOGIN__USER").unwrap_or_else(|| "orca".to_string());
        let password = self.password();
        Ok(Client::new(&url, password.as_deref().map(|password| (user.as_str(), password)), patience))
    }

    /// The password, if somebody gave one.
    pub fn password(&self) -> Option<String> {
        said(&self.password, "ORCA__LOGIN__PASSWORD")
    }
}

fn said(flag: &Option<String>, variable: &str) -> Option<String> {
    flag.clone().or_else(|| std::env::var(variable).ok()).filter(|value| !value.is_empty())
}

/// A URL as the client uses it: with `http://`, without a path.
fn url(text: &str) -> Result<String, Failure> {
    let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
    if scheme != "http" {
        return Err(Failure::new(format!("only plain HTTP is spoken: url=`{text}` (begin it with `http://`)")));
    }
    let host = rest.trim_end_matches('/');
    if host.contains('@') {
        return Err(Failure::new("a name and password do not belong in a URL (use --user and --password)"));
    }
    let is_right = !host.is_empty() && host.parse::<ureq::http::uri::Authority>().is_ok();
    match is_right {
        true => Ok(format!("http://{host}")),
        false => Err(Failure::new(format!("not the URL of a server: url=`{text}` (it is like `{URL}`)"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_may_be_short_and_must_be_plain() {
        for short in ["host:8848", "http://host:8848", "http://host:8848/"] {
            assert_eq!(url(short).expect("a URL"), "http://host:8848");
        }
        for (wrong, told) in [
            ("https://host", "begin it with `http://`"),
            ("http://me:secret@host", "--user"),
            ("http://", "it is like"),
            ("http://host/path", "it is like"),
        ] {
            let error = url(wrong).expect_err("no URL").to_string();
            assert!(error.contains(told) && !error.contains("secret"), "{error}");
        }
    }
}
