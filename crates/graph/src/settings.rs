//! What `setConfigMap`, `setLocalConfigOnce` and `submit` may set: known keys with their types and ranges.

use crate::check::CheckError;
use data::{Scalar, Type};
use lang::{Dict, Value};
use serde::{Deserialize, Serialize};

/// How rows are handed over an edge.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeSettings {
    /// `subscription.batchSize`: how many rows are gathered before they are handed on.
    pub batch_rows: Option<u64>,
    /// `subscription.throttle`: for how many seconds rows are gathered at most.
    pub throttle_s: Option<u64>,
    /// `subscription.timeTrigger`: hand over at each interval even if there is no row.
    pub time_trigger: Option<bool>,
    /// `subscription.sourceOffset`: where reading of a source begins; -3 the first row there is, -1 the next one.
    pub source_offset: Option<i64>,
}

/// What is set for a whole graph.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// For every edge that does not say otherwise.
    pub edges: EdgeSettings,
    /// `privateTable.cacheSize`: rows kept between two tasks.
    pub private_cache_rows: Option<u64>,
}

/// When and how a graph's state is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointSettings {
    /// Keep it at all?
    pub enable: bool,
    /// The time between two checkpoints.
    pub interval_ms: u64,
    /// A checkpoint that takes longer has failed.
    pub timeout_ms: u64,
    /// One whose barriers do not meet within this has failed.
    pub aligned_timeout_ms: u64,
    /// The pause after a checkpoint.
    pub min_interval_ms: u64,
    /// After more failures in a row the graph goes to `error`.
    pub consecutive_failures: u64,
    /// How many may run at a time.
    pub concurrent_max: u64,
    /// How many finished ones are kept.
    pub retained_max: u64,
}

impl Default for CheckpointSettings {
    fn default() -> CheckpointSettings {
        CheckpointSettings {
            enable: false,
            interval_ms: HOUR_MS,
            timeout_ms: HOUR_MS / 6,
            aligned_timeout_ms: HOUR_MS / 6,
            min_interval_ms: 0,
            consecutive_failures: 3,
            concurrent_max: 1,
            retained_max: 3,
        }
    }
}

const HOUR_MS: u64 = 3_600_000;
const YEAR_MS: u64 = 365 * 24 * HOUR_MS;

/// One key: its name, the range of its value, and where the value goes. A truth value has the range 0..=1.
struct Key<T> {
    name: &'static str,
    range: (i64, i64),
    set: fn(&mut T, i64),
}

static EDGE_KEYS: &[Key<EdgeSettings>] = &[
    Key { name: "subscription.batchSize", range: (0, i64::MAX), set: |to, v| to.batch_rows = Some(v as u64) },
    Key { name: "subscription.throttle", range: (0, i64::MAX), set: |to, v| to.throttle_s = Some(v as u64) },
    Key { name: "subscription.timeTrigger", range: (0, 1), set: |to, v| to.time_trigger = Some(v != 0) },
    Key { name: "subscription.sourceOffset", range: (-3, i64::MAX), set: |to, v| to.source_offset = Some(v) },
];

static GRAPH_KEYS: &[Key<Settings>] = &[Key {
    name: "privateTable.cacheSize",
    range: (0, i64::MAX),
    set: |to, v| to.private_cache_rows = Some((v as u64).max(crate::table::CACHE_ROWS_MIN)),
}];

static CHECKPOINT_KEYS: &[Key<CheckpointSettings>] = &[
    Key { name: "enable", range: (0, 1), set: |to, v| to.enable = v != 0 },
    Key { name: "interval", range: (10_000, YEAR_MS as i64), set: |to, v| to.interval_ms = v as u64 },
    Key { name: "timeout", range: (1_000, HOUR_MS as i64), set: |to, v| to.timeout_ms = v as u64 },
    Key { name: "alignedTimeout", range: (100, HOUR_MS as i64), set: |to, v| to.aligned_timeout_ms = v as u64 },
    Key { name: "minIntervalBetweenCkpt", range: (0, YEAR_MS as i64), set: |to, v| to.min_interval_ms = v as u64 },
    Key { name: "consecutiveFailures", range: (0, 102_400), set: |to, v| to.consecutive_failures = v as u64 },
    Key { name: "maxConcurrentCheckpoints", range: (1, 102_400), set: |to, v| to.concurrent_max = v as u64 },
    Key { name: "maxRetainedCheckpoints", range: (1, 1024), set: |to, v| to.retained_max = v as u64 },
];

