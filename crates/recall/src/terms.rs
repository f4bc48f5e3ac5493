//! The words of a query as they are looked up.

use rethread_index::words;

/// One word to look for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    /// As it is indexed.
    pub(crate) text: String,
    /// How much it counts: words that only frame a question count less.
    pub(crate) weight: f32,
}

/// The distinct words of a text, in order.
pub(crate) fn of(text: &str) -> Vec<Term> {
    let mut terms: Vec<Term> = Vec::new();
    for word in words::split(text).iter() {
        if terms.iter().all(|known| known.text != word.text) {
            terms.push(Term { text: word.text.to_owned(), weight: 1.0 });
        }
    }
    terms
}
