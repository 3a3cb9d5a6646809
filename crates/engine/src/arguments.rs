//! Arguments of an engine: values by the names of its parameters, with their places for errors.

use lang::{Diagnostic, Span, Value};

/// A parameter of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// The name, as scripts write it.
    pub name: &'static str,
    /// Must it be given?
    pub required: bool,
    /// What it means, for the manual and for help.
    pub summary: &'static str,
}

/// The arguments of one engine, by name.
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    /// The name of the engine kind, for errors.
    pub engine: String,
    /// Name, value and place of each argument given.
    pub given: Vec<(&'static str, Value, Span)>,
    /// The place of the whole call.
    pub span: Span,
}

impl Arguments {
    /// Sorts arguments by place and by name into parameters. A bare NULL is an argument left out. Unknown names, names
    /// given twice, too many arguments and missing ones are errors.
    pub fn collect(
        engine: &str,
        parameters: &'static [Parameter],
        args: &lang::Args,
    ) -> Result<Arguments, Vec<Diagnostic>> {
        let (arguments, errors) = Arguments::sort(engine, parameters, args);
        if errors.is_empty() { Ok(arguments) } else { Err(errors) }
    }

    /// The same, with the arguments that found their parameter beside the errors of the others.
    pub fn sort(engine: &str, parameters: &'static [Parameter], args: &lang::Args) -> (Arguments, Vec<Diagnostic>) {
        let mut arguments = Arguments { engine: engine.to_string(), given: vec![], span: args.span };
        let mut errors = vec![];
        let mut spans = args.spans.iter().copied().chain(std::iter::repeat(args.span));
        for (place, value) in args.values.iter().enumerate() {
            let span = spans.next().expect("endless");
            match parameters.get(place) {
                Some(parameter) => arguments.take(parameter.name, value.clone(), span),
                None => {
                    let (given, most) = (args.values.len(), parameters.len());
                    let message = format!("{engine} expects at most {most} arguments, given=`{given}`");
                    errors.push(Diagnostic::at(span, message));
                    break;
                }
            }
        }
        for (name, value) in &args.named {
            let span = spans.next().expect("endless");
            match parameters.iter().find(|parameter| parameter.name.eq_ignore_ascii_case(name)) {
                None => {
                    let known = parameters.iter().map(|parameter| parameter.name);
                    let message = format!("{engine} has no such parameter: parameter=`{name}`");
                    errors.push(Diagnostic::at(span, message).suggest(name, known));
                }
                Some(parameter) if arguments.get(parameter.name).is_some() => {
                    errors
                        .push(Diagnostic::at(span, format!("{engine} is given an argument twice: parameter=`{name}`")));
                }
                Some(parameter) => arguments.take(parameter.name, Some(value.clone()), span),
            }
        }
        for parameter in parameters.iter().filter(|parameter| parameter.required) {
            if arguments.get(parameter.name).is_none() {
                let message = format!("{engine} needs an argument: parameter=`{}`", parameter.name);
                errors.push(Diagnostic::at(args.span, message).help(parameter.summary));
            }
        }
        (arguments, errors)
    }

    fn take(&mut self, name: &'static str, value: Option<Value>, span: Span) {
        let null = |value: &Value| matches!(value, Value::Scalar(_, scalar) if scalar.is_null());
        if let Some(value) = value.filter(|value| !null(value)) {
            self.given.push((name, value, span));
        }
    }

    /// The value of a parameter; `None` if it was left out.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.given.iter().find(|(given, ..)| *given == name).map(|(_, value, _)| value)
    }

    /// The place of a parameter's argument, or of the call if it was left out.
    pub fn span(&self, name: &str) -> Span {
        self.given.iter().find(|(given, ..)| *given == name).map_or(self.span, |(_, _, span)| *span)
    }

    /// An error at a parameter; its text names engine and parameter.
    pub fn error(&self, name: &str, message: impl std::fmt::Display) -> Diagnostic {
        Diagnostic::at(self.span(name), format!("{}: {name} {message}", self.engine))
    }
}
