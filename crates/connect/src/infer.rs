//! The schema of a file that no script describes.

use crate::cells::Cells;
use crate::csv_file::Lines;
use crate::error::{Error, Result};
use crate::json_file::Objects;
use crate::parquet_file;
use crate::reader::Kind;
use csv::ByteRecord;
use data::{Field, Schema, Type};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// How many rows of a text file are looked at.
const ROWS_MAX: usize = 1_000;

/// What a column of texts may be, the narrowest type first. STRING takes every text.
const CANDIDATES: &[Type] = &[Type::Bool, Type::Long, Type::Double, Type::Date, Type::Time, Type::Timestamp];

/// Names and types of a file's columns. Those of a text file are guessed from its first 1,000 rows: the narrowest of
/// BOOL, LONG, DOUBLE, DATE, TIME, TIMESTAMP that takes every value, else STRING.
pub fn infer_schema(path: impl AsRef<Path>) -> Result<Arc<Schema>> {
    let path = path.as_ref();
    let schema = match Kind::of(path)? {
        Kind::Csv => of_csv(path)?,
        Kind::JsonLines => of_json(path)?,
        Kind::Parquet => Schema::from_arrow(parquet_file::columns(path)?.1.schema()),
    };
    schema.map(Arc::new).map_err(|error| Error::Data { file: path.display().to_string(), error })
}

/// What the values of one column may still be.
struct Guess {
    name: String,
    left: Vec<Type>,
    any: bool,
}

impl Guess {
    fn new(name: String) -> Guess {
        Guess { name, left: CANDIDATES.to_vec(), any: false }
    }

    fn look(&mut self, text: &[u8]) {
        self.any |= !text.is_empty();
        self.left.retain(|&ty| text.is_empty() || reads(ty, text));
    }

    fn field(self) -> Field {
        let ty = self.left.first().copied().filter(|_| self.any).unwrap_or(Type::String);
        Field::new(self.name, ty)
    }
}

/// Does the text look like a value of the type? Dates and times must be written as such: an integer is a number, and a
/// date with a time is no date.
fn reads(ty: Type, text: &[u8]) -> bool {
    let has = |mark: &[u8]| text.iter().any(|letter| mark.contains(letter));
    let shaped = match ty {
        Type::Bool => text.first().is_some_and(u8::is_ascii_alphabetic),
        Type::Date => !has(b":"),
        Type::Time => has(b":") && !has(b"-T "),
        Type::Timestamp => has(b":"),
        _ => true,
    };
    shaped && Cells::new(ty).push(text).is_ok()
}

fn of_csv(path: &Path) -> Result<data::Result<Schema>> {
    let mut lines = Lines::open(path)?;
    let mut guesses: Vec<Guess> = lines.names.iter().cloned().map(Guess::new).collect();
    let mut record = ByteRecord::new();
    for _ in 0..ROWS_MAX {
        if !lines.read(&mut record)? {
            break;
        }
        for (guess, text) in guesses.iter_mut().zip(&record) {
            guess.look(text);
        }
    }
    Ok(Schema::new(guesses.into_iter().map(Guess::field).collect()))
}

fn of_json(path: &Path) -> Result<data::Result<Schema>> {
    let mut objects = Objects::open(path)?;
    let mut guesses: Vec<Guess> = vec![];
    for _ in 0..ROWS_MAX {
        let Some(object) = objects.read()? else { break };
        for (name, value) in &object {
            let known = guesses.iter().position(|guess| guess.name.eq_ignore_ascii_case(name));
            let place = known.unwrap_or_else(|| {
                guesses.push(Guess::new(name.clone()));
                guesses.len() - 1
            });
            match value {
                Value::Null => {}
                Value::String(text) => guesses[place].look(text.as_bytes()),
                other => guesses[place].look(other.to_string().as_bytes()),
            }
        }
    }
    Ok(Schema::new(guesses.into_iter().map(Guess::field).collect()))
}
