//! Bytes of records: numbers in as few bytes as they need, and what has a length after its length.
//!
//! Invariant: reading any bytes gives a value or an error, and never takes more memory than a few times their number.

/// Builds the bytes of one record.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    pub(crate) bytes: Vec<u8>,
}

impl Encoder {
    pub(crate) fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// Eight bytes, for hashes.
    pub(crate) fn fixed(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Seven bits a byte, the lowest first; the high bit says that more follow.
    pub(crate) fn uint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// A signed number: small ones of either sign are short.
    pub(crate) fn int(&mut self, value: i64) {
        self.uint((value << 1 ^ value >> 63) as u64);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.uint(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }
}

/// What is wrong with bytes that ought to be a record.
pub(crate) type Wrong = &'static str;

/// Reads the bytes of one record.
#[derive(Debug, Clone)]
pub(crate) struct Decoder<'a> {
    bytes: &'a [u8],
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Decoder<'a> {
        Decoder { bytes }
    }

    /// What is not yet read.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8], Wrong> {
        let (taken, rest) = self.bytes.split_at_checked(len).ok_or("record ends early")?;
        self.bytes = rest;
        Ok(taken)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Wrong> {
        Ok(self.take(1)?[0])
    }

    pub(crate) fn fixed(&mut self) -> Result<u64, Wrong> {
        Ok(u64::from_le_bytes(self.take(8)?.try_into().expect("eight bytes were taken")))
    }

    pub(crate) fn uint(&mut self) -> Result<u64, Wrong> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            let bits = (byte & 0x7f) as u64;
            if bits << shift >> shift != bits {
                return Err("number of more than 64 bits");
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err("number of more than 64 bits")
    }

    pub(crate) fn int(&mut self) -> Result<i64, Wrong> {
        let value = self.uint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// How many of something follow, each of at least one byte, so that no wrong number asks for memory.
    pub(crate) fn count(&mut self) -> Result<usize, Wrong> {
        let count = self.uint()?;
        if count > self.bytes.len() as u64 { Err("more items than bytes") } else { Ok(count as usize) }
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, Wrong> {
        let len = self.count()?;
        std::str::from_utf8(self.take(len)?).map_err(|_| "text is not UTF-8")
    }

    /// All must have been read.
    pub(crate) fn done(&self) -> Result<(), Wrong> {
        if self.bytes.is_empty() { Ok(()) } else { Err("bytes after the record's end") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_read_back_as_they_were_and_short_bytes_are_an_error() {
        let mut encoder = Encoder::default();
        let numbers = [0, 1, -1, 63, 64, -65, 1_700_000_000_000, i64::MAX, i64::MIN];
        for number in numbers {
            encoder.int(number);
            encoder.uint(number as u64);
        }
        encoder.text("sím");
        let read = |bytes| {
            let mut decoder = Decoder::new(bytes);
            for number in numbers {
                assert_eq!((decoder.int()?, decoder.uint()?), (number, number as u64));
            }
            assert_eq!(decoder.text()?, "sím");
            decoder.done()
        };
        assert_eq!(read(&encoder.bytes), Ok(()));
        for len in 0..encoder.bytes.len() {
            assert!(read(&encoder.bytes[..len]).is_err());
        }
    }
}
