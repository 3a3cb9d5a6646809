//! Why a master refuses a request.

pub use env::Kind;

use crate::life::{GraphEvent, GraphState};
use graph::FullName;

/// Why a request was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// A catalog of this name exists.
    #[error("catalog already exists: catalog=`{catalog}`")]
    CatalogExists {
        /// The name.
        catalog: String,
    },
    /// No catalog has this name.
    #[error("no such catalog: catalog=`{catalog}`; createCatalog makes one")]
    NoCatalog {
        /// The name.
        catalog: String,
    },
    /// A graph of the catalog is still there.
    #[error("catalog is in use: catalog=`{catalog}`, graph=`{graph}`; drop the graph first")]
    CatalogInUse {
        /// The catalog.
        catalog: String,
        /// The graph.
        graph: FullName,
    },
    /// A table of this name exists.
    #[error("table already exists: table=`{table}`")]
    TableExists {
        /// The table.
        table: FullName,
    },
    /// No table has this name.
    #[error("no such table: table=`{table}`")]
    NoTable {
        /// The table.
        table: FullName,
    },
    /// A graph uses the table.
    #[error("table is in use by a graph: table=`{table}`, graph=`{graph}`; drop the graph first")]
    TableInUse {
        /// The table.
        table: FullName,
        /// The graph.
        graph: FullName,
    },
    /// A graph of this name exists.
    #[error("graph already exists: graph=`{graph}`; drop it first, or give this one another name")]
    GraphExists {
        /// The graph.
        graph: FullName,
    },
    /// No graph has this name.
    #[error("no such stream graph: graph=`{graph}`")]
    NoGraph {
        /// The graph.
        graph: FullName,
    },
    /// The event makes no sense in the graph's state.
    #[error("not possible in this state: graph=`{graph}`, state=`{state}`, event=`{event:?}`")]
    State {
        /// The graph.
        graph: FullName,
        /// Where it is in its life.
        state: GraphState,
        /// What was asked.
        event: GraphEvent,
    },
    /// No node can take a task.
    #[error("graph cannot be placed: graph=`{graph}`, {refusal}")]
    NoRoom {
        /// The graph.
        graph: FullName,
        /// What is missing.
        refusal: String,
    },
    /// No node may hold tables.
    #[error("there is no data node")]
    NoDataNode,
    /// A graph could not be brought up; it was taken down again.
    #[error("graph was not deployed: graph=`{graph}`, {reason}")]
    NotDeployed {
        /// The graph.
        graph: FullName,
        /// Stage, node, place and reason.
        reason: String,
    },
    /// A worker could not do what was asked.
    #[error("worker refused: place=`{place}`, node=`{node}`, reason=`{reason}`")]
    Worker {
        /// What it was about.
        place: String,
        /// The node.
        node: String,
        /// Why.
        reason: String,
    },
    /// What was stored cannot be read.
    #[error("stored record cannot be read: kind=`{kind}`, key=`{key}`, reason=`{reason}`")]
    Stored {
        /// The record's kind.
        kind: String,
        /// Its key.
        key: String,
        /// Why.
        reason: String,
    },
}

impl Error {
    /// What the caller can do about it.
    pub fn kind(&self) -> Kind {
        use Error as E;
        match self {
            E::NoCatalog { .. } | E::NoTable { .. } | E::NoGraph { .. } => Kind::NotFound,
            E::CatalogExists { .. } | E::TableExists { .. } | E::GraphExists { .. } => Kind::Conflict,
            E::CatalogInUse { .. } | E::TableInUse { .. } | E::State { .. } => Kind::Conflict,
            E::NoRoom { .. } | E::NoDataNode => Kind::Unavailable,
            E::NotDeployed { .. } | E::Worker { .. } => Kind::Invalid,
            E::Stored { .. } => Kind::Data,
        }
    }
}
