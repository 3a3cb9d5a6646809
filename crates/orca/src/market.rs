//! A market day: seeded trades that look like a real day's, for the demo, benchmarks and tests.
//!
//! Symbols differ in popularity by Zipf's law; trading is dense at the open and the close, with a lunch break; the
//! price of each symbol is a random walk in cents; sizes are round lots, small ones most often. The same seed, symbols
//! and rows give the same trades.

use data::{Batch, Column, Dictionary, Schema, Type};
use env::{Chance, SeededChance};
use std::path::Path;
use std::sync::Arc;

const MINUTE_MS: i64 = 60_000;

/// Midnight of the day: 2025-12-01 in milliseconds since 1970-01-01.
const DAY_MS: i64 = 1_764_547_200_000;

/// Where trading is dense: quarter hours of the four trading hours and their weights.
const INTENSITY: [f64; 16] = [2.4, 1.7, 1.3, 1.1, 1.0, 0.9, 0.85, 0.9, 1.1, 0.85, 0.8, 0.85, 0.9, 1.0, 1.3, 2.0];

/// The columns of a trade, as the K-line scripts declare them.
pub fn schema() -> Arc<Schema> {
    Schema::of(&[
        ("symbol", Type::Symbol),
        ("datetime", Type::Timestamp),
        ("price", Type::Double),
        ("volume", Type::Int),
    ])
}

/// The trades of a file, under the schema of a made day but for the type of `volume`: DOUBLE where the file has
/// fractions. The time is the column `datetime`, `ts` or `ts_ms`.
pub fn read(
    path: &Path,
    batch_rows: usize,
) -> connect::Result<(Arc<Schema>, impl Iterator<Item = connect::Result<Batch>>)> {
    let known = connect::infer_schema(path)?;
    let time = ["datetime", "ts", "ts_ms"].into_iter().find(|name| known.index_of(name).is_some());
    let volume = match known.field("volume") {
        Some(field) if field.ty.is_float() => Type::Double,
        _ => Type::Int,
    };
    let types = [Type::Symbol, Type::Timestamp, Type::Double, volume];
    let named = |time| ["symbol", time, "price", "volume"].into_iter().zip(types).collect::<Vec<_>>();
    let (in_file, here) = (Schema::of(&named(time.unwrap_or("datetime"))), Schema::of(&named("datetime")));
    let reader = connect::open(path, &in_file, batch_rows)?;
    let batches = {
        let here = here.clone();
        reader.map(move |batch| Ok(batch?.with_schema(here.clone()).expect("columns of the same types")))
    };
    Ok((here, batches))
}

/// The trades of one day, in the order of their times.
pub struct Market {
    chance: SeededChance,
    schema: Arc<Schema>,
    dictionary: Arc<Dictionary>,
    popularity: Alias,
    cents: Vec<f64>,
    /// The share of the day's trades before each quarter hour.
    before: [f64; 17],
    rows: u64,
    made: u64,
    batch_rows: usize,
}

impl Market {
    /// A day of `rows` trades of `symbols` symbols, in batches of `batch_rows`.
    pub fn new(seed: u64, symbols: usize, rows: u64, batch_rows: usize) -> Market {
        let chance = SeededChance::new(seed);
        let name = |rank: usize| {
            let number = rank * 7919 % symbols.max(1);
            if number.is_multiple_of(2) { format!("{:06}.SH", 600_000 + number) } else { format!("{:06}.SZ", number) }
        };
        let names: Vec<String> = (0..symbols).map(name).collect();
        let dictionary = Dictionary::of(names.iter().map(String::as_str)).expect("few symbols");
        let weights: Vec<f64> = (1..=symbols).map(|rank| (rank as f64).powf(-0.9)).collect();
        let cents = (0..symbols).map(|_| 300.0 * 100f64.powf(unit(&chance))).collect();
        let total: f64 = INTENSITY.iter().sum();
        let mut before = [0.0; 17];
        for (quarter, weight) in INTENSITY.iter().enumerate() {
            before[quarter + 1] = before[quarter] + weight / total;
        }
        before[16] = 1.0;
        let popularity = Alias::new(&weights);
        Market { chance, schema: schema(), dictionary, popularity, cents, before, rows, made: 0, batch_rows }
    }

