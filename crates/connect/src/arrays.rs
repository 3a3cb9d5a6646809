//! Arrow arrays of any type to columns of the wanted type.

use crate::cells::{Cells, Refused};
use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::{CastOptions, cast, cast_with_options};
use arrow::datatypes::{DataType, Date32Type, Int64Type, TimeUnit, UInt32Type};
use data::{Column, Dictionary, Physical, Scalar, Type, format_iso, parse_temporal};
use std::sync::Arc;

/// What a column of dates or times counts: units to a day, and whether the day itself is part of it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Clock {
    units_per_day: i64,
    dated: bool,
}

impl Clock {
    fn of_arrow(ty: &DataType) -> Option<Clock> {
        let units = |unit: &TimeUnit| match unit {
            TimeUnit::Second => 86_400,
            TimeUnit::Millisecond => 86_400_000,
            TimeUnit::Microsecond => 86_400_000_000,
            TimeUnit::Nanosecond => 86_400_000_000_000,
        };
        Some(match ty {
            DataType::Date32 => Clock { units_per_day: 1, dated: true },
            DataType::Date64 => Clock { units_per_day: units(&TimeUnit::Millisecond), dated: true },
            DataType::Timestamp(unit, _) => Clock { units_per_day: units(unit), dated: true },
            DataType::Time32(unit) | DataType::Time64(unit) => Clock { units_per_day: units(unit), dated: false },
            _ => return None,
        })
    }

    fn of(ty: Type) -> Option<Clock> {
        ty.units_per_day().map(|units_per_day| Clock { units_per_day, dated: ty.is_dated() })
    }
}

/// Why an array is no column of the type.
pub(crate) enum Misfit {
    /// The kinds do not go together.
    Type,
    /// One value does not fit.
    Value { row: usize, value: String },
    /// A dictionary is full.
    Data(data::Error),
}

/// Turns the arrays of one column of a file, one after another, into columns.
pub(crate) struct Converter {
    ty: Type,
    dictionary: Arc<Dictionary>,
    /// The dictionary of the array before, and the code of each of its entries.
    known: Option<(StringArray, Vec<u32>)>,
}

impl Converter {
    pub(crate) fn new(ty: Type) -> Converter {
        Converter { ty, dictionary: Dictionary::new(), known: None }
    }

    pub(crate) fn convert(&mut self, array: &ArrayRef) -> Result<Column, Misfit> {
        let (ty, found) = (self.ty, array.data_type());
        match found {
            DataType::Utf8View | DataType::LargeUtf8 => {
                return self.convert(&cast(array, &DataType::Utf8).map_err(|_| Misfit::Type)?);
            }
            DataType::Dictionary(_, _) if ty != Type::Symbol => {
                return self.convert(&cast(array, &plain(found)).map_err(|_| Misfit::Type)?);
            }
            _ => {}
        }
        match ty {
            Type::Symbol => self.symbols(array),
            Type::String if *found == DataType::Utf8 => Ok(texts(array)),
            Type::Month => months(array),
            _ if *found == ty.to_arrow() => Column::from_arrow(ty, array).map_err(Misfit::Data),
            _ if *found == DataType::Utf8 => self.parse(array),
            _ if ty.is_temporal() => self.temporal(array),
            _ if ty.is_integer() && found.is_floating() => self.parse(&as_texts(array)?),
            _ => self.cast(array, &ty.to_arrow()),
        }
    }

    /// Entries are interned once for each dictionary of the file, not once a batch.
    fn symbols(&mut self, array: &ArrayRef) -> Result<Column, Misfit> {
        let coded = DataType::Dictionary(Box::new(DataType::UInt32), Box::new(DataType::Utf8));
        let array = match array.data_type() == &coded {
            true => array.clone(),
            false => cast(array, &coded).map_err(|_| Misfit::Type)?,
        };
        let array = array.as_dictionary::<UInt32Type>();
        let entries = array.values().as_string::<i32>();
        let is_known = self.known.as_ref().is_some_and(|(known, _)| known.to_data().ptr_eq(&entries.to_data()));
        if !is_known {
            let codes = self.dictionary.intern_all(entries.iter().map(|entry| entry.unwrap_or("")));
            self.known = Some((entries.clone(), codes.map_err(Misfit::Data)?));
        }
        let (_, known) = self.known.as_ref().expect("just made known");
        let codes: Vec<u32> =
            array.keys().values().iter().map(|&key| known.get(key as usize).copied().unwrap_or(0)).collect();
        let nulls = match entries.iter().any(|entry| entry.is_none_or(str::is_empty)) {
            false => array.nulls().cloned(),
            // An empty text is NULL, whatever its key.
            true => {
                let is_text = |key: Option<u32>| {
                    key.is_some_and(|key| entries.is_valid(key as usize) && !entries.value(key as usize).is_empty())
                };
                Some(array.keys().iter().map(is_text).collect())
            }
        };
        Ok(Column::of_codes(codes, nulls, self.dictionary.clone()))
    }

    /// Texts to values, as those of a CSV file.
    fn parse(&self, array: &ArrayRef) -> Result<Column, Misfit> {
        let texts = array.as_string::<i32>();
        let mut cells = Cells::new(self.ty);
        for row in 0..texts.len() {
            let text = if texts.is_valid(row) { texts.value(row) } else { "" };
            cells.push(text.as_bytes()).map_err(|refused| match refused {
                Refused::Value => Misfit::Value { row, value: text.to_string() },
                Refused::Data(error) => Misfit::Data(error),
            })?;
        }
        Ok(cells.take())
    }

