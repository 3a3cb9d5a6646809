//! The script calls on graphs, as lists of entries. A new call is one entry.

mod catalog;
mod conform;
mod engines;
mod graph;
mod stream;
mod tables;

use crate::check::{CheckError, Fault};
use crate::name::{FullName, NameError, NameKind};
use crate::script::{DStream, Platform, StreamGraph};
use engine::{Arguments, Parameter};
use lang::{Args, Diagnostic, Object, Source, Span, Value};
use std::sync::Arc;

/// One call: what a manual says of it, and what it does.
struct Call<F: 'static> {
    name: &'static str,
    parameters: &'static [Parameter],
    summary: &'static str,
    run: F,
}

type Outcome = Result<Value, Diagnostic>;
type FunctionCall = Call<fn(&mut Desk, &Arguments) -> Outcome>;
type GraphCall = Call<fn(&mut Desk, &StreamGraph, &Arguments) -> Outcome>;
type StreamCall = Call<fn(&mut Desk, &DStream, &Arguments) -> Outcome>;

static FUNCTIONS: &[&[FunctionCall]] = &[catalog::FUNCTIONS, graph::FUNCTIONS, tables::FUNCTIONS];
static GRAPH_METHODS: &[&[GraphCall]] = &[graph::METHODS];
static STREAM_METHODS: &[&[StreamCall]] = &[stream::METHODS];
/// What changes a graph, and so is refused once it is submitted.
static GRAPH_BUILDERS: &[&[GraphCall]] = &[graph::BUILDERS, tables::SOURCES];
static STREAM_BUILDERS: &[&[StreamCall]] = &[tables::OUTPUTS, stream::BUILDERS];

/// What a call may reach.
pub(crate) struct Desk<'a> {
    pub(crate) platform: &'a mut dyn Platform,
    pub(crate) catalog: &'a mut Option<String>,
    /// The text that runs.
    pub(crate) source: Option<&'a Arc<Source>>,
    /// The graphs of this run.
    pub(crate) graphs: &'a mut Vec<StreamGraph>,
    /// All that the last refused call had to say; the call itself can give one error only.
    pub(crate) refused: &'a mut Vec<Diagnostic>,
}

impl Desk<'_> {
    /// The full name a text means here.
    fn resolve(&self, text: &str, kind: NameKind) -> Result<FullName, NameError> {
        FullName::resolve(text, kind, self.catalog.as_deref())
    }

    /// The full name that an argument of a function gives.
    fn name(&self, args: &Arguments, parameter: &str, kind: NameKind) -> Result<FullName, Diagnostic> {
        let mut errors = vec![];
        match args.text(parameter, &mut errors) {
            Some(text) => {
                self.resolve(&text, kind).map_err(|error| Diagnostic::at(args.span(parameter), error.to_string()))
            }
            None => Err(errors.pop().unwrap_or_else(|| args.error(parameter, "is missing"))),
        }
    }

    /// Tells the user something that does not stop the script.
    fn warn(&mut self, warning: Diagnostic) {
        let warning = self.source.map_or(warning.clone(), |source| warning.in_source(source));
        self.platform.warn(&warning);
    }

    /// Keeps all errors for the end of the run and gives the first.
    fn refuse(&mut self, errors: Vec<Diagnostic>) -> Diagnostic {
        let first = errors.first().cloned().expect("a refusal has a reason");
        *self.refused = errors;
        first
    }
}

/// A function by its name; `None` if it is not one of these.
pub(crate) fn call(desk: &mut Desk, name: &str, args: &Args) -> Option<Outcome> {
    let call = find(FUNCTIONS, name)?;
    Some(match Arguments::collect(call.name, call.parameters, args) {
        Ok(args) => (call.run)(desk, &args).map_err(|error| error.or_at(args.span)),
        Err(errors) => Err(desk.refuse(errors)),
    })
}

/// A method by its object and name; `None` if the object has no such method.
pub(crate) fn method(desk: &mut Desk, object: &Arc<dyn Object>, name: &str, args: &Args) -> Option<Outcome> {
    if let Some(graph) = object.any().downcast_ref::<StreamGraph>() {
        graph_method(desk, graph, name, args)
    } else if let Some(stream) = object.any().downcast_ref::<DStream>() {
        stream_method(desk, stream, name, args)
    } else {
        None
    }
}

fn graph_method(desk: &mut Desk, graph: &StreamGraph, name: &str, args: &Args) -> Option<Outcome> {
    let builder = find(GRAPH_BUILDERS, name);
    let call = builder.or_else(|| find(GRAPH_METHODS, name))?;
    if let Some(refusal) = builder.and_then(|_| refuse_change(graph, args)) {
        return Some(Err(refusal));
    }
    Some(match Arguments::collect(call.name, call.parameters, args) {
        Ok(args) => (call.run)(desk, graph, &args).map_err(|error| error.or_at(args.span)),
        Err(errors) if builder.is_none() => Err(desk.refuse(errors)),
        Err(errors) => Ok(graph.keep_faults(argument_faults(errors).collect())),
    })
}

