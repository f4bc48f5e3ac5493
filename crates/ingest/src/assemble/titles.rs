//! The name of a session: the title the user gave, else the agent's, else the card's, else one derived from its texts.

use rethread_model::{
    DerivedName, MAX_NAME_CHARS, NameSource, clean_title, fallback_name, is_greeting, one_line, truncate_at_word,
};
use serde::{Deserialize, Serialize};

use super::SessionAssembler;
use crate::TitleRank;

/// Prefix of the names that pi gives to sessions of sub-agents.
const CHILD_PREFIX: &str = "subagent-";

/// Every title read so far; the last one of each kind wins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SessionTitles {
    /// Given with `rethread name`; not in the transcript.
    given: Option<String>,
    custom: Option<String>,
    generated: Option<String>,
    summary: Option<String>,
    /// The name on the card a model wrote.
    card: Option<String>,
    /// Made from the first text of the best source, so that later texts do not change it.
    derived: Option<DerivedName>,
    /// The entry it was made from.
    derived_from_seq: u64,
}

impl SessionTitles {
    pub(crate) fn set(&mut self, rank: TitleRank, text: &str) {
        let slot = match rank {
            TitleRank::Custom => &mut self.custom,
            TitleRank::Generated => &mut self.generated,
            TitleRank::Summary => &mut self.summary,
        };
        let title = clean_title(text).filter(|title| rank == TitleRank::Custom || !is_greeting(title));
        // An empty title takes the name back; one that names nothing is ignored.
        if title.is_some() || text.trim().is_empty() {
            *slot = title;
        }
    }

    fn best(&self) -> Option<&str> {
        let titles = [&self.given, &self.custom, &self.generated, &self.summary, &self.card];
        titles
            .into_iter()
            .find_map(Option::as_deref)
            .or_else(|| self.derived.as_ref().map(|derived| derived.text.as_str()))
    }

    /// All stored titles.
    pub(crate) fn all(&self) -> impl Iterator<Item = &String> {
        let titles = [&self.given, &self.custom, &self.generated, &self.summary, &self.card];
        titles.into_iter().flatten().chain(self.derived.as_ref().map(|derived| &derived.text))
    }

    /// Takes over titles that only `earlier` has. The derived name is cleared: the caller offers all entries again.
    pub(crate) fn complete_from(&mut self, earlier: SessionTitles) {
        let slots = [
            (&mut self.given, earlier.given),
            (&mut self.custom, earlier.custom),
            (&mut self.generated, earlier.generated),
            (&mut self.summary, earlier.summary),
            (&mut self.card, earlier.card),
        ];
        for (title, earlier) in slots {
            *title = title.take().or(earlier);
        }
        self.derived = None;
    }

    /// Removes titles that must be forgotten, and the derived name.
    pub(crate) fn forget_matching(&mut self, should_forget: &dyn Fn(&str) -> bool) {
        let Self { given, custom, generated, summary, card, .. } = self;
        for title in [given, custom, generated, summary, card] {
            if title.as_deref().is_some_and(should_forget) {
                *title = None;
            }
        }
        self.derived = None;
    }

    /// Whether the user's own title marks the session as a sub-agent's.
    pub(crate) fn has_child_title(&self) -> bool {
        self.custom.as_deref().is_some_and(|name| name.starts_with(CHILD_PREFIX))
    }
}

impl SessionAssembler {
    /// The session's name, as shown everywhere. Never empty.
    pub fn name(&self) -> String {
        let best = self.state.titles.best().map(str::to_owned);
        best.unwrap_or_else(|| fallback_name(self.agent, &self.external_id, self.state.info.started_at))
    }

    /// Where the derived name was taken from. A name from a worse source, or a later one from the same, is not needed.
    pub fn derived_name_source(&self) -> Option<NameSource> {
        self.state.titles.derived.as_ref().map(|derived| derived.source)
    }

    /// Offers a name made from an entry. Entries must be offered in their order: the first of the best source is kept.
    pub fn offer_name(&mut self, seq: u64, name: DerivedName) {
        if self.derived_name_source().is_none_or(|known| name.source < known) {
            (self.state.titles.derived, self.state.titles.derived_from_seq) = (Some(name), seq);
        }
    }

