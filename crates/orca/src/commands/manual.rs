//! `orca manual`: the pages of the manual that follow from the program's own lists.
//!
//! Invariants:
//! - One program always writes the same pages, so the stored ones can be held against it.
//! - An example on a page is a block that a test of the manual runs.

use super::Failure;
use engine::{EngineKind, Parameter};
use graph::CallEntry;
use lang::function::{Form, Function};
use lang::library;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Where the pages go.
#[derive(Debug, clap::Args)]
pub struct Manual {
    /// The folder of the manual.
    #[arg(long)]
    dir: PathBuf,
}

/// Writes them, and removes the pages of functions that are no more.
pub fn manual(arguments: &Manual) -> Result<(), Failure> {
    let folder = arguments.dir.join(FUNCTIONS);
    std::fs::create_dir_all(&folder)?;
    for entry in std::fs::read_dir(&folder)? {
        let path = entry?.path();
        // What others keep there stays.
        if path.extension().is_some_and(|end| end == "md") && std::fs::read_to_string(&path)?.contains(MADE) {
            std::fs::remove_file(path)?;
        }
    }
    let pages = pages();
    for (name, text) in &pages {
        std::fs::write(arguments.dir.join(name), text)?;
    }
    println!("{}: {} pages", arguments.dir.display(), pages.len());
    Ok(())
}

/// The folder of the pages of functions.
const FUNCTIONS: &str = "functions";

/// The pages that are made, by the names of their files.
pub fn pages() -> Vec<(String, String)> {
    let mut all: Vec<&Function> = library::all().collect();
    all.sort_by_key(|function| (function.name.to_lowercase(), function.name));
    let files = files(&all);
    let lists = [("engines.md", engines()), ("calls.md", calls()), ("settings.md", settings())];
    let mut pages: Vec<(String, String)> = lists.map(|(name, text)| (name.to_string(), text)).into();
    pages.push(("functions.md".to_string(), functions(&all, &files)));
    let of_each =
        all.iter().zip(&files).map(|(own, file)| (format!("{FUNCTIONS}/{file}"), function(own, &all, &files)));
    pages.extend(of_each);
    pages
}

/// What stands below the title of each page.
const MADE: &str = "<!-- Written by `orca manual --dir docs/manual` from the program's own lists. Do not edit. -->";

/// Engines with a page of prose.
const PROSE: &[(&str, &str)] = &[("timeSeriesEngine", "time-series.md"), ("reactiveStateEngine", "reactive-state.md")];

/// The first of the parameters that say how a public table is kept. Calls that make a table end with them.
const KEPT: &str = "asyncWrite";

const WRITES: &str = "a text takes any text";

fn engines() -> String {
    let mut page = format!(
        "# Engines\n\n{MADE}\n\n\
         An engine is a method of a stream. It takes the rows of the stream and gives rows of its own. Arguments are \
         given by place or by name (`closed=\"right\"`); a parameter in brackets may be left out. A join takes its \
         second stream, `rightStream`, as first argument.\n\n\
         | engine | inputs | page |\n|---|---|---|\n"
    );
    for kind in engine::KINDS {
        let prose = prose(kind).map_or(String::new(), |file| format!("[{file}]({file})"));
        let (name, anchor) = (kind.name, kind.name.to_lowercase());
        writeln!(page, "| [{name}](#{anchor}) | {} | {prose} |", kind.inputs).expect(WRITES);
    }
    for kind in engine::KINDS {
        let right: &[Parameter] = match kind.inputs {
            1 => &[],
            _ => &[Parameter { name: "rightStream", required: true, summary: "The other stream, of the same graph." }],
        };
        let parameters = [right, kind.parameters].concat();
        write!(page, "\n## {}\n\n`{}`\n\n", kind.name, signature(kind.name, &parameters, false)).expect(WRITES);
        if let Some(file) = prose(kind) {
            write!(page, "What it does, with examples: [{file}]({file}).\n\n").expect(WRITES);
        }
        table(&mut page, &parameters);
    }
    page
}

fn prose(kind: &EngineKind) -> Option<&'static str> {
    PROSE.iter().find(|(name, _)| *name == kind.name).map(|(_, file)| *file)
}

