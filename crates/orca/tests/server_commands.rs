//! The commands against a server, each with real processes at both ends.

mod common;

use common::{KLINE, root, trades};
use env::{Chance, SeededChance};
use serde_json::Value as Json;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Longer than anything here may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program, not touched by the settings of whoever runs the tests.
fn orca() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orca"));
    command.env_remove("ORCA_URL").env("NO_COLOR", "1").stdin(Stdio::null());
    command
}

/// `orca serve` in a process of its own, in a folder of its own.
struct Served {
    child: Child,
    folder: PathBuf,
    url: String,
}

impl Served {
    fn start(folder: &Path, settings: &[&str]) -> Served {
        Served::start_at(folder, "127.0.0.1:0", settings)
    }

    fn start_at(folder: &Path, http: &str, settings: &[&str]) -> Served {
        let mut command = orca();
        command.current_dir(folder).args(["serve", "--data-dir", "data", "--http", http, "--pg", "127.0.0.1:0"]);
        command.args(["--set", "log.format=json"]).args(settings).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        let mut said = String::new();
        let url = loop {
            let line = lines.next().unwrap_or_else(|| panic!("the server is ready: {said}")).expect("text");
            let event: Json = serde_json::from_str(&line).unwrap_or_default();
            if let Some(http) = event["fields"]["http"].as_str() {
                break format!("http://{http}");
            }
            said += &line;
        };
        // Its log is read on, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        Served { child, folder: folder.to_path_buf(), url }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = orca();
        command.current_dir(&self.folder).args(arguments).args(["--url", &self.url]);
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program starts")
    }

    /// What a command that goes well prints.
    fn said(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{arguments:?}: {out}{err}");
        out.into_owned()
    }

    fn json(&self, arguments: &[&str]) -> Json {
        let text = self.said(&[arguments, &["--format", "json"]].concat());
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {text}"))
    }

    /// What a command that fails tells, and its exit status.
    fn fails(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.run(arguments);
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{arguments:?} goes well");
        (output.status.code().expect("not killed"), err)
    }

    fn submit_klines(&self) {
        std::fs::write(self.folder.join("kline.dos"), KLINE).expect("a file");
        self.said(&["submit", "kline.dos"]);
    }

    /// Rows and their sum in the table of trades.
    fn trades(&self) -> (u64, u64) {
        let sum = "select count(*) as n, sum(volume) as v from market.orca_table.Trade";
        let rows = self.json(&["sql", sum]);
        (rows[0]["n"].as_u64().expect("a number"), rows[0]["v"].as_u64().unwrap_or(0))
    }

