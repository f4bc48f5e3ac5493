//! Features of an entry's text, computed once when it is indexed and packed into one integer.

use rethread_model::{EntryKind, ToolKind};

use crate::novelty::Novelty;
use crate::session_fields::SessionField;

/// Kind and text features of an entry, packed into 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryTraits(pub(crate) u64);

/// Bytes of a long text that are analyzed; a log pasted into a prompt is not prose.
const MAX_PROSE_BYTES: usize = 2_000;
/// Capitalized words inside sentences are counted up to this.
const MAX_NAMES: u64 = 2;

const KIND_BITS: u32 = 4;
const KIND_MASK: u64 = 0xF;
const FAILED: u64 = 1 << 4;
const ENDS_WITH_QUESTION: u64 = 1 << 5;
const HAS_QUESTION: u64 = 1 << 6;
const MENTIONS_TIME: u64 = 1 << 7;
const FIRST_PERSON: u64 = 1 << 8;
const NAMES_SHIFT: u32 = 9;
const NOVELTY_SHIFT: u32 = 11;
const ECHOES_SHIFT: u32 = 15;
const CALL_SHIFT: u32 = 18;
const CALL_MASK: u64 = 3;
/// Number of combinations of kind and call.
const FIELD_CODES: usize = 64;
const LENGTH_SHIFT: u32 = 20;

const ENTRY_KINDS: [EntryKind; 15] = [
    EntryKind::Prompt,
    EntryKind::Task,
    EntryKind::Answer,
    EntryKind::AssistantText,
    EntryKind::Reasoning,
    EntryKind::Call,
    EntryKind::Failure,
    EntryKind::Summary,
    EntryKind::Recap,
    EntryKind::Command,
    EntryKind::Shell,
    EntryKind::Note,
    EntryKind::Notice,
    EntryKind::Interruption,
    EntryKind::Injected,
];

/// Calls with a field of their own. Their place, from 1, is stored in two bits; 0 stands for all others.
const CALL_FIELDS: [(&[ToolKind], SessionField); 3] = [
    (&[ToolKind::Edit, ToolKind::Write], SessionField::Changes),
    (&[ToolKind::Read], SessionField::Reads),
    (&[ToolKind::Search], SessionField::Searches),
];

impl EntryTraits {
    pub(crate) fn from_text(kind: EntryKind, failed: bool, text: &str) -> Self {
        let code = ENTRY_KINDS.iter().position(|known| *known == kind).unwrap_or(ENTRY_KINDS.len() - 1);
        let mut bits = code as u64 | (text.chars().count() as u64) << LENGTH_SHIFT;
        let mut set = |when: bool, bit: u64| bits |= if when { bit } else { 0 };
        set(failed, FAILED);
        set(text.trim_end().ends_with(['?', '？']), ENDS_WITH_QUESTION);
        set(text.contains(['?', '？']), HAS_QUESTION);
        if kind != EntryKind::Call {
            let prose = &text[..text.floor_char_boundary(MAX_PROSE_BYTES)];
            set(mentions_time(prose), MENTIONS_TIME);
            set(prose.split(|c: char| !c.is_alphanumeric()).any(is_first_person_word), FIRST_PERSON);
            bits |= count_names(prose) << NAMES_SHIFT;
        }
        Self(bits)
    }

    pub(crate) fn with_novelty(self, novelty: Novelty) -> Self {
        Self(self.0 | novelty.new_fifteenths << NOVELTY_SHIFT | novelty.echoes << ECHOES_SHIFT)
    }

    /// Adds what a call does, as far as the field of its session depends on it.
    pub(crate) fn with_tool_kind(self, kind: ToolKind) -> Self {
        let code = CALL_FIELDS.iter().position(|(kinds, _)| kinds.contains(&kind)).map_or(0, |at| at as u64 + 1);
        Self(self.0 | code << CALL_SHIFT)
    }

    /// The bits that decide about the field, as an index into [`Self::fields_by_code`].
    pub(crate) fn field_code(self) -> usize {
        (self.0 & KIND_MASK | ((self.0 >> CALL_SHIFT) & CALL_MASK) << KIND_BITS) as usize
    }

    /// The field of each [code](Self::field_code).
    pub(crate) fn fields_by_code() -> [Option<SessionField>; FIELD_CODES] {
        let traits = |code: u64| Self(code & KIND_MASK | (code >> KIND_BITS) << CALL_SHIFT);
        std::array::from_fn(|code| traits(code as u64).session_field())
    }

    fn call_field(self) -> SessionField {
        let code = (self.0 >> CALL_SHIFT) & CALL_MASK;
        code.checked_sub(1).map_or(SessionField::Calls, |at| CALL_FIELDS[at as usize].1)
    }

    /// The field of its session that the entry belongs to; `None` for what neither a human nor an agent said or did.
    pub fn session_field(self) -> Option<SessionField> {
        Some(match self.kind() {
            EntryKind::Prompt | EntryKind::Task | EntryKind::Answer => SessionField::Prompts,
            EntryKind::Call => self.call_field(),
            EntryKind::Shell | EntryKind::Failure => SessionField::Calls,
            EntryKind::AssistantText | EntryKind::Reasoning | EntryKind::Summary | EntryKind::Recap => {
                SessionField::Replies
            }
            EntryKind::Command
            | EntryKind::Note
            | EntryKind::Notice
            | EntryKind::Interruption
            | EntryKind::Injected => return None,
        })
    }

