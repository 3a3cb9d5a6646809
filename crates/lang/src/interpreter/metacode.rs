//! Metacode made at run time: columns, calls, expressions and queries.

use super::containers::{given, wanted};
use crate::diagnostic::{Diagnostic, Source, Span};
use crate::function::{Function, Result};
use crate::library::script;
use crate::parser::{HEIGHT_MAX, level_of, parse_expr};
use crate::tree::{Arg, Binary, Expr, ExprKind, FunctionDef, MetaItem, Select, SortKey};
use crate::value::{Args, Callee, Code, Value};
use std::sync::Arc;

/// How many parts metacode may have.
const PARTS_MAX: usize = 10_000;

pub(crate) static FUNCTIONS: &[Function] = &[
    script(
        "sqlCol",
        "colName, [func], [alias]",
        "Metacode of a column, or of a function of it; of several names, a tuple.",
        ("sqlCol(`price, sum, `total)", "<sum(price) as total>"),
        |_, args| sql_col(args),
    ),
    script(
        "sqlColAlias",
        "colDefs, [colNames]",
        "Metacode with a name.",
        ("sqlColAlias(<a + 1>, `b)", "<a + 1 as b>"),
        |_, args| match (wanted(args, 0, "colDefs")?, given(args, 1, "colNames")) {
            (Value::Tuple(values), None) => Ok(Value::Tuple(values.clone())),
            (Value::Tuple(values), Some(names)) => {
                let names = names_of(names, "colNames")?;
                if names.len() != values.len() {
                    return Err(Diagnostic::new("a name for each piece of metacode is wanted: parameter=`colNames`"));
                }
                let named = values
                    .iter()
                    .zip(names)
                    .map(|(value, name)| Ok(Value::Code(Code { names: vec![name], ..code_of(value, "colDefs")? })));
                Ok(Value::Tuple(named.collect::<Result<_>>()?))
            }
            (value, names) => {
                let code = code_of(value, "colDefs")?;
                let names = names.map_or(Ok(code.names.clone()), |names| names_of(names, "colNames"))?;
                Ok(Value::Code(Code { names, ..code }))
            }
        },
    ),
    script("parseExpr", "X", "The metacode that a text says.", ("parseExpr(\"1 + 2\")", "<1 + 2>"), |_, args| {
        let text = wanted(args, 0, "X")?;
        let text = text.as_text().ok_or_else(|| Diagnostic::new("a text is wanted: parameter=`X`"))?;
        match parse_expr(&Source::new("expression", text)) {
            Ok(expr) => made(expr, vec![]),
            Err(errors) => {
                let first = errors.into_iter().next().map_or(String::new(), |error| error.to_string());
                Err(Diagnostic::new(format!("text is no expression: {first}")))
            }
        }
    }),
    script(
        "makeCall",
        "func, args, ...",
        "Metacode of a call.",
        ("makeCall(sum, <price>)", "<sum(price)>"),
        |_, args| {
            let values: Vec<Value> = args.values.iter().skip(1).flatten().cloned().collect();
            call(wanted(args, 0, "func")?, &values)
        },
    ),
    script(
        "expr",
        "X, ...",
        "Metacode of values, metacode and operators in a row, or of a function and its arguments.",
        ("expr(<a>, +, 2)", "<a + 2>"),
        |_, args| expr(args),
    ),
    script("eval", "expr", "The value of metacode.", ("eval(<1 + 2>)", "3"), |host, args| {
        host.eval_over(&code_of(wanted(args, 0, "expr")?, "expr")?, None)
    }),
    script(
        "sql",
        "select, from, [where], [groupBy], [groupFlag=1], [csort], [ascSort=1], [having], [orderBy], [ascOrder=1], \
         [limit], [exec=false]",
        "Metacode of a query. `groupFlag` is 1 for `group by`, 0 for `context by`, 2 for `pivot by`.",
        ("size(eval(sql(sqlCol(`a), table(1 2 3 as a), <a > 1>)))", "2"),
        |_, args| query(args),
    ),
];

fn place() -> Span {
    Span::default()
}

fn node(kind: ExprKind) -> Expr {
    Expr { span: place(), kind }
}

