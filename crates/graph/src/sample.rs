//! Graphs for tests, put together without a script: engines are names with facts.

use crate::logical::{EngineNode, LogicalGraph, MapNode, Node, NodeId, Operator, TableNode, TableRole, plain_facts};
use crate::name::{FullName, NameKind};
use crate::settings::EdgeSettings;
use crate::table::{TableKind, TableOptions};
use data::{Schema, Type};
use engine::{Facts, Split};
use lang::Span;
use std::sync::Arc;

/// The full name of a table of the catalog `demo`.
pub(crate) fn table_name(name: &str) -> FullName {
    FullName::new("demo", NameKind::Table, name).unwrap()
}

/// The columns every node of a sample has unless it is told otherwise.
pub(crate) fn columns() -> Arc<Schema> {
    Schema::of(&[("symbol", Type::Symbol), ("datetime", Type::Timestamp), ("price", Type::Double)])
}

/// A graph that grows node by node; node `i` has its place at byte `10 * i`.
pub(crate) struct Sample(pub(crate) LogicalGraph);

impl Sample {
    pub(crate) fn new() -> Sample {
        Sample(LogicalGraph::new(FullName::new("demo", NameKind::Graph, "sample").unwrap()))
    }

    pub(crate) fn add(&mut self, operator: Operator, inputs: &[NodeId]) -> NodeId {
        let id = NodeId(self.0.nodes.len() as u32);
        let schema = inputs.first().map_or_else(columns, |input| self.0.node(*input).schema.clone());
        let span = Span { start: id.0 * 10, end: id.0 * 10 + 5 };
        let (inputs, settings) = (inputs.to_vec(), EdgeSettings::default());
        self.0.nodes.push(Node { name: String::new(), named: false, operator, inputs, schema, settings, span });
        id
    }

    fn table(&mut self, role: TableRole, name: &str, inputs: &[NodeId]) -> NodeId {
        let (table, kind, options) = (table_name(name), TableKind::Log, TableOptions::default());
        self.add(Operator::Table(TableNode { role, table, kind, options }), inputs)
    }

    pub(crate) fn source(&mut self, name: &str) -> NodeId {
        self.table(TableRole::Source, name, &[])
    }

    pub(crate) fn buffer(&mut self, input: NodeId, name: &str) -> NodeId {
        self.table(TableRole::Buffer, name, &[input])
    }

    pub(crate) fn sink(&mut self, input: NodeId, name: &str) -> NodeId {
        self.table(TableRole::Sink, name, &[input])
    }

    /// An engine that may be split as told; it keeps all columns.
    pub(crate) fn engine(&mut self, inputs: &[NodeId], kind: &str, split: Split) -> NodeId {
        let kept = columns().names().into_iter().map(|name| (name.clone(), name)).collect();
        let facts = Facts { split, ..plain_facts() };
        let (kind, arguments) = (kind.to_string(), vec![("metrics".to_string(), "<price>".to_string())]);
        let input_names = vec![None; inputs.len()];
        self.add(Operator::Engine(EngineNode { kind, arguments, input_names, facts, complexity: 1, kept }), inputs)
    }

    /// An engine that may be split by `symbol`.
    pub(crate) fn keyed(&mut self, input: NodeId, kind: &str) -> NodeId {
        self.engine(&[input], kind, Split::By(vec!["symbol".into()]))
    }

    /// A map that keeps these columns.
    pub(crate) fn map(&mut self, input: NodeId, kept: &[&str]) -> NodeId {
        let kept = kept.iter().map(|name| (name.to_string(), name.to_string())).collect();
        self.add(Operator::Map(MapNode { function: "t -> t".into(), facts: plain_facts(), kept }), &[input])
    }

    pub(crate) fn parallelize(&mut self, input: NodeId, column: &str, count: u32) -> NodeId {
        self.add(Operator::Parallelize { column: column.to_string(), count }, &[input])
    }

    pub(crate) fn sync(&mut self, input: NodeId) -> NodeId {
        self.add(Operator::Sync, &[input])
    }

    /// The graph, its nodes named.
    pub(crate) fn done(mut self) -> LogicalGraph {
        self.0.name_nodes();
        self.0
    }
}

/// The first script of the principles article: bars, then indicators.
pub(crate) fn one_minute_indicators() -> LogicalGraph {
    let mut sample = Sample::new();
    let trade = sample.source("Trade");
    let bars = sample.keyed(trade, "timeSeriesEngine");
    let indicators = sample.keyed(bars, "reactiveStateEngine");
    sample.sink(indicators, "output");
    sample.done()
}

/// The second one: the bars have two consumers.
pub(crate) fn engine_fork() -> LogicalGraph {
    let mut sample = Sample::new();
    let trade = sample.source("Trade");
    let bars = sample.keyed(trade, "timeSeriesEngine");
    sample.sink(bars, "output_kline");
    let indicators = sample.keyed(bars, "reactiveStateEngine");
    sample.sink(indicators, "output_indicator");
    sample.done()
}

/// The third one: two branches of four parts each.
pub(crate) fn parallel_klines() -> LogicalGraph {
    let mut sample = Sample::new();
    let trade = sample.source("Trade");
    for output in ["output_1min", "output_5min"] {
        let parts = sample.parallelize(trade, "symbol", 4);
        let bars = sample.keyed(parts, "timeSeriesEngine");
        let indicators = sample.keyed(bars, "reactiveStateEngine");
        let synced = sample.sync(indicators);
        sample.sink(synced, output);
    }
    sample.done()
}
