//! Frames of the protocol: what clients send, read within bounds, and what is answered, gathered in one buffer.
//!
//! Invariants:
//! - A frame is read to its end and not beyond; one that is too long or holds less than it says ends the connection.
//! - The buffer of answers holds whole frames, whatever work is broken off between two of them.
//!
//! ```text
//! frame    = letter, i32 length (with itself, without the letter), body
//! text     = UTF-8 bytes, 0
//! startup  = i32 length, i32 code, body            (the first frame has no letter)
//! ```

use super::error::PgError;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use std::io;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

/// What a client who has not said who it is may send at once.
pub(super) const STARTUP_BYTES_MAX: usize = 16 << 10;

/// What a client may send at once.
const FRAME_BYTES_MAX: usize = 64 << 20;

/// Answers of so many bytes are sent before more are made.
const ANSWER_BYTES: usize = 64 << 10;

/// What a client sends after it has been let in.
#[derive(Debug)]
pub(super) enum Frame {
    Query(String),
    Parse { name: String, text: String, types: Vec<u32> },
    Bind { portal: String, statement: String, formats: Vec<i16>, values: Vec<Option<Bytes>>, results: Vec<i16> },
    Describe(Named),
    Execute { portal: String, rows_max: Option<u64> },
    Close(Named),
    Sync,
    Flush,
    CopyData(Bytes),
    CopyDone,
    CopyFail(String),
    Terminate,
}

/// A prepared statement or a portal.
#[derive(Debug)]
pub(super) enum Named {
    Statement(String),
    Portal(String),
}

impl Frame {
    /// Reads a frame's body.
    pub(super) fn decode(letter: u8, body: Bytes) -> Result<Frame, PgError> {
        let mut body = Body(body);
        let frame = match letter {
            b'Q' => Frame::Query(body.text()?),
            b'P' => {
                let (name, text) = (body.text()?, body.text()?);
                let count = body.count()?;
                let types = (0..count).map(|_| body.i32().map(|oid| oid as u32)).collect::<Result<_, _>>()?;
                Frame::Parse { name, text, types }
            }
            b'B' => {
                let (portal, statement) = (body.text()?, body.text()?);
                let formats = body.formats()?;
                let count = body.count()?;
                let values = (0..count).map(|_| body.value()).collect::<Result<_, _>>()?;
                Frame::Bind { portal, statement, formats, values, results: body.formats()? }
            }
            b'D' => Frame::Describe(body.named()?),
            b'E' => {
                let portal = body.text()?;
                let rows_max = Some(body.i32()?).filter(|rows| *rows > 0).map(|rows| rows as u64);
                Frame::Execute { portal, rows_max }
            }
            b'C' => Frame::Close(body.named()?),
            b'S' => Frame::Sync,
            b'H' => Frame::Flush,
            b'd' => return Ok(Frame::CopyData(body.0)),
            b'c' => Frame::CopyDone,
            b'f' => Frame::CopyFail(body.text()?),
            b'X' => Frame::Terminate,
            other => {
                let other = char::from(other).escape_default();
                return Err(PgError::protocol(format!("no such message: type=`{other}`")));
            }
        };
        if body.0.is_empty() { Ok(frame) } else { Err(PgError::protocol("a message is longer than what it holds")) }
    }
}

/// The body of a frame, read from its front.
pub(super) struct Body(pub(super) Bytes);

impl Body {
    fn short() -> PgError {
        PgError::protocol("a message ends too early")
    }

    pub(super) fn i16(&mut self) -> Result<i16, PgError> {
        self.0.try_get_i16().map_err(|_| Body::short())
    }

    pub(super) fn i32(&mut self) -> Result<i32, PgError> {
        self.0.try_get_i32().map_err(|_| Body::short())
    }

    /// How many follow; each takes at least two bytes.
    fn count(&mut self) -> Result<usize, PgError> {
        let count = self.i16()? as u16 as usize;
        if count * 2 > self.0.len() { Err(Body::short()) } else { Ok(count) }
    }

    fn formats(&mut self) -> Result<Vec<i16>, PgError> {
        let count = self.count()?;
        (0..count)
            .map(|_| match self.i16()? {
                format @ (0 | 1) => Ok(format),
                other => Err(PgError::protocol(format!("no such format: format=`{other}`"))),
            })
            .collect()
    }

