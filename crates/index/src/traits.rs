//! What is remarkable about a text, read off once when it is indexed and packed into one number.

use rethread_model::Speech;

use crate::novelty::Novelty;

/// What is remarkable about an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits(pub(crate) u64);

/// How much of a long text is looked at; a log pasted into a prompt is not prose.
const LOOKED_AT: usize = 2_000;
/// Capitalised words inside sentences are counted up to this.
const MOST_NAMES: u64 = 2;

const SPEECH: u64 = 0xF;
const FAILED: u64 = 1 << 4;
const ENDS_ASKING: u64 = 1 << 5;
const ASKS: u64 = 1 << 6;
const TELLS_TIME: u64 = 1 << 7;
const OF_SELF: u64 = 1 << 8;
const NAMES: u32 = 9;
const NEW: u32 = 11;
const ECHOES: u32 = 15;
const LENGTH: u32 = 18;

const SPEECHES: [Speech; 15] = [
    Speech::Prompt,
    Speech::Task,
    Speech::Answer,
    Speech::Said,
    Speech::Reasoning,
    Speech::Call,
    Speech::Failure,
    Speech::Summary,
    Speech::Recap,
    Speech::Command,
    Speech::Shell,
    Speech::Note,
    Speech::Notice,
    Speech::Interruption,
    Speech::Injected,
];

impl Traits {
    pub(crate) fn of(speech: Speech, failed: bool, text: &str) -> Self {
        let code = SPEECHES.iter().position(|known| *known == speech).unwrap_or(SPEECHES.len() - 1);
        let mut bits = code as u64 | (text.chars().count() as u64) << LENGTH;
        let mut set = |when: bool, bit: u64| bits |= if when { bit } else { 0 };
        set(failed, FAILED);
        set(text.trim_end().ends_with(['?', '？']), ENDS_ASKING);
        set(text.contains(['?', '？']), ASKS);
        if speech != Speech::Call {
            let prose = &text[..text.floor_char_boundary(LOOKED_AT)];
            set(tells_time(prose), TELLS_TIME);
            set(prose.split(|c: char| !c.is_alphanumeric()).any(is_self), OF_SELF);
            bits |= names(prose) << NAMES;
        }
        Self(bits)
    }

    pub(crate) fn with_novelty(self, novelty: Novelty) -> Self {
        Self(self.0 | novelty.fifteenths << NEW | novelty.echoes << ECHOES)
    }

    /// What kind of text it is.
    pub fn speech(self) -> Speech {
        SPEECHES.get((self.0 & SPEECH) as usize).copied().unwrap_or(Speech::Injected)
    }

    /// Whether it is a failed tool call or a failure of the agent.
    pub fn failed(self) -> bool {
        self.0 & FAILED != 0
    }

    /// Whether it ends in a question mark.
    pub fn ends_asking(self) -> bool {
        self.0 & ENDS_ASKING != 0
    }

    /// Whether it asks anything.
    pub fn asks(self) -> bool {
        self.0 & ASKS != 0
    }

    /// Whether it says when something was or will be.
    pub fn tells_time(self) -> bool {
        self.0 & TELLS_TIME != 0
    }

    /// Whether someone speaks of themselves.
    pub fn of_self(self) -> bool {
        self.0 & OF_SELF != 0
    }

    /// How many different names it has inside its sentences: 0, 1, or 2 for more.
    pub fn names(self) -> u64 {
        (self.0 >> NAMES) & 3
    }

    /// Share of its words that were new in the conversation.
    pub fn novelty(self) -> f32 {
        ((self.0 >> NEW) & 0xF) as f32 / 15.0
    }

    /// How much it repeats of the text before it, from 0 to 1.
    pub fn echo(self) -> f32 {
        ((self.0 >> ECHOES) & 7) as f32 / 4.0
    }

    /// Characters it has.
    pub fn characters(self) -> u64 {
        self.0 >> LENGTH
    }
}

