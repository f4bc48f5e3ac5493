//! How texts that were given to other sessions are recognised as telling of a session.

use std::collections::{BTreeMap, BTreeSet};

use rethread_model::Timestamp;

/// Letters and digits at the beginning of a text by which it is recognised; a quote may be cut right after them.
const LONGEST: usize = 16;
/// Shorter beginnings are anybody's.
const SHORTEST: usize = 8;

/// By what texts are recognised as telling of sessions: in their projects by time alone, because what is told there
/// names files and commands that are nobody's; elsewhere by quotes.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// Names, ids and beginnings of what was said, as letters and digits alone: quotes change the rest.
    beginnings: BTreeMap<usize, BTreeSet<String>>,
    /// Projects with the moment since when others there may have been told; nothing where that is not known.
    since: Vec<(Option<String>, Option<Timestamp>)>,
}

impl Marks {
    /// Takes a project in which others may have been told since a moment.
    pub(crate) fn add_project(&mut self, project: Option<&str>, since: Option<Timestamp>) {
        self.since.push((project.map(str::to_owned), since));
    }

    /// Whether a session of that project may have been told of them at that moment. One whose project is not known may
    /// be of any.
    pub(crate) fn may_be_told(&self, project: Option<&str>, at: Timestamp) -> bool {
        self.since.iter().any(|(theirs, since)| {
            (project.is_none() || project == theirs.as_deref()) && since.is_none_or(|since| at >= since)
        })
    }

    /// Takes a name, an id or something that was said.
    pub(crate) fn add(&mut self, text: &str) {
        let mark: String = bare(text).take(LONGEST).collect();
        let length = mark.chars().count();
        if length >= SHORTEST {
            self.beginnings.entry(length).or_default().insert(mark);
        }
    }

    /// Whether a text quotes one of them.
    pub(crate) fn are_in(&self, text: &str) -> bool {
        let text: Vec<char> = bare(text).collect();
        self.beginnings.iter().any(|(length, marks)| {
            text.windows(*length).any(|window| marks.contains(&window.iter().collect::<String>()))
        })
    }
}

fn bare(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_is_recognised_by_its_beginning() {
        let mut marks = Marks::default();
        marks.add("Fix the \"flaky\" parser, please, before noon");
        marks.add("ok");
        assert!(marks.are_in("- session (2m ago): 'fix the 'flaky' parse…'"));
        assert!(!marks.are_in("fix the flowers; ok"));
    }

    #[test]
    fn whoever_works_in_the_same_project_may_have_been_told_since_the_beginning() {
        let at = Timestamp::from_millis;
        let mut marks = Marks::default();
        assert!(!marks.may_be_told(None, at(7)), "of nobody");
        marks.add_project(Some("/app"), Some(at(5)));
        assert!(marks.may_be_told(Some("/app"), at(5)) && marks.may_be_told(None, at(6)));
        assert!(!marks.may_be_told(Some("/app"), at(4)) && !marks.may_be_told(Some("/other"), at(6)));
        marks.add_project(None, None);
        assert!(marks.may_be_told(None, at(1)) && !marks.may_be_told(Some("/other"), at(6)));
    }
}