    /// How a statement of the shell comes out.
    fn shell(&self, text: &str) -> (Output, String) {
        let mut command = self.command(&["shell"]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a shell");
        child.stdin.take().expect("piped").write_all(text.as_bytes()).expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        (output, said)
    }

    /// Asks the server to end, and tells how long that took.
    fn stop(mut self) -> Duration {
        let asked = Instant::now();
        signal(&self.child, "TERM");
        let status = self.child.wait().expect("a status");
        assert!(status.success(), "{status}");
        asked.elapsed()
    }

    fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("a status");
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn signal(child: &Child, signal: &str) {
    let sent = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().expect("kill starts");
    assert!(sent.success());
}

/// Made trades as a CSV file; gives how many and the sum of their volumes.
fn write_trades(file: &Path, rows: u64) -> (u64, u64) {
    let batches = trades(rows, 10_000);
    let fields = batches[0].schema().fields().to_vec();
    let answer = query::Answer { fields, batches: batches.iter().map(|batch| batch.to_arrow()).collect() };
    let mut out = std::io::BufWriter::new(std::fs::File::create(file).expect("a file"));
    query::format::write(&answer, query::format::Format::Csv, &mut out).expect("room on the disk");
    let volume = |batch: &data::Batch| batch.column(3).i32s().iter().map(|volume| *volume as u64).sum::<u64>();
    (rows, batches.iter().map(volume).sum())
}

#[test]
fn a_script_is_submitted_a_file_is_fed_and_queries_are_answered() {
    let folder = tempfile::tempdir().expect("a folder");
    let served = Served::start(folder.path(), &[]);
    served.submit_klines();
    let fed = write_trades(&folder.path().join("trades.csv"), 25_000);
    let figures = served.json(&["feed", "Trade", "trades.csv"]);
    assert_eq!((figures["rows_sent"].as_u64(), figures["rows_held"].as_u64()), (Some(25_000), Some(0)));
    assert_eq!(served.trades(), fed);
    // Again: the server has it all.
    let said = served.said(&["feed", "market.orca_table.Trade", "trades.csv"]);
    assert!(said.contains("0 rows sent, 25,000 held already"), "{said}");
    assert_eq!(served.trades(), fed);
    // In other pieces the file is another one to the server.
    let (status, told) = served.fails(&["feed", "Trade", "trades.csv", "--batch-rows", "7000"]);
    assert_eq!(status, 1);
    assert!(told.contains("other rows of a file of this name") && told.contains("--batch-rows"), "{told}");
    let query = "select symbol, count(*) as n from Trade group by symbol order by symbol limit 2";
    let csv = served.said(&["sql", query, "--format", "csv"]);
    assert!(csv.starts_with("symbol,n\n") && csv.lines().count() == 3, "{csv}");
    let table = served.said(&["sql", query, "--catalog", "market"]);
    assert!(table.contains("│ symbol") && table.ends_with('\n'), "{table}");
    let mut command = served.command(&["sql", "-", "--format", "csv"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    child.stdin.take().expect("piped").write_all(b"select 1 as one").expect("it reads");
    assert_eq!(String::from_utf8_lossy(&child.wait_with_output().expect("it ends").stdout), "one\n1\n");
    let inserted = served.said(&["sql", "insert into Trade values ('X', '2024-01-02T09:30:00', 1.5, 7)"]);
    assert!(inserted.contains("\"rows\":1"), "{inserted}");
    let (status, told) = served.fails(&["sql", "select nothing from Trade"]);
    assert_eq!(status, 1);
    assert!(told.contains("nothing"), "{told}");
}

#[test]
fn graphs_and_tables_are_listed_shown_and_dropped() {
    let folder = tempfile::tempdir().expect("a folder");
    let served = Served::start(folder.path(), &[]);
    served.submit_klines();
    write_trades(&folder.path().join("trades.csv"), 5_000);
    served.said(&["feed", "Trade", "trades.csv"]);
    let graphs = served.json(&["graph", "list"]);
    assert_eq!(graphs[0]["graph"], "market.orca_graph.klines");
    assert_eq!(graphs[0]["state"], "running");
    let shown = served.json(&["graph", "show", "klines"]);
    assert_eq!(shown["graph"], "market.orca_graph.klines");
    assert!(served.said(&["graph", "show", "klines"]).contains("timeSeriesEngine"));
    for name in ["klines", "market.orca_graph.klines"] {
        let explained = served.said(&["graph", "explain", name]);
        assert!(explained.contains("timeSeriesEngine"), "{explained}");
    }
    // A script is explained without a server.
    let local = orca().current_dir(folder.path()).args(["graph", "explain", "kline.dos"]).output().expect("it starts");
    assert!(String::from_utf8_lossy(&local.stdout).contains("timeSeriesEngine"));
    let tables = served.said(&["table", "list", "--format", "csv"]);
    assert!(tables.contains("market.orca_table.Trade,"), "{tables}");
    let columns = served.said(&["table", "show", "Trade", "--format", "csv"]);
    assert_eq!(columns, "name,type\nsymbol,SYMBOL\ndatetime,TIMESTAMP\nprice,DOUBLE\nvolume,INT\n");
    let (status, told) = served.fails(&["table", "show", "Trede"]);
    assert!(status == 1 && told.contains("did you mean"), "{told}");
    let last = served.json(&["table", "tail", "Trade", "--rows", "3"]);
    assert_eq!(last.as_array().map(Vec::len), Some(3));
    let csv = served.said(&["table", "tail", "Trade", "--rows", "2", "--format", "csv"]);
    let wanted = std::fs::read_to_string(folder.path().join("trades.csv")).expect("a file");
    assert!(wanted.ends_with(csv.split_once('\n').expect("a heading").1), "{csv}");
    assert!(served.said(&["graph", "drop", "klines", "--include-tables"]).contains("dropped"));
    assert_eq!(served.json(&["graph", "list"]), serde_json::json!([]));
    let (status, told) = served.fails(&["graph", "show", "klines"]);
    assert!(status == 1 && told.contains("no such graph"), "{told}");
}

#[test]
fn a_refused_script_is_shown_as_when_it_is_run_here() {
    let folder = tempfile::tempdir().expect("a folder");
    let served = Served::start(folder.path(), &[]);
    for script in ["a = 1\nb = mavgg(a, 3)\n", "x = [1, 2\ny = 3 +* 4\n", "use catalog nowhere\n"] {
        std::fs::write(folder.path().join("wrong.dos"), script).expect("a file");
        let here = orca().current_dir(folder.path()).args(["run", "wrong.dos"]).output().expect("it starts");
        let (status, told) = served.fails(&["submit", "wrong.dos"]);
        assert_eq!((status, told), (1, String::from_utf8_lossy(&here.stderr).into_owned()), "{script}");
    }
}

#[test]
fn what_a_script_says_is_printed_and_an_operation_can_be_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let served = Served::start(folder.path(), &[]);
    std::fs::write(folder.path().join("says.dos"), "print(\"hello\")\n1 2 3\n").expect("a file");
    assert_eq!(served.said(&["submit", "says.dos"]), "hello\n");
    let ran = served.json(&["submit", "says.dos"]);
    assert_eq!((&ran["value"], &ran["said"][0]["text"]), (&Json::from("[1, 2, 3]"), &Json::from("hello")), "{ran}");
    let operation = served.said(&["submit", "says.dos", "--no-wait"]);
    assert!(!operation.trim().is_empty() && !operation.contains("hello"), "{operation}");
}

#[test]
fn a_feed_that_is_killed_at_twenty_moments_and_run_again_brings_each_row_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let served = Served::start(folder.path(), &[]);
    served.submit_klines();
    let fed = write_trades(&folder.path().join("trades.csv"), 200_000);
    let chance = SeededChance::new(20);
    let mut places = vec![];
    let feed = ["feed", "Trade", "trades.csv", "--batch-rows", "500"];
    for _ in 0..20 {
        let mut command = served.command(&[&feed[..], &["--rate", "100000"]].concat());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        std::thread::sleep(Duration::from_micros(20_000 + chance.next() % 130_000));
        child.kill().expect("a child");
        child.wait().expect("a status");
        places.push(served.trades().0);
    }
    assert!(places.is_sorted(), "{places:?}");
    let within = places.iter().filter(|rows| (1..fed.0).contains(*rows)).collect::<std::collections::BTreeSet<_>>();
    assert!(within.len() >= 5, "it was killed while rows went: {places:?}");
    let figures = served.json(&feed);
    assert!(figures["rows_held"].as_u64() > Some(0), "{figures}");
    assert_eq!(served.trades(), fed);
}

#[test]
fn a_feed_outlives_its_server_and_the_tables_come_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port");
    let served = Served::start_at(folder.path(), &port.to_string(), &[]);
    served.submit_klines();
    let fed = write_trades(&folder.path().join("trades.csv"), 100_000);
    let mut feed = served.command(&["feed", "Trade", "trades.csv", "--batch-rows", "1000", "--rate", "40000"]);
    let feed = feed.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    std::thread::sleep(Duration::from_millis(700));
    served.kill();
    std::thread::sleep(Duration::from_millis(500));
    let served = Served::start_at(folder.path(), &port.to_string(), &[]);
    // Until its script is submitted again a graph stays at rest, and its table takes rows.
    let graphs = served.json(&["graph", "list"]);
    assert_eq!(graphs[0]["state"], "stopped", "{graphs}");
    let output = feed.wait_with_output().expect("it ends");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("sent again in"), "{told}");
    assert_eq!(served.trades(), fed);
    served.submit_klines();
    assert_eq!(served.json(&["graph", "list"])[0]["state"], "running");
    let until = Instant::now() + PATIENCE;
    let candles = || served.json(&["sql", "select count(*) as n from kline_1min"])[0]["n"].as_u64();
    while candles() == Some(0) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(candles() > Some(0), "the graph goes on");
}

