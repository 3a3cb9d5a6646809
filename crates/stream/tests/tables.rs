//! Stream tables from outside: kinds, writers who try again, restarts, kills, cuts and retention.

use data::{Batch, Schema, Type, parse_table, print_table};
use env::{Disk, Kill, SimClock, SimDisk};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};
use stream::{Appended, Cursor, Flush, Start, Table, TableKind, TableOptions, TableSpec, Writer};
use stream::{Error, Result};

fn clock() -> Arc<SimClock> {
    Arc::new(SimClock::at(1_700_000_000_000))
}

fn create(disk: &SimDisk, spec: &TableSpec) -> Result<Table> {
    Table::create(Arc::new(disk.clone()), "t", spec.clone(), clock())
}

fn open(disk: &SimDisk) -> Result<Table> {
    Ok(Table::open(Arc::new(disk.clone()), "t", clock())?.0)
}

fn all(table: &Table) -> Batch {
    let batches = table.read(table.start()..table.end()).unwrap();
    Batch::concat(table.schema().clone(), &batches.into_iter().map(|(_, batch)| batch).collect::<Vec<_>>()).unwrap()
}

/// Appends the feeds, in memory, on disk, and with a restart after each; all must hold the expected rows.
fn check(kind: TableKind, schema: &[(&str, Type)], feeds: &[&str], expected: &str) {
    let schema = Schema::of(schema);
    let expected = parse_table(&schema, expected).unwrap();
    let spec = TableSpec::new("events", schema.clone(), kind);
    let feed = |table: &Table, number: usize| {
        let rows = parse_table(&schema, feeds[number]).unwrap();
        table.append(&Writer::named("test"), number as u64 + 1, 0, &rows).unwrap();
    };
    let kept = Table::in_memory(spec.clone(), clock()).unwrap();
    let disk = SimDisk::new();
    drop(create(&disk, &spec).unwrap());
    for number in 0..feeds.len() {
        feed(&kept, number);
        feed(&open(&disk).unwrap(), number);
    }
    for table in [kept, open(&disk).unwrap()] {
        assert_eq!(print_table(&all(&table)), print_table(&expected));
        (0..feeds.len()).for_each(|number| feed(&table, number));
        assert_eq!(table.end() as usize, expected.rows(), "what is held is not appended again");
    }
}

fn keyed(keys: &[usize]) -> TableKind {
    TableKind::Keyed { keys: keys.to_vec() }
}

fn latest(keys: &[usize], time: &[usize]) -> TableKind {
    TableKind::LatestKeyed { keys: keys.to_vec(), time: time.to_vec() }
}

#[test]
fn a_plain_table_takes_all_rows() {
    check(TableKind::Plain, &[("id", Type::Int)], &["id\n1\n1", "id\n1"], "id\n1\n1\n1");
}

#[test]
fn of_a_key_the_first_row_wins_also_inside_one_batch() {
    check(
        keyed(&[0]),
        &[("id", Type::Int), ("x", Type::Int)],
        &["id x\n1 10\n2 20\n3 30\n2 25\n. 1\n. 2", "id x\n3 35\n4 45\n5 55\n0 1"],
        "id x\n1 10\n2 20\n3 30\n. 1\n4 45\n5 55\n0 1",
    );
}

#[test]
fn a_key_may_be_of_several_columns_of_any_type() {
    check(
        keyed(&[0, 1]),
        &[("sym", Type::Symbol), ("id", Type::Int), ("val", Type::Double)],
        &["sym id val\nA 5 52.1\nB 4 64.2", "sym id val\nA 5 152.3\nB 8 164.6\nR 4 125.5"],
        "sym id val\nA 5 52.1\nB 4 64.2\nB 8 164.6\nR 4 125.5",
    );
    check(
        keyed(&[0, 1, 2]),
        &[("name", Type::String), ("id", Type::Long), ("price", Type::Double)],
        &["name id price\nA 1 0.0\nA 1 -0.0\nA 2 0.0\nB 1 0.0\nA 1 .", "name id price\nA 1 0.0\nA 1 .\nC 1 0.0"],
        "name id price\nA 1 0.0\nA 2 0.0\nB 1 0.0\nA 1 .\nC 1 0.0",
    );
}

