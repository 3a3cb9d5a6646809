//! Methods of a stream that shape a graph: map, fork, sections, names.

use super::graph::with_dict;
use super::{Call, StreamCall, argument_faults, needed, place_of};
use crate::check::{CheckError, FORK_MAX, Fault, PARTS_MAX};
use crate::logical::{MapNode, NodeId, Operator};
use crate::map::bind_map;
use crate::name::check_part;
use crate::script::DStream;
use crate::source_text::write_value;
use data::Batch;
use engine::Arguments;
use lang::{Table, Value};

pub(super) static BUILDERS: &[StreamCall] = &[
    Call {
        name: "map",
        parameters: &[needed("func", "a function from a table to a table; it sees nothing else")],
        summary: "Changes each batch by a function; a filter is `map(t -> select * from t where ...)`.",
        run: |_, stream, args| Ok(stream.then(args, map)),
    },
    Call {
        name: "fork",
        parameters: &[needed("count", "how many branches, at least 2")],
        summary: "The same rows in several branches; gives a list of streams.",
        run: |_, stream, args| {
            let mut faults = vec![];
            let count = integer(args, "count", &mut faults);
            let fits = |count: &i64| (2..=FORK_MAX).contains(count);
            if let Some(count) = count.filter(|count| !fits(count)) {
                faults.push(Fault { error: CheckError::ForkCount { count }, span: place_of(args) });
            }
            // A refused fork still gives a list, so that the script can go on to its other faults.
            let branches = count.unwrap_or(2).clamp(2, FORK_MAX);
            let branch = match faults.is_empty() {
                true => stream.graph.stream(stream.node),
                false => stream.keep_faults(faults),
            };
            Ok(Value::Tuple(vec![branch; branches as usize]))
        },
    },
    Call {
        name: "parallelize",
        parameters: &[
            needed("columnName", "the column whose values split the rows"),
            needed("count", "how many parts, at least 1"),
        ],
        summary: "Splits the rows by a column's value until sync; rows whose value is NULL are dropped.",
        run: |_, stream, args| Ok(stream.then(args, parallelize)),
    },
    Call {
        name: "sync",
        parameters: &[],
        summary: "Merges the parts again, in the order of the rows that caused theirs.",
        run: |_, stream, args| {
            Ok(stream.then(args, |stream, node, args| {
                let mut building = stream.graph.lock();
                let schema = building.logical.node(node).schema.clone();
                Ok(building.add(Operator::Sync, vec![node], schema, place_of(args)))
            }))
        },
    },
    Call {
        name: "setEngineName",
        parameters: &[needed("name", "letters, digits and underscores")],
        summary: "Names the engine just defined, so that it can be addressed while it runs.",
        run: |_, stream, args| Ok(stream.then(args, name_engine)),
    },
    Call {
        name: "setLocalConfigOnce",
        parameters: &[needed("config", "a dictionary of settings")],
        summary: "Sets how rows are handed on to the next node.",
        run: |_, stream, args| {
            Ok(stream.then(args, |stream, node, args| {
                let mut building = stream.graph.lock();
                let settings = &mut building.logical.nodes[node.index()].settings;
                let errors = with_dict(args, "config", |entries| settings.set(entries));
                let span = args.span("config");
                let faults: Vec<Fault> = errors.into_iter().map(|error| Fault { error, span }).collect();
                if faults.is_empty() { Ok(node) } else { Err(faults) }
            }))
        },
    },
];

pub(super) static METHODS: &[StreamCall] = &[Call {
    name: "getOutputSchema",
    parameters: &[],
    summary: "A table without rows that has the columns of the stream.",
    run: |_, stream, _| {
        let Some(node) = stream.node else { return Ok(Value::NULL) };
        let schema = stream.graph.lock().logical.node(node).schema.clone();
        Ok(Value::Table(Table::new(Batch::empty(schema))))
    },
}];

