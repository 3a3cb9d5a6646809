//! The manual is true: every example gives what stands below it, the made pages are as the program makes them, and
//! every link leads somewhere.
//!
//! How an example is written is told in `docs/manual/README.md`.

mod place;

use lang::{Diagnostic, Source};
use orca::commands::{Failure, manual};
use orca::embedded::{Embedded, Feeding, Options};
use place::root;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The file a script is said to stand in, as errors show it.
const SCRIPT: &str = "example.dos";

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The Markdown files in a folder and those below it, in the order of their names.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder of pages").map(|entry| entry.expect("an entry").path());
    let mut entries: Vec<PathBuf> = entries.collect();
    entries.sort();
    let below = |path: PathBuf| match path.is_dir() {
        true => pages(&path),
        false => vec![path],
    };
    let all = entries.into_iter().flat_map(below);
    all.filter(|path| path.extension().is_some_and(|end| end == "md")).collect()
}

/// A fenced block: its line, the words behind the fence, and its text.
struct Block {
    line: usize,
    words: String,
    text: String,
}

/// The fenced blocks of a page, and its text without them.
fn blocks(page: &str) -> (Vec<Block>, String) {
    let (mut blocks, mut prose) = (vec![], String::new());
    let mut open: Option<Block> = None;
    for (place, line) in page.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(words)) => open = Some(Block { line: place + 1, words: words.into(), text: String::new() }),
            (None, None) => writeln!(prose, "{line}").expect("a text takes any text"),
            (Some(_), Some("")) => blocks.extend(open.take()),
            (Some(block), _) => writeln!(block.text, "{line}").expect("a text takes any text"),
        }
    }
    assert!(open.is_none(), "a block is not closed");
    (blocks, prose)
}

fn errors(failure: Failure) -> String {
    let lines: Vec<String> = failure.into_diagnostics().iter().map(Diagnostic::to_string).collect();
    lines.join("\n")
}

/// What a block has given, for the block below it to tell.
enum Said {
    /// Nothing that must be told.
    Nothing,
    /// A script's value or errors, which may be told.
    Value(String),
    /// An answer that must be told.
    Answer(String),
}

/// The examples of one page as they are run.
struct Examples {
    orca: Option<Embedded>,
    folder: tempfile::TempDir,
    files: usize,
    said: Said,
}

impl Examples {
    fn new() -> Examples {
        let folder = tempfile::tempdir().expect("a folder for feeds");
        Examples { orca: None, folder, files: 0, said: Said::Nothing }
    }

    /// Runs a block, or holds it against what the one before has given.
    fn block(&mut self, block: &Block) -> Result<(), String> {
        let words: Vec<&str> = block.words.split_whitespace().collect();
        let said = std::mem::replace(&mut self.said, Said::Nothing);
        match (words.as_slice(), said) {
            (["csv" | "text"], Said::Answer(found)) => same(&block.text, &found)?,
            (["text"], Said::Value(found)) => same_value(&block.text, &found)?,
            (_, Said::Answer(found)) => return Err(format!("the answer is not told:\n{found}")),
            (["orca"], _) => self.said = Said::Value(self.script(&block.text).map_err(errors)?),
            (["orca", "fails"], _) => match self.script(&block.text) {
                Ok(value) => return Err(format!("does not fail: {value}")),
                Err(failure) => self.said = Said::Answer(errors(failure)),
            },
            (["text", "explain"], _) => same(&block.text, &self.orca()?.explain(false))?,
            (["csv", feed], _) if feed.starts_with("feed=") => self.feed("csv", &feed[5..], &block.text)?,
            (["json", feed], _) if feed.starts_with("feed=") => self.feed("jsonl", &feed[5..], &block.text)?,
            (["sql"], _) => self.said = Said::Answer(self.query(&block.text).map_err(errors)?),
            (["sql", "fails"], _) => match self.query(&block.text) {
                Ok(answer) => return Err(format!("does not fail:\n{answer}")),
                Err(failure) => self.said = Said::Answer(errors(failure)),
            },
            // What is only shown.
            (["sh"] | ["text"] | ["json"] | ["toml"] | [], _) => {}
            // Run against a server: by the tests of its commands, and by `python.rs`.
            (["console"] | ["python"], _) => {}
            _ => return Err(format!("no block of an example: words=`{}`", block.words)),
        }
        Ok(())
    }

    /// Must nothing be told any more at the end of the page?
    fn end(&mut self) -> Result<(), String> {
        if let Some(orca) = self.orca.take() {
            orca.close();
        }
        match &self.said {
            Said::Answer(found) => Err(format!("the answer is not told:\n{found}")),
            _ => Ok(()),
        }
    }

    fn orca(&self) -> Result<&Embedded, String> {
        self.orca.as_ref().ok_or_else(|| "no script stands before".to_string())
    }

    /// Runs a script in a process of its own; gives its value as `print` shows it.
    fn script(&mut self, text: &str) -> Result<String, Failure> {
        if let Some(orca) = self.orca.take() {
            orca.close();
        }
        let orca = self.orca.insert(Embedded::open(&Options::default())?);
        let value = orca.run_script(&Source::new(SCRIPT, text))?;
        orca.wait()?;
        Ok(value.show())
    }

