//! The scripts of the principles article, verbatim, and the one with parallel branches at other parallelisms.
//!
//! The article stands outside the project; without it the tests say so and pass.

mod place;

use data::Batch;
use orca::embedded::{Embedded, Options};
use orca::market::Market;
use place::root;
use stream::Writer;

/// The article's three scripts.
fn scripts() -> Option<Vec<String>> {
    let root = root();
    let folder = root.parent()?.join("shared/reference/seeds");
    let mut files = std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let article = files.find(|path| path.to_string_lossy().contains("/000_"))?;
    let text = std::fs::read_to_string(article).ok()?;
    // A script begins with its catalog and ends with its submit.
    let mut scripts: Vec<String> = vec![];
    let mut script: Option<String> = None;
    for line in text.lines() {
        if script.is_none() && (line.starts_with("if (!existsCatalog") || line.starts_with("use catalog")) {
            script = Some(String::new());
        }
        if let Some(text) = &mut script {
            text.push_str(line);
            text.push('\n');
            if line.starts_with("g.submit()") {
                scripts.extend(script.take());
            }
        }
    }
    Some(scripts)
}

/// The tables of a script's run over a small market day, as text.
fn run(script: &str, tables: &[&str], threads: usize) -> Vec<String> {
    let orca = Embedded::open(&Options { threads, ..Options::default() }).expect("a process in memory");
    let head = "if (!existsCatalog(\"orca\")) { createCatalog(\"orca\") }\ngo\n";
    orca.run_script(&lang::Source::new("head.dos", head)).expect("a catalog");
    orca.run_script(&lang::Source::new("seed.dos", script)).unwrap_or_else(|failure| panic!("{failure:?}\n{script}"));
    let trade = orca.table("orca.orca_table.Trade").expect("the source");
    let writer = Writer::named("test");
    for (piece, batch) in Market::new(11, 40, 30_000, 700).enumerate() {
        orca.append(&trade, &writer, piece as u64 + 1, &batch).expect("rows of the schema");
    }
    orca.wait().expect("the graph runs");
    let text = |name: &&str| {
        let table = orca.table(&format!("orca.orca_table.{name}")).expect("a table of the script");
        let rows = table.read(0..table.end()).expect("rows that are there");
        let batches: Vec<Batch> = rows.into_iter().map(|(_, batch)| batch).collect();
        data::print_table(&Batch::concat(table.schema().clone(), &batches).expect("one schema"))
    };
    let tables = tables.iter().map(text).collect();
    orca.close();
    tables
}

#[test]
fn the_scripts_of_the_article_run_verbatim() {
    let Some(scripts) = scripts() else {
        println!("skipped: there is no ../shared/reference/seeds");
        return;
    };
    assert_eq!(scripts.len(), 3, "three scripts");
    let tables: [&[&str]; 3] = [&["output"], &["output_kline", "output_indicator"], &["output_1min", "output_5min"]];
    for (script, tables) in scripts.iter().zip(tables) {
        for text in run(script, tables, 2) {
            assert!(text.lines().count() > 100, "bars came out: {text}");
        }
    }
}

#[test]
fn four_branches_give_the_bytes_of_one_two_three_and_eight() {
    let Some(scripts) = scripts() else {
        println!("skipped: there is no ../shared/reference/seeds");
        return;
    };
    let tables = ["output_1min", "output_5min"];
    let four = run(&scripts[2], &tables, 2);
    for count in [1, 2, 3, 8] {
        let script = scripts[2].replace("parallelize(\"symbol\", 4)", &format!("parallelize(\"symbol\", {count})"));
        assert_ne!(script, scripts[2], "the script has the count");
        for threads in [0, 2] {
            assert!(run(&script, &tables, threads) == four, "{count} branches, {threads} threads");
        }
    }
}
