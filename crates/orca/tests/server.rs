//! What all fronts of a server share: scripts, appends, subscriptions, its life.

mod common;

use common::{KLINE, append_all, serve, submit, trades};
use env::Kind;
use orca::server::subscription::{Slow, Subscription, Wanted};
use orca::server::{Append, Running};
use orca::settings::Settings;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use stream::Start;

const NUMBERS: &str = "createCatalog(`demo)\ngo\nuse catalog demo\n\
    createOrcaStreamTable(\"numbers\", [\"k\", \"n\"], [`SYMBOL, `LONG])";

fn numbers() -> Running {
    let running = serve(&[]);
    submit(&running, NUMBERS);
    running
}

fn rows(running: &Running, text: &str) -> data::Batch {
    let table = running.server().table_name("numbers").expect("a name");
    let table = running.server().orca().table_of(&table).expect("a table");
    data::parse_table(table.schema(), text).expect("rows")
}

fn append(running: &Running, writer: Option<(&str, u64)>, text: &str) -> Result<(u64, bool), Kind> {
    let append = Append {
        table: running.server().table_name("numbers").expect("a name"),
        writer: writer.map(|(name, seq)| (stream::Writer::named(name), seq)),
        rows: rows(running, text),
    };
    running.server().append(append).map(|taken| (taken.seq, taken.held)).map_err(|failure| failure.kind())
}

fn read(running: &Running, wanted: Wanted) -> Result<Subscription, orca::failure::Failure> {
    let table = running.server().table_name("demo.orca_table.numbers").expect("a name");
    running.server().subscribe(&table, wanted)
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(future)
}

fn shown(news: &orca::server::subscription::News) -> String {
    let cells = |row: usize| {
        format!("{}{}", news.rows.column(0).get(row).as_text().unwrap_or("-"), news.rows.column(1).i64s()[row])
    };
    (0..news.rows.rows()).map(cells).collect::<Vec<_>>().join(" ")
}

#[test]
fn an_append_that_is_repeated_is_there_once() {
    let running = numbers();
    assert_eq!(append(&running, Some(("a", 1)), "k n\nx 1\nx 2"), Ok((1, false)));
    assert_eq!(append(&running, Some(("a", 1)), "k n\nx 1\nx 2"), Ok((1, true)));
    assert!(append(&running, Some(("a", 1)), "k n\nx 1\nx 3").is_err(), "other rows under the same number");
    assert_eq!(append(&running, Some(("b", 1)), "k n\nx 1\nx 2"), Ok((1, false)));
    let answer = running.server().orca().query("select count(*) c from numbers").expect("an answer");
    assert_eq!(data::Column::from_arrow(data::Type::Long, answer.batches[0].column(0)).unwrap().i64s(), [4]);
    running.stop().expect("it stops");
}

#[test]
fn nameless_appends_of_many_clients_are_all_there() {
    let running = numbers();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..50).for_each(|_| assert!(append(&running, None, "k n\nx 1").is_ok())));
        }
    });
    let table = running.server().orca().table("demo.orca_table.numbers").expect("a table");
    assert_eq!(table.end(), 400);
    running.stop().expect("it stops");
}

#[test]
fn a_session_keeps_its_variables_and_ends() {
    let running = serve(&[("script.sessions_max", "2")]);
    let server = running.server();
    let run = |session: Option<&orca::server::SessionId>, text: &str| {
        server.run_script(session, &lang::Source::new("s", text)).map(|ran| ran.value.show())
    };
    let first = server.open_session();
    run(Some(&first), "x = 41").expect("it runs");
    assert_eq!(run(Some(&first), "x + 1").expect("it runs"), "42");
    assert!(run(None, "x + 1").is_err(), "another session");
    let ran = server.run_script(Some(&first), &lang::Source::new("s", "print(x)\nx")).expect("it runs");
    assert_eq!(ran.said, [orca::script_session::Said::Printed("41".into())]);
    let (_second, third) = (server.open_session(), server.open_session());
    assert_eq!(run(Some(&first), "x").expect_err("it made room").kind(), Kind::NotFound);
    assert!(server.close_session(&third) && !server.close_session(&third));
    running.stop().expect("it stops");
}