#[test]
fn of_a_key_only_later_rows_enter() {
    let schema = [("id", Type::Symbol), ("x", Type::Int), ("stamp", Type::Timestamp)];
    let at = |ms: u32| format!("2024.09.10T00:00:00.{ms:03}");
    let row = |id: &str, x: u32, ms: u32| format!("{id} {x} {}\n", at(ms));
    let table = |rows: &[String]| format!("id x stamp\n{}", rows.concat());
    let first = table(&[row("A", 1, 1), row("D", 4, 4), row("E", 5, 5)]);
    let second = table(&[row("D", 6, 5), row("E", 7, 5), row("F", 8, 5), row("D", 9, 4), row("D", 10, 6)]);
    let expected =
        table(&[row("A", 1, 1), row("D", 4, 4), row("E", 5, 5), row("D", 6, 5), row("F", 8, 5), row("D", 10, 6)]);
    check(latest(&[0], &[2]), &schema, &[&first, &second], &expected);
}

#[test]
fn of_a_new_key_twice_in_one_batch_the_row_with_the_largest_time_enters() {
    check(
        latest(&[0], &[2]),
        &[("id", Type::Symbol), ("x", Type::Int), ("stamp", Type::Long)],
        &["id x stamp\nA 1 3\nA 2 5\nA 3 4\nB 4 1\nA 4 5", "id x stamp\nA 5 5\nA 6 6\nB 7 0"],
        "id x stamp\nA 2 5\nB 4 1\nA 6 6",
    );
}

#[test]
fn a_time_may_be_a_date_and_a_time_of_day() {
    check(
        latest(&[0], &[1, 2]),
        &[("id", Type::Symbol), ("day", Type::Date), ("clock", Type::Time)],
        &[
            "id day clock\nD 2024.09.10 00:00:00.004\nE 2024.09.10 00:00:00.005",
            "id day clock\nD 2024.09.10 00:00:00.004\nE 2024.09.11 00:00:00.001\nD 2024.09.09 00:00:01.000",
        ],
        "id day clock\nD 2024.09.10 00:00:00.004\nE 2024.09.10 00:00:00.005\nE 2024.09.11 00:00:00.001",
    );
}

fn trades() -> Arc<Schema> {
    Schema::of(&[("sym", Type::Symbol), ("name", Type::String), ("price", Type::Double)])
}

/// The rows of the `n`th append of a writer: new symbols now and then.
fn trade(writer: u64, n: u64) -> Batch {
    let rows = (0..n % 3).map(|row| format!("S{} \"name {writer}\" {n}.{row}\n", (n + row) / 2));
    parse_table(&trades(), &format!("sym name price\n{}", rows.collect::<String>())).unwrap()
}

#[test]
fn a_held_number_gives_the_rows_that_the_table_holds_for_it() {
    let table = Table::in_memory(TableSpec::new("t", trades(), keyed(&[0])), clock()).unwrap();
    let writer = Writer::node(3, "sink");
    let rows = parse_table(&trades(), "sym name price\nA x 1.0\nB x 2.0\nA x 3.0").unwrap();
    let Appended::New { offsets, rows: taken, accepted } = table.append(&writer, 5, 77, &rows).unwrap() else {
        panic!("the number is new");
    };
    assert_eq!((offsets, accepted, taken.rows()), (0..2, Some(vec![0, 1]), 2));
    assert_eq!(table.append(&writer, 5, 77, &rows).unwrap(), Appended::Held { offsets: 0..2, rows: taken });
    let jumped = table.append(&writer, 4, 1, &rows).unwrap();
    assert!(matches!(jumped, Appended::Held { rows, .. } if rows.rows() == 0));
    let other = table.append(&writer, 5, 78, &rows);
    assert!(matches!(other, Err(Error::Differs { writer, seq: 5, .. }) if writer == "journal/3/sink"));
    assert!(matches!(table.append(&writer, 6, 1, &rows), Ok(Appended::New { offsets, .. }) if offsets.is_empty()));
    assert_eq!(table.writer_seq(&writer), Some(6));
    assert_eq!(table.append_of(&writer, 5), Some(0..2));
}

