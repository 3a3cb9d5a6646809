//! The hash of rows by which a table tells whether a writer that tries again brings the same ones.

use data::arrow::buffer::{ArrowNativeType, ToByteSlice};
use data::{Batch, Column, Physical};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The hash of these rows, in this order: the same in every process, whatever the dictionaries, never 0.
pub fn check_of(rows: &Batch) -> u64 {
    let hash = rows.columns().iter().fold(rows.rows() as u64, |hash, column| check_column(column, hash));
    hash.max(1)
}

fn check_column(column: &Column, seed: u64) -> u64 {
    let seed = match column.validity().filter(|valid| valid.null_count() > 0) {
        None => seed,
        Some(valid) => {
            let valid: Vec<u8> = valid.iter().map(u8::from).collect();
            xxh3_64_with_seed(&valid, seed)
        }
    };
    match column.ty().physical() {
        Physical::I8 => check_values(column.i8s(), column, seed),
        Physical::I16 => check_values(column.i16s(), column, seed),
        Physical::I32 => check_values(column.i32s(), column, seed),
        Physical::I64 => check_values(column.i64s(), column, seed),
        Physical::F32 => check_values(column.f32s(), column, seed),
        Physical::F64 => check_values(column.f64s(), column, seed),
        Physical::I128 => check_values(column.decimals(), column, seed),
        // By the stable hashes of their values; a symbol's is kept with its entry.
        _ => xxh3_64_with_seed(column.stable_hashes().to_byte_slice(), seed),
    }
}

/// What stands under a NULL is any value, so it counts as the default one.
fn check_values<T: ArrowNativeType>(values: &[T], column: &Column, seed: u64) -> u64 {
    if column.null_count() == 0 {
        return xxh3_64_with_seed(values.to_byte_slice(), seed);
    }
    let valid = |(row, &value): (usize, &T)| if column.is_null(row) { T::default() } else { value };
    let values: Vec<T> = values.iter().enumerate().map(valid).collect();
    xxh3_64_with_seed(values.to_byte_slice(), seed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use data::{Schema, Type, parse_table};

    #[test]
    fn equal_rows_have_one_hash_and_others_another() {
        let schema =
            Schema::of(&[("sym", Type::Symbol), ("name", Type::String), ("x", Type::Int), ("y", Type::Double)]);
        let rows = |text: &str| parse_table(&schema, &format!("sym name x y\n{text}")).unwrap();
        let all = rows("B b 1 0.5\nA a . 1.5\n. . 3 .\nA a . 1.5");
        assert_eq!(check_of(&all.slice(1, 1)), check_of(&rows("A a . 1.5")));
        assert_eq!(check_of(&all.slice(1, 1)), check_of(&all.slice(3, 1)));
        let others = ["A a 0 1.5", "A a . .", "A b . 1.5", "B a . 1.5", ". a . 1.5", "A a . 1.5\nA a . 1.5", ""];
        for other in others {
            assert_ne!(check_of(&all.slice(1, 1)), check_of(&rows(other)), "{other}");
        }
    }
}