/// Metacode that is not too large.
fn made(expr: Expr, functions: Vec<Arc<FunctionDef>>) -> Result<Value> {
    let mut parts = 0;
    let mut level = vec![&expr];
    for _ in 0..HEIGHT_MAX {
        parts += level.len();
        if parts > PARTS_MAX {
            break;
        }
        level = level.into_iter().flat_map(Expr::children).collect();
        if level.is_empty() {
            return Ok(Value::Code(Code { expr: Arc::new(expr), names: vec![], functions: Arc::new(functions) }));
        }
    }
    Err(Diagnostic::new(format!("metacode is too large: parts=`{parts}`, limit=`{PARTS_MAX}`, levels=`{HEIGHT_MAX}`")))
}

fn code_of(value: &Value, name: &str) -> Result<Code> {
    match value {
        Value::Code(code) => Ok(code.clone()),
        other => Err(Diagnostic::new(format!("metacode is wanted: parameter=`{name}`, found=`{}`", other.kind()))),
    }
}

fn codes_of(value: &Value, name: &str) -> Result<Vec<Code>> {
    match value {
        Value::Tuple(values) => values.iter().map(|value| code_of(value, name)).collect(),
        value => Ok(vec![code_of(value, name)?]),
    }
}

fn names_of(value: &Value, name: &str) -> Result<Vec<Arc<str>>> {
    value.names().ok_or_else(|| Diagnostic::new(format!("a name is wanted: parameter=`{name}`")))
}

/// A value as a piece of a tree, and the user functions it needs.
fn operand(value: &Value, functions: &mut Vec<Arc<FunctionDef>>) -> Expr {
    match value {
        Value::Code(code) => {
            functions.extend(code.functions.iter().cloned());
            (*code.expr).clone()
        }
        Value::Builtin(name) => node(ExprKind::Name(name.clone())),
        Value::Function(function) => {
            functions.extend(function.functions.iter().cloned());
            match &function.callee {
                Callee::Defined(def) if function.given.is_empty() && !def.name.is_empty() => {
                    functions.push(def.clone());
                    node(ExprKind::Name(def.name.clone()))
                }
                Callee::Defined(def) if function.given.is_empty() => node(ExprKind::Lambda(def.clone())),
                _ => node(ExprKind::Literal(value.clone())),
            }
        }
        value => node(ExprKind::Literal(value.clone())),
    }
}

fn call(function: &Value, values: &[Value]) -> Result<Value> {
    let mut functions = vec![];
    let callee = match function {
        Value::Builtin(_) | Value::Function(_) | Value::Code(_) => operand(function, &mut functions),
        name => match name.as_text() {
            Some(name) if !name.is_empty() => node(ExprKind::Name(name.into())),
            _ => return Err(Diagnostic::new("a function is wanted: parameter=`func`")),
        },
    };
    let args = values.iter().map(|value| Arg { name: None, value: Some(operand(value, &mut functions)) }).collect();
    made(node(ExprKind::Call(Box::new(callee), args)), functions)
}

/// The operator whose function a value is.
fn operator(value: &Value) -> Option<Binary> {
    let Value::Builtin(name) = value else { return None };
    Binary::ALL.iter().copied().find(|operator| operator.function() == &**name)
}

pub(super) fn expr(args: &Args) -> Result<Value> {
    let values: Vec<Value> = args.values.iter().flatten().cloned().collect();
    let mut functions = vec![];
    let wrong = || {
        Diagnostic::new("operands with operators between them are wanted: function=`expr`")
            .help("such as expr(<a>, +, 1), or a function and its arguments")
    };
    match &values[..] {
        [] => Err(wrong()),
        [function @ (Value::Builtin(_) | Value::Function(_)), rest @ ..] if !rest.is_empty() => call(function, rest),
        values => {
            if values.len() % 2 == 0 {
                return Err(wrong());
            }
            let mut operators = vec![];
            for value in values.iter().skip(1).step_by(2) {
                operators.push(operator(value).ok_or_else(wrong)?);
            }
            let operands: Vec<Expr> = values.iter().step_by(2).map(|value| operand(value, &mut functions)).collect();
            // The operators that bind tightest first, those of one level from the left.
            let (mut operands, mut waiting): (std::collections::VecDeque<Expr>, Vec<Binary>) =
                (operands.into(), vec![]);
            let mut done = vec![operands.pop_front().expect("an operand stands first")];
            let reduce = |done: &mut Vec<Expr>, operator: Binary| {
                let right = Box::new(done.pop().expect("an operand for each operator"));
                let left = Box::new(done.pop().expect("an operand for each operator"));
                done.push(node(ExprKind::Binary(operator, left, right)));
            };
            for operator in operators {
                while let Some(before) = waiting.pop_if(|before| level_of(*before) >= level_of(operator)) {
                    reduce(&mut done, before);
                }
                waiting.push(operator);
                done.extend(operands.pop_front());
            }
            while let Some(operator) = waiting.pop() {
                reduce(&mut done, operator);
            }
            made(done.remove(0), functions)
        }
    }
}

