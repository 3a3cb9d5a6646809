//! Every function of the library gives the same in a script, in an engine and in SQL.

mod common;

use common::Tables;
use data::{Batch, Column, Field, Scalar, Schema, Type};
use lang::function::{Form, Function};
use lang::tree::ExprKind;
use lang::{Code, Host, Program, RowProgram, Scope, Source, Value, WindowProgram, eval_over, library, parse_expr};
use query::{MemoryScan, Session};
use std::sync::Arc;

struct NoHost;
impl Host for NoHost {}

/// A call of an example, taken apart: the columns of its rows, and each argument as a stream and as SQL write it.
struct Call {
    rows: Batch,
    stream: Vec<String>,
    sql: Vec<String>,
}

/// The example's call with a column for each argument that has a value for each row; `None` where it is no plain call
/// of columns of one length.
fn call(function: &Function) -> Option<(Value, Call)> {
    let nothing = Batch::empty(Schema::of(&[]));
    let eval = |text: &str| {
        let expr = parse_expr(&Source::new(function.name, text)).expect("an example that parses");
        eval_over(&expr, &nothing, &Arc::default(), &mut NoHost).expect("an example's value")
    };
    let text = function.example.0;
    let expr = parse_expr(&Source::new(function.name, text)).expect("an example that parses");
    let ExprKind::Call(callee, args) = &expr.kind else { return None };
    if !matches!(&callee.kind, ExprKind::Name(name) if **name == *function.name) {
        return None;
    }
    let signature = function.signature();
    let positional: Vec<_> = args.iter().filter(|arg| arg.name.is_none()).map(|arg| arg.value.clone()).collect();
    let named = args.iter().filter_map(|arg| Some((arg.name.clone()?, arg.value.clone()?)));
    let arguments = signature.arrange(positional, named.collect()).expect("arguments at their places");
    let (mut columns, mut stream, mut sql) = (vec![], vec![], vec![]);
    for (place, argument) in arguments.iter().enumerate() {
        let Some(argument) = argument else {
            stream.push("NULL".to_string());
            sql.push("NULL".to_string());
            continue;
        };
        let written = text[argument.span.start as usize..argument.span.end as usize].to_string();
        match eval(&written) {
            Value::Vector(column) if signature.by_row(place) => {
                let name = format!("c{place}");
                columns.push((name.clone(), column));
                stream.push(name.clone());
                sql.push(name);
            }
            value => {
                sql.push(literal(&value)?);
                stream.push(written);
            }
        }
    }
    let rows = columns.first()?.1.len();
    if columns.iter().any(|(_, column)| column.len() != rows) {
        return None;
    }
    columns.insert(0, ("row".to_string(), Column::of_i32(Type::Int, (0..rows as i32).collect::<Vec<_>>(), None)));
    let fields = columns.iter().map(|(name, column)| Field::new(name.as_str(), column.ty())).collect();
    let schema = Arc::new(Schema::new(fields).expect("columns of different names"));
    let rows =
        Batch::new(schema, columns.into_iter().map(|(_, column)| column).collect()).expect("columns of one length");
    Some((eval(text), Call { rows, stream, sql }))
}

/// A constant as SQL writes it; `None` for what SQL has no literal for.
fn literal(value: &Value) -> Option<String> {
    Some(match value {
        Value::Scalar(_, Scalar::Null) => "NULL".to_string(),
        Value::Scalar(_, Scalar::Bool(value)) => value.to_string(),
        Value::Scalar(ty, Scalar::Int(value)) if ty.is_integer() => value.to_string(),
        Value::Scalar(_, Scalar::Float(value)) => format!("{value:?}"),
        Value::Scalar(_, Scalar::Text(value)) => format!("'{}'", value.replace('\'', "''")),
        Value::Duration(count, unit) => {
            let unit = match unit.as_ref() {
                "d" => "days",
                "H" => "hours",
                "m" => "minutes",
                "s" => "seconds",
                "ms" => "milliseconds",
                _ => return None,
            };
            format!("interval '{count} {unit}'")
        }
        _ => return None,
    })
}

/// The values of a result, one after another.
fn values(columns: &[Column]) -> Vec<Scalar> {
    columns.iter().flat_map(|column| (0..column.len()).map(|row| column.get(row))).collect()
}

