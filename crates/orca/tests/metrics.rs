//! Metrics: the text that Prometheus reads, the system's tables, the board and alert rules, and traces.

mod common;

use common::{KLINE, append_all, root, serve, submit, trades};
use orca::metrics::{METRICS, MetricKind};
use orca::server::Running;
use orca::server::subscription::Wanted;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

const TRADE: &str = "market.orca_table.Trade";

fn get(running: &Running, path: &str) -> (String, String) {
    let mut answer = ureq::get(format!("http://{}{path}", running.http)).call().expect("an answer");
    let media = answer.headers().get("content-type").expect("a type").to_str().unwrap().to_string();
    (media, answer.body_mut().read_to_string().unwrap())
}

/// The families of a text by name: its kind, and its samples by name and labels. Panics where the text breaks the format.
type Samples = BTreeMap<(String, BTreeMap<String, String>), f64>;

fn parse(text: &str) -> BTreeMap<String, (String, Samples)> {
    assert!(text.ends_with('\n'), "the last line is ended");
    let mut families: BTreeMap<String, (String, Samples)> = BTreeMap::new();
    let (mut helped, mut current) = (BTreeSet::new(), String::new());
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, help) = help.split_once(' ').expect("a help has a text");
            assert!(is_name(name) && !help.is_empty() && helped.insert(name.to_string()), "{line}");
            current = name.to_string();
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').expect("a type has a kind");
            assert_eq!(name, current, "a type follows its help");
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            let before = families.insert(name.to_string(), (kind.to_string(), Samples::new()));
            assert!(before.is_none(), "{name} comes twice");
        } else {
            assert!(!line.starts_with('#'), "{line}");
            let (series, value) = line.rsplit_once(' ').expect("a sample has a value");
            let (name, labels) = match series.split_once('{') {
                Some((name, labels)) => (name, labels_of(labels.strip_suffix('}').expect("labels are closed"))),
                None => (series, BTreeMap::new()),
            };
            assert!(is_name(name), "{line}");
            let (kind, samples) = families.get_mut(&current).expect("a sample follows its type");
            let suffix = name.strip_prefix(current.as_str()).expect("samples of a family stand together");
            match kind.as_str() {
                "histogram" => assert!(["_bucket", "_sum", "_count"].contains(&suffix), "{line}"),
                _ => assert_eq!(suffix, "", "{line}"),
            }
            assert_eq!(labels.contains_key("le"), suffix == "_bucket", "{line}");
            let value: f64 = value.parse().unwrap_or_else(|_| panic!("{line}"));
            assert!(kind != "counter" || value >= 0.0, "{line}");
            assert!(samples.insert((name.to_string(), labels), value).is_none(), "{line} comes twice");
        }
    }
    families.iter().filter(|(_, (kind, _))| kind == "histogram").for_each(|(name, (_, samples))| {
        for ((_, labels), count) in samples.iter().filter(|((of, _), _)| *of == format!("{name}_count")) {
            let is_same = |of: &BTreeMap<String, String>| {
                let mut of = of.clone();
                of.remove("le");
                of == *labels
            };
            let buckets = samples.iter().filter(|((of, with), _)| *of == format!("{name}_bucket") && is_same(with));
            let bound = |text: &str| if text == "+Inf" { f64::INFINITY } else { text.parse().expect("a bound") };
            let mut buckets: Vec<(f64, f64)> =
                buckets.map(|((_, labels), count)| (bound(&labels["le"]), *count)).collect();
            buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
            assert!(buckets.is_sorted_by_key(|(_, count)| *count), "{name}: buckets add up");
            assert_eq!(buckets.last(), Some(&(f64::INFINITY, *count)), "{name}: the last bucket holds all");
            assert!(samples.contains_key(&(format!("{name}_sum"), labels.clone())), "{name}");
        }
    });
    families
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_')
}

