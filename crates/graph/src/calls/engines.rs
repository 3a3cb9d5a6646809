//! Every engine as a method of a stream.

use super::{argument_faults, place};
use crate::check::{CheckError, Fault};
use crate::logical::{EngineNode, NodeId, Operator};
use crate::script::DStream;
use crate::source_text::{bind_engine, write_value};
use data::Schema;
use engine::{Arguments, EngineKind, Input, Spec, Split};
use lang::tree::ExprKind;
use lang::{Args, Diagnostic, Value};
use std::sync::Arc;

/// Adds an engine behind a stream. All that is wrong with the call is kept for the submit.
pub(super) fn add(stream: &DStream, kind: &'static EngineKind, args: &Args) -> Value {
    match try_add(stream, kind, args) {
        Ok(node) => stream.graph.stream(node),
        Err(errors) => stream.keep_faults(argument_faults(errors).collect()),
    }
}

/// The new node; `None` if an input is unusable, whose fault is told already.
fn try_add(stream: &DStream, kind: &'static EngineKind, args: &Args) -> Result<Option<NodeId>, Vec<Diagnostic>> {
    let mut args = args.clone();
    let here = place(args.spans.first().copied(), args.span);
    let refused = |error: CheckError| vec![Diagnostic::from(Fault { error, span: here })];
    let mut inputs = vec![stream.node];
    if kind.inputs > 1 {
        let right = take_right_stream(kind, &mut args)?;
        if !right.graph.is(&stream.graph) {
            let name = |stream: &DStream| stream.graph.lock().logical.name.clone();
            let error = CheckError::OtherGraph { graph: name(stream), other: name(&right) };
            return Err(refused(error));
        }
        inputs.push(right.node);
    }
    let (arguments, mut errors) = Arguments::sort(kind.name, kind.parameters, &args);
    let mut building = stream.graph.lock();
    let Some(inputs) = inputs.iter().copied().collect::<Option<Vec<NodeId>>>() else {
        building.tapped.extend(inputs.into_iter().flatten());
        return Ok(None);
    };
    let logical = &building.logical;
    let schemas: Vec<Arc<Schema>> = inputs.iter().map(|input| logical.node(*input).schema.clone()).collect();
    let table = |input: &NodeId| Some(logical.origin_table(*input)?.table.name().to_string());
    let names: Vec<Option<String>> = inputs.iter().map(table).collect();
    let known = |(schema, name): (&Arc<Schema>, &Option<String>)| Input { schema: schema.clone(), name: name.clone() };
    let known: Vec<Input> = schemas.iter().zip(&names).map(known).collect();
    let located = |errors: Vec<Diagnostic>| errors.into_iter().map(|error| error.or_at(here)).collect::<Vec<_>>();
    if !errors.is_empty() {
        // What the arguments that are known say wrong is told as well, but not what follows from missing ones.
        let missing = kind.parameters.iter().any(|known| known.required && arguments.get(known.name).is_none());
        if !missing {
            errors.extend((kind.bind)(&arguments, &known).err().unwrap_or_default());
        }
        return Err(located(errors));
    }
    let spec = (kind.bind)(&arguments, &known).map_err(located)?;
    let mut functions = building.logical.functions.clone();
    let engine = stored(kind, &arguments, names, &*spec, &mut functions).map_err(refused)?;
    // What is stored must mean the same when it is read again; its places are those of the stored text.
    let unplaced = |error: Diagnostic| Diagnostic { span: None, source: None, ..error };
    let again = bind_engine(&engine, &schemas, &functions)
        .map_err(|errors| located(errors.into_iter().map(unplaced).collect()))?;
    if again.schema() != spec.schema() || again.facts() != spec.facts() {
        return Err(vec![Diagnostic::at(here, format!("{} changes when its arguments are stored", kind.name))]);
    }
    building.logical.functions = functions;
    Ok(Some(building.add(Operator::Engine(engine), inputs, spec.schema(), here)))
}

/// The right stream of a join: its first argument, or the one named so.
fn take_right_stream(kind: &EngineKind, args: &mut Args) -> Result<DStream, Vec<Diagnostic>> {
    let named = args.named.iter().position(|(name, _)| name.eq_ignore_ascii_case("rightStream"));
    let (value, place) = match named {
        Some(index) => (Some(args.named.remove(index).1), args.values.len() + index),
        None if !args.values.is_empty() => (args.values.remove(0), 0),
        None => (None, 0),
    };
    let span = if place < args.spans.len() { args.spans.remove(place) } else { args.span };
    let stream = match &value {
        Some(Value::Object(object)) => object.any().downcast_ref::<DStream>().cloned(),
        _ => None,
    };
    stream.ok_or_else(|| {
        let message = format!("{} expects a stream of the same graph: parameter=`rightStream`", kind.name);
        vec![Diagnostic::at(span, message)]
    })
}

/// The engine as a graph keeps it.
fn stored(
    kind: &EngineKind,
    arguments: &Arguments,
    input_names: Vec<Option<String>>,
    spec: &dyn Spec,
    functions: &mut Vec<crate::StoredFunction>,
) -> Result<EngineNode, CheckError> {
    let mut texts = vec![];
    for (name, value, _) in &arguments.given {
        texts.push((name.to_string(), write_value(value, functions)?));
    }
    let (facts, schema) = (spec.facts(), spec.schema());
    let kept: Vec<(String, String)> = match &facts.split {
        // The columns an engine is keyed by come out as they went in.
        Split::By(keys) | Split::Broadcast(keys) => {
            let out = keys.iter().filter(|key| schema.field(key).is_some());
            out.map(|key| (key.clone(), key.clone())).collect()
        }
        // Of what treats each row for itself, the bare columns do.
        Split::Any => bare_metrics(arguments.get("metrics")),
        Split::Never(_) => vec![],
    };
    let complexity = spec.complexity();
    Ok(EngineNode { kind: kind.name.to_string(), arguments: texts, input_names, facts, complexity, kept })
}

/// The metrics that are bare columns, with the names they come out under.
fn bare_metrics(metrics: Option<&Value>) -> Vec<(String, String)> {
    match metrics {
        Some(Value::Tuple(values)) => values.iter().flat_map(|value| bare_metrics(Some(value))).collect(),
        Some(Value::Code(code)) => match (&code.expr.kind, &code.names[..]) {
            (ExprKind::Name(name), []) => vec![(name.to_string(), name.to_string())],
            (ExprKind::Name(name), [alias]) => vec![(name.to_string(), alias.to_string())],
            _ => vec![],
        },
        _ => vec![],
    }
}
