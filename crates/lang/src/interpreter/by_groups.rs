//! Functions of the rows of each group: `groupby` and `contextby`.

use super::containers::{cast, column_of, given, typed, unfit, wanted};
use super::grouped::{ascending, cells, in_order};
use super::higher_order::columns;
use super::select::{groups_of, sorted};
use crate::diagnostic::Diagnostic;
use crate::function::{Function, Result};
use crate::library::{common_type, gathered, script};
use crate::value::{Args, Callee, Host, Table, Value};
use data::{Batch, Column, Field, Schema, Type};
use std::sync::Arc;

pub(crate) static FUNCTIONS: &[Function] = &[
    script(
        "groupby",
        "func, funcArgs, groupingCol",
        "A table with a row for each group of equal values, in their order: the keys, named `key`, or `key0`, `key1` and \
         so on for a tuple of them, or as the columns of a table; and the function of the group's rows, by its name. \
         Several arguments stand in a tuple. Also written `funcArgs func:G groupingCol`.",
        ("groupby(sum, 1 2 3, `b`a`b).sum", "[2,4]"),
        group_by,
    ),
    script(
        "contextby",
        "func, funcArgs, groupingCol, [sortingCol]",
        "The function of the rows of each group of equal values, put back in their places: one value stands at each row \
         of the group. Within a group the rows are taken in the order of `sortingCol`. Several arguments, groupings or \
         orders stand in a tuple. Also written `funcArgs func:X groupingCol`.",
        ("contextby(cumsum, 1 2 3, `b`a`b)", "[1,2,4]"),
        context_by,
    ),
];

/// Arguments of a function by row, and the columns that group the rows.
pub(super) struct Parts {
    pub(super) columns: Vec<Column>,
    pub(super) keys: Vec<Column>,
    pub(super) rows: usize,
}

impl Parts {
    /// Columns that must all have one length.
    pub(super) fn of(function: &str, arguments: &Value, keys: &[Value]) -> Result<Parts> {
        let arguments = columns(std::slice::from_ref(arguments))?;
        let groups = keys.iter().map(|key| columns(std::slice::from_ref(key)));
        let keys: Vec<Column> = groups.collect::<Result<Vec<_>>>()?.concat().into_iter().map(typed).collect();
        let Some(rows) = keys.first().map(Column::len) else {
            return Err(Diagnostic::new(format!("columns that group the rows are wanted: function=`{function}`")));
        };
        if let Some(other) = arguments.iter().chain(&keys).find(|column| column.len() != rows) {
            let found = other.len();
            return Err(Diagnostic::new(format!(
                "columns of different length: function=`{function}`, rows=`{rows}, {found}`"
            )));
        }
        Ok(Parts { columns: arguments, keys, rows })
    }

    /// The function of some rows.
    pub(super) fn apply(&self, host: &mut dyn Host, function: &Value, rows: &[u32]) -> Result<Value> {
        let part = |column: &Column| Value::Vector(column.take(rows));
        host.apply(function, self.columns.iter().map(part).collect())
    }

    /// The function of the rows of each group as a column; without a group it has the function's type.
    pub(super) fn of_groups(&self, host: &mut dyn Host, function: &Value, groups: &[Vec<u32>]) -> Result<Column> {
        if groups.is_empty() {
            let value = self.apply(host, function, &[])?;
            return Ok(cells(host, vec![value])?.slice(0, 0));
        }
        let values = groups.iter().map(|group| self.apply(host, function, group)).collect::<Result<Vec<_>>>()?;
        cells(host, values)
    }
}