#[test]
fn rows_that_do_not_fit_are_refused() {
    let table = Table::in_memory(TableSpec::new("t", trades(), TableKind::Plain), clock()).unwrap();
    let schema = Schema::of(&[("sym", Type::Symbol), ("name", Type::String), ("price", Type::Int)]);
    let rows = parse_table(&schema, "sym name price\nA x 1").unwrap();
    let Err(Error::Schema { column, wanted, found, .. }) = table.append(&Writer::named("w"), 1, 0, &rows) else {
        panic!("the types differ");
    };
    assert_eq!((&*column, &*wanted, &*found), ("price", "DOUBLE", "INT"));
    let schema = Schema::of(&[("a", Type::String), ("b", Type::Symbol), ("c", Type::Double)]);
    let rows = parse_table(&schema, "a b c\nA x 1.0").unwrap();
    table.append(&Writer::named("w"), 1, 0, &rows).unwrap();
    assert_eq!(print_table(&all(&table)), "sym  name  price\nA    x     1.0\n");
    let bad = TableSpec::new("t", trades(), latest(&[0], &[1]));
    assert!(matches!(Table::in_memory(bad, clock()), Err(Error::Spec { .. })));
}

fn spec_on_disk(kind: TableKind, flush: Flush, cache_rows: Option<usize>) -> TableSpec {
    let options = TableOptions { flush, cache_rows, segment_bytes: 400, compress: true, ..TableOptions::default() };
    TableSpec { options, ..TableSpec::new("t", trades(), kind) }
}

/// Creates or opens the table and appends what two writers still have, up to `count` appends each.
fn run(disk: &SimDisk, spec: &TableSpec, count: u64) -> Result<Table> {
    let table = match create(disk, spec) {
        Err(Error::Exists { .. }) => open(disk)?,
        created => created?,
    };
    for n in 1..=count {
        for writer in [1, 2] {
            table.append(&Writer::named(&format!("w{writer}")), n, n, &trade(writer, n))?;
        }
    }
    Ok(table)
}

#[test]
fn a_kill_at_any_write_leaves_a_prefix_and_trying_again_gives_each_row_once() {
    for kind in [TableKind::Plain, keyed(&[0, 1])] {
        for flush in [Flush::Async, Flush::Fsync] {
            let spec = spec_on_disk(kind.clone(), flush, None);
            let whole = SimDisk::new();
            let wanted = all(&run(&whole, &spec, 12).unwrap());
            for boundary in 0..whole.boundaries() {
                for kill in [Kill::Before, Kill::Half, Kill::After] {
                    let disk = SimDisk::new();
                    disk.kill_at(boundary, kill);
                    assert!(run(&disk, &spec, 12).is_err());
                    let left = if flush == Flush::Fsync { disk.power_loss() } else { disk.revive() };
                    if let Ok(table) = open(&left) {
                        assert_eq!(all(&table), wanted.slice(0, table.end() as usize));
                    }
                    assert_eq!(all(&run(&left, &spec, 12).unwrap()), wanted, "{boundary} {kill:?}");
                    assert_eq!(all(&open(&left).unwrap()), wanted);
                }
            }
        }
    }
}

