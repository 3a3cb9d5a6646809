//! Mangled scripts: whatever the text, the parser, the checker and the interpreter give an error or a value. None of
//! them panics, hangs, overflows the stack or takes more memory than the limit allows.
//!
//! `ORCA_FUZZ_SECONDS=600 cargo test -p orca-lang --test fuzz -- --ignored` goes on for that long; a short time is
//! the default. `ORCA_FUZZ_SEED` sets where it starts. The script at work is kept in a file of the folder for
//! temporary files, whose name is printed, as a stack overflow ends the process.

use lang::{Diagnostic, Host, Session, Source, Value, check, parse};
use std::alloc::{GlobalAlloc, Layout, System};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What a script's values may take, and what all memory may take meanwhile.
const BYTES_MAX: usize = 32 << 20;
const MEMORY_MAX: usize = 1 << 30;
const STEPS_MAX: u64 = 5_000;
const SLOWEST: Duration = Duration::from_secs(20);

/// The system's allocator, which refuses what is above [`MEMORY_MAX`].
struct Counting;

static TAKEN: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if TAKEN.fetch_add(layout.size(), Ordering::Relaxed) + layout.size() > MEMORY_MAX {
            TAKEN.fetch_sub(layout.size(), Ordering::Relaxed);
            return std::ptr::null_mut();
        }
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        TAKEN.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What a script may take before the world calls it late.
const LATE: Duration = Duration::from_secs(2);

struct World {
    chance: u64,
    since: Instant,
}

impl World {
    fn new() -> World {
        World { chance: 1, since: Instant::now() }
    }
}

impl Host for World {
    fn now(&mut self) -> Option<i64> {
        Some(1_700_000_000_000_000_000)
    }

    fn chance(&mut self) -> Option<u64> {
        self.chance = self.chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some(self.chance ^ self.chance >> 29)
    }

    fn sleep(&mut self, time: Duration) -> Result<(), Diagnostic> {
        std::thread::sleep(time);
        Ok(())
    }

    fn late(&mut self) -> Option<u64> {
        (self.since.elapsed() > LATE).then_some(LATE.as_millis() as u64)
    }

    fn module(&mut self, path: &str) -> Option<Arc<Source>> {
        (path == "bars").then(|| Source::new("bars", "module bars\ndef width(x) { return x * 2 }\nLIMIT = 5\n"))
    }
}

/// Scripts that show much of the language.
const SCRIPTS: &[&str] = &[
    "t = table(1 2 3 as a, `x`y`x as s, 1.5 2.5 3.5 as p); select sum(p), a from t where a > 1 group by s order by s",
    "t = table(1 2 3 as a, `x`y`x as s); update t set c = cumsum(a) context by s; delete from t where s = `x; t",
    "t = table(1 2 3 as a, `x`y`x as s, 1 2 3 as p); select p from t pivot by a, s",
    "l = table(1 2 3 as id, 4 5 6 as x); r = table(1 3 3 as id, 7 8 9 as y); select * from lj(l, r, `id)",
    "l = table(`A`B as s, 2 5 as t); r = table(`A`B as s, 1 4 as t, 7 8 as v); wj(l, r, -2:0, <[sum(v)]>, `s`t)",
    "def f(a, b=3) { return a * b }\nx = f(2)\ny = f{, 2}(1)\nz = each(f{1}, 1 2 3)\nx, y = f(1), f(2)",
    "x = 5\nif (x > 3) { y = 1 } else { y = 2 }\nfor (i in 0:5) { if (i == 3) break\n y += i }\ny",
    "try { throw \"bad\" } catch (ex) { print(ex) }\ndo { x = 1 } while (false)\nassert 1, 1 == 1",
    "d = dict(STRING, ANY); d[`a] = 1 2 3; d[`b] = {\"c\": 1}; for (k in d) print(k)\nd.b.c",
    "temporalFormat(2024.01.02T14:03:05.123, \"dd/MM/yyyy hh:mm:ss.SSS aa\") + format(1234.5, \"#,##0.00\")",
    "eval(makeCall(add, 1, 2)) + eval(expr(6, *, 8)) + eval(parseExpr(\"1 + 2\"))",
    "use bars\nwidth(1) + bars::width(LIMIT)",
    "m = 1..6$2:3; transpose(m); sum:V(m); regexReplace(\"ab12\", \"[0-9]\", \"x\")",
    "[1, 2, , 4] + 1 2 3 4 \\ 0; -7 / 2 % 3; 00i + 1; 2024.02.29 + 0..3; temporalAdd(2024.01.31, 1M)",
    "@state def g(x) { return msum(x, 3) + prev(x) }\ng(1 2 3 4)",
    "t = keyedTable(`k, 1 2 1 as k, 5 6 7 as v); t.append!(table(2 3 as k, 8 9 as v)); update t set v = k; share(t, `s); s",
    "t = keyedStreamTable(`k`v, 10:0, `k`v, [INT, DOUBLE]); tableInsert(t, 1, 2.5); insert into t values(1, 2.5); t",
    "timer(3) { x = rand(10, 5) }\nnorm(0, 1, 3)",
    "m = <[sum(a) as x, b * 2]>; sql(sqlCol(`a), table(1 2 as a), <a > 1>).eval()",
    "u = uuid(\"5d212a78-cc48-e3b1-4235-b4d91473ee87\"); p = point(1 2, 3); t = table(1:0, `u`p, [UUID, POINT]); t.append!(table(take(u, 2) as u, p))",
    "x = complex(1, -2) * 2 \\ complex(0, 1); string(x)$COMPLEX == x; 2012.06.13T13 + 0..3; decimal128(\"1.5\", 38)$DECIMAL32(0)",
    "select sum(v) from table(09:30:00 + 0 60 240 as ts, 1 2 3 as v) group by interval(ts, 1m, \"prev\")",
];

