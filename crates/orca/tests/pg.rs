//! The PostgreSQL front under real clients, while a graph works.

mod common;

use common::{KLINE, Traffic, root, run_python, serve, submit};
use orca::server::Running;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Tables that clients write to: one of every type, one of pairs, and one of ticks.
const TABLES: &str = "use catalog market
    createOrcaStreamTable(\"every\", `b`c`h`i`l`d`t`f`g`s`x`m,
        [BOOL, CHAR, SHORT, INT, LONG, DATE, TIMESTAMP, FLOAT, DOUBLE, SYMBOL, STRING, DECIMAL64(2)])
    createOrcaStreamTable(\"pairs\", `k`v, [STRING, LONG])
    createOrcaStreamTable(\"ticks\", `sym`time`price`qty, [SYMBOL, TIMESTAMP, DOUBLE, INT])";

/// A server whose graph works, and the tables to write to.
fn at_work(settings: &[(&str, &str)]) -> (Running, Traffic) {
    let running = serve(settings);
    submit(&running, KLINE);
    submit(&running, TABLES);
    let traffic = Traffic::start(&running);
    (running, traffic)
}

/// Ends it; the graph must have gone on all the while.
fn end((running, traffic): (Running, Traffic)) {
    assert!(traffic.stop() > 0, "rows arrived");
    let failed = running.server().orca().notice_failures().expect("failures are known");
    assert!(failed.is_empty(), "{failed:?}");
    running.stop().expect("a stop");
}

fn url(running: &Running) -> String {
    format!("postgresql://me@{}/orca", running.pg)
}

fn psql(running: &Running, database: &str, password: Option<&str>, arguments: &[&str]) -> Output {
    let mut command = Command::new("psql");
    command.args(["-X", "-w", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", &running.pg.port().to_string()]);
    command.args(["-U", "me", "-d", database]).args(arguments).stdin(Stdio::null());
    command.env("PGCONNECT_TIMEOUT", "10");
    match password {
        Some(password) => command.env("PGPASSWORD", password),
        None => command.env_remove("PGPASSWORD"),
    };
    command.output().expect("psql starts")
}

/// What psql shows for one command.
fn shown(running: &Running, text: &str) -> String {
    let done = psql(running, "orca", None, &["-c", text]);
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{text}: {out}{err}");
    out.into_owned()
}

#[test]
fn psql_looks_around_and_asks() {
    let at_work = at_work(&[]);
    let running = &at_work.0;
    for (command, parts) in [
        (r"\l", &["market", "UTF-8"][..]),
        (r"\dn", &["orca_sys", "orca_table"]),
        (r"\d", &["Trade", "kline_1min", "kline_5min", "pairs", "orca_table"]),
        (r"\d trade", &["Table \"orca_table.Trade\"", "timestamp without time zone", "double precision"]),
        (r"\d every", &["smallint", "bigint", "numeric(18,2)", "real", "date", "boolean", "text"]),
        (r"\dt *.*", &["orca_sys   | graphs", "pg_catalog | pg_class"]),
        (r"\dt KLINE*", &["kline_1min", "kline_5min"]),
        (r"\du", &["me"]),
        (r"\df", &["(0 rows)"]),
        (r"\dT", &["(0 rows)"]),
        (r"\conninfo", &["database \"orca\" as user \"me\""]),
        ("select version(), current_user, current_database()", &["PostgreSQL 16", "Orca", "me", "market"]),
        ("select 1 as one; select 'two' as two", &["one", "two"]),
        ("SELECT Count(*) > 0 as some FROM TRADE", &["some", "t"]),
        ("explain select * from trade", &["DataSourceExec"]),
        ("show tables", &["kline_1min"]),
        ("show time zone", &["UTC"]),
        ("insert into pairs values ('a', 1), ('b', 2)", &["INSERT 0 2"]),
        ("copy (select k, v from pairs order by v) to stdout with csv header", &["k,v\na,1\nb,2\n"]),
        ("begin; insert into pairs values ('c', 3); commit", &["COMMIT"]),
    ] {
        let shown = shown(running, command);
        for part in parts {
            assert!(shown.contains(part), "{command}: {part} in\n{shown}");
        }
    }
    let wrong = psql(running, "orca", None, &["-c", "select pirce from trade"]);
    let told = String::from_utf8_lossy(&wrong.stderr).into_owned();
    for part in [
        "unknown column: column=`pirce`",
        "LINE 1: select pirce from trade",
        "               ^",
        "did you mean `price`?",
    ] {
        assert!(told.contains(part), "{part} in\n{told}");
    }
    let unknown = psql(running, "nosuch", None, &["-c", "select 1"]);
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("no such database: database=`nosuch`"));
    // A database is a catalog, whatever its case.
    assert!(psql(running, "MARKET", None, &["-c", "select count(*) from trade"]).status.success());

    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("pairs.csv");
    std::fs::write(&file, "k,v\nfile,10\n\"a, b\",20\n").expect("a file");
    assert!(shown(running, &format!("\\copy pairs from '{}' csv header", file.display())).contains("COPY 2"));
    assert!(shown(running, "select sum(v) from pairs where k in ('file', 'a, b')").contains("30"));
    end(at_work);
}

#[test]
fn psycopg_reads_and_writes() {
    let at_work = at_work(&[]);
    assert!(run_python("pg_psycopg.py", &[&url(&at_work.0)]).contains("ok"));
    end(at_work);
}

#[test]
fn sqlalchemy_knows_the_tables() {
    let at_work = at_work(&[]);
    assert!(run_python("pg_sqlalchemy.py", &[&url(&at_work.0)]).contains("ok"));
    end(at_work);
}

#[test]
fn pandas_polars_and_adbc_get_frames() {
    let at_work = at_work(&[]);
    assert!(run_python("pg_frames.py", &[&url(&at_work.0)]).contains("ok"));
    end(at_work);
}

#[test]
fn what_tools_send_on_connect_is_answered() {
    let at_work = at_work(&[]);
    let answered = run_python("pg_tools.py", &[&url(&at_work.0)]);
    assert!(answered.trim().parse::<u32>().is_ok_and(|answered| answered >= 80), "{answered}");
    end(at_work);
}

#[test]
fn only_who_knows_the_password_is_let_in() {
    let running = serve(&[("login.user", "me"), ("login.password", "secret")]);
    let code = |database: &str, password: Option<&str>| {
        let done = psql(&running, database, password, &["-c", "select 1"]);
        (done.status.success(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    assert_eq!(code("orca", Some("secret")), (true, String::new()));
    let (let_in, told) = code("orca", Some("guess"));
    assert!(!let_in && told.contains("password authentication failed: user=`me`"), "{told}");
    assert!(!code("orca", None).0);
    // Who is not let in does not learn which databases there are.
    assert!(code("nosuch", Some("guess")).1.contains("password authentication failed"));
    assert!(code("nosuch", Some("secret")).1.contains("no such database"));
    let other = Command::new("psql")
        .args([
            "-X",
            "-w",
            "-h",
            "127.0.0.1",
            "-p",
            &running.pg.port().to_string(),
            "-U",
            "other",
            "-d",
            "orca",
            "-c",
            "",
        ])
        .env("PGPASSWORD", "secret")
        .output()
        .expect("psql starts");
    assert!(String::from_utf8_lossy(&other.stderr).contains("password authentication failed: user=`other`"));
    running.stop().expect("a stop");
}

/// A frame that says it is so long.
fn frame(letter: u8, length: i32, body: &[u8]) -> Vec<u8> {
    [&[letter], &length.to_be_bytes()[..], body].concat()
}

fn startup(body: &[u8]) -> Vec<u8> {
    let length = 8 + body.len() as i32;
    [&length.to_be_bytes()[..], &196_608i32.to_be_bytes(), body].concat()
}

/// Sends bytes and reads until the server ends the connection or says nothing more; gives what it said.
fn send(running: &Running, bytes: &[u8]) -> Vec<u8> {
    let mut socket = TcpStream::connect(running.pg).expect("a connection");
    socket.set_read_timeout(Some(Duration::from_millis(300))).expect("a socket");
    // It may be ended before all is sent.
    let _ = socket.write_all(bytes);
    let mut said = vec![];
    let _ = socket.read_to_end(&mut said);
    said
}

#[test]
fn malformed_frames_end_their_own_connection() {
    static BROKEN: AtomicUsize = AtomicUsize::new(0);
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        // What breaks off on a thread of the server's.
        if std::thread::current().name().is_some_and(|name| name == "front" || name == "query") {
            BROKEN.fetch_add(1, Ordering::Relaxed);
        }
        usual(panic);
    }));
    let (running, traffic) = at_work(&[]);
    let hello = startup(b"user\0me\0database\0orca\0\0");
    let after = |frame: Vec<u8>| [hello.clone(), frame].concat();
    let has = |said: &[u8], text: &str| String::from_utf8_lossy(said).contains(text);
    for (bytes, told) in [
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(), "08P01"),
        (vec![0xff; 64], "08P01"),
        ([&[0, 0, 0, 8][..], &131_072i32.to_be_bytes()].concat(), "0A000"),
        (startup(b"user\0me"), "08P01"),
        (startup(b"database\0orca\0\0"), "28000"),
        (after(frame(b'Q', 3, b"")), "08P01"),
        (after(frame(b'Q', i32::MAX, b"select")), "08P01"),
        (after(frame(b'Q', 13, b"select 1x")), "08P01"),
        (after(frame(b'Q', 8, b"\xff\xfe\xfd\0")), "08P01"),
        (after(frame(b'!', 4, b"")), "08P01"),
        (after(frame(b'B', 12, b"\0\0\0\0\xff\xff\0\0")), "08P01"),
        (after(frame(b'E', 4, b"")), "08P01"),
        (after([frame(b'P', 17, b"s\0select $\0\0\0"), frame(b'S', 4, b"")].concat()), "ERROR"),
        (after([frame(b'E', 9, b"\0\0\0\0\0"), frame(b'S', 4, b"")].concat()), "34000"),
        (after([frame(b'D', 7, b"Sx\0"), frame(b'S', 4, b"")].concat()), "26000"),
        // Rows of a COPY that nobody asked for are passed over.
        (after([frame(b'd', 7, b"abc"), frame(b'Q', 14, b"select 17\0")].concat()), "17"),
    ] {
        let said = send(&running, &bytes);
        assert!(has(&said, told), "{told} after {bytes:?}: {}", String::from_utf8_lossy(&said));
    }
    // Chance, before and after it is let in; and more connections than there may be at once.
    let mut seed = 1u64;
    let mut chance = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as u8
    };
    for turn in 0..1_200 {
        let letters = b"QPBDECSHdcfXp";
        let mut bytes = if turn % 3 > 0 { hello.clone() } else { vec![] };
        for _ in 0..3 {
            let body: Vec<u8> = (0..chance() % 40).map(|_| chance()).collect();
            let honest = turn % 2 == 0;
            let length = if honest { body.len() as i32 + 4 } else { i32::from(chance()) };
            bytes.extend(frame(letters[chance() as usize % letters.len()], length, &body));
        }
        let mut socket = TcpStream::connect(running.pg).expect("a connection");
        let _ = socket.write_all(&bytes);
    }
    assert!(shown(&running, "select count(*) > 0 as goes_on from trade").contains("goes_on"));
    assert_eq!(BROKEN.load(Ordering::Relaxed), 0, "nothing broke off");
    end((running, traffic));
}

#[test]
fn a_stop_ends_idle_clients_at_once() {
    let running = serve(&[]);
    let mut idle = TcpStream::connect(running.pg).expect("a connection");
    idle.write_all(&startup(b"user\0me\0\0")).expect("a socket");
    let mut silent = TcpStream::connect(running.pg).expect("a connection");
    let mut head = [0; 9];
    idle.read_exact(&mut head).expect("it is let in");
    assert_eq!(head, *b"R\0\0\0\x08\0\0\0\0");
    let start = Instant::now();
    running.stop().expect("a stop");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    let mut said = vec![];
    idle.read_to_end(&mut said).expect("it is ended");
    assert!(String::from_utf8_lossy(&said).contains("57P01"), "{}", String::from_utf8_lossy(&said));
    assert!(matches!(silent.read(&mut [0; 8]), Ok(0) | Err(_)), "it is ended too");
}

/// `cargo test --release -p orca --test pg -- --ignored --nocapture figures` on a quiet machine.
#[test]
#[ignore = "a measurement"]
fn figures() {
    let (running, traffic) = at_work(&[]);
    let fill = "insert into pairs select cast(value as varchar) as k, value as v from generate_series(0, 49)";
    assert!(shown(&running, fill).contains("INSERT 0 50"));
    let bench = |arguments: &[&str]| {
        let mut command = Command::new(common::python());
        let done = command.arg(root().join("bench/pg.py")).arg(url(&running)).args(arguments).output();
        let done = done.expect("python starts");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        print!("{}", String::from_utf8_lossy(&done.stdout));
    };
    bench(&["--point", "SELECT k, v FROM pairs WHERE v = %s"]);
    bench(&["--copy", "ticks"]);
    println!("{} rows of traffic", traffic.stop());
    running.stop().expect("a stop");
}
