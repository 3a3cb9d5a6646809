//! `select` and `exec` over tables in memory.
//!
//! Invariants:
//! - Conditions are applied one after another, each to what those before it left.
//! - Groups of `group by` come in the order of their keys, those of `context by` in the order of first appearance.

use super::Interpreter;
use super::containers::{column_of, typed};
use crate::diagnostic::Diagnostic;
use crate::function::Result;
use crate::printer::column_name;
use crate::tree::{Expr, ExprKind, MetaItem, Select, SortKey};
use crate::value::{Table, Value};
use data::{Batch, Column, Field, Scalar, Schema};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

impl Interpreter<'_> {
    pub(super) fn select(&mut self, select: &Select) -> Result<Value> {
        let from = self.table_rows(&select.from)?;
        let chosen = self.filtered(&from, &select.from, &select.filter)?;
        let rows = if select.filter.is_empty() { from } else { from.take(&chosen) };
        let mut labels = None;
        let result = if !select.pivot.is_empty() {
            let (result, spread) = self.pivoted(select, &rows)?;
            labels = Some(spread);
            result
        } else if !select.group.is_empty() {
            self.grouped(select, &rows)?
        } else if !select.context.is_empty() {
            self.in_context(select, &rows)?
        } else {
            self.plain(select, &rows)?
        };
        let result = match &select.limit {
            // Within `context by` the limit is each group's and is applied already.
            Some(limit) if select.context.is_empty() => {
                let limit = self.eval(limit)?;
                limited(&result, &limit)?
            }
            _ => result,
        };
        if let (Some(labels), true) = (labels, select.exec) {
            return super::pivot::executed(select.pivot.len(), &result, labels);
        }
        Ok(if select.exec { executed(select, &result) } else { Value::Table(Table::new(result)) })
    }

    fn table_rows(&mut self, from: &Expr) -> Result<Batch> {
        match self.eval(from)? {
            Value::Table(table) => Ok(table.batch()),
            Value::Object(object) => match self.host.method(&object, "rows", &Default::default()) {
                Some(Ok(Value::Table(table))) => Ok(table.batch()),
                Some(Err(error)) => Err(error),
                _ => Err(Diagnostic::at(from.span, format!("not a table: found=`{}`", object.class()))),
            },
            other => Err(Diagnostic::at(from.span, format!("not a table: found=`{}`", other.kind()))),
        }
    }

    /// One row for each row, or one row in all where every item gives one value.
    fn plain(&mut self, select: &Select, rows: &Batch) -> Result<Batch> {
        let order = self.order_of(select, rows)?;
        let values = self.over(rows, &select.from, |this| this.item_values(&select.items, rows))?;
        let all_scalars = values.iter().all(|(_, value)| matches!(value, Value::Scalar(..)));
        // `select distinct sym`: vectors of a length of their own.
        let own_length = match values.first() {
            Some((_, Value::Vector(first))) if first.len() < rows.rows() => {
                let same =
                    |(_, value): &(_, Value)| matches!(value, Value::Vector(column) if column.len() == first.len());
                values.iter().all(same).then_some(first.len())
            }
            _ => None,
        };
        let count = own_length.unwrap_or(if all_scalars { 1 } else { rows.rows() });
        let result = batch_of(values, count)?;
        match order {
            Some(order) if !all_scalars && own_length.is_none() => Ok(result.take(&order)),
            _ => self.ordered_by_result(select, result, all_scalars || select.order.is_empty()),
        }
    }

    /// The order of rows by keys that are expressions over the table itself, if all can be told there.
    fn order_of(&mut self, select: &Select, rows: &Batch) -> Result<Option<Vec<u32>>> {
        if select.order.is_empty() {
            return Ok(None);
        }
        let keys = self.over(rows, &select.from, |this| {
            select
                .order
                .iter()
                .map(|key| column_of(&this.eval(&key.expr)?, Some(rows.rows())))
                .collect::<Result<Vec<_>>>()
        });
        // A key may also be the name of a result.
        Ok(keys.ok().map(|keys| sorted(&keys, &select.order, rows.rows())))
    }

    pub(super) fn ordered_by_result(&mut self, select: &Select, result: Batch, done: bool) -> Result<Batch> {
        if done {
            return Ok(result);
        }
        let keys = self.over(&result, &select.from, |this| {
            select
                .order
                .iter()
                .map(|key| column_of(&this.eval(&key.expr)?, Some(result.rows())))
                .collect::<Result<Vec<_>>>()
        })?;
        Ok(result.take(&sorted(&keys, &select.order, result.rows())))
    }

    /// The value of each item with its name; all columns for `*`, several for a function with several results.
    pub(super) fn item_values(&mut self, items: &[MetaItem], rows: &Batch) -> Result<Vec<(Arc<str>, Value)>> {
        let all = || {
            rows.schema()
                .fields()
                .iter()
                .zip(rows.columns())
                .map(|(field, column)| (field.name.clone(), Value::Vector(column.clone())))
        };
        if items.is_empty() {
            return Ok(all().collect());
        }
        let mut values = vec![];
        for item in items {
            if matches!(&item.expr.kind, ExprKind::Name(star) if &**star == "*") {
                values.extend(all());
                continue;
            }
            // A matrix stands for its columns.
            let value = match self.eval_counting(&item.expr, rows)? {
                Value::Matrix(matrix) => matrix.to_tuple(),
                value => value,
            };
            match (value, &item.names[..]) {
                (Value::Tuple(results), names) if names.len() > 1 || names.is_empty() && is_several(&results, rows) => {
                    let base = column_name(&item.expr);
                    for (place, result) in results.into_iter().enumerate() {
                        let name = names.get(place).cloned().unwrap_or_else(|| format!("{base}_{place}").into());
                        values.push((name, result));
                    }
                }
                (value, [name]) => values.push((name.clone(), value)),
                (value, _) => values.push((column_name(&item.expr).into(), value)),
            }
        }
        Ok(values)
    }

    /// The value of an item; `count(*)` is the number of rows.
    fn eval_counting(&mut self, expr: &Expr, rows: &Batch) -> Result<Value> {
        if let ExprKind::Call(callee, args) = &expr.kind
            && let (ExprKind::Name(function), [arg]) = (&callee.kind, &args[..])
            && let Some(Expr { kind: ExprKind::Name(star), .. }) = &arg.value
            && (&**function, &**star) == ("count", "*")
        {
            return Ok(Value::int(rows.rows() as i32));
        }
        self.eval(expr)
    }

    /// `context by`: the items of each group, as many rows as it has.
    fn in_context(&mut self, select: &Select, rows: &Batch) -> Result<Batch> {
        let keys = self.key_columns(&select.context, select, rows)?;
        let columns: Vec<Column> = keys.iter().map(|(_, column)| column.clone()).collect();
        let mut parts = vec![];
        let groups = groups_of(&columns, rows.rows());
        let empty = groups.is_empty().then(Vec::new);
        for group in groups.iter().chain(&empty) {
            let mut batch = rows.take(group);
            if !select.csort.is_empty() {
                let keys = self.over(&batch, &select.from, |this| {
                    let column = |key: &SortKey| column_of(&this.eval(&key.expr)?, Some(batch.rows()));
                    select.csort.iter().map(column).collect::<Result<Vec<_>>>()
                })?;
                batch = batch.take(&sorted(&keys, &select.csort, batch.rows()));
            }
            let values = self.over(&batch, &select.from, |this| this.item_values(&select.items, &batch))?;
            let mut part = batch_of(values, batch.rows())?;
            if let Some(having) = &select.having {
                let met = self.filtered(&batch, &select.from, std::slice::from_ref(having))?;
                part = part.take(&met);
            }
            if let Some(limit) = &select.limit {
                let limit = self.eval(limit)?;
                part = limited(&part, &limit)?;
            }
            parts.push(part);
        }
        let result = Batch::concat(parts[0].schema().clone(), &parts)?;
        self.ordered_by_result(select, result, select.order.is_empty())
    }

    pub(super) fn key_columns(
        &mut self,
        keys: &[MetaItem],
        select: &Select,
        rows: &Batch,
    ) -> Result<Vec<(Arc<str>, Column)>> {
        self.over(rows, &select.from, |this| {
            let key = |item: &MetaItem| {
                let name = item.names.first().cloned().unwrap_or_else(|| column_name(&item.expr).into());
                Ok((name, column_of(&this.eval(&item.expr)?, Some(rows.rows()))?))
            };
            keys.iter().map(key).collect()
        })
    }
}

