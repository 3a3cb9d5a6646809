//! Real ticks with bars that others computed: every bar agrees.
//!
//! Where our bars differ, and why: the last window of each symbol stays open, since no later row closes it, so its bar
//! is missing here and there alone; nothing else may be missing, and no bar may be over. Windows without a tick have a
//! bar on neither side. The data stand outside the project; without them the test says so and passes.

mod place;

use data::{Batch, Scalar, Schema, Type};
use orca::embedded::{Embedded, Feeding, Options};
use place::root;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn data() -> Option<PathBuf> {
    let root = root();
    let folder = root.parent()?.join("shared/data");
    folder.exists().then_some(folder)
}

/// One file of ticks and one of bars.
struct Bars {
    ticks: &'static str,
    /// The source's columns, in the script's words.
    columns: &'static str,
    time: &'static str,
    /// In the unit of the time column.
    window: i64,
    /// How many units of the time column make a millisecond.
    per_ms: i64,
    metrics: &'static str,
    gold: &'static str,
    gold_columns: &'static [&'static str],
}

const QUOTES: &str = "first(bid) as bid_open, max(bid) as bid_high, min(bid) as bid_low, last(bid) as bid_close, \
                      first(ask) as ask_open, max(ask) as ask_high, min(ask) as ask_low, last(ask) as ask_close";
const QUOTE_COLUMNS: &[&str] =
    &["bid_open", "bid_high", "bid_low", "bid_close", "ask_open", "ask_high", "ask_low", "ask_close"];
const FX: &str = "`symbol`ts_ms`bid`ask, [SYMBOL, TIMESTAMP, DOUBLE, DOUBLE]";
const XAU: &str = "`symbol`ts_us`bid`ask, [SYMBOL, NANOTIMESTAMP, DOUBLE, DOUBLE]";
const TRADES: &str = "first(price) as open, max(price) as high, min(price) as low, last(price) as close, \
                      sum(volume) as volume";
const TRADE_COLUMNS: &[&str] = &["open", "high", "low", "close", "volume"];
const ROLL_UP: &str = "first(open) as open, max(high) as high, min(low) as low, last(close) as close, \
                       sum(volume) as volume";

const CASES: &[Bars] = &[
    quotes("fx_oanda_20140505_quotes", FX, "ts_ms", 1_000, 1, "fx_oanda_20140505_gold_bars_1s"),
    quotes("fx_oanda_20140505_quotes", FX, "ts_ms", 60_000, 1, "fx_oanda_20140505_gold_bars_1m"),
    quotes("fx_fxcm_20140505_quotes", FX, "ts_ms", 1_000, 1, "fx_fxcm_20140505_gold_bars_1s"),
    quotes("fx_fxcm_20140505_quotes", FX, "ts_ms", 60_000, 1, "fx_fxcm_20140505_gold_bars_1m"),
    quotes("xau_oanda_20140506_quotes", XAU, "ts_us", 1_000_000_000, 1_000_000, "xau_oanda_20140506_gold_bars_1s"),
    quotes("xau_oanda_20140506_quotes", XAU, "ts_us", 60_000_000_000, 1_000_000, "xau_oanda_20140506_gold_bars_1m"),
    trades("binance_xrpeth_20191011_trades", 60_000, "binance_xrpeth_20191011_gold_bars_1m"),
    trades("binance_xrpeth_20191011_trades", 300_000, "binance_xrpeth_20191011_gold_bars_5m"),
    roll_up("coinbase_btcusd_20161007_bars_1s", 60_000, "coinbase_btcusd_20161007_gold_bars_1m"),
    roll_up("coinbase_btcusd_20161007_bars_1s", 86_400_000, "coinbase_btcusd_20161007_gold_bars_1d"),
];

const fn quotes(
    ticks: &'static str,
    columns: &'static str,
    time: &'static str,
    window: i64,
    per_ms: i64,
    gold: &'static str,
) -> Bars {
    Bars { ticks, columns, time, window, per_ms, metrics: QUOTES, gold, gold_columns: QUOTE_COLUMNS }
}

const fn trades(ticks: &'static str, window: i64, gold: &'static str) -> Bars {
    let columns = "`symbol`ts_ms`price`volume, [SYMBOL, TIMESTAMP, DOUBLE, DOUBLE]";
    Bars { ticks, columns, time: "ts_ms", window, per_ms: 1, metrics: TRADES, gold, gold_columns: TRADE_COLUMNS }
}

