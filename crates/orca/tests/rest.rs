//! The REST API, asked by HTTP clients while a graph works.

mod common;

use common::{KLINE, Traffic, append_all, python, run_python, serve, submit, trades};
use data::Batch;
use orca::market::Market;
use orca::server::Running;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

const TRADE: &str = "market.orca_table.Trade";

/// An answer: status, headers, body.
struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Answer {
    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("text")
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// The problem's text, of this status and kind.
    fn problem(&self, status: u16, kind: &str) -> String {
        assert_eq!((self.status, self.header("content-type")), (status, "application/problem+json"), "{}", self.text());
        let problem = self.json();
        assert_eq!((&problem["status"], &problem["kind"]), (&json!(status), &json!(kind)), "{problem}");
        problem["detail"].as_str().expect("a text").to_string()
    }
}

/// Asks with a method, headers and a body.
fn ask(running: &Running, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    let agent = ureq::Agent::config_builder().http_status_as_error(false).build().new_agent();
    let mut request = ureq::http::Request::builder().method(method).uri(format!("http://{}{path}", running.http));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let mut response = match body.is_empty() && method != "POST" {
        true => agent.run(request.body(()).expect("a request")).expect("an answer"),
        false => agent.run(request.body(body).expect("a request")).expect("an answer"),
    };
    let headers = response.headers().iter();
    Answer {
        status: response.status().as_u16(),
        headers: headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap_or("?").to_string())).collect(),
        body: response.body_mut().with_config().limit(1 << 30).read_to_vec().expect("a body"),
    }
}

fn get(running: &Running, path: &str) -> Answer {
    ask(running, "GET", path, &[], &[])
}

fn post(running: &Running, path: &str, media: &str, body: &str) -> Answer {
    ask(running, "POST", path, &[("content-type", media)], body.as_bytes())
}

fn script(running: &Running, query: &str, text: &str) -> Answer {
    post(running, &format!("/v1/scripts{query}"), "text/plain", text)
}