#[test]
fn a_second_server_on_the_same_folder_is_refused_and_the_first_stops_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let served = Served::start(folder.path(), &[]);
    served.submit_klines();
    write_trades(&folder.path().join("trades.csv"), 5_000);
    served.said(&["feed", "Trade", "trades.csv"]);
    let mut second = orca();
    second.current_dir(folder.path()).args([
        "serve",
        "--data-dir",
        "data",
        "--http",
        "127.0.0.1:0",
        "--pg",
        "127.0.0.1:0",
    ]);
    let second = second.output().expect("it starts");
    assert_eq!(second.status.code(), Some(1));
    let told = String::from_utf8_lossy(&second.stderr);
    assert!(told.contains("folder is in use by another process: folder=`data`"), "{told}");
    // Somebody listens all the while, and does not hold it up.
    let mut tail = served.command(&["table", "tail", "Trade", "--follow"]);
    let mut tail = tail.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    std::thread::sleep(Duration::from_millis(300));
    let took = served.stop();
    tail.kill().expect("it looks for the server again");
    tail.wait().expect("a status");
    assert!(took < Duration::from_secs(8), "{took:?}");
    let served = Served::start(folder.path(), &[]);
    assert_eq!(served.trades().0, 5_000);
    assert_eq!(served.json(&["graph", "list"])[0]["state"], "stopped");
}

