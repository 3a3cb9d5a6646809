//! The login: user and password by HTTP's Basic scheme, where a password is set.

use super::Front;
use super::problem::Problem;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use env::Kind;
use std::sync::Arc;

/// What a client must give.
pub(super) struct Login {
    /// `user:password` in base 64, unpadded; `None` lets everybody in.
    wanted: Option<String>,
}

impl Login {
    pub(super) fn new(user: &str, password: &str) -> Login {
        let wanted = (!password.is_empty()).then(|| base64(format!("{user}:{password}").as_bytes()));
        Login { wanted: wanted.map(|text| text.trim_end_matches('=').to_string()) }
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
        let secret = secret.trim_ascii();
        let padding = secret.iter().rev().take_while(|byte| **byte == b'=').count();
        same(&secret[..secret.len() - padding], wanted.as_bytes()) & is_known
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
    Problem::of(StatusCode::UNAUTHORIZED, Kind::Denied, message).into_response()
}

/// Are they the same? Takes as long whichever byte differs.
fn same(given: &[u8], wanted: &[u8]) -> bool {
    let mut differs = (given.len() != wanted.len()) as u8;
    for (place, byte) in wanted.iter().enumerate() {
        differs = std::hint::black_box(differs | (byte ^ given.get(place).unwrap_or(&0)));
    }
    differs == 0
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let bits = three.iter().chain(&[0, 0]).take(3).fold(0u32, |bits, &byte| bits << 8 | byte as u32);
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize] as char;
            text.push(if place <= three.len() { letter } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        for (text, wanted) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(text.as_bytes()), wanted);
        }
    }

    #[test]
    fn only_the_right_pair_is_let_in() {
        let login = Login::new("orca", "secret");
        let right = format!("Basic {}", base64(b"orca:secret"));
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