fn is_self(word: &str) -> bool {
    matches!(word, "I" | "my" | "My" | "me" | "we" | "We" | "our" | "myself")
}

/// Whether a text has words that say when: days, months, years, "last week", "two days ago".
fn tells_time(text: &str) -> bool {
    let mut before = String::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let word = word.to_ascii_lowercase();
        if is_time(&word) || (introduces_span(&before) && is_span(&word)) || (is_amount(&before) && is_unit(&word)) {
            return true;
        }
        before = word;
    }
    false
}

fn is_time(word: &str) -> bool {
    const MONTHS: [&str; 11] = [
        "january",
        "february",
        "march",
        "april",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    const OTHER: [&str; 7] = ["yesterday", "today", "tonight", "tomorrow", "ago", "recently", "since"];
    let digits = word.len() - word.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let is_year = digits == 4 && word.len() == 4;
    let is_ordinal = digits > 0 && matches!(&word[digits..], "st" | "nd" | "rd" | "th");
    is_year || is_ordinal || OTHER.contains(&word) || MONTHS.contains(&word) || DAYS.contains(&word)
}

fn introduces_span(word: &str) -> bool {
    matches!(word, "last" | "next" | "this" | "past")
}

fn is_span(word: &str) -> bool {
    const SPANS: [&str; 12] = [
        "night", "week", "weeks", "weekend", "month", "months", "year", "years", "summer", "winter", "morning", "past",
    ];
    SPANS.contains(&word)
}

fn is_amount(word: &str) -> bool {
    matches!(word, "two" | "three" | "four" | "five" | "six" | "few" | "of") || word.bytes().all(|b| b.is_ascii_digit())
}

fn is_unit(word: &str) -> bool {
    matches!(word, "day" | "days" | "week" | "weeks" | "month" | "months" | "year" | "years")
}

/// Different words with a capital that do not begin a sentence.
fn names(text: &str) -> u64 {
    let mut first: Option<&str> = None;
    let mut before = '.';
    for word in text.split(' ') {
        let name = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        let inside = before.is_ascii_lowercase() || matches!(before, ',' | ';');
        before = word.chars().next_back().unwrap_or(before);
        if !inside || !name.starts_with(|c: char| c.is_ascii_uppercase()) || is_first_person(name) {
            continue;
        }
        match first {
            None => first = Some(name),
            Some(known) if known != name => return MOST_NAMES,
            Some(_) => {}
        }
    }
    u64::from(first.is_some())
}

fn is_first_person(word: &str) -> bool {
    word == "I" || word.starts_with("I'") || word.starts_with("I’")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let traits = Traits::of(Speech::Prompt, false, text);
        let mut told = Vec::new();
        if traits.asks() {
            told.push(if traits.ends_asking() { "asks" } else { "asked" });
        }
        if traits.tells_time() {
            told.push("time");
        }
        if traits.of_self() {
            told.push("self");
        }
        let names = format!("{} names", traits.names());
        if traits.names() > 0 {
            told.push(&names);
        }
        assert_eq!(told.join(", "), expect, "{text:?}");
        assert_eq!(traits.characters(), text.chars().count() as u64);
        assert_eq!(traits.speech(), Speech::Prompt);
    }

    #[test]
    fn texts_are_read_for_what_is_remarkable_in_them() {
        check("fix the parser", "");
        check("Why does it fail? Look.", "asked");
        check("why does it fail? ", "asks");
        check("I saw it yesterday", "time, self");
        check("it broke two days before that", "time");
        check("since 2023 it works", "time");
        check("it may break on the 3rd of June", "time, 1 names");
        check("ask Ann or Bob about Ann", "2 names");
        check("We met Ann. Bob came.", "self, 1 names");
        check("für 日本語 öfter", "");
    }

    #[test]
    fn every_kind_of_text_survives_packing() {
        for speech in SPEECHES {
            assert_eq!(Traits::of(speech, true, "x").speech(), speech);
            assert!(Traits::of(speech, true, "x").failed());
        }
    }
}