const fn roll_up(ticks: &'static str, window: i64, gold: &'static str) -> Bars {
    let columns =
        "`symbol`ts_ms`open`high`low`close`volume, [SYMBOL, TIMESTAMP, DOUBLE, DOUBLE, DOUBLE, DOUBLE, DOUBLE]";
    Bars { ticks, columns, time: "ts_ms", window, per_ms: 1, metrics: ROLL_UP, gold, gold_columns: TRADE_COLUMNS }
}

/// Bars by symbol and start in milliseconds.
type BySymbol = BTreeMap<(String, i64), Vec<f64>>;

fn ours(case: &Bars, folder: &Path) -> BySymbol {
    let script = format!(
        r#"if (!existsCatalog("real")) {{ createCatalog("real") }}
go
use catalog real
g = createStreamGraph("bars")
g.source("ticks", {})
    .parallelize("symbol", 2)
    .timeSeriesEngine({window}, {window}, <[{}]>, "{}", false, "symbol", useWindowStartTime=true)
    .sync()
    .sink("bars")
g.submit()
"#,
        case.columns,
        case.metrics,
        case.time,
        window = case.window,
    );
    let orca = Embedded::open(&Options::default()).expect("a process in memory");
    orca.run_script(&lang::Source::new("bars.dos", script)).unwrap_or_else(|failure| panic!("{failure:?}"));
    let file = folder.join(format!("{}.parquet", case.ticks));
    let feeding = Feeding { batch_rows: 10_000, interleave: None };
    orca.feed(&[("ticks".into(), file)], &feeding).unwrap_or_else(|failure| panic!("{failure:?}"));
    let table = orca.table("bars").expect("the script's table");
    let mut bars = BySymbol::new();
    for (_, batch) in table.read(0..table.end()).expect("rows that are there") {
        add(&batch, "symbol", case.time, case.per_ms, case.gold_columns, &mut bars);
    }
    orca.close();
    bars
}

fn theirs(case: &Bars, folder: &Path) -> BySymbol {
    let mut fields = vec![("symbol", Type::Symbol), ("ts_ms", Type::Timestamp)];
    fields.extend(case.gold_columns.iter().map(|name| (*name, Type::Double)));
    let schema: Arc<Schema> = Schema::of(&fields);
    let batch = connect::read_all(folder.join(format!("{}.parquet", case.gold)), &schema).expect("a file of bars");
    let mut bars = BySymbol::new();
    add(&batch, "symbol", "ts_ms", 1, case.gold_columns, &mut bars);
    bars
}

fn add(batch: &Batch, symbol: &str, time: &str, per_ms: i64, names: &[&str], bars: &mut BySymbol) {
    let column = |name: &str| batch.column_named(name).unwrap_or_else(|| panic!("a column `{name}`"));
    for row in 0..batch.rows() {
        let values = names.iter().map(|name| column(name).get(row).as_f64().expect("a number")).collect();
        let (Scalar::Text(symbol), Scalar::Int(time)) = (column(symbol).get(row), column(time).get(row)) else {
            panic!("a bar has a symbol and a time");
        };
        assert_eq!(time % per_ms, 0, "bars start at whole milliseconds");
        let twice = bars.insert((symbol.to_string(), time / per_ms), values);
        assert!(twice.is_none(), "one bar a window: {symbol} {time}");
    }
}

#[test]
fn every_bar_agrees_with_those_that_others_computed() {
    let Some(folder) = data() else {
        println!("skipped: there is no ../shared/data");
        return;
    };
    for case in CASES {
        let (ours, theirs) = (ours(case, &folder), theirs(case, &folder));
        let over: Vec<_> = ours.keys().filter(|key| !theirs.contains_key(*key)).collect();
        assert!(over.is_empty(), "{}: bars that only we have: {over:?}", case.gold);
        let missing: BTreeSet<_> = theirs.keys().filter(|key| !ours.contains_key(*key)).cloned().collect();
        let mut last = BTreeMap::new();
        for (symbol, time) in theirs.keys() {
            last.insert(symbol.clone(), *time);
        }
        assert_eq!(missing, last.into_iter().collect(), "{}: the last window of each symbol alone is open", case.gold);
        for (key, bar) in &ours {
            let wanted = &theirs[key];
            for ((name, mine), yours) in case.gold_columns.iter().zip(bar).zip(wanted) {
                // Prices are equal; volumes are sums of decimal fractions, which others may have added otherwise.
                let near = if *name == "volume" { (mine - yours).abs() <= 1e-9 * yours.abs() } else { mine == yours };
                assert!(near, "{}: {key:?} {name}: {mine} and {yours}", case.gold);
            }
        }
        println!("{}: {} bars agree", case.gold, ours.len());
    }
}
