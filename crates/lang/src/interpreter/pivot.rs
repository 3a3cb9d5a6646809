//! Keys spread into columns, and columns gathered into rows: `pivot by`, `pivot` and `unpivot`.

use super::Interpreter;
use super::by_groups::Parts;
use super::containers::{cast, column_of, given, typed, unfit, wanted};
use super::grouped::in_order;
use crate::diagnostic::Diagnostic;
use crate::function::{Function, Result};
use crate::library::{common_type, script};
use crate::matrix::Matrix;
use crate::tree::Select;
use crate::value::{Args, Host, Table, Value};
use data::{Batch, Column, Field, Schema, Type};
use std::sync::Arc;

pub(crate) static FUNCTIONS: &[Function] = &[
    script(
        "pivot",
        "func, funcArgs, rowAlignCol, colAlignCol",
        "The function of the rows with each pair of values of two columns, as a matrix: a row for each value of \
         `rowAlignCol`, a column for each of `colAlignCol`, in order and as labels. Several arguments stand in a tuple.",
        ("flatten(pivot(sum, 1 2 3 4, `b`a`b`b, `x`x`y`y))", "[2,1,,7]"),
        pivot,
    ),
    script(
        "unpivot",
        "obj, keyColNames, valueColNames, [func]",
        "A table with a row for each value of some columns: the keys of its row, the name of its column as `valueType` \
         (or the function of the name) and the `value`. NULL for no keys.",
        ("unpivot(table(1 2 as id, 3 4 as a, 5 6 as b), `id, `a`b).value", "[3,4,5,6]"),
        unpivot,
    ),
];

/// Rows by two keys: which stand in one cell, and the place of each cell.
struct Cells {
    /// The rows of each value of the first key, in order.
    by_row: Vec<Vec<u32>>,
    /// The rows of each value of the second key, in order.
    by_column: Vec<Vec<u32>>,
    /// The rows of each cell that has some.
    groups: Vec<Vec<u32>>,
}

impl Cells {
    fn of(row_keys: &[Column], spread: &Column, rows: usize) -> Cells {
        let keys: Vec<Column> = row_keys.iter().chain([spread]).cloned().collect();
        let by_column = in_order(std::slice::from_ref(spread), rows);
        Cells { by_row: in_order(row_keys, rows), by_column, groups: in_order(&keys, rows) }
    }

    /// The values of cells, one for each group, as columns; NULL where there is none.
    fn columns(&self, values: &Column, rows: usize) -> Result<Vec<Column>> {
        let places_of = |groups: &[Vec<u32>]| {
            let mut places = vec![0; rows];
            for (place, group) in groups.iter().enumerate() {
                group.iter().for_each(|&row| places[row as usize] = place);
            }
            places
        };
        let (row_place, column_place) = (places_of(&self.by_row), places_of(&self.by_column));
        let mut from = vec![vec![(1, 0); self.by_row.len()]; self.by_column.len()];
        for (index, cell) in self.groups.iter().enumerate() {
            let first = cell[0] as usize;
            from[column_place[first]][row_place[first]] = (0, index);
        }
        let null = Column::nulls(values.ty(), 1);
        from.iter().map(|from| Ok(Column::interleave(&[values, &null], from)?)).collect()
    }

    /// How many bytes the columns of one value take while they are made.
    fn bytes(&self) -> usize {
        let each = size_of::<(usize, usize)>() + size_of::<i64>();
        self.by_row.len().saturating_mul(self.by_column.len()).saturating_mul(each)
    }

    fn firsts(groups: &[Vec<u32>]) -> Vec<u32> {
        groups.iter().map(|group| group[0]).collect()
    }
}

impl Interpreter<'_> {
    /// `pivot by`: a row for each value of the keys but the last, a column for each value of the last; and the values
    /// of the last.
    pub(super) fn pivoted(&mut self, select: &Select, rows: &Batch) -> Result<(Batch, Column)> {
        let keys = self.key_columns(&select.pivot, select, rows)?;
        let [row_keys @ .., (_, spread)] = &keys[..] else {
            return Err(Diagnostic::new("`pivot by` needs a key for rows and one for columns"));
        };
        if row_keys.is_empty() {
            let span = select.pivot[0].expr.span;
            return Err(Diagnostic::at(span, "`pivot by` needs a key for rows and one for columns"));
        }
        let row_columns: Vec<Column> = row_keys.iter().map(|(_, column)| column.clone()).collect();
        let cells = Cells::of(&row_columns, spread, rows.rows());
        let values = match select.items.is_empty() {
            true => return Err(Diagnostic::at(select.from.span, "`pivot by` needs a value: `select *` has several")),
            false => {
                let all = self.over(rows, &select.from, |this| this.item_values(&select.items, rows));
                let one_each = |value: &Value| matches!(value, Value::Vector(column) if column.len() == rows.rows());
                match all {
                    // Values of rows: the last one of each group counts.
                    Ok(all) if all.iter().all(|(_, value)| one_each(value)) => {
                        let lasts: Vec<u32> = cells.groups.iter().map(|group| group[group.len() - 1]).collect();
                        let last = |(name, value)| Ok((name, column_of(&value, None)?.take(&lasts)));
                        all.into_iter().map(last).collect::<Result<Vec<_>>>()?
                    }
                    _ => self.of_groups(select, Some(&select.items), rows, &cells.groups)?.1,
                }
            }
        };
        let firsts = Cells::firsts(&cells.by_row);
        let mut fields: Vec<Field> =
            row_keys.iter().map(|(name, column)| Field::new(name.clone(), column.ty())).collect();
        let mut columns: Vec<Column> = row_columns.iter().map(|column| column.take(&firsts)).collect();
        let several = values.len() > 1;
        self.make(cells.bytes().saturating_mul(values.len()))?;
        let labels = spread.take(&Cells::firsts(&cells.by_column));
        for (name, column) in values {
            for (place, column) in cells.columns(&column, rows.rows())?.into_iter().enumerate() {
                let key = Value::of_row(&labels, place).show();
                let key = if key.is_empty() { "NULL".to_string() } else { key };
                let field = if several { format!("{name}_{key}") } else { key };
                fields.push(Field::new(field, column.ty()));
                columns.push(column);
            }
        }
        Ok((Batch::new(Arc::new(Schema::new(fields)?), columns)?, labels))
    }
}

