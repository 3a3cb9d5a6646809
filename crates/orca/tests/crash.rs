//! Killed at every write boundary: whatever was written when the process ended, a second run ends with the same bytes.
//!
//! One thread and a simulated disk. The graph has a buffer in its middle and two sinks. At each write the process ends
//! before it, in its middle, or after it; then everything starts anew on what the disk holds, and runs to the end.

use env::{Disk, Kill, SimClock, SimDisk};
use orca::embedded::Embedded;
use orca::market::Market;
use std::sync::Arc;
use stream::{Flush, Writer};

/// What the tables hold in the end, as text.
type Tables = Vec<String>;

fn script(parallel: usize, source: &str, sinks: &str) -> String {
    format!(
        r#"if (!existsCatalog("sim")) {{ createCatalog("sim") }}
go
use catalog sim
g = createStreamGraph("killed")
bars = g.source("trades", `symbol`datetime`price`volume, [SYMBOL, TIMESTAMP, DOUBLE, INT]{source})
    .parallelize("symbol", {parallel})
    .timeSeriesEngine(60000, 60000, <[first(price), max(price), sum(volume)]>, "datetime", false, "symbol")
    .sync()
    .buffer("bars"{sinks})
bars.reactiveStateEngine(<[datetime, mavg(sum_volume, 3)]>, `symbol).sink("volumes"{sinks})
bars.map(b -> select datetime, symbol, max_price - first_price as rise from b where max_price > first_price)
    .keyedSink("rises", `datetime{sinks})
g.submit()
"#
    )
}

/// Where epochs end.
#[derive(Debug, Clone, Copy)]
enum Cut {
    /// After each append.
    EachAppend,
    /// When all appends have come.
    AtTheEnd,
}

/// One run: the script, then every append, then all tables as text. An error is the end of the process.
fn run(disk: &SimDisk, script: &str, cut: Cut) -> Result<Tables, String> {
    let clock = Arc::new(SimClock::at(1_764_547_200_000));
    let text = |failure: orca::commands::Failure| format!("{failure:?}");
    let orca = Embedded::on(Some(Arc::new(disk.clone())), clock, Flush::Async, 0).map_err(text)?;
    orca.run_script(&lang::Source::new("killed.dos", script)).map_err(text)?;
    let trades = orca.table("trades").map_err(text)?;
    let writer = Writer::named("client");
    for (piece, batch) in Market::new(5, 7, 420, 60).enumerate() {
        match cut {
            Cut::EachAppend => orca.append(&trades, &writer, piece as u64 + 1, &batch).map_err(text)?,
            Cut::AtTheEnd => {
                trades.append(&writer, piece as u64 + 1, 0, &batch).map_err(|error| error.to_string())?;
            }
        }
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
    let script = &script(parallel, "", "");
    let whole = SimDisk::new();
    let wanted = run(&whole, script, Cut::EachAppend).expect("a run that nobody kills");
    assert!(wanted.iter().all(|table| table.lines().count() > 3), "each table has rows: {wanted:?}");
    let boundaries = whole.boundaries();
    assert!(boundaries > 20, "the run writes often: {boundaries}");
    for boundary in 0..boundaries {
        for kill in [Kill::Before, Kill::Half, Kill::After] {
            let disk = SimDisk::new();
            disk.kill_at(boundary, kill);
            // After the last write of all nobody notices the end.
            let ended = run(&disk, script, Cut::EachAppend);
            assert!(ended.is_err() || boundary + 1 == boundaries, "killed at {boundary}, {kill:?}");
            let again = run(&disk.revive(), script, Cut::EachAppend);
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
    let of =
        |parallel| run(&SimDisk::new(), &script(parallel, "", ""), Cut::EachAppend).expect("a run that nobody kills");
    let one = of(1);
    for parallel in [2, 3, 8] {
        assert_eq!(of(parallel), one, "{parallel} branches");
    }
}

/// How many bytes all files have.
fn bytes(disk: &SimDisk) -> u64 {
    let mut folders = vec![String::new()];
    let mut bytes = 0;
    while let Some(folder) = folders.pop() {
        for name in disk.list(&folder).expect("a folder") {
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            match disk.len(&path) {
                Ok(len) => bytes += len,
                Err(_) => folders.push(path),
            }
        }
    }
    bytes
}

/// After a power loss the logs that were not forced to the disk are gone, in whole or in part.
fn powerless_everywhere(source: &str, sinks: &str) {
    let script = &script(2, source, sinks);
    let whole = SimDisk::new();
    let wanted = run(&whole, script, Cut::EachAppend).expect("a run that nobody ends");
    let mut lost = 0;
    for boundary in (0..whole.boundaries()).step_by(2) {
        let disk = SimDisk::new();
        disk.kill_at(boundary, Kill::Before);
        // The last boundary may pass unnoticed; what is on the disk is what counts.
        let _ = run(&disk, script, Cut::EachAppend);
        let after = disk.power_loss();
        lost += (bytes(&disk.revive()) > bytes(&after)) as usize;
        for (disk, cut) in [(disk.power_loss(), Cut::EachAppend), (after, Cut::AtTheEnd)] {
            let again = run(&disk, script, cut);
            let again = again.unwrap_or_else(|reason| panic!("after a power loss at {boundary}, {cut:?}: {reason}"));
            assert_eq!(again, wanted, "after a power loss at {boundary}, {cut:?}");
        }
    }
    assert!(lost > 10, "power losses took something: {lost}");
}

#[test]
fn a_power_loss_that_spares_the_source_goes_on_to_the_same_bytes() {
    powerless_everywhere(", flushMode=1", "");
}

#[test]
fn so_does_one_that_spares_the_outputs() {
    powerless_everywhere("", ", flushMode=1");
}

#[test]
fn and_one_that_spares_nothing() {
    powerless_everywhere("", "");
}
