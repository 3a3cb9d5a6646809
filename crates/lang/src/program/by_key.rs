//! Rows in the order of their keys: the state of a key is met once for all its rows, while it is near.

/// How many rows a key must have in a batch, on average, so that putting them in order pays.
const ROWS_EACH_MIN: usize = 4;

/// Rows of a batch, key by key, those of a key in their own order.
pub(super) struct ByKey {
    /// The rows.
    pub rows: Vec<u32>,
    /// Their keys.
    pub keys: Vec<u32>,
    /// Where each row of the batch went.
    pub places: Vec<u32>,
}

impl ByKey {
    /// Puts rows with these keys in order; `None` where that does not pay.
    pub fn of(keys: &[u32]) -> Option<ByKey> {
        let (&first, rest) = keys.split_first()?;
        let (mut least, mut last, mut before, mut is_sorted) = (first, first, first, true);
        for &key in rest {
            (least, last, is_sorted, before) = (least.min(key), last.max(key), is_sorted & (before <= key), key);
        }
        let span = (last - least) as usize + 1;
        if is_sorted || span > keys.len() / ROWS_EACH_MIN {
            return None;
        }
        // Where the rows of each key begin.
        let mut begins = vec![0u32; span + 1];
        keys.iter().for_each(|key| begins[(key - least) as usize + 1] += 1);
        (0..span).for_each(|key| begins[key + 1] += begins[key]);
        let (mut rows, mut sorted) = (vec![0; keys.len()], vec![0; keys.len()]);
        let places = keys.iter().enumerate().map(|(row, &key)| {
            let next = &mut begins[(key - least) as usize];
            let place = *next;
            (rows[place as usize], sorted[place as usize]) = (row as u32, key);
            *next += 1;
            place
        });
        let places = places.collect();
        Some(ByKey { rows, keys: sorted, places })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_go_key_by_key_and_back() {
        let keys: Vec<u32> = (0..1_000u32).map(|row| 5 + row * row % 17).collect();
        let ByKey { rows, keys: sorted, places } = ByKey::of(&keys).expect("many rows of few keys");
        let mut expected: Vec<u32> = (0..1_000).collect();
        expected.sort_by_key(|row| keys[*row as usize]);
        assert_eq!(rows, expected);
        assert_eq!(sorted, expected.iter().map(|row| keys[*row as usize]).collect::<Vec<_>>());
        assert!((0..1_000).all(|row| rows[places[row as usize] as usize] == row));
        for keys in [&[][..], &[7], &[3; 40], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 9]] {
            assert!(ByKey::of(keys).is_none(), "{keys:?}");
        }
    }
}
