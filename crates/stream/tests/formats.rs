//! Files that earlier builds wrote must still be read. The samples lie in `tests/formats`, one folder a version.

use data::{Schema, Type, parse_table, print_table};
use env::{Disk, RealDisk, SimClock, SimDisk};
use std::path::PathBuf;
use std::sync::Arc;
use stream::{CommandRecord, Entry, Flush, Journal, JournalId, Run, Table, TableKind, TableOptions, TableSpec, Writer};

/// Where the samples are. Asked when run, not when built: clones may share a target folder.
fn samples() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where the crate is");
    PathBuf::from(here).join("tests/formats")
}

fn clock() -> Arc<SimClock> {
    Arc::new(SimClock::at(1_700_000_000_000))
}

fn schema() -> Arc<Schema> {
    Schema::of(&[
        ("sym", Type::Symbol),
        ("time", Type::Timestamp),
        ("price", Type::Double),
        ("note", Type::String),
        ("sizes", Type::Array(&Type::Int)),
        ("open", Type::Bool),
    ])
}

const ROWS: [&str; 4] = [
    "A 2024.01.02T09:30:00.000 10.5 first [1,.,3] true",
    "B 2024.01.02T09:30:01.000 . . [] false\nA 2024.01.02T09:30:01.000 . . [] .",
    "C 2024.01.02T09:30:02.000 11.0 third . true",
    "D 2024.01.02T09:30:03.000 12.0 fourth [4] true",
];

fn entry(epoch: u64) -> Entry {
    let command = CommandRecord { node: "rules".into(), name: "updateRule".into(), arguments: "1".into() };
    Entry {
        journal: JournalId(7),
        attempt: 2,
        epoch,
        runs: vec![Run { source: 0, from: epoch, rows: 1 }],
        clock_ms: 1_700_000_000_000,
        commands: vec![command],
        barrier: epoch == 2,
        chain: 0,
    }
}

/// Writes the samples of this build's version. Run it when a version is added, never again afterwards.
#[test]
#[ignore = "writes files"]
fn write_samples_of_version_1() {
    let disk = Arc::new(RealDisk::new(samples()).unwrap());
    let kind = TableKind::LatestKeyed { keys: vec![0], time: vec![1] };
    let options = TableOptions { compress: true, segment_bytes: 100, ..TableOptions::default() };
    let spec = TableSpec { options, ..TableSpec::new("quotes", schema(), kind) };
    let clock = clock();
    let table = Table::create(disk.clone(), "table_1", spec, clock.clone()).unwrap();
    for (number, rows) in ROWS.iter().enumerate() {
        let rows = parse_table(&schema(), &format!("sym time price note sizes open\n{rows}")).unwrap();
        table.append(&Writer::named("sample"), number as u64 + 1, 9, &rows).unwrap();
        clock.advance_ms(60_000);
    }
    table.cut_to(4).unwrap();
    clock.advance_ms((1440 - 4) * 60_000 + 1);
    table.purge().unwrap();
    let journal = Journal::open(disk, "journal_1", Flush::Async).unwrap().0;
    journal.begin(JournalId(7), "graph", 2).unwrap();
    journal.append(entry(1)).unwrap();
    journal.append(entry(2)).unwrap();
    journal.begin(JournalId(8), "other", 1).unwrap();
    journal.end(JournalId(8)).unwrap();
}

/// A copy of a sample, so that reading cannot change it.
fn sample(folder: &str) -> Arc<SimDisk> {
    let (from, to) = (RealDisk::new(samples()).unwrap(), SimDisk::new());
    let mut paths = vec![folder.to_string()];
    while let Some(path) = paths.pop() {
        match from.read(&path) {
            Ok(bytes) => to.replace(&path, &bytes).unwrap(),
            Err(_) => paths.extend(from.list(&path).unwrap().iter().map(|name| format!("{path}/{name}"))),
        }
    }
    Arc::new(to)
}

#[test]
fn tables_of_version_1_are_read() {
    let (table, _) = Table::open(sample("table_1"), "table_1", clock()).unwrap();
    assert_eq!((table.start(), table.end(), table.era()), (1, 4, 1));
    assert_eq!(table.writer_seq(&Writer::named("sample")), Some(3));
    let rows = data::Batch::concat(schema(), &table.batches().1).unwrap();
    let expected =
        parse_table(&schema(), &format!("sym time price note sizes open\n{}\n{}", ROWS[1], ROWS[2])).unwrap();
    assert_eq!(print_table(&rows), print_table(&expected));
}

#[test]
fn journals_of_version_1_are_read() {
    let (journal, opened) = Journal::open(sample("journal_1"), "journal_1", Flush::Async).unwrap();
    assert_eq!((opened.records, opened.cut_bytes), (5, 0));
    let life = journal.life(JournalId(7)).unwrap();
    assert_eq!((&*life.graph, life.attempt, life.epoch), ("graph", 2, 2));
    assert_eq!(journal.life(JournalId(8)), None);
    let entries = journal.entries(JournalId(7), 1).unwrap();
    let unchained: Vec<Entry> = entries.iter().map(|entry| Entry { chain: 0, ..entry.clone() }).collect();
    assert_eq!(unchained, [entry(1), entry(2)]);
    assert_eq!(entries[1].chain, life.chain);
}