/// Are these the results of a function with several, rather than the cells of an array vector?
fn is_several(results: &[Value], rows: &Batch) -> bool {
    !results.is_empty()
        && results.iter().all(|result| matches!(result, Value::Vector(column) if column.len() == rows.rows()))
}

/// The rows of each group with equal keys, groups in the order of first appearance.
pub(super) fn groups_of(keys: &[Column], rows: usize) -> Vec<Vec<u32>> {
    let hashes: Vec<Vec<u64>> = keys.iter().map(Column::stable_hashes).collect();
    let mut by_hash: HashMap<Vec<u64>, Vec<usize>> = HashMap::new();
    let mut groups: Vec<Vec<u32>> = vec![];
    for row in 0..rows {
        let hash = hashes.iter().map(|hashes| hashes[row]).collect();
        let same = |group: &&usize| {
            let first = groups[**group][0] as usize;
            keys.iter().all(|key| key.get(first) == key.get(row))
        };
        let candidates = by_hash.entry(hash).or_default();
        match candidates.iter().find(same) {
            Some(&group) => groups[group].push(row as u32),
            None => {
                candidates.push(groups.len());
                groups.push(vec![row as u32]);
            }
        }
    }
    groups
}

/// Rows in the order of keys, NULL as the smallest value unless a key says otherwise; equal ones as they were.
pub(super) fn sorted(keys: &[Column], order: &[SortKey], rows: usize) -> Vec<u32> {
    let values: Vec<Vec<Scalar>> = keys.iter().map(|key| (0..rows).map(|row| key.get(row)).collect()).collect();
    let mut places: Vec<u32> = (0..rows as u32).collect();
    places.sort_by(|&a, &b| {
        let by_key = values.iter().zip(order).map(|(values, key)| {
            let (a, b) = (&values[a as usize], &values[b as usize]);
            match (key.nulls_first, a.is_null(), b.is_null()) {
                (Some(first), true, false) | (Some(first), false, true) if first == a.is_null() => Ordering::Less,
                (Some(_), true, false) | (Some(_), false, true) => Ordering::Greater,
                _ if key.descending => compare(b, a),
                _ => compare(a, b),
            }
        });
        by_key.fold(Ordering::Equal, Ordering::then)
    });
    places
}

