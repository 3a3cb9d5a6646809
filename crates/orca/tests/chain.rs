//! A hundred nodes in a row are submitted and run in under a second.

use env::{Clock, RealClock};
use orca::embedded::{Embedded, Options};
use orca::market::Market;
use stream::Writer;

#[test]
fn a_hundred_chained_nodes_are_submitted_and_run_in_under_a_second() {
    let script = "
        createCatalog(\"chain\")
        go
        use catalog chain
        g = createStreamGraph(\"chained\")
        s = g.source(\"trades\", `symbol`datetime`price`volume, [SYMBOL, TIMESTAMP, DOUBLE, INT])
        for (i in 0:100) {
            s = s.reactiveStateEngine(<[datetime, price + 1 as price, volume]>, `symbol)
        }
        s.sink(\"output\")
        g.submit()
    ";
    let clock = RealClock::new();
    let orca = Embedded::open(&Options::default()).expect("a process in memory");
    let start = clock.monotonic_ns();
    orca.run_script(&lang::Source::new("chain.dos", script)).unwrap_or_else(|failure| panic!("{failure:?}"));
    let trades = orca.table("trades").expect("the source");
    let batch = Market::new(3, 10, 1_000, 1_000).next().expect("a batch");
    orca.append(&trades, &Writer::named("test"), 1, &batch).expect("rows of the schema");
    orca.wait().expect("the graph runs");
    let seconds = (clock.monotonic_ns() - start) as f64 / 1e9;
    let output = orca.table("output").expect("the sink");
    let (_, last) = output.read(999..1_000).expect("a thousand rows").remove(0);
    let (came, went) = (batch.column(2).f64s()[999], last.column(2).f64s()[0]);
    assert!((went - came - 100.0).abs() < 1e-9, "each node added one: {came} and {went}");
    assert!(seconds < 1.0, "it took {seconds} s");
    println!("100 nodes: {seconds:.3} s");
    orca.close();
}