fn labels_of(text: &str) -> BTreeMap<String, String> {
    let (mut labels, mut rest) = (BTreeMap::new(), text);
    while !rest.is_empty() {
        let (name, value) = rest.split_once("=\"").expect("a label has a value in quotes");
        assert!(is_name(name), "{text}");
        let (mut plain, mut letters) = (String::new(), value.char_indices());
        let end = loop {
            match letters.next().expect("quotes are closed") {
                (place, '"') => break place,
                (_, '\\') => match letters.next() {
                    Some((_, 'n')) => plain.push('\n'),
                    Some((_, letter @ ('"' | '\\'))) => plain.push(letter),
                    other => panic!("{other:?} in {text}"),
                },
                (_, letter) => plain.push(letter),
            }
        };
        assert!(labels.insert(name.to_string(), plain).is_none(), "{text}");
        rest = &value[end + 1..];
        rest = match rest.strip_prefix(',') {
            Some(more) => more,
            None => rest,
        };
    }
    labels
}

/// A server whose graph has worked, with a reader that is behind.
fn at_work(settings: &[(&str, &str)]) -> (Running, orca::server::subscription::Subscription) {
    let running = serve(settings);
    submit(&running, KLINE);
    append_all(&running, TRADE, "test", &trades(10_000, 1_000));
    running.server().orca().wait().unwrap();
    let table = running.server().table_name(TRADE).unwrap();
    let mut reader = running.server().subscribe(&table, Wanted { rows_max: 4_000, ..Wanted::default() }).unwrap();
    reader.look().unwrap();
    running.server().orca().query("select count(*) from Trade").unwrap();
    assert!(running.server().orca().query("select nothing").is_err());
    (running, reader)
}

#[test]
fn every_metric_is_in_the_text_and_its_numbers_are_right() {
    let (running, _reader) = at_work(&[]);
    get(&running, "/healthz");
    let (media, text) = get(&running, "/metrics");
    assert!(media.starts_with("text/plain; version=0.0.4"), "{media}");
    let families = parse(&text);
    for metric in METRICS {
        let (kind, samples) = families.get(metric.name).unwrap_or_else(|| panic!("{} is not there", metric.name));
        let wanted = match metric.kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
        };
        assert_eq!(kind, wanted, "{}", metric.name);
        assert!(!samples.is_empty(), "{} has no series", metric.name);
        for (_, labels) in samples.keys() {
            let names: Vec<&str> = labels.keys().map(String::as_str).filter(|name| *name != "le").collect();
            let mut wanted = metric.labels.to_vec();
            wanted.sort();
            assert_eq!(names, wanted, "{}", metric.name);
        }
    }
    assert_eq!(families.len(), METRICS.len());
    let value = |name: &str, labels: &[(&str, &str)]| {
        let labels = labels.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let family = ["_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        families[family].1.get(&(name.to_string(), labels)).copied()
    };
    assert_eq!(value("orca_graphs", &[("state", "running")]), Some(1.0));
    assert_eq!(value("orca_graphs", &[("state", "failed")]), Some(0.0));
    assert_eq!(value("orca_table_rows", &[("table", TRADE)]), Some(10_000.0));
    assert_eq!(value("orca_table_end_offset", &[("table", TRADE)]), Some(10_000.0));
    assert_eq!(value("orca_subscriptions", &[("table", TRADE)]), Some(1.0));
    assert_eq!(value("orca_subscription_lag_rows", &[("table", TRADE)]), Some(6_000.0));
    assert_eq!(value("orca_appends_total", &[("result", "new")]), Some(10.0));
    assert_eq!(value("orca_append_rows_total", &[]), Some(10_000.0));
    assert_eq!(value("orca_append_seconds_count", &[]), Some(10.0));
    assert_eq!(value("orca_queries_failed_total", &[]), Some(1.0));
    assert_eq!(value("orca_query_seconds_count", &[]), Some(2.0));
    let health = [("method", "GET"), ("route", "/healthz"), ("status", "200")];
    assert_eq!(value("orca_http_requests_total", &health), Some(1.0));
    assert!(value("orca_process_resident_bytes", &[]) > Some(1e6));
    assert!(families["orca_node_rows_in_total"].1.values().any(|rows| *rows == 10_000.0));
    running.stop().unwrap();
}

