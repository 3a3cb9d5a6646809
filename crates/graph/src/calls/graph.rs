//! Calls that make, show, submit and drop graphs.

use super::{Call, Desk, FunctionCall, GraphCall, needed, optional};
use crate::check::{CheckError, Fault};
use crate::explain::{graph_text, graphviz};
use crate::name::{FullName, NameKind};
use crate::script::{StreamGraph, Submission};
use crate::settings::CheckpointSettings;
use engine::Arguments;
use lang::{Diagnostic, Dict, Value};
use std::sync::Arc;

pub(super) static FUNCTIONS: &[FunctionCall] = &[
    Call {
        name: "createStreamGraph",
        parameters: &[needed("name", "the graph's name, full or in the current catalog")],
        summary: "A new graph. Nothing runs until it is submitted.",
        run: |desk, args| {
            let name = desk.name(args, "name", NameKind::Graph)?;
            if !desk.platform.catalog_exists(name.catalog()) {
                return Err(args.error("name", format!("is in no catalog: catalog=`{}`", name.catalog())));
            }
            let graph = StreamGraph::new(name);
            desk.graphs.push(graph.clone());
            Ok(Value::Object(Arc::new(graph)))
        },
    },
    Call {
        name: "getStreamGraph",
        parameters: &[needed("name", "the graph's name, full or in the current catalog")],
        summary: "A graph that was submitted before.",
        run: |desk, args| {
            let name = desk.name(args, "name", NameKind::Graph)?;
            let stored = desk.platform.graph(&name).ok_or_else(|| no_such_graph(args, &name))?;
            Ok(Value::Object(Arc::new(StreamGraph::of(stored.logical, Some(stored.plan)))))
        },
    },
    Call {
        name: "dropStreamGraph",
        parameters: &[
            needed("name", "the graph's name, full or in the current catalog"),
            optional("includeTables", "drop its public tables too, if no other graph uses them"),
        ],
        summary: "Stops a graph and forgets its state.",
        run: |desk, args| {
            let name = desk.name(args, "name", NameKind::Graph)?;
            drop_graph(desk, &name, args)
        },
    },
];

pub(super) static BUILDERS: &[GraphCall] = &[Call {
    name: "setConfigMap",
    parameters: &[needed("config", "a dictionary of settings")],
    summary: "Sets how rows are handed on in the whole graph; gives the graph.",
    run: |_, graph, args| {
        let mut building = graph.lock();
        for error in with_dict(args, "config", |entries| building.logical.settings.set(entries)) {
            building.fault(error, args.span("config"));
        }
        Ok(Value::Object(Arc::new(graph.clone())))
    },
}];

pub(super) static METHODS: &[GraphCall] = &[
    Call {
        name: "name",
        parameters: &[],
        summary: "The graph's full name.",
        run: |_, graph, _| Ok(Value::text(&graph.lock().logical.name.to_string())),
    },
    Call {
        name: "submit",
        parameters: &[optional("checkpointConfig", "a dictionary that says when the graph's state is kept")],
        summary: "Checks the graph, plans it and starts it.",
        run: submit,
    },
    Call {
        name: "str",
        parameters: &[],
        summary: "The graph's edges as text: as written before its submit, as it runs after it.",
        run: |_, graph, _| {
            let logical = graph.logical();
            Ok(Value::text(&graph_text(&logical, graph.lock().plan.as_ref())))
        },
    },
    Call {
        name: "toGraphviz",
        parameters: &[],
        summary: "The graph in the language of Graphviz.",
        run: |_, graph, _| {
            let logical = graph.logical();
            Ok(Value::text(&graphviz(&logical, graph.lock().plan.as_ref())))
        },
    },
    Call {
        name: "dropGraph",
        parameters: &[optional("includeTables", "drop its public tables too, if no other graph uses them")],
        summary: "Stops the graph and forgets its state.",
        run: |desk, graph, args| {
            let name = graph.lock().logical.name.clone();
            drop_graph(desk, &name, args)
        },
    },
];

fn no_such_graph(args: &Arguments, name: &FullName) -> Diagnostic {
    Diagnostic::at(args.span, format!("no such stream graph: graph=`{name}`"))
}

fn drop_graph(desk: &mut Desk, name: &FullName, args: &Arguments) -> Result<Value, Diagnostic> {
    let mut errors = vec![];
    let include_tables = args.boolean("includeTables", false, &mut errors);
    if !errors.is_empty() {
        return Err(desk.refuse(errors));
    }
    if desk.platform.graph(name).is_none() {
        return Err(no_such_graph(args, name));
    }
    desk.platform.drop_graph(name, include_tables)?;
    Ok(Value::NULL)
}

/// Gives a dictionary argument to whoever knows its keys.
pub(super) fn with_dict(
    args: &Arguments,
    parameter: &'static str,
    set: impl FnOnce(&Dict) -> Vec<CheckError>,
) -> Vec<CheckError> {
    match args.get(parameter) {
        None => vec![],
        Some(Value::Dict(dict)) => set(&dict.lock()),
        Some(_) => vec![CheckError::Argument(args.error(parameter, "must be a dictionary"))],
    }
}

fn submit(desk: &mut Desk, graph: &StreamGraph, args: &Arguments) -> Result<Value, Diagnostic> {
    graph.lock().open().map_err(|error| Diagnostic::from(Fault { error, span: args.span }))?;
    let mut checkpoints = CheckpointSettings::default();
    let bad = with_dict(args, "checkpointConfig", |entries| checkpoints.set(entries));
    let (mut faults, around) = graph.check(desk.platform);
    faults.extend(bad.into_iter().map(|error| Fault { error, span: args.span("checkpointConfig") }));
    // What is refused is told once: by this call, and at the end of the run.
    desk.graphs.retain(|pending| !pending.is(graph));
    if !faults.is_empty() {
        let errors = faults.into_iter().map(|fault| Diagnostic::from(fault).or_at(args.span)).collect();
        return Err(desk.refuse(errors));
    }
    let logical = graph.logical();
    let plan = crate::plan(&logical, &around);
    crate::warnings(&logical).into_iter().for_each(|warning| desk.warn(warning));
    for note in &plan.notes {
        let node = logical.nodes.iter().find(|node| node.name == note.node).expect("a note is about a node");
        desk.warn(Diagnostic::at(node.span, note.to_string()));
    }
    desk.platform.submit(Submission { logical, plan: plan.clone(), checkpoints })?;
    graph.lock().plan = Some(plan);
    Ok(Value::NULL)
}
