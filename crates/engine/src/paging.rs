//! Pages of a numbered list: forward or backward, limited by count and by bytes.

/// Which page of a list whose items are numbered in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// The page starts at the first item with at least this number. Without it the page is the last one.
    pub from: Option<u64>,
    /// Only items with a lower number.
    pub before: Option<u64>,
    /// Maximum number of items.
    pub limit: usize,
    /// Maximum size in bytes. At least one item is returned, however large.
    pub max_bytes: usize,
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListPage<T> {
    /// In the order of the list.
    pub items: Vec<T>,
    /// The value of `before` for the previous page. `None` on the first page.
    pub previous: Option<u64>,
    /// The value of `from` for the next page. `None` on the last page.
    pub next: Option<u64>,
}

impl PageRequest {
    /// Cuts the page out of the whole list.
    pub(crate) fn apply<T>(
        self,
        mut all: Vec<T>,
        number: impl Fn(&T) -> u64,
        bytes: impl Fn(&T) -> usize,
    ) -> ListPage<T> {
        let low = self.from.map_or(0, |from| all.partition_point(|item| number(item) < from));
        let high = self.before.map_or(all.len(), |before| all.partition_point(|item| number(item) < before)).max(low);
        let count_fitting = |items: &mut dyn Iterator<Item = &T>| {
            let mut total = 0;
            let fitting = items.take(self.limit).enumerate().take_while(|(at, item)| {
                total += bytes(item);
                *at == 0 || total <= self.max_bytes
            });
            fitting.count()
        };
        let (begin, end) = match self.from {
            Some(_) => (low, low + count_fitting(&mut all[low..high].iter())),
            None => (high - count_fitting(&mut all[low..high].iter().rev()), high),
        };
        let previous = begin.checked_sub(1).map(|last| number(&all[last]) + 1);
        let next = all.get(end).map(&number);
        all.truncate(end);
        ListPage { items: all.split_off(begin), previous, next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(page: PageRequest, items: &[u64], previous: Option<u64>, next: Option<u64>) {
        // Numbers with gaps, as in a filtered list.
        let paged = page.apply(vec![1, 2, 4, 8, 9], |number| *number, |number| *number as usize);
        assert_eq!((paged.items.as_slice(), paged.previous, paged.next), (items, previous, next), "{page:?}");
    }

    #[test]
    fn pages_join_without_gaps_in_both_directions() {
        let page = PageRequest { from: None, before: None, limit: 2, max_bytes: 100 };
        check(page, &[8, 9], Some(5), None);
        check(PageRequest { before: Some(5), ..page }, &[2, 4], Some(2), Some(8));
        check(PageRequest { before: Some(2), ..page }, &[1], None, Some(2));
        check(PageRequest { from: Some(0), ..page }, &[1, 2], None, Some(4));
        check(PageRequest { from: Some(4), ..page }, &[4, 8], Some(3), Some(9));
        check(PageRequest { from: Some(3), before: Some(8), ..page }, &[4], Some(3), Some(8));
        check(PageRequest { from: Some(10), ..page }, &[], Some(10), None);
        check(PageRequest { from: Some(9), before: Some(2), ..page }, &[], Some(9), Some(9));
    }

    #[test]
    // T16
    fn bytes_are_limited_but_one_item_always_fits() {
        let page = PageRequest { from: Some(0), before: None, limit: 10, max_bytes: 3 };
        check(page, &[1, 2], None, Some(4));
        check(PageRequest { from: Some(8), ..page }, &[8], Some(5), Some(9));
        check(PageRequest { from: None, max_bytes: 17, ..page }, &[8, 9], Some(5), None);
    }

    #[test]
    fn an_empty_list_gives_an_empty_page() {
        let page = PageRequest { from: None, before: None, limit: 2, max_bytes: 1 };
        assert_eq!(
            page.apply(Vec::<u64>::new(), |n| *n, |_| 1),
            ListPage { items: vec![], previous: None, next: None }
        );
    }
}
