//! Arguments as the values an engine asks for: numbers, lengths of time, columns, metrics.
//!
//! Each reader notes what is wrong and gives what it can, so that one call of `bind` reports every error.

use crate::arguments::Arguments;
use crate::duration::{in_unit, unit_name};
use data::{Scalar, Schema, Type};
use lang::{Diagnostic, Metric, Value};
use std::sync::Arc;

/// What kind of value it is, for errors.
pub(crate) fn kind_of(value: &Value) -> String {
    match value {
        Value::Scalar(ty, _) => ty.to_string(),
        Value::Duration(..) => "DURATION".into(),
        Value::Vector(column) => format!("vector of {}", column.ty()),
        Value::Tuple(_) => "tuple".into(),
        Value::Matrix(_) => "matrix".into(),
        Value::Pair(..) => "pair".into(),
        Value::Dict(_) => "dictionary".into(),
        Value::Table(_) => "table".into(),
        Value::Type(_) => "type".into(),
        Value::Builtin(_) | Value::Function(_) => "function".into(),
        Value::Code(_) => "metacode".into(),
        Value::Object(object) => object.class().into(),
    }
}

/// The values of a vector or tuple; a value that is neither stands alone.
pub(crate) fn elements(value: &Value) -> Vec<Value> {
    match value {
        Value::Tuple(values) => values.clone(),
        Value::Vector(column) => (0..column.len()).map(|row| Value::Scalar(column.ty(), column.get(row))).collect(),
        other => vec![other.clone()],
    }
}

impl Arguments {
    fn wrong(&self, name: &str, wanted: &str, given: &Value, errors: &mut Vec<Diagnostic>) {
        errors.push(self.error(name, format!("must be {wanted}, given=`{}`", kind_of(given))));
    }

    /// A truth value.
    pub fn boolean(&self, name: &str, default: bool, errors: &mut Vec<Diagnostic>) -> bool {
        match self.get(name) {
            None => default,
            Some(Value::Scalar(Type::Bool, Scalar::Bool(value))) => *value,
            Some(Value::Scalar(ty, Scalar::Int(value))) if ty.is_integer() => *value != 0,
            Some(other) => {
                self.wrong(name, "true or false", other, errors);
                default
            }
        }
    }

    /// A whole number.
    pub fn integer(&self, name: &str, errors: &mut Vec<Diagnostic>) -> Option<i64> {
        match self.get(name)? {
            Value::Scalar(ty, Scalar::Int(value)) if ty.is_integer() => Some(*value),
            other => {
                self.wrong(name, "an integer", other, errors);
                None
            }
        }
    }

    /// A whole number within bounds.
    pub fn integer_within(&self, name: &str, least: i64, most: i64, errors: &mut Vec<Diagnostic>) -> Option<i64> {
        let value = self.integer(name, errors)?;
        if !(least..=most).contains(&value) {
            let bounds = match most {
                i64::MAX => format!("at least {least}"),
                _ => format!("from {least} to {most}"),
            };
            errors.push(self.error(name, format!("must be {bounds}, given=`{value}`")));
            return None;
        }
        Some(value)
    }

    /// A text.
    pub fn text(&self, name: &str, errors: &mut Vec<Diagnostic>) -> Option<Arc<str>> {
        match self.get(name)? {
            Value::Scalar(ty, Scalar::Text(text)) if ty.is_text() => Some(text.clone()),
            other => {
                self.wrong(name, "a text", other, errors);
                None
            }
        }
    }

