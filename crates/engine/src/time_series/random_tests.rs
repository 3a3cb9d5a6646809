//! The time-series engine over random rows: against a plain reading of the rules, and against itself cut otherwise.

use crate::check::{Chance, Columns, Run, bind, check_rows};
use data::{Batch, Column, Scalar, Schema, Type, print_table};

const TRADES: Columns = &[("time", Type::Timestamp), ("sym", Type::Symbol), ("volume", Type::Int)];

/// Random rows, mostly in order of time, of a few keys with NULL among them.
fn random_rows(seed: u64, disorder: usize) -> Batch {
    let mut chance = Chance(seed);
    let mut time = 1_000_000;
    let (mut times, mut keys, mut volumes) = (vec![], vec![], vec![]);
    for _ in 0..48 {
        time += chance.below(40) as i64;
        times.push(if chance.below(30) == 0 {
            Scalar::Null
        } else {
            Scalar::Int(time - chance.below(disorder) as i64)
        });
        keys.push(["A", "B", "C", "D", ""][chance.below(5)].into());
        volumes.push(Scalar::Int(chance.below(100) as i64));
    }
    let column = |(index, values): (usize, Vec<Scalar>)| Column::of_scalars(TRADES[index].1, &values);
    let columns = [times, keys, volumes].into_iter().enumerate().map(column).collect();
    Batch::new(Schema::of(TRADES), columns).unwrap()
}

#[test]
fn any_cut_any_number_of_parts_and_any_restore_give_the_same_rows() {
    for (number, more) in [
        "100, 100, <[sum(volume), last(volume), count(volume)]>, `time, false, `sym",
        "300, 100, <[sum(volume), last(volume)]>, `time, false, `sym",
        "300, 100, <[sum(volume), last(volume)]>, `time, false, `sym, closed='right', fill='ffill'",
        "[100, 400], 100, (<[sum(volume) as a]>, <[sum(volume) as b]>), `time, false, `sym, fill='null'",
        "200, 100, <[sum(volume)]>, `time, false, `sym, acceptedDelay=70",
        "200, 100, <[sum(volume), count(volume)]>, `time, false, `sym, acceptedDelay=250, fill=(0, 'ffill')",
        "100, 100, <[sum(volume)]>, `time, false, `sym, updateTime=20",
        "200, 100, <[sum(volume)]>, `time, false, `sym, updateTime=50, fill='ffill'",
        "100, 100, <[sum(volume)]>, `time, false, `sym, forceTriggerTime=30",
        "200, 100, <[sum(volume)]>, `time, false, `sym, forceTriggerTime=10, fill='ffill'",
        "100, 100, <[sum(volume)]>, `time, false, `sym, subWindow=20:70, fill=7",
        "70, 70, <[sum(volume)]>, `time, false, `sym",
        "70, 35, <[sum(volume)]>, `time",
    ]
    .iter()
    .enumerate()
    {
        let spec = bind(TRADES, &format!("timeSeriesEngine({more})")).unwrap_or_else(|errors| panic!("{errors:?}"));
        for seed in 1..3 {
            let rows = random_rows(seed * 31 + number as u64, if more.contains("Delay") { 120 } else { 20 });
            let mut run = Run::new(spec.as_ref(), 1);
            run.tick(0);
            run.push(&rows, 0);
            check_rows(spec.as_ref(), &rows, &run.rows());
        }
    }
}

/// What the rules say of sums without fill, computed from all rows of a key for each window.
fn oracle(rows: &Batch, size: i64, step: i64, delay: i64, shift: i64) -> Vec<(i64, Scalar, i64)> {
    let mut wanted = vec![];
    let mut taken: Vec<(Scalar, i64, i64)> = vec![];
    let mut newest: Vec<(Scalar, i64)> = vec![];
    let grid_end = |time: i64| time - time.rem_euclid(step);
    for row in 0..rows.rows() {
        let (Scalar::Int(time), key, Scalar::Int(volume)) =
            (rows.column(0).get(row), rows.column(1).get(row), rows.column(2).get(row))
        else {
            continue;
        };
        let time = time - shift;
        let place = newest.iter().position(|(other, _)| *other == key);
        if let Some(before) = place.map(|place| newest[place].1) {
            // Out of order, a row may come as long as a window that it belongs to is open.
            if time < if delay == 0 { before } else { grid_end(before - delay) + step - size } {
                continue;
            }
            let mut end = grid_end(before - delay) + step;
            while end <= time - delay {
                let within = |(other, time, _): &&(Scalar, i64, i64)| *other == key && (end - size..end).contains(time);
                let volumes: Vec<i64> = taken.iter().filter(within).map(|(.., volume)| *volume).collect();
                if !volumes.is_empty() {
                    wanted.push((end, key.clone(), volumes.iter().sum()));
                }
                end += step;
            }
        }
        taken.push((key.clone(), time, volume));
        match place {
            Some(place) => newest[place].1 = newest[place].1.max(time),
            None => newest.push((key, time)),
        }
    }
    wanted
}

#[test]
fn sums_are_those_of_a_plain_reading_of_the_rules() {
    let sizes = [(100, 100, 0), (300, 100, 0), (50, 10, 0), (100, 100, 70), (400, 200, 350), (30, 10, 25)];
    for (number, (size, step, delay)) in sizes.into_iter().enumerate() {
        for (closed, shift) in [("left", 0), ("right", 1)] {
            let more = format!("acceptedDelay={delay}, closed='{closed}'");
            let call = format!("timeSeriesEngine({size}, {step}, <[sum(volume)]>, `time, false, `sym, {more})");
            let spec = bind(TRADES, &call).unwrap_or_else(|errors| panic!("{errors:?}"));
            for seed in 1..40 {
                let rows = random_rows(seed * 13 + number as u64, if delay > 0 { 120 } else { 20 });
                let wanted = oracle(&rows, size, step, delay, shift);
                let column = |ty, values: Vec<Scalar>| Column::of_scalars(ty, &values);
                let columns = vec![
                    column(Type::Timestamp, wanted.iter().map(|(end, ..)| Scalar::Int(*end)).collect()),
                    column(Type::Symbol, wanted.iter().map(|(_, key, _)| key.clone()).collect()),
                    column(Type::Long, wanted.iter().map(|(.., sum)| Scalar::Int(*sum)).collect()),
                ];
                let wanted = Batch::new(spec.schema(), columns).unwrap();
                let mut run = Run::new(spec.as_ref(), 1);
                run.tick(0);
                run.push(&rows, 0);
                assert_eq!(print_table(&run.rows()), print_table(&wanted), "{call}, seed {seed}");
            }
        }
    }
}