#[test]
fn a_power_loss_leaves_a_prefix() {
    let spec = spec_on_disk(TableKind::Plain, Flush::Async, None);
    let disk = SimDisk::new();
    let table = run(&disk, &spec, 12).unwrap();
    let wanted = all(&table);
    let left = disk.power_loss();
    let lost = open(&left).unwrap();
    assert!(lost.end() < table.end());
    assert_eq!(all(&lost), wanted.slice(0, lost.end() as usize));
    assert_eq!(all(&run(&left, &spec, 12).unwrap()), wanted);
    table.sync().unwrap();
    assert_eq!(all(&open(&disk.power_loss()).unwrap()), wanted);
}

#[test]
fn a_cut_takes_rows_back_for_good_and_begins_an_era() {
    let kinds = [TableKind::Plain, keyed(&[0, 1])];
    for (kind, cache_rows) in kinds.iter().flat_map(|kind| [(kind, None), (kind, Some(2))]) {
        let spec = spec_on_disk(kind.clone(), Flush::Async, cache_rows);
        let disk = SimDisk::new();
        let table = Arc::new(run(&disk, &spec, 8).unwrap());
        let wanted = all(&table);
        let writer = Writer::named("w1");
        let cut = table.append_of(&writer, 5).unwrap();
        let mut cursor = Cursor::new(table.clone(), Start::At(3)).unwrap();
        if *kind == TableKind::Plain {
            assert!(matches!(table.cut_to(cut.start + 1), Err(Error::CutInside { .. })));
        }
        table.cut_to(cut.start).unwrap();
        assert!(matches!(cursor.next(10), Err(Error::Era { era: 0, now: 1, .. })));
        for table in [table, Arc::new(open(&disk).unwrap())] {
            assert_eq!((table.era(), table.end()), (1, cut.start));
            assert_eq!(all(&table), wanted.slice(0, cut.start as usize));
            assert_eq!(table.writer_seq(&writer), Some(4));
        }
        assert_eq!(all(&run(&disk, &spec, 8).unwrap()), wanted);
        assert_eq!(all(&open(&disk).unwrap()), wanted);
        open(&disk).unwrap().cut_to(0).unwrap();
        assert_eq!(open(&disk).unwrap().end(), 0);
        assert_eq!(all(&run(&disk, &spec, 8).unwrap()), wanted);
    }
}

#[test]
fn rows_beyond_the_cache_are_read_from_the_log_and_keys_leave_by_offset() {
    let spec = spec_on_disk(TableKind::Plain, Flush::Async, Some(4));
    let (disk, whole) = (SimDisk::new(), SimDisk::new());
    let table = run(&disk, &spec, 20).unwrap();
    let wanted = all(&run(&whole, &spec_on_disk(TableKind::Plain, Flush::Async, None), 20).unwrap());
    assert!(table.batches().0 > 0);
    for table in [table, open(&disk).unwrap()] {
        assert_eq!(all(&table), wanted);
        for (from, to) in [(0, 1), (3, 17), (17, table.end())] {
            let rows: usize = table.read(from..to).unwrap().iter().map(|(_, batch)| batch.rows()).sum();
            assert_eq!(rows as u64, to - from);
        }
        assert!(matches!(table.read(3..table.end() + 1), Err(Error::Offsets { .. })));
    }
    let mut options = spec.options.clone();
    options.cache_rows = Some(2);
    let spec = TableSpec { options, ..TableSpec::new("t", Schema::of(&[("id", Type::Int)]), keyed(&[0])) };
    for restart in [false, true] {
        let disk = SimDisk::new();
        let mut table = create(&disk, &spec).unwrap();
        for (seq, id) in [1, 2, 1, 3, 1, 1, 2].into_iter().enumerate() {
            let rows = parse_table(&spec.schema, &format!("id\n{id}")).unwrap();
            table.append(&Writer::named("w"), seq as u64, 0, &rows).unwrap();
            if restart {
                table = open(&disk).unwrap();
            }
        }
        assert_eq!(print_table(&all(&table)), "id\n1\n2\n3\n1\n2\n");
    }
}

