//! How the plain types of the floors below are stored in a graph: as text and numbers that outlive the process.

use data::{Field, Schema, Type};
use engine::{Facts, Split};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;

/// A schema as a list of `[name, type]`.
pub(crate) mod schema {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(schema: &Arc<Schema>, serializer: S) -> Result<S::Ok, S::Error> {
        let columns = schema.fields().iter().map(|field| (field.name.to_string(), field.ty.to_string()));
        serializer.collect_seq(columns)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<Schema>, D::Error> {
        let columns = Vec::<(String, String)>::deserialize(deserializer)?;
        let field = |(name, ty): (String, String)| match Type::parse(&ty) {
            Some(ty) => Ok(Field::new(name, ty)),
            None => Err(D::Error::custom(format!("unknown type: column=`{name}`, type=`{ty}`"))),
        };
        let fields = columns.into_iter().map(field).collect::<Result<Vec<_>, _>>()?;
        Schema::new(fields).map(Arc::new).map_err(D::Error::custom)
    }
}

/// [`Facts`] as they are stored.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Facts")]
pub(crate) struct StoredFacts {
    #[serde(with = "StoredSplit")]
    split: Split,
    reads_clock: bool,
    reads_batches: bool,
    reads_arrival: bool,
}

/// [`Split`] as it is stored.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Split", rename_all = "snake_case")]
enum StoredSplit {
    Any,
    By(Vec<String>),
    Broadcast(Vec<String>),
    Never(String),
}
