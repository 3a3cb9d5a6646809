//! What clients ask of PostgreSQL's catalog and DataFusion cannot plan, put otherwise.
//!
//! Most is done by the rules of `datafusion-pg-catalog`; here is what is left. All of it rests on what this catalog holds: no
//! constraints, indexes, own types or roles with rights.

use datafusion::sql::sqlparser::ast::{
    Expr, FunctionArguments, Ident, ObjectName, Query, Select, SelectItem, SetExpr, Statement, TableAlias, TableFactor,
    TableWithJoins, Value, ValueWithSpan, VisitMut, VisitorMut,
};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::Parser;
use std::ops::ControlFlow;

/// Pieces of texts and what stands for them.
const TEXTS: &[(&str, &str)] = &[
    // Names know no case, in the patterns of psql either.
    ("OPERATOR(pg_catalog.~)", "OPERATOR(pg_catalog.~*)"),
    // psql: no table's type is a type of its own.
    ("(SELECT c.relkind = 'c' FROM pg_catalog.pg_class c WHERE c.oid = t.typrelid)", "false"),
    // ADBC and JDBC: functions of types are kept by name.
    ("(typreceive != 0 OR typsend != 0)", "(typreceive <> '-' OR typsend <> '-')"),
    ("typinput='pg_catalog.array_in'::regproc", "typinput='array_in'"),
    ("typinput='array_in'::regproc", "typinput='array_in'"),
    // pgcli: types of arguments, by name.
    ("COALESCE(proallargtypes::regtype[], proargtypes::regtype[])::text[]", "NULL::text"),
];

/// How many arrays made of a query are put otherwise: clients ask for a few.
const ARRAYS_MAX: usize = 16;

/// The text of a query, put otherwise.
pub(super) fn text(sql: &str) -> String {
    let mut sql = TEXTS.iter().fold(sql.to_string(), |sql, (from, to)| sql.replace(from, to));
    // Arrays made of a query are of roles and their rights.
    for _ in 0..ARRAYS_MAX {
        let Some(start) = sql.to_ascii_lowercase().find("array(select") else { break };
        let mut depth = 0;
        let end = sql[start..].char_indices().find(|(_, letter)| {
            depth += (*letter == '(') as i32 - (*letter == ')') as i32;
            *letter == ')' && depth == 0
        });
        let Some((end, _)) = end else { break };
        let is_joined = sql[..start].ends_with("array_to_string(");
        sql.replace_range(start..=start + end, if is_joined { "NULL::text[]" } else { "NULL::text" });
    }
    sql
}

/// A statement, put otherwise.
pub(super) fn statement(statement: &mut Statement) {
    let _: ControlFlow<()> = statement.visit(&mut Otherwise);
}

struct Otherwise;

impl VisitorMut for Otherwise {
    type Break = ();

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        for TableWithJoins { relation, joins } in &mut select.from {
            let of_constraints = matches!(relation, TableFactor::Table { name, .. } if is_named(name, "pg_constraint"));
            for join in joins.iter_mut().filter(|_| of_constraints) {
                if let Some(empty) = nothing_unnested(&join.relation) {
                    join.relation = empty;
                }
            }
        }
        for item in &mut select.projection {
            if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item
                && !matches!(expr, Expr::Subquery(_))
            {
                let _: ControlFlow<()> = expr.visit(&mut NoSubqueries);
            }
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        match expr {
            // Only a backslash escapes.
            Expr::Like { pattern, escape_char, .. } | Expr::ILike { pattern, escape_char, .. } => {
                if let Some(ValueWithSpan { value: Value::SingleQuotedString(escape), .. }) = &escape_char
                    && escape != "\\"
                    && let Some(escaped) = read(&format!("replace({pattern}, '{}', '\\')", escape.replace('\'', "''")))
                {
                    (**pattern, *escape_char) = (escaped, None);
                }
            }
            // The places of an array, of which there is none: its elements do as well.
            Expr::Function(function) if is_named(&function.name, "generate_subscripts") => {
                function.name = ObjectName::from(vec![Ident::new("unnest")]);
                if let FunctionArguments::List(list) = &mut function.args {
                    list.args.truncate(1);
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// What stands for the elements of an array that each constraint has: none, as there are no constraints. DataFusion unnests
/// no column of a table beside it.
fn nothing_unnested(table: &TableFactor) -> Option<TableFactor> {
    let TableFactor::UNNEST { alias: Some(TableAlias { name, columns, .. }), array_exprs, .. } = table else {
        return None;
    };
    if !array_exprs.iter().all(|array| matches!(array, Expr::Identifier(_) | Expr::CompoundIdentifier(_))) {
        return None;
    }
    let columns: Vec<&Ident> = match columns.as_slice() {
        [] => vec![name],
        columns => columns.iter().map(|column| &column.name).collect(),
    };
    let columns: Vec<String> = columns.iter().map(|column| format!("cast(null as smallint) as {column}")).collect();
    let empty = format!("(select {} where false) as {name}", columns.join(", "));
    let mut parser = Parser::new(&PostgreSqlDialect {}).try_with_sql(&empty).ok()?;
    Some(parser.parse_table_and_joins().ok()?.relation)
}

/// Takes out subqueries within an expression that might give more than one row: DataFusion plans none of them if they are about
/// the row outside, and they tell of what is not here.
struct NoSubqueries;

impl VisitorMut for NoSubqueries {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Subquery(query) = expr
            && !gives_one_row(query)
        {
            *expr = Expr::Value(Value::Null.with_empty_span());
        }
        ControlFlow::Continue(())
    }
}

fn gives_one_row(query: &Query) -> bool {
    const AGGREGATES: &[&str] = &["array_agg", "bool_and", "bool_or", "count", "max", "min", "string_agg", "sum"];
    let is_aggregate = match query.body.as_ref() {
        SetExpr::Select(select) => match select.projection.as_slice() {
            [SelectItem::UnnamedExpr(Expr::Function(function))] => {
                AGGREGATES.iter().any(|name| is_named(&function.name, name))
            }
            _ => false,
        },
        _ => false,
    };
    is_aggregate || query.limit_clause.is_some()
}

fn is_named(name: &ObjectName, wanted: &str) -> bool {
    let last = name.0.last().and_then(|part| part.as_ident());
    last.is_some_and(|last| last.value.eq_ignore_ascii_case(wanted))
}

fn read(expr: &str) -> Option<Expr> {
    Parser::new(&PostgreSqlDialect {}).try_with_sql(expr).ok()?.parse_expr().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_arrays_of_constraints_are_known_to_have_no_elements() {
        let put = |sql: &str| {
            let mut statements = Parser::parse_sql(&PostgreSqlDialect {}, sql).unwrap();
            statement(&mut statements[0]);
            statements[0].to_string()
        };
        let keys = "SELECT k FROM pg_catalog.pg_constraint AS con CROSS JOIN UNNEST(con.conkey) AS k";
        assert!(put(keys).contains("(SELECT CAST(NULL AS SMALLINT) AS k WHERE false) AS k"), "{}", put(keys));
        let others = [keys.replace("pg_constraint", "pg_proc"), keys.replace("con.conkey", "ARRAY[1, 2]")];
        others.iter().for_each(|sql| assert_eq!(put(sql), *sql));
    }
}