fn stream_method(desk: &mut Desk, stream: &DStream, name: &str, args: &Args) -> Option<Outcome> {
    let engine = engine::find(name);
    let builder = find(STREAM_BUILDERS, name);
    let builds = engine.is_some() || builder.is_some();
    if let Some(refusal) = refuse_change(&stream.graph, args).filter(|_| builds) {
        return Some(Err(refusal));
    }
    if let Some(kind) = engine {
        return Some(Ok(engines::add(stream, kind, args)));
    }
    let call = builder.or_else(|| find(STREAM_METHODS, name))?;
    Some(match Arguments::collect(call.name, call.parameters, args) {
        Ok(args) => (call.run)(desk, stream, &args).map_err(|error| error.or_at(args.span)),
        Err(errors) => Ok(stream.keep_faults(argument_faults(errors).collect())),
    })
}

/// Why a graph may not be changed any more.
fn refuse_change(graph: &StreamGraph, args: &Args) -> Option<Diagnostic> {
    let error = graph.lock().open().err()?;
    Some(Fault { error, span: args.span }.into())
}

fn find<F>(lists: &'static [&'static [Call<F>]], name: &str) -> Option<&'static Call<F>> {
    lists.iter().copied().flatten().find(|call| call.name == name)
}

/// Every call and method, for suggestions.
pub(crate) fn names() -> Vec<&'static str> {
    manual().into_iter().map(|entry| entry.name).collect()
}

/// What a manual says of a call.
#[derive(Debug, Clone, Copy)]
pub struct CallEntry {
    /// What it is called on: nothing, `StreamGraph` or `DStream`.
    pub class: Option<&'static str>,
    /// Its name.
    pub name: &'static str,
    /// Its parameters in order.
    pub parameters: &'static [Parameter],
    /// What it does.
    pub summary: &'static str,
}

/// Every call on graphs, in the order of the manual, the engines' at the end.
pub fn manual() -> Vec<CallEntry> {
    fn entries<F>(
        class: Option<&'static str>,
        lists: &'static [&'static [Call<F>]],
    ) -> impl Iterator<Item = CallEntry> {
        lists.iter().copied().flatten().map(move |call| {
            let Call { name, parameters, summary, .. } = *call;
            CallEntry { class, name, parameters, summary }
        })
    }
    let engines = engine::KINDS.iter().map(|kind| CallEntry {
        class: Some("DStream"),
        name: kind.name,
        parameters: kind.parameters,
        summary: "A streaming engine.",
    });
    let functions = entries(None, FUNCTIONS);
    let graph = [GRAPH_BUILDERS, GRAPH_METHODS].into_iter().flat_map(|lists| entries(Some("StreamGraph"), lists));
    let stream = [STREAM_BUILDERS, STREAM_METHODS].into_iter().flat_map(|lists| entries(Some("DStream"), lists));
    functions.chain(graph).chain(stream).chain(engines).collect()
}

/// A parameter that must be given.
const fn needed(name: &'static str, summary: &'static str) -> Parameter {
    Parameter { name, required: true, summary }
}

/// A parameter that may be left out.
const fn optional(name: &'static str, summary: &'static str) -> Parameter {
    Parameter { name, required: false, summary }
}

/// The place of a call in a chain of calls: its first argument, or its closing parenthesis. The call's own span begins
/// where the chain does, which may be many lines before.
fn place(first: Option<Span>, call: Span) -> Span {
    first.unwrap_or(Span { start: call.end.saturating_sub(1), end: call.end })
}

/// The place of a call whose arguments are collected.
fn place_of(args: &Arguments) -> Span {
    place(args.given.first().map(|(_, _, span)| *span), args.span)
}

/// What is wrong with the arguments of a call, each at its place.
fn argument_faults(errors: Vec<Diagnostic>) -> impl Iterator<Item = Fault> {
    let fault = |error: Diagnostic| Fault { span: error.span.unwrap_or_default(), error: CheckError::Argument(error) };
    errors.into_iter().map(fault)
}

impl StreamGraph {
    /// Keeps the faults of a call on this graph; the stream it would have given is unusable.
    fn keep_faults(&self, faults: Vec<Fault>) -> Value {
        self.lock().faults.extend(faults);
        self.stream(None)
    }
}

impl DStream {
    /// Keeps the faults of a call on this stream; what it would have given is unusable.
    fn keep_faults(&self, faults: Vec<Fault>) -> Value {
        // A stream that is unusable already has told its fault.
        let Some(node) = self.node else { return self.graph.stream(None) };
        self.graph.lock().tapped.insert(node);
        self.graph.keep_faults(faults)
    }
}