    /// Columns of a table, named by one text or a vector of texts.
    pub fn columns(&self, name: &str, schema: &Schema, errors: &mut Vec<Diagnostic>) -> Vec<usize> {
        let Some(value) = self.get(name) else { return vec![] };
        let mut columns = vec![];
        for element in elements(value) {
            let Value::Scalar(ty, Scalar::Text(column)) = &element else {
                self.wrong(name, "a column name or a vector of them", value, errors);
                break;
            };
            if !ty.is_text() {
                self.wrong(name, "a column name or a vector of them", value, errors);
                break;
            }
            match schema.index_of(column) {
                Some(index) if columns.contains(&index) => {
                    errors.push(self.error(name, format!("names a column twice: column=`{column}`")));
                }
                Some(index) => columns.push(index),
                None => errors.push(self.unknown_column(name, column, schema)),
            }
        }
        columns
    }

    /// The error for a column that the input does not have.
    pub fn unknown_column(&self, name: &str, column: &str, schema: &Schema) -> Diagnostic {
        let names = schema.names();
        let error =
            self.error(name, format!("names an unknown column: column=`{column}`, known=`{}`", names.join(", ")));
        error.suggest(column, names.iter().map(String::as_str))
    }

    /// A length of time in the unit of a time type: a whole number or a DURATION.
    pub fn length(&self, name: &str, unit: Type, errors: &mut Vec<Diagnostic>) -> Option<i64> {
        self.length_of(name, self.get(name)?, unit, errors)
    }

    /// One length of time of an argument that may hold several.
    pub fn length_of(&self, name: &str, value: &Value, unit: Type, errors: &mut Vec<Diagnostic>) -> Option<i64> {
        match value {
            Value::Scalar(ty, Scalar::Int(length)) if ty.is_integer() => Some(*length),
            Value::Duration(count, letter) => {
                let length = in_unit(*count, letter, unit);
                if length.is_none() {
                    let units = unit_name(unit);
                    let message = format!(
                        "must be a whole number of {units}, the unit of the time column, given=`{count}{letter}`"
                    );
                    errors.push(self.error(name, message));
                }
                length
            }
            other => {
                self.wrong(name, "an integer or a DURATION", other, errors);
                None
            }
        }
    }

    /// Lengths of time: one, or a vector of them.
    pub fn lengths(&self, name: &str, unit: Type, errors: &mut Vec<Diagnostic>) -> Vec<i64> {
        let Some(value) = self.get(name) else { return vec![] };
        elements(value).iter().filter_map(|element| self.length_of(name, element, unit, errors)).collect()
    }

    /// Metrics: metacode or a tuple of metacode, however nested.
    pub fn metrics(&self, name: &str, errors: &mut Vec<Diagnostic>) -> Vec<Metric> {
        let mut metrics = vec![];
        if let Some(value) = self.get(name) {
            self.gather_metrics(name, value, &mut metrics, errors);
            if metrics.is_empty() && errors.is_empty() {
                errors.push(self.error(name, "must name at least one metric"));
            }
        }
        metrics
    }

    /// Metrics in groups: one group for each element of the tuple.
    pub fn metric_groups(&self, name: &str, errors: &mut Vec<Diagnostic>) -> Vec<Vec<Metric>> {
        let mut groups = vec![];
        if let Some(value) = self.get(name) {
            for element in elements(value) {
                let mut group = vec![];
                self.gather_metrics(name, &element, &mut group, errors);
                groups.push(group);
            }
        }
        groups
    }

    fn gather_metrics(&self, name: &str, value: &Value, metrics: &mut Vec<Metric>, errors: &mut Vec<Diagnostic>) {
        match value {
            Value::Code(code) => metrics.push(code.clone()),
            Value::Tuple(values) => values.iter().for_each(|value| self.gather_metrics(name, value, metrics, errors)),
            other => self.wrong(name, "metacode such as <[sum(volume)]>", other, errors),
        }
    }

    /// One piece of metacode.
    pub fn code(&self, name: &str, errors: &mut Vec<Diagnostic>) -> Option<Metric> {
        let mut codes = vec![];
        self.gather_metrics(name, self.get(name)?, &mut codes, errors);
        if codes.len() > 1 {
            errors.push(self.error(name, format!("must be one expression, given=`{}`", codes.len())));
        }
        codes.into_iter().next()
    }
}