    /// A value with its length; `None` for NULL.
    pub(super) fn value(&mut self) -> Result<Option<Bytes>, PgError> {
        match self.i32()? {
            -1 => Ok(None),
            length if length >= 0 && length as usize <= self.0.len() => Ok(Some(self.0.split_to(length as usize))),
            _ => Err(Body::short()),
        }
    }

    pub(super) fn text(&mut self) -> Result<String, PgError> {
        let end = self.0.iter().position(|byte| *byte == 0).ok_or_else(Body::short)?;
        let text = self.0.split_to(end);
        self.0.advance(1);
        String::from_utf8(text.to_vec()).map_err(|_| PgError::protocol("a text is not UTF-8"))
    }

    fn named(&mut self) -> Result<Named, PgError> {
        let kind = self.0.try_get_u8().map_err(|_| Body::short())?;
        match kind {
            b'S' => Ok(Named::Statement(self.text()?)),
            b'P' => Ok(Named::Portal(self.text()?)),
            _ => Err(PgError::protocol("a statement or a portal is named by S or P")),
        }
    }
}

/// What comes from a client.
pub(super) struct Input {
    socket: OwnedReadHalf,
    buffer: BytesMut,
}

/// What was wrong with what came.
#[derive(Debug)]
pub(super) enum Unread {
    /// The client has gone.
    Gone,
    /// It is no frame.
    Refused(PgError),
}

impl From<io::Error> for Unread {
    fn from(_: io::Error) -> Unread {
        Unread::Gone
    }
}

impl Input {
    pub(super) fn new(socket: OwnedReadHalf) -> Input {
        Input { socket, buffer: BytesMut::with_capacity(8 << 10) }
    }

    /// Reads until there are so many bytes. Dropping the future loses nothing.
    async fn fill(&mut self, bytes: usize) -> Result<(), Unread> {
        while self.buffer.len() < bytes {
            self.buffer.reserve((bytes - self.buffer.len()).clamp(4 << 10, 64 << 10));
            if self.socket.read_buf(&mut self.buffer).await? == 0 {
                return Err(Unread::Gone);
            }
        }
        Ok(())
    }

    /// The code and body of a frame without a letter.
    pub(super) async fn startup(&mut self) -> Result<(i32, Body), Unread> {
        self.fill(8).await?;
        let length = i32::from_be_bytes(self.buffer[..4].try_into().expect("four bytes"));
        if !(8..=STARTUP_BYTES_MAX as i32).contains(&length) {
            return Err(Unread::Refused(PgError::protocol("the first message is none of this protocol")));
        }
        self.fill(length as usize).await?;
        let mut body = Body(self.buffer.split_to(length as usize).freeze());
        body.0.advance(4);
        let code = body.i32().map_err(Unread::Refused)?;
        Ok((code, body))
    }

    /// Is a whole frame here already?
    pub(super) fn has_frame(&self) -> bool {
        let head = self.buffer.get(1..5).map(|length| u32::from_be_bytes(length.try_into().expect("four bytes")));
        head.is_some_and(|length| self.buffer.len() > length as usize)
    }

    /// The letter and body of the next frame, which may be so long. Dropping the future loses nothing.
    pub(super) async fn frame(&mut self, bytes_max: usize) -> Result<(u8, Bytes), Unread> {
        self.fill(5).await?;
        let length = i32::from_be_bytes(self.buffer[1..5].try_into().expect("four bytes"));
        if length < 4 || length as usize > bytes_max {
            let text = format!("a message is too long or too short: bytes=`{length}`, bytes_max=`{bytes_max}`");
            return Err(Unread::Refused(PgError::protocol(text)));
        }
        self.fill(1 + length as usize).await?;
        let letter = self.buffer[0];
        self.buffer.advance(5);
        Ok((letter, self.buffer.split_to(length as usize - 4).freeze()))
    }

    /// The next frame of a client that has been let in.
    pub(super) async fn next(&mut self) -> Result<Frame, Unread> {
        let (letter, body) = self.frame(FRAME_BYTES_MAX).await?;
        Frame::decode(letter, body).map_err(Unread::Refused)
    }

