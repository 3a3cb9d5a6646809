//! Calling a function on whole values, as scripts do.

use super::signature::Signature;
use super::{matrices, row, sequence};
use crate::diagnostic::Diagnostic;
use crate::function::{Argument, BoundRow, Form, Function, Operands, Picked, Result};
use crate::value::{Args, Host, Value};
use data::{Column, Scalar, Type};

/// Calls a function. Scalars give a scalar, vectors a vector; scalars beside vectors are repeated; an aggregate gives
/// one value, a function with several results a tuple. A row function goes through tuples element by element, a
/// function of vectors through the columns of a matrix.
pub fn call(function: &'static Function, args: &Args, host: &mut dyn Host) -> Result<Value> {
    let mut called = || -> Result<Value> {
        let signature = function.signature();
        if let Some(value) = matrices::call(function, &signature, args, host)? {
            return Ok(value);
        }
        if let (Form::Script(f), true) = (&function.form, signature.open) {
            // Its arguments may have any names.
            return f(host, args);
        }
        if let (Form::Calling(_, Some(f)), true, false) = (&function.form, signature.open, args.named.is_empty()) {
            return f(host, args);
        }
        let across = matches!(function.form, Form::Across(_));
        let given = match signature.open && (across || matches!(function.form, Form::Aggregate(_))) {
            true => spread(signature.parameters.len().saturating_sub(1), &args.values),
            false => args.values.clone(),
        };
        let mut values = signature.arrange(given, args.named.clone())?;
        for (place, value) in values.iter_mut().enumerate().filter(|(place, _)| across && signature.by_row(*place)) {
            if let Some(Value::Tuple(columns)) = value {
                let rows = row::gathered(columns).map_err(|error| {
                    let name = signature.name(place);
                    Diagnostic::new(format!("{}: {}: parameter=`{name}`", function.name, error.message))
                })?;
                *value = Some(Value::Vector(rows));
            }
        }
        sequence::unroll(function.name, &mut values)?;
        match function.form(values.len()) {
            Form::Script(f) => {
                let spans = if args.named.is_empty() { args.spans.clone() } else { vec![args.span; values.len()] };
                f(host, &Args { values, named: vec![], spans, span: args.span })
            }
            Form::Calling(bind, script) => {
                let bound = operands(&signature, &values, script.is_none())
                    .and_then(|(operands, columns)| Ok((bind(&operands)?, columns)));
                match (bound, script) {
                    (Ok((mut state, columns)), _) => {
                        let results = state.push(&vec![0; columns[0].len()], &columns)?;
                        let mut results: Vec<Value> = results.into_iter().map(Value::Vector).collect();
                        Ok(if results.len() == 1 { results.remove(0) } else { Value::Tuple(results) })
                    }
                    (Err(_), Some(f)) => f(host, &Args { values, named: vec![], ..args.clone() }),
                    (Err(error), None) => Err(error),
                }
            }
            form => on_values(function, &signature, form, &values, host),
        }
    };
    called().map_err(|error| error.or_at(args.span))
}

/// The columns among the arguments of a function that calls a function, and what is known of all.
fn operands(signature: &Signature, values: &[Option<Value>], interpret: bool) -> Result<(Operands, Vec<Column>)> {
    let (mut places, mut columns) = (vec![], vec![]);
    for (place, value) in values.iter().enumerate() {
        let own = match value {
            // `[]` says that there are none.
            Some(Value::Vector(column)) if column.ty() == Type::Void && column.is_empty() => vec![],
            Some(Value::Vector(column)) => vec![column.clone()],
            Some(Value::Table(table)) => table.batch().columns().to_vec(),
            Some(Value::Tuple(parts)) => {
                let part = |part: &Value| match part {
                    Value::Vector(column) => Some(column.clone()),
                    _ => None,
                };
                parts.iter().map(part).collect::<Option<Vec<Column>>>().unwrap_or_default()
            }
            _ => vec![],
        };
        places.push(match value {
            Some(_) if signature.by_row(place) && !own.is_empty() => {
                let types = own.iter().map(|column| Argument::of(column.ty())).collect();
                columns.extend(own);
                types
            }
            Some(value) => vec![Argument::constant(value.clone())],
            None => vec![Argument::left_out()],
        });
    }
    let rows = columns.first().map(Column::len);
    if rows.is_none() || columns.iter().any(|column| Some(column.len()) != rows) {
        return Err(Diagnostic::new("vectors of one length are wanted"));
    }
    Ok((Operands { places, interpret }, columns))
}

