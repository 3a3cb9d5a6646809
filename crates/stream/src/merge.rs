//! Merging: rows of several inputs in the order of their origins.
//!
//! Invariants:
//! - What comes out is in the order of (origin, input); rows of one input keep their order.
//! - Nothing but origins and the places of the inputs decides, so the order is the same in every run.

use data::{Batch, Column};
use engine::{Chunk, ClockOrigin, Origins};

/// A run of rows that follow each other in the merged order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Which input.
    pub input: usize,
    /// Which of its chunks.
    pub chunk: usize,
    /// The first place in the chunk's list of meant rows.
    pub from: usize,
    /// The place after the last one.
    pub to: usize,
}

/// One origin, of either kind; the kinds never meet in one merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Clock(ClockOrigin),
    Row(u64),
}

fn key(chunk: &Chunk, place: usize) -> Key {
    let row = chunk.rows().map_or(place as u32, |rows| rows[place]);
    match &chunk.origins {
        Origins::Clock(origins) => Key::Clock(origins[row as usize]),
        _ => Key::Row(chunk.origin(row)),
    }
}

/// The runs of all rows in merged order.
pub fn runs(inputs: &[Vec<Chunk>]) -> Vec<Run> {
    struct Head {
        input: usize,
        chunk: usize,
        place: usize,
        key: Key,
    }
    let head = |input: usize, mut chunk: usize, place: usize| {
        let chunks = &inputs[input];
        while chunk < chunks.len() && chunks[chunk].is_empty() {
            chunk += 1;
        }
        (chunk < chunks.len()).then(|| Head { input, chunk, place, key: key(&chunks[chunk], place) })
    };
    let mut heads: Vec<Head> = (0..inputs.len()).filter_map(|input| head(input, 0, 0)).collect();
    let mut runs = vec![];
    while !heads.is_empty() {
        let least = (0..heads.len()).min_by_key(|&at| (heads[at].key, heads[at].input)).expect("a head");
        let others = heads.iter().enumerate().filter(|(at, _)| *at != least);
        let bound = others.map(|(_, other)| (other.key, other.input)).min();
        let Head { input, chunk, place, .. } = heads[least];
        let rows = &inputs[input][chunk];
        let mut to = place + 1;
        match bound {
            None => to = rows.len(),
            Some(bound) => {
                while to < rows.len() && (key(rows, to), input) < bound {
                    to += 1;
                }
            }
        }
        runs.push(Run { input, chunk, from: place, to });
        let next = if to < rows.len() { head(input, chunk, to) } else { head(input, chunk + 1, 0) };
        match next {
            Some(next) => heads[least] = next,
            None => {
                heads.swap_remove(least);
            }
        }
    }
    runs
}

/// All rows of several inputs as one list of chunks in merged order. One input alone passes through untouched.
pub fn merge(mut inputs: Vec<Vec<Chunk>>) -> data::Result<Vec<Chunk>> {
    for input in &mut inputs {
        input.retain(|chunk| !chunk.is_empty());
    }
    if inputs.iter().filter(|input| !input.is_empty()).count() <= 1 {
        return Ok(inputs.into_iter().find(|input| !input.is_empty()).unwrap_or_default());
    }
    let runs = runs(&inputs);
    // Chunks that follow each other need no copy.
    let chunks_in = inputs.iter().map(Vec::len).sum::<usize>();
    if runs.len() <= 2 * chunks_in {
        return Ok(runs.iter().map(|run| inputs[run.input][run.chunk].slice(run.from, run.to)).collect());
    }
    let mut firsts = vec![];
    let mut sources: Vec<&Chunk> = vec![];
    for input in &inputs {
        firsts.push(sources.len());
        sources.extend(input);
    }
    let mut places = Vec::with_capacity(sources.iter().map(|chunk| chunk.len()).sum());
    for run in &runs {
        let source = firsts[run.input] + run.chunk;
        match sources[source].rows() {
            None => places.extend((run.from..run.to).map(|row| (source, row))),
            Some(rows) => places.extend(rows[run.from..run.to].iter().map(|&row| (source, row as usize))),
        }
    }
    let columns = (0..sources[0].batch.schema().len()).map(|index| {
        let columns: Vec<&Column> = sources.iter().map(|chunk| chunk.batch.column(index)).collect();
        Column::interleave(&columns, &places)
    });
    let batch = Batch::new(sources[0].batch.schema().clone(), columns.collect::<data::Result<_>>()?)?;
    let origins = match &sources[0].origins {
        Origins::Clock(_) => {
            let origin = |&(source, row): &(usize, usize)| match &sources[source].origins {
                Origins::Clock(origins) => origins[row],
                _ => panic!("rows of the clock and of rows in one merge"),
            };
            Origins::Clock(places.iter().map(origin).collect())
        }
        _ => Origins::Rows(places.iter().map(|&(source, row)| sources[source].origin(row as u32)).collect()),
    };
    Ok(vec![Chunk { batch, selection: None, origins }])
}

#[cfg(test)]
mod tests {
    use super::*;
    use data::{Schema, Type, parse_table, print_table};
    use engine::origin_of;

    fn chunk(rows: &str, origins: &[u32]) -> Chunk {
        let schema = Schema::of(&[("x", Type::Int)]);
        let batch = parse_table(&schema, &format!("x\n{}", rows.replace(' ', "\n"))).expect("a table");
        let origins = origins.iter().map(|&number| origin_of(number, 0)).collect();
        Chunk { batch, selection: None, origins: Origins::Rows(origins) }
    }

    fn merged(inputs: Vec<Vec<Chunk>>) -> String {
        let chunks = merge(inputs).expect("one schema");
        let texts: Vec<String> = chunks.iter().map(|chunk| print_table(&chunk.compact().batch)).collect();
        texts.join("").split_whitespace().filter(|word| *word != "x").collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn rows_come_in_the_order_of_origin_then_input() {
        let left = vec![chunk("1 3", &[0, 2]), chunk("5 6", &[4, 4])];
        let right = vec![chunk("2 4 7", &[1, 2, 5])];
        assert_eq!(merged(vec![left.clone(), right.clone()]), "1 2 3 4 5 6 7");
        assert_eq!(merged(vec![right, left]), "1 2 4 3 5 6 7");
    }

    #[test]
    fn a_selection_is_merged_without_the_rows_it_leaves_out() {
        let mut left = chunk("1 9 3 9 5 9 7", &[0, 1, 2, 3, 4, 5, 6]);
        left.selection = Some([0, 2, 4, 6].into());
        let mut right = chunk("9 2 9 4 9 6 9", &[0, 1, 2, 3, 4, 5, 6]);
        right.selection = Some([1, 3, 5].into());
        assert_eq!(merged(vec![vec![left], vec![right]]), "1 2 3 4 5 6 7");
    }
}