    fn feed(&mut self, end: &str, table: &str, rows: &str) -> Result<(), String> {
        // A file of another name is another writer, so its rows are no repetition.
        self.files += 1;
        let file = self.folder.path().join(format!("feed-{}.{end}", self.files));
        std::fs::write(&file, rows).map_err(|error| error.to_string())?;
        let feeding = Feeding { batch_rows: 10_000, interleave: None };
        let orca = self.orca()?;
        orca.feed(&[(table.to_string(), file)], &feeding).and_then(|()| orca.wait()).map_err(errors)
    }

    fn query(&self, sql: &str) -> Result<String, Failure> {
        let orca = self.orca().map_err(Failure::new)?;
        let mut text = vec![];
        query::format::write(&orca.query(sql)?, query::format::Format::Csv, &mut text)?;
        Ok(String::from_utf8(text).expect("CSV is UTF-8"))
    }
}

/// Compares texts but for blanks at the ends of lines.
fn same(wanted: &str, found: &str) -> Result<(), String> {
    let lines = |text: &str| text.trim_end().lines().map(|line| line.trim_end().to_string()).collect::<Vec<_>>();
    let (wanted, found) = (lines(wanted), lines(found));
    match wanted == found {
        true => Ok(()),
        false => Err(format!("the manual says\n{}\nand this is found\n{}", wanted.join("\n"), found.join("\n"))),
    }
}

/// Compares values, the found one also with its floats rounded to six decimals.
fn same_value(wanted: &str, found: &str) -> Result<(), String> {
    same(wanted, found).or_else(|error| same(wanted, &rounded(found)).map_err(|_| error))
}

/// Numbers with more than six decimals rounded to as many.
fn rounded(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(from.len());
        let (number, after) = from.split_at(end);
        let long = number.split_once('.').is_some_and(|(_, decimals)| decimals.len() > 6);
        let shorter = number.parse::<f64>().ok().filter(|_| long).map(|value| format!("{value:.6}"));
        let shorter = shorter.map(|text| text.trim_end_matches('0').trim_end_matches('.').to_string());
        out += before;
        out += &shorter.unwrap_or_else(|| number.to_string());
        rest = after;
    }
    out + rest
}

#[test]
fn every_example_gives_what_stands_below_it() {
    let (mut wrong, mut count) = (vec![], 0);
    for path in pages(&root().join("docs/manual")) {
        let name = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
        let mut examples = Examples::new();
        let (blocks, _) = blocks(&read(&path));
        for block in &blocks {
            count += block.words.starts_with("orca") as usize;
            if let Err(error) = examples.block(block) {
                wrong.push(format!("{name}:{}: {error}\n", block.line));
            }
        }
        if let Err(error) = examples.end() {
            wrong.push(format!("{name}: {error}\n"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 100, "the examples were found: {count}");
}

#[test]
fn the_made_pages_are_as_the_program_makes_them() {
    let made = manual::pages();
    let renew = "cargo run --release -- manual --dir docs/manual";
    for (name, text) in &made {
        let path = root().join("docs/manual").join(name);
        let is_new = path.is_file() && read(&path) == *text;
        assert!(is_new, "docs/manual/{name} is out of date; renew it with `{renew}`");
    }
    for path in pages(&root().join("docs/manual/functions")) {
        let name = format!("functions/{}", path.file_name().expect("a file has a name").to_string_lossy());
        assert!(
            made.iter().any(|(known, _)| *known == name),
            "docs/manual/{name} is of no function; renew with `{renew}`"
        );
    }
}

#[test]
fn every_function_gives_what_its_example_says() {
    let orca = Embedded::open(&Options { threads: 0, ..Options::default() }).expect("a process in memory");
    let mut wrong = vec![];
    for function in lang::library::all() {
        let (call, printed) = function.example;
        match orca.run_script(&Source::new("expression", call)) {
            Ok(value) => wrong.extend(same_value(printed, &value.show()).err().map(|error| format!("{call}: {error}"))),
            Err(failure) => wrong.push(format!("{call}: {}", errors(failure))),
        }
    }
    orca.close();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The targets of the links in a text, code left out.
fn links(prose: &str) -> Vec<String> {
    let plain: String = prose.split('`').step_by(2).collect::<Vec<_>>().join("x");
    let targets = plain.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| target.to_string()).collect()
}

/// What the headings of a page are called in links.
fn anchors(page: &str) -> Vec<String> {
    let (_, prose) = blocks(page);
    let mut anchors: Vec<String> = vec![];
    let mut plain_ones: Vec<String> = vec![];
    for line in prose.lines().filter(|line| line.starts_with('#')) {
        let heading = line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        let plain: String = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, '_' | '-')).collect();
        let before = plain_ones.iter().filter(|other| **other == plain).count();
        anchors.push(if before == 0 { plain.clone() } else { format!("{plain}-{before}") });
        plain_ones.push(plain);
    }
    anchors
}

#[test]
fn every_link_leads_somewhere() {
    let outer = ["README.md", "ARCHITECTURE.md"].map(|name| root().join(name));
    let mut wrong = vec![];
    for path in pages(&root().join("docs")).into_iter().chain(outer) {
        let page = read(&path);
        let (_, prose) = blocks(&page);
        for target in links(&prose).into_iter().filter(|target| !target.contains("://")) {
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let folder = path.parent().expect("a file is in a folder");
            let to = if file.is_empty() { path.clone() } else { folder.join(file) };
            let found = to.exists() && (anchor.is_empty() || anchors(&read(&to)).iter().any(|known| known == anchor));
            if !found {
                wrong.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "links to nothing:\n{}", wrong.join("\n"));
}