fn compare(a: &Scalar, b: &Scalar) -> Ordering {
    match (a, b) {
        (Scalar::Text(a), Scalar::Text(b)) => a.cmp(b),
        (Scalar::Int(a), Scalar::Int(b)) => a.cmp(b),
        (Scalar::Decimal(a), Scalar::Decimal(b)) => a.cmp(b),
        (Scalar::Bytes(a), Scalar::Bytes(b)) => a.cmp(b),
        (Scalar::Bytes16(a), Scalar::Bytes16(b)) => a.cmp(b),
        (Scalar::Null, Scalar::Null) => Ordering::Equal,
        (Scalar::Null, _) => Ordering::Less,
        (_, Scalar::Null) => Ordering::Greater,
        (a, b) => a.as_f64().unwrap_or(f64::NAN).total_cmp(&b.as_f64().unwrap_or(f64::NAN)),
    }
}

/// A table of values, scalars repeated.
fn batch_of(values: Vec<(Arc<str>, Value)>, rows: usize) -> Result<Batch> {
    let mut fields = vec![];
    let mut columns = vec![];
    for (name, value) in values {
        let column = match &value {
            // One value that is a vector, in a table of one row, is one cell of an array vector.
            Value::Vector(cell) if rows == 1 && cell.len() != 1 && cell.ty().array_of().is_some() => {
                Column::of_lists(vec![0, cell.len() as i32], cell.clone(), None)
            }
            value => column_of(value, Some(rows))
                .map_err(|error| Diagnostic::new(format!("{}: column=`{name}`", error.message)))?,
        };
        let column = typed(column);
        fields.push(Field::new(name, column.ty()));
        columns.push(column);
    }
    Ok(Batch::new(Arc::new(Schema::new(fields)?), columns)?)
}

/// The first rows, the last ones for a negative limit, or those of a half-open range.
fn limited(rows: &Batch, limit: &Value) -> Result<Batch> {
    let wrong = || Diagnostic::new(format!("a limit is a whole number or a pair of them: found=`{limit}`"));
    let count = rows.rows();
    let place = |value: i64| value.clamp(0, count as i64) as usize;
    let (from, to) = match limit {
        Value::Pair(from, to) => (place(from.as_i64().ok_or_else(wrong)?), place(to.as_i64().ok_or_else(wrong)?)),
        value => match value.as_i64().ok_or_else(wrong)? {
            last if last < 0 => (count - place(last.saturating_neg()), count),
            first => (0, place(first)),
        },
    };
    Ok(rows.slice(from, to.max(from) - from))
}

/// What `exec` gives: of one item a vector, or the value itself where the query gives one; else the table.
fn executed(select: &Select, rows: &Batch) -> Value {
    let one_item = select.items.len() == 1 && select.group.is_empty();
    match rows.columns() {
        [column] if one_item => {
            let single = rows.rows() == 1 && select.context.is_empty() && gives_one_value(&select.items[0].expr);
            if single { Value::of_row(column, 0) } else { Value::Vector(column.clone()) }
        }
        _ => Value::Table(Table::new(rows.clone())),
    }
}

/// Does an item give one value for all rows? It does when it is an aggregate, or made of aggregates and constants.
fn gives_one_value(expr: &Expr) -> bool {
    use crate::function::Form;
    let aggregate = |name: &str, args: usize| {
        crate::library::find(name).is_some_and(|function| matches!(function.form(args), Form::Aggregate(_)))
    };
    match &expr.kind {
        ExprKind::Literal(Value::Scalar(..)) => true,
        ExprKind::Call(callee, args) => {
            let by_name = matches!(&callee.kind, ExprKind::Name(name) if aggregate(name, args.len()));
            by_name || !args.is_empty() && args.iter().all(|arg| arg.value.as_ref().is_none_or(gives_one_value))
        }
        ExprKind::Method(object, name, args) => aggregate(name, args.len() + 1) || gives_one_value(object),
        ExprKind::Binary(_, a, b) => gives_one_value(a) && gives_one_value(b),
        ExprKind::Unary(_, operand) => gives_one_value(operand),
        _ => false,
    }
}
