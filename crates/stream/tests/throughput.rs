//! How fast a table takes rows, as a guard against a change of order of magnitude. Run with `--ignored --nocapture`.

use data::{Batch, Column, Dictionary, Schema, Type};
use env::{RealClock, RealDisk};
use std::sync::Arc;
use std::time::Instant;
use stream::{Flush, Table, TableKind, TableOptions, TableSpec, Writer};

fn quotes(rows: usize, dictionary: &Arc<Dictionary>) -> Batch {
    let schema = Schema::of(&[
        ("sym", Type::Symbol),
        ("time", Type::Timestamp),
        ("price", Type::Double),
        ("volume", Type::Long),
    ]);
    let codes: Vec<u32> = (0..rows as u32).map(|row| row % 4).collect();
    let columns = vec![
        Column::of_codes(codes, None, dictionary.clone()),
        Column::of_i64(Type::Timestamp, (0..rows as i64).collect::<Vec<_>>(), None),
        Column::of_f64(Type::Double, (0..rows).map(|row| row as f64 / 7.0).collect::<Vec<_>>(), None),
        Column::of_i64(Type::Long, (0..rows as i64).map(|row| row % 97).collect::<Vec<_>>(), None),
    ];
    Batch::new(schema, columns).unwrap()
}

/// Appends `appends` times `rows` rows; gives values a second.
fn measure(name: &str, spec: TableSpec, disk: &Arc<RealDisk>, appends: u64, rows: usize) -> f64 {
    let table = Table::create(disk.clone(), name, spec, Arc::new(RealClock::new())).unwrap();
    for text in ["A", "B", "C", "D"] {
        table.dictionary().intern(text).unwrap();
    }
    let batch = quotes(rows, table.dictionary());
    let writer = Writer::named("bench");
    let started = Instant::now();
    for seq in 0..appends {
        table.append(&writer, seq, 0, &batch).unwrap();
    }
    let seconds = started.elapsed().as_secs_f64();
    let values = appends as f64 * rows as f64 * 4.0 / seconds;
    println!("{name}: {values:.3e} values/s, {:.0} ns an append", seconds * 1e9 / appends as f64);
    values
}

#[test]
#[ignore = "measures time"]
fn big_appends_in_memory_take_no_time_by_the_row() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Arc::new(RealDisk::new(folder.path()).unwrap());
    let spec = |flush, compress, kind| {
        let options = TableOptions { flush, compress, ..TableOptions::default() };
        let schema = quotes(0, &Dictionary::new()).schema().clone();
        TableSpec { options, ..TableSpec::new("quotes", schema, kind) }
    };
    let plain = |flush| spec(flush, false, TableKind::Plain);
    assert!(measure("memory", plain(Flush::Off), &disk, 200, 10_000) > 50e6);
    measure("memory_single_rows", plain(Flush::Off), &disk, 200_000, 1);
    measure("async", plain(Flush::Async), &disk, 500, 10_000);
    measure("async_single_rows", plain(Flush::Async), &disk, 100_000, 1);
    measure("async_lz4", spec(Flush::Async, true, TableKind::Plain), &disk, 200, 10_000);
    let keyed = TableKind::Keyed { keys: vec![0, 1] };
    measure("keyed", spec(Flush::Off, false, keyed), &disk, 100, 10_000);
    let started = Instant::now();
    let (table, opened) = Table::open(disk.clone(), "async", Arc::new(RealClock::new())).unwrap();
    println!("open: {} rows, {} records, {:?}", table.end(), opened.records, started.elapsed());
}