fn calls() -> String {
    let entries = graph::manual();
    let is_engine = |entry: &&CallEntry| engine::find(entry.name).is_some();
    let mut page = format!(
        "# Calls\n\n{MADE}\n\n\
         What a script may call besides the [functions](functions.md). Arguments are given by place or by name; a \
         parameter in brackets may be left out. [Graphs](graphs.md) tells how the calls work together, and which \
         parameters have an effect in this version.\n"
    );
    let classes = [
        (None, "Functions", "Called by their names."),
        (Some("StreamGraph"), "Methods of a graph", "Called on what `createStreamGraph` or `getStreamGraph` gives."),
        (Some("DStream"), "Methods of a stream", "Called on what a source or another method of a stream gives."),
    ];
    for (class, title, text) in classes {
        write!(page, "\n## {title}\n\n{text}\n").expect(WRITES);
        for entry in entries.iter().filter(|entry| entry.class == class && !is_engine(entry)) {
            let (own, kept) = own_parameters(entry.parameters);
            let signature = signature(entry.name, own, !kept.is_empty());
            write!(page, "\n### {}\n\n`{signature}`\n\n{}\n", entry.name, entry.summary).expect(WRITES);
            if !own.is_empty() {
                page.push('\n');
                table(&mut page, own);
            }
            if !kept.is_empty() {
                page.push_str("\nThen [how the table is kept](#how-a-table-is-kept).\n");
            }
        }
    }
    let names = entries.iter().filter(is_engine).map(|entry| {
        let anchor = entry.name.to_lowercase();
        format!("[{}](engines.md#{anchor})", entry.name)
    });
    let names: Vec<String> = names.collect();
    write!(page, "\nEach engine is a method of a stream too: {}.\n", names.join(", ")).expect(WRITES);
    page.push_str("\n## How a table is kept\n\nThe last parameters of every call that makes a public table.\n\n");
    let kept = entries.iter().map(|entry| own_parameters(entry.parameters).1).find(|kept| !kept.is_empty());
    table(&mut page, kept.unwrap_or_default());
    page
}

/// The parameters of a call alone, and those of the table that it makes.
fn own_parameters(parameters: &[Parameter]) -> (&[Parameter], &[Parameter]) {
    let first = parameters.iter().position(|parameter| parameter.name == KEPT);
    parameters.split_at(first.unwrap_or(parameters.len()))
}

/// `name(needed, [optional])`.
pub(super) fn signature(name: &str, parameters: &[Parameter], open: bool) -> String {
    let words = parameters.iter().map(|parameter| match parameter.required {
        true => parameter.name.to_string(),
        false => format!("[{}]", parameter.name),
    });
    let words: Vec<String> = words.chain(open.then(|| "...".to_string())).collect();
    format!("{name}({})", words.join(", "))
}