/// A tuple where any number of arguments may stand, from a place on, is those arguments: `rowSum([x, y])`.
fn spread(from: usize, values: &[Option<Value>]) -> Vec<Option<Value>> {
    let mut given = vec![];
    for (place, value) in values.iter().enumerate() {
        match value {
            Some(Value::Tuple(elements)) if place >= from => given.extend(elements.iter().cloned().map(Some)),
            value => given.push(value.clone()),
        }
    }
    given
}

fn on_values(
    function: &'static Function,
    signature: &Signature,
    form: &Form,
    values: &[Option<Value>],
    host: &mut dyn Host,
) -> Result<Value> {
    // A tuple among the rows' arguments: element by element.
    let tuple = values.iter().enumerate().find_map(|(place, value)| match value {
        Some(Value::Tuple(elements)) if signature.by_row(place) => Some(elements.len()),
        _ => None,
    });
    if let (Some(count), Form::Row(_)) = (tuple, form) {
        let of = |index: usize| {
            let element = |(place, value): (usize, &Option<Value>)| match value {
                Some(Value::Tuple(elements)) if signature.by_row(place) => match elements.get(index) {
                    Some(element) if elements.len() == count => Ok(Some(element.clone())),
                    _ => Err(Diagnostic::new(format!("{}: tuples of different length", function.name))),
                },
                other => Ok(other.clone()),
            };
            let values: Result<Vec<_>> = values.iter().enumerate().map(element).collect();
            on_values(function, signature, form, &values?, host)
        };
        return Ok(Value::Tuple((0..count).map(of).collect::<Result<_>>()?));
    }
    let mut arguments = Vec::with_capacity(values.len());
    let (mut rows, mut any_vector) = (1, false);
    for (place, value) in values.iter().enumerate() {
        let name = signature.name(place);
        arguments.push(match value {
            None => Argument::left_out(),
            Some(value) if !signature.by_row(place) => Argument::constant(value.clone()),
            Some(Value::Vector(column)) => {
                if any_vector && column.len() != rows {
                    let lengths = format!("parameter=`{name}`, rows=`{}`, wanted=`{rows}`", column.len());
                    return Err(Diagnostic::new(format!("{}: vectors of different length: {lengths}", function.name)));
                }
                (rows, any_vector) = (column.len(), true);
                Argument::of(column.ty())
            }
            Some(value @ Value::Scalar(..)) => Argument::constant(value.clone()),
            // A length of time is no value of a column; it has a text all the same.
            Some(length @ Value::Duration(..)) if function.name == "string" => {
                return Ok(Value::text(&length.to_string()));
            }
            Some(_) => {
                let wanted = "a scalar or a vector is wanted";
                return Err(Diagnostic::new(format!("{}: {wanted}: parameter=`{name}`", function.name)));
            }
        });
    }
    // A text beside a vector is repeated for each of its rows.
    for value in values.iter().flatten() {
        if let Value::Scalar(_, Scalar::Text(text)) = value {
            let bytes = text.len().saturating_mul(rows);
            host.reserve(bytes)?;
            if bytes > i32::MAX as usize {
                let limit = i32::MAX;
                return Err(Diagnostic::new(format!("{}: texts are too long in all: limit=`{limit}`", function.name)));
            }
        }
    }
    let by_row = values.iter().enumerate().filter(|(place, _)| signature.by_row(*place));
    let columns: Vec<Column> = by_row
        .map(|(_, value)| match value {
            Some(Value::Vector(column)) => column.clone(),
            Some(Value::Scalar(ty, value)) => Column::repeat(*ty, value, rows),
            _ => Column::nulls(Type::Void, rows),
        })
        .collect();
    let whole = |column: Column| match any_vector {
        true => Value::Vector(column),
        false => Value::Scalar(column.ty(), column.get(0)),
    };
    match form {
        Form::Row(bind) => {
            let bound = bind_row(signature, *bind, &arguments)?;
            Ok(whole((bound.kernel)(&columns)?))
        }
        Form::Across(bind) => Ok(whole((bind(&arguments)?.kernel)(&columns)?)),
        Form::Aggregate(bind) => {
            let mut aggregate = bind(&arguments)?;
            aggregate.grow(1);
            let picked: Vec<Picked> = columns.iter().map(|column| Picked { column, rows: None }).collect();
            aggregate.fold(&vec![0; rows], &picked)?;
            let result = aggregate.emit(&[0])?;
            Ok(Value::Scalar(result.ty(), result.get(0)))
        }
        Form::State(bind) => {
            let results = sequence::push_all(function.name, *bind, &arguments, &vec![0; rows], &columns)?;
            let mut results: Vec<Value> = results.into_iter().map(whole).collect();
            Ok(if results.len() == 1 { results.remove(0) } else { Value::Tuple(results) })
        }
        Form::Calling(..) | Form::Script(_) | Form::ByArity(_) => unreachable!("resolved by the caller"),
    }
}

