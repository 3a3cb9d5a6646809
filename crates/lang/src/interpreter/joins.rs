//! Joins of two tables.
//!
//! Invariants:
//! - Rows come in the order of the left table, those of one left row in the order of the right one.
//! - The right table's keys are left out, as they are the left one's. Any other column that both have gets the right
//!   table's name before it.

use super::containers::{cast, given, unfit, wanted};
use super::index::{NOWHERE, take_or_null};
use super::select::groups_of;
use crate::diagnostic::Diagnostic;
use crate::function::{Function, Result};
use crate::library::{common_type, duration_in, script};
use crate::printer::column_name;
use crate::tree::{Arg, Expr, ExprKind};
use crate::value::{Args, Code, Host, Table, Value};
use data::{Batch, Column, Field, Scalar, Schema};
use std::collections::HashMap;
use std::sync::Arc;

const KEYS: &str = "leftTable, rightTable, matchingCols, [rightMatchingCols], [rightName]";

pub(crate) static FUNCTIONS: &[Function] = &[
    script(
        "ej",
        KEYS,
        "The rows of both tables with equal keys.",
        ("ej(table(1 2 as a, 3 4 as b), table(2 3 as a, 5 6 as c), `a).c", "[5]"),
        |host, args| equal(host, args, Kind::Inner),
    ),
    script(
        "lj",
        KEYS,
        "Each row of the left table with those of the right one with equal keys, or with NULLs.",
        ("lj(table(1 2 as a, 3 4 as b), table(2 3 as a, 5 6 as c), `a).c", "[,5]"),
        |host, args| equal(host, args, Kind::Left),
    ),
    script(
        "lsj",
        KEYS,
        "Each row of the left table with the first of the right one with equal keys, or with NULLs.",
        ("lsj(table(2 as a), table(2 2 as a, 5 6 as c), `a).c", "[5]"),
        |host, args| equal(host, args, Kind::First),
    ),
    script(
        "fj",
        KEYS,
        "The rows of both tables with equal keys, and those of either without one in the other, with NULLs.",
        ("fj(table(1 2 as a), table(2 3 as a, 5 6 as c), `a).c", "[,5,6]"),
        |host, args| equal(host, args, Kind::Full),
    ),
    script(
        "pj",
        KEYS,
        "The rows of both tables where the right one's last key, a text, is the start of the left one's.",
        ("pj(table(`abc`b as k), table(`ab`x as k, 1 2 as c), `k).c", "[1]"),
        |host, args| equal(host, args, Kind::Prefix),
    ),
    script(
        "cj",
        "leftTable, rightTable, [rightName]",
        "Each row of the left table with each of the right one.",
        ("size(cj(table(1 2 as a), table(3 4 5 as b)))", "6"),
        cross,
    ),
    script(
        "aj",
        KEYS,
        "Each row of the left table with the last one of the right table whose last key, such as a time, is not above \
         its own, the other keys being equal.",
        ("aj(table(1 5 as t), table(0 3 as t, 7 8 as v), `t).v", "[7,8]"),
        as_of,
    ),
    script(
        "wj",
        "leftTable, rightTable, window, aggs, matchingCols, [rightMatchingCols]",
        "Each row of the left table with metacode's values over the rows of the right one whose last key lies so far \
         from its own, both ends included, the other keys being equal.",
        ("wj(table(5 as t), table(3 4 9 as t, 7 8 9 as v), -2:0, <[sum(v)]>, `t).sum_v", "[15]"),
        |host, args| window(host, args, false),
    ),
    script(
        "pwj",
        "leftTable, rightTable, window, aggs, matchingCols, [rightMatchingCols]",
        "As `wj`; the last row before the window counts too, unless one is at its start.",
        ("pwj(table(5 as t), table(1 4 9 as t, 7 8 9 as v), -2:0, <[sum(v)]>, `t).sum_v", "[15]"),
        |host, args| window(host, args, true),
    ),
];

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Inner,
    Left,
    First,
    Full,
    Prefix,
}