#[test]
fn a_subscription_begins_where_it_is_asked_to() {
    let running = numbers();
    append(&running, None, "k n\na 1\nb 2").expect("an append");
    let mut first = read(&running, Wanted::default()).expect("a subscription");
    let mut next = read(&running, Wanted { start: Start::Next, ..Wanted::default() }).expect("a subscription");
    let mut from = read(&running, Wanted { start: Start::At(1), ..Wanted::default() }).expect("a subscription");
    let all = wait(first.next()).expect("news");
    assert_eq!((shown(&all), all.from, all.next, all.missed), ("a1 b2".into(), 0, 2, 0));
    assert_eq!(shown(&wait(from.next()).expect("news")), "b2");
    append(&running, None, "k n\nc 3").expect("an append");
    for reader in [&mut first, &mut next, &mut from] {
        let news = wait(reader.next()).expect("news");
        assert_eq!((shown(&news), news.from, news.next), ("c3".into(), 2, 3));
    }
    let wrong = Wanted { start: Start::At(9), ..Wanted::default() };
    assert!(read(&running, wrong).is_err_and(|failure| failure.to_string().contains("no such rows")));
    running.stop().expect("it stops");
}

#[test]
fn a_subscription_hears_of_rows_that_come_while_it_waits() {
    let running = numbers();
    let mut reader = read(&running, Wanted::default()).expect("a subscription");
    std::thread::scope(|scope| {
        let heard = scope.spawn(move || {
            let (mut rows, begun) = (0, Instant::now());
            while rows < 200 && begun.elapsed() < Duration::from_secs(20) {
                rows += wait(reader.next()).expect("news").rows.rows();
            }
            rows
        });
        (0..200).for_each(|_| assert!(append(&running, None, "k n\na 1").is_ok()));
        assert_eq!(heard.join().expect("it reads"), 200);
    });
    running.stop().expect("it stops");
}

#[test]
fn a_filter_leaves_rows_out_and_a_wrong_one_is_refused() {
    let running = numbers();
    append(&running, None, "k n\na 1\nb 2\na 3\n. 4").expect("an append");
    let wanted = |filter: &str| Wanted { filter: Some(filter.into()), ..Wanted::default() };
    let mut some = read(&running, wanted("K = 'a' and N > 1")).expect("a subscription");
    let news = wait(some.next()).expect("news");
    assert_eq!((shown(&news), news.next), ("a3".into(), 4));
    for (filter, want) in [
        ("price > 1", "unknown column: column=`price`"),
        ("n + 1", "a filter is a condition"),
        ("n >", "cannot read the query"),
    ] {
        let told = read(&running, wanted(filter)).err().expect("refused").to_string();
        assert!(told.contains(want), "{filter}: {told}");
    }
    running.stop().expect("it stops");
}

#[test]
fn a_slow_reader_gets_what_it_chose() {
    let running = numbers();
    for number in 0..10 {
        append(&running, None, &format!("k n\na {number}")).expect("an append");
    }
    let wanted = |slow| Wanted { slow, lag_rows_max: 3, rows_max: 2, ..Wanted::default() };
    let mut patient = read(&running, wanted(Slow::Wait)).expect("a subscription");
    assert_eq!(shown(&wait(patient.next()).expect("news")), "a0 a1");
    let mut newest = read(&running, wanted(Slow::DropOldest)).expect("a subscription");
    let news = wait(newest.next()).expect("news");
    assert_eq!((shown(&news), news.missed, news.from, news.next), ("a7 a8".into(), 7, 7, 9));
    let mut ended = read(&running, wanted(Slow::Disconnect)).expect("a subscription");
    let failure = wait(ended.next()).expect_err("too slow");
    assert!(failure.to_string().contains("go on from=`0`") && failure.kind() == Kind::Unavailable, "{failure}");
    running.stop().expect("it stops");
}

#[test]
fn a_reader_of_a_dropped_table_is_told() {
    let running = numbers();
    let mut reader = read(&running, Wanted::default()).expect("a subscription");
    submit(&running, "use catalog demo\ndropOrcaStreamTable(\"numbers\")");
    let failure = wait(reader.next()).expect_err("it is gone");
    assert!(failure.to_string().contains("table was dropped"), "{failure}");
    running.stop().expect("it stops");
}

#[test]
fn a_server_has_its_folder_alone_and_finds_its_tables_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().to_string_lossy().into_owned();
    let running = serve(&[("data.dir", &place)]);
    submit(&running, KLINE);
    append_all(&running, "Trade", "t", &trades(20_000, 1_000));
    running.server().orca().wait().expect("no graph fails");
    let count = |running: &Running| {
        let answer = running.server().orca().query("select count(*) from market.orca_table.kline_1min").expect("rows");
        data::Column::from_arrow(data::Type::Long, answer.batches[0].column(0)).unwrap().i64s()[0]
    };
    let before = count(&running);
    assert!(before > 100);
    let flags =
        [("data.dir", place.clone()), ("http.listen", "127.0.0.1:0".into()), ("pg.listen", "127.0.0.1:0".into())];
    let second = Running::start(Settings::load(&flags, None).expect("settings"));
    let told = second.err().expect("refused").to_string();
    assert!(told.contains("folder is in use by another process"), "{told}");
    running.stop().expect("it stops");
    let again = serve(&[("data.dir", &place)]);
    assert_eq!(count(&again), before);
    let state = again.server().orca().query("select state from market.orca_sys.graphs").expect("rows");
    assert_eq!(
        data::Column::from_arrow(data::Type::String, state.batches[0].column(0)).unwrap().get(0).as_text(),
        Some("stopped")
    );
    again.stop().expect("it stops");
}