#[test]
fn sql_shows_the_same_numbers() {
    let (running, _reader) = at_work(&[]);
    let number = |query: &str| {
        let answer = running.server().orca().query(query).unwrap();
        let mut text = vec![];
        query::format::write(&answer, query::format::Format::Csv, &mut text).unwrap();
        String::from_utf8(text).unwrap().lines().nth(1).unwrap_or("").to_string()
    };
    let of_trade = "select value from orca_sys.metrics where name = 'orca_table_rows' and labels like '%Trade%'";
    assert_eq!(number(of_trade), "10000");
    assert_eq!(number("select value from orca_sys.metrics where name = 'orca_append_seconds_count'"), "10");
    assert_eq!(number("select lag from orca_sys.subscriptions"), "6000");
    assert_eq!(number("select value from orca_sys.settings where setting = 'data.dir'"), "memory");
    assert_eq!(number("select origin from orca_sys.settings where setting = 'log.level'"), "default");
    assert_eq!(number("select count(*) from orca_sys.operations"), "0");
    let names = number("select count(distinct name) from orca_sys.metrics");
    // A histogram is two numbers here.
    let histograms = METRICS.iter().filter(|metric| metric.kind == MetricKind::Histogram).count();
    let there = METRICS.iter().filter(|metric| !metric.name.starts_with("orca_http_")).count();
    assert_eq!(names.parse::<usize>().unwrap(), there + histograms - 1);
    running.stop().unwrap();
}

#[test]
fn series_that_are_too_many_are_one() {
    let (running, _reader) = at_work(&[("metrics.series_max", "2")]);
    let families = parse(&get(&running, "/metrics").1);
    for (name, (kind, samples)) in &families {
        let series = samples.keys().filter(|(of, _)| kind != "histogram" || of.ends_with("_count")).count();
        assert!(series <= 2, "{name} has {series}");
    }
    let rows = &families["orca_table_rows"].1;
    let other = rows.iter().find(|((_, labels), _)| labels["table"] == "other").expect("a sum").1;
    let all: u64 = ["Trade", "kline_1min", "kline_5min"]
        .map(|name| running.server().orca().table(&format!("market.orca_table.{name}")).unwrap().end())
        .iter()
        .sum();
    let first = rows.iter().find(|((_, labels), _)| labels["table"] != "other").expect("one").1;
    assert_eq!(first + other, all as f64);
    running.stop().unwrap();
}

