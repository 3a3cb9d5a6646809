//! A text that many readers get: made once, and packed once for all who take it as gzip.
//!
//! A packed text is blocks of deflate that refer to nothing before them and end at a whole byte, so the stream of each reader
//! is its texts one behind the other, from wherever it begins.

use bytes::Bytes;
use crc32fast::Hasher;
use flate2::{Compress, Compression, FlushCompress};
use futures::{Stream, StreamExt};
use std::sync::{Arc, OnceLock};

/// What a gzip stream begins with: its magic number, deflate, no flags, no time, no extras, an unknown system.
const HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];

/// The last block of a gzip stream: an empty one.
const LAST_BLOCK: [u8; 2] = [3, 0];

/// A text, plain and packed.
pub struct Text {
    plain: Bytes,
    packed: OnceLock<Packed>,
}

struct Packed {
    blocks: Bytes,
    sum: Hasher,
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text { plain: text.into(), packed: OnceLock::new() }
    }
}

impl Text {
    /// The text as it is.
    pub fn plain(&self) -> Bytes {
        self.plain.clone()
    }

    fn packed(&self) -> &Packed {
        self.packed.get_or_init(|| {
            let mut sum = Hasher::new();
            sum.update(&self.plain);
            Packed { blocks: deflate(&self.plain).into(), sum }
        })
    }
}

/// Blocks of deflate without the last one.
fn deflate(text: &[u8]) -> Vec<u8> {
    let mut compress = Compress::new(Compression::fast(), false);
    let mut blocks = Vec::with_capacity(text.len() / 4 + 64);
    // Flushed all of it has been when room is left.
    while blocks.len() == blocks.capacity() || compress.total_in() < text.len() as u64 {
        blocks.reserve(text.len() / 4 + 64);
        let rest = &text[compress.total_in() as usize..];
        compress.compress_vec(rest, &mut blocks, FlushCompress::Sync).expect("memory takes any blocks");
    }
    blocks
}

/// Texts as one gzip stream.
pub fn zipped(texts: impl Stream<Item = Arc<Text>> + Send + 'static) -> impl Stream<Item = Bytes> + Send {
    let begun = (texts.boxed(), Some((Hasher::new(), 0u32)));
    let rest = futures::stream::unfold(begun, |(mut texts, so_far)| async move {
        let (mut sum, length) = so_far?;
        match texts.next().await {
            Some(text) => {
                let packed = text.packed();
                sum.combine(&packed.sum);
                let length = length.wrapping_add(text.plain.len() as u32);
                Some((packed.blocks.clone(), (texts, Some((sum, length)))))
            }
            None => {
                let end = [&LAST_BLOCK[..], &sum.finalize().to_le_bytes(), &length.to_le_bytes()].concat();
                Some((end.into(), (texts, None)))
            }
        }
    });
    futures::stream::iter([Bytes::from_static(&HEAD)]).chain(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::GzDecoder;
    use std::io::Read;

    fn unzipped(texts: &[String]) -> String {
        let texts: Vec<Arc<Text>> = texts.iter().map(|text| Arc::new(Text::from(text.clone()))).collect();
        let pieces: Vec<Bytes> = futures::executor::block_on(zipped(futures::stream::iter(texts)).collect());
        let mut text = String::new();
        GzDecoder::new(&pieces.concat()[..]).read_to_string(&mut text).expect("a whole gzip stream with its sum");
        text
    }

    #[test]
    fn texts_behind_one_another_are_one_gzip_stream() {
        let noise = |length: usize| {
            let mut state = 7u64;
            let letter = |_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                char::from(33 + (state >> 40) as u8 % 90)
            };
            (0..length).map(letter).collect::<String>()
        };
        for lengths in [vec![], vec![0], vec![1, 0, 5], vec![100_000, 7, 300_000], vec![64; 500]] {
            for make in [&noise as &dyn Fn(usize) -> String, &|length| "ab,".repeat(length)] {
                let texts: Vec<String> = lengths.iter().map(|length| make(*length)).collect();
                assert_eq!(unzipped(&texts), texts.concat(), "{lengths:?}");
            }
        }
    }
}