#[test]
fn a_tail_goes_on_with_what_is_appended() {
    let folder = tempfile::tempdir().expect("a folder");
    let served = Served::start(folder.path(), &[]);
    served.submit_klines();
    let insert = |symbol: &str, volume: u32| {
        let row = format!("insert into Trade values ('{symbol}', '2024-01-02T09:30:00', 1.5, {volume})");
        served.said(&["sql", &row]);
    };
    insert("A", 1);
    insert("B", 2);
    for (format, wanted) in [
        (
            "csv",
            &["symbol,datetime,price,volume", "B,2024-01-02T09:30:00.000,1.5,2", "C,2024-01-02T09:30:00.000,1.5,3"][..],
        ),
        ("table", &["symbol  datetime", "B       2024-01-02T09:30:00.000", "C       2024-01-02T09:30:00.000"]),
        ("json", &["{\"symbol\":\"B\"", "{\"symbol\":\"C\""]),
    ] {
        let arguments = ["table", "tail", "Trade", "-f", "--rows", "1", "--filter", "volume < 5", "--format", format];
        let mut child = served.command(&arguments).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map(|line| line.expect("text"));
        let before = wanted.len() - 1;
        for wanted in &wanted[..before] {
            let line = lines.next().expect("a line");
            assert!(line.starts_with(wanted), "{format}: {line}");
        }
        insert("D", 9);
        insert("C", 3);
        let line = lines.next().expect("a line");
        assert!(line.starts_with(wanted[before]), "{format}: {line}");
        child.kill().expect("it goes on");
        child.wait().expect("a status");
        insert("B", 2);
    }
}

#[test]
fn a_shell_runs_scripts_and_sql_from_a_pipe() {
    let folder = tempfile::tempdir().expect("a folder");
    let served = Served::start(folder.path(), &[]);
    served.submit_klines();
    let typed = "a = 20\nf = def(x) {\n  return x + 1\n}\nf(a) * 2\nuse catalog market\n\\sql\n\
        select count(*) as n\n  from Trade; select ';' as s;\n\\format csv\nselect 1 as one;\n\\script\nprint(a)\n\
        \\d Trade\n\\g\n\\h mavg\nhelp(timeSeriesEngine)\n\\timing\n1 + 1\n\\help\n\\q\nnever()\n";
    let (output, said) = served.shell(typed);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    for part in [
        "42\n",
        "│ n │",
        "│ ; │",
        "one\n1\n",
        "20\n",
        "name,type\nsymbol,SYMBOL\n",
        "market.orca_graph.klines,running",
        "mavg(X, window",
        "a method of DStream",
        "timing is on\n",
        "2\ntime: ",
        "\\timing ",
    ] {
        assert!(said.contains(part), "{part} in {said}");
    }
    // Errors are told in place, the rest is run, and the end tells of them.
    let (output, said) = served.shell("b = 1\nnever()\nb + 1\n\\sql select nothing\n\\nothing\nhelp(mavgg)");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), said.as_str()), (Some(1), "2\n"), "{told}");
    for part in ["shell:1:1", "never", "nothing", "no such command", "did you mean `mavg`?", "statements=`4`"] {
        assert!(told.contains(part), "{part} in {told}");
    }
}