/// What `exec` gives of a pivot: the cells as a matrix, with the keys as labels.
pub(super) fn executed(keys: usize, result: &Batch, labels: Column) -> Result<Value> {
    let row_labels = match keys {
        2 => Some(result.column(0).clone()),
        _ => None,
    };
    let columns = &result.columns()[keys - 1..];
    let labels = match columns.len() == labels.len() {
        true => labels,
        // Several values: a column is named by its value and its key.
        false => Column::of_texts(result.schema().fields()[keys - 1..].iter().map(|field| Some(&*field.name))),
    };
    let matrix = match columns.is_empty() {
        true => Matrix::new(Type::Void, result.rows(), vec![]),
        false => super::matrix::of_columns("exec", columns.to_vec())?,
    };
    Ok(Value::Matrix(Arc::new(matrix.with_labels(row_labels, Some(labels))?)))
}

fn pivot(host: &mut dyn Host, args: &Args) -> Result<Value> {
    let (function, arguments) = (wanted(args, 0, "func")?, wanted(args, 1, "funcArgs")?);
    let keys = [wanted(args, 2, "rowAlignCol")?.clone(), wanted(args, 3, "colAlignCol")?.clone()];
    let parts = Parts::of("pivot", arguments, &keys)?;
    let [row_key, spread] = &parts.keys[..] else {
        let found = parts.keys.len();
        return Err(Diagnostic::new(format!("a column for rows and one for columns are wanted: columns=`{found}`")));
    };
    let cells = Cells::of(std::slice::from_ref(row_key), spread, parts.rows);
    host.reserve(cells.bytes())?;
    let values = parts.of_groups(host, function, &cells.groups)?;
    if values.ty().element().is_some() {
        return Err(Diagnostic::new("one value for each cell is wanted: function=`pivot`")
            .help("give a function that gives a scalar, such as last"));
    }
    let columns = cells.columns(&values, parts.rows)?;
    let matrix = Matrix::new(values.ty(), cells.by_row.len(), columns);
    let row_labels = row_key.take(&Cells::firsts(&cells.by_row));
    let labels = spread.take(&Cells::firsts(&cells.by_column));
    Ok(Value::Matrix(Arc::new(matrix.with_labels(Some(row_labels), Some(labels))?)))
}

fn unpivot(host: &mut dyn Host, args: &Args) -> Result<Value> {
    let Value::Table(table) = wanted(args, 0, "obj")? else { return Err(unfit("unpivot", wanted(args, 0, "obj")?)) };
    let batch = table.batch();
    let places = |place: usize, name: &str| -> Result<Vec<usize>> {
        let value = wanted(args, place, name)?;
        if value.is_null() {
            return Ok(vec![]);
        }
        let names = super::values::names_of(value, name)?;
        super::values::places(batch.schema().fields(), &names)
    };
    let (keys, values) = (places(1, "keyColNames")?, places(2, "valueColNames")?);
    if values.is_empty() {
        return Err(Diagnostic::new("columns of values are wanted: parameter=`valueColNames`"));
    }
    let rows = batch.rows();
    let bytes = batch.columns().iter().map(Column::bytes).sum::<usize>();
    host.reserve(bytes.saturating_add(rows * size_of::<i64>()).saturating_mul(values.len()))?;
    let types = || values.iter().map(|&place| batch.column(place).ty());
    let ty = types().try_fold(Type::Void, common_type).ok_or_else(|| {
        let types = types().map(|ty| ty.to_string()).collect::<Vec<_>>().join(", ");
        Diagnostic::new(format!("columns of one kind are wanted: function=`unpivot`, types=`{types}`"))
    })?;
    let all: Vec<u32> = (0..values.len()).flat_map(|_| 0..rows as u32).collect();
    let of_column: Vec<u32> = (0..values.len() as u32).flat_map(|place| std::iter::repeat_n(place, rows)).collect();
    let names = Column::of_texts(values.iter().map(|&place| Some(&*batch.schema().fields()[place].name)));
    let names = match given(args, 3, "func") {
        Some(function) => typed(column_of(&host.apply(function, vec![Value::Vector(names)])?, Some(values.len()))?),
        None => names,
    };
    let parts = values.iter().map(|&place| cast(host, batch.column(place), ty)).collect::<Result<Vec<_>>>()?;
    let mut fields: Vec<Field> = keys.iter().map(|&place| batch.schema().fields()[place].clone()).collect();
    fields.extend([Field::new("valueType", names.ty()), Field::new("value", ty)]);
    let mut columns: Vec<Column> = keys.iter().map(|&place| batch.column(place).take(&all)).collect();
    columns.push(names.take(&of_column));
    columns.push(Column::concat(&parts.iter().collect::<Vec<_>>())?);
    Ok(Value::Table(Table::new(Batch::new(Arc::new(Schema::new(fields)?), columns)?)))
}