fn group_by(host: &mut dyn Host, args: &Args) -> Result<Value> {
    let (function, arguments) = (wanted(args, 0, "func")?, wanted(args, 1, "funcArgs")?);
    let grouping = wanted(args, 2, "groupingCol")?;
    let parts = Parts::of("groupby", arguments, std::slice::from_ref(grouping))?;
    let groups = in_order(&parts.keys, parts.rows);
    let firsts: Vec<u32> = groups.iter().map(|group| group[0]).collect();
    let result = parts.of_groups(host, function, &groups)?;
    let names: Vec<Arc<str>> = match (grouping, parts.keys.len()) {
        (Value::Table(table), _) => table.batch().schema().fields().iter().map(|field| field.name.clone()).collect(),
        (_, 1) => vec!["key".into()],
        (_, count) => (0..count).map(|place| format!("key{place}").into()).collect(),
    };
    let mut fields: Vec<Field> =
        names.into_iter().zip(&parts.keys).map(|(name, column)| Field::new(name, column.ty())).collect();
    fields.push(Field::new(name_of(function), result.ty()));
    let keys = parts.keys.iter().map(|column| column.take(&firsts));
    let columns = keys.chain([result]).collect();
    Ok(Value::Table(Table::new(Batch::new(Arc::new(Schema::new(fields)?), columns)?)))
}

/// What the results of a function are called.
fn name_of(function: &Value) -> Arc<str> {
    match function {
        Value::Builtin(name) => name.clone(),
        Value::Function(function) => match &function.callee {
            Callee::Builtin(name) => name.clone(),
            Callee::Defined(def) if !def.name.is_empty() => def.name.clone(),
            Callee::Defined(_) => "value".into(),
        },
        _ => "value".into(),
    }
}

fn context_by(host: &mut dyn Host, args: &Args) -> Result<Value> {
    let (function, arguments) = (wanted(args, 0, "func")?, wanted(args, 1, "funcArgs")?);
    if let Value::Matrix(matrix) = arguments {
        let of = |column: &Column| {
            let mut args = args.clone();
            args.values[1] = Some(Value::Vector(column.clone()));
            context_by(host, &args)
        };
        let results = matrix.columns().iter().map(of).collect::<Result<Vec<_>>>()?;
        return gathered(results, matrix.labels());
    }
    let grouping = wanted(args, 2, "groupingCol")?;
    let keys: Vec<Value> = [Some(grouping), given(args, 3, "sortingCol")].into_iter().flatten().cloned().collect();
    let mut parts = Parts::of("contextby", arguments, &keys)?;
    let order = parts.keys.split_off(columns(std::slice::from_ref(grouping))?.len());
    let mut groups = groups_of(&parts.keys, parts.rows);
    if !order.is_empty() {
        for group in &mut groups {
            let own: Vec<Column> = order.iter().map(|column| column.take(group)).collect();
            let places = sorted(&own, &ascending(own.len()), group.len());
            *group = places.iter().map(|&place| group[place as usize]).collect();
        }
    }
    let mut values = vec![];
    for group in &groups {
        let value = parts.apply(host, function, group)?;
        let fits = match &value {
            Value::Scalar(..) => true,
            Value::Vector(column) => column.len() == group.len(),
            _ => false,
        };
        if !fits {
            let rows = group.len();
            let wanted = "a group gives one value, or one for each of its rows";
            return Err(Diagnostic::new(format!("{wanted}: found=`{}`, rows=`{rows}`", value.kind())));
        }
        values.push(column_of(&value, Some(group.len()))?);
    }
    let types = || values.iter().map(Column::ty);
    let ty = types().try_fold(Type::Void, common_type);
    let ty = ty.ok_or_else(|| Diagnostic::new("groups give values of different kinds: function=`contextby`"))?;
    let mut results = vec![];
    for value in &values {
        results.push(cast(host, value, ty)?);
    }
    if results.is_empty() {
        let value = parts.apply(host, function, &[])?;
        return Ok(Value::Vector(match value {
            Value::Scalar(ty, _) => Column::nulls(ty, 0),
            Value::Vector(column) => column.slice(0, 0),
            other => return Err(unfit("contextby", &other)),
        }));
    }
    let mut places = vec![(0, 0); parts.rows];
    for (index, group) in groups.iter().enumerate() {
        for (place, &row) in group.iter().enumerate() {
            places[row as usize] = (index, place);
        }
    }
    Ok(Value::Vector(Column::interleave(&results.iter().collect::<Vec<_>>(), &places)?))
}
