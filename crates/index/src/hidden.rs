//! The outdated documents of a segment: their episode was changed or deleted after they were indexed.

use crate::segment::DocId;

/// One bit per document; no bits if nothing is hidden.
#[derive(Clone, Debug, Default)]
pub(crate) struct HiddenDocs {
    bits: Vec<u64>,
    count: u64,
}

impl HiddenDocs {
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn contains(&self, doc: DocId) -> bool {
        self.bits.get(doc as usize / 64).is_some_and(|bits| bits & (1 << (doc % 64)) != 0)
    }

    pub(crate) fn add(&mut self, doc: DocId) {
        if self.contains(doc) {
            return;
        }
        let at = doc as usize / 64;
        if at >= self.bits.len() {
            self.bits.resize(at + 1, 0);
        }
        self.bits[at] |= 1 << (doc % 64);
        self.count += 1;
    }

    /// The hidden documents, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = DocId> {
        let used = (0..).step_by(64).zip(&self.bits).filter(|(_, bits)| **bits != 0);
        used.flat_map(|(first, bits)| (0..64).filter(move |at| bits & (1 << at) != 0).map(move |at| first + at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_hidden_once() {
        let mut hidden = HiddenDocs::default();
        assert!(hidden.is_empty() && !hidden.contains(0));
        for doc in [3, 200, 3, 64] {
            hidden.add(doc);
        }
        assert_eq!(hidden.count(), 3);
        assert_eq!(hidden.iter().collect::<Vec<_>>(), [3, 64, 200]);
        assert!(!hidden.contains(63) && !hidden.contains(100_000));
    }
}
