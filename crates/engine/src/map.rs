//! Map: a function of each batch, as an engine.
//!
//! Invariants:
//! - A function that is one plain query of row functions is compiled: its rows keep their origins.
//! - Any other is run by the interpreter on the rows of one append. If it gives as many rows as it took they keep their
//!   origins; else all have the origin of the append's last row.

use crate::kind::{Engine, Frozen, FrozenEngine, Port};
use crate::rows::{Chunk, ClockOrigin, Origins, Output};
use data::{Batch, Schema};
use lang::tree::{Expr, ExprKind, Select, StatementKind};
use lang::{Callee, Code, Diagnostic, RowProgram, Scope, Table, UserFunction, Value};
use std::sync::Arc;

/// A map by this function from rows of one schema to rows of the other. `row_wise` says that the function is one query
/// without anything that looks at several rows.
pub fn map(
    function: UserFunction,
    row_wise: bool,
    input: &Arc<Schema>,
    output: &Arc<Schema>,
) -> Result<Box<dyn Engine>, Diagnostic> {
    if row_wise {
        return Ok(Box::new(RowMap::bind(&function, input, output)?));
    }
    Ok(Box::new(BatchMap { function, output: output.clone() }))
}

/// A compiled query.
struct RowMap {
    conditions: Vec<RowProgram>,
    /// `None` for `select *`.
    items: Option<RowProgram>,
    output: Arc<Schema>,
}

impl RowMap {
    fn bind(function: &UserFunction, input: &Arc<Schema>, output: &Arc<Schema>) -> Result<RowMap, Diagnostic> {
        let (select, parameter) = query_of(function).ok_or_else(|| Diagnostic::new("not a query of one table"))?;
        let prefixes = [&*parameter];
        let scope = Scope { schema: input, prefixes: &prefixes };
        let code = |expr: &Arc<Expr>, names: &[Arc<str>]| Code {
            expr: expr.clone(),
            names: names.to_vec(),
            functions: function.functions.clone(),
        };
        let bind = |codes: &[Code]| RowProgram::bind(codes, &scope).map_err(|mut errors| errors.remove(0));
        let condition = |expr: &Expr| bind(&[code(&Arc::new(expr.clone()), &["kept".into()])]);
        let conditions = select.filter.iter().map(condition).collect::<Result<_, _>>()?;
        let all = || {
            input.fields().iter().map(|field| {
                let kind = ExprKind::Name(field.name.clone());
                Code {
                    expr: Arc::new(Expr { span: Default::default(), kind }),
                    names: vec![],
                    functions: Arc::default(),
                }
            })
        };
        let mut codes: Vec<Code> = vec![];
        for item in &select.items {
            match &item.expr.kind {
                ExprKind::Name(star) if &**star == "*" => codes.extend(all()),
                _ => codes.push(code(&item.expr, &item.names)),
            }
        }
        let items = if codes.is_empty() { None } else { Some(bind(&codes)?) };
        Ok(RowMap { conditions, items, output: output.clone() })
    }
}

/// The one query of a function, and its parameter.
fn query_of(function: &UserFunction) -> Option<(&Select, Arc<str>)> {
    let Callee::Defined(def) = &function.callee else { return None };
    let ([parameter], [statement]) = (&def.parameters[..], &def.body[..]) else { return None };
    let (StatementKind::Expr(expr) | StatementKind::Return(Some(expr))) = &statement.kind else { return None };
    match &expr.kind {
        ExprKind::Select(select) => Some((select, parameter.name.clone())),
        _ => None,
    }
}

impl Engine for RowMap {
    fn push(&mut self, _port: Port, rows: &Chunk, out: &mut Output) -> Result<(), Diagnostic> {
        out.counts.rows_in += rows.len() as u64;
        let mut kept: Option<Vec<u32>> = None;
        for condition in &mut self.conditions {
            kept = Some(condition.pick(&rows.batch, kept.as_deref().or(rows.rows()), out.host)?);
        }
        let chunk = match kept {
            Some(kept) => Chunk { selection: Some(kept.into()), ..rows.clone() },
            None => rows.clone(),
        };
        if chunk.is_empty() {
            return Ok(());
        }
        let made = match &mut self.items {
            None => Chunk { batch: chunk.batch.with_schema(self.output.clone())?, ..chunk },
            Some(items) => {
                let columns = items.run(&chunk.batch, chunk.rows(), out.host)?;
                let batch = Batch::new(self.output.clone(), columns)?;
                Chunk { batch, selection: None, origins: chunk.compact_origins() }
            }
        };
        out.counts.rows_out += made.len() as u64;
        out.chunks.push(made);
        Ok(())
    }

