//! Random graphs over random rows: however the input is cut into epochs and appends, and at any parallelism, the output
//! is the same to the last byte.

use data::{Batch, ColumnBuilder, Scalar, Schema, Type};
use env::{Chance, SeededChance, SimClock};
use orca::embedded::Embedded;
use std::fmt::Write;
use std::sync::Arc;
use stream::{EpochCap, Flush, Writer};

const GRAPHS: u64 = 200;

/// Draws from a seed.
struct Draw(SeededChance);

impl Draw {
    fn below(&self, bound: usize) -> usize {
        (self.0.next() % bound as u64) as usize
    }

    fn one<'a, T: ?Sized>(&self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }

    fn often(&self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// A random graph as a script in which `{parts}` stands for the parallelism.
struct Graph {
    script: String,
    tables: Vec<String>,
    names: usize,
    /// Does an operator look at the appends at the source? Then they are kept as they are.
    reads_batches: bool,
}

/// A stream on the way: its expression and its number columns beside `sym` and `time`.
#[derive(Clone)]
struct Stream {
    text: String,
    numbers: Vec<String>,
}

impl Graph {
    fn random(draw: &Draw) -> Graph {
        let head = "if (!existsCatalog(\"det\")) { createCatalog(\"det\") }\ngo\nuse catalog det\n\
                    g = createStreamGraph(\"random\")\n";
        let mut graph = Graph { script: head.into(), tables: vec![], names: 0, reads_batches: false };
        let columns = "`sym`time`price`qty, [SYMBOL, TIMESTAMP, DOUBLE, INT]";
        let source = match draw.below(4) {
            0 => format!("g.keyedSource(\"rows\", `time`sym, {columns})"),
            _ => format!("g.source(\"rows\", {columns})"),
        };
        graph.tables.push("rows".into());
        let stream = Stream { text: source, numbers: vec!["price".into(), "qty".into()] };
        graph.branch(draw, stream, 0);
        graph.script.push_str("g.submit()\n");
        graph
    }

    fn name(&mut self, head: &str) -> String {
        self.names += 1;
        format!("{head}{}", self.names)
    }

    /// Some operators, then a sink or a fork.
    fn branch(&mut self, draw: &Draw, mut stream: Stream, depth: usize) {
        let mut section = false;
        for _ in 0..1 + draw.below(4) {
            if !section && draw.often(50) {
                stream.text.push_str("\n    .parallelize(\"sym\", {parts})");
                section = true;
            }
            stream = self.operator(draw, stream);
            if section && draw.often(40) {
                stream.text.push_str("\n    .sync()");
                section = false;
            }
            if !section && draw.often(20) {
                let name = self.name("buffer");
                match draw.below(3) {
                    0 => write!(stream.text, "\n    .buffer(\"{name}\")"),
                    1 => write!(stream.text, "\n    .latestKeyedBuffer(\"{name}\", `sym, `time)"),
                    _ => write!(stream.text, "\n    .keyedBuffer(\"{name}\", `time`sym)"),
                }
                .expect("text takes text");
                self.tables.push(name);
            }
        }
        if section {
            stream.text.push_str("\n    .sync()");
        }
        if depth < 2 && draw.often(30) {
            let name = self.name("branches");
            writeln!(self.script, "{name} = {}\n    .fork(2)", stream.text).expect("text takes text");
            for place in 0..2 {
                self.branch(draw, Stream { text: format!("{name}[{place}]"), ..stream.clone() }, depth + 1);
            }
            return;
        }
        let name = self.name("sink");
        writeln!(self.script, "{}\n    .sink(\"{name}\")", stream.text).expect("text takes text");
        self.tables.push(name);
    }

    fn operator(&mut self, draw: &Draw, stream: Stream) -> Stream {
        match draw.below(5) {
            0 | 1 => self.time_series(draw, stream),
            2 | 3 => self.reactive(draw, stream),
            _ => self.map(draw, stream),
        }
    }

    fn metrics(&mut self, draw: &Draw, stream: &Stream, functions: &[&str]) -> (String, Vec<String>) {
        let mut names = vec![];
        let mut metrics = vec![];
        for _ in 0..1 + draw.below(3) {
            let column = &stream.numbers[draw.below(stream.numbers.len())];
            let name = self.name("m");
            metrics.push(format!("{} as {name}", draw.one(functions).replace('#', column)));
            names.push(name);
        }
        (metrics.join(", "), names)
    }

    fn time_series(&mut self, draw: &Draw, stream: Stream) -> Stream {
        let aggregates = [
            "sum(#)",
            "avg(#)",
            "first(#)",
            "last(#)",
            "max(#)",
            "min(#)",
            "count(#)",
            "std(#)",
            "med(#)",
            "sum(#) \\ count(#)",
            "max(#) - min(#)",
        ];
        let (metrics, names) = self.metrics(draw, &stream, &aggregates);
        let step: usize = draw.one(&["1000", "5000", "7000", "60000"]).parse().expect("a number");
        let window = step * (1 + draw.below(3));
        let mut options = String::new();
        match draw.below(9) {
            0 => options.push_str(", closed=\"right\""),
            1 => options.push_str(", fill=\"null\""),
            2 => options.push_str(", fill=\"ffill\""),
            3 => write!(options, ", acceptedDelay={}", 500 + draw.below(2000)).expect("text takes text"),
            4 => write!(options, ", forceTriggerTime={}", 1000 + draw.below(9000)).expect("text takes text"),
            5 => options.push_str(", useWindowStartTime=true"),
            6 => options.push_str(", roundTime=false"),
            7 if draw.often(50) => {
                options.push_str(", updateTime=0");
                self.reads_batches = true;
            }
            _ => {}
        }
        let call = format!(
            "{}\n    .timeSeriesEngine({window}, {step}, <[{metrics}]>, `time, false, `sym{options})",
            stream.text
        );
        Stream { text: call, numbers: names }
    }

    fn reactive(&mut self, draw: &Draw, stream: Stream) -> Stream {
        let functions = [
            "mavg(#, 3)",
            "msum(#, 4)",
            "mmax(#, 5)",
            "mmin(#, 2)",
            "cumsum(#)",
            "cummax(#)",
            "prev(#)",
            "deltas(#)",
            "ema(#, 3)",
            "mstd(#, 4)",
            "iif(# > 10, #, 0)",
            "mavg(cumsum(#), 2)",
            "# * 2 + 1",
            "ffill(#)",
            "cumcount(#)",
        ];
        let (metrics, names) = self.metrics(draw, &stream, &functions);
        let column = &stream.numbers[0];
        let filter = if draw.often(25) { format!(", filter=<{column} > prev({column})>") } else { String::new() };
        let call = format!("{}\n    .reactiveStateEngine(<[time, {metrics}]>, `sym{filter})", stream.text);
        Stream { text: call, numbers: names }
    }

    fn map(&mut self, draw: &Draw, stream: Stream) -> Stream {
        let column = &stream.numbers[draw.below(stream.numbers.len())];
        let name = self.name("m");
        let function = match draw.below(4) {
            0 => format!("t -> select sym, time, {column} * 3 as {name} from t where {column} > 5"),
            1 => format!("t -> select sym, time, {column} as {name} from t where sym != \"B\""),
            2 => format!("t -> select time, sym, abs({column}) as {name} from t"),
            _ => {
                self.reads_batches = true;
                format!("t -> select sym, time, {column} - avg({column}) as {name} from t")
            }
        };
        Stream { text: format!("{}\n    .map({function})", stream.text), numbers: vec![name] }
    }
}

fn rows(draw: &Draw, count: usize) -> Batch {
    let schema =
        Schema::of(&[("sym", Type::Symbol), ("time", Type::Timestamp), ("price", Type::Double), ("qty", Type::Int)]);
    let mut columns: Vec<ColumnBuilder> = schema.fields().iter().map(|field| ColumnBuilder::new(field.ty)).collect();
    let mut time = 1_704_186_000_000;
    for _ in 0..count {
        time += draw.below(900) as i64;
        let late = if draw.often(4) { draw.below(3000) as i64 } else { 0 };
        let sym =
            if draw.often(2) { Scalar::Null } else { Scalar::from(draw.one(&["A", "B", "C", "D", "E", "F", "G"])) };
        let price = if draw.often(5) { Scalar::Null } else { Scalar::Float(draw.below(4000) as f64 / 100.0) };
        let qty = if draw.often(5) { Scalar::Null } else { Scalar::Int(draw.below(90) as i64) };
        for (column, value) in columns.iter_mut().zip([sym, Scalar::Int(time - late), price, qty]) {
            column.push(&value);
        }
    }
    Batch::new(schema, columns.into_iter().map(ColumnBuilder::finish).collect()).expect("columns of the schema")
}

/// Lengths that sum up to `total`.
fn cuts(draw: &Draw, total: usize, longest: usize) -> Vec<usize> {
    let (mut cuts, mut left) = (vec![], total);
    while left > 0 {
        let next = (1 + draw.below(longest)).min(left);
        cuts.push(next);
        left -= next;
    }
    cuts
}

/// Runs the graph and gives its tables as text. `cutter` decides where epochs end.
fn run(graph: &Graph, parts: usize, rows: &Batch, appends: &[usize], cutter: &Draw) -> Vec<String> {
    let clock = Arc::new(SimClock::at(1_704_186_000_000));
    let orca = Embedded::on(None, clock, Flush::Off, 0).expect("a process in memory");
    let script = graph.script.replace("{parts}", &parts.to_string());
    let source = lang::Source::new("random.dos", script.as_str());
    orca.run_script(&source).unwrap_or_else(|failure| panic!("{failure:?}\n{script}"));
    let table = orca.table("rows").expect("the source");
    let writer = Writer::named("test");
    let mut from = 0;
    for (piece, &count) in appends.iter().enumerate() {
        table.append(&writer, piece as u64 + 1, 0, &rows.slice(from, count)).expect("rows of the schema");
        from += count;
        orca.set_epoch_cap(EpochCap { rows: 1 + cutter.below(60) as u32, appends: 1 + cutter.below(6) });
        for _ in 0..cutter.below(8) {
            orca.turn();
        }
    }
    orca.wait().unwrap_or_else(|failure| panic!("{failure:?}\n{script}"));
    let text = |name: &String| {
        let table = orca.table(name).expect("a table of the script");
        let batches: Vec<Batch> =
            table.read(0..table.end()).expect("rows that are there").into_iter().map(|(_, batch)| batch).collect();
        let all = Batch::concat(table.schema().clone(), &batches).expect("one schema");
        format!("{name}\n{}", data::print_table(&all))
    };
    let tables = graph.tables.iter().map(text).collect();
    orca.close();
    tables
}

#[test]
fn random_graphs_give_one_output_however_they_are_cut_and_split() {
    let (mut outputs, mut readers) = (0, 0);
    for seed in 0..GRAPHS {
        let draw = Draw(SeededChance::new(seed));
        let graph = Graph::random(&draw);
        let rows = rows(&draw, 300);
        let given = cuts(&draw, rows.rows(), 40);
        let wanted = run(&graph, 1, &rows, &given, &Draw(SeededChance::new(seed + 1)));
        outputs += wanted.iter().skip(1).filter(|table| table.lines().count() > 2).count();
        readers += graph.reads_batches as usize;
        for turn in 0..4 {
            let cutter = Draw(SeededChance::new(seed * 1000 + turn));
            let parts = [1, 2 + cutter.below(2), 4 + cutter.below(3), 7 + cutter.below(2)][turn as usize];
            let appends = if graph.reads_batches { given.clone() } else { cuts(&cutter, rows.rows(), 80) };
            let found = run(&graph, parts, &rows, &appends, &cutter);
            for (found, wanted) in found.iter().zip(&wanted) {
                let lines = found.lines().zip(wanted.lines());
                let first = lines.enumerate().find(|(_, (found, wanted))| found != wanted);
                let table = wanted.lines().next();
                assert!(found == wanted, "seed {seed}, {parts} parts, {table:?}: {first:?}\n{}", graph.script);
            }
        }
    }
    assert!(outputs as u64 > GRAPHS, "most graphs put rows out: {outputs}");
    assert!(readers > 20 && (readers as u64) < GRAPHS / 2, "some graphs read batches, not most: {readers}");
}
