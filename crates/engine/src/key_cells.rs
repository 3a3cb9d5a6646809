//! The values of one key column as 64-bit cells: equal values have equal cells, and a cell gives its value back.
//!
//! Invariants:
//! - NULL has the cell of the least 64-bit integer, which is what the language stores NULL as.
//! - Numbers and times are their own cells, floats are their bits with -0 as 0, all else is a code of one dictionary:
//!   that of the first batch for symbols, one of its own for other values. A cell never changes its value.

use data::arrow::buffer::NullBuffer;
use data::{Column, ColumnBuilder, Dictionary, Physical, Scalar, Type};
use lang::Diagnostic;
use std::sync::Arc;

/// The cell of NULL.
pub(crate) const NULL_CELL: u64 = 1 << 63;

const UNKNOWN: u32 = u32::MAX;

/// How many other dictionaries a column keeps a map of.
const MAPS_MAX: usize = 4;

/// Turns the values of one key column into cells and back.
#[derive(Debug, Clone)]
pub(crate) struct KeyCells {
    ty: Type,
    /// Codes are of this dictionary.
    home: Option<Arc<Dictionary>>,
    /// Codes of other dictionaries in the home one, by the other's id; filled as codes come.
    maps: Vec<(u64, Vec<u32>)>,
}

impl KeyCells {
    /// Cells of a column of this type.
    pub(crate) fn new(ty: Type) -> KeyCells {
        KeyCells { ty, home: None, maps: vec![] }
    }

    /// The type of the values.
    pub(crate) fn ty(&self) -> Type {
        self.ty
    }

    /// Are the cells codes of the home dictionary, dense from 0?
    pub(crate) fn are_codes(&self) -> bool {
        !matches!(
            self.ty.physical(),
            Physical::Bool
                | Physical::I8
                | Physical::I16
                | Physical::I32
                | Physical::I64
                | Physical::F32
                | Physical::F64
        )
    }

