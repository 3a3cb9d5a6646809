//! A server from a client's side: one call for each kind of request, over plain HTTP.
//!
//! Invariants:
//! - Whatever keeps a request from its answer is [`Error::Unreachable`]; whatever the server says no to is
//!   [`Error::Failed`], with the places and mends it told.
//! - A request is sent once. Who may repeat one, as a feed does, repeats it.

mod error;
mod events;
mod place;
mod problem;

pub use error::Error;
pub use events::{Event, Events};
pub use place::Place;
pub use problem::failure_within;

use serde_json::Value as Json;
use std::io::Read;
use std::time::Duration;
use ureq::http::{Request, Response};
use ureq::{Agent, Body};

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);

/// Names and values behind the `?` of a request.
pub type Query<'a> = &'a [(&'a str, &'a str)];

/// Speaks to one server.
pub struct Client {
    agent: Agent,
    url: String,
    authorization: Option<String>,
}

impl Client {
    /// A client of the server at `url`, a name and password to log in with, and how long an answer may take in all.
    pub fn new(url: &str, login: Option<(&str, &str)>, patience: Option<Duration>) -> Client {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .proxy(None)
            .timeout_connect(Some(CONNECT))
            .timeout_global(patience)
            .user_agent(concat!("orca/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        let authorization = login.map(|(user, password)| format!("Basic {}", base64(&format!("{user}:{password}"))));
        Client { agent, url: url.to_string(), authorization }
    }

    /// Where the server is.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Reads what is at a path.
    pub fn get(&self, path: &[&str], query: Query) -> Result<Reply, Error> {
        self.send(self.request("GET", path, query), |request| self.agent.run(request.body(())?))
    }

    /// Reads what is at a path as events that come as they happen, from the one after `last` on.
    pub fn events(&self, path: &[&str], query: Query, last: Option<&str>) -> Result<Events, Error> {
        let mut request = self.request("GET", path, query).header("accept", "text/event-stream");
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let reply = self.send(request, |request| self.agent.run(request.body(())?))?;
        Ok(Events::new(reply.reader()))
    }

    /// Removes what is at a path.
    pub fn delete(&self, path: &[&str], query: Query) -> Result<Reply, Error> {
        self.send(self.request("DELETE", path, query), |request| self.agent.run(request.body(())?))
    }

    /// Gives a body of this media type to a path.
    pub fn post(&self, path: &[&str], query: Query, media: &str, body: &[u8]) -> Result<Reply, Error> {
        let request = self.request("POST", path, query).header("content-type", media);
        self.send(request, |request| self.agent.run(request.body(body)?))
    }

    fn request(&self, method: &str, path: &[&str], query: Query) -> ureq::http::request::Builder {
        let mut target = self.url.clone();
        for part in path {
            target.push('/');
            encode(part, &mut target);
        }
        for (place, (name, value)) in query.iter().enumerate() {
            target.push(if place == 0 { '?' } else { '&' });
            encode(name, &mut target);
            target.push('=');
            encode(value, &mut target);
        }
        let request = Request::builder().method(method).uri(target);
        match &self.authorization {
            Some(authorization) => request.header("authorization", authorization),
            None => request,
        }
    }

    fn send(
        &self,
        request: ureq::http::request::Builder,
        send: impl FnOnce(ureq::http::request::Builder) -> Result<Response<Body>, ureq::Error>,
    ) -> Result<Reply, Error> {
        let response = send(request).map_err(|error| self.lost(error))?;
        let reply = Reply { response, url: self.url.clone() };
        let status = reply.response.status().as_u16();
        if status < 400 {
            return Ok(reply);
        }
        Err(Error::Failed(problem::failure(status, &reply.text()?)))
    }

    fn lost(&self, error: ureq::Error) -> Error {
        Error::Unreachable { url: self.url.clone(), reason: error.to_string() }
    }
}

/// What a server answers.
pub struct Reply {
    response: Response<Body>,
    url: String,
}

impl Reply {
    /// The value of a header, if there is one.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name)?.to_str().ok()
    }

    /// The whole body as text.
    pub fn text(self) -> Result<String, Error> {
        let url = self.url.clone();
        let mut text = String::new();
        self.reader().read_to_string(&mut text).map_err(|error| lost(&url, &error))?;
        Ok(text)
    }

    /// The whole body as bytes.
    pub fn bytes(self) -> Result<Vec<u8>, Error> {
        let url = self.url.clone();
        let mut bytes = vec![];
        self.reader().read_to_end(&mut bytes).map_err(|error| lost(&url, &error))?;
        Ok(bytes)
    }

    /// The body as JSON.
    pub fn json(self) -> Result<Json, Error> {
        let url = self.url.clone();
        let text = self.text()?;
        serde_json::from_str(&text).map_err(|error| {
            let reason = format!("its answer is no JSON: {error}");
            Error::Unreachable { url, reason }
        })
    }

    /// The body as it comes.
    pub fn reader(self) -> Box<dyn Read + Send> {
        Box::new(self.response.into_body().into_with_config().reader())
    }
}

/// What to say of an answer that broke off.
pub fn lost(url: &str, error: &std::io::Error) -> Error {
    Error::Unreachable { url: url.to_string(), reason: format!("the answer broke off: {error}") }
}

/// Puts a text into a URL, all but plain letters, digits and `-._~` as `%XX`.
fn encode(text: &str, url: &mut String) {
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => url.push(byte as char),
            _ => url.push_str(&format!("%{byte:02X}")),
        }
    }
}

fn base64(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for piece in text.as_bytes().chunks(3) {
        let bits = (0..3).fold(0u32, |bits, place| bits << 8 | piece.get(place).copied().unwrap_or(0) as u32);
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize] as char;
            out.push(if place <= piece.len() { letter } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_writers_and_passwords_survive_the_way() {
        let mut url = String::new();
        encode("feed/day 1.csv", &mut url);
        assert_eq!(url, "feed%2Fday%201.csv");
        for (plain, coded) in [("", ""), ("a", "YQ=="), ("ab", "YWI="), ("abc", "YWJj"), ("orca:ä", "b3JjYTrDpA==")] {
            assert_eq!(base64(plain), coded);
        }
    }

    #[test]
    fn nobody_there_is_told_from_a_refusal() {
        let nobody = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let client = Client::new(&format!("http://{}", nobody.expect("a free port")), None, None);
        match client.get(&["healthz"], &[]) {
            Err(Error::Unreachable { url, .. }) => assert_eq!(url, client.url()),
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("somebody answered"),
        }
    }
}