/// Is it a function that joins tables and may name the right one?
pub(super) fn is_join(name: &str) -> bool {
    FUNCTIONS.iter().any(|function| function.name == name && function.parameters.ends_with("[rightName]"))
}

/// Notes the name of the right table where it is a variable.
pub(super) fn note_right(args: &mut Args, exprs: &[Arg]) {
    let right = exprs.get(1).and_then(|arg| arg.value.as_ref());
    if let Some(Expr { kind: ExprKind::Name(name), span }) = right
        && args.named.iter().all(|(known, _)| &**known != "rightName")
    {
        args.named.push(("rightName".into(), Value::text(name)));
        args.spans.push(*span);
    }
}

/// The names of the variables that a table comes from: that of the table, or those of the tables it joins.
pub(super) fn names_of(table: &Expr) -> Vec<Arc<str>> {
    match &table.kind {
        ExprKind::Name(name) | ExprKind::Member(_, name) => vec![name.clone()],
        ExprKind::Call(callee, args) if matches!(&callee.kind, ExprKind::Name(name) if FUNCTIONS.iter().any(|join| join.name == &**name)) =>
        {
            let name = |arg: &Arg| match arg.value.as_ref().map(|value| &value.kind) {
                Some(ExprKind::Name(name)) => Some(name.clone()),
                _ => None,
            };
            args.iter().take(2).map_while(name).collect()
        }
        _ => vec![],
    }
}

/// Two tables and the columns that are compared.
struct Sides {
    left: Batch,
    right: Batch,
    left_keys: Vec<usize>,
    right_keys: Vec<usize>,
    right_name: Arc<str>,
}

fn table(args: &Args, place: usize, name: &str) -> Result<Batch> {
    match wanted(args, place, name)? {
        Value::Table(table) => Ok(table.batch()),
        other => Err(Diagnostic::new(format!("a table is wanted: parameter=`{name}`, found=`{}`", other.kind()))),
    }
}

fn sides(args: &Args, keys_at: usize) -> Result<Sides> {
    let (left, right) = (table(args, 0, "leftTable")?, table(args, 1, "rightTable")?);
    let names = |value: &Value, name: &str| {
        value.names().ok_or_else(|| Diagnostic::new(format!("names of columns are wanted: parameter=`{name}`")))
    };
    let left_names = names(wanted(args, keys_at, "matchingCols")?, "matchingCols")?;
    let right_names = match given(args, keys_at + 1, "rightMatchingCols") {
        Some(value) => names(value, "rightMatchingCols")?,
        None => left_names.clone(),
    };
    if left_names.len() != right_names.len() || left_names.is_empty() {
        let (left, right) = (left_names.len(), right_names.len());
        return Err(Diagnostic::new(format!("as many keys of both tables are wanted: left=`{left}`, right=`{right}`")));
    }
    let places = |batch: &Batch, names: &[Arc<str>], side: &str| {
        let place = |name: &Arc<str>| {
            batch.schema().index_of(name).ok_or_else(|| {
                let known = batch.schema().names();
                let error = Diagnostic::new(format!("unknown column: column=`{name}`, table=`{side}`"));
                error.suggest(name, known.iter().map(String::as_str))
            })
        };
        names.iter().map(place).collect::<Result<Vec<usize>>>()
    };
    let right_name = given(args, keys_at + 2, "rightName").and_then(Value::as_text).unwrap_or("right").into();
    let (left_keys, right_keys) = (places(&left, &left_names, "left")?, places(&right, &right_names, "right")?);
    Ok(Sides { left, right, left_keys, right_keys, right_name })
}