#[test]
fn a_doctor_tells_what_is_in_the_way() {
    let folder = tempfile::tempdir().expect("a folder");
    let served = Served::start(folder.path(), &[]);
    let free = ["--http", "127.0.0.1:0", "--pg", "127.0.0.1:0"];
    let checks = served.json(&[&["doctor"][..], &free].concat());
    let of = |checks: &Json, name: &str| {
        let found = checks.as_array().into_iter().flatten().find(|check| check["check"] == name).cloned();
        found.unwrap_or_else(|| panic!("{name} in {checks}"))
    };
    for name in ["settings", "data folder", "http.listen", "pg.listen", "clock", "server", "version", "ready", "login"]
    {
        assert_ne!(of(&checks, name)["health"], "fail", "{checks}");
    }
    assert_eq!(of(&checks, "version")["health"], "ok");
    // A port that something else holds, a setting that is none, nobody at the URL.
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = taken.local_addr().expect("an address").to_string();
    let (nobody, pg) = (["--url", "http://127.0.0.1:1", "--format", "json"], ["--pg", "127.0.0.1:0"]);
    let port = orca().args([&["doctor", "--http", &taken][..], &pg, &nobody].concat()).output().expect("it starts");
    assert_eq!(port.status.code(), Some(1));
    let checks: Json = serde_json::from_slice(&port.stdout).expect("a list");
    assert_eq!(of(&checks, "http.listen")["health"], "fail");
    assert_eq!(of(&checks, "server")["health"], "warn");
    let setting =
        orca().args([&["doctor", "--set", "log.level=loud"][..], &nobody].concat()).output().expect("it starts");
    assert_eq!(setting.status.code(), Some(1));
    let checks: Json = serde_json::from_slice(&setting.stdout).expect("a list");
    assert_eq!(of(&checks, "settings")["health"], "fail");
}

#[test]
fn a_bundle_has_everything_but_passwords() {
    let folder = tempfile::tempdir().expect("a folder");
    let password = ["--set", "login.password=opensesame"];
    let served = Served::start(folder.path(), &password);
    std::fs::write(folder.path().join("kline.dos"), KLINE).expect("a file");
    let (status, told) = served.fails(&["submit", "kline.dos"]);
    assert!(status == 1 && told.contains("login"), "{told}");
    served.said(&["submit", "kline.dos", "--password", "opensesame"]);
    std::fs::write(folder.path().join("server.txt"), "logged in with opensesame\n").expect("a file");
    let mut command = served.command(&["bundle", "--out", "b", "--log", "server.txt"]);
    let output = command.env("ORCA__LOGIN__PASSWORD", "opensesame").output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (mut files, mut all) = (vec![], String::new());
    for folder in [folder.path().join("b"), folder.path().join("b/plans")] {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_file() {
                files.push(path.file_name().expect("a name").to_string_lossy().into_owned());
                all += &std::fs::read_to_string(path).expect("text");
            }
        }
    }
    for file in [
        "README.txt",
        "settings.json",
        "settings-here.json",
        "tables.json",
        "schemas.json",
        "graphs.json",
        "health.json",
        "ready.json",
        "metrics.txt",
        "operations.json",
        "doctor.json",
        "system.json",
        "server.log",
        "market.orca_graph.klines.txt",
    ] {
        assert!(files.iter().any(|found| found == file), "{file} in {files:?}");
    }
    assert!(!all.contains("opensesame") && all.contains("logged in with (hidden)"), "{all}");
    for part in ["timeSeriesEngine", "market.orca_table.Trade", "http.listen"] {
        assert!(all.contains(part), "{part}");
    }
    let (status, told) = served.fails(&["bundle", "--out", "b"]);
    assert!(status == 1 && told.contains("there is something of this name"), "{told}");
}

#[test]
fn settings_are_told_with_their_origins_and_shells_are_taught() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("orca.toml"), "[graph]\nthreads = 3\n").expect("a file");
    let mut command = orca();
    command.current_dir(folder.path()).args(["config", "--set", "log.level=debug", "--format", "csv"]);
    let output = command.env("ORCA__LOGIN__PASSWORD", "opensesame").output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    for part in [
        "setting,value,origin,help\n",
        "\ngraph.threads,3,file orca.toml,",
        "\nlog.level,debug,flag,",
        "\nlogin.password,(hidden),environment ORCA__LOGIN__PASSWORD,",
        "\nlogin.user,orca,default,",
    ] {
        assert!(said.contains(part), "{part:?} in {said}");
    }
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = orca().args(["completions", shell]).output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("submit") && said.contains("batch-rows"), "{shell}");
    }
    // Bash takes what it is given.
    let script = "source <(\"$ORCA\" completions bash); COMP_WORDS=(orca sub); COMP_CWORD=1; _orca orca sub orca; \
        echo \"${COMPREPLY[@]}\"";
    let bash =
        Command::new("bash").args(["-c", script]).env("ORCA", env!("CARGO_BIN_EXE_orca")).output().expect("bash");
    assert_eq!(String::from_utf8_lossy(&bash.stdout), "submit\n", "{}", String::from_utf8_lossy(&bash.stderr));
}