    /// The time of a trade before which a share of all the day's trades lies.
    fn time(&self, share: f64) -> i64 {
        let quarter = self.before.partition_point(|before| *before <= share).clamp(1, 16) - 1;
        let within = (share - self.before[quarter]) / (self.before[quarter + 1] - self.before[quarter]);
        let minute = 15.0 * (quarter as f64 + within.clamp(0.0, 0.999_999));
        let lunch = if quarter >= 8 { 90.0 } else { 0.0 };
        DAY_MS + 570 * MINUTE_MS + ((minute + lunch) * MINUTE_MS as f64) as i64
    }
}

impl Iterator for Market {
    type Item = Batch;

    fn next(&mut self) -> Option<Batch> {
        let rows = (self.rows - self.made).min(self.batch_rows as u64) as usize;
        if rows == 0 {
            return None;
        }
        let (mut codes, mut times) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        let (mut prices, mut volumes) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        for row in 0..rows {
            let place = self.made + row as u64;
            let symbol = self.popularity.draw(&self.chance);
            // The sum of four even steps is near enough to a normal one.
            let step = (0..4).map(|_| unit(&self.chance)).sum::<f64>() - 2.0;
            self.cents[symbol as usize] = (self.cents[symbol as usize] * (1.0 + step * 3.5e-4)).max(1.0);
            let lots = 1.0 + (unit(&self.chance).max(1e-12).ln() / 0.85f64.ln()).floor();
            codes.push(symbol);
            times.push(self.time((place as f64 + unit(&self.chance)) / self.rows as f64));
            prices.push(self.cents[symbol as usize].round() / 100.0);
            volumes.push((lots as i32).min(10_000) * 100);
        }
        self.made += rows as u64;
        let columns = vec![
            Column::of_codes(codes, None, self.dictionary.clone()),
            Column::of_i64(Type::Timestamp, times, None),
            Column::of_f64(Type::Double, prices, None),
            Column::of_i32(Type::Int, volumes, None),
        ];
        Some(Batch::new(self.schema.clone(), columns).expect("columns of the schema"))
    }
}

/// An even number in [0, 1).
fn unit(chance: &SeededChance) -> f64 {
    (chance.next() >> 11) as f64 / (1u64 << 53) as f64
}

/// Draws places with given weights in constant time (Walker's alias method).
struct Alias {
    keep: Vec<f64>,
    other: Vec<u32>,
}

impl Alias {
    fn new(weights: &[f64]) -> Alias {
        let scale = weights.len() as f64 / weights.iter().sum::<f64>();
        let mut keep: Vec<f64> = weights.iter().map(|weight| weight * scale).collect();
        let mut other: Vec<u32> = (0..weights.len() as u32).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..keep.len()).partition(|&place| keep[place] < 1.0);
        while let (Some(little), Some(&much)) = (small.pop(), large.last()) {
            other[little] = much as u32;
            keep[much] -= 1.0 - keep[little];
            if keep[much] < 1.0 {
                small.push(large.pop().expect("looked at just now"));
            }
        }
        Alias { keep, other }
    }

    fn draw(&self, chance: &SeededChance) -> u32 {
        let drawn = unit(chance) * self.keep.len() as f64;
        let place = drawn as usize;
        if drawn - place as f64 <= self.keep[place] { place as u32 } else { self.other[place] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_one_day_however_it_is_cut() {
        let day = |batch_rows| {
            let batches: Vec<Batch> = Market::new(7, 50, 5_000, batch_rows).collect();
            Batch::concat(schema(), &batches).expect("one schema")
        };
        let whole = day(5_000);
        assert_eq!(whole, day(137));
        let times = whole.column(1).i64s();
        assert!(times.is_sorted(), "trades come in the order of their times");
        assert!(times[0] >= DAY_MS + 570 * MINUTE_MS && times[4_999] < DAY_MS + 900 * MINUTE_MS);
        assert!(!times.iter().any(|time| (690..780).contains(&((time - DAY_MS) / MINUTE_MS))), "a lunch break");
    }
}