impl Sides {
    /// The first `count` keys of both tables, in types that can be compared.
    fn keys(&self, host: &mut dyn Host, count: usize) -> Result<(Vec<Column>, Vec<Column>)> {
        let mut keys = (vec![], vec![]);
        for (&left, &right) in self.left_keys.iter().zip(&self.right_keys).take(count) {
            let (a, b) = (self.left.column(left), self.right.column(right));
            let ty = common_type(a.ty(), b.ty()).ok_or_else(|| {
                let name = &self.left.schema().fields()[left].name;
                let types = format!("left=`{}`, right=`{}`", a.ty(), b.ty());
                Diagnostic::new(format!("keys of different types: column=`{name}`, {types}"))
            })?;
            keys.0.push(cast(host, a, ty)?);
            keys.1.push(cast(host, b, ty)?);
        }
        Ok(keys)
    }

    /// The joined rows: pairs of places, [`NOWHERE`] for NULLs.
    fn rows(&self, host: &mut dyn Host, pairs: &[(u32, u32)], left_out: &[usize]) -> Result<Value> {
        let columns = self.left.columns().len() + self.right.columns().len();
        host.reserve(pairs.len().saturating_mul(columns).saturating_mul(size_of::<i64>()))?;
        let (lefts, rights): (Vec<u32>, Vec<u32>) = pairs.iter().copied().unzip();
        let mut fields: Vec<Field> = self.left.schema().fields().to_vec();
        let mut made =
            self.left.columns().iter().map(|column| take_or_null(column, &lefts)).collect::<Result<Vec<_>>>()?;
        for (place, field) in self.right.schema().fields().iter().enumerate() {
            if left_out.contains(&place) {
                continue;
            }
            let twice = fields.iter().any(|known| known.name == field.name);
            let name = if twice { format!("{}_{}", self.right_name, field.name).into() } else { field.name.clone() };
            fields.push(Field::new(name, field.ty));
            made.push(take_or_null(self.right.column(place), &rights)?);
        }
        Ok(Value::Table(Table::new(Batch::new(Arc::new(Schema::new(fields)?), made)?)))
    }
}

/// Rows by the hash of their keys.
fn by_hash(keys: &[Column], rows: usize) -> HashMap<Vec<u64>, Vec<u32>> {
    let mut places: HashMap<Vec<u64>, Vec<u32>> = HashMap::new();
    for (row, hash) in hashes(keys, rows).into_iter().enumerate() {
        places.entry(hash).or_default().push(row as u32);
    }
    places
}

fn hashes(keys: &[Column], rows: usize) -> Vec<Vec<u64>> {
    let hashes: Vec<Vec<u64>> = keys.iter().map(Column::stable_hashes).collect();
    (0..rows).map(|row| hashes.iter().map(|hashes| hashes[row]).collect()).collect()
}

fn same(left: &[Column], right: &[Column], a: usize, b: usize) -> bool {
    left.iter().zip(right).all(|(left, right)| left.get(a) == right.get(b))
}

fn equal(host: &mut dyn Host, args: &Args, kind: Kind) -> Result<Value> {
    let sides = sides(args, 2)?;
    let compared = sides.left_keys.len() - (kind == Kind::Prefix) as usize;
    let (left, right) = sides.keys(host, compared)?;
    let starts = match kind {
        Kind::Prefix => {
            let text = |batch: &Batch, keys: &[usize]| {
                let column = batch.column(keys[compared]);
                column.to_strings().ok_or_else(|| {
                    Diagnostic::new(format!("a key of texts is wanted: function=`pj`, type=`{}`", column.ty()))
                })
            };
            Some((text(&sides.left, &sides.left_keys)?, text(&sides.right, &sides.right_keys)?))
        }
        _ => None,
    };
    let places = by_hash(&right, sides.right.rows());
    let (mut pairs, mut met) = (vec![], vec![false; sides.right.rows()]);
    for (row, hash) in hashes(&left, sides.left.rows()).into_iter().enumerate() {
        let before = pairs.len();
        for &other in places.get(&hash).map_or(&[][..], Vec::as_slice) {
            let fits = same(&left, &right, row, other as usize)
                && starts.as_ref().is_none_or(|(texts, starts)| {
                    let start = |column: &Column, row: usize| match column.get(row) {
                        Scalar::Text(text) => text,
                        _ => "".into(),
                    };
                    start(texts, row).starts_with(&*start(starts, other as usize))
                });
            if fits {
                met[other as usize] = true;
                pairs.push((row as u32, other));
                if kind == Kind::First {
                    break;
                }
            }
        }
        if pairs.len() == before && !matches!(kind, Kind::Inner | Kind::Prefix) {
            pairs.push((row as u32, NOWHERE));
        }
        if row % 1024 == 0 {
            // So many rows of two numbers each at most are made between two looks at the limits.
            host.reserve((pairs.len() - before) * size_of::<(u32, u32)>())?;
        }
    }
    if kind == Kind::Full {
        pairs.extend((0..sides.right.rows() as u32).filter(|&row| !met[row as usize]).map(|row| (NOWHERE, row)));
    }
    let left_out = match kind {
        Kind::Full => vec![],
        Kind::Prefix => sides.right_keys[..compared].to_vec(),
        _ => sides.right_keys.clone(),
    };
    sides.rows(host, &pairs, &left_out)
}