/// Binds a row function. Where an argument is an array vector, the function goes through its elements.
pub fn bind_row(
    signature: &Signature,
    bind: fn(&[Argument]) -> Result<BoundRow>,
    args: &[Argument],
) -> Result<BoundRow> {
    let arrays: Vec<bool> = (0..args.len())
        .filter(|place| signature.by_row(*place))
        .map(|place| args[place].ty.element().is_some())
        .collect();
    let Some(first) = arrays.iter().position(|array| *array) else { return bind(args) };
    let elements: Vec<Argument> =
        args.iter().map(|arg| arg.ty.element().map_or_else(|| arg.clone(), Argument::of)).collect();
    let bound = bind(&elements)?;
    let no_array = || Diagnostic::new(format!("no array vectors of this type: type=`{}`", bound.ty));
    let ty = bound.ty.array_of().ok_or_else(no_array)?;
    let kernel = move |columns: &[Column]| {
        let offsets: Vec<i32> = columns[first].list_offsets().to_vec();
        let (start, end) = (offsets[0], offsets[offsets.len() - 1]);
        let owners: Vec<u32> = offsets.windows(2).enumerate().flat_map(owners_of).collect();
        let part = |(column, array): (&Column, &bool)| match array {
            true if spans(column.list_offsets()).ne(spans(&offsets)) => {
                Err(Diagnostic::new("array vectors of different length in one row"))
            }
            true => {
                let from = column.list_offsets()[0] as usize;
                Ok(column.list_elements().slice(from, (end - start) as usize))
            }
            false => Ok(column.take(&owners)),
        };
        let parts: Vec<Column> = columns.iter().zip(&arrays).map(part).collect::<Result<_>>()?;
        let values = (bound.kernel)(&parts)?;
        let offsets = offsets.iter().map(|offset| offset - start).collect();
        Ok(Column::of_lists(offsets, values, columns[first].validity().cloned()))
    };
    Ok(BoundRow { ty, kernel: Box::new(kernel) })
}

fn spans(offsets: &[i32]) -> impl Iterator<Item = i32> {
    offsets.windows(2).map(|ends| ends[1] - ends[0])
}

fn owners_of((row, ends): (usize, &[i32])) -> impl Iterator<Item = u32> {
    std::iter::repeat_n(row as u32, (ends[1] - ends[0]) as usize)
}