    /// Dates and times of other units, and integers in the column's own unit.
    fn temporal(&self, array: &ArrayRef) -> Result<Column, Misfit> {
        if array.data_type().is_integer() {
            return self.whole(array, Some);
        }
        let from = Clock::of_arrow(array.data_type()).ok_or(Misfit::Type)?;
        let to = Clock::of(self.ty).ok_or(Misfit::Type)?;
        if to.dated && !from.dated {
            return Err(Misfit::Type);
        }
        self.whole(array, |value| {
            let value = if from.dated && !to.dated { value.rem_euclid(from.units_per_day) } else { value };
            match from.units_per_day <= to.units_per_day {
                true => value.checked_mul(to.units_per_day / from.units_per_day),
                false => Some(value.div_euclid(from.units_per_day / to.units_per_day)),
            }
        })
    }

    /// Each whole number of the array through `change`, checked against the range of the type.
    fn whole(&self, array: &ArrayRef, change: impl Fn(i64) -> Option<i64>) -> Result<Column, Misfit> {
        let values = wholes(array).ok_or(Misfit::Type)?;
        let values = values.as_primitive::<Int64Type>();
        let narrow = self.ty.physical() == Physical::I32;
        let mut changed = Vec::with_capacity(values.len());
        for (row, &value) in values.values().iter().enumerate() {
            match change(value).filter(|&value| !narrow || i32::try_from(value).is_ok()) {
                Some(value) => changed.push(value),
                None if values.is_null(row) => changed.push(0),
                None => return Err(Misfit::Value { row, value: value.to_string() }),
            }
        }
        let nulls = values.nulls().cloned();
        Ok(match narrow {
            true => Column::of_i32(self.ty, changed.iter().map(|&value| value as i32).collect::<Vec<_>>(), nulls),
            false => Column::of_i64(self.ty, changed, nulls),
        })
    }

    /// Arrow's cast, which must not lose a value.
    fn cast(&self, array: &ArrayRef, wanted: &DataType) -> Result<Column, Misfit> {
        let lenient = CastOptions { safe: true, ..CastOptions::default() };
        let changed = cast_with_options(array, wanted, &lenient).map_err(|_| Misfit::Type)?;
        if let Some(row) = (0..array.len()).find(|&row| array.is_valid(row) && changed.is_null(row)) {
            let value = as_texts(&array.slice(row, 1))?.as_string::<i32>().value(0).to_string();
            return Err(Misfit::Value { row, value });
        }
        Column::from_arrow(self.ty, &changed).map_err(Misfit::Data)
    }
}

fn plain(ty: &DataType) -> DataType {
    match ty {
        DataType::Dictionary(_, value) => value.as_ref().clone(),
        other => other.clone(),
    }
}

fn as_texts(array: &ArrayRef) -> Result<ArrayRef, Misfit> {
    cast(array, &DataType::Utf8).map_err(|_| Misfit::Type)
}

/// A STRING column; an empty text is NULL.
fn texts(array: &ArrayRef) -> Column {
    let texts = array.as_string::<i32>();
    match texts.iter().flatten().any(str::is_empty) {
        true => Column::of_texts(texts.iter()),
        false => Column::from_arrow(Type::String, array).expect("a string array is a STRING column"),
    }
}

/// Whatever is stored as whole numbers, as 64 bits.
fn wholes(array: &ArrayRef) -> Option<ArrayRef> {
    match array.data_type() {
        DataType::Timestamp(_, _) | DataType::Time64(_) | DataType::Date64 => {
            let data = array.to_data().into_builder().data_type(DataType::Int64);
            Some(arrow::array::make_array(data.build().expect("64 bits are 64 bits")))
        }
        DataType::Time32(_) | DataType::Date32 => {
            let data = array.to_data().into_builder().data_type(DataType::Int32);
            cast(&arrow::array::make_array(data.build().expect("32 bits are 32 bits")), &DataType::Int64).ok()
        }
        _ => cast(array, &DataType::Int64).ok(),
    }
}

/// Months of dates; integers are months already.
fn months(array: &ArrayRef) -> Result<Column, Misfit> {
    let days = match array.data_type() {
        found if found.is_integer() => return Converter::new(Type::Month).whole(array, Some),
        DataType::Utf8 => return Converter::new(Type::Month).parse(array),
        DataType::Date32 => array.clone(),
        found if Clock::of_arrow(found).is_some_and(|clock| clock.dated) => {
            cast(array, &DataType::Date32).map_err(|_| Misfit::Type)?
        }
        _ => return Err(Misfit::Type),
    };
    let month = |day: i32| {
        let text = format_iso(Type::Date, day as i64);
        let (month, _) = text.rsplit_once('-')?;
        parse_temporal(Type::Month, month).ok()
    };
    let months = days.as_primitive::<Date32Type>().iter();
    let months: Vec<Scalar> = months.map(|day| day.and_then(month).map_or(Scalar::Null, Scalar::Int)).collect();
    Ok(Column::of_scalars(Type::Month, &months))
}
