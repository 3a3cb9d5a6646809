//! The test harness of the engines: a call as a script writes it, rows in, rows wanted.
//!
//! Every case is run in many ways, and each must give the same rows in the same order: as one batch, row by row, cut
//! at random places, through freeze and thaw at each cut, and where the engine's facts allow it, split over parts and
//! restored at another number of parts.

use crate::{Arguments, Chunk, Clock, ClockOrigin, Counts, Engine, Frozen, Input, Origins, Output, Port, Spec, Split};
use data::{Batch, KeyGroup, Schema, Type, key_group, parse_table, print_table};
use lang::{Args, Diagnostic, Host, Session, Source, Value};

/// The columns of a case's input.
pub(crate) type Columns<'a> = &'a [(&'a str, Type)];

/// One thing that happens to an engine.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step<'a> {
    /// The clock moves to so many milliseconds, and an epoch begins.
    Tick(i64),
    /// One append.
    Rows(&'a str),
}

/// Runs a case whose rows may be cut into appends in any way.
pub(crate) fn check(columns: Columns, call: &str, input: &str, expected: &str) -> Counts {
    let schema = Schema::of(columns);
    let spec = bind(columns, call).unwrap_or_else(|errors| panic!("{call}: {errors:?}"));
    let rows = parse_table(&schema, input).expect("the input reads as a table");
    let wanted = parse_table(&spec.schema(), expected).expect("the expectation reads as a table");
    assert!(!spec.facts().reads_batches, "this engine reads batches: use check_steps");
    check_rows(spec.as_ref(), &rows, &wanted)
}

/// Runs rows in many ways and wants these rows each time.
pub(crate) fn check_rows(spec: &dyn Spec, rows: &Batch, wanted: &Batch) -> Counts {
    let cuts = |lengths: &mut dyn FnMut() -> usize| {
        let (mut cuts, mut from) = (vec![], 0);
        while from < rows.rows() {
            let length = lengths().clamp(1, rows.rows() - from);
            cuts.push(rows.slice(from, length));
            from += length;
        }
        cuts
    };
    let mut chance = Chance(7);
    let mut ways = vec![("one batch", cuts(&mut || usize::MAX)), ("row by row", cuts(&mut || 1))];
    for _ in 0..2 {
        ways.push(("random cuts", cuts(&mut || chance.below(5))));
    }
    let mut counts = None;
    for (way, cuts) in ways {
        for restore in [false, true] {
            for parts in parts_of(spec) {
                let mut run = Run::new(spec, parts);
                for cut in &cuts {
                    run.tick(0);
                    // Two appends in one epoch, every other time.
                    let half = cut.rows() / 2;
                    run.push(&cut.slice(0, half), 0);
                    run.push(&cut.slice(half, cut.rows() - half), half as u32);
                    if restore {
                        run.restore(if parts == 1 { 1 } else { 5 - run.parts.len() });
                    }
                }
                let what = format!("{way}, parts {parts}, restore {restore}");
                assert_eq!(print_table(&run.rows()), print_table(wanted), "{what}");
                assert_eq!(*counts.get_or_insert(run.counts), run.counts, "{what}");
            }
        }
    }
    counts.expect("at least one way")
}

/// Runs a case whose appends and ticks are as given.
pub(crate) fn check_steps(columns: Columns, call: &str, steps: &[Step], expected: &str) -> Counts {
    let schema = Schema::of(columns);
    let spec = bind(columns, call).unwrap_or_else(|errors| panic!("{call}: {errors:?}"));
    let wanted = parse_table(&spec.schema(), expected).expect("the expectation reads as a table");
    let mut counts = None;
    for restore in [false, true] {
        for parts in parts_of(spec.as_ref()) {
            let mut run = Run::new(spec.as_ref(), parts);
            let mut start = 0;
            for step in steps {
                match step {
                    Step::Tick(now) => {
                        run.tick(*now);
                        start = 0;
                    }
                    Step::Rows(text) => {
                        let rows = parse_table(&schema, text).expect("the input reads as a table");
                        run.push(&rows, start);
                        start += rows.rows() as u32;
                    }
                }
                if restore {
                    run.restore(if parts == 1 { 1 } else { 5 - run.parts.len() });
                }
            }
            let what = format!("parts {parts}, restore {restore}");
            assert_eq!(print_table(&run.rows()), print_table(&wanted), "{what}");
            assert_eq!(*counts.get_or_insert(run.counts), run.counts, "{what}");
        }
    }
    counts.expect("at least one way")
}

/// Wants a call to be refused with a message for each of these texts; `a|b` means one of them.
pub(crate) fn refuse(columns: Columns, call: &str, words: &[&str]) {
    let Err(errors) = bind(columns, call) else { panic!("not refused: {call}") };
    let text = errors.iter().map(|error| error.to_string()).collect::<Vec<_>>().join("\n");
    for word in words {
        assert!(word.split('|').any(|word| text.contains(word)), "{call}: `{word}` is not in: {text}");
    }
}

fn parts_of(spec: &dyn Spec) -> Vec<usize> {
    match spec.facts().split {
        Split::By(_) => vec![1, 2, 3],
        _ => vec![1],
    }
}

/// Binds a call to a table of these columns.
pub(crate) fn bind(columns: Columns, call: &str) -> Result<Box<dyn Spec>, Vec<Diagnostic>> {
    let mut host = Catch { call: None };
    Session::new().run(&Source::new("case", call), &mut host)?;
    let (name, args) = host.call.expect("the case calls an engine");
    let kind = crate::find(&name).expect("an engine of this name");
    let arguments = Arguments::collect(kind.name, kind.parameters, &args)?;
    (kind.bind)(&arguments, &[Input { schema: Schema::of(columns), name: Some("input".into()) }])
}

/// A host that keeps the call of an engine.
struct Catch {
    call: Option<(String, Args)>,
}

impl Host for Catch {
    fn call(&mut self, name: &str, args: &Args) -> Option<Result<Value, Diagnostic>> {
        crate::find(name)?;
        self.call = Some((name.to_string(), args.clone()));
        Some(Ok(Value::Tuple(vec![])))
    }
}

/// A host that knows nothing.
pub(crate) struct NoHost;

impl Host for NoHost {}

/// Numbers that look random and are the same each time.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    /// A number below this one.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }
}

/// One run of an engine in several parts.
pub(crate) struct Run<'a> {
    spec: &'a dyn Spec,
    part_by: Option<String>,
    pub(crate) parts: Vec<Box<dyn Engine>>,
    given: Vec<Batch>,
    /// The counts of all parts.
    pub(crate) counts: Counts,
    /// Warm-up and the like are given with the host of the case.
    host: NoHost,
}

