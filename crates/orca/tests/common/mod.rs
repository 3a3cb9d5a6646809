//! What tests of a server share: a server on free ports, a graph that works, and a Python with the clients.

#![allow(dead_code)]

#[path = "../place/mod.rs"]
mod place;

pub use place::root;

use data::Batch;
use orca::market::Market;
use orca::server::{Append, Running};
use orca::settings::Settings;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// A server in memory on free ports, with these settings besides.
pub fn serve(settings: &[(&str, &str)]) -> Running {
    let free = [("data.dir", "memory"), ("http.listen", "127.0.0.1:0"), ("pg.listen", "127.0.0.1:0")];
    let all = free.iter().chain(settings).map(|(key, value)| (*key, value.to_string()));
    let settings = Settings::load(&all.collect::<Vec<_>>(), None).expect("legal settings");
    Running::start(settings).expect("a server")
}

/// The graph of the demo: trades to candles of one and five minutes.
pub const KLINE: &str = include_str!("../../scripts/kline.dos");

/// Submits a script.
pub fn submit(running: &Running, script: &str) {
    running.server().run_script(None, &lang::Source::new("test.dos", script)).expect("a script that is right");
}

/// Trades of a made day in appends of `batch_rows`.
pub fn trades(rows: u64, batch_rows: usize) -> Vec<Batch> {
    Market::new(7, 50, rows, batch_rows).collect()
}

/// Appends to a table as writer `name`, numbers from 1 on.
pub fn append_all(running: &Running, table: &str, name: &str, batches: &[Batch]) {
    for (place, rows) in batches.iter().enumerate() {
        let table = running.server().table_name(table).expect("a name");
        let writer = Some((stream::Writer::named(name), place as u64 + 1));
        running.server().append(Append { table, writer, rows: rows.clone() }).expect("an append");
    }
}

/// A thread that appends trades without end, so that clients see a graph at work.
pub struct Traffic {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<u64>>,
}

impl Traffic {
    /// Begins to append to `market.orca_table.Trade`.
    pub fn start(running: &Running) -> Traffic {
        let (server, stop) = (running.server().clone(), Arc::new(AtomicBool::new(false)));
        let asked = stop.clone();
        let thread = std::thread::spawn(move || {
            let mut rows = 0;
            for (place, batch) in Market::new(8, 50, u64::MAX / 1_000_000, 500).enumerate() {
                if asked.load(Ordering::Relaxed) {
                    break;
                }
                rows += batch.rows() as u64;
                let table = server.table_name("market.orca_table.Trade").expect("a name");
                let writer = Some((stream::Writer::named("traffic"), place as u64 + 1));
                server.append(Append { table, writer, rows: batch }).expect("an append");
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            rows
        });
        Traffic { stop, thread: Some(thread) }
    }

    /// Stops, and tells how many rows were appended.
    pub fn stop(mut self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().expect("a thread").join().expect("it ran to its end")
    }
}

/// A Python that has the clients of `tests/clients/requirements.txt` and the project's own; made when first asked for.
pub fn python() -> PathBuf {
    static MADE: Once = Once::new();
    let home = std::env::var_os("HOME").expect("a home folder");
    let place = PathBuf::from(home).join(".cache/orca/python");
    let python = place.join("bin/python");
    MADE.call_once(|| {
        let wanted = root().join("tests/clients/requirements.txt");
        let wanted_text = std::fs::read_to_string(&wanted).expect("the list of clients");
        let mark = place.join("made-of");
        if std::fs::read_to_string(&mark).is_ok_and(|made_of| made_of == wanted_text) {
            return;
        }
        let run = |command: &mut Command| {
            let done = command.output().expect("python starts");
            assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
        };
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&place));
        run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "--requirement"]).arg(&wanted));
        std::fs::write(&mark, wanted_text).expect("the folder can be written");
    });
    python
}

/// Runs a Python script of `tests/clients` with these arguments; gives what it printed.
pub fn run_python(script: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(python());
    command.arg(root().join("tests/clients").join(script)).args(arguments);
    command.env("PYTHONPATH", root().join("clients/python/src"));
    let done = command.output().expect("python starts");
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{script}: {out}{err}");
    out.into_owned()
}
