//! How entries of the most usual forms are made.

use crate::function::{Argument, BoundRow, Form, Function, Result, Script, State};

/// An entry of a row function.
pub(super) const fn row(
    name: &'static str,
    parameters: &'static str,
    summary: &'static str,
    example: (&'static str, &'static str),
    bind: fn(&[Argument]) -> Result<BoundRow>,
) -> Function {
    Function { name, parameters, summary, example, form: Form::Row(bind) }
}

/// An entry of a function with a state.
pub(super) const fn state(
    name: &'static str,
    parameters: &'static str,
    summary: &'static str,
    example: (&'static str, &'static str),
    bind: fn(&[Argument]) -> Result<Box<dyn State>>,
) -> Function {
    Function { name, parameters, summary, example, form: Form::State(bind) }
}

/// An entry of a function that works on values of any kind.
pub(crate) const fn script(
    name: &'static str,
    parameters: &'static str,
    summary: &'static str,
    example: (&'static str, &'static str),
    call: Script,
) -> Function {
    Function { name, parameters, summary, example, form: Form::Script(call) }
}
