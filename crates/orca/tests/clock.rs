//! Time reaches a graph through its journal alone: what the clock caused comes again as it was, whenever it runs again.

use data::{Batch, Schema, Type, parse_table, print_table};
use env::{SimClock, SimDisk};
use orca::embedded::Embedded;
use std::sync::Arc;
use stream::{Flush, Writer};

const START_MS: i64 = 1_704_186_000_000; // 2024.01.02T09:00:00

const SCRIPT: &str = r#"
if (!existsCatalog("clock")) { createCatalog("clock") }
go
use catalog clock
g = createStreamGraph("timers")
s = g.source("ticks", `sym`x, [SYMBOL, INT])
s.parallelize("sym", 3)
    .timeSeriesEngine(1000, 1000, <[sum(x)]>, , true, `sym)
    .sync()
    .sink("windows")
s.timeSeriesEngine(1000, 1000, <[count(x) as n]>, , true).sink("totals")
g.submit()
"#;

fn rows(text: &str) -> Batch {
    let schema = Schema::of(&[("sym", Type::Symbol), ("x", Type::Int)]);
    parse_table(&schema, &format!("sym x\n{text}")).expect("a table")
}

fn open(disk: &SimDisk, clock: &SimClock) -> Embedded {
    let orca = Embedded::on(Some(Arc::new(disk.clone())), Arc::new(clock.clone()), Flush::Async, 0);
    let orca = orca.expect("a process on a simulated disk");
    orca.run_script(&lang::Source::new("clock.dos", SCRIPT)).unwrap_or_else(|failure| panic!("{failure:?}"));
    orca
}

fn tables(orca: &Embedded) -> Vec<String> {
    let text = |name: &str| {
        let table = orca.table(name).expect("a table of the script");
        let rows = table.read(0..table.end()).expect("rows that are there");
        let batches: Vec<Batch> = rows.into_iter().map(|(_, batch)| batch).collect();
        print_table(&Batch::concat(table.schema().clone(), &batches).expect("one schema"))
    };
    ["windows", "totals"].map(text).to_vec()
}

#[test]
fn windows_of_the_clock_close_by_themselves_and_come_again_as_they_were() {
    let (disk, clock) = (SimDisk::new(), SimClock::at(START_MS));
    let orca = open(&disk, &clock);
    let ticks = orca.table("ticks").expect("the source");
    let writer = Writer::named("test");
    let append = |piece: u64, text: &str| orca.append(&ticks, &writer, piece, &rows(text)).expect("rows");
    append(1, "A 1\nB 10\nA 2");
    clock.advance_ms(400);
    append(2, "C 100\nB 20");
    assert_eq!(tables(&orca)[0].lines().count(), 1, "no window is over");
    clock.advance_ms(700);
    orca.run_due();
    let wanted = "timestamp                sym  sum_x\n\
                  2024.01.02T09:00:01.000  A    3\n\
                  2024.01.02T09:00:01.000  B    30\n\
                  2024.01.02T09:00:01.000  C    100\n";
    assert_eq!(tables(&orca)[0], wanted, "the window closed without a row");
    append(3, "B 5");
    clock.advance_ms(5_000);
    orca.run_due();
    let all = tables(&orca);
    assert_eq!(all[0], format!("{wanted}2024.01.02T09:00:02.000  B    5\n"));
    assert_eq!(all[1].lines().count(), 3, "two windows of all symbols: {}", all[1]);
    orca.close();

    // The outputs are lost, the clock stands elsewhere: the journal makes the same rows.
    for name in ["windows", "totals"] {
        env::Disk::remove_folder(&disk, &format!("tables/clock.orca_table.{name}")).expect("a folder");
    }
    let later = SimClock::at(START_MS + 86_400_000);
    let again = open(&disk, &later);
    again.wait().expect("the journal runs again");
    assert_eq!(tables(&again), all);
    again.close();
}
