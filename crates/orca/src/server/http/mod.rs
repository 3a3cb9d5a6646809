//! The HTTP front: REST, Flight SQL and metrics on one port.
//!
//! One file a resource; each route is declared beside its handler, and the OpenAPI document is made of these declarations.

mod answers;
mod connections;
mod described;
mod graphs;
mod health;
mod json_rows;
mod login;
mod metrics;
mod observe;
mod operations;
mod problem;
mod request;
mod rows;
mod scripts;
mod settings;
mod sql;
mod subscribe;
mod tables;

use crate::failure::Failure;
use crate::server::{Server, clients, flight};
use crate::tables::AddedTable;
use axum::Router;
use axum::extract::State;
use axum::http::{Method, StatusCode, Uri, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use data::Type;
use env::Kind;
use login::Login;
use observe::Routes;
use operations::Operations;
use problem::{Problem, Problems};
use std::sync::{Arc, OnceLock};
use tokio::net::TcpListener;
use utoipa::OpenApi;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// What the handlers share.
struct Front {
    server: Arc<Server>,
    login: Login,
    operations: Operations,
    document: OnceLock<String>,
    routes: OnceLock<Routes>,
}

/// What the document says of the whole.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Orca",
        description = "Scripts, graphs, tables and SQL of a running Orca. Names of tables and graphs know no case."
    ),
    components(schemas(problem::Problem, problem::Fault))
)]
struct Document;

/// All that is served over HTTP.
pub fn router(server: Arc<Server>) -> Router {
    let login = Login::new(server.settings().text("login.user"), server.settings().text("login.password"));
    let flight = flight::routes(server.clone());
    let front = Arc::new(Front {
        server,
        login,
        operations: Operations::default(),
        document: OnceLock::new(),
        routes: OnceLock::new(),
    });
    add_operations(&front);
    let open = OpenApiRouter::new().routes(routes!(health::health)).routes(routes!(health::ready));
    let guarded = OpenApiRouter::new()
        .routes(routes!(document))
        .routes(routes!(scripts::run))
        .routes(routes!(scripts::open_session))
        .routes(routes!(scripts::close_session))
        .routes(routes!(operations::list))
        .routes(routes!(operations::show))
        .routes(routes!(graphs::list))
        .routes(routes!(graphs::show, graphs::drop))
        .routes(routes!(graphs::explain))
        .routes(routes!(tables::list))
        .routes(routes!(tables::show))
        .routes(routes!(tables::writer))
        .routes(routes!(rows::append, rows::page))
        .routes(routes!(subscribe::subscribe))
        .routes(routes!(sql::sql))
        .routes(routes!(settings::list))
        .routes(routes!(metrics::show))
        .layer(from_fn_with_state(front.clone(), login::check));
    let (router, mut document) = OpenApiRouter::with_openapi(Document::openapi())
        .merge(open)
        .merge(guarded)
        .with_state(front.clone())
        .split_for_parts();
    if front.login.is_required() {
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("login", SecurityScheme::Http(Http::new(HttpAuthScheme::Basic)));
        document.security = Some(vec![SecurityRequirement::new("login", Vec::<String>::new())]);
    }
    let text = document.to_json().expect("the document is plain data");
    let routes = Routes::new(document.paths.paths.keys().cloned());
    assert!(front.document.set(text).is_ok() && front.routes.set(routes).is_ok(), "both are set once");
    let flight = flight.layer(from_fn_with_state(front.clone(), login::check));
    let noted = from_fn_with_state(front, observe::note);
    router.merge(flight).fallback(no_such_path).method_not_allowed_fallback(no_such_method).layer(noted)
}

/// Adds the operations to the system's tables.
fn add_operations(front: &Arc<Front>) {
    let weak = Arc::downgrade(front);
    front.server.orca().add_system_table(AddedTable {
        name: "operations",
        columns: &[
            ("operation", Type::String),
            ("what", Type::String),
            ("state", Type::String),
            ("started", Type::Timestamp),
            ("seconds", Type::Double),
            ("problem", Type::String),
        ],
        rows: Box::new(move || weak.upgrade().map_or(vec![], |front| front.operations.rows())),
    });
}

/// This document
#[utoipa::path(
    get, path = "/openapi.json", tag = "server", operation_id = "openapi",
    responses(
        (status = 200, description = "The OpenAPI document.", content_type = "application/json",
            body = inline(serde_json::Map<String, serde_json::Value>)),
        Problems
    )
)]
async fn document(State(front): State<Arc<Front>>) -> Response {
    let document = front.document.get().expect("set before the first request").clone();
    ([(header::CONTENT_TYPE, "application/json")], document).into_response()
}

async fn no_such_path(uri: Uri) -> Problem {
    Failure::of(Kind::NotFound, format!("no such resource: path=`{}`", uri.path())).into()
}

async fn no_such_method(method: Method, uri: Uri) -> Problem {
    let message = format!("no such method here: method=`{method}`, path=`{}`", uri.path());
    Problem::of(StatusCode::METHOD_NOT_ALLOWED, Kind::Invalid, message)
}

/// Serves until the server stops.
pub(super) async fn serve(server: Arc<Server>, listener: TcpListener) {
    let router = router(server.clone());
    clients::serve(&server, listener, |socket| connections::attend(server.clone(), socket, router.clone())).await;
}
