//! The title of a session, chosen in the agent's official order.

use rethread_model::{clip, one_line};
use serde::{Deserialize, Serialize};

use crate::TitleRank;

/// Maximum length of a title, in characters.
const MAX_TITLE_CHARS: usize = 120;

/// Every title read so far; the last one of each kind wins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SessionTitles {
    custom: Option<String>,
    generated: Option<String>,
    last_prompt: Option<String>,
    summary: Option<String>,
    first_prompt: Option<String>,
    first_command: Option<String>,
}

impl SessionTitles {
    pub(crate) fn set(&mut self, rank: TitleRank, text: &str) {
        let slot = match rank {
            TitleRank::Custom => &mut self.custom,
            TitleRank::Generated => &mut self.generated,
            TitleRank::LastPrompt => &mut self.last_prompt,
            TitleRank::Summary => &mut self.summary,
        };
        *slot = shorten_title(text);
    }

    pub(crate) fn set_first_prompt(&mut self, text: &str) {
        if self.first_prompt.is_none() {
            self.first_prompt = shorten_title(text);
        }
    }

    /// Removes the first prompt if it is this text. The next prompt takes its place.
    pub(crate) fn remove_first_prompt(&mut self, text: &str) {
        if self.first_prompt.is_some() && self.first_prompt == shorten_title(text) {
            self.first_prompt = None;
        }
    }

    pub(crate) fn set_first_command(&mut self, text: &str) {
        if self.first_command.is_none() {
            self.first_command = shorten_title(text);
        }
    }

    /// The best title so far.
    pub(crate) fn best(&self) -> Option<&str> {
        [&self.custom, &self.generated, &self.last_prompt, &self.summary, &self.first_prompt, &self.first_command]
            .into_iter()
            .find_map(|title| title.as_deref())
    }

    /// All stored titles.
    pub(crate) fn all(&self) -> impl Iterator<Item = &String> {
        let given = [&self.custom, &self.generated, &self.last_prompt, &self.summary];
        given.into_iter().chain([&self.first_prompt, &self.first_command]).flatten()
    }

    /// Takes over titles that only `earlier` has. The first prompt and command are cleared, to be set again by the
    /// caller.
    pub(crate) fn complete_from(&mut self, earlier: SessionTitles) {
        let slots = [
            (&mut self.custom, earlier.custom),
            (&mut self.generated, earlier.generated),
            (&mut self.last_prompt, earlier.last_prompt),
            (&mut self.summary, earlier.summary),
        ];
        for (title, earlier) in slots {
            *title = title.take().or(earlier);
        }
        (self.first_prompt, self.first_command) = (None, None);
    }

    /// Removes titles that must be forgotten. The first prompt and command are cleared, to be set again by the caller.
    pub(crate) fn forget_matching(&mut self, should_forget: &dyn Fn(&str) -> bool) {
        for title in [&mut self.custom, &mut self.generated, &mut self.last_prompt, &mut self.summary] {
            if title.as_deref().is_some_and(should_forget) {
                *title = None;
            }
        }
        (self.first_prompt, self.first_command) = (None, None);
    }

    /// Whether the user's own title marks the session as a sub-agent's.
    pub(crate) fn has_child_title(&self) -> bool {
        self.custom.as_deref().is_some_and(|name| name.starts_with("subagent-"))
    }
}

/// The title that the user or the agent gave a session, from its stored assembler state; prompts do not count.
pub fn explicit_title(state_json: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct StoredTitles {
        titles: SessionTitles,
    }
    let titles = serde_json::from_str::<StoredTitles>(state_json).ok()?.titles;
    titles.custom.or(titles.generated).or(titles.summary)
}

pub(crate) fn shorten_title(text: &str) -> Option<String> {
    let text = one_line(text);
    (!text.is_empty()).then(|| clip(&text, MAX_TITLE_CHARS).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompt_is_not_a_title() {
        assert_eq!(explicit_title(r#"{"titles":{"first_prompt":"fix it","last_prompt":"1"}}"#), None);
        let given = r#"{"titles":{"generated":"Fix the parser","first_prompt":"fix it"},"next_seq":1}"#;
        assert_eq!(explicit_title(given).as_deref(), Some("Fix the parser"));
        assert_eq!(explicit_title("{"), None);
    }

    #[test]
    fn titles_are_chosen_in_the_official_order() {
        // E001-16
        let mut titles = SessionTitles::default();
        assert_eq!(titles.best(), None);
        titles.set_first_command("/init");
        titles.set_first_prompt("first\nprompt");
        assert_eq!(titles.best(), Some("first prompt"));
        titles.set(TitleRank::Summary, "a summary");
        titles.set(TitleRank::LastPrompt, "last prompt");
        titles.set(TitleRank::Generated, "made up");
        assert_eq!(titles.best(), Some("made up"));
        titles.set(TitleRank::Custom, "mine");
        titles.set(TitleRank::Custom, "mine again");
        assert_eq!(titles.best(), Some("mine again"));
        titles.set(TitleRank::Custom, "");
        assert_eq!(titles.best(), Some("made up"), "an empty title removes the custom one");
    }
}
