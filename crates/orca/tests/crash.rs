//! Killed at every write boundary: whatever was written when the process ended, a second run ends with the same bytes.
//!
//! One thread and a simulated disk. The graph has a buffer in its middle and two sinks. At each write the process ends
//! before it, in its middle, or after it; then everything starts anew on what the disk holds, and runs to the end.

use env::{Kill, SimClock, SimDisk};
use orca::embedded::Embedded;
use orca::market::Market;
use std::sync::Arc;
use stream::{Flush, Writer};

/// What the tables hold in the end, as text.
type Tables = Vec<String>;

fn script(parallel: usize) -> String {
    format!(
        r#"if (!existsCatalog("sim")) {{ createCatalog("sim") }}
go
use catalog sim
g = createStreamGraph("killed")
bars = g.source("trades", `symbol`datetime`price`volume, [SYMBOL, TIMESTAMP, DOUBLE, INT])
    .parallelize("symbol", {parallel})
    .timeSeriesEngine(60000, 60000, <[first(price), max(price), sum(volume)]>, "datetime", false, "symbol")
    .sync()
    .buffer("bars")
bars.reactiveStateEngine(<[datetime, mavg(sum_volume, 3)]>, `symbol).sink("volumes")
bars.map(b -> select datetime, symbol, max_price - first_price as rise from b where max_price > first_price)
    .keyedSink("rises", `datetime)
g.submit()
"#
    )
}

/// One run: the script, then every append, then all tables as text. An error is the end of the process.
fn run(disk: &SimDisk, parallel: usize) -> Result<Tables, String> {
    let clock = Arc::new(SimClock::at(1_764_547_200_000));
    let text = |failure: orca::commands::Failure| format!("{failure:?}");
    let orca = Embedded::on(Some(Arc::new(disk.clone())), clock, Flush::Async, 0).map_err(text)?;
    orca.run_script(&lang::Source::new("killed.dos", script(parallel))).map_err(text)?;
    let trades = orca.table("trades").map_err(text)?;
    let writer = Writer::named("client");
    for (piece, batch) in Market::new(5, 7, 420, 60).enumerate() {
        orca.append(&trades, &writer, piece as u64 + 1, &batch).map_err(text)?;
    }
    orca.wait().map_err(text)?;
    let tables = ["trades", "bars", "volumes", "rises"].map(|name| {
        let table = orca.table(name).expect("a table of the script");
        let rows = table.read(table.start()..table.end()).expect("rows that are there");
        let batches: Vec<data::Batch> = rows.into_iter().map(|(_, batch)| batch).collect();
        let all = data::Batch::concat(table.schema().clone(), &batches).expect("one schema");
        format!("{name}\n{}", data::print_table(&all))
    });
    orca.close();
    Ok(tables.to_vec())
}

fn killed_everywhere(parallel: usize) {
    let whole = SimDisk::new();
    let wanted = run(&whole, parallel).expect("a run that nobody kills");
    assert!(wanted.iter().all(|table| table.lines().count() > 3), "each table has rows: {wanted:?}");
    let boundaries = whole.boundaries();
    assert!(boundaries > 20, "the run writes often: {boundaries}");
    for boundary in 0..boundaries {
        for kill in [Kill::Before, Kill::Half, Kill::After] {
            let disk = SimDisk::new();
            disk.kill_at(boundary, kill);
            // After the last write of all nobody notices the end.
            let ended = run(&disk, parallel);
            assert!(ended.is_err() || boundary + 1 == boundaries, "killed at {boundary}, {kill:?}");
            let again = run(&disk.revive(), parallel);
            let again = again.unwrap_or_else(|reason| panic!("after a kill at {boundary}, {kill:?}: {reason}"));
            assert_eq!(again, wanted, "after a kill at {boundary}, {kill:?}");
        }
    }
}

#[test]
fn a_process_killed_at_any_write_goes_on_to_the_same_bytes() {
    killed_everywhere(1);
}

#[test]
fn so_does_one_with_three_parallel_branches() {
    killed_everywhere(3);
}

#[test]
fn parallel_branches_give_the_bytes_of_one() {
    let of = |parallel| run(&SimDisk::new(), parallel).expect("a run that nobody kills");
    let one = of(1);
    for parallel in [2, 3, 8] {
        assert_eq!(of(parallel), one, "{parallel} branches");
    }
}
