//! The Flight SQL front by its real clients, and by requests that no client would send.

mod common;

use arrow::ipc::writer::{DictionaryTracker, IpcDataGenerator, IpcWriteContext, IpcWriteOptions};
use axum::body::Body;
use axum::http::{Request, StatusCode};
use common::{KLINE, Traffic, append_all, run_python, serve, submit, trades};
use orca::server::Running;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tower::ServiceExt;

/// The tables beside those of the candles.
const TABLES: &str = r#"
if (!existsCatalog("market")) { createCatalog("market") }
go
use catalog market
createOrcaStreamTable("notes", `text`n, [SYMBOL, INT])
"#;

const TICKS: &str = r#"
createCatalog("lab")
use catalog lab
createOrcaStreamTable("ticks", `n`sym`at`x, [LONG, SYMBOL, TIMESTAMP, DOUBLE])
"#;

/// A server whose candle graph has trades behind it and gets more.
fn market() -> (Running, Traffic) {
    let running = serve(&[]);
    submit(&running, KLINE);
    append_all(&running, "market.orca_table.Trade", "test", &trades(30_000, 5_000));
    let traffic = Traffic::start(&running);
    (running, traffic)
}

#[test]
fn adbc_queries_binds_inserts_and_sees_what_there_is() {
    let (running, traffic) = market();
    submit(&running, TABLES);
    run_python("flight_sql.py", &[&running.http.to_string()]);
    assert!(traffic.stop() > 0);
    running.stop().expect("a stop");
}

#[test]
fn an_append_is_there_once_however_often_it_is_retried() {
    let running = serve(&[]);
    submit(&running, TICKS);
    run_python("flight_append.py", &[&running.http.to_string()]);
    running.stop().expect("a stop");
}

#[test]
fn a_subscription_reads_from_any_offset_and_goes_on() {
    let (running, traffic) = market();
    run_python("flight_subscribe.py", &[&running.http.to_string()]);
    assert!(traffic.stop() > 0);
    running.stop().expect("a stop");
}

#[test]
fn a_stop_ends_subscriptions_and_says_so() {
    let running = serve(&[]);
    submit(&running, TICKS);
    let mut command = Command::new(common::python());
    command.arg(common::root().join("tests/clients/flight_until_stop.py"));
    command.args([running.http.to_string().as_str(), "lab.orca_table.ticks"]);
    let mut reader = command.stdout(Stdio::piped()).spawn().expect("python starts");
    let mut lines = BufReader::new(reader.stdout.take().expect("its output")).lines();
    assert_eq!(lines.next().expect("a line").expect("a text"), "reading");
    let asked = Instant::now();
    running.stop().expect("a stop");
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    assert_eq!(lines.next().expect("a line").expect("a text"), "told");
    assert!(reader.wait().expect("an end").success());
}

/// One field of a protocol buffer that holds bytes.
fn field(number: u64, bytes: &[u8]) -> Vec<u8> {
    let mut message = varint(number << 3 | 2);
    message.extend(varint(bytes.len() as u64));
    message.extend(bytes);
    message
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = vec![];
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A message as gRPC frames it.
fn frame(message: &[u8]) -> Vec<u8> {
    [&[0], &(message.len() as u32).to_be_bytes()[..], message].concat()
}

/// The messages of an append of one batch: descriptor and schema, dictionary, rows.
fn append_messages() -> Vec<Vec<u8>> {
    let batch = trades(200, 200).remove(0).to_arrow();
    let (generator, options) = (IpcDataGenerator::default(), IpcWriteOptions::default());
    let mut dictionaries = DictionaryTracker::new(false);
    let schema = generator.schema_to_bytes_with_dictionary_tracker(&batch.schema(), &mut dictionaries, &options);
    let mut context = IpcWriteContext::default();
    let (coded, rows) = generator.encode(&batch, &mut dictionaries, &options, &mut context).expect("an encoding");
    let path = [vec![0x08, 1], field(3, b"append"), field(3, b"market.orca_table.Trade")].concat();
    let mut messages = vec![[field(1, &path), field(2, &schema.ipc_message)].concat()];
    for data in coded.into_iter().chain([rows]) {
        messages.push([field(2, &data.ipc_message), field(1000, &data.arrow_data)].concat());
    }
    messages
}

/// Sends a call to the front itself; gives the status of HTTP and what came.
fn call(router: &axum::Router, method: &str, body: Vec<u8>) -> (StatusCode, Vec<u8>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let request = Request::post(format!("/arrow.flight.protocol.FlightService/{method}"))
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .body(Body::from(body))
            .expect("a request");
        let response = router.clone().oneshot(request).await.expect("a router answers");
        let status = response.status();
        // Errors come as trailers, which end the body.
        let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap_or_default();
        (status, body.to_vec())
    })
}

#[test]
fn malformed_messages_are_refused_and_the_server_goes_on() {
    let running = serve(&[]);
    submit(&running, KLINE);
    let router = orca::server::flight::routes(running.server().clone());
    let table = running.server().table_name("market.orca_table.Trade").expect("a name");
    let table = running.server().orca().table_of(&table).expect("the table");

    // As it should be.
    let messages = append_messages();
    let whole: Vec<u8> = messages.iter().flat_map(|message| frame(message)).collect();
    let (status, body) = call(&router, "DoPut", whole.clone());
    assert_eq!(status, StatusCode::OK);
    assert!(body.windows(9).any(|part| part == b"\"rows\":20"), "{}", String::from_utf8_lossy(&body));
    assert_eq!(table.end(), 200);

    // Bytes changed, cut off, put in, at random places.
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below.max(1) as u64) as usize
    };
    let quiet = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    for _ in 0..3_000 {
        let mut changed = messages.clone();
        for _ in 0..1 + random(4) {
            let message = random(changed.len());
            let message = &mut changed[message];
            // Most of the sense is at the front.
            let within = if random(2) == 0 { message.len().min(700) } else { message.len() };
            let place = random(within);
            match random(8) {
                0 => message.truncate(place),
                1 => message.insert(place, random(256) as u8),
                2 => message[place] = 0xff,
                _ => message[place] ^= 1 << random(8),
            }
            if message.is_empty() {
                message.push(0);
            }
        }
        let body: Vec<u8> = changed.iter().flat_map(|message| frame(message)).collect();
        let (status, _) = call(&router, "DoPut", body);
        assert_eq!(status, StatusCode::OK, "gRPC tells of errors in its own way");
    }
    for method in ["DoGet", "GetFlightInfo", "GetSchema", "DoAction", "ListFlights", "DoPut", "Handshake"] {
        for _ in 0..200 {
            let length = random(80);
            let bytes: Vec<u8> = (0..length).map(|_| random(256) as u8).collect();
            let (status, _) = call(&router, method, frame(&bytes));
            assert_eq!(status, StatusCode::OK, "{method}");
            call(&router, method, bytes);
        }
    }
    std::panic::set_hook(quiet);

    // It still works, over its socket too.
    for junk in
        [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff\xff\xff\xff\xff\xff"[..], b"\0\0\0\0", &[0xff; 4096]]
    {
        let mut socket = TcpStream::connect(running.http).expect("a connection");
        socket.write_all(junk).expect("a socket that takes bytes");
        socket.set_read_timeout(Some(Duration::from_millis(500))).expect("a timeout");
        let mut answer = vec![];
        // It may close without a word.
        let _ = socket.read_to_end(&mut answer);
    }
    let end = table.end();
    let (status, _) = call(&router, "DoPut", whole);
    assert_eq!((status, table.end()), (StatusCode::OK, end + 200));
    running.stop().expect("a stop");
}
