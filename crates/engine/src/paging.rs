//! A piece of a long list: by number, from one end or the other, and never too many bytes at once.

/// Which piece of a list whose items are numbered and in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Only items with this number or a higher one, the first that fit. Without it the last that fit.
    pub from: Option<u64>,
    /// Only items with a lower number than this.
    pub before: Option<u64>,
    /// At most so many.
    pub limit: usize,
    /// At most so many bytes; one item is given however long it is.
    pub bytes: usize,
}

/// A piece of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paged<T> {
    /// In the order of the list.
    pub items: Vec<T>,
    /// What `before` must be to get the piece that ends where this one begins; nothing at the beginning of the list.
    pub previous: Option<u64>,
    /// What `from` must be to get the piece that begins where this one ends; nothing at the end of the list.
    pub next: Option<u64>,
}

impl Page {
    /// Cuts the piece out of the whole list.
    pub(crate) fn of<T>(self, mut all: Vec<T>, number: impl Fn(&T) -> u64, bytes: impl Fn(&T) -> usize) -> Paged<T> {
        let low = self.from.map_or(0, |from| all.partition_point(|item| number(item) < from));
        let high = self.before.map_or(all.len(), |before| all.partition_point(|item| number(item) < before)).max(low);
        let room = |items: &mut dyn Iterator<Item = &T>| {
            let mut total = 0;
            let fitting = items.take(self.limit).enumerate().take_while(|(at, item)| {
                total += bytes(item);
                *at == 0 || total <= self.bytes
            });
            fitting.count()
        };
        let (begin, end) = match self.from {
            Some(_) => (low, low + room(&mut all[low..high].iter())),
            None => (high - room(&mut all[low..high].iter().rev()), high),
        };
        let previous = begin.checked_sub(1).map(|last| number(&all[last]) + 1);
        let next = all.get(end).map(&number);
        all.truncate(end);
        Paged { items: all.split_off(begin), previous, next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(page: Page, items: &[u64], previous: Option<u64>, next: Option<u64>) {
        // Numbers with gaps: what is not shown has numbers too.
        let paged = page.of(vec![1, 2, 4, 8, 9], |number| *number, |number| *number as usize);
        assert_eq!((paged.items.as_slice(), paged.previous, paged.next), (items, previous, next), "{page:?}");
    }

    #[test]
    fn pieces_join_without_gap_in_both_directions() {
        let page = Page { from: None, before: None, limit: 2, bytes: 100 };
        check(page, &[8, 9], Some(5), None);
        check(Page { before: Some(5), ..page }, &[2, 4], Some(2), Some(8));
        check(Page { before: Some(2), ..page }, &[1], None, Some(2));
        check(Page { from: Some(0), ..page }, &[1, 2], None, Some(4));
        check(Page { from: Some(4), ..page }, &[4, 8], Some(3), Some(9));
        check(Page { from: Some(3), before: Some(8), ..page }, &[4], Some(3), Some(8));
        check(Page { from: Some(10), ..page }, &[], Some(10), None);
        check(Page { from: Some(9), before: Some(2), ..page }, &[], Some(9), Some(9));
    }

    #[test]
    fn t16_bytes_are_bounded_but_one_item_always_comes() {
        let page = Page { from: Some(0), before: None, limit: 10, bytes: 3 };
        check(page, &[1, 2], None, Some(4));
        check(Page { from: Some(8), ..page }, &[8], Some(5), Some(9));
        check(Page { from: None, bytes: 17, ..page }, &[8, 9], Some(5), None);
    }

    #[test]
    fn nothing_comes_of_an_empty_list() {
        let page = Page { from: None, before: None, limit: 2, bytes: 1 };
        assert_eq!(page.of(Vec::<u64>::new(), |n| *n, |_| 1), Paged { items: vec![], previous: None, next: None });
    }
}
