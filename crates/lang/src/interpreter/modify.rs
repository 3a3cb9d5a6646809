//! `insert`, `update` and `delete` on tables in memory.

use super::containers::{append_rows, cast, column_of, typed};
use super::{Interpreter, Rows};
use crate::diagnostic::Diagnostic;
use crate::function::Result;
use crate::tree::{Expr, Update};
use crate::value::{Args, Table, Value};
use data::{Batch, Column, Field, Schema};
use std::sync::Arc;

impl Interpreter<'_> {
    /// A table that can be changed.
    fn table_of(&mut self, expr: &Expr) -> Result<Table> {
        match self.eval(expr)? {
            Value::Table(table) => Ok(table),
            other => {
                Err(Diagnostic::at(expr.span, format!("not a table that can be changed: found=`{}`", other.kind())))
            }
        }
    }

    pub(super) fn insert(&mut self, table: &Expr, columns: &[Arc<str>], values: &[Expr]) -> Result<()> {
        let target = self.eval(table)?;
        let mut new = vec![];
        for value in values {
            new.push(self.eval(value)?);
        }
        let table = match &target {
            Value::Table(table) => table,
            // A table of the host's own takes the values as its method does.
            Value::Object(object) => {
                let args = Args { values: vec![Some(Value::Tuple(new))], span: table.span, ..Args::default() };
                return match self.host.method(object, "append!", &args) {
                    Some(result) => result.map(|_| ()),
                    None => Err(Diagnostic::at(table.span, format!("not a table: found=`{}`", object.class()))),
                };
            }
            other => return Err(Diagnostic::at(table.span, format!("not a table: found=`{}`", other.kind()))),
        };
        if !columns.is_empty() {
            let rows = table.batch();
            let mut by_place = vec![Value::NULL; rows.schema().len()];
            if columns.len() != new.len() {
                let (columns, values) = (columns.len(), new.len());
                return Err(Diagnostic::new(format!(
                    "not as many values as columns: columns=`{columns}`, values=`{values}`"
                )));
            }
            for (column, value) in columns.iter().zip(new) {
                by_place[index_of(rows.schema(), column)?] = value;
            }
            new = by_place;
        }
        append_rows(self, table, &new)?;
        Ok(())
    }

    pub(super) fn update(&mut self, update: &Update) -> Result<()> {
        let table = self.table_of(&update.table)?;
        let rows = table.batch();
        let chosen = self.filtered(&rows, &update.table, &update.filter)?;
        let groups = match update.context.is_empty() {
            true => vec![chosen.clone()],
            false => {
                let keys = self.over(&rows.take(&chosen), &update.table, |this| {
                    update
                        .context
                        .iter()
                        .map(|key| column_of(&this.eval(key)?, Some(chosen.len())))
                        .collect::<Result<Vec<_>>>()
                })?;
                let groups = super::select::groups_of(&keys, chosen.len());
                groups.into_iter().map(|group| group.into_iter().map(|row| chosen[row as usize]).collect()).collect()
            }
        };
        let mut fields = rows.schema().fields().to_vec();
        let mut columns = rows.columns().to_vec();
        for (name, value) in &update.set {
            let mut new: Option<Column> = None;
            let mut places: Vec<(usize, usize)> = (0..rows.rows()).map(|row| (0, row)).collect();
            let known = rows.schema().index_of(name);
            let mut parts: Vec<Column> = vec![];
            for group in &groups {
                let value = self.over(&rows.take(group), &update.table, |this| this.eval(value))?;
                let part = typed(column_of(&value, Some(group.len())).map_err(|error| error.or_at(update.table.span))?);
                let ty = known.map_or_else(|| new.as_ref().map_or(part.ty(), Column::ty), |index| fields[index].ty);
                let part = cast(self, &part, ty)?;
                for (source, &row) in group.iter().enumerate() {
                    places[row as usize] = (parts.len() + 1, source);
                }
                new.get_or_insert_with(|| part.clone());
                parts.push(part);
            }
            let ty = new.as_ref().map(Column::ty);
            let before = match (known, ty) {
                (Some(index), _) => columns[index].clone(),
                (None, Some(ty)) => Column::nulls(ty, rows.rows()),
                // No row is chosen: there is no value to take the type of.
                (None, None) => return Err(Diagnostic::new(format!("unknown column: column=`{name}`"))),
            };
            let mut sources = vec![&before];
            sources.extend(&parts);
            let column = Column::interleave(&sources, &places)?;
            match known {
                Some(index) => columns[index] = column,
                None => {
                    fields.push(Field::new(name.clone(), column.ty()));
                    columns.push(column);
                }
            }
        }
        table.set(Batch::new(Arc::new(Schema::new(fields)?), columns)?)?;
        Ok(())
    }

    pub(super) fn delete(&mut self, table: &Expr, filter: &[Expr]) -> Result<()> {
        let target = self.table_of(table)?;
        let rows = target.batch();
        let mut kept = vec![true; rows.rows()];
        for row in self.filtered(&rows, table, filter)? {
            kept[row as usize] = false;
        }
        let kept: Vec<u32> = (0..rows.rows() as u32).filter(|&row| kept[row as usize]).collect();
        target.set(rows.take(&kept))?;
        Ok(())
    }

    /// Does something with the columns of a table in sight.
    pub(super) fn over<T>(
        &mut self,
        batch: &Batch,
        table: &Expr,
        work: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.frame.rows.push(Rows { batch: batch.clone(), names: super::joins::names_of(table) });
        let result = work(self);
        self.frame.rows.pop();
        result
    }

    /// The rows that meet all conditions, each condition seeing only what those before it left.
    pub(super) fn filtered(&mut self, rows: &Batch, table: &Expr, filter: &[Expr]) -> Result<Vec<u32>> {
        let mut chosen: Vec<u32> = (0..rows.rows() as u32).collect();
        let mut left = rows.clone();
        for condition in filter {
            let truth = self.over(&left, table, |this| this.eval(condition))?;
            let truth = column_of(&truth, Some(chosen.len()))
                .and_then(|column| crate::library::truths(&column).map(|truths| (truths, column)))
                .map_err(|error| error.or_at(condition.span))?;
            let (truths, column) = truth;
            let met: Vec<u32> = (0..chosen.len())
                .filter(|&row| !column.is_null(row) && truths.value(row))
                .map(|row| row as u32)
                .collect();
            chosen = met.iter().map(|&row| chosen[row as usize]).collect();
            left = left.take(&met);
        }
        Ok(chosen)
    }
}

fn index_of(schema: &Schema, column: &str) -> Result<usize> {
    schema.index_of(column).ok_or_else(|| {
        let known = schema.names();
        let error = Diagnostic::new(format!("unknown column: column=`{column}`"));
        error.suggest(column, known.iter().map(String::as_str))
    })
}