    /// Kind of the entry.
    pub fn kind(self) -> EntryKind {
        ENTRY_KINDS.get((self.0 & KIND_MASK) as usize).copied().unwrap_or(EntryKind::Injected)
    }

    /// Whether it is a failed tool call or an error of the agent.
    pub fn has_failed(self) -> bool {
        self.0 & FAILED != 0
    }

    /// Whether it ends in a question mark.
    pub fn ends_with_question(self) -> bool {
        self.0 & ENDS_WITH_QUESTION != 0
    }

    /// Whether it contains a question mark.
    pub fn has_question(self) -> bool {
        self.0 & HAS_QUESTION != 0
    }

    /// Whether it mentions a time, such as a day, month, year or "last week".
    pub fn mentions_time(self) -> bool {
        self.0 & MENTIONS_TIME != 0
    }

    /// Whether it is written in the first person.
    pub fn is_first_person(self) -> bool {
        self.0 & FIRST_PERSON != 0
    }

    /// Number of distinct names inside its sentences: 0, 1, or 2 for two or more.
    pub fn name_count(self) -> u64 {
        (self.0 >> NAMES_SHIFT) & 3
    }

    /// Share of its words that were new in the session, 0 to 1.
    pub fn novelty(self) -> f32 {
        ((self.0 >> NOVELTY_SHIFT) & 0xF) as f32 / 15.0
    }

    /// How much it repeats the previous text, 0 to 1.
    pub fn echo(self) -> f32 {
        ((self.0 >> ECHOES_SHIFT) & 7) as f32 / 4.0
    }

    /// Length in characters.
    pub fn char_count(self) -> u64 {
        self.0 >> LENGTH_SHIFT
    }
}

fn is_first_person_word(word: &str) -> bool {
    matches!(word, "I" | "my" | "My" | "me" | "we" | "We" | "our" | "myself")
}

/// Whether a text mentions a time: days, months, years, "last week", "two days ago".
fn mentions_time(text: &str) -> bool {
    let mut before = String::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let word = word.to_ascii_lowercase();
        if is_time_word(&word)
            || (precedes_time_span(&before) && is_time_span(&word))
            || (is_amount(&before) && is_time_unit(&word))
        {
            return true;
        }
        before = word;
    }
    false
}

fn is_time_word(word: &str) -> bool {
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

fn precedes_time_span(word: &str) -> bool {
    matches!(word, "last" | "next" | "this" | "past")
}

fn is_time_span(word: &str) -> bool {
    const SPANS: [&str; 12] = [
        "night", "week", "weeks", "weekend", "month", "months", "year", "years", "summer", "winter", "morning", "past",
    ];
    SPANS.contains(&word)
}

fn is_amount(word: &str) -> bool {
    matches!(word, "two" | "three" | "four" | "five" | "six" | "few" | "of") || word.bytes().all(|b| b.is_ascii_digit())
}

fn is_time_unit(word: &str) -> bool {
    matches!(word, "day" | "days" | "week" | "weeks" | "month" | "months" | "year" | "years")
}

/// Counts distinct capitalized words that do not start a sentence, up to [`MAX_NAMES`].
fn count_names(text: &str) -> u64 {
    let mut first: Option<&str> = None;
    let mut before = '.';
    for word in text.split(' ') {
        let name = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        let inside = before.is_ascii_lowercase() || matches!(before, ',' | ';');
        before = word.chars().next_back().unwrap_or(before);
        if !inside || !name.starts_with(|c: char| c.is_ascii_uppercase()) || is_pronoun_i(name) {
            continue;
        }
        match first {
            None => first = Some(name),
            Some(known) if known != name => return MAX_NAMES,
            Some(_) => {}
        }
    }
    u64::from(first.is_some())
}

fn is_pronoun_i(word: &str) -> bool {
    word == "I" || word.starts_with("I'") || word.starts_with("I’")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let traits = EntryTraits::from_text(EntryKind::Prompt, false, text);
        let mut found = Vec::new();
        if traits.has_question() {
            found.push(if traits.ends_with_question() { "asks" } else { "asked" });
        }
        if traits.mentions_time() {
            found.push("time");
        }
        if traits.is_first_person() {
            found.push("self");
        }
        let names = format!("{} names", traits.name_count());
        if traits.name_count() > 0 {
            found.push(&names);
        }
        assert_eq!(found.join(", "), expect, "{text:?}");
        assert_eq!(traits.char_count(), text.chars().count() as u64);
        assert_eq!(traits.kind(), EntryKind::Prompt);
    }

    #[test]
    fn text_features_are_detected() {
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
    fn every_entry_kind_survives_packing() {
        for kind in ENTRY_KINDS {
            assert_eq!(EntryTraits::from_text(kind, true, "x").kind(), kind);
            assert!(EntryTraits::from_text(kind, true, "x").has_failed());
        }
    }

    #[test]
    fn calls_belong_to_fields_by_what_they_do() {
        for (kind, field) in [
            (ToolKind::Edit, SessionField::Changes),
            (ToolKind::Write, SessionField::Changes),
            (ToolKind::Read, SessionField::Reads),
            (ToolKind::Search, SessionField::Searches),
            (ToolKind::Command, SessionField::Calls),
            (ToolKind::Web, SessionField::Calls),
        ] {
            let traits = EntryTraits::from_text(EntryKind::Call, false, "four").with_tool_kind(kind);
            assert_eq!((traits.session_field(), traits.char_count()), (Some(field), 4), "{kind:?}");
            assert_eq!(EntryTraits::fields_by_code()[traits.field_code()], Some(field), "{kind:?}");
        }
    }
}
