//! Server-sent events: lines of `name: value`, an empty one after each event.

use std::io::{self, BufRead, BufReader, Read};

/// One event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// What a client gives back to go on behind it.
    pub id: Option<String>,
    /// Its kind.
    pub event: String,
    /// What it says.
    pub data: String,
}

/// Events in the order they come; ends when the server ends them.
pub struct Events {
    lines: BufReader<Box<dyn Read + Send>>,
}

impl Events {
    pub(super) fn new(body: Box<dyn Read + Send>) -> Events {
        Events { lines: BufReader::with_capacity(1 << 16, body) }
    }
}

impl Iterator for Events {
    type Item = io::Result<Event>;

    fn next(&mut self) -> Option<io::Result<Event>> {
        let mut event = Event::default();
        let mut line = String::new();
        loop {
            line.clear();
            match self.lines.read_line(&mut line) {
                Err(error) => return Some(Err(error)),
                // An event without its empty line is not whole.
                Ok(0) => return None,
                Ok(_) => {}
            }
            let text = line.trim_end_matches(['\r', '\n']);
            if text.is_empty() {
                if event.data.is_empty() && event.event.is_empty() {
                    continue;
                }
                return Some(Ok(event));
            }
            let (name, value) = text.split_once(':').unwrap_or((text, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match name {
                "id" => event.id = Some(value.to_string()),
                "event" => event.event = value.to_string(),
                "data" if event.data.is_empty() => event.data.push_str(value),
                "data" => {
                    event.data.push('\n');
                    event.data.push_str(value);
                }
                // Remarks keep the connection alive.
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_are_left_out_and_a_torn_event_is_none() {
        let text = ":hello\n\nid: 1:2\nevent: rows\ndata: [1,\ndata: 2]\n\n: alive\n\ndata: torn";
        let events: Vec<Event> = Events::new(Box::new(text.as_bytes())).map(|event| event.expect("text")).collect();
        let event = Event { id: Some("1:2".into()), event: "rows".into(), data: "[1,\n2]".into() };
        assert_eq!(events, [event]);
    }
}