/// What is put into scripts.
const PIECES: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    "<[",
    "]>",
    ",",
    ";",
    "\n",
    ".",
    "..",
    ":",
    "::",
    "=",
    "==",
    "+",
    "-",
    "*",
    "/",
    "\\",
    "%",
    "**",
    "$",
    "&",
    "|",
    "^",
    "!",
    "?",
    "->",
    "`",
    "\"",
    "'",
    "0",
    "-1",
    "1",
    "2147483647",
    "-2147483648",
    "9223372036854775807",
    "-9223372036854775808",
    "1e308",
    "00i",
    "00F",
    "NULL",
    "true",
    "1m",
    "100000",
    "9999999",
    "2024.02.29",
    "0001.01.01",
    "9999.12.31",
    "9999.12.31T23",
    "23:59:59.999999999",
    "`a`b",
    "\"\"",
    "[]",
    "()",
    "{}",
    "INT",
    "DOUBLE",
    "SYMBOL",
    "UUID",
    "BLOB",
    "POINT",
    "DECIMAL128(38)",
    "ANY",
    "select",
    "from",
    "where",
    "group by",
    "context by",
    "pivot by",
    "order by",
    "limit",
    "exec",
    "def",
    "return",
    "for",
    "while",
    "if",
    "else",
    "try",
    "catch",
    "break",
    "each",
    "loop",
    "accumulate",
    "take",
    "1..5",
    "x",
    "t",
    "sum",
    "msum",
    "mavg",
    "cumsum",
    "string",
    "date",
    "symbol",
    "array",
    "dict",
    "table",
    "matrix",
    "(1..6$2:3)",
    "[1, ]",
    "[, 0:2]",
    ":E",
    ":A ",
    "+:C ",
    "case when",
    "then",
    "end",
    "eval",
    "é",
    "，",
    "\u{0}",
    "/*",
    "//",
];

struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }

    fn of<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }
}

/// The scripts of the tests, of the conformance cases, and an example of each function.
fn corpus() -> Vec<String> {
    let mut scripts: Vec<String> = SCRIPTS.iter().map(|script| script.to_string()).collect();
    scripts.extend(lang::library::all().map(|function| function.example.0.to_string()));
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance");
    let mut folders = vec![cases];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match path.extension().and_then(|extension| extension.to_str()) {
                _ if path.is_dir() => folders.push(path),
                Some("case") => {
                    let text = std::fs::read_to_string(&path).unwrap_or_default();
                    let script = text.split("== script\n").nth(1).and_then(|rest| rest.split("\n== ").next());
                    scripts.extend(script.map(str::to_string));
                }
                Some("jsonl") => {
                    let text = std::fs::read_to_string(&path).unwrap_or_default();
                    let calls =
                        text.lines().filter_map(|line| line.split("\"call\": \"").nth(1)?.split("\", \"").next());
                    scripts.extend(calls.map(|call| format!("x = 2 1 3 7 6 5 4; y = 1.5 2 3 4 5 6 7; {call}")));
                }
                _ => {}
            }
        }
    }
    scripts
}

