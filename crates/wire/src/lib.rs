//! Wire: every message between master and worker.
//!
//! Messages are plain data with a version in front. Whoever sends one knows nothing of what it causes; every one of
//! them may come twice.

use data::Schema;
use graph::{Action, FullName, Plan, Stage, TableKind, TableOptions};
use serde::{Deserialize, Serialize};

/// The version of the messages; a frame of another one is refused.
pub const VERSION: u16 = 1;

/// The name of a node of the cluster.
pub type NodeName = String;

/// Which run of a graph a message belongs to. A lower attempt of a graph is refused by whoever has seen a higher one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The graph.
    pub graph: FullName,
    /// The graph's journal: new at each submit that starts one, kept by stop and start.
    pub journal: u64,
    /// Rises with each placement of the graph.
    pub attempt: u64,
}

/// What a master asks of a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ToWorker {
    /// Create a public table that belongs to no graph.
    CreateTable(TableRecord),
    /// Forget a public table and its rows.
    DropTable(FullName),
    /// Take the actions of one stage, in order. The answer is [`ToMaster::StageDone`] or [`ToMaster::StageFailed`].
    Stage {
        /// For which run of which graph.
        attempt: Attempt,
        /// Which stage.
        stage: Stage,
        /// Is the graph brought down?
        teardown: bool,
        /// The actions.
        actions: Vec<Action>,
        /// What the actions' numbers mean.
        plan: Box<Plan>,
    },
}

/// A public table as master and worker agree on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableRecord {
    /// The full name.
    pub name: FullName,
    /// Names and types of the columns.
    pub columns: Vec<(String, String)>,
    /// Which rows it takes.
    pub kind: TableKind,
    /// How it is kept.
    pub options: TableOptions,
}

impl TableRecord {
    /// The columns as a schema; an error names what cannot be one.
    pub fn schema(&self) -> Result<Schema, String> {
        let field = |(name, ty): &(String, String)| match data::Type::parse(ty) {
            Some(ty) => Ok(data::Field::new(name.as_str(), ty)),
            None => Err(format!("unknown type: column=`{name}`, type=`{ty}`")),
        };
        let fields = self.columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
        Schema::new(fields).map_err(|error| error.to_string())
    }

    /// Names and types of a schema's columns.
    pub fn columns_of(schema: &Schema) -> Vec<(String, String)> {
        schema.fields().iter().map(|field| (field.name.to_string(), field.ty.to_string())).collect()
    }
}

/// What a worker tells its master.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ToMaster {
    /// A table was created or dropped, or why not.
    Table {
        /// Which.
        name: FullName,
        /// What went wrong, if anything did.
        error: Option<String>,
    },
    /// All actions of a stage are taken.
    StageDone {
        /// For which run of which graph.
        attempt: Attempt,
        /// Which stage.
        stage: Stage,
        /// Was the graph being brought down?
        teardown: bool,
    },
    /// An action of a stage cannot be taken.
    StageFailed {
        /// For which run of which graph.
        attempt: Attempt,
        /// Which stage.
        stage: Stage,
        /// The task or table at fault.
        place: String,
        /// What went wrong.
        reason: String,
    },
    /// A running graph has stopped by itself.
    GraphFailed {
        /// Which run of which graph.
        attempt: Attempt,
        /// Where and why.
        reason: String,
    },
}