impl<'a> Run<'a> {
    /// A run with empty state.
    pub(crate) fn new(spec: &'a dyn Spec, parts: usize) -> Run<'a> {
        let part_by = match spec.facts().split {
            Split::By(columns) => Some(columns[0].clone()),
            _ => None,
        };
        let parts = (0..parts).map(|_| spec.start(part_by.as_deref())).collect();
        Run { spec, part_by, parts, given: vec![], counts: Counts::default(), host: NoHost }
    }

    /// Moves the clock.
    pub(crate) fn tick(&mut self, now: i64) {
        let mut given = vec![];
        for part in &mut self.parts {
            let mut out = Output::new(&mut self.host);
            part.tick(Clock(now), &mut out).expect("a tick");
            add(&mut self.counts, out.counts);
            given.push(out.chunks);
        }
        self.merge(given);
    }

    /// Appends rows that stand at `start` in their epoch.
    pub(crate) fn push(&mut self, rows: &Batch, start: u32) {
        let all = Chunk::whole(rows.clone(), start);
        let hashes = self.part_by.as_ref().map(|name| rows.column_named(name).expect("a column").stable_hashes());
        let count = self.parts.len();
        let mut given = vec![];
        for (number, part) in self.parts.iter_mut().enumerate() {
            let mut chunk = all.clone();
            if let Some(hashes) = hashes.as_ref().filter(|_| count > 1) {
                let mine = |row: &u32| part_of(key_group(hashes[*row as usize]), count) == number;
                chunk.selection = Some((0..rows.rows() as u32).filter(mine).collect());
            }
            let mut out = Output::new(&mut self.host);
            part.push(Port(0), &chunk, &mut out).expect("a push");
            add(&mut self.counts, out.counts);
            given.push(out.chunks);
        }
        self.merge(given);
    }

    /// Freezes all parts and goes on with what was thawed into so many.
    pub(crate) fn restore(&mut self, parts: usize) {
        let frozen: Vec<Frozen> = self.parts.iter_mut().map(|part| part.freeze().encode()).collect();
        let thawed = (0..parts).map(|number| {
            let mine = |frozen: &Frozen| Frozen {
                groups: frozen.groups.iter().filter(|(group, _)| part_of(*group, parts) == number).cloned().collect(),
                ..frozen.clone()
            };
            let mut engine = self.spec.start(self.part_by.as_deref());
            engine.thaw(&frozen.iter().map(mine).collect::<Vec<_>>()).expect("a thaw");
            engine
        });
        self.parts = thawed.collect();
    }

    /// Takes up what the parts gave out, in the order of its origins.
    fn merge(&mut self, given: Vec<Vec<Chunk>>) {
        let mut rows = vec![];
        for (part, chunks) in given.into_iter().enumerate() {
            for chunk in chunks {
                for row in 0..chunk.batch.rows() {
                    let origin = match &chunk.origins {
                        Origins::Clock(origins) => origins[row],
                        _ => ClockOrigin { due: chunk.origin(row as u32) as i64, birth: 0, place: 0 },
                    };
                    rows.push((origin, part, chunk.batch.slice(row, 1)));
                }
            }
        }
        let order: Vec<_> = rows.iter().map(|(origin, part, _)| (*part, *origin)).collect();
        assert!(order.is_sorted(), "the origins of a part never fall");
        rows.sort_by_key(|(origin, part, _)| (*origin, *part));
        self.given.extend(rows.into_iter().map(|(.., row)| row));
    }

    /// All rows given out so far.
    pub(crate) fn rows(&self) -> Batch {
        Batch::concat(self.spec.schema(), &self.given).expect("rows of one schema")
    }
}

fn part_of(group: KeyGroup, parts: usize) -> usize {
    group.0 as usize % parts
}

fn add(sum: &mut Counts, more: Counts) {
    sum.rows_in += more.rows_in;
    sum.rows_out += more.rows_out;
    sum.late += more.late;
    sum.rejected += more.rejected;
}