impl EdgeSettings {
    /// These settings, and the others where these say nothing.
    pub fn over(&self, others: &EdgeSettings) -> EdgeSettings {
        EdgeSettings {
            batch_rows: self.batch_rows.or(others.batch_rows),
            throttle_s: self.throttle_s.or(others.throttle_s),
            time_trigger: self.time_trigger.or(others.time_trigger),
            source_offset: self.source_offset.or(others.source_offset),
        }
    }

    /// Takes the entries of `setLocalConfigOnce`.
    pub fn set(&mut self, entries: &Dict) -> Vec<CheckError> {
        each(entries, |name, value| put(self, EDGE_KEYS, name, value), EDGE_KEYS.iter().map(|key| key.name))
    }
}

impl Settings {
    /// Takes the entries of `setConfigMap`.
    pub fn set(&mut self, entries: &Dict) -> Vec<CheckError> {
        let known = EDGE_KEYS.iter().map(|key| key.name).chain(GRAPH_KEYS.iter().map(|key| key.name));
        let set = |name: &str, value: &Value| {
            put(&mut self.edges, EDGE_KEYS, name, value).or_else(|| put(self, GRAPH_KEYS, name, value))
        };
        each(entries, set, known)
    }
}

impl CheckpointSettings {
    /// Takes the entries of the dictionary given to `submit`.
    pub fn set(&mut self, entries: &Dict) -> Vec<CheckError> {
        let known = CHECKPOINT_KEYS.iter().map(|key| key.name);
        each(entries, |name, value| put(self, CHECKPOINT_KEYS, name, value), known)
    }
}

/// Sets every entry; `set` gives `None` for a key it does not know.
fn each(
    entries: &Dict,
    mut set: impl FnMut(&str, &Value) -> Option<Result<(), CheckError>>,
    known: impl Iterator<Item = &'static str>,
) -> Vec<CheckError> {
    let known: Vec<&'static str> = known.collect();
    let mut errors = vec![];
    for (key, value) in &entries.entries {
        let name = key.as_text().unwrap_or("");
        match set(name, value) {
            Some(Ok(())) => {}
            Some(Err(error)) => errors.push(error),
            None => errors.push(CheckError::UnknownSetting { key: name.to_string(), known: known.clone() }),
        }
    }
    errors
}

fn put<T>(to: &mut T, keys: &[Key<T>], name: &str, value: &Value) -> Option<Result<(), CheckError>> {
    let key = keys.iter().find(|key| key.name.eq_ignore_ascii_case(name))?;
    let (low, high) = key.range;
    let number = match value {
        Value::Scalar(Type::Bool, Scalar::Bool(value)) => Some(*value as i64),
        Value::Scalar(_, value) => value.as_i64(),
        _ => None,
    };
    Some(match number.filter(|number| (low..=high).contains(number)) {
        Some(number) => {
            (key.set)(to, number);
            Ok(())
        }
        None => Err(CheckError::BadSetting { key: key.name, low, high }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dict(entries: &[(&str, i64)]) -> Dict {
        let entry = |(key, value): &(&str, i64)| (Scalar::from(*key), Value::Scalar(Type::Long, Scalar::Int(*value)));
        Dict::of(Type::String, entries.iter().map(entry).collect())
    }

    #[test]
    fn known_keys_are_set_and_unknown_ones_are_refused() {
        let mut settings = Settings::default();
        let errors = settings.set(&dict(&[
            ("subscription.batchSize", 10),
            ("privateTable.cacheSize", 5),
            ("subscription.sourceOfset", -1),
            ("subscription.sourceOffset", -4),
        ]));
        assert_eq!(settings.edges.batch_rows, Some(10));
        assert_eq!(settings.private_cache_rows, Some(1000));
        assert!(matches!(&errors[0], CheckError::UnknownSetting { key, .. } if key == "subscription.sourceOfset"));
        assert!(matches!(&errors[1], CheckError::BadSetting { key: "subscription.sourceOffset", .. }));
    }

    #[test]
    fn checkpoints_are_kept_within_their_ranges() {
        let mut settings = CheckpointSettings::default();
        assert!(settings.set(&dict(&[("enable", 1), ("interval", 10_000), ("timeout", 36_000)])).is_empty());
        assert!(settings.enable && settings.interval_ms == 10_000 && settings.timeout_ms == 36_000);
        assert_eq!(settings.set(&dict(&[("interval", 9_999), ("maxRetainedCheckpoints", 0)])).len(), 2);
    }
}