#[test]
fn old_segments_go_unless_held_and_the_table_stays_what_it_was() {
    let (disk, clock) = (SimDisk::new(), clock());
    let mut spec = spec_on_disk(keyed(&[0, 1]), Flush::Async, None);
    spec.options.retention_minutes = Some(10);
    let table = Table::create(Arc::new(disk.clone()), "t", spec, clock.clone()).unwrap();
    let append = |table: &Table, n: u64| table.append(&Writer::named("w"), n, n, &trade(1, n)).unwrap();
    (1..=30).for_each(|n| drop(append(&table, n)));
    table.cut_to(table.append_of(&Writer::named("w"), 28).unwrap().start).unwrap();
    (28..=30).for_each(|n| drop(append(&table, n)));
    let wanted = all(&table);
    table.purge().unwrap();
    assert_eq!(table.start(), 0);
    clock.advance_ms(11 * 60_000);
    table.hold("graph", 3);
    table.purge().unwrap();
    assert!(table.start() <= 3);
    table.release("graph");
    table.purge().unwrap();
    let start = table.start();
    assert!(start > 3 && disk.list("t/log").unwrap().len() <= 2);
    assert!(matches!(table.append(&Writer::named("w"), 2, 0, &trade(1, 2)), Err(Error::HeldNoMore { .. })));
    assert!(matches!(table.read(0..1), Err(Error::Offsets { .. })));
    let opened = open(&disk).unwrap();
    for table in [&table, &opened] {
        assert_eq!((table.start(), table.end(), table.era()), (start, wanted.rows() as u64, 1));
        assert_eq!(all(table), wanted.slice(start as usize, wanted.rows() - start as usize));
        assert_eq!(table.writer_seq(&Writer::named("w")), Some(30));
        let Appended::New { rows, .. } = append(table, 34) else { panic!("the number is new") };
        assert_eq!(rows, trade(1, 34));
    }
}

#[test]
fn a_listener_hears_each_append_once_and_in_order() {
    let table = Table::in_memory(TableSpec::new("t", trades(), TableKind::Plain), clock()).unwrap();
    let append = |n: u64| table.append(&Writer::named("w"), n, 0, &trade(1, n)).unwrap();
    (1..=4).for_each(|n| drop(append(n)));
    let heard = Arc::new(Mutex::new(vec![]));
    let sink = heard.clone();
    table.listen(
        1,
        Box::new(move |offsets| {
            let mut heard = sink.lock().unwrap();
            heard.push((offsets.start, offsets.end));
            heard.len() < 5
        }),
    );
    (5..=12).for_each(|n| drop(append(n)));
    assert_eq!(*heard.lock().unwrap(), [(1, 3), (3, 4), (4, 6), (6, 7), (7, 9)]);
    assert_eq!(table.append_ends(1..9), [3, 4, 6, 7, 9]);
}

#[test]
fn a_cursor_reads_what_there_is_and_then_what_comes() {
    let table = Arc::new(Table::in_memory(TableSpec::new("t", trades(), TableKind::Plain), clock()).unwrap());
    (1..=4).for_each(|n| drop(table.append(&Writer::named("w"), n, 0, &trade(1, n)).unwrap()));
    let mut first = Cursor::new(table.clone(), Start::First).unwrap();
    let mut next = Cursor::new(table.clone(), Start::Next).unwrap();
    assert_eq!(first.next(3).unwrap().unwrap().rows(), 3);
    assert_eq!(first.next(3).unwrap().unwrap().rows(), 1);
    assert_eq!((first.next(3).unwrap(), next.next(3).unwrap()), (None, None));
    table.append(&Writer::named("w"), 5, 0, &trade(1, 5)).unwrap();
    assert_eq!(next.next(9).unwrap().unwrap(), trade(1, 5));
    assert!(matches!(Cursor::new(table, Start::At(99)), Err(Error::Offsets { .. })));
}

