//! What a client asks for by a ticket of ours: a line of JSON, which it may also write itself.

use super::status::invalid;
use crate::failure::Failure;
use crate::server::subscription::{Slow, Wanted, parse_start};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tonic::Status;

/// What a ticket stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(super) enum Ticket {
    /// A query.
    Query {
        /// The query.
        sql: String,
        /// The catalog of its bare names.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        catalog: Option<String>,
        /// Names it, so that it can be cancelled.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
    /// A prepared query, with the parameters it has.
    Prepared {
        /// Its handle.
        prepared: String,
        /// Names this run of it.
        id: String,
    },
    /// What a statement came to that has run already.
    Ran {
        /// How many rows it inserted.
        rows: i64,
    },
    /// Rows of a table as they come.
    Subscribe(Subscribe),
}

/// A table's rows from an offset on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Subscribe {
    /// The table.
    pub(super) subscribe: String,
    from: Option<Value>,
    era: Option<u64>,
    filter: Option<String>,
    slow: Option<String>,
    lag_rows_max: Option<u64>,
    rows_max: Option<usize>,
}

/// How many rows one message of a subscription may have.
const ROWS_MAX: usize = 65_536;

impl Subscribe {
    /// What the reader wants.
    pub(super) fn wanted(&self) -> Result<Wanted, Failure> {
        let usual = Wanted::default();
        let start = match &self.from {
            None => usual.start,
            Some(Value::String(text)) => parse_start(text)?,
            Some(other) => parse_start(&other.to_string())?,
        };
        Ok(Wanted {
            start,
            era: self.era,
            filter: self.filter.clone(),
            slow: self.slow.as_deref().map_or(Ok(usual.slow), Slow::parse)?,
            lag_rows_max: self.lag_rows_max.unwrap_or(usual.lag_rows_max),
            rows_max: self.rows_max.unwrap_or(usual.rows_max).clamp(1, ROWS_MAX),
        })
    }
}

impl Ticket {
    /// Is it one of ours, rather than a command of Flight SQL?
    pub(super) fn is_ours(bytes: &[u8]) -> bool {
        bytes.starts_with(b"{")
    }

    /// The ticket in these bytes.
    pub(super) fn read(bytes: &[u8]) -> Result<Ticket, Status> {
        let wrong = |error: &dyn std::fmt::Display| {
            invalid(format!(
                "not a ticket: {error}; known=`{{\"sql\": …, \"catalog\": …}}, {{\"subscribe\": table, \"from\": …, \"era\": \
                 …, \"filter\": …, \"slow\": …, \"lag_rows_max\": …, \"rows_max\": …}}`"
            ))
        };
        let value: Value = serde_json::from_slice(bytes).map_err(|error| wrong(&error))?;
        // Read by itself, so that the error says which of its fields is wrong.
        if value.get("subscribe").is_some() {
            return serde_json::from_value(value).map(Ticket::Subscribe).map_err(|error| wrong(&error));
        }
        serde_json::from_value(value).map_err(|error| wrong(&error))
    }

    /// The bytes of it.
    pub(super) fn write(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("texts and numbers have a JSON form")
    }

    /// The name by which it can be cancelled.
    pub(super) fn id(&self) -> Option<&str> {
        match self {
            Ticket::Query { id, .. } => id.as_deref(),
            Ticket::Prepared { id, .. } => Some(id),
            Ticket::Ran { .. } | Ticket::Subscribe(_) => None,
        }
    }
}

/// The ticket in an encoded `CancelFlightInfoRequest` or, with one level less, a `FlightInfo`: that of its first endpoint.
pub(super) fn ticket_within(message: &[u8], levels: &[u64]) -> Option<Ticket> {
    let bytes = levels.iter().try_fold(message, |message, number| field(message, *number))?;
    Ticket::read(bytes).ok()
}

/// The places of a ticket in a `FlightInfo`: endpoint, ticket, its bytes.
pub(super) const WITHIN_INFO: &[u64] = &[3, 1, 1];

/// The places of a ticket in a `CancelFlightInfoRequest`.
pub(super) const WITHIN_CANCEL: &[u64] = &[1, 3, 1, 1];

/// The first field of this number that holds bytes, of an encoded protocol buffer.
fn field(mut message: &[u8], wanted: u64) -> Option<&[u8]> {
    const VARINT: u64 = 0;
    const FIXED64: u64 = 1;
    const BYTES: u64 = 2;
    const FIXED32: u64 = 5;
    while !message.is_empty() {
        let key = varint(&mut message)?;
        let length = match key & 7 {
            VARINT => varint(&mut message).map(|_| 0)?,
            FIXED64 => 8,
            FIXED32 => 4,
            BYTES => usize::try_from(varint(&mut message)?).ok()?,
            _ => return None,
        };
        let (value, rest) = message.split_at_checked(length)?;
        if key == wanted << 3 | BYTES {
            return Some(value);
        }
        message = rest;
    }
    None
}

fn varint(message: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = message.split_first()?;
        *message = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::subscription::Slow;
    use stream::Start;

    #[test]
    fn a_ticket_is_read_as_it_was_written() {
        let query = Ticket::Query { sql: "select 1".into(), catalog: None, id: Some("a".into()) };
        for ticket in [query, Ticket::Ran { rows: 3 }, Ticket::Prepared { prepared: "h".into(), id: "i".into() }] {
            assert_eq!(Ticket::read(&ticket.write()).expect("a ticket"), ticket);
        }
        let Ok(Ticket::Subscribe(subscribe)) = Ticket::read(br#"{"subscribe": "t", "from": 7, "slow": "drop_oldest"}"#)
        else {
            panic!("a subscription")
        };
        let wanted = subscribe.wanted().expect("what a reader may want");
        assert_eq!((wanted.start, wanted.slow), (Start::At(7), Slow::DropOldest));
    }

    #[test]
    fn a_ticket_with_a_wrong_field_is_refused_by_its_name() {
        let told = |text: &str| Ticket::read(text.as_bytes()).expect_err("no ticket").message().to_string();
        assert!(told(r#"{"subscribe": "t", "form": 1}"#).contains("unknown field `form`"));
        assert!(told(r#"{"sequel": "t"}"#).starts_with("not a ticket"));
        assert!(told("{").starts_with("not a ticket"));
    }

    #[test]
    fn the_ticket_of_an_encoded_info_is_found_and_rubbish_has_none() {
        let ticket = Ticket::Ran { rows: 3 };
        let wrap = |number: u8, bytes: Vec<u8>| [vec![number << 3 | 2, bytes.len() as u8], bytes].concat();
        let endpoint = wrap(1, wrap(1, ticket.write()));
        // A number and another text stand before it.
        let info = [vec![0x20, 0x96, 0x01], wrap(1, b"schema".to_vec()), wrap(3, endpoint)].concat();
        assert_eq!(ticket_within(&info, WITHIN_INFO), Some(ticket.clone()));
        assert_eq!(ticket_within(&wrap(1, info.clone()), WITHIN_CANCEL), Some(ticket));
        for length in 0..info.len() {
            assert_eq!(ticket_within(&info[..length], WITHIN_INFO), None);
        }
        assert_eq!(ticket_within(&[0xff; 40], WITHIN_INFO), None);
    }
}
