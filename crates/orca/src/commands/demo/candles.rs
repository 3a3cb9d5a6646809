//! The candles of the day so far, read from the tables that the graph fills.

use crate::failure::Failure;
use data::{Batch, Column};
use std::collections::BTreeMap;
use std::sync::Arc;
use stream::{Cursor, Start, Table};

/// The periods there are, in minutes.
pub(super) const MINUTES: [u32; 2] = [1, 5];

/// How many rows are read at once.
const ROWS_MAX: usize = 65_536;

/// One closed candle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Candle {
    /// The start of its window, in milliseconds since 1970-01-01.
    pub time: i64,
    pub open: f64,
    pub high: f64,
    pub low: f64,
    pub close: f64,
    pub volume: f64,
    /// Means of the last 5 and 20 closing prices.
    pub means: [f64; 2],
    pub mean_volume: f64,
}

/// A candle that has just been read.
pub(super) struct Fresh {
    pub symbol: Arc<str>,
    pub period: usize,
    pub candle: Candle,
}

/// The candles of each symbol, by period.
pub(super) struct Candles {
    readers: [Cursor; 2],
    of: [BTreeMap<Arc<str>, Vec<Candle>>; 2],
}

impl Candles {
    /// Nothing yet, of these tables: those of one and of five minutes.
    pub fn new(tables: [Arc<Table>; 2]) -> Result<Candles, Failure> {
        let [one, five] = tables;
        let readers = [Cursor::new(one, Start::First)?, Cursor::new(five, Start::First)?];
        Ok(Candles { readers, of: Default::default() })
    }

    /// Takes in what is new, and shows each candle to `see`.
    pub fn read(&mut self, mut see: impl FnMut(&Fresh)) -> Result<(), Failure> {
        for (period, (reader, of)) in self.readers.iter_mut().zip(&mut self.of).enumerate() {
            while let Some(batch) = reader.next(ROWS_MAX)? {
                for (symbol, candle) in candles(&batch) {
                    of.entry(symbol.clone()).or_default().push(candle);
                    see(&Fresh { symbol, period, candle });
                }
            }
        }
        Ok(())
    }

    /// Those of a symbol, the oldest first.
    pub fn of(&self, symbol: &str, period: usize) -> &[Candle] {
        self.of[period].get(symbol).map_or(&[], Vec::as_slice)
    }
}

/// The rows of a batch: symbol, time, open, high, low, close, volume, two means, highest high, mean volume.
fn candles(batch: &Batch) -> impl Iterator<Item = (Arc<str>, Candle)> {
    let symbols = batch.column(0);
    let dictionary = symbols.dictionary().expect("a SYMBOL column has a dictionary");
    let times = batch.column(1).i64s();
    let numbers = |column: usize| numbers(batch.column(column));
    let columns: [Vec<f64>; 8] = [2, 3, 4, 5, 6, 7, 8, 10].map(numbers);
    (0..batch.rows()).filter(|&row| !symbols.is_null(row)).map(move |row| {
        let [open, high, low, close, volume, five, twenty, mean_volume] = columns.each_ref().map(|column| column[row]);
        let means = [five, twenty];
        let candle = Candle { time: times[row], open, high, low, close, volume, means, mean_volume };
        (dictionary.text(symbols.codes()[row]), candle)
    })
}

fn numbers(column: &Column) -> Vec<f64> {
    let values = column.to_f64s().expect("a column of numbers");
    let value = |(row, value): (usize, &f64)| if column.is_null(row) { f64::NAN } else { *value };
    values.iter().enumerate().map(value).collect()
}