fn sql(running: &Running, query: &str) -> Value {
    let answer = post(running, "/v1/sql", "text/plain", query);
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

/// A server with a table of every kind of value.
fn with_table() -> Running {
    let running = serve(&[]);
    submit(
        &running,
        "createCatalog(\"c\")\ngo\nuse catalog c\n\
         createOrcaStreamTable(\"T\", `sym`time`price`n, [SYMBOL, TIMESTAMP, DOUBLE, INT])",
    );
    running
}

#[test]
fn a_script_gives_its_value_and_what_it_said() {
    let running = serve(&[]);
    let answer = script(&running, "", "print(\"hello\")\nx = 1..3\nx * 2");
    assert_eq!(answer.status, 200, "{}", answer.text());
    let answer = answer.json();
    assert_eq!(answer["said"], json!([{ "kind": "printed", "text": "hello" }]));
    assert_eq!(script(&running, "", &format!("sum({})", answer["value"].as_str().unwrap())).json()["value"], "12l");
    running.stop().unwrap();
}

#[test]
fn an_error_of_a_script_names_its_place() {
    let running = serve(&[]);
    let answer = script(&running, "?name=day.dos", "x = 1\ny = x + nothing");
    assert!(answer.problem(400, "invalid").contains("nothing"));
    let fault = &answer.json()["errors"][0];
    assert_eq!((&fault["line"], &fault["name"]), (&json!(2), &json!("day.dos")), "{fault}");
    assert_eq!(fault["source_line"], "y = x + nothing");
    assert!(fault["column"].is_u64());
    running.stop().unwrap();
}

#[test]
fn a_session_keeps_its_variables_until_it_is_ended() {
    let running = serve(&[]);
    let opened = ask(&running, "POST", "/v1/sessions", &[], &[]);
    assert_eq!(opened.status, 201);
    let session = opened.json()["session"].as_str().unwrap().to_string();
    assert_eq!(script(&running, &format!("?session={session}"), "kept = 41").status, 200);
    assert_eq!(script(&running, &format!("?session={session}"), "kept + 1").json()["value"], "42");
    assert!(script(&running, "", "kept + 1").status == 400);
    let end = || ask(&running, "DELETE", &format!("/v1/sessions/{session}"), &[], &[]);
    assert_eq!(end().status, 204);
    assert!(end().problem(404, "not_found").contains("no such session"));
    script(&running, &format!("?session={session}"), "1").problem(404, "not_found");
    running.stop().unwrap();
}

#[test]
fn a_script_that_nobody_waits_for_is_an_operation() {
    let running = with_table();
    let begun = script(&running, "?wait=false&name=slow.dos", "6 * 7");
    assert_eq!(begun.status, 202, "{}", begun.text());
    let location = begun.header("location").to_string();
    assert_eq!(location, format!("/v1/operations/{}", begun.json()["operation"].as_str().unwrap()));
    let deadline = Instant::now() + Duration::from_secs(10);
    let done = loop {
        let state = get(&running, &location).json();
        if state["state"] != "running" {
            break state;
        }
        assert!(Instant::now() < deadline, "{state}");
    };
    assert_eq!((&done["state"], &done["result"]["value"]), (&json!("done"), &json!("42")), "{done}");
    let failed = script(&running, "?wait=false", "nothing").json();
    std::thread::sleep(Duration::from_millis(200));
    let failed = get(&running, &format!("/v1/operations/{}", failed["operation"].as_str().unwrap())).json();
    assert_eq!((&failed["state"], &failed["problem"]["status"]), (&json!("failed"), &json!(400)), "{failed}");
    assert_eq!(get(&running, "/v1/operations").json().as_array().unwrap().len(), 2);
    get(&running, "/v1/operations/none").problem(404, "not_found");
    let known = sql(&running, "select what, state from orca_sys.operations");
    assert_eq!(known[0], json!({ "what": "run slow.dos", "state": "done" }));
    running.stop().unwrap();
}

#[test]
fn a_script_that_is_sent_again_under_its_key_runs_once() {
    let running = serve(&[]);
    let send = |text: &str| {
        ask(
            &running,
            "POST",
            "/v1/scripts",
            &[("content-type", "text/plain"), ("idempotency-key", "k1")],
            text.as_bytes(),
        )
    };
    let first = send("createCatalog(\"once\")\n1");
    assert_eq!(first.status, 200, "{}", first.text());
    // Without the key the catalog would be there already.
    let again = send("createCatalog(\"once\")\n1");
    assert_eq!((again.status, again.json()), (200, first.json()));
    assert!(send("2").problem(409, "conflict").contains("key=`k1`"));
    running.stop().unwrap();
}

#[test]
fn rows_of_every_form_go_in_and_come_out_the_same() {
    let running = with_table();
    let path = "/v1/tables/T/rows";
    let lines = "{\"sym\":\"A\",\"time\":\"2024-01-02T09:30:00.000\",\"price\":1.5,\"n\":1}\n\
                 {\"N\":2,\"sym\":\"B\",\"time\":1704187801000}\n";
    let first = post(&running, path, "application/x-ndjson", lines);
    assert_eq!(first.status, 200, "{}", first.text());
    assert_eq!(first.json(), json!({ "rows": 2, "seq": 1, "held": false, "offsets": { "start": 0, "end": 2 } }));
    let array = format!("[{}]", lines.trim().replace('\n', ","));
    assert_eq!(post(&running, path, "application/json", &array).json()["offsets"]["end"], 4);
    let csv = get(&running, &format!("{path}?format=csv&limit=2"));
    assert_eq!((csv.header("orca-next"), csv.header("orca-era")), ("2", "0"));
    assert_eq!(csv.text(), "sym,time,price,n\nA,2024-01-02T09:30:00.000,1.5,1\nB,2024-01-02T09:30:01.000,,2\n");
    assert_eq!(post(&running, path, "text/csv; charset=utf-8", csv.text()).json()["offsets"]["end"], 6);
    let arrow = get(&running, &format!("{path}?from=4&format=arrow"));
    assert_eq!(arrow.header("content-type"), "application/vnd.apache.arrow.stream");
    let sent = ask(&running, "POST", path, &[("content-type", arrow.header("content-type"))], &arrow.body);
    assert_eq!(sent.json()["offsets"], json!({ "start": 6, "end": 8 }), "{}", sent.text());
    let all = get(&running, &format!("{path}?format=json")).json();
    let all = all.as_array().unwrap();
    assert_eq!(all.len(), 8);
    for pair in all.chunks(2) {
        assert_eq!(pair, &all[..2]);
    }
    assert_eq!(all[1], json!({ "sym": "B", "time": "2024-01-02T09:30:01.000", "price": null, "n": 2 }));
    running.stop().unwrap();
}

#[test]
fn an_append_that_is_tried_again_appends_nothing() {
    let running = with_table();
    let send = |seq: u64, n: u64| {
        let body = format!("{{\"sym\":\"A\",\"n\":{n}}}");
        post(&running, &format!("/v1/tables/c.orca_table.t/rows?writer=w&seq={seq}"), "application/x-ndjson", &body)
    };
    assert_eq!(get(&running, "/v1/tables/T/writers/w").json(), json!({ "writer": "w", "seq": null }));
    assert_eq!(send(1, 7).json()["held"], false);
    assert_eq!(send(1, 7).json(), json!({ "rows": 1, "seq": 1, "held": true, "offsets": { "start": 0, "end": 1 } }));
    assert!(send(1, 8).problem(409, "conflict").contains("other rows"));
    assert_eq!(send(2, 8).json()["offsets"]["start"], 1);
    assert_eq!(get(&running, "/v1/tables/T/writers/w").json()["seq"], 2);
    let feed = "/v1/tables/T/rows?writer=feed%2F0%2Fday.csv&seq=5";
    assert_eq!(post(&running, feed, "text/csv", "sym,time,price,n\nA,,,1\n").status, 200);
    assert_eq!(get(&running, "/v1/tables/T/writers/feed%2F0%2Fday.csv").json()["seq"], 5);
    running.stop().unwrap();
}

#[test]
fn appends_that_break_off_and_are_tried_again_are_there_once() {
    let running = with_table();
    let (mut broken, mut seed) = (0, 7u64);
    for seq in 1..=40u64 {
        let body: String = (0..50).map(|n| format!("{{\"sym\":\"S{}\",\"n\":{}}}\n", n % 7, seq * 50 + n)).collect();
        let path = format!("/v1/tables/T/rows?writer=w&seq={seq}");
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        // Breaks off somewhere in the request, or after it and before the answer.
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-ndjson\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let whole = [head.as_bytes(), body.as_bytes()].concat();
        let sent = (seed >> 33) as usize % (whole.len() + whole.len() / 2);
        let mut broken_off = TcpStream::connect(running.http).unwrap();
        broken_off.write_all(&whole[..sent.min(whole.len())]).unwrap();
        drop(broken_off);
        broken += (sent < whole.len()) as u32;
        let answer = post(&running, &path, "application/x-ndjson", &body);
        assert_eq!((answer.status, &answer.json()["rows"]), (200, &json!(50)), "{}", answer.text());
    }
    assert!((5..=38).contains(&broken), "both ways of breaking off were tried: {broken}");
    let count = sql(&running, "select count(*) as rows, count(distinct n) as numbers from T");
    assert_eq!(count, json!([{ "rows": 2000, "numbers": 2000 }]));
    running.stop().unwrap();
}

#[test]
fn rows_that_do_not_fit_are_refused_with_line_and_mend() {
    let running = with_table();
    let path = "/v1/tables/T/rows";
    let unknown = post(&running, path, "application/x-ndjson", "{\"n\":1}\n{\"prise\":2}").problem(422, "data");
    assert!(unknown.contains("line=`2`") && unknown.contains("did you mean `price`?"), "{unknown}");
    let value = post(&running, path, "text/csv", "sym,time,price,n\nA,,,x\n").problem(422, "data");
    assert!(value.contains("column=`n`") && value.contains("value=`x`"), "{value}");
    let header = post(&running, path, "text/csv", "sym,time,price,m\n").problem(422, "data");
    assert!(header.contains("unknown column: column=`m`"), "{header}");
    post(&running, path, "application/x-ndjson", "{\"n\":").problem(400, "invalid");
    post(&running, path, "application/vnd.apache.arrow.stream", "no arrow").problem(400, "invalid");
    let media = post(&running, path, "text/html", "x").problem(415, "invalid");
    assert!(media.contains("text/csv"), "{media}");
    post(&running, &format!("{path}?writer=w"), "text/csv", "x").problem(400, "invalid");
    post(&running, &format!("{path}?writer=journal/1/x&seq=1"), "text/csv", "x").problem(403, "denied");
    post(&running, "/v1/tables/S/rows", "text/csv", "x").problem(404, "not_found");
    post(&running, &format!("{path}?sequence=1"), "text/csv", "x").problem(400, "invalid");
    assert_eq!(sql(&running, "select count(*) as rows from T"), json!([{ "rows": 0 }]));
    running.stop().unwrap();
}

#[test]
fn a_body_over_the_limit_is_refused_before_it_is_sent() {
    let running = with_table();
    let mut stream = TcpStream::connect(running.http).unwrap();
    let head =
        "POST /v1/tables/T/rows HTTP/1.1\r\nhost: x\r\ncontent-type: text/csv\r\ncontent-length: 268435457\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    assert!(line.starts_with("HTTP/1.1 413"), "{line}");
    running.stop().unwrap();
}

#[test]
fn queries_answer_in_every_form_while_rows_arrive() {
    let running = serve(&[]);
    submit(&running, KLINE);
    append_all(&running, TRADE, "test", &trades(20_000, 1_000));
    let traffic = Traffic::start(&running);
    let count = sql(&running, "select count(*) as rows from Trade");
    assert!(count[0]["rows"].as_u64().unwrap() >= 20_000, "{count}");
    let query = "select symbol, price from trade order by _offset limit 2";
    let form = |format: &str| post(&running, &format!("/v1/sql?format={format}"), "text/plain", query);
    let (json, csv, table) = (form("json").json(), form("csv"), form("table"));
    assert_eq!(csv.text().lines().count(), 3);
    assert_eq!(csv.text().lines().nth(1).unwrap().split(',').next(), json[0]["symbol"].as_str());
    assert!(table.text().contains("symbol") && table.header("content-type").starts_with("text/plain"));
    let accepted =
        ask(&running, "POST", "/v1/sql", &[("content-type", "text/plain"), ("accept", "text/csv")], query.as_bytes());
    assert_eq!(accepted.body, csv.body);
    let arrow = form("arrow");
    let rows = arrow::ipc::reader::StreamReader::try_new(arrow.body.as_slice(), None).unwrap();
    assert_eq!(rows.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 2);
    traffic.stop();
    running.stop().unwrap();
}

#[test]
fn parameters_take_the_types_that_the_query_wants() {
    let running = with_table();
    let rows = "{\"sym\":\"A\",\"time\":\"2024-01-02T09:30:00.000\",\"n\":1}\n{\"sym\":\"B\",\"n\":2}";
    post(&running, "/v1/tables/T/rows", "application/x-ndjson", rows);
    let asked = |sql: &str, parameters: Value| {
        post(&running, "/v1/sql", "application/json", &json!({ "sql": sql, "parameters": parameters }).to_string())
    };
    assert_eq!(asked("select n from T where sym = $1", json!(["B"])).json(), json!([{ "n": 2 }]));
    let by_time = asked("select sym from T where time = $1 and n < $2", json!(["2024-01-02T09:30:00", 5]));
    assert_eq!(by_time.json(), json!([{ "sym": "A" }]), "{}", by_time.text());
    assert!(asked("select n from T where sym = $1", json!([])).problem(400, "invalid").contains("wanted=`1`"));
    asked("select n from T where n = $1", json!(["x"])).problem(400, "invalid");
    post(&running, "/v1/sql", "application/json", "{\"query\":1}").problem(400, "invalid");
    running.stop().unwrap();
}

#[test]
fn an_insert_answers_how_many_rows() {
    let running = with_table();
    let inserted = sql(&running, "insert into T (sym, n) values ('A', 1), ('B', 2)");
    assert_eq!(inserted, json!({ "rows": 2 }));
    assert_eq!(sql(&running, "insert into T select * from T"), json!({ "rows": 2 }));
    let rows = sql(&running, "select sym, price, n from T where n = 2");
    assert_eq!(rows, json!([{ "sym": "B", "price": null, "n": 2 }, { "sym": "B", "price": null, "n": 2 }]));
    running.stop().unwrap();
}

#[test]
fn an_error_of_a_query_names_its_place() {
    let running = with_table();
    let answer = post(&running, "/v1/sql", "text/plain", "select\n  prise from T");
    assert!(answer.problem(404, "not_found").contains("did you mean `price`?"));
    let fault = &answer.json()["errors"][0];
    assert_eq!((&fault["line"], &fault["column"]), (&json!(2), &json!(3)), "{fault}");
    assert_eq!(fault["source_line"], "  prise from T");
    post(&running, "/v1/sql", "text/plain", "drop table T").problem(400, "invalid");
    post(&running, "/v1/sql?catalog=none", "text/plain", "select 1").problem(404, "not_found");
    assert_eq!(post(&running, "/v1/sql?catalog=C", "text/plain", "select 1 as one").json(), json!([{ "one": 1 }]));
    post(&running, "/v1/sql?format=xml", "text/plain", "select 1").problem(400, "invalid");
    running.stop().unwrap();
}

#[test]
fn graphs_and_tables_are_listed_explained_and_dropped() {
    let running = serve(&[]);
    submit(&running, KLINE);
    append_all(&running, TRADE, "test", &trades(5_000, 1_000));
    running.server().orca().wait().unwrap();
    let graphs = get(&running, "/v1/graphs").json();
    assert_eq!(graphs[0]["graph"], "market.orca_graph.klines");
    assert_eq!((&graphs[0]["state"], &graphs[0]["waiting_rows"]), (&json!("running"), &json!(0)));
    let graph = get(&running, "/v1/graphs/KLINES").json();
    let nodes = graph["nodes"].as_array().unwrap();
    assert!(nodes.iter().any(|node| node["rows_in"] == 5_000), "{graph}");
    let explained = get(&running, "/v1/graphs/klines/explain");
    assert!(explained.text().contains("physical graph"));
    assert!(get(&running, "/v1/graphs/klines/explain?format=json").json()["plan"].is_object());
    assert!(get(&running, "/v1/graphs/kline").problem(404, "not_found").contains("did you mean"));
    let table = get(&running, "/v1/tables/trade").json();
    assert_eq!((&table["table"], &table["rows"], &table["kind"]), (&json!(TRADE), &json!(5_000), &json!("log")));
    assert_eq!(table["columns"][0], json!({ "name": "symbol", "type": "SYMBOL" }));
    assert_eq!(table["used_by"], json!(["market.orca_graph.klines"]));
    assert_eq!(get(&running, "/v1/tables").json().as_array().unwrap().len(), 3);
    assert_eq!(ask(&running, "DELETE", "/v1/graphs/klines?include_tables=true", &[], &[]).status, 204);
    assert_eq!(get(&running, "/v1/graphs").json(), json!([]));
    assert_eq!(get(&running, "/v1/tables").json(), json!([]));
    ask(&running, "DELETE", "/v1/graphs/klines", &[], &[]).problem(404, "not_found");
    running.stop().unwrap();
}

/// The events of a stream, one at a time.
struct Events {
    lines: BufReader<TcpStream>,
}

impl Events {
    fn open(running: &Running, path: &str, headers: &str) -> Events {
        let mut stream = TcpStream::connect(running.http).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        write!(stream, "GET {path} HTTP/1.0\r\nhost: x\r\n{headers}\r\n").unwrap();
        let mut events = Events { lines: BufReader::new(stream) };
        let head = events.block();
        assert!(head[0].contains(" 200 "), "{head:?}");
        assert!(head.iter().any(|line| line == "content-type: text/event-stream"), "{head:?}");
        events
    }

    /// The lines to the next empty one.
    fn block(&mut self) -> Vec<String> {
        let mut lines = vec![];
        loop {
            let mut line = String::new();
            self.lines.read_line(&mut line).expect("a line in time");
            match line.trim_end() {
                "" => return lines,
                text => lines.push(text.to_string()),
            }
        }
    }

    /// The next event: its id, name and data.
    fn next(&mut self) -> (String, String, Value) {
        let lines = self.block();
        let field = |name: &str| {
            let value = lines.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            value.unwrap_or("").to_string()
        };
        let data = serde_json::from_str(&field("data")).unwrap_or(Value::Null);
        (field("id"), field("event"), data)
    }
}

#[test]
fn a_subscriber_gets_every_row_once_and_goes_on_where_it_was() {
    let running = with_table();
    let add = |n: i64| {
        let body = format!("{{\"sym\":\"A\",\"n\":{n}}}\n{{\"sym\":\"B\",\"n\":{n}}}");
        assert_eq!(post(&running, "/v1/tables/T/rows", "application/x-ndjson", &body).status, 200);
    };
    add(1);
    let mut events = Events::open(&running, "/v1/tables/T/subscribe?rows_max=1", "");
    let (id, event, data) = events.next();
    assert_eq!((id.as_str(), event.as_str()), ("0:1", "rows"));
    assert_eq!((&data["era"], &data["next"], &data["missed"]), (&json!(0), &json!(1), &json!(0)));
    assert_eq!(data["rows"], json!([{ "sym": "A", "time": null, "price": null, "n": 1 }]));
    assert_eq!(events.next().0, "0:2");
    add(2);
    assert_eq!(events.next().2["rows"][0]["n"], 2);
    drop(events);
    add(3);
    let mut resumed = Events::open(&running, "/v1/tables/T/subscribe?filter=sym%3D%27B%27", "last-event-id: 0:3\r\n");
    let (id, _, data) = resumed.next();
    assert_eq!(id, "0:6");
    let numbers: Vec<&Value> = data["rows"].as_array().unwrap().iter().map(|row| &row["n"]).collect();
    assert_eq!(numbers, [2, 3]);
    let readers = sql(&running, "select \"table\", next_offset, lag, filter from orca_sys.subscriptions");
    assert!(
        readers.as_array().unwrap().iter().any(|reader| reader["next_offset"] == 6 && reader["lag"] == 0),
        "{readers}"
    );
    let mut next = Events::open(&running, "/v1/tables/T/subscribe?from=next", "");
    add(4);
    assert_eq!(next.next().0, "0:8");
    for wrong in ["from=x", "filter=nothing", "rows_max=0", "slow=never", "from=99"] {
        assert!(get(&running, &format!("/v1/tables/T/subscribe?{wrong}")).status >= 400, "{wrong}");
    }
    running.stop().unwrap();
}

#[test]
fn a_reader_that_is_too_slow_is_told_what_it_missed_or_ended() {
    let running = with_table();
    let body: String = (0..1_000).map(|n| format!("{{\"n\":{n}}}\n")).collect();
    post(&running, "/v1/tables/T/rows", "application/x-ndjson", &body);
    let mut events = Events::open(&running, "/v1/tables/T/subscribe?slow=drop_oldest&lag_rows_max=10", "");
    let (_, _, data) = events.next();
    assert_eq!((&data["missed"], data["rows"].as_array().unwrap().len()), (&json!(990), 10));
    let mut events = Events::open(&running, "/v1/tables/T/subscribe?slow=disconnect&lag_rows_max=10", "");
    let (_, event, data) = events.next();
    assert_eq!((event.as_str(), &data["status"]), ("error", &json!(503)));
    assert!(data["detail"].as_str().unwrap().contains("go on from=`0`"), "{data}");
    running.stop().unwrap();
}

#[test]
fn a_stop_ends_streams_and_does_not_wait_for_them() {
    let running = with_table();
    let mut events = Events::open(&running, "/v1/tables/T/subscribe", "");
    let begun = Instant::now();
    running.stop().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    let mut rest = String::new();
    events.lines.read_to_string(&mut rest).expect("the end");
}

#[test]
fn a_login_is_asked_for_where_a_password_is_set() {
    let running = serve(&[("login.password", "secret")]);
    let answer = get(&running, "/v1/tables");
    answer.problem(401, "denied");
    assert!(answer.header("www-authenticate").starts_with("Basic "));
    let with = |login: &str| ask(&running, "GET", "/v1/tables", &[("authorization", login)], &[]);
    // orca:secret, orca:wrong
    assert_eq!(with("Basic b3JjYTpzZWNyZXQ=").status, 200);
    with("Basic b3JjYTp3cm9uZw==").problem(401, "denied");
    for path in ["/metrics", "/openapi.json"] {
        get(&running, path).problem(401, "denied");
    }
    for path in ["/healthz", "/readyz"] {
        assert_eq!(get(&running, path).status, 200);
    }
    let settings = ask(&running, "GET", "/v1/settings", &[("authorization", "Basic b3JjYTpzZWNyZXQ=")], &[]).json();
    let password = settings.as_array().unwrap().iter().find(|one| one["setting"] == "login.password").unwrap();
    assert_eq!((&password["value"], &password["origin"]), (&json!("(hidden)"), &json!("flag")));
    running.stop().unwrap();
}

#[test]
fn what_is_not_there_is_a_problem_too() {
    let running = serve(&[]);
    get(&running, "/v2").problem(404, "not_found");
    let refused = ask(&running, "PUT", "/v1/tables", &[], &[]);
    refused.problem(405, "invalid");
    assert!(refused.header("allow").contains("GET"), "{:?}", refused.headers);
    get(&running, "/v1/tables/a.b.c").problem(400, "invalid");
    get(&running, "/v1/tables/%ff").problem(400, "invalid");
    running.stop().unwrap();
}

#[test]
fn malformed_frames_are_refused_and_hurt_nobody() {
    let running = with_table();
    let frames: [&[u8]; 8] = [
        b"\0\0\0\0\0\0\0\0\0",
        b"GET\r\n\r\n",
        b"POST /v1/sql HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
        b"POST /v1/sql HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nselect\r\n",
        b"GET /v1/tables HTTP/9.9\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x04\x01\x05\0\0\0\x01\xff\xff\xff\xff",
        b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03",
    ];
    let mut seed = 1u64;
    for round in 0..200 {
        let mut frame = frames[round % frames.len()].to_vec();
        if round >= frames.len() {
            // Bent somewhere.
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let place = (seed >> 33) as usize % frame.len();
            frame[place] ^= (seed >> 40) as u8 | 1;
        }
        let mut stream = TcpStream::connect(running.http).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let _ = stream.write_all(&frame);
        let mut answer = [0; 64];
        if let Ok(read) = stream.read(&mut answer) {
            assert!(!answer[..read].starts_with(b"HTTP/1.1 5"), "{round}");
        }
    }
    let deep = "(".repeat(100_000);
    assert_eq!(script(&running, "", &deep).status, 400);
    assert_eq!(post(&running, "/v1/sql", "text/plain", &format!("select {deep}")).status, 400);
    let nested = format!("{{\"n\":{}", "[".repeat(100_000));
    post(&running, "/v1/tables/T/rows", "application/x-ndjson", &nested);
    let mut bent = get(&running, "/v1/tables/T/rows?format=arrow").body;
    for place in 0..bent.len() {
        bent[place] ^= 0x55;
        let path = "/v1/tables/T/rows";
        let answer = ask(&running, "POST", path, &[("content-type", "application/vnd.apache.arrow.stream")], &bent);
        assert!(answer.status < 500, "{place}: {}", answer.text());
        bent[place] ^= 0x55;
    }
    assert_eq!(get(&running, "/healthz").status, 200);
    running.stop().unwrap();
}

#[test]
fn a_client_that_goes_away_ends_its_query() {
    let running = serve(&[]);
    submit(&running, KLINE);
    append_all(&running, TRADE, "test", &trades(20_000, 5_000));
    let query = "select a.price from Trade a cross join Trade b cross join Trade c";
    let mut stream = TcpStream::connect(running.http).unwrap();
    let head = "POST /v1/sql HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\ncontent-length: ";
    write!(stream, "{head}{}\r\n\r\n{query}", query.len()).unwrap();
    stream.read_exact(&mut [0; 10_000]).unwrap();
    drop(stream);
    let deadline = Instant::now() + Duration::from_secs(10);
    while running.server().orca().queries().figures().durations.classes().iter().sum::<u64>() == 0 {
        assert!(Instant::now() < deadline, "the query goes on");
        std::thread::sleep(Duration::from_millis(20));
    }
    running.stop().unwrap();
}

#[test]
fn curl_runs_scripts_queries_and_streams() {
    let running = serve(&[]);
    submit(&running, KLINE);
    let traffic = Traffic::start(&running);
    let curl = |arguments: &[&str]| {
        let done = Command::new("curl").args(["--silent", "--show-error"]).args(arguments).output().expect("curl");
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    let url = |path: &str| format!("http://{}{path}", running.http);
    let text = ["--header", "content-type: text/plain", "--data-binary"];
    let answer = curl(&[&text[..], &["select count(*) as n from Trade", &url("/v1/sql?format=csv")]].concat());
    assert!(answer.starts_with("n\n"), "{answer}");
    let answer = curl(&[&text[..], &["1 + 1", &url("/v1/scripts")]].concat());
    assert!(answer.contains("\"value\":\"2\""), "{answer}");
    for packed in [&[][..], &["--compressed"]] {
        let subscribe = url(&format!("/v1/tables/{TRADE}/subscribe?from=first"));
        let events = curl(&[packed, &["--no-buffer", "--max-time", "2", &subscribe]].concat());
        assert!(events.starts_with("id: 0:") && events.matches("event: rows").count() > 1, "{events:.200}");
    }
    traffic.stop();
    // A stream that ends is a whole one.
    let behind = url(&format!("/v1/tables/{TRADE}/subscribe?slow=disconnect&lag_rows_max=1"));
    let (plain, packed) = (curl(&[&behind]), curl(&["--compressed", &behind]));
    assert!(plain.starts_with("event: error\n") && plain == packed, "{plain}\n{packed}");
    let head = curl(&["--head", "--request", "GET", "--header", "accept-encoding: br;q=1, GZIP;q=0.5", &behind]);
    assert!(head.contains("content-encoding: gzip"), "{head}");
    let head = curl(&["--head", "--request", "GET", "--header", "accept-encoding: gzip;q=0", &behind]);
    assert!(!head.contains("content-encoding") && head.contains("vary: accept-encoding"), "{head}");
    running.stop().unwrap();
}

#[test]
fn frames_of_pandas_polars_and_arrow_go_in_and_come_out() {
    let running = serve(&[]);
    submit(&running, KLINE);
    let traffic = Traffic::start(&running);
    let said = run_python("rest_frames.py", &[&format!("http://{}", running.http)]);
    assert!(said.trim_end().ends_with("ok"), "{said}");
    traffic.stop();
    running.stop().unwrap();
}

/// Asks everything the document allows, and what it does not, for so many seconds.
fn fuzz(seconds: u64) {
    let running = serve(&[]);
    submit(&running, KLINE);
    append_all(&running, TRADE, "test", &trades(2_000, 500));
    let traffic = Traffic::start(&running);
    let done = Command::new(python().with_file_name("schemathesis"))
        .arg("--config-file")
        .arg(common::root().join("tests/clients/schemathesis.toml"))
        .args(["run", &format!("http://{}/openapi.json", running.http), "--max-time", &seconds.to_string()])
        // A script or query is a text, so not every text is a right one.
        .args(["--exclude-checks", "positive_data_acceptance"])
        // A stream does not end.
        .args(["--exclude-path-regex", "/subscribe$", "--continue-on-failure", "--workers", "2"])
        .args(["--request-timeout", "30", "--suppress-health-check", "all", "--no-color", "--max-failures", "20"])
        .current_dir(std::env::temp_dir())
        .output()
        .expect("schemathesis starts");
    let said = String::from_utf8_lossy(&done.stdout);
    println!("{said}");
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(get(&running, "/healthz").status, 200);
    traffic.stop();
    running.stop().unwrap();
}

#[test]
fn whatever_the_document_allows_is_answered_as_it_says() {
    fuzz(30);
}

#[test]
#[ignore = "ten minutes"]
fn whatever_the_document_allows_is_answered_as_it_says_for_ten_minutes() {
    fuzz(600);
}

#[test]
#[ignore = "a measurement"]
fn a_million_rows_as_json_lines() {
    let running = with_table();
    let lines: String = (0..100_000)
        .map(|n| {
            let (sym, ms) = (n % 500, 1_704_187_800_000u64 + n);
            format!("{{\"sym\":\"S{sym:03}\",\"time\":{ms},\"price\":{}.25,\"n\":{}}}\n", n % 97, n % 1_000)
        })
        .collect();
    let begun = Instant::now();
    for seq in 1..=10 {
        let answer = post(&running, &format!("/v1/tables/T/rows?writer=w&seq={seq}"), "application/x-ndjson", &lines);
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!("JSON lines: {:.0} rows/s", 1e6 / seconds);
    let csv = get(&running, "/v1/tables/T/rows?format=csv&limit=100000").body;
    let begun = Instant::now();
    for _ in 0..10 {
        let answer = ask(&running, "POST", "/v1/tables/T/rows", &[("content-type", "text/csv")], &csv);
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    println!("CSV: {:.0} rows/s", 1e6 / begun.elapsed().as_secs_f64());
    let arrow = get(&running, "/v1/tables/T/rows?format=arrow&limit=100000").body;
    let begun = Instant::now();
    for _ in 0..10 {
        let media = ("content-type", "application/vnd.apache.arrow.stream");
        assert_eq!(ask(&running, "POST", "/v1/tables/T/rows", &[media], &arrow).status, 200);
    }
    println!("Arrow: {:.0} rows/s", 1e6 / begun.elapsed().as_secs_f64());
    for format in ["json", "csv", "arrow"] {
        let begun = Instant::now();
        let answer = post(&running, &format!("/v1/sql?format={format}"), "text/plain", "select * from T");
        assert_eq!(answer.status, 200);
        println!("answer {format}: {:.0} rows/s", 3e6 / begun.elapsed().as_secs_f64());
    }
    assert!(1e6 / seconds >= 200_000.0, "JSON lines: {:.0} rows/s", 1e6 / seconds);
    running.stop().unwrap();
}

/// Rows a second through the K-line graph at full speed, while `readers` subscribers read its one-minute table, the first of
/// them stuck. They take gzip, as browsers and HTTP libraries do. The others are read by one thread that gives way: it takes
/// none of the processors that it would not take from elsewhere.
fn rate_with(readers: usize, coding: &str, batches: &[Batch]) -> f64 {
    let running = serve(&[]);
    submit(&running, KLINE);
    let path = "/v1/tables/market.orca_table.kline_1min/subscribe";
    let mut streams: Vec<TcpStream> = (0..readers)
        .map(|_| {
            let mut stream = TcpStream::connect(running.http).unwrap();
            write!(stream, "GET {path} HTTP/1.1\r\nhost: x\r\naccept-encoding: {coding}\r\n\r\n").unwrap();
            stream
        })
        .collect();
    let stuck = streams.pop();
    let reading = std::thread::spawn(move || {
        env::give_way();
        read_all(streams)
    });
    let begun = Instant::now();
    append_all(&running, TRADE, "test", batches);
    running.server().orca().wait().unwrap();
    let rate = batches.iter().map(Batch::rows).sum::<usize>() as f64 / begun.elapsed().as_secs_f64();
    println!("{readers} readers: {rate:.0} rows/s, peak {} MiB", env::process_peak_bytes() >> 20);
    running.stop().unwrap();
    drop(stuck);
    println!("{readers} readers: {} bytes read", reading.join().unwrap());
    rate
}

/// Reads until all have ended; gives how many bytes there were.
fn read_all(streams: Vec<TcpStream>) -> usize {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    let reads = streams.into_iter().map(|stream| async move {
        stream.set_nonblocking(true).unwrap();
        let stream = tokio::net::TcpStream::from_std(stream).unwrap();
        let (mut bytes, mut read) = (vec![0; 65_536], 0);
        while stream.readable().await.is_ok() {
            match stream.try_read(&mut bytes) {
                Ok(0) => break,
                Ok(count) => read += count,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(_) => break,
            }
        }
        read
    });
    runtime.block_on(futures::future::join_all(reads)).into_iter().sum()
}

#[test]
#[ignore = "a measurement"]
fn a_hundred_readers_do_not_hold_the_graph_up() {
    let batches: Vec<Batch> = Market::new(7, 500, 40_000_000, 10_000).collect();
    const PAIRS: usize = 30;
    for coding in ["gzip", "identity"] {
        // One of a pair right after the other, as the machine's own speed wavers.
        let mut losses: Vec<f64> = (0..PAIRS)
            .map(|round| {
                let (first, second) = if round % 2 == 0 { (0, 100) } else { (100, 0) };
                let (one, other) = (rate_with(first, coding, &batches), rate_with(second, coding, &batches));
                let (alone, with) = if first == 0 { (one, other) } else { (other, one) };
                100.0 * (1.0 - with / alone)
            })
            .collect();
        losses.sort_by(f64::total_cmp);
        let (half, last) = (losses.len() / 2, losses.len() - 1);
        println!(
            "lost to readers of {coding}, median of {PAIRS} pairs: {:.1} % ({:.1} to {:.1})",
            losses[half], losses[0], losses[last]
        );
    }
}
