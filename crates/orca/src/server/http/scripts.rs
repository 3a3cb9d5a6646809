//! Scripts, and the sessions that keep their variables.

use super::Front;
use super::operations::Operation;
use super::problem::{Problem, Problems};
use super::request::{self, Path, Query};
use crate::failure::Failure;
use crate::script_session::Said;
use crate::server::{Ran, SessionId};
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use env::Kind;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// The greatest script.
const BYTES_MAX: usize = 16 << 20;

/// The name of a script that has none.
const NAMELESS: &str = "script.dos";

/// The longest key of a request.
const KEY_LETTERS_MAX: usize = 256;

/// How a script is run.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Running {
    /// The session to go on with; a session of its own if left out.
    session: Option<String>,
    /// The name that errors call the script by.
    name: Option<String>,
    /// Wait for its end? Else an operation is begun.
    #[serde(default = "yes")]
    #[param(default = true)]
    wait: bool,
}

fn yes() -> bool {
    true
}

/// What a script came to.
#[derive(Serialize, ToSchema)]
pub struct ScriptAnswer {
    /// Its last value, as text that evaluates to it again.
    value: String,
    /// The same value as `print` shows it.
    shown: String,
    /// What it printed and warned of, in order.
    said: Vec<SaidLine>,
    /// The current catalog after it.
    catalog: Option<String>,
}

/// One thing that a script said.
#[derive(Serialize, ToSchema)]
pub struct SaidLine {
    /// `printed` or `warned`.
    kind: String,
    /// The text.
    text: String,
}

impl ScriptAnswer {
    fn of(ran: Ran) -> ScriptAnswer {
        let line = |kind: &str, text| SaidLine { kind: kind.to_string(), text };
        let said = ran.said.into_iter().map(|said| match said {
            Said::Printed(text) => line("printed", text),
            Said::Warned(text) => line("warned", text),
        });
        ScriptAnswer {
            value: ran.value.to_string(),
            shown: ran.value.show(),
            said: said.collect(),
            catalog: ran.catalog,
        }
    }
}

/// Work that was begun.
#[derive(Serialize, ToSchema)]
pub struct Begun {
    /// The id to look it up by.
    operation: String,
}

/// Run a script
///
/// The body is the script. A request that names an `Idempotency-Key` may be tried again: within an hour the same key and
/// script give the same answer, and the script runs once.
#[utoipa::path(
    post, path = "/v1/scripts", tag = "scripts", operation_id = "run_script",
    params(Running, ("Idempotency-Key" = Option<String>, Header, max_length = 256,
        description = "Names the request, so that it may be tried again.")),
    request_body(content = String, content_type = "text/plain", description = "The script."),
    responses(
        (status = 200, description = "It has run.", body = ScriptAnswer),
        (status = 202, description = "It runs.", body = Begun,
            headers(("Location" = String, description = "Where the operation is looked at."))),
        Problems
    )
)]
pub(super) async fn run(
    State(front): State<Arc<Front>>,
    Query(running): Query<Running>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    match request::media(&headers)?.as_str() {
        "" | "text/plain" => {}
        other => return Err(request::unsupported(other, &["text/plain"])),
    }
    let key = match headers.get("idempotency-key").map(|key| key.to_str()) {
        None => None,
        Some(Ok(key)) if (1..=KEY_LETTERS_MAX).contains(&key.len()) => Some(key),
        Some(_) => return Err(Problem::invalid(format!("an idempotency key has 1 to {KEY_LETTERS_MAX} letters"))),
    };
    let text = request::text(&headers, body, BYTES_MAX).await?;
    let Running { session, name, wait } = running;
    let name = name.unwrap_or_else(|| NAMELESS.to_string());
    let asked = (session.clone(), name.clone(), text.clone());
    let begin = || {
        let server = front.server.clone();
        let (session, source) = (session.map(|id| SessionId::parse(&id)), lang::Source::new(name.as_str(), text));
        front.operations.begin(format!("run {name}"), move || {
            let ran = server.run_script(session.as_ref(), &source)?;
            Ok(serde_json::to_value(ScriptAnswer::of(ran)).expect("an answer is plain data"))
        })
    };
    let operation: Arc<Operation> = match key {
        Some(key) => front.operations.once(key, &asked, begin)?,
        None => begin(),
    };
    if !wait {
        let location = format!("/v1/operations/{}", operation.id);
        let begun = Begun { operation: operation.id.clone() };
        return Ok((StatusCode::ACCEPTED, [(header::LOCATION, location)], Json(begun)).into_response());
    }
    Ok(Json(operation.outcome().await.result?).into_response())
}

/// A session of scripts.
#[derive(Serialize, ToSchema)]
pub struct SessionAnswer {
    /// The id to go on with.
    session: String,
}

/// Open a session: scripts that name it see the variables of those before
#[utoipa::path(
    post, path = "/v1/sessions", tag = "scripts", operation_id = "open_session",
    responses((status = 201, description = "It is open.", body = SessionAnswer), Problems)
)]
pub(super) async fn open_session(State(front): State<Arc<Front>>) -> (StatusCode, Json<SessionAnswer>) {
    let session = front.server.open_session().to_string();
    (StatusCode::CREATED, Json(SessionAnswer { session }))
}

/// End a session
#[utoipa::path(
    delete, path = "/v1/sessions/{id}", tag = "scripts", operation_id = "close_session",
    params(("id" = String, Path, description = "Its id.")),
    responses((status = 204, description = "It has ended."), Problems)
)]
pub(super) async fn close_session(
    State(front): State<Arc<Front>>,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    match front.server.close_session(&SessionId::parse(&id)) {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Failure::of(Kind::NotFound, format!("no such session: session=`{id}`")).into()),
    }
}
