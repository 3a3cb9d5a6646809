//! How fast files are read; run by `cargo test --release -p orca-connect --test speed -- --ignored --nocapture`.

use connect::open;
use data::{Schema, Type};
use parquet::arrow::ArrowWriter;
use std::fmt::Write;
use std::fs;
use std::time::Instant;

#[test]
#[ignore = "a measurement"]
fn four_columns() {
    const ROWS: usize = 2_000_000;
    let folder = tempfile::TempDir::new().unwrap();
    let schema = Schema::of(&[
        ("sym", Type::Symbol),
        ("time", Type::Timestamp),
        ("price", Type::Double),
        ("volume", Type::Long),
    ]);
    let mut text = String::from("sym,time,price,volume\n");
    for row in 0..ROWS {
        writeln!(
            text,
            "S{:03},{},{}.{:02},{}",
            row % 500,
            1_704_187_800_000 + row,
            10 + row % 90,
            row % 100,
            row % 1000
        )
        .unwrap();
    }
    let path = folder.path().join("trades.csv");
    fs::write(&path, &text).unwrap();
    let measure = |path: &std::path::Path| {
        let start = Instant::now();
        let batches: Vec<_> = open(path, &schema, 10_000).unwrap().collect::<Result<_, _>>().unwrap();
        let rows: usize = batches.iter().map(|batch| batch.rows()).sum();
        println!("{}: {:.1} M rows/s", path.display(), rows as f64 / start.elapsed().as_secs_f64() / 1e6);
        batches
    };
    let batches = measure(&path);
    let path = folder.path().join("trades.parquet");
    let arrow = std::sync::Arc::new(schema.to_arrow());
    let mut writer = ArrowWriter::try_new(fs::File::create(&path).unwrap(), arrow, None).unwrap();
    batches.iter().for_each(|batch| writer.write(&batch.to_arrow()).unwrap());
    writer.close().unwrap();
    measure(&path);
}