#[test]
fn off_loopback_a_login_is_required() {
    let flags = [("data.dir", "memory"), ("http.listen", "0.0.0.0:0"), ("pg.listen", "127.0.0.1:0")];
    let settings = Settings::load(&flags.map(|(key, value)| (key, value.to_string())), None).expect("settings");
    let failure = Running::start(settings).err().expect("refused");
    assert_eq!(failure.kind(), Kind::Denied);
    assert!(failure.to_string().contains("login.password"), "{failure}");
}

#[test]
fn a_hundred_readers_one_of_them_stuck_do_not_hold_the_graph() {
    let rates = [0, 100].map(|readers| {
        let running = serve(&[]);
        submit(&running, KLINE);
        let table = running.server().table_name("kline_1min").expect("a name");
        let stop = Arc::new(AtomicBool::new(false));
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build().expect("threads");
        let mut tasks = vec![];
        for reader in 0..readers {
            let mut subscription = running.server().subscribe(&table, Wanted::default()).expect("a subscription");
            let stop = stop.clone();
            tasks.push(runtime.spawn(async move {
                let mut rows = 0;
                // The first one never reads.
                while reader > 0 && !stop.load(Ordering::Relaxed) {
                    let news = tokio::time::timeout(Duration::from_millis(50), subscription.next()).await;
                    rows += news.map_or(0, |news| news.expect("news").rows.rows());
                }
                rows
            }));
        }
        let batches = trades(1_000_000, 10_000);
        let begun = Instant::now();
        append_all(&running, "Trade", "t", &batches);
        running.server().orca().wait().expect("no graph fails");
        let rate = 1_000_000.0 / begun.elapsed().as_secs_f64();
        std::thread::sleep(Duration::from_millis(200));
        stop.store(true, Ordering::Relaxed);
        let end = running.server().orca().table_of(&table).expect("a table").end() as usize;
        for (reader, task) in tasks.into_iter().enumerate() {
            let rows = runtime.block_on(task).expect("it reads");
            assert_eq!(rows, if reader == 0 { 0 } else { end }, "reader {reader}");
        }
        running.stop().expect("it stops");
        rate
    });
    println!("rows a second: alone {:.0}, with 100 readers {:.0}", rates[0], rates[1]);
    // Readers of this test share the processors with the graph; the bench measures the graph alone.
    assert!(rates[1] > rates[0] * 0.3, "{rates:?}");
}

#[test]
fn scripts_use_the_modules_of_their_server_and_end_in_time() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("deep")).expect("a folder");
    std::fs::write(folder.path().join("rates.dos"), "module rates\ndef twice(x) { return x * 2 }\nrate = 3")
        .expect("a file");
    std::fs::write(folder.path().join("deep/steps.orca"), "module deep::steps\ndef next1(x): x + 1").expect("a file");
    let modules = folder.path().display().to_string();
    let running = serve(&[("script.modules", &modules), ("script.seconds_max", "1")]);
    let run = |text: &str| {
        let ran = running.server().run_script(None, &lang::Source::new("s", text));
        ran.map(|ran| ran.value.show()).map_err(|failure| failure.to_string())
    };
    assert_eq!(run("use rates\nuse deep::steps\ntwice(rate) + deep::steps::next1(1)"), Ok("8".to_string()));
    let refused = run("use other").expect_err("there is no such file");
    assert!(refused.contains("no such module: module=`other`"), "{refused}");
    let ended = run("try { while (true) { x = rand(10, 1000) } } catch (ex) { }").expect_err("it never ends by itself");
    assert!(ended.contains("script took too long: limit_ms=`1000`"), "{ended}");
    assert_eq!(run("1 + 1"), Ok("2".to_string()));
    running.stop().expect("it stops");
    // A server without modules has none, and a script in a file those beside it.
    let running = serve(&[]);
    let script = lang::Source::new("s", "use rates");
    assert!(running.server().run_script(None, &script).is_err());
    running.stop().expect("it stops");
    let script = folder.path().join("day.dos");
    std::fs::write(&script, "use deep::steps\nprint(next1(41))").expect("a file");
    let ran =
        std::process::Command::new(env!("CARGO_BIN_EXE_orca")).arg("run").arg(&script).output().expect("the program");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "42\n", "{}", String::from_utf8_lossy(&ran.stderr));
}
