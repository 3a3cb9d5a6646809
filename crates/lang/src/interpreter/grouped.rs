//! Groups of rows: what each gives as one row, and spans of time without rows.

use super::Interpreter;
use super::containers::{array_vector, cast, column_of, typed};
use super::select::{groups_of, sorted};
use crate::diagnostic::Diagnostic;
use crate::function::Result;
use crate::library::common_type;
use crate::printer::column_name;
use crate::tree::{Arg, Expr, ExprKind, MetaItem, Select, SortKey};
use crate::value::{Code, Host, Value};
use data::{Batch, Column, Field, Scalar, Schema, Type};
use std::sync::Arc;

/// How many rows `interval` may fill in.
const FILLED_MAX: i64 = 10_000_000;

/// `interval(X, duration, fill)` among the keys.
struct Interval {
    /// Its place among the keys.
    key: usize,
    /// The length of a span in units of the key's type.
    step: i64,
    fill: Fill,
}

enum Fill {
    /// No rows for spans without any.
    None,
    /// Rows of NULLs.
    Null,
    /// The values of the span before.
    Previous,
    /// The values of the span behind.
    Next,
    /// On the line between the spans before and behind.
    Linear,
    /// This value.
    Value(Value),
}

/// Columns with their names.
pub(super) type Named = Vec<(Arc<str>, Column)>;

/// A row that comes out of filling.
struct Place {
    /// The row it is, if there is one.
    own: Option<u32>,
    /// The row of its group before it.
    before: Option<u32>,
    /// The row of its group behind it.
    behind: Option<u32>,
    time: i64,
}

