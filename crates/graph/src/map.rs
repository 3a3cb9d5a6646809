//! What a planner must know of a map's function, read off its text.
//!
//! A function is known to treat each row for itself if it is one plain query of row functions. Any other may look at
//! several rows of its batch, so it is neither split nor given other batches than the appends at the source.

use crate::logical::plain_facts;
use crate::source_text::{NoHost, as_function};
use data::{Batch, Schema};
use engine::{Facts, Split};
use lang::function::Form;
use lang::tree::{Arg, Expr, ExprKind, FunctionDef, Select, StatementKind};
use lang::{Callee, Diagnostic, Table, UserFunction, Value};
use std::sync::Arc;

/// A map's function, tried out and looked at.
pub(crate) struct BoundMap {
    pub(crate) schema: Arc<Schema>,
    pub(crate) facts: Facts,
    pub(crate) kept: Vec<(String, String)>,
}

/// Runs a function on a table without rows to learn what columns it gives.
pub(crate) fn bind_map(value: &Value, input: &Arc<Schema>) -> Result<BoundMap, Diagnostic> {
    let Some(function) = as_function(value) else {
        return Err(Diagnostic::new("map expects a function of a table").help("write `.map(t -> select ... from t)`"));
    };
    let empty = Value::Table(Table::new(Batch::empty(input.clone())));
    let schema = match lang::call_function(&function, vec![empty], &mut NoHost)? {
        Value::Table(table) => table.batch().schema().clone(),
        other => return Err(Diagnostic::new(format!("map's function gives no table: given=`{other}`"))),
    };
    let query = plain_query(&function);
    let facts = match query {
        Some(_) => plain_facts(),
        None => Facts {
            split: Split::Never("its function may look at several rows of a batch".into()),
            reads_batches: true,
            ..plain_facts()
        },
    };
    let kept = query.map(|query| kept_columns(query, input)).unwrap_or_default();
    Ok(BoundMap { schema, facts, kept })
}

/// The function's one query, if it treats each row for itself.
fn plain_query(function: &UserFunction) -> Option<&Select> {
    let Callee::Defined(def) = &function.callee else { return None };
    let (select, table) = only_query(def)?;
    let plain = !select.exec
        && select.limit.is_none()
        && select.having.is_none()
        && [&select.group, &select.context, &select.pivot].iter().all(|items| items.is_empty())
        && select.csort.is_empty()
        && select.order.is_empty()
        && matches!(&select.from.kind, ExprKind::Name(name) if *name == table);
    let mut exprs = select.items.iter().map(|item| &*item.expr).chain(&select.filter);
    (plain && function.given.is_empty() && exprs.all(|expr| is_row_wise(expr, function))).then_some(select)
}

fn only_query(def: &FunctionDef) -> Option<(&Select, Arc<str>)> {
    let ([parameter], [statement]) = (&def.parameters[..], &def.body[..]) else { return None };
    let expr = match &statement.kind {
        StatementKind::Expr(expr) | StatementKind::Return(Some(expr)) => expr,
        _ => return None,
    };
    match &expr.kind {
        ExprKind::Select(select) => Some((select, parameter.name.clone())),
        _ => None,
    }
}

/// Does an expression's value in a row depend on that row alone?
fn is_row_wise(expr: &Expr, function: &UserFunction) -> bool {
    let row_wise = |expr: &Expr| is_row_wise(expr, function);
    let args_row_wise = |args: &[Arg]| args.iter().all(|arg| arg.value.as_ref().is_none_or(row_wise));
    let is_row_function = |name: &str, args: usize| {
        let user = function.functions.iter().any(|def| &*def.name == name);
        !user && lang::library::find(name).is_some_and(|known| matches!(known.form(args), Form::Row(_)))
    };
    match &expr.kind {
        ExprKind::Literal(value) => matches!(value, Value::Scalar(..) | Value::Duration(..)),
        ExprKind::Name(_) => true,
        ExprKind::Member(object, _) => matches!(object.kind, ExprKind::Name(_)),
        ExprKind::Unary(_, operand) => row_wise(operand),
        ExprKind::Binary(_, left, right) => row_wise(left) && row_wise(right),
        ExprKind::Conditional(condition, yes, no) => row_wise(condition) && row_wise(yes) && row_wise(no),
        ExprKind::Call(callee, args) => {
            matches!(&callee.kind, ExprKind::Name(name) if is_row_function(name, args.len())) && args_row_wise(args)
        }
        ExprKind::Method(object, name, args) => {
            is_row_function(name, args.len() + 1) && row_wise(object) && args_row_wise(args)
        }
        _ => false,
    }
}

/// The columns that a query passes on as they are, with their new names.
fn kept_columns(query: &Select, input: &Schema) -> Vec<(String, String)> {
    if query.items.is_empty() {
        return input.names().into_iter().map(|name| (name.clone(), name)).collect();
    }
    let kept = query.items.iter().filter_map(|item| match (&item.expr.kind, &item.names[..]) {
        (ExprKind::Name(name), []) => Some((name.to_string(), name.to_string())),
        (ExprKind::Name(name), [alias]) => Some((name.to_string(), alias.to_string())),
        _ => None,
    });
    kept.filter(|(name, _)| input.field(name).is_some()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source_text::read_function;
    use data::Type;

    fn bound(text: &str) -> Result<BoundMap, Diagnostic> {
        let schema = Schema::of(&[("sym", Type::Symbol), ("price", Type::Double), ("qty", Type::Int)]);
        bind_map(&Value::Function(read_function(text, &[]).unwrap()), &schema)
    }

    #[test]
    fn a_plain_query_treats_each_row_for_itself_and_keeps_its_bare_columns() {
        let map = bound("t -> select sym as symbol, price, price * qty as amount from t where abs(price) > 1").unwrap();
        assert_eq!(map.facts, plain_facts());
        assert_eq!(map.kept, [("sym".into(), "symbol".into()), ("price".into(), "price".into())]);
        assert_eq!(map.schema.names(), ["symbol", "price", "amount"]);
        assert_eq!(bound("t -> select * from t where sym == \"A\"").unwrap().kept.len(), 3);
    }

    #[test]
    fn any_other_function_sees_whole_batches() {
        for text in [
            "t -> select sum(qty) as qty from t group by sym",
            "t -> select sym, cumsum(qty) as qty from t",
            "t -> select * from t order by price",
            "def (t) { u = select * from t; return u }",
            "t -> t",
        ] {
            let map = bound(text).unwrap();
            assert!(matches!(map.facts.split, Split::Never(_)) && map.facts.reads_batches, "{text}");
        }
    }

    #[test]
    fn a_session_variable_in_a_map_is_refused_by_name() {
        let error = bound("t -> select * from t where price > limit_price").err().unwrap();
        assert!(error.message.contains("limit_price"), "{error}");
    }
}