fn cross(host: &mut dyn Host, args: &Args) -> Result<Value> {
    let (left, right) = (table(args, 0, "leftTable")?, table(args, 1, "rightTable")?);
    let right_name = given(args, 2, "rightName").and_then(Value::as_text).unwrap_or("right").into();
    let (lefts, rights) = (left.rows() as u32, right.rows() as u32);
    let columns = left.columns().len() + right.columns().len() + 2;
    let rows = (lefts as usize).saturating_mul(rights as usize);
    host.reserve(rows.saturating_mul(columns).saturating_mul(size_of::<i64>()))?;
    let pairs: Vec<(u32, u32)> = (0..lefts).flat_map(|a| (0..rights).map(move |b| (a, b))).collect();
    Sides { left, right, left_keys: vec![], right_keys: vec![], right_name }.rows(host, &pairs, &[])
}

/// Whole numbers, `None` for NULL.
type Wholes = Vec<Option<i64>>;

/// The values of the last keys as whole numbers, which are in order if they are times or numbers.
fn last_keys(host: &mut dyn Host, sides: &Sides) -> Result<(Wholes, Wholes)> {
    let count = sides.left_keys.len();
    let (left, right) = sides.keys(host, count)?;
    let wholes = |column: &Column| {
        let ty = column.ty();
        if !(ty.is_integer() || ty.is_temporal()) {
            return Err(Diagnostic::new(format!("the last key must be a time or a whole number: type=`{ty}`")));
        }
        Ok((0..column.len()).map(|row| column.get(row).as_i64()).collect())
    };
    Ok((wholes(&left[count - 1])?, wholes(&right[count - 1])?))
}

/// The rows of the right table with the same first keys as a row of the left one, in the order of the last key.
struct Candidates {
    left: Vec<Column>,
    right: Vec<Column>,
    hashes: Vec<Vec<u64>>,
    /// Groups of rows with equal keys, by the hash of these.
    groups: HashMap<Vec<u64>, Vec<Vec<u32>>>,
}

impl Candidates {
    fn new(host: &mut dyn Host, sides: &Sides, last: &[Option<i64>]) -> Result<Candidates> {
        let (left, right) = sides.keys(host, sides.left_keys.len() - 1)?;
        let mut groups: HashMap<Vec<u64>, Vec<Vec<u32>>> = HashMap::new();
        let rows = sides.right.rows();
        let own = hashes(&right, rows);
        for mut group in groups_of(&right, rows) {
            group.sort_by_key(|&row| last[row as usize]);
            groups.entry(own[group[0] as usize].clone()).or_default().push(group);
        }
        Ok(Candidates { hashes: hashes(&left, sides.left.rows()), left, right, groups })
    }

