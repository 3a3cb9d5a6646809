//! Tables in memory with a rule for the rows that are added.

use super::containers::{table, wanted};
use crate::diagnostic::Diagnostic;
use crate::function::{Function, Result};
use crate::library::script;
use crate::value::{Args, Table, TableRule, Value};

pub(crate) static FUNCTIONS: &[Function] = &[
    script(
        "keyedTable",
        "keyColumns, ...",
        "A table with one row for each key, made as `table` makes one; a row of a key that is there takes its place.",
        ("keyedTable(`k, `a`b`a as k, 1 2 3 as v).v", "[3,2]"),
        |_, args| keyed(args, false),
    ),
    script(
        "indexedTable",
        "keyColumns, ...",
        "As `keyedTable`.",
        ("indexedTable(`k, `a`b`a as k, 1 2 3 as v).v", "[3,2]"),
        |_, args| keyed(args, false),
    ),
    script(
        "streamTable",
        "...",
        "A table, made as `table` makes one, to which rows can only be added.",
        ("size(streamTable(1 2 as a))", "2"),
        |_, args| ruled(args, TableRule { keys: vec![], stream: true }),
    ),
    script(
        "keyedStreamTable",
        "keyColumns, ...",
        "A stream table with one row for each key, its first; further ones are left out.",
        ("keyedStreamTable(`k, `a`b`a as k, 1 2 3 as v).v", "[1,2]"),
        |_, args| keyed(args, true),
    ),
];

/// Does a function take columns with their names, `1 2 as a`?
pub(super) fn takes_columns(name: &str) -> bool {
    name == "table" || FUNCTIONS.iter().any(|function| function.name == name)
}

fn keyed(args: &Args, stream: bool) -> Result<Value> {
    let keys = wanted(args, 0, "keyColumns")?;
    let unfit = || Diagnostic::new(format!("a column's name or several are wanted: keyColumns=`{keys}`"));
    let keys = keys.names().filter(|keys| !keys.is_empty()).ok_or_else(unfit)?;
    let rest = Args {
        values: args.values[1..].to_vec(),
        spans: args.spans.get(1..).unwrap_or_default().to_vec(),
        ..args.clone()
    };
    ruled(&rest, TableRule { keys, stream })
}

/// What `table` makes of the arguments, as a table with this rule.
fn ruled(args: &Args, rule: TableRule) -> Result<Value> {
    let Value::Table(plain) = table(args)? else { return Err(Diagnostic::new("a table is wanted")) };
    let rows = plain.batch();
    let names = rows.schema().names();
    if let Some(key) = rule.keys.iter().find(|key| rows.schema().index_of(key).is_none()) {
        let error = Diagnostic::new(format!("the table has no such column: column=`{key}`"));
        return Err(error.suggest(key, names.iter().map(String::as_str)));
    }
    let table = Table::ruled(rows.schema().clone(), rule);
    table.add(rows)?;
    Ok(Value::Table(table))
}
