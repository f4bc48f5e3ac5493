//! The name of a session, chosen in the agent's official order.

use rethread_model::{clip, one_line};
use serde::{Deserialize, Serialize};

use crate::TitleRank;

/// The longest name, in characters.
const NAME_CHARS: usize = 120;

/// Every name seen so far; of each kind the last one wins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Titles {
    custom: Option<String>,
    generated: Option<String>,
    last_prompt: Option<String>,
    summary: Option<String>,
    first_prompt: Option<String>,
    first_command: Option<String>,
}

impl Titles {
    pub(crate) fn set(&mut self, rank: TitleRank, text: &str) {
        let place = match rank {
            TitleRank::Custom => &mut self.custom,
            TitleRank::Generated => &mut self.generated,
            TitleRank::LastPrompt => &mut self.last_prompt,
            TitleRank::Summary => &mut self.summary,
        };
        *place = short(text);
    }

    pub(crate) fn prompt(&mut self, text: &str) {
        if self.first_prompt.is_none() {
            self.first_prompt = short(text);
        }
    }

    pub(crate) fn command(&mut self, text: &str) {
        if self.first_command.is_none() {
            self.first_command = short(text);
        }
    }

    /// The best name there is.
    pub(crate) fn best(&self) -> Option<&str> {
        [&self.custom, &self.generated, &self.last_prompt, &self.summary, &self.first_prompt, &self.first_command]
            .into_iter()
            .find_map(|title| title.as_deref())
    }

    /// All names it knows.
    pub(crate) fn all(&self) -> impl Iterator<Item = &String> {
        let given = [&self.custom, &self.generated, &self.last_prompt, &self.summary];
        given.into_iter().chain([&self.first_prompt, &self.first_command]).flatten()
    }

    /// Loses the names that must not stay. What was typed first is told anew.
    pub(crate) fn forget(&mut self, must_go: &dyn Fn(&str) -> bool) {
        for title in [&mut self.custom, &mut self.generated, &mut self.last_prompt, &mut self.summary] {
            if title.as_deref().is_some_and(must_go) {
                *title = None;
            }
        }
        (self.first_prompt, self.first_command) = (None, None);
    }

    /// Whether the user's own name marks the session as a sub-agent's.
    pub(crate) fn names_a_child(&self) -> bool {
        self.custom.as_deref().is_some_and(|name| name.starts_with("subagent-"))
    }
}

/// The title that a session's user or agent gave it, from what its story remembers; a prompt is none.
pub fn given_title(memory: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Saved {
        titles: Titles,
    }
    let titles = serde_json::from_str::<Saved>(memory).ok()?.titles;
    titles.custom.or(titles.generated).or(titles.summary)
}

pub(crate) fn short(text: &str) -> Option<String> {
    let text = one_line(text);
    (!text.is_empty()).then(|| clip(&text, NAME_CHARS).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_no_title() {
        assert_eq!(given_title(r#"{"titles":{"first_prompt":"fix it","last_prompt":"1"}}"#), None);
        let given = r#"{"titles":{"generated":"Mend the parser","first_prompt":"fix it"},"next_seq":1}"#;
        assert_eq!(given_title(given).as_deref(), Some("Mend the parser"));
        assert_eq!(given_title("{"), None);
    }

    #[test]
    fn e001_16_names_are_chosen_in_the_official_order() {
        let mut titles = Titles::default();
        assert_eq!(titles.best(), None);
        titles.command("/init");
        titles.prompt("first\nprompt");
        assert_eq!(titles.best(), Some("first prompt"));
        titles.set(TitleRank::Summary, "a summary");
        titles.set(TitleRank::LastPrompt, "last prompt");
        titles.set(TitleRank::Generated, "made up");
        assert_eq!(titles.best(), Some("made up"));
        titles.set(TitleRank::Custom, "mine");
        titles.set(TitleRank::Custom, "mine again");
        assert_eq!(titles.best(), Some("mine again"));
        titles.set(TitleRank::Custom, "");
        assert_eq!(titles.best(), Some("made up"), "an empty name takes the given one back");
    }
}
