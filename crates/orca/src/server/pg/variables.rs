//! Settings of a connection: what clients set and ask for. Two have an effect, `statement_timeout` and `application_name`; times
//! have no zone and texts are UTF-8, whatever is set.

use super::error::PgError;
use std::collections::BTreeMap;
use std::time::Duration;

/// What the server says it is; clients read the number.
const SERVER_VERSION: &str = concat!("16.6 (Orca ", env!("CARGO_PKG_VERSION"), ")");

/// Name as it is reported, default, and whether clients are told its value.
const KNOWN: &[(&str, &str, bool)] = &[
    ("DateStyle", "ISO, MDY", true),
    ("IntervalStyle", "postgres", true),
    ("TimeZone", "UTC", true),
    ("application_name", "", true),
    ("bytea_output", "hex", false),
    ("client_encoding", "UTF8", true),
    ("client_min_messages", "notice", false),
    ("default_transaction_isolation", "read committed", false),
    ("default_transaction_read_only", "off", true),
    ("extra_float_digits", "1", false),
    ("idle_in_transaction_session_timeout", "0", false),
    ("in_hot_standby", "off", true),
    ("integer_datetimes", "on", true),
    ("is_superuser", "on", true),
    ("lc_collate", "C.UTF-8", false),
    ("lock_timeout", "0", false),
    ("max_identifier_length", "63", false),
    ("max_index_keys", "32", false),
    ("search_path", "orca_table", false),
    ("server_encoding", "UTF8", true),
    ("server_version", SERVER_VERSION, true),
    ("server_version_num", "160006", false),
    ("session_authorization", "", true),
    ("standard_conforming_strings", "on", true),
    ("statement_timeout", "0", false),
    ("transaction_isolation", "read committed", false),
    ("transaction_read_only", "off", false),
];

/// The settings of one connection.
#[derive(Debug, Default)]
pub(super) struct Variables {
    set: BTreeMap<String, String>,
}

impl Variables {
    /// Sets one, or back to its default. Gives name and value if clients are told.
    pub(super) fn set(&mut self, name: &str, value: Option<String>) -> Result<Option<(&'static str, String)>, PgError> {
        let lower = name.to_lowercase();
        if let Some(encoding) = value.as_ref().filter(|_| lower == "client_encoding")
            && !matches!(encoding.to_lowercase().replace('-', "").as_str(), "utf8" | "unicode" | "sql_ascii" | "auto")
        {
            return Err(PgError::new("22023", format!("texts are UTF-8: client_encoding=`{encoding}`")));
        }
        if let Some(timeout) = value.as_ref().filter(|_| lower == "statement_timeout") {
            duration(timeout)
                .ok_or_else(|| PgError::new("22023", format!("no such time: statement_timeout=`{timeout}`")))?;
        }
        match value {
            Some(_) if matches!(lower.as_str(), "client_encoding" | "server_version" | "server_encoding") => {}
            Some(value) => drop(self.set.insert(lower.clone(), value)),
            None => drop(self.set.remove(&lower)),
        }
        let known = KNOWN.iter().find(|(name, _, is_told)| *is_told && name.eq_ignore_ascii_case(&lower));
        Ok(known.map(|(name, ..)| (*name, self.get(name).unwrap_or_default())))
    }

    /// Sets what stands in `-c name=value -c …`.
    pub(super) fn set_options(&mut self, options: &str) {
        for option in options.split("-c").filter_map(|option| option.trim().split_once('=')) {
            // As when it connects: what is not known is left.
            let _ = self.set(option.0.trim(), Some(option.1.trim().to_string()));
        }
    }

    /// Notes who the client is.
    pub(super) fn set_session(&mut self, user: &str) {
        self.set.insert("session_authorization".into(), user.into());
    }

    /// All back to their defaults, but for who the client is.
    pub(super) fn reset(&mut self) {
        self.set.retain(|name, _| name == "session_authorization" || name == "application_name");
    }

    /// The value of one, by any of its names; `None` if there is none of the name.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        let name = match name.to_lowercase().as_str() {
            "time zone" => "timezone".to_string(),
            "transaction isolation level" => "transaction_isolation".to_string(),
            "names" => "client_encoding".to_string(),
            other => other.to_string(),
        };
        let default = || KNOWN.iter().find(|(known, ..)| known.eq_ignore_ascii_case(&name)).map(|known| known.1.into());
        self.set.get(&name).cloned().or_else(default)
    }

    /// Name and value of those that clients are told of.
    pub(super) fn told(&self) -> impl Iterator<Item = (&'static str, String)> {
        let told = KNOWN.iter().filter(|(.., is_told)| *is_told);
        told.map(|(name, ..)| (*name, self.get(name).unwrap_or_default()))
    }

    /// Name and value of all.
    pub(super) fn all(&self) -> Vec<(String, String)> {
        KNOWN.iter().map(|(name, ..)| (name.to_string(), self.get(name).unwrap_or_default())).collect()
    }

    /// How long a statement may take.
    pub(super) fn timeout(&self) -> Option<Duration> {
        let set = self.set.get("statement_timeout")?;
        duration(set).filter(|timeout| !timeout.is_zero())
    }
}

/// `500`, `500ms`, `5s`, `2min` or `1h`.
fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let count: u64 = text[..digits].parse().ok()?;
    let unit_ms = match text[digits..].trim() {
        "" | "ms" => 1,
        "s" => 1_000,
        "min" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    Some(Duration::from_millis(count.checked_mul(unit_ms)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_has_its_value_its_default_or_a_reason() {
        let mut variables = Variables::default();
        assert_eq!(variables.set("TimeZone", Some("Asia/Tokyo".into())), Ok(Some(("TimeZone", "Asia/Tokyo".into()))));
        assert_eq!(variables.get("time zone").as_deref(), Some("Asia/Tokyo"));
        assert_eq!(variables.set("x.y", Some("1".into())), Ok(None));
        assert_eq!(variables.get("x.y").as_deref(), Some("1"));
        assert!(variables.set("client_encoding", Some("LATIN1".into())).is_err());
        variables.set_options("-c statement_timeout=2s -c search_path=a");
        assert_eq!(variables.timeout(), Some(Duration::from_secs(2)));
        variables.reset();
        assert_eq!((variables.timeout(), variables.get("timezone").as_deref()), (None, Some("UTC")));
        assert_eq!(variables.get("nix"), None);
    }
}