    /// The codes of a SYMBOL column as they are, if they are codes of the home dictionary and none is NULL.
    pub(crate) fn home_codes<'a>(&mut self, column: &'a Column) -> Option<&'a [u32]> {
        let dictionary = column.dictionary()?;
        let home = self.home.get_or_insert_with(|| dictionary.clone());
        (home.id() == dictionary.id() && column.null_count() == 0).then(|| column.codes())
    }

    /// How many codes the home dictionary has.
    pub(crate) fn codes(&self) -> usize {
        self.home.as_ref().map_or(0, |home| home.len())
    }

    fn intern(&mut self, text: &str) -> Result<u64, Diagnostic> {
        Ok(self.home.get_or_insert_with(Dictionary::new).intern(text)? as u64)
    }

    /// The cells of these rows of a column, `None` for all.
    pub(crate) fn read(
        &mut self,
        column: &Column,
        rows: Option<&[u32]>,
        cells: &mut Vec<u64>,
    ) -> Result<(), Diagnostic> {
        cells.clear();
        let count = rows.map_or(column.len(), <[u32]>::len);
        let row = |place: usize| rows.map_or(place, |rows| rows[place] as usize);
        match column.ty().physical() {
            Physical::Code => self.read_codes(column, count, row, cells)?,
            Physical::F64 | Physical::F32 => {
                let values = column.to_f64s().expect("a float column");
                cells.extend((0..count).map(|place| (values[row(place)] + 0.0).to_bits()));
            }
            _ if !self.are_codes() => {
                let values = column.to_i64s().expect("a column of whole numbers");
                cells.extend((0..count).map(|place| values[row(place)] as u64));
            }
            Physical::Text => {
                let texts = column.texts();
                for place in 0..count {
                    cells.push(self.intern(texts.value(row(place)))?);
                }
            }
            _ => {
                for place in 0..count {
                    cells.push(self.intern(&rare_text(&column.get(row(place))))?);
                }
            }
        }
        if column.null_count() > 0 {
            for (place, cell) in cells.iter_mut().enumerate() {
                if column.is_null(row(place)) {
                    *cell = NULL_CELL;
                }
            }
        }
        Ok(())
    }

    fn read_codes(
        &mut self,
        column: &Column,
        count: usize,
        row: impl Fn(usize) -> usize,
        cells: &mut Vec<u64>,
    ) -> Result<(), Diagnostic> {
        let (codes, theirs) = (column.codes(), column.dictionary().expect("a SYMBOL column has a dictionary"));
        let home = self.home.get_or_insert_with(|| theirs.clone()).clone();
        if home.id() == theirs.id() {
            cells.extend((0..count).map(|place| codes[row(place)] as u64));
            return Ok(());
        }
        let known = self.maps.iter().position(|(id, _)| *id == theirs.id());
        let map = known.unwrap_or_else(|| {
            if self.maps.len() == MAPS_MAX {
                self.maps.remove(0);
            }
            self.maps.push((theirs.id(), vec![]));
            self.maps.len() - 1
        });
        let map = &mut self.maps[map].1;
        let texts = theirs.read();
        map.resize(texts.len(), UNKNOWN);
        for place in 0..count {
            let (row, null) = (row(place), column.null_count() > 0);
            if null && column.is_null(row) {
                cells.push(NULL_CELL);
                continue;
            }
            let code = codes[row];
            if map[code as usize] == UNKNOWN {
                map[code as usize] = home.intern(texts.text(code))?;
            }
            cells.push(map[code as usize] as u64);
        }
        Ok(())
    }

    /// The cell of one value.
    pub(crate) fn cell(&mut self, value: &Scalar) -> Result<u64, Diagnostic> {
        let mut cells = vec![];
        if let (Type::Symbol, Scalar::Text(text)) = (self.ty, value) {
            return self.intern(text);
        }
        self.read(&Column::of_scalars(self.ty, [value]), None, &mut cells)?;
        Ok(cells[0])
    }

    /// The value of a cell.
    pub(crate) fn value(&self, cell: u64) -> Scalar {
        self.column(&[cell]).get(0)
    }

    /// The values of cells as a column; symbols in the home dictionary.
    pub(crate) fn column(&self, cells: &[u64]) -> Column {
        let nulls = cells.contains(&NULL_CELL).then(|| cells.iter().map(|&cell| cell != NULL_CELL).collect());
        let nulls: Option<NullBuffer> = nulls;
        let code = |&cell: &u64| if cell == NULL_CELL { 0 } else { cell as u32 };
        macro_rules! cast {
            ($of:ident, $native:ty) => {
                Column::$of(self.ty, cells.iter().map(|&cell| cell as i64 as $native).collect::<Vec<_>>(), nulls)
            };
        }
        match self.ty.physical() {
            Physical::I64 => cast!(of_i64, i64),
            Physical::I32 => cast!(of_i32, i32),
            Physical::I16 => cast!(of_i16, i16),
            Physical::I8 => cast!(of_i8, i8),
            Physical::Bool => Column::of_bools(cells.iter().map(|&cell| cell == 1).collect(), nulls),
            Physical::F64 => {
                Column::of_f64(self.ty, cells.iter().map(|&cell| f64::from_bits(cell)).collect::<Vec<_>>(), nulls)
            }
            Physical::F32 => Column::of_f32(
                self.ty,
                cells.iter().map(|&cell| f64::from_bits(cell) as f32).collect::<Vec<_>>(),
                nulls,
            ),
            Physical::Code => {
                let home = self.home.clone().unwrap_or_default();
                Column::of_codes(cells.iter().map(code).collect::<Vec<_>>(), nulls, home)
            }
            _ => {
                let home = self.home.clone().unwrap_or_default();
                let texts = home.read();
                let text = |cell: &u64| (*cell != NULL_CELL).then(|| texts.text(*cell as u32));
                if self.ty == Type::String {
                    return Column::of_texts(cells.iter().map(text));
                }
                let mut values = ColumnBuilder::new(self.ty);
                for cell in cells {
                    values.push(&text(cell).map_or(Scalar::Null, |text| rare_value(self.ty, text)));
                }
                values.finish()
            }
        }
    }
}

/// A value of a type that rarely is a key, as a text that gives it back.
fn rare_text(value: &Scalar) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    match value {
        Scalar::Decimal(digits) => digits.to_string(),
        Scalar::Bytes(bytes) => hex(bytes),
        Scalar::Bytes16(bytes) => hex(bytes),
        _ => String::new(),
    }
}

fn rare_value(ty: Type, text: &str) -> Scalar {
    let byte = |place: usize| u8::from_str_radix(&text[place..place + 2], 16).expect("written as hex digits");
    let bytes = || (0..text.len()).step_by(2).map(byte).collect::<Vec<u8>>();
    match ty.physical() {
        Physical::I128 => Scalar::Decimal(text.parse().expect("written as digits")),
        Physical::Bytes16 => Scalar::Bytes16(bytes().try_into().expect("16 bytes")),
        _ => Scalar::Bytes(bytes().into()),
    }
}
