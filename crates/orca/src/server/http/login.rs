//! The login: user and password by HTTP's Basic scheme, where a password is set.

use super::Front;
use super::problem::Problem;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_PAD_INDIFFERENT as BASE64;
use env::Kind;
use std::sync::Arc;
use tonic::Status;

/// How the type of content of a call by gRPC begins, which has its own way to refuse.
const GRPC: &[u8] = b"application/grpc";

/// What a client must give.
pub(super) struct Login {
    /// `user:password`; `None` lets everybody in.
    wanted: Option<String>,
}

impl Login {
    pub(super) fn new(user: &str, password: &str) -> Login {
        Login { wanted: (!password.is_empty()).then(|| format!("{user}:{password}")) }
    }

    pub(super) fn is_required(&self) -> bool {
        self.wanted.is_some()
    }

    /// May who sends this header come in?
    fn lets_in(&self, given: Option<&[u8]>) -> bool {
        let Some(wanted) = &self.wanted else { return true };
        let given = given.unwrap_or_default();
        let (scheme, secret) = given.split_at(given.iter().position(|byte| *byte == b' ').unwrap_or(given.len()));
        // After its handshake a Flight client sends the same secret as a bearer's. Both parts are always looked at, so
        // that the time tells nothing.
        let is_known = [&b"basic"[..], b"bearer"].into_iter().any(|known| scheme.eq_ignore_ascii_case(known));
        // Some clients leave the padding out.
        let secret = BASE64.decode(secret.trim_ascii()).unwrap_or_default();
        same(&secret, wanted.as_bytes()) & is_known
    }
}

/// Lets in who may come in.
pub(super) async fn check(State(front): State<Arc<Front>>, request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION).map(|value| value.as_bytes());
    if front.login.lets_in(given) {
        return next.run(request).await;
    }
    let message = match given {
        None => "a login is required: scheme=`Basic`",
        Some(_) => "user or password is wrong",
    };
    let is_grpc = request.headers().get(header::CONTENT_TYPE).is_some_and(|ty| ty.as_bytes().starts_with(GRPC));
    match is_grpc {
        true => Status::unauthenticated(message).into_http::<Body>(),
        false => Problem::of(StatusCode::UNAUTHORIZED, Kind::Denied, message).into_response(),
    }
}

/// Are they the same? Takes as long whichever byte differs.
fn same(given: &[u8], wanted: &[u8]) -> bool {
    let mut differs = (given.len() != wanted.len()) as u8;
    for (place, byte) in wanted.iter().enumerate() {
        differs = std::hint::black_box(differs | (byte ^ given.get(place).unwrap_or(&0)));
    }
    differs == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_pair_is_let_in() {
        let login = Login::new("orca", "secret");
        let right = format!("Basic {}", BASE64.encode(b"orca:secret"));
        let unpadded = right.trim_end_matches('=').to_string();
        assert!(unpadded != right && login.lets_in(Some(unpadded.as_bytes())));
        let lower = right.replace("Basic", "basic");
        assert!(login.lets_in(Some(right.as_bytes())) && login.lets_in(Some(lower.as_bytes())));
        let longer = format!("{unpadded}A");
        for wrong in ["Basic", "Basic b3JjYTo=", "Bearer x", &unpadded[..unpadded.len() - 1], &longer] {
            assert!(!login.lets_in(Some(wrong.as_bytes())), "{wrong}");
        }
        assert!(!login.lets_in(None) && Login::new("orca", "").lets_in(None));
    }
}