/// A command of an example with what it prints.
struct Example {
    line: usize,
    command: String,
    prints: Vec<String>,
}

/// The commands in the `console` blocks of a page: `$ ` begins one, `> ` goes on with it, the rest is what it prints.
fn examples(page: &str) -> Vec<Example> {
    let (mut examples, mut inside) = (Vec::<Example>::new(), false);
    for (place, line) in page.lines().enumerate() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| inside) {
            examples.push(Example { line: place + 1, command: command.to_string(), prints: vec![] });
        } else if let Some(example) = examples.last_mut().filter(|_| inside) {
            match line.strip_prefix('>') {
                Some(more) => example.command += &format!("\n{}", more.strip_prefix(' ').unwrap_or(more)),
                None => example.prints.push(line.trim_end().to_string()),
            }
        }
    }
    examples
}

/// Is a line as an example has it, where `...` stands for anything?
fn is_as(wanted: &str, found: &str) -> bool {
    let parts: Vec<&str> = wanted.split("...").collect();
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return false };
    if parts.len() == 1 {
        return wanted == found;
    }
    let Some(mut rest) = found.strip_prefix(first) else { return false };
    for part in &parts[1..parts.len() - 1] {
        let Some(place) = rest.find(part) else { return false };
        rest = &rest[place + part.len()..];
    }
    rest.ends_with(last)
}

#[test]
fn the_examples_of_the_manual_are_true() {
    let mut count = 0;
    let program = Path::new(env!("CARGO_BIN_EXE_orca")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    for page in ["commands.md", "shell.md"] {
        let folder = tempfile::tempdir().expect("a folder");
        let served = Served::start(folder.path(), &[]);
        let text = std::fs::read_to_string(root().join("docs/manual").join(page)).expect("a page");
        for Example { line, command, prints } in examples(&text) {
            count += 1;
            let mut shell = Command::new("sh");
            shell.args(["-c", &command]).current_dir(folder.path()).env("PATH", &path).env("ORCA_URL", &served.url);
            let output = shell.env("NO_COLOR", "1").stdin(Stdio::null()).output().expect("sh starts");
            let said =
                [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
            let found: Vec<&str> = said.trim_end().lines().map(str::trim_end).collect();
            let same =
                found.len() == prints.len() && prints.iter().zip(&found).all(|(wanted, found)| is_as(wanted, found));
            assert!(same, "docs/manual/{page}:{line}: `{command}` prints\n{said}");
        }
    }
    assert!(count > 15, "the examples were found: {count}");
}

#[test]
fn the_reader_of_a_tail_is_not_held_by_a_slow_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let served = Served::start(folder.path(), &[]);
    served.submit_klines();
    let fed = write_trades(&folder.path().join("trades.csv"), 60_000);
    // Nobody reads what it prints.
    let mut tail = served.command(&["table", "tail", "Trade", "--follow", "--rows", "0"]);
    let mut tail = tail.stdout(Stdio::piped()).spawn().expect("it starts");
    served.said(&["feed", "Trade", "trades.csv"]);
    assert_eq!(served.trades(), fed);
    tail.kill().expect("it goes on");
    let mut said = String::new();
    tail.stdout.take().expect("piped").read_to_string(&mut said).expect("text");
    tail.wait().expect("a status");
}

#[test]
fn a_shell_on_a_terminal_completes_remembers_and_goes_on_after_errors() {
    let folder = tempfile::tempdir().expect("a folder");
    let served = Served::start(folder.path(), &[]);
    served.submit_klines();
    let mut python = Command::new("python3");
    python.arg(root().join("tests/clients/shell_terminal.py")).arg(env!("CARGO_BIN_EXE_orca"));
    python.args(["shell", "--url", &served.url]).env("XDG_DATA_HOME", folder.path()).env("TERM", "xterm");
    let output = python.output().expect("python starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let history = std::fs::read_to_string(folder.path().join("orca/history")).expect("a history");
    for typed in ["f(41) * 10", "existsCatalog(\"market\")", "select 40 + 3 as n;"] {
        assert!(history.contains(typed), "{typed} in {history}");
    }
}