    fn of(&self, row: usize) -> &[u32] {
        let groups = self.groups.get(&self.hashes[row]).map_or(&[][..], Vec::as_slice);
        let fits = |group: &&Vec<u32>| same(&self.left, &self.right, row, group[0] as usize);
        groups.iter().find(fits).map_or(&[], Vec::as_slice)
    }
}

fn as_of(host: &mut dyn Host, args: &Args) -> Result<Value> {
    let sides = sides(args, 2)?;
    let (left, right) = last_keys(host, &sides)?;
    let candidates = Candidates::new(host, &sides, &right)?;
    let mut pairs = vec![];
    for (row, time) in left.iter().enumerate() {
        let rows = candidates.of(row);
        let last = rows[..rows.partition_point(|&other| right[other as usize] <= *time)].last();
        let last = last.filter(|&&other| right[other as usize].is_some()).copied();
        pairs.push((row as u32, last.unwrap_or(NOWHERE)));
    }
    // The right table's time tells how old its values are.
    let equal = &sides.right_keys[..sides.right_keys.len() - 1];
    sides.rows(host, &pairs, equal)
}

fn window(host: &mut dyn Host, args: &Args, prevailing: bool) -> Result<Value> {
    let sides = sides(args, 4)?;
    let ty = sides.left.column(sides.left_keys[sides.left_keys.len() - 1]).ty();
    let Value::Pair(low, high) = wanted(args, 2, "window")? else {
        return Err(Diagnostic::new("a pair is wanted: parameter=`window`"));
    };
    let bound = |value: &Value| match value {
        Value::Duration(count, unit) => duration_in(ty, *count, unit),
        value => value.as_i64(),
    };
    let (Some(low), Some(high)) = (bound(low), bound(high)) else {
        return Err(Diagnostic::new("a pair of whole numbers or durations is wanted: parameter=`window`"));
    };
    let aggregates: Vec<Code> = match wanted(args, 3, "aggs")? {
        Value::Code(code) => vec![code.clone()],
        Value::Tuple(values) if values.iter().all(|value| matches!(value, Value::Code(_))) => values
            .iter()
            .filter_map(|value| if let Value::Code(code) = value { Some(code.clone()) } else { None })
            .collect(),
        other => return Err(unfit("wj", other)),
    };
    let (left, right) = last_keys(host, &sides)?;
    let candidates = Candidates::new(host, &sides, &right)?;
    let mut results: Vec<Vec<Value>> = vec![vec![]; aggregates.len()];
    for (row, time) in left.iter().enumerate() {
        let rows = candidates.of(row);
        let rows = match time {
            Some(time) => {
                let (start, end) = (time.saturating_add(low), time.saturating_add(high));
                let mut from = rows.partition_point(|&other| right[other as usize].is_none_or(|at| at < start));
                let to = rows.partition_point(|&other| right[other as usize].is_none_or(|at| at <= end)).max(from);
                let at_start = rows.get(from).is_some_and(|&other| right[other as usize] == Some(start));
                if prevailing && !at_start && from > 0 && right[rows[from - 1] as usize].is_some() {
                    from -= 1;
                }
                &rows[from..to]
            }
            None => &[],
        };
        let part = sides.right.take(rows);
        for (code, results) in aggregates.iter().zip(&mut results) {
            results.push(host.eval_over(code, Some(&part))?);
        }
    }
    let mut fields = sides.left.schema().fields().to_vec();
    let mut columns = sides.left.columns().to_vec();
    for (code, values) in aggregates.iter().zip(results) {
        let name = code.names.first().cloned().unwrap_or_else(|| column_name(&code.expr).into());
        let column = match Value::vector(values) {
            Value::Vector(column) => super::containers::typed(column),
            other => super::containers::column_of(&other, Some(sides.left.rows()))?,
        };
        fields.push(Field::new(name, column.ty()));
        columns.push(column);
    }
    Ok(Value::Table(Table::new(Batch::new(Arc::new(Schema::new(fields)?), columns)?)))
}
