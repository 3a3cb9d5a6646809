//! A growing vector in pages that are copied on the first write after a freeze.

use std::sync::Arc;

const PAGE: usize = 1024;

/// A vector whose picture costs the time of its page table. Pages are shared between the vector and its pictures
/// until the vector writes to them.
#[derive(Debug)]
pub struct Paged<T> {
    pages: Vec<Page<T>>,
    len: usize,
}

// The box goes into the `Arc` as it is: a freeze must not copy pages.
#[expect(clippy::redundant_allocation)]
#[derive(Debug)]
enum Page<T> {
    Own(Box<[T; PAGE]>),
    Shared(Arc<Box<[T; PAGE]>>),
}

impl<T> Page<T> {
    #[inline(always)]
    fn items(&self) -> &[T; PAGE] {
        match self {
            Page::Own(items) => items,
            Page::Shared(items) => items,
        }
    }
}

impl<T: Clone> Page<T> {
    #[inline(always)]
    fn items_mut(&mut self) -> &mut [T; PAGE] {
        if let Page::Shared(items) = self {
            *self = Page::Own(items.as_ref().clone());
        }
        match self {
            Page::Own(items) => items,
            Page::Shared(_) => unreachable!("made its own just now"),
        }
    }
}

impl<T> Default for Paged<T> {
    fn default() -> Paged<T> {
        Paged { pages: vec![], len: 0 }
    }
}

impl<T: Clone> Paged<T> {
    /// An empty vector.
    pub fn new() -> Paged<T> {
        Paged::default()
    }

    /// How many items.
    pub fn len(&self) -> usize {
        self.len
    }

    /// No item?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Makes the vector at least this long; new items are copies of this one.
    pub fn grow(&mut self, len: usize, item: T) {
        if len <= self.len {
            return;
        }
        // What stands behind the end of the last page is filler, and may be of an earlier call.
        let in_page = self.len % PAGE;
        if in_page > 0 {
            let end = PAGE.min(in_page + len - self.len);
            self.pages.last_mut().expect("a page that is not full").items_mut()[in_page..end].fill(item.clone());
        }
        while self.pages.len() * PAGE < len {
            let items = vec![item.clone(); PAGE].into_boxed_slice().try_into();
            self.pages.push(Page::Own(items.ok().expect("a page of items")));
        }
        self.len = len;
    }

    /// An item, if there is one at this place.
    pub fn get(&self, index: usize) -> Option<&T> {
        (index < self.len).then(|| &self[index])
    }

    /// An item to be changed, if there is one at this place.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        (index < self.len).then(|| &mut self[index])
    }

    /// A picture of all items now.
    pub fn freeze(&mut self) -> Paged<T> {
        let shared = std::mem::take(&mut self.pages).into_iter().map(|page| match page {
            Page::Own(items) => Arc::new(items),
            Page::Shared(items) => items,
        });
        let shared: Vec<_> = shared.collect();
        self.pages = shared.iter().cloned().map(Page::Shared).collect();
        Paged { pages: shared.into_iter().map(Page::Shared).collect(), len: self.len }
    }

    /// The items in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.pages.iter().flat_map(|page| page.items()).take(self.len)
    }
}

impl<T> std::ops::Index<usize> for Paged<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, index: usize) -> &T {
        &self.pages[index / PAGE].items()[index % PAGE]
    }
}

impl<T: Clone> std::ops::IndexMut<usize> for Paged<T> {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut T {
        &mut self.pages[index / PAGE].items_mut()[index % PAGE]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_keeps_what_was_when_it_was_taken() {
        let mut items = Paged::new();
        items.grow(1500, 0);
        items[1400] = 7;
        let picture = items.freeze();
        items[1400] = 8;
        items.grow(3000, 1);
        assert_eq!((picture[1400], picture.len()), (7, 1500));
        assert_eq!((items[1400], items[1499], items[1500], items[2999], items.len()), (8, 0, 1, 1, 3000));
        assert_eq!(items.iter().sum::<i32>(), 8 + 1500);
    }
}