#[test]
fn the_board_and_the_alerts_ask_for_metrics_that_there_are() {
    let (running, _reader) = at_work(&[]);
    get(&running, "/healthz");
    let families = parse(&get(&running, "/metrics").1);
    let samples: BTreeSet<String> =
        families.values().flat_map(|(_, samples)| samples.keys().map(|(name, _)| name.clone())).collect();
    let named = |text: &str| {
        let words = text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
        words.filter(|word| word.starts_with("orca_")).map(String::from).collect::<BTreeSet<String>>()
    };
    let board = std::fs::read_to_string(root().join("ops/grafana/orca.json")).unwrap();
    let board: serde_json::Value = serde_json::from_str(&board).expect("the board is JSON");
    let panels = board["panels"].as_array().unwrap();
    let targets = panels.iter().filter_map(|panel| panel["targets"].as_array()).flatten();
    let mut asked: Vec<String> = targets.map(|target| target["expr"].as_str().unwrap().to_string()).collect();
    assert!(asked.len() > 20);
    let ids: BTreeSet<u64> = panels.iter().map(|panel| panel["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), panels.len(), "panels have ids of their own");
    for variable in board["templating"]["list"].as_array().unwrap() {
        asked.extend(variable["definition"].as_str().map(String::from));
    }
    let alerts = std::fs::read_to_string(root().join("ops/prometheus/alerts.yml")).unwrap();
    let rules: Vec<&str> = alerts.lines().filter_map(|line| line.trim().strip_prefix("expr: ")).collect();
    assert_eq!(rules.len(), alerts.matches("- alert: ").count());
    asked.extend(rules.iter().map(|rule| rule.to_string()));
    for expression in &asked {
        let names = named(expression);
        assert!(!names.is_empty(), "{expression}");
        for name in names {
            assert!(samples.contains(&name), "{name} of {expression} is no metric");
        }
        let (opened, closed) = (expression.matches('(').count(), expression.matches(')').count());
        assert_eq!(opened, closed, "{expression}");
    }
    // Every metric is of use to somebody.
    let shown: BTreeSet<String> = asked.iter().flat_map(|expression| named(expression)).collect();
    for metric in METRICS.iter().filter(|metric| metric.name != "orca_table_start_offset") {
        assert!(shown.iter().any(|name| name.starts_with(metric.name)), "{} is on no board", metric.name);
    }
    running.stop().unwrap();
}

/// The manual lists every metric.
#[test]
fn the_manual_names_every_metric() {
    let manual = std::fs::read_to_string(root().join("docs/manual/metrics.md")).unwrap();
    for metric in METRICS {
        assert!(manual.contains(&format!("`{}`", metric.name)), "{}", metric.name);
    }
}

/// A process that does not outlive its test.
struct Killed(std::process::Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
    }
}

#[test]
fn spans_of_submits_queries_and_appends_reach_a_collector() {
    let collected = Arc::new(std::sync::Mutex::new((String::new(), Vec::<u8>::new())));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let heard = collected.clone();
    let collector = axum::Router::new().fallback(move |request: axum::extract::Request| async move {
        let path = request.uri().path().to_string();
        let body = axum::body::to_bytes(request.into_body(), 1 << 24).await.unwrap();
        let mut heard = heard.lock().unwrap();
        heard.0 = path;
        heard.1.extend_from_slice(&body);
        [("content-type", "application/grpc"), ("grpc-status", "0")]
    });
    runtime.spawn(async move { axum::serve(listener, collector).await });

    let orca = Command::new(env!("CARGO_BIN_EXE_orca"))
        .args(["serve", "--data-dir", "memory", "--http", "127.0.0.1:0", "--pg", "127.0.0.1:0"])
        .args(["--set", &format!("trace.endpoint={endpoint}"), "--set", "log.format=json"])
        .stderr(Stdio::piped())
        .spawn();
    let mut orca = Killed(orca.unwrap());
    let mut lines = BufReader::new(orca.0.stderr.take().unwrap()).lines();
    let address = loop {
        let line = lines.next().expect("it says when it is ready").unwrap();
        let said: serde_json::Value = serde_json::from_str(&line).expect("a line of the log is JSON");
        if let Some(http) = said["fields"]["http"].as_str() {
            break http.to_string();
        }
    };
    let send = |path: &str, media: &str, body: &str| {
        let request = ureq::post(format!("http://{address}{path}")).header("content-type", media);
        assert_eq!(request.send(body).unwrap().status(), 200);
    };
    let script = "createCatalog(\"c\")\ngo\nuse catalog c\ncreateOrcaStreamTable(\"T\", [`n], [INT])";
    send("/v1/scripts?name=traced.dos", "text/plain", script);
    send("/v1/tables/T/rows", "application/x-ndjson", "{\"n\":1}");
    send("/v1/sql", "text/plain", "select * from T");
    Command::new("kill").arg(orca.0.id().to_string()).status().unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while orca.0.try_wait().unwrap().is_none() {
        assert!(Instant::now() < deadline, "it stops");
        std::thread::sleep(Duration::from_millis(20));
    }
    let (path, bytes) = collected.lock().unwrap().clone();
    assert_eq!(path, "/opentelemetry.proto.collector.trace.v1.TraceService/Export");
    let holds = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    for span in ["submit", "query", "append", "traced.dos", "c.orca_table.T", "service.name"] {
        assert!(holds(span), "no {span} in what was sent");
    }
}