fn sql_col(args: &Args) -> Result<Value> {
    let columns = wanted(args, 0, "colName")?;
    let names = names_of(columns, "colName")?;
    let aliases = given(args, 2, "alias").map_or(Ok(vec![]), |value| names_of(value, "alias"))?;
    if !aliases.is_empty() && aliases.len() != names.len() {
        return Err(Diagnostic::new("a name for each column is wanted: parameter=`alias`"));
    }
    let one = |place: usize| {
        let name = Value::Code(Code {
            expr: Arc::new(node(ExprKind::Name(names[place].clone()))),
            names: vec![],
            functions: Arc::default(),
        });
        let Value::Code(code) = given(args, 1, "func").map_or(Ok(name.clone()), |function| call(function, &[name]))?
        else {
            unreachable!("a call is metacode")
        };
        Ok(Value::Code(Code { names: aliases.get(place).cloned().into_iter().collect(), ..code }))
    };
    match columns {
        Value::Scalar(..) => one(0),
        _ => Ok(Value::Tuple((0..names.len()).map(one).collect::<Result<_>>()?)),
    }
}

fn query(args: &Args) -> Result<Value> {
    let mut functions = vec![];
    let mut codes = |place: usize, name: &str| -> Result<Vec<Code>> {
        let codes = given(args, place, name).filter(|value| !value.is_null());
        let codes = codes.map_or(Ok(vec![]), |value| codes_of(value, name))?;
        functions.extend(codes.iter().flat_map(|code| code.functions.iter().cloned()));
        Ok(codes)
    };
    let items = |codes: Vec<Code>| -> Vec<MetaItem> {
        codes.into_iter().map(|code| MetaItem { expr: code.expr, names: code.names }).collect()
    };
    let exprs = |codes: Vec<Code>| -> Vec<Expr> { codes.into_iter().map(|code| (*code.expr).clone()).collect() };
    let select = items(codes(0, "select")?);
    let filter = exprs(codes(2, "where")?);
    let keys = items(codes(3, "groupBy")?);
    let csort = sort_keys(exprs(codes(5, "csort")?), given(args, 6, "ascSort"), "ascSort")?;
    let having = exprs(codes(7, "having")?).into_iter().next();
    let order = sort_keys(exprs(codes(8, "orderBy")?), given(args, 9, "ascOrder"), "ascOrder")?;
    let from = match wanted(args, 1, "from")? {
        value @ (Value::Code(_) | Value::Table(_) | Value::Object(_)) => operand(value, &mut functions),
        other => {
            return Err(Diagnostic::new(format!("a table is wanted: parameter=`from`, found=`{}`", other.kind())));
        }
    };
    let (mut group, mut context, mut pivot) = (vec![], vec![], vec![]);
    match given(args, 4, "groupFlag").map_or(Some(1), Value::as_i64) {
        Some(1) => group = keys,
        Some(0) => context = keys,
        Some(2) => pivot = keys,
        _ => return Err(Diagnostic::new("0, 1 or 2 is wanted: parameter=`groupFlag`")),
    }
    let limit = given(args, 10, "limit").filter(|value| !value.is_null());
    let limit = limit.map(|value| node(ExprKind::Literal(value.clone())));
    let exec = given(args, 11, "exec").and_then(Value::as_bool).unwrap_or(false);
    let select = Select { exec, limit, items: select, from, filter, group, context, csort, pivot, having, order };
    made(node(ExprKind::Select(Box::new(select))), functions)
}

fn sort_keys(exprs: Vec<Expr>, ascending: Option<&Value>, name: &str) -> Result<Vec<SortKey>> {
    let flags: Vec<bool> = match ascending {
        None => vec![true; exprs.len()],
        Some(Value::Vector(column)) => (0..column.len()).map(|row| column.get(row).as_i64() != Some(0)).collect(),
        Some(value) => vec![value.as_bool().unwrap_or(true); exprs.len()],
    };
    if flags.len() != exprs.len() {
        return Err(Diagnostic::new(format!("a truth value for each key is wanted: parameter=`{name}`")));
    }
    let key = |(expr, ascending): (Expr, bool)| SortKey { expr, descending: !ascending, nulls_first: None };
    Ok(exprs.into_iter().zip(flags).map(key).collect())
}
