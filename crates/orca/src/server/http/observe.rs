//! Counts requests by the route of the document that they match, and writes each to the log.

use super::Front;
use axum::extract::{Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use std::sync::Arc;
use std::time::Instant;

/// The routes of the document, as parts between slashes.
pub(super) struct Routes {
    routes: Vec<(String, Vec<String>)>,
}

impl Routes {
    pub(super) fn new(routes: impl IntoIterator<Item = String>) -> Routes {
        let parts = |route: String| {
            let parts = route.split('/').map(String::from).collect();
            (route, parts)
        };
        Routes { routes: routes.into_iter().map(parts).collect() }
    }

    /// The route of a path: few, whatever clients ask for.
    fn of(&self, path: &str) -> &str {
        let is_of = |parts: &[String]| {
            let mut given = path.split('/');
            let fits = |part: &String| given.next().is_some_and(|given| part.starts_with('{') || part == given);
            parts.iter().all(fits) && given.next().is_none()
        };
        match self.routes.iter().find(|(_, parts)| is_of(parts)) {
            Some((route, _)) => route,
            None if path.starts_with("/arrow.flight.protocol.") => "flight",
            None => "other",
        }
    }
}

/// Counts each request, and writes it to the log.
pub(super) async fn note(State(front): State<Arc<Front>>, request: Request, next: Next) -> Response {
    let (method, path, begun) = (method_name(request.method()), request.uri().path().to_string(), Instant::now());
    let response = next.run(request).await;
    let (status, duration) = (response.status().as_u16(), begun.elapsed());
    let route = front.routes.get().map_or("other", |routes| routes.of(&path));
    front.server.requests().note(method, route, status, duration);
    tracing::debug!(method, route, path, status, ms = duration.as_secs_f64() * 1e3, "request");
    response
}

fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::DELETE => "DELETE",
        Method::HEAD => "HEAD",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_the_route_whose_parts_it_matches() {
        let routes = Routes::new(["/v1/sql", "/v1/tables", "/v1/tables/{name}/rows"].map(String::from));
        assert_eq!(routes.of("/v1/tables/a.b.c/rows"), "/v1/tables/{name}/rows");
        assert_eq!(routes.of("/v1/tables"), "/v1/tables");
        for other in ["/v1/tables/x", "/v1", "/", "/v1/tables/x/rows/y", "/v1/sql/"] {
            assert_eq!(routes.of(other), "other");
        }
        assert_eq!(routes.of("/arrow.flight.protocol.FlightService/DoGet"), "flight");
    }
}