    fn freeze(&mut self) -> Box<dyn FrozenEngine> {
        Box::new(Stateless)
    }

    fn thaw(&mut self, _frozen: &[Frozen]) -> Result<(), Diagnostic> {
        Ok(())
    }
}

/// A function that the interpreter runs.
struct BatchMap {
    function: UserFunction,
    output: Arc<Schema>,
}

impl Engine for BatchMap {
    fn push(&mut self, _port: Port, rows: &Chunk, out: &mut Output) -> Result<(), Diagnostic> {
        let rows = rows.compact();
        out.counts.rows_in += rows.len() as u64;
        let table = Value::Table(Table::new(rows.batch.clone()));
        let given = match lang::call_function(&self.function, vec![table], out.host)? {
            Value::Table(table) => table.batch(),
            other => return Err(Diagnostic::new(format!("map's function gives no table: given=`{other}`"))),
        };
        let batch = given.with_schema(self.output.clone())?;
        let count = batch.rows();
        let origins = match &rows.origins {
            same if count == rows.len() => same.clone(),
            Origins::Clock(origins) => {
                let last: ClockOrigin = *origins.last().expect("a chunk that is pushed has rows");
                Origins::Clock(vec![last; count].into())
            }
            _ => Origins::Rows(vec![rows.origin(rows.len() as u32 - 1); count].into()),
        };
        out.push(batch, origins);
        Ok(())
    }

    fn freeze(&mut self) -> Box<dyn FrozenEngine> {
        Box::new(Stateless)
    }

    fn thaw(&mut self, _frozen: &[Frozen]) -> Result<(), Diagnostic> {
        Ok(())
    }
}

/// The picture of an engine without state.
struct Stateless;

impl FrozenEngine for Stateless {
    fn encode(&self) -> Frozen {
        Frozen { version: 1, ..Frozen::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use data::{Type, parse_table, print_table};
    use lang::{Host, Session, Source};

    struct NoHost;

    impl Host for NoHost {}

    fn mapped(function: &str, row_wise: bool, rows: &str) -> (String, Vec<u32>) {
        let input = Schema::of(&[("sym", Type::Symbol), ("x", Type::Int)]);
        let value = Session::new().run(&Source::new("map", function), &mut NoHost).expect("a function");
        let Value::Function(function) = value else { panic!("a function") };
        let empty = Value::Table(Table::new(Batch::empty(input.clone())));
        let Ok(Value::Table(tried)) = lang::call_function(&function, vec![empty], &mut NoHost) else {
            panic!("a table")
        };
        let output = tried.batch().schema().clone();
        let mut engine = map(function, row_wise, &input, &output).expect("a map of these columns");
        let mut host = NoHost;
        let mut out = Output::new(&mut host);
        let batch = parse_table(&input, rows).expect("a table");
        engine.push(Port(0), &Chunk::whole(batch, 10), &mut out).expect("rows of these types");
        let chunk = out.chunks.remove(0).compact();
        let numbers = (0..chunk.batch.rows() as u32).map(|row| chunk.number(row)).collect();
        (print_table(&chunk.batch), numbers)
    }

    const ROWS: &str = "sym x\nA 1\nB 2\nC 3\n";

    #[test]
    fn a_plain_query_is_compiled_and_its_rows_keep_their_origins() {
        let (table, numbers) = mapped("t -> select *, x * 10 as y from t where x != 2", true, ROWS);
        assert_eq!(table, "sym  x  y\nA    1  10\nC    3  30\n");
        assert_eq!(numbers, [10, 12]);
        let (table, _) = mapped("t -> select t.x as z from t where x > 1, x < 3", true, ROWS);
        assert_eq!(table, "z\n2\n");
    }

    #[test]
    fn any_other_function_is_run_and_its_rows_have_the_origin_of_the_last_one() {
        let (table, numbers) = mapped("t -> select sum(x) as total from t", false, ROWS);
        assert_eq!((table.as_str(), numbers), ("total\n6\n", vec![12]));
        let (_, numbers) = mapped("t -> select sym, x - avg(x) as d from t", false, ROWS);
        assert_eq!(numbers, [10, 11, 12]);
    }
}
