//! Subscriptions as server-sent events.

use super::Front;
use super::connections::Aside;
use super::problem::{Problem, Problems};
use super::request::{Path, Query};
use super::tables::find;
use crate::server::Server;
use crate::server::subscription::{News, Slow, Subscription, Wanted, parse_start};
use crate::server::text::{Text, zipped};
use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use futures::future::{Either, select};
use serde::Deserialize;
use std::convert::Infallible;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;
use stream::Start;
use utoipa::{IntoParams, ToSchema};

/// How long a stream may be silent.
const SILENCE_MAX: Duration = Duration::from_secs(15);

/// The greatest number of rows of one event.
const ROWS_MAX: usize = 1_000_000;

/// What is subscribed to.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Subscribing {
    /// Where to begin: `first`, `next` or an offset.
    #[serde(default = "first")]
    #[param(default = "first", pattern = "^(first|next|[0-9]{1,19})$")]
    from: String,
    /// The era of the offset; the present one if left out.
    era: Option<u64>,
    /// Which rows: a condition as it stands after WHERE.
    filter: Option<String>,
    /// What happens when the reader is too slow.
    #[serde(default)]
    #[param(inline)]
    slow: SlowPolicy,
    /// How many rows it may be behind, where that matters.
    #[param(minimum = 1)]
    lag_rows_max: Option<u64>,
    /// How many rows an event has at most.
    #[param(minimum = 1, maximum = 1000000)]
    rows_max: Option<usize>,
}

/// What happens when a reader is too slow.
#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SlowPolicy {
    /// It reads on from where it is, as long as the table keeps the rows.
    #[default]
    Wait,
    /// It goes on with the newest rows, and hears how many it missed.
    DropOldest,
    /// It is ended; the error names the offset to go on from.
    Disconnect,
}

fn first() -> String {
    "first".to_string()
}

impl Subscribing {
    fn wanted(self, headers: &HeaderMap) -> Result<Wanted, Problem> {
        let plain = Wanted::default();
        let (rows_max, lag_rows_max) =
            (self.rows_max.unwrap_or(plain.rows_max), self.lag_rows_max.unwrap_or(plain.lag_rows_max));
        if !(1..=ROWS_MAX).contains(&rows_max) || lag_rows_max == 0 {
            return Err(Problem::invalid(format!(
                "an event has 1 to {ROWS_MAX} rows, and a reader may be 1 row behind: rows_max=`{rows_max}`, \
                 lag_rows_max=`{lag_rows_max}`"
            )));
        }
        let (start, era) = match headers.get("last-event-id").map(|id| id.to_str().unwrap_or("?")) {
            None | Some("") => (parse_start(&self.from)?, self.era),
            Some(id) => {
                let place = id.split_once(':').and_then(|(era, next)| Some((era.parse().ok()?, next.parse().ok()?)));
                let (era, next) = place
                    .ok_or_else(|| Problem::invalid(format!("an event's id is ERA:NEXT: last-event-id=`{id}`")))?;
                (Start::At(next), Some(era))
            }
        };
        let slow = match self.slow {
            SlowPolicy::Wait => Slow::Wait,
            SlowPolicy::DropOldest => Slow::DropOldest,
            SlowPolicy::Disconnect => Slow::Disconnect,
        };
        Ok(Wanted { start, era, filter: self.filter, slow, lag_rows_max, rows_max })
    }
}

/// Read a table as it grows
///
/// A stream of server-sent events. An event `rows` has the id `ERA:NEXT` and the data `{"era", "next", "missed", "rows"}`;
/// `Last-Event-ID` goes on behind it. An event `error` has a problem as data and is the last one. A comment every 15 seconds
/// keeps the connection alive. A client that takes gzip gets it.
#[utoipa::path(
    get, path = "/v1/tables/{name}/subscribe", tag = "tables", operation_id = "subscribe",
    params(
        ("name" = String, Path, description = "The table."), Subscribing,
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event seen: goes on behind it.")
    ),
    responses((status = 200, description = "The events.", content_type = "text/event-stream", body = String), Problems)
)]
pub(super) async fn subscribe(
    State(front): State<Arc<Front>>,
    Path(name): Path<String>,
    Query(subscribing): Query<Subscribing>,
    aside: Option<Extension<Aside>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (name, _) = find(&front, &name)?;
    let subscription = front.server.subscribe(&name, subscribing.wanted(&headers)?)?;
    let events = Events { server: front.server.clone(), subscription, is_over: false };
    let events = futures::stream::unfold(events, |mut events| async move { Some((events.next().await?, events)) });
    let zips = takes_gzip(&headers);
    let pieces = match zips {
        true => zipped(events).boxed(),
        false => events.map(|event| event.plain()).boxed(),
    };
    let pieces = pieces.map(Ok::<_, Infallible>);
    let body = match aside {
        Some(Extension(connection)) => {
            connection.go();
            Body::from_stream(pieces)
        }
        // Others use the connection too.
        None => Body::from_stream(front.server.aside(pieces)),
    };
    let head = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    let mut response = (head, [(header::VARY, "accept-encoding")], body).into_response();
    if zips {
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Ok(response)
}

/// Does a client take gzip (RFC 9110, 12.5.3)?
fn takes_gzip(headers: &HeaderMap) -> bool {
    let codings = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    codings.flat_map(|value| value.split(',')).any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.trim().strip_prefix("q=").map_or(Ok(1.0), str::parse::<f32>);
        name.trim().eq_ignore_ascii_case("gzip") && weight.is_ok_and(|weight| weight > 0.0)
    })
}

/// The events of one reader, made when it asks for them.
struct Events {
    server: Arc<Server>,
    subscription: Subscription,
    is_over: bool,
}

impl Events {
    async fn next(&mut self) -> Option<Arc<Text>> {
        if self.is_over {
            return None;
        }
        loop {
            let stopped = Box::pin(self.server.stopped());
            let news = Box::pin(tokio::time::timeout(SILENCE_MAX, self.subscription.next()));
            let news = match select(stopped, news).await {
                Either::Left(_) => return None,
                Either::Right((news, _)) => news,
            };
            match news {
                // Nothing of this is for the reader; the id of the next event covers it.
                Ok(Ok(news)) if news.rows.rows() == 0 && news.missed == 0 => {}
                Ok(Ok(news)) => return Some(self.subscription.shared(&news, event)),
                Ok(Err(failure)) => {
                    self.is_over = true;
                    let problem = Problem::from(failure).json();
                    return Some(Arc::new(format!("event: error\ndata: {problem}\n\n").into()));
                }
                Err(_) => {
                    let (era, next) = (self.subscription.era(), self.subscription.offset());
                    return Some(Arc::new(format!(":\nid: {era}:{next}\n\n").into()));
                }
            }
        }
    }
}

fn event(news: &News) -> String {
    let News { era, next, missed, rows, .. } = news;
    let mut text = String::with_capacity(64 + 128 * rows.rows());
    let head = write!(
        text,
        "id: {era}:{next}\nevent: rows\ndata: {{\"era\":{era},\"next\":{next},\"missed\":{missed},\"rows\":"
    );
    head.expect("a string takes any text");
    query::format::json_rows(rows, &mut text);
    text.push_str("}\n\n");
    text
}