/// What an engine gives that gets the rows one by one.
fn in_an_engine(function: &Function, call: &Call) -> Vec<Scalar> {
    let text = format!("{}({})", function.name, call.stream.join(", "));
    let expr = Arc::new(parse_expr(&Source::new("metric", text)).expect("a metric"));
    let metrics = [Code { expr, names: vec![], functions: Arc::default() }];
    let scope = Scope::of(call.rows.schema());
    let mut parts: Vec<Vec<Column>> = vec![];
    let batches = (0..call.rows.rows()).map(|row| call.rows.slice(row, 1));
    match function.form(call.stream.len()) {
        Form::State(_) => {
            let mut program = Program::bind(&metrics, &scope).expect("a metric of a reactive engine");
            parts.extend(batches.map(|batch| program.run(&batch, None, &[0], &mut NoHost).expect("results")));
        }
        Form::Aggregate(_) => {
            let mut program = WindowProgram::bind(&[metrics.to_vec()], &scope).expect("a metric of a window");
            program.grow(1);
            for batch in batches {
                let values = program.rows(&batch, None, &mut NoHost).expect("values");
                program.fold(&[0], &values, None).expect("folded");
            }
            parts.push(program.emit(0, &[0]).expect("results"));
        }
        _ => {
            let mut program = RowProgram::bind(&metrics, &scope).expect("a metric of rows");
            parts.extend(batches.map(|batch| program.run(&batch, None, &mut NoHost).expect("results")));
        }
    }
    let results = parts.first().map_or(0, Vec::len);
    (0..results).flat_map(|result| parts.iter().flat_map(move |part| values(&part[result..=result]))).collect()
}

/// What SQL gives.
fn in_sql(function: &Function, call: &Call) -> Result<Vec<Scalar>, query::Error> {
    let text = format!("{}({})", function.name, call.sql.join(", "));
    let sql = match function.form(call.sql.len()) {
        Form::State(_) => format!("select {text} over (order by row) x from t order by row"),
        Form::Aggregate(_) => format!("select {text} x from t"),
        _ => format!("select {text} x from t order by row"),
    };
    let pieces = (0..call.rows.rows()).map(|row| call.rows.slice(row, 1)).collect();
    let scan = MemoryScan::new(call.rows.schema().clone(), pieces);
    let tables = Tables::of(&["demo"]).with("orca_table", "t", scan);
    let answer = Session::with_partitions(Arc::new(tables), None, 2).query(&sql)?;
    let column = |array| Column::from_arrow(answer.fields[0].ty, array).expect("a column of its type");
    Ok(answer.batches.iter().flat_map(|batch| values(&[column(batch.column(0))])).collect())
}

#[test]
fn scripts_engines_and_sql_give_the_same() {
    let (mut tried, mut in_three, mut wrong) = (0, 0, vec![]);
    for function in library::all() {
        if matches!(function.form(1), Form::Script(_) | Form::Calling(..)) {
            continue;
        }
        let Some((value, call)) = call(function) else { continue };
        let expected = match &value {
            Value::Scalar(_, value) => vec![value.clone()],
            Value::Vector(column) => values(std::slice::from_ref(column)),
            Value::Tuple(parts) => parts
                .iter()
                .flat_map(|part| match part {
                    Value::Vector(column) => values(std::slice::from_ref(column)),
                    other => panic!("{}: {other:?}", function.name),
                })
                .collect(),
            other => panic!("{}: {other:?}", function.name),
        };
        tried += 1;
        let found = in_an_engine(function, &call);
        if found != expected {
            wrong.push(format!("{} in an engine: {found:?}, in a script {expected:?}", function.name));
        }
        if matches!(value, Value::Tuple(_)) || query::is_of_sql(function.name) {
            continue;
        }
        in_three += 1;
        match in_sql(function, &call) {
            Ok(found) if found == expected => {}
            Ok(found) => wrong.push(format!("{} in SQL: {found:?}, in a script {expected:?}", function.name)),
            Err(error) => wrong.push(format!("{} in SQL: {error}", function.name)),
        }
    }
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(tried > 250 && in_three > 220, "{tried}, {in_three}");
}