#[test]
fn many_threads_append_at_once() {
    let disk = SimDisk::new();
    let table = create(&disk, &spec_on_disk(TableKind::Plain, Flush::Async, None)).unwrap();
    std::thread::scope(|threads| {
        for writer in 0..6 {
            let table = &table;
            threads.spawn(move || {
                (1..=60).for_each(|n| drop(table.append(&Writer::named(&writer.to_string()), n, n, &trade(writer, n))))
            });
        }
    });
    let opened = open(&disk).unwrap();
    assert_eq!((all(&table), table.end()), (all(&opened), 6 * 60));
    for writer in 0..6 {
        let (of, rows) = (Writer::named(&writer.to_string()), trade(writer, 44));
        assert_eq!(
            opened.append(&of, 44, 44, &rows).unwrap(),
            Appended::Held { offsets: table.append_of(&of, 44).unwrap(), rows }
        );
    }
}

#[derive(Debug, Clone)]
enum Step {
    Append(u64),
    Repeat,
    Reopen,
    Cut(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (0..40u64).prop_map(Step::Append),
        2 => Just(Step::Repeat),
        2 => Just(Step::Reopen),
        1 => any::<usize>().prop_map(Step::Cut),
    ];
    proptest::collection::vec(step, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// The model is a list of appends; a keyed table drops what the model finds in its last rows.
    #[test]
    fn a_table_is_the_list_of_what_was_appended(steps in steps(), by_key in any::<bool>(), cache in proptest::option::of(1..9usize)) {
        let disk = SimDisk::new();
        let kind = if by_key { keyed(&[0]) } else { TableKind::Plain };
        let spec = spec_on_disk(kind, Flush::Async, cache);
        let mut table = create(&disk, &spec).unwrap();
        let mut appends: Vec<(u64, u64, Vec<String>)> = vec![];
        let (mut seq, writer) = (0, Writer::named("w"));
        let lines = |batch: &Batch| print_table(batch).lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>();
        for step in steps {
            match step {
                Step::Append(n) => {
                    seq += 1 + n % 2;
                    let mut held: Vec<String> = appends.iter().flat_map(|append| append.2.clone()).collect();
                    let before = held.len();
                    for line in lines(&trade(1, n)) {
                        let window = &held[held.len() - cache.unwrap_or(held.len()).min(held.len())..];
                        let key = |line: &str| line.split(' ').next().map(str::to_string);
                        if !by_key || window.iter().all(|other| key(other) != key(&line)) {
                            held.push(line);
                        }
                    }
                    table.append(&writer, seq, n + 1, &trade(1, n)).unwrap();
                    appends.push((seq, n, held.split_off(before)));
                }
                Step::Repeat => for (seq, n, rows) in &appends {
                    match table.append(&writer, *seq, n + 1, &trade(1, *n)).unwrap() {
                        Appended::Held { rows: held, .. } => prop_assert_eq!(&lines(&held), rows),
                        new => prop_assert!(false, "{:?}", new),
                    }
                },
                Step::Reopen => table = open(&disk).unwrap(),
                Step::Cut(at) => {
                    let mut kept = at % (appends.len() + 1);
                    let end = appends[..kept].iter().map(|append| append.2.len() as u64).sum();
                    table.cut_to(end).unwrap();
                    // Appends without rows at the place of the cut are taken back too.
                    while kept > 0 && appends[kept - 1].2.is_empty() {
                        kept -= 1;
                    }
                    appends.truncate(kept);
                    seq = appends.last().map_or(0, |append| append.0);
                }
            }
            let held: Vec<String> = appends.iter().flat_map(|append| append.2.clone()).collect();
            prop_assert_eq!(lines(&all(&table)), held);
            prop_assert_eq!(table.writer_seq(&writer), appends.last().map(|append| append.0));
        }
    }
}