impl DStream {
    /// Goes on to the node that a call makes. Nothing is done, and nothing told, on an unusable stream.
    pub(super) fn then(
        &self,
        args: &Arguments,
        make: impl FnOnce(&DStream, NodeId, &Arguments) -> Result<NodeId, Vec<Fault>>,
    ) -> Value {
        let Some(node) = self.node else { return self.graph.stream(None) };
        match make(self, node, args) {
            Ok(node) => self.graph.stream(Some(node)),
            Err(faults) => self.keep_faults(faults),
        }
    }
}

/// A whole number; what is wrong with it is added to the faults.
fn integer(args: &Arguments, parameter: &'static str, faults: &mut Vec<Fault>) -> Option<i64> {
    let mut errors = vec![];
    let number = args.integer(parameter, &mut errors);
    faults.extend(argument_faults(errors));
    number
}

/// A text; what is wrong with it is added to the faults.
fn text(args: &Arguments, parameter: &'static str, faults: &mut Vec<Fault>) -> Option<String> {
    let mut errors = vec![];
    let text = args.text(parameter, &mut errors).map(|text| text.to_string());
    faults.extend(argument_faults(errors));
    text
}

fn map(stream: &DStream, node: NodeId, args: &Arguments) -> Result<NodeId, Vec<Fault>> {
    let span = place_of(args);
    let value = args.get("func").cloned().unwrap_or(Value::NULL);
    let mut building = stream.graph.lock();
    let input = building.logical.node(node).schema.clone();
    let fault = |error: CheckError| vec![Fault { error, span }];
    let bound = bind_map(&value, &input).map_err(|error| {
        let error = error.or_at(args.span("func"));
        fault(CheckError::Argument(lang::Diagnostic { message: format!("map: {}", error.message), ..error }))
    })?;
    let mut functions = building.logical.functions.clone();
    let function = write_value(&value, &mut functions).map_err(fault)?;
    building.logical.functions = functions;
    let operator = Operator::Map(MapNode { function, facts: bound.facts, kept: bound.kept });
    Ok(building.add(operator, vec![node], bound.schema, span))
}

fn parallelize(stream: &DStream, node: NodeId, args: &Arguments) -> Result<NodeId, Vec<Fault>> {
    let mut faults = vec![];
    let column = text(args, "columnName", &mut faults);
    let count = integer(args, "count", &mut faults);
    let mut building = stream.graph.lock();
    let schema = building.logical.node(node).schema.clone();
    if let Some(count) = count.filter(|count| !(1..=PARTS_MAX).contains(count)) {
        faults.push(Fault { error: CheckError::PartCount { count }, span: args.span("count") });
    }
    if let Some(column) = column.as_ref().filter(|column| schema.field(column).is_none()) {
        let (place, column, known) = ("operator=`parallelize`".to_string(), column.clone(), schema.names());
        faults.push(Fault { error: CheckError::UnknownColumn { place, column, known }, span: args.span("columnName") });
    }
    match (column, count) {
        (Some(column), Some(count)) if faults.is_empty() => {
            let operator = Operator::Parallelize { column, count: count as u32 };
            Ok(building.add(operator, vec![node], schema, place_of(args)))
        }
        _ => Err(faults),
    }
}

fn name_engine(stream: &DStream, node: NodeId, args: &Arguments) -> Result<NodeId, Vec<Fault>> {
    let mut faults = vec![];
    let Some(engine) = text(args, "name", &mut faults) else { return Err(faults) };
    // A full name is as good as a bare one.
    let engine = engine.rsplit('.').next().unwrap_or_default().to_string();
    let mut building = stream.graph.lock();
    let node_there = &mut building.logical.nodes[node.index()];
    let fault = |error| Err(vec![Fault { error, span: place_of(args) }]);
    if let Err(error) = check_part(&engine) {
        return fault(error.into());
    }
    if !matches!(node_there.operator, Operator::Engine(_)) {
        let operator = node_there.operator.word().to_string();
        return fault(CheckError::NameWithoutEngine { engine, operator });
    }
    (node_there.name, node_there.named) = (engine, true);
    Ok(node)
}
