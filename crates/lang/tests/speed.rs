//! How many rows a second each function takes on one processor, as an engine calls it.
//!
//! `cargo test --release -p orca-lang --test speed -- --ignored --nocapture`; `ONLY=msum,mavg` for some alone.

use data::{Batch, Column, Schema, Type};
use env::process_cpu_ns;
use lang::function::{Form, Function};
use lang::{Code, Host, Program, RowProgram, Scope, Source, WindowProgram, library, parse_expr};
use std::sync::Arc;

const ROWS: usize = 2_000_000;
const KEYS: u32 = 5_000;
/// Rows that come together.
const BATCH: usize = 65_536;
/// Each figure is the best of so many rounds.
const ROUNDS: usize = 3;
/// How many columns of numbers there are.
const COLUMNS: u64 = 4;

/// Runs a call over a batch whose rows stand from this place on among all rows.
type Work = Box<dyn FnMut(&Batch, usize)>;

struct NoHost;
impl Host for NoHost {}

/// Numbers that look like chance, the same ones each time.
fn numbers(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    })
}

fn batch() -> Batch {
    let mut columns = vec![Column::of_i64(Type::Long, (0..ROWS as i64).collect::<Vec<_>>(), None)];
    let values = |seed| numbers(seed).take(ROWS).map(|number| (number % 20_000) as f64 / 100.0 - 50.0);
    columns.extend((0..COLUMNS).map(|seed| Column::of_f64(Type::Double, values(7 + seed).collect::<Vec<_>>(), None)));
    let fields =
        [("t", Type::Long), ("a", Type::Double), ("b", Type::Double), ("c", Type::Double), ("d", Type::Double)];
    Batch::new(Schema::of(&fields), columns).expect("columns of one length")
}

/// A call with the arguments that a function must have, as a user might write it; `None` if this measurement has none of
/// a kind.
fn call(function: &Function, over_keys: bool) -> Option<(String, usize)> {
    let required =
        function.parameters.split(',').map(str::trim).filter(|name| !name.starts_with('[') && *name != "...");
    let mut columns = ["a", "b", "c", "d"].into_iter();
    let argument = |name: &str| match name {
        "T" => Some("t"),
        name if name.starts_with(char::is_uppercase) => columns.next(),
        // Of times: as far as 60 rows of a key reach.
        "window" => Some(if over_keys && function.parameters.starts_with("T,") { "300000" } else { "60" }),
        "top" | "n" | "k" => Some("5"),
        "percent" => Some("50"),
        "quantile" | "alpha" => Some("0.5"),
        "maType" => Some("1"),
        "ascending" => Some("true"),
        _ => None,
    };
    let mut arguments: Vec<&str> = required.map(argument).collect::<Option<_>>()?;
    // Exponentially weighted functions want to be told how fast weights fall.
    arguments.extend(function.name.starts_with("ewm").then_some("5"));
    Some((format!("{}({})", function.name, arguments.join(", ")), arguments.len()))
}

/// Millions of rows a second of processor time, the best of some rounds.
fn rate(batch: &Batch, rows_each: usize, mut bind: impl FnMut() -> Option<Work>) -> Option<f64> {
    let mut best: f64 = 0.0;
    for _ in 0..ROUNDS {
        let mut work = bind()?;
        let begun = process_cpu_ns();
        let mut from = 0;
        while from < ROWS {
            let rows = rows_each.min(ROWS - from);
            work(&batch.slice(from, rows), from);
            from += rows;
        }
        best = best.max(ROWS as f64 * 1_000.0 / (process_cpu_ns() - begun) as f64);
    }
    Some(best)
}

/// What runs a call over rows that have these keys.
fn bound(function: &Function, over_keys: bool, schema: &Schema, keys: Arc<Vec<u32>>) -> Option<Work> {
    let (text, arguments) = call(function, over_keys)?;
    let expr = Arc::new(parse_expr(&Source::new("speed", text)).expect("a call"));
    let metrics = [Code { expr, names: vec![], functions: Arc::default() }];
    let scope = Scope::of(schema);
    Some(match function.form(arguments) {
        Form::State(_) => {
            let mut program = Program::bind(&metrics, &scope).ok()?;
            Box::new(move |batch, from| {
                drop(program.run(batch, None, &keys[from..from + batch.rows()], &mut NoHost).expect("results"));
            })
        }
        Form::Row(_) | Form::Across(_) => {
            let mut program = RowProgram::bind(&metrics, &scope).ok()?;
            Box::new(move |batch, _| drop(program.run(batch, None, &mut NoHost).expect("results")))
        }
        Form::Aggregate(_) => {
            let mut program = WindowProgram::bind(&[metrics.to_vec()], &scope).ok()?;
            program.grow(KEYS as usize);
            Box::new(move |batch, from| {
                let values = program.rows(batch, None, &mut NoHost).expect("values");
                program.fold(&keys[from..from + batch.rows()], &values, None).expect("folded");
            })
        }
        Form::Calling(..) | Form::Script(_) | Form::ByArity(_) => return None,
    })
}

#[test]
#[ignore = "a measurement"]
fn rows_a_second_of_each_function() {
    let only = std::env::var("ONLY").unwrap_or_default();
    let wanted = |name: &str| only.is_empty() || only.split(',').any(|wanted| wanted == name);
    let batch = batch();
    let one = Arc::new(vec![0; ROWS]);
    let many = Arc::new(numbers(3).take(ROWS).map(|number| (number % KEYS as u64) as u32).collect::<Vec<_>>());
    println!("| function | one vector | {KEYS} keys |\n|---|---|---|");
    for function in library::all().filter(|function| wanted(function.name)) {
        let vector = rate(&batch, ROWS, || bound(function, false, batch.schema(), one.clone()));
        let keyed = rate(&batch, BATCH, || bound(function, true, batch.schema(), many.clone()));
        if let (Some(vector), Some(keyed)) = (vector, keyed) {
            println!("| {} | {vector:.1} | {keyed:.1} |", function.name);
        }
    }
}