impl Interpreter<'_> {
    /// `group by`: one row for each group, its keys first.
    pub(super) fn grouped(&mut self, select: &Select, rows: &Batch) -> Result<Batch> {
        let (group, interval) = self.interval(&select.group)?;
        let keys = self.key_columns(&group, select, rows)?;
        let columns: Vec<Column> = keys.iter().map(|(_, column)| column.clone()).collect();
        let groups = in_order(&columns, rows.rows());
        // An item that is a key stands among the keys already.
        let is_key = |item: &MetaItem| {
            let text = item.expr.to_string();
            let same =
                |key: &&MetaItem| key.expr.to_string() == text || key.names.first().is_some_and(|name| **name == *text);
            item.names.is_empty() && select.group.iter().any(|key| same(&key))
        };
        let items: Vec<MetaItem> = select.items.iter().filter(|item| !is_key(item)).cloned().collect();
        let plain = items.is_empty() && !select.items.is_empty();
        let (firsts, made) = self.of_groups(select, if plain { None } else { Some(&items) }, rows, &groups)?;
        let mut fields: Vec<Field> = keys.iter().map(|(name, column)| Field::new(name.clone(), column.ty())).collect();
        let mut results: Vec<Column> = columns.iter().map(|column| column.take(&firsts)).collect();
        for (name, column) in made {
            fields.push(Field::new(name, column.ty()));
            results.push(column);
        }
        let mut result = Batch::new(Arc::new(Schema::new(fields)?), results)?;
        if let Some(interval) = interval {
            result = self.filled(result, keys.len(), &interval)?;
        }
        self.ordered_by_result(select, result, select.order.is_empty())
    }

    /// What each group gives, as columns, and the first row of each group that is kept.
    pub(super) fn of_groups(
        &mut self,
        select: &Select,
        items: Option<&[MetaItem]>,
        rows: &Batch,
        groups: &[Vec<u32>],
    ) -> Result<(Vec<u32>, Named)> {
        let mut firsts = vec![];
        let mut names: Vec<Arc<str>> = vec![];
        let mut cells: Vec<Vec<Value>> = vec![];
        // Without any group the types of the results come from no rows.
        let empty = groups.is_empty().then(Vec::new);
        for group in groups.iter().chain(&empty) {
            let batch = rows.take(group);
            let values = self.over(&batch, &select.from, |this| {
                if let Some(having) = &select.having
                    && empty.is_none()
                    && this.eval(having)?.as_bool() != Some(true)
                {
                    return Ok(None);
                }
                Ok(Some(match items {
                    Some(items) => this.item_values(items, &batch)?,
                    None => vec![],
                }))
            })?;
            let Some(values) = values else { continue };
            firsts.extend(group.first());
            if cells.is_empty() {
                names = values.iter().map(|(name, _)| name.clone()).collect();
                cells = vec![vec![]; names.len()];
            }
            for (cells, (_, value)) in cells.iter_mut().zip(values) {
                cells.push(value);
            }
        }
        let kept = firsts.len();
        let columns = names.into_iter().zip(cells).map(|(name, cells)| {
            let column = super::grouped::cells(self, cells).map_err(|error| {
                Diagnostic::new(format!("{}: column=`{name}`", error.message))
                    .help("a group gives one value, or a vector that becomes an array")
            })?;
            Ok((name, column.slice(0, kept)))
        });
        let columns = columns.collect::<Result<_>>()?;
        Ok((firsts, columns))
    }

    /// The keys with `bar` for `interval`, and what that is.
    fn interval(&mut self, keys: &[MetaItem]) -> Result<(Vec<MetaItem>, Option<Interval>)> {
        let mut plain = keys.to_vec();
        let mut found = None;
        for (place, item) in keys.iter().enumerate() {
            let ExprKind::Call(callee, args) = &item.expr.kind else { continue };
            if !matches!(&callee.kind, ExprKind::Name(name) if &**name == "interval") {
                continue;
            }
            let named = |name: &str| {
                args.iter().find(|arg| arg.name.as_deref() == Some(name)).and_then(|arg| arg.value.as_ref())
            };
            let at = |place: usize, name: &str| match args.get(place) {
                Some(Arg { name: None, value: Some(value) }) => Some(value),
                _ => named(name),
            };
            let (Some(x), Some(duration), Some(fill)) = (at(0, "X"), at(1, "duration"), at(2, "fill")) else {
                let error = Diagnostic::at(item.expr.span, "interval lacks an argument");
                return Err(error.help("its parameters are X, duration, fill"));
            };
            if found.is_some() {
                return Err(Diagnostic::at(item.expr.span, "only one key may be an `interval`"));
            }
            let fill_value = self.eval(fill)?;
            let fill = match fill_value.as_text() {
                Some("none") => Fill::None,
                Some("null") => Fill::Null,
                Some("prev") => Fill::Previous,
                Some("post" | "next") => Fill::Next,
                Some("linear") => Fill::Linear,
                None if matches!(fill_value, Value::Scalar(..)) => Fill::Value(fill_value),
                _ => {
                    let wanted = "none, null, prev, post, linear or a value is wanted: parameter=`fill`";
                    return Err(Diagnostic::at(fill.span, format!("{wanted}, found=`{fill_value}`")));
                }
            };
            found = Some(Interval { key: place, step: 0, fill });
            let names = match &item.names[..] {
                [] => vec![format!("interval_{}", column_name(x)).into()],
                names => names.to_vec(),
            };
            let arg = |value: &Expr| Arg { name: None, value: Some(value.clone()) };
            let bar = Expr { span: callee.span, kind: ExprKind::Name("bar".into()) };
            let kind = ExprKind::Call(Box::new(bar), vec![arg(x), arg(duration)]);
            plain[place] = MetaItem { expr: Arc::new(Expr { span: item.expr.span, kind }), names };
            // A step is what `bar` calls the first multiple above 0.
            let duration_value = self.eval(duration)?;
            if let (Some(interval), Value::Scalar(_, step)) = (&mut found, &duration_value) {
                interval.step = step.as_i64().unwrap_or(0);
            } else if let (Some(interval), Value::Duration(count, unit)) = (&mut found, &duration_value) {
                // In nanoseconds, negative: the key's type is not known yet.
                interval.step = -crate::library::duration_in(Type::Nanotimestamp, *count, unit).unwrap_or(0);
            }
        }
        Ok((plain, found))
    }

    /// Rows for the spans of time that have none, within each group of the other keys.
    fn filled(&mut self, rows: Batch, keys: usize, interval: &Interval) -> Result<Batch> {
        let times = rows.column(interval.key).clone();
        let nanos_per_day = 86_400_000_000_000i64;
        let step = match (interval.step, times.ty().units_per_day()) {
            (nanos, Some(per_day)) if nanos < 0 => (-nanos as i128 * per_day as i128 / nanos_per_day as i128) as i64,
            (step, _) => step,
        };
        if matches!(interval.fill, Fill::None) || step <= 0 || rows.rows() == 0 {
            return Ok(rows);
        }
        let others: Vec<Column> =
            (0..keys).filter(|key| *key != interval.key).map(|key| rows.column(key).clone()).collect();
        let stamps: Vec<Option<i64>> = (0..rows.rows()).map(|row| times.get(row).as_i64()).collect();
        let valid = stamps.iter().flatten();
        let (Some(&first), Some(&last)) = (valid.clone().min(), valid.max()) else { return Ok(rows) };
        let spans = last.saturating_sub(first) / step + 1;
        let groups = groups_of(&others, rows.rows());
        if spans.saturating_mul(groups.len() as i64) > FILLED_MAX {
            return Err(Diagnostic::new(format!("too many spans to fill: spans=`{spans}`, limit=`{FILLED_MAX}`")));
        }
        self.make(spans as usize * groups.len() * rows.columns().len() * size_of::<i64>())?;
        let mut places: Vec<Place> = vec![];
        for group in &groups {
            let mut place = group.iter().copied().filter(|&row| stamps[row as usize].is_some()).peekable();
            let mut before = None;
            for span in 0..spans {
                let time = first + span * step;
                match place.peek().copied() {
                    Some(row) if stamps[row as usize] == Some(time) => {
                        places.push(Place { own: Some(row), before: None, behind: None, time });
                        before = place.next();
                    }
                    behind => places.push(Place { own: None, before, behind, time }),
                }
            }
        }
        let owner = |index: usize| groups[index / spans as usize][0];
        let mut columns = vec![];
        for (index, column) in rows.columns().iter().enumerate() {
            let is_key = index < keys;
            let values: Vec<Scalar> = places
                .iter()
                .enumerate()
                .map(|(index_of_place, place)| match place.own {
                    Some(row) => column.get(row as usize),
                    None if index == interval.key => Scalar::Int(place.time),
                    None if is_key => column.get(owner(index_of_place) as usize),
                    None => match &interval.fill {
                        Fill::Previous => place.before.map_or(Scalar::Null, |row| column.get(row as usize)),
                        Fill::Next => place.behind.map_or(Scalar::Null, |row| column.get(row as usize)),
                        Fill::Linear => between(column, &stamps, place),
                        _ => Scalar::Null,
                    },
                })
                .collect();
            let mut column = Column::of_scalars(column.ty(), &values);
            if let (Fill::Value(value), false) = (&interval.fill, is_key) {
                let value = cast(self, &column_of(value, Some(1))?, column.ty())?;
                let from: Vec<(usize, usize)> = places
                    .iter()
                    .enumerate()
                    .map(|(row, place)| if place.own.is_some() { (0, row) } else { (1, 0) })
                    .collect();
                column = Column::interleave(&[&column, &value], &from)?;
            }
            columns.push(column);
        }
        let filled = Batch::new(rows.schema().clone(), columns)?;
        let order: Vec<Column> = (0..keys).map(|key| filled.column(key).clone()).collect();
        let places = sorted(&order, &ascending(keys), filled.rows());
        Ok(filled.take(&places))
    }

    /// The value of metacode, over the columns of a table if there is one.
    pub(super) fn eval_code(&mut self, code: &Code, rows: Option<&Batch>) -> Result<Value> {
        let Some(rows) = rows else { return self.eval(&code.expr) };
        self.frame.rows.push(super::Rows { batch: rows.clone(), names: vec![] });
        let value = self.eval(&code.expr);
        self.frame.rows.pop();
        value
    }
}

