//! Full names: `catalog.schema.name`, where the schema says what the thing is.
//!
//! Invariants:
//! - Names keep the case they were written in and are matched without regard to it.
//! - Each part starts with a letter and holds letters, digits and underscores only.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use thiserror::Error;

/// The most letters a part of a name may have.
const PART_LETTERS_MAX: usize = 128;

/// What a name stands for; its text is the middle part of a full name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameKind {
    /// A stream graph.
    Graph,
    /// A public stream table.
    Table,
    /// A streaming engine.
    Engine,
}

impl NameKind {
    const ALL: [NameKind; 3] = [NameKind::Graph, NameKind::Table, NameKind::Engine];

    /// The schema that holds things of this kind.
    pub fn schema(self) -> &'static str {
        match self {
            NameKind::Graph => "orca_graph",
            NameKind::Table => "orca_table",
            NameKind::Engine => "orca_engine",
        }
    }
}

impl fmt::Display for NameKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NameKind::Graph => "graph",
            NameKind::Table => "table",
            NameKind::Engine => "engine",
        })
    }
}

/// Why a text is no name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NameError {
    /// A bare name where no catalog is in use.
    #[error("no catalog in use: {kind}=`{name}`; write `use catalog ...` or give the full name")]
    NoCatalog {
        /// What was to be named.
        kind: NameKind,
        /// The bare name.
        name: String,
    },
    /// More than three parts, or a middle part that is no schema.
    #[error("not a {kind} name: name=`{name}`, form=`catalog.{schema}.name`")]
    Form {
        /// What was to be named.
        kind: NameKind,
        /// The text.
        name: String,
        /// The schema it ought to have.
        schema: &'static str,
    },
    /// A part with letters that no name may have.
    #[error("bad name: name=`{name}`; a name starts with a letter and has letters, digits and underscores")]
    Letters {
        /// The part at fault.
        name: String,
    },
}

/// The full name of a graph, table or engine.
#[derive(Debug, Clone)]
pub struct FullName {
    catalog: Arc<str>,
    kind: NameKind,
    name: Arc<str>,
}

impl FullName {
    /// A full name from its parts.
    pub fn new(catalog: &str, kind: NameKind, name: &str) -> Result<FullName, NameError> {
        check_part(catalog)?;
        check_part(name)?;
        Ok(FullName { catalog: catalog.into(), kind, name: name.into() })
    }

    /// The full name a text means: `catalog.schema.name`, or `schema.name` or `name` in the current catalog.
    pub fn resolve(text: &str, kind: NameKind, current: Option<&str>) -> Result<FullName, NameError> {
        let text = text.trim();
        let wrong = || NameError::Form { kind, name: text.to_string(), schema: kind.schema() };
        let current = || current.ok_or_else(|| NameError::NoCatalog { kind, name: text.to_string() });
        match text.split('.').collect::<Vec<_>>()[..] {
            [name] => {
                check_part(name)?;
                FullName::new(current()?, kind, name)
            }
            [schema, name] if schema.eq_ignore_ascii_case(kind.schema()) => FullName::new(current()?, kind, name),
            [catalog, schema, name] if schema.eq_ignore_ascii_case(kind.schema()) => FullName::new(catalog, kind, name),
            _ => Err(wrong()),
        }
    }

    /// The catalog.
    pub fn catalog(&self) -> &str {
        &self.catalog
    }

    /// What it names.
    pub fn kind(&self) -> NameKind {
        self.kind
    }

    /// The last part.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is compared.
    fn key(&self) -> (String, NameKind, String) {
        (self.catalog.to_lowercase(), self.kind, self.name.to_lowercase())
    }
}

/// Checks one part of a name, such as that of a catalog.
pub fn check_part(part: &str) -> Result<(), NameError> {
    let letters = part.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    let starts = part.chars().next().is_some_and(char::is_alphabetic);
    if letters && starts && part.chars().count() <= PART_LETTERS_MAX {
        Ok(())
    } else {
        Err(NameError::Letters { name: part.to_string() })
    }
}

impl PartialEq for FullName {
    fn eq(&self, other: &FullName) -> bool {
        self.key() == other.key()
    }
}

impl Eq for FullName {}

impl PartialOrd for FullName {
    fn partial_cmp(&self, other: &FullName) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for FullName {
    fn cmp(&self, other: &FullName) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl Hash for FullName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl fmt::Display for FullName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.catalog, self.kind.schema(), self.name)
    }
}

impl Serialize for FullName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for FullName {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<FullName, D::Error> {
        let text = String::deserialize(deserializer)?;
        let schema = text.split('.').nth(1).unwrap_or("");
        let kind = NameKind::ALL.into_iter().find(|kind| kind.schema().eq_ignore_ascii_case(schema));
        FullName::resolve(&text, kind.unwrap_or(NameKind::Table), None).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_name_is_completed_by_the_current_catalog() {
        let table = |text, current| FullName::resolve(text, NameKind::Table, current).map(|name| name.to_string());
        assert_eq!(table("trades", Some("demo")).unwrap(), "demo.orca_table.trades");
        assert_eq!(table("orca_table.trades", Some("demo")).unwrap(), "demo.orca_table.trades");
        assert_eq!(table("other.ORCA_TABLE.trades", Some("demo")).unwrap(), "other.orca_table.trades");
        assert!(matches!(table("trades", None), Err(NameError::NoCatalog { .. })));
        assert!(matches!(table("demo.orca_graph.trades", None), Err(NameError::Form { .. })));
        assert!(matches!(table("a.orca_table.b.c", None), Err(NameError::Form { .. })));
    }

    #[test]
    fn names_are_matched_without_regard_to_case_and_keep_it() {
        let name = |text| FullName::resolve(text, NameKind::Graph, Some("Orca")).unwrap();
        assert_eq!(name("kline"), name("KLine"));
        assert_eq!(name("KLine").to_string(), "Orca.orca_graph.KLine");
    }

    #[test]
    fn a_name_starts_with_a_letter_and_has_letters_digits_and_underscores() {
        for good in ["a", "Trade_1", "行情"] {
            assert!(check_part(good).is_ok(), "{good}");
        }
        for bad in ["", "1a", "_a", "a b", "a-b", "a/b", &"a".repeat(129)] {
            assert!(check_part(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_full_name_is_stored_as_text() {
        let name = FullName::resolve("bars", NameKind::Engine, Some("demo")).unwrap();
        let text = serde_json::to_string(&name).unwrap();
        assert_eq!(text, "\"demo.orca_engine.bars\"");
        assert_eq!(serde_json::from_str::<FullName>(&text).unwrap(), name);
        assert!(serde_json::from_str::<FullName>("\"demo.bars\"").is_err());
    }
}