fn mangled(corpus: &[String], chance: &mut Chance) -> String {
    let mut script: Vec<char> = corpus[chance.below(corpus.len())].chars().take(2_000).collect();
    for _ in 0..1 + chance.below(5) {
        let (at, other) = (chance.below(script.len() + 1), chance.below(script.len() + 1));
        let (from, to) = (at.min(other), at.max(other));
        let near = (from + 1 + chance.below(12)).min(script.len()).max(from);
        match chance.below(8) {
            0 => drop(script.drain(from..near)),
            1 => {
                let copy: Vec<char> = script[from..near].to_vec();
                script.splice(to..to, copy);
            }
            2 | 3 => drop(script.splice(at..at, chance.of(PIECES).chars())),
            4 => drop(script.splice(from..near, chance.of(PIECES).chars())),
            5 => {
                // A number becomes another one.
                let digits: Vec<usize> = (0..script.len()).filter(|&place| script[place].is_ascii_digit()).collect();
                if let Some(&place) = digits.get(chance.below(digits.len())) {
                    drop(script.splice(place..=place, chance.of(PIECES).chars()));
                }
            }
            6 => {
                let more: Vec<char> = corpus[chance.below(corpus.len())].chars().take(400).collect();
                let cut = chance.below(more.len() + 1);
                drop(script.splice(at..at, more[cut..].iter().copied()));
            }
            _ => {
                // A word becomes the name of a function.
                let names: Vec<&str> = lang::library::all().map(|function| function.name).collect();
                let start = script[..at].iter().rposition(|c| !c.is_alphanumeric()).map_or(0, |place| place + 1);
                let end = script[at..].iter().position(|c| !c.is_alphanumeric()).map_or(script.len(), |more| at + more);
                drop(script.splice(start..end, chance.of(&names).chars()));
            }
        }
    }
    script.into_iter().collect()
}

fn run_for(name: &str, mut work: impl FnMut(&Arc<Source>)) {
    let setting = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let time = Duration::from_secs(setting("ORCA_FUZZ_SECONDS").unwrap_or(5));
    let seed = setting("ORCA_FUZZ_SEED").unwrap_or(1);
    let file: PathBuf = std::env::temp_dir().join(format!("orca-fuzz-{name}.txt"));
    println!("the script at work: {}", file.display());
    let (corpus, mut chance) = (corpus(), Chance(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1));
    let (start, mut count) = (Instant::now(), 0u64);
    while start.elapsed() < time {
        let script = mangled(&corpus, &mut chance);
        std::fs::write(&file, &script).expect("a file for the script");
        let source = Source::new("fuzz", script);
        let began = Instant::now();
        let done = catch_unwind(AssertUnwindSafe(|| work(&source)));
        let took = began.elapsed();
        assert!(done.is_ok(), "a panic, seed={seed}, script:\n{}", source.text);
        assert!(took < SLOWEST, "it took {took:?}, seed={seed}, script:\n{}", source.text);
        count += 1;
    }
    println!("{name}: {count} scripts");
}

#[test]
#[ignore = "takes as long as it is told"]
fn mangled_scripts_are_parsed_and_checked() {
    run_for("parser", |source| {
        let parsed = parse(source);
        let checked = check(source, &mut World::new());
        assert!(parsed.errors.is_empty() || !checked.errors.is_empty());
        for error in checked.errors.iter().chain(&checked.warnings) {
            drop(error.to_string());
        }
    });
}

#[test]
#[ignore = "takes as long as it is told"]
fn mangled_scripts_are_run() {
    run_for("interpreter", |source| {
        let mut session = Session::new();
        (session.limit_steps, session.limit_bytes) = (Some(STEPS_MAX), Some(BYTES_MAX));
        match session.run(source, &mut World::new()) {
            Ok(value) if !matches!(value, Value::Tuple(_)) => drop(value.show()),
            Ok(value) => drop(value.kind()),
            Err(errors) => drop(errors.iter().map(ToString::to_string).collect::<Vec<_>>()),
        }
    });
}