/// One value for each group as a column; if any is a vector, all are cells of an array vector.
pub(super) fn cells(host: &mut dyn Host, cells: Vec<Value>) -> Result<Column> {
    if cells.iter().any(|cell| matches!(cell, Value::Vector(_))) {
        return array_vector(&cells);
    }
    let mut ty = Type::Void;
    for cell in &cells {
        let Value::Scalar(own, _) = cell else { return column_of(&Value::Tuple(cells), None) };
        ty = common_type(ty, *own)
            .ok_or_else(|| Diagnostic::new(format!("values of different types: types=`{ty}, {own}`")))?;
    }
    if ty == Type::Void {
        return Ok(typed(Column::nulls(ty, cells.len())));
    }
    let mut parts = vec![];
    for run in cells.chunk_by(|a, b| matches!((a, b), (Value::Scalar(a, _), Value::Scalar(b, _)) if a == b)) {
        let own = run.iter().find_map(|cell| if let Value::Scalar(ty, _) = cell { Some(*ty) } else { None });
        let scalars = run.iter().filter_map(|cell| if let Value::Scalar(_, value) = cell { Some(value) } else { None });
        let part = Column::of_scalars(own.unwrap_or(ty), scalars);
        parts.push(cast(host, &part, ty)?);
    }
    Ok(Column::concat(&parts.iter().collect::<Vec<_>>())?)
}

/// The rows of each group with equal keys, groups in the order of their keys.
pub(super) fn in_order(keys: &[Column], rows: usize) -> Vec<Vec<u32>> {
    let mut groups = groups_of(keys, rows);
    let firsts: Vec<u32> = groups.iter().map(|group| group[0]).collect();
    let first_keys: Vec<Column> = keys.iter().map(|column| column.take(&firsts)).collect();
    let order = sorted(&first_keys, &ascending(keys.len()), groups.len());
    order.iter().map(|&group| std::mem::take(&mut groups[group as usize])).collect()
}

pub(super) fn ascending(keys: usize) -> Vec<SortKey> {
    let expr = Expr { span: crate::Span::default(), kind: ExprKind::Literal(Value::NULL) };
    vec![SortKey { expr, descending: false, nulls_first: None }; keys]
}

/// The value at a time on the line between two rows.
fn between(column: &Column, stamps: &[Option<i64>], place: &Place) -> Scalar {
    let (Some(before), Some(behind)) = (place.before, place.behind) else { return Scalar::Null };
    let at = |row: u32| (stamps[row as usize], column.get(row as usize));
    let ((Some(start), low), (Some(end), high)) = (at(before), at(behind)) else { return Scalar::Null };
    let part = (place.time - start) as f64 / (end - start) as f64;
    match (low, high) {
        (Scalar::Float(low), Scalar::Float(high)) => Scalar::Float(low + (high - low) * part),
        (Scalar::Int(low), Scalar::Int(high)) => {
            Scalar::Int(low.saturating_add(((high as f64 - low as f64) * part) as i64))
        }
        _ => Scalar::Null,
    }
}