    /// Removes the derived name if it was made from one of these entries, which do not count any more. Then the caller
    /// offers all others again.
    pub fn retract_name(&mut self, seqs: &[u64]) -> bool {
        let titles = &mut self.state.titles;
        let is_retracted = titles.derived.is_some() && seqs.contains(&titles.derived_from_seq);
        if is_retracted {
            titles.derived = None;
        }
        is_retracted
    }

    /// Removes the derived name, before all entries are offered again.
    pub fn clear_derived_name(&mut self) {
        self.state.titles.derived = None;
    }

    /// Sets a title that another file contains for this session.
    pub fn set_title_from_other_file(&mut self, text: &str) {
        self.state.titles.set(TitleRank::Summary, text);
    }

    /// Sets the name the user gave the session, if it is stored outside the transcript. An empty one removes it.
    pub fn set_explicit_name(&mut self, name: &str) {
        self.state.titles.given = shorten_title(name);
    }

    /// Sets the name on the card that a model wrote.
    pub fn set_card_name(&mut self, name: &str) {
        self.state.titles.card = clean_title(name);
    }
}

/// A title on one line, at most [`MAX_NAME_CHARS`] long.
pub(crate) fn shorten_title(text: &str) -> Option<String> {
    let text = one_line(text);
    (!text.is_empty()).then(|| truncate_at_word(&text, MAX_NAME_CHARS))
}

#[cfg(test)]
mod tests {
    use rethread_model::Agent;

    use super::*;

    fn assembler() -> SessionAssembler {
        SessionAssembler::new(Agent::ClaudeCode, "5662de58-b7fb-4500-bf91-a60590136031")
    }

    fn derived(source: NameSource, text: &str) -> DerivedName {
        DerivedName { source, text: text.to_owned() }
    }

    #[test]
    fn a_title_by_the_user_comes_before_the_agents_the_cards_and_a_derived_one() {
        // E001-16, D11
        let mut session = assembler();
        assert_eq!(session.name(), "Claude Code session");
        session.offer_name(0, derived(NameSource::Prompt, "Derived"));
        assert_eq!(session.name(), "Derived");
        session.set_card_name("Card");
        assert_eq!(session.name(), "Card");
        session.set_title_from_other_file("A summary");
        session.state.titles.set(TitleRank::Generated, "Generated");
        assert_eq!(session.name(), "Generated");
        session.state.titles.set(TitleRank::Custom, "custom");
        session.set_explicit_name("mine");
        session.set_explicit_name("mine again");
        assert_eq!(session.name(), "mine again");
        session.set_explicit_name("");
        assert_eq!(session.name(), "custom", "an empty name restores the original");
        session.state.titles.set(TitleRank::Custom, "");
        assert_eq!(session.name(), "Generated", "an empty title removes the custom one");
    }

    #[test]
    fn later_texts_do_not_change_a_derived_name() {
        // D11
        let mut session = assembler();
        session.offer_name(0, derived(NameSource::Answer, "An answer"));
        session.offer_name(0, derived(NameSource::WeakPrompt, "Commit"));
        session.offer_name(0, derived(NameSource::WeakPrompt, "Push"));
        assert_eq!(session.name(), "Commit");
        session.offer_name(0, derived(NameSource::Prompt, "Fix the parser"));
        session.offer_name(0, derived(NameSource::Prompt, "Thanks, anything else to do?"));
        session.offer_name(0, derived(NameSource::Answer, "Another answer"));
        assert_eq!(session.name(), "Fix the parser");
        assert!(!session.retract_name(&[1]));
        let saved = session.save().unwrap();
        let resumed = SessionAssembler::resume(Agent::ClaudeCode, "x", &saved).unwrap();
        assert_eq!(resumed.name(), "Fix the parser");
        assert!(session.retract_name(&[0]), "the entry does not count any more");
        assert_eq!(session.name(), "Claude Code session");
    }

    #[test]
    fn a_title_that_names_nothing_is_ignored() {
        // D11
        let mut session = assembler();
        session.offer_name(0, derived(NameSource::Prompt, "Fix the parser"));
        for nothing in ["/init", "Hi!", "API Error: 500", "<tag>"] {
            session.state.titles.set(TitleRank::Generated, nothing);
            assert_eq!(session.name(), "Fix the parser", "{nothing}");
        }
    }
}