fn table(page: &mut String, parameters: &[Parameter]) {
    page.push_str("| parameter | needed | meaning |\n|---|---|---|\n");
    for parameter in parameters {
        let needed = if parameter.required { "yes" } else { "" };
        writeln!(page, "| {} | {needed} | {} |", parameter.name, cell(parameter.summary)).expect(WRITES);
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn settings() -> String {
    let mut page = format!(
        "# Settings\n\n{MADE}\n\n\
         None must be given. A flag of `orca serve` goes before a variable of the environment, that before the file, that \
         before the default; `orca config` prints each with its value and where that comes from.\n\n\
         | where | how |\n|---|---|\n\
         | flag | `--data-dir`, `--http`, `--pg`; any other as `--set log.level=debug` |\n\
         | environment | `ORCA__LOG__LEVEL=debug` |\n\
         | file | `orca.toml` of the folder that the server is started in, or the one that `--config` names |\n\n\
         ```toml\n[log]\nlevel = \"debug\"\n```\n\n\
         A setting that does not exist, or a value that it cannot have, is an error; all are told at once.\n\n\
         | setting | default | meaning |\n|---|---|---|\n"
    );
    for setting in crate::settings::SETTINGS {
        let default = if setting.default.is_empty() { String::new() } else { code(setting.default) };
        writeln!(page, "| `{}` | {default} | {} |", setting.key, cell(setting.help)).expect(WRITES);
    }
    page
}

/// The kinds of functions: title, and where such a function may stand.
const KINDS: &[(&str, &str)] = &[
    ("Row functions", "One value for each row, from that row alone. In scripts, in metrics of every engine, in SQL."),
    (
        "Functions across a row",
        "One value for each row, from several columns or from the elements of an array vector. In scripts, in \
         metrics of every engine, in SQL.",
    ),
    (
        "Aggregate functions",
        "One value for many rows. In scripts, in metrics of the time-series engine, in SQL with or without GROUP BY.",
    ),
    (
        "State functions",
        "One value for each row, from that row and those before it. In scripts, in metrics of the reactive state \
         engine for the rows of each key, in SQL with OVER.",
    ),
    (
        "Functions that call a function",
        "One value for each row, through a function among the arguments, from that row and those before it. In scripts, \
         in metrics of the reactive state engine for the rows of each key.",
    ),
    ("Script functions", "In scripts alone: they need the whole vector, or work on tables and dictionaries."),
];

/// The place of a form in [`KINDS`].
fn kind_of(form: &Form) -> usize {
    match form {
        Form::Row(_) => 0,
        Form::Across(_) => 1,
        Form::Aggregate(_) => 2,
        Form::State(_) => 3,
        Form::Calling(..) => 4,
        Form::Script(_) => 5,
        Form::ByArity(forms) => kind_of(&forms[0]),
    }
}

/// The index of the functions, whose pages are these files.
fn functions(all: &[&Function], files: &[String]) -> String {
    let mut page = format!(
        "# Functions\n\n{MADE}\n\n\
         One library serves scripts, engines and SQL, so a function gives the same value in all three. A parameter \
         with a capital letter (`X`) has a value for each row; the others are settings, constant in a metric and in \
         SQL. A parameter in brackets may be left out, and `...` stands for any number of arguments more.\n\n\
         Names are matched exactly in scripts. An operator is a function too: `a + b` is `add(a, b)`.\n\n\
         Many names are made of an aggregate and what it looks at: `m...` the last `window` rows, `tm...` the rows of \
         the last `window` of the time `T`, `cum...` all rows so far, `row...` the values of one row.\n"
    );
    for (place, (title, text)) in KINDS.iter().enumerate() {
        write!(page, "\n## {title}\n\n{text}\n\n| function | what it gives |\n|---|---|\n").expect(WRITES);
        let of_kind = all.iter().zip(files).filter(|(function, _)| kind_of(&function.form) == place);
        for (function, file) in of_kind {
            let summary = function.summary.split_once(". ").map_or(function.summary, |(first, _)| first);
            let summary = cell(summary.trim_end_matches('.'));
            writeln!(page, "| [{}]({FUNCTIONS}/{file}) | {summary} |", function.name).expect(WRITES);
        }
    }
    page
}

/// The page of one function.
fn function(own: &Function, all: &[&Function], files: &[String]) -> String {
    let Function { name, parameters, summary, example: (call, printed), form } = own;
    let (code, kind) = (code(&format!("{name}({parameters})")), kinds(form));
    let mut page = format!("# {name}\n\n{MADE}\n\n{code}, {kind}.\n\n{summary}\n");
    let printed = printed.trim_end();
    write!(page, "\n```orca\n{call}\n```\n\n```text\n{printed}\n```\n").expect(WRITES);
    let kin = all.iter().zip(files).filter(|(other, _)| other.name != *name && root(other.name) == root(name));
    let kin: Vec<String> = kin.map(|(other, file)| format!("[{}]({file})", other.name)).collect();
    if !kin.is_empty() {
        write!(page, "\nOver other rows: {}.\n", kin.join(", ")).expect(WRITES);
    }
    write!(page, "\n[All functions](../{FUNCTIONS}.md)\n").expect(WRITES);
    page
}

/// What a function gives whatever rows it looks at, in small letters: `avg` of `mavg`, `tmavg`, `rowAvg` and `mavgTopN`.
fn root(name: &str) -> String {
    let bare = name.strip_suffix("TopN").unwrap_or(name);
    let of = |prefix: &str| {
        let rest = bare.strip_prefix(prefix)?.to_lowercase();
        library::all().any(|function| function.name.to_lowercase() == rest).then_some(rest)
    };
    ["cum", "row", "tm", "m"].into_iter().find_map(of).unwrap_or_else(|| bare.to_lowercase())
}

/// The names of the functions' files: their letters and digits, small; later ones of one name are numbered.
fn files(all: &[&Function]) -> Vec<String> {
    let mut seen: Vec<String> = vec![];
    let names = all.iter().map(|function| {
        let plain: String = function.name.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect();
        let before = seen.iter().filter(|other| **other == plain).count();
        seen.push(plain.clone());
        if before == 0 { format!("{plain}.md") } else { format!("{plain}-{before}.md") }
    });
    names.collect()
}

/// The kind of a function in words; with several forms, that for each number of arguments.
pub(super) fn kinds(form: &Form) -> String {
    const WORDS: [&str; 6] = [
        "a row function",
        "a function across a row",
        "an aggregate function",
        "a state function",
        "a function that calls a function",
        "a script function",
    ];
    let word = |form: &Form| WORDS[kind_of(form)];
    match form {
        Form::ByArity(forms) => {
            let each = forms.iter().enumerate().map(|(place, form)| format!("{} of {}", word(form), place + 1));
            format!("by the number of arguments {}", each.collect::<Vec<_>>().join(", "))
        }
        form => word(form).to_string(),
    }
}

/// Text as code, also where it has a backtick.
fn code(text: &str) -> String {
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}