    /// Resolves when the client is gone; never if it has sent more.
    pub(super) async fn hung_up(&self) {
        let socket: &TcpStream = self.socket.as_ref();
        if self.buffer.is_empty() && matches!(socket.peek(&mut [0]).await, Ok(0) | Err(_)) {
            return;
        }
        std::future::pending::<()>().await;
    }
}

/// What goes to a client.
pub(super) struct Output {
    socket: OwnedWriteHalf,
    /// Whole frames.
    pub(super) buffer: BytesMut,
}

impl Output {
    pub(super) fn new(socket: OwnedWriteHalf) -> Output {
        Output { socket, buffer: BytesMut::with_capacity(8 << 10) }
    }

    /// Sends what there is. Dropping the future loses nothing.
    pub(super) async fn flush(&mut self) -> io::Result<()> {
        while !self.buffer.is_empty() {
            let sent = self.socket.write(&self.buffer).await?;
            if sent == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            self.buffer.advance(sent);
        }
        Ok(())
    }

    /// Sends what there is if it is much: so a client that reads slowly slows down what is made for it.
    pub(super) async fn make_room(&mut self) -> io::Result<()> {
        if self.buffer.len() >= ANSWER_BYTES { self.flush().await } else { Ok(()) }
    }

    /// A frame with the body that `write` writes.
    pub(super) fn frame(&mut self, letter: u8, write: impl FnOnce(&mut BytesMut)) {
        frame(&mut self.buffer, letter, write);
    }

    /// A frame without a body.
    pub(super) fn bare(&mut self, letter: u8) {
        self.frame(letter, |_| {});
    }

    /// What was done, and to how many rows.
    pub(super) fn complete(&mut self, tag: &str) {
        self.frame(b'C', |body| put_text(body, tag));
    }

    /// The value of a setting that clients keep track of.
    pub(super) fn parameter(&mut self, name: &str, value: &str) {
        self.frame(b'S', |body| {
            put_text(body, name);
            put_text(body, value);
        });
    }

    /// An error or a notice.
    pub(super) fn tell(&mut self, error: &PgError) {
        let letter = if error.severity == "WARNING" { b'N' } else { b'E' };
        self.frame(letter, |body| {
            let mut field = |letter: u8, text: &str| {
                body.put_u8(letter);
                put_text(body, text);
            };
            field(b'S', error.severity);
            field(b'V', error.severity);
            field(b'C', error.code);
            field(b'M', &error.message);
            if let Some(hint) = &error.hint {
                field(b'H', hint);
            }
            if let Some(position) = error.position {
                field(b'P', &position.to_string());
            }
            body.put_u8(0);
        });
    }
}

/// Adds a frame with the body that `write` writes.
pub(super) fn frame(out: &mut BytesMut, letter: u8, write: impl FnOnce(&mut BytesMut)) {
    out.put_u8(letter);
    let start = out.len();
    out.put_i32(0);
    write(out);
    let length = (out.len() - start) as i32;
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

/// Adds a text and its end; what stands after a 0 within it is left out.
pub(super) fn put_text(out: &mut BytesMut, text: &str) {
    out.put_slice(text.split('\0').next().unwrap_or_default().as_bytes());
    out.put_u8(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(letter: u8, body: &[u8]) -> Result<Frame, PgError> {
        Frame::decode(letter, Bytes::copy_from_slice(body))
    }

    #[test]
    fn a_frame_that_holds_less_than_it_says_is_refused() {
        assert!(matches!(decode(b'Q', b"select 1\0"), Ok(Frame::Query(text)) if text == "select 1"));
        for (letter, body) in [
            (b'Q', &b"select 1"[..]),
            (b'Q', b"\xff\0"),
            (b'Q', b"a\0b"),
            (b'P', b"\0select 1\0\0\x02\0\0\0\x17"),
            (b'B', b"\0\0\0\0\xff\xff\0\0"),
            (b'B', b"\0\0\0\0\0\x01\0\0\0\x09x\0\0"),
            (b'B', b"\0\0\0\x01\0\x07\0\0\0\0"),
            (b'E', b"\0\0\0"),
            (b'D', b"X\0"),
            (b'D', b""),
            (b'?', b""),
        ] {
            assert!(decode(letter, body).is_err(), "{letter} {body:?}");
        }
    }
}
