//! Recognizes injections into other sessions that mention a session.

use std::collections::{BTreeMap, BTreeSet};

use rethread_model::Timestamp;

/// Letters and digits at the start of a text that identify it. Few, because a quote may be cut right after them.
const MAX_PREFIX: usize = 16;
/// Shorter prefixes are too common to identify a text.
const MIN_PREFIX: usize = 8;

/// Recognizes texts that mention sessions to be forgotten: within their projects by time alone, because activity there
/// names files and commands that belong to no session in particular; elsewhere by quotes.
#[derive(Clone, Debug, Default)]
pub struct MentionMatcher {
    /// Names, ids and first words of messages by length, reduced to lowercase letters and digits: quoting changes the
    /// rest.
    prefixes: BTreeMap<usize, BTreeSet<String>>,
    /// Projects with the time since when other sessions there may know of them; `None` where it is unknown.
    projects: Vec<(Option<String>, Option<Timestamp>)>,
}

impl MentionMatcher {
    pub(crate) fn add_project(&mut self, project: Option<&str>, since: Option<Timestamp>) {
        self.projects.push((project.map(str::to_owned), since));
    }

    /// Whether a session of that project may have got activity about them at that time. A session without a known
    /// project may be in any.
    pub(crate) fn may_know_of_them(&self, project: Option<&str>, at: Timestamp) -> bool {
        self.projects.iter().any(|(theirs, since)| {
            (project.is_none() || project == theirs.as_deref()) && since.is_none_or(|since| at >= since)
        })
    }

    /// Adds a name, an id or the text of a message.
    pub(crate) fn add(&mut self, text: &str) {
        let prefix: String = letters_and_digits(text).take(MAX_PREFIX).collect();
        let length = prefix.chars().count();
        if length >= MIN_PREFIX {
            self.prefixes.entry(length).or_default().insert(prefix);
        }
    }

    /// Whether a text quotes one of the added texts.
    pub(crate) fn is_mentioned_in(&self, text: &str) -> bool {
        let text: Vec<char> = letters_and_digits(text).collect();
        self.prefixes.iter().any(|(length, prefixes)| {
            text.windows(*length).any(|window| prefixes.contains(&window.iter().collect::<String>()))
        })
    }
}

fn letters_and_digits(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_is_recognized_by_its_prefix() {
        let mut marks = MentionMatcher::default();
        marks.add("Fix the \"flaky\" parser, please, before noon");
        marks.add("ok");
        assert!(marks.is_mentioned_in("- session (2m ago): 'fix the 'flaky' parse…'"));
        assert!(!marks.is_mentioned_in("fix the flowers; ok"));
    }

    #[test]
    fn sessions_of_the_same_project_may_know_of_them_since_their_start() {
        let at = Timestamp::from_millis;
        let mut marks = MentionMatcher::default();
        assert!(!marks.may_know_of_them(None, at(7)), "nothing was added");
        marks.add_project(Some("/app"), Some(at(5)));
        assert!(marks.may_know_of_them(Some("/app"), at(5)) && marks.may_know_of_them(None, at(6)));
        assert!(!marks.may_know_of_them(Some("/app"), at(4)) && !marks.may_know_of_them(Some("/other"), at(6)));
        marks.add_project(None, None);
        assert!(marks.may_know_of_them(None, at(1)) && !marks.may_know_of_them(Some("/other"), at(6)));
    }
}
