//! Finds sentences in which a human decides between alternatives, with a table of typical wordings.

use std::sync::LazyLock;

use rethread_model::FactState;

use super::cues::{compile_pattern, is_statement, spell_pattern};
use super::names::leading_name;
use super::sentences::ProseSentence;
use crate::facts::pattern::{CuePattern, CueTable};

/// A decision as stated in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StatedDecision {
    /// What was accepted or rejected.
    pub(super) chosen: String,
    /// The rejected alternative.
    pub(super) rejected: Option<String>,
    /// Accepted or rejected.
    pub(super) state: FactState,
}

/// What follows a cue.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CueShape {
    /// The chosen option.
    Chosen,
    /// The chosen option; with a definite noun it is only an instruction.
    Named,
    /// The chosen option, then the rejected one; without the second it is only an instruction.
    ChosenAgainst,
    /// The rejected option, then the chosen one after "for".
    Swapped,
    /// The rejected option, then the chosen one after "in favor of".
    Dropped,
    /// The rejected option.
    Rejected,
}

/// Wordings that start a decision. `^` matches the start of a clause; the first matching row decides.
const DECISION_TABLE: &[(&str, CueShape)] = &[
    (
        r"^(let's|we|we'll|we will|i'll|i|we should|you should)?(?: just)? ?(?:not going|not go|do not go|
            don't go|won't go) with ",
        CueShape::Rejected,
    ),
    (r"^(?:let's not|we won't|we will not|we are not|we're not|we do not|we don't) (?:use|using) ", CueShape::Rejected),
    (r"^(?:please )?(?:don't|do not) use (?P<rest>[^,.;]{2,40}? (?:for this|for that|here)\b)", CueShape::Rejected),
    (r"^(?:no|nope|nah),? not ", CueShape::Rejected),
    (
        r"^no (?P<rest>(?:[\w.+#`/-]+ ){0,2}[\w.+#`/-]+(?: here| for now| for this| in this (?:repo|project|codebase))(?: please| pls)?)(?:[,.;!]|$)",
        CueShape::Rejected,
    ),
    (r"^(?:we're|we are|i'm|i am) not (?:doing|going with|adding|building|supporting|shipping) ", CueShape::Rejected),
    (r"^(?:swap out|swap|exchange) ", CueShape::Swapped),
    (r"^(?:let's |we'll |we |i'll )?drop ", CueShape::Dropped),
    (
        r"^(?:let's |we'll |i'll |we're )?(?:drop|dropping|skip|scratch|ditch|scrap|forget about|get rid of) (?:support for )?",
        CueShape::Rejected,
    ),
    (r"\b(?:let's|we'll|we will|we are|we're)(?: just)? (?:go|going|gonna go) (?:with|wiht|wtih) ", CueShape::Chosen),
    (
        r"^(?:let's|we|we'll|we will|we are|we're|i'll|i will|i'd|i would)?(?: just| rather)? ?(?:go|going|
            gonna go) (?:with|wiht|wtih) ",
        CueShape::Chosen,
    ),
    (
        r"\bwe(?:'ve| have)?(?: all| now| finally)? (?:decided|settled|agreed) (?:on|for|to use|to go with|
            to adopt|to switch to|to move to) (?:using )?",
        CueShape::Chosen,
    ),
    (r"^i(?:'ve| have)? decided (?:on|to use|to go with|to keep|to stay with|to adopt) ", CueShape::Chosen),
    (r"^(?:i'm|we're|i am|we are) going (?:for|with) ", CueShape::Chosen),
    (r"^my vote (?:goes to|is|is for) ", CueShape::Chosen),
    (r"^(?:the team|we all|everyone|we)(?: has| have)? agreed (?:to (?:use|adopt|go with) |on )", CueShape::Chosen),
    (r"^(?:let's )?(?:scrap|ditch|forget about|abandon) (?:the |that |this )", CueShape::Rejected),
    (
        r"^(?:ok|okay|yes|yep|yeah|alright|fine|right)?,? ?(?P<rest>[\w.@/+`-]+(?: [\w.@/+`-]+){0,2}) it is[.!]?$",
        CueShape::Chosen,
    ),
    (r"^(?:let's|we|we'll|we will|i'll|i)?(?: just)? ?(?:stick|stay|sticking|staying) with ", CueShape::Chosen),
    (
        r"^(?:let's|we'll|we will|please|we're|we are)? ?(?:switch|switching|move|moving|migrate) (?:over )?to ",
        CueShape::Chosen,
    ),
    (r"^(?:let's|we'll|we will) (?:just )?(?:use|adopt|choose|pick|take) ", CueShape::Named),
    (r"^(?:i'd|i would|we'd) rather (?:use|have|go with|do) ", CueShape::Named),
    (
        r"^(?:use|take|pick|choose|adopt|i want|we want|want|we use|we'll use|it should use|please use|just use|
            have it use|back to|go back to|let's go back to) ",
        CueShape::ChosenAgainst,
    ),
    (
        r"^(?:change of plan|new plan|final decision|decision|decided):? (?:use |we use |back to |let's use )?",
        CueShape::Chosen,
    ),
];

/// Wordings before the rejected alternative.
const REJECTED_PATTERN: &str = r",? (?:instead of|rather than|than|over|and not|in place of|not) ";

static DECISION_ROWS: LazyLock<CueTable<CueShape>> = LazyLock::new(|| {
    let row = |(table, shape): &(&str, CueShape)| {
        let clause = r"(?:^|[,;:—–] ?|\. |\b(?:and|but|so|then|ok|okay|no|hm|actually|pls|please|yes|yeah|
            alright|fine|instead|also|whatever),? )";
        let table = table.strip_prefix('^').map_or_else(|| (*table).to_owned(), |rest| format!("{clause}(?:{rest})"));
        (spell_pattern(&table), *shape)
    };
    CueTable::new(DECISION_TABLE.iter().map(row))
});
static REJECTED_CUE: LazyLock<Option<CuePattern>> = LazyLock::new(|| compile_pattern(REJECTED_PATTERN));
static SWAPPED_FOR: LazyLock<Option<CuePattern>> = LazyLock::new(|| compile_pattern(r" (?:for|with) "));
static DROPPED_FOR: LazyLock<Option<CuePattern>> =
    LazyLock::new(|| compile_pattern(r" (?:in favou?r of|and (?:use|keep|go with|stick with)) "));

/// The decision in a sentence, if there is one.
pub(super) fn find_decision(sentence: &ProseSentence<'_>) -> Option<StatedDecision> {
    if let Some(chosen) = taken_up_again(sentence) {
        return Some(StatedDecision { chosen, rejected: None, state: FactState::Confirmed });
    }
    if !is_statement(sentence) {
        return None;
    }
    let worded = DECISION_ROWS.rows_for(&sentence.masked).find_map(|(row, shape)| {
        let cue = row.captures(&sentence.masked)?;
        let whole = cue.get(0)?;
        let start = cue.name("rest").map_or(whole.end(), |rest| rest.start());
        let rest = DecisionClause::new(sentence, start);
        match shape {
            CueShape::Chosen => rest.chosen_decision(),
            CueShape::Named => {
                rest.chosen_decision().filter(|made| made.rejected.is_some() || !is_definite(rest.masked))
            }
            CueShape::ChosenAgainst => {
                let is_decision = whole.start() == 0 && rest.has_purpose() || rest.is_replacement();
                rest.chosen_decision().filter(|made| made.rejected.is_some() || is_decision)
            }
            CueShape::Swapped => rest.replacement_decision(&SWAPPED_FOR),
            CueShape::Dropped => rest.replacement_decision(&DROPPED_FOR),
            CueShape::Rejected => rest.rejected_decision(),
        }
    });
    worded.or_else(|| find_contrast(sentence))
}

/// What is allowed again, however hesitantly it is said: "hmm, ok, use redis after all", "I changed my mind, redis is fine".
fn taken_up_again(sentence: &ProseSentence<'_>) -> Option<String> {
    static AGAIN: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"\b(?:use|take|keep|go (?:back )?(?:with|to)|let's use) (?P<one>[\w.@/+`-]+(?: [\w.@/+`-]+)?) after all\b|
                \bchanged my mind[,.:;]? (?:and )?(?P<two>[\w.@/+`-]+) (?:is|are) (?:fine|ok|okay|good|allowed)\b",
        )
    });
    if sentence.is_question() {
        return None;
    }
    let found = AGAIN.as_ref()?.captures(&sentence.masked)?;
    let name = found.name("one").or(found.name("two"))?;
    leading_name(sentence.text.get(name.range())?, name.as_str())
}

/// A contrast that is the whole sentence: "drizzle, not prisma", "tabs over spaces please".
fn find_contrast(sentence: &ProseSentence<'_>) -> Option<StatedDecision> {
    static CONTRAST: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"^(?:please |ok |okay |no, |yes, )?(?P<chosen>[\w.@/+`-]+(?: [\w.@/+`-]+)?),? (?:over|not|instead of|rather than) (?P<rejected>[\w.@/+`-]+(?: [\w.@/+`-]+)?)(?: please| pls)?[.!]?$",
        )
    });
    const VERBS: [&str; 18] = [
        "is", "are", "was", "were", "do", "does", "did", "should", "can", "will", "has", "have", "be", "would",
        "could", "why", "if", "must",
    ];
    let found = CONTRAST.as_ref()?.captures(&sentence.masked)?;
    let name = |part: &str| {
        let range = found.name(part)?.range();
        leading_name(sentence.text.get(range.clone())?, &sentence.masked[range])
    };
    let last = found["chosen"].split(' ').next_back().unwrap_or_default().to_lowercase();
    let (chosen, rejected) = (name("chosen")?, name("rejected")?);
    let is_plain = !VERBS.contains(&last.as_str()) && !is_activity(&rejected) && chosen != rejected;
    is_plain.then_some(StatedDecision { chosen, rejected: Some(rejected), state: FactState::Confirmed })
}

/// The text after a cue, as written and with code masked.
struct DecisionClause<'a> {
    text: &'a str,
    masked: &'a str,
}

impl<'a> DecisionClause<'a> {
    fn new(sentence: &'a ProseSentence<'a>, begins: usize) -> Self {
        Self { text: sentence.text.get(begins..).unwrap_or_default(), masked: &sentence.masked[begins..] }
    }

    fn leading_name(&self) -> Option<String> {
        leading_name(self.text, self.masked)
    }

    fn tail_from(&self, at: usize) -> Self {
        Self { text: self.text.get(at..).unwrap_or_default(), masked: &self.masked[at..] }
    }

    fn chosen_decision(&self) -> Option<StatedDecision> {
        let cue = REJECTED_CUE.as_ref()?.find(self.masked);
        let against = cue
            .filter(|cue| is_single_name(&self.masked[..cue.start()]))
            .and_then(|cue| self.tail_from(cue.end()).leading_name());
        let against = against.filter(|against| !is_activity(against));
        let chosen = self.leading_name().filter(|_| against.is_some() || !is_temporary(self.masked))?;
        let is_itself = against.as_ref().is_some_and(|against| *against == chosen);
        (!is_itself).then_some(StatedDecision { chosen, rejected: against, state: FactState::Confirmed })
    }

    fn replacement_decision(&self, cue: &LazyLock<Option<CuePattern>>) -> Option<StatedDecision> {
        let cue = cue.as_ref()?.find(self.masked)?;
        let against =
            leading_name(self.text.get(..cue.start())?, &self.masked[..cue.start()]).filter(|name| is_name(name))?;
        let chosen = self.tail_from(cue.end()).leading_name().filter(|name| is_name(name))?;
        (!is_definite(self.masked)).then_some(StatedDecision {
            chosen,
            rejected: Some(against),
            state: FactState::Confirmed,
        })
    }

    fn rejected_decision(&self) -> Option<StatedDecision> {
        let is_order = is_definite(self.masked) || is_temporary(self.masked);
        // A path is a file to remove, not an option.
        let chosen = self.leading_name().filter(|name| !is_order && !name.contains('/'))?;
        Some(StatedDecision { chosen, rejected: None, state: FactState::Refuted })
    }

    /// "use x instead": a bare name that replaces what was discussed.
    fn is_replacement(&self) -> bool {
        static INSTEAD: LazyLock<Option<CuePattern>> =
            LazyLock::new(|| compile_pattern(r"^(?:[\w.+#`-]+ ){1,2}instead[.!]*$"));
        !is_definite(self.masked) && INSTEAD.as_ref().is_some_and(|instead| instead.is_match(self.masked))
    }

    /// "use x for the index": a bare name for a part of the project, without an immediate action.
    fn has_purpose(&self) -> bool {
        static PURPOSE: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
            compile_pattern(r"^(?:[\w.+#`-]+ ){1,2}for (?:the|our|all|every) [a-z]+(?: [a-z]+)?[.!]?$")
        });
        PURPOSE.as_ref().is_some_and(|purpose| purpose.is_match(self.masked))
    }
}

/// Whether a text starts with a definite noun, which is used rather than chosen.
fn is_definite(masked: &str) -> bool {
    let first = masked.split_whitespace().next().unwrap_or_default().to_lowercase();
    matches!(first.as_str(), "the" | "this" | "that" | "these" | "those" | "my" | "your" | "it" | "its" | "both")
}

/// Whether a text names a temporary target or a one-time action rather than a decision.
fn is_temporary(masked: &str) -> bool {
    static PASSING: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"^(?:\S+ ){0,3}(?:branch|main|master|tab|folder|directory|window|session|page|file|line|screen|
                next|test|commit|review|step|pass|round|time|look|check|rest|run|quick \w+)\b",
        )
    });
    PASSING.as_ref().is_some_and(|passing| passing.is_match(masked))
}

/// Whether the words before "instead of" are a single name, so that what follows is the alternative.
fn is_single_name(masked: &str) -> bool {
    static BREAK: LazyLock<Option<CuePattern>> =
        LazyLock::new(|| compile_pattern(r"[,;:!—–]| - |\. |\b(?:to|because|since|that|which|when|so|if|and)\b"));
    BREAK.as_ref().is_some_and(|breaks| !breaks.is_match(masked))
}

/// Whether a name is an activity, such as "calling".
fn is_activity(name: &str) -> bool {
    let first = name.split(' ').next().unwrap_or_default();
    first.len() > 5 && first.ends_with("ing")
}

/// Whether a text is a name rather than a description.
fn is_name(thing: &str) -> bool {
    thing.split(' ').count() <= 2
}

#[cfg(test)]
mod tests {
    use super::super::sentences::split_sentences;
    use super::*;

    fn shown(text: &str) -> Option<String> {
        let made = find_decision(&split_sentences(&[text])[0])?;
        let sign = if made.state == FactState::Confirmed { "+" } else { "-" };
        let against = made.rejected.map(|against| format!(" / {against}")).unwrap_or_default();
        Some(format!("{sign}{}{against}", made.chosen))
    }

    #[test]
    fn decisions_are_found_by_their_wording() {
        for (text, expected) in [
            ("use httpx instead of requests in the fetcher", "+httpx / requests"),
            ("let's go with postgres because of the locks", "+postgres"),
            ("For secrets we'll go with Vault.", "+vault"),
            ("ok so lets go wiht kafka for teh events", "+kafka"),
            ("fyi we decided on gRPC for the services", "+grpc"),
            ("We're going with a hand written parser rather than pest", "+hand written parser / pest"),
            ("ok then we stick with node", "+node"),
            ("change of plan: opaque tokens instead of JWT", "+opaque tokens / jwt"),
            ("final decision: back to sqlite instead of rocksdb", "+sqlite / rocksdb"),
            ("use sqlite for the index", "+sqlite"),
            ("hmm wait, ok use Redis after all", "+redis"),
            ("I changed my mind, Redis is fine", "+redis"),
            ("actually use pnpm instead", "+pnpm"),
            ("swap moment for dayjs", "+dayjs / moment"),
            ("drop webpack in favour of vite", "+vite / webpack"),
            ("we'll switch to pnpm", "+pnpm"),
            ("don't use regex for this, it breaks", "-regex"),
            ("no, not lodash", "-lodash"),
            ("let's not use docker", "-docker"),
            ("I’d rather use zod than joi", "+zod / joi"),
            ("drizzle, not prisma", "+drizzle / prisma"),
            ("pino over winston please", "+pino / winston"),
            ("no websockets here, too fragile", "-websockets"),
            ("no redux here please, the state is enough", "-redux"),
            ("yep, cursor pagination it is", "+cursor pagination"),
            ("I'm going for zod", "+zod"),
            ("forget about the websocket thing, polling is plenty", "-websocket thing"),
            ("scrap mongo for the audit log", "-mongo"),
            ("let's drop support for python 3.8", "-python 3.8"),
            ("let's drop sequelize because its hooks confuse us", "-sequelize"),
        ] {
            assert_eq!(shown(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn instructions_are_not_decisions() {
        for text in [
            "use the read tool on main.rs, dont cat it",
            "run it with --release and use 4 threads",
            "use 5 as the limit for now",
            "let's use the other file",
            "switch to main and pull",
            "let's move to the next step",
            "go with it",
            "use the other file instead",
            "check the ticket and then go with the approach in there",
            "don't run the migration, just show me the sql",
            "we use angular here",
            "drop the table",
            "use brave search to find the answer",
            "let's do a quick check",
            "make it read the cache first rather than asking the server",
            "Load and use `presets` for all charts",
            "replace the header with a single link",
            "why did you use axios instead of fetch",
            "show the name instead of the id",
            "tests are not green",
            "it does not work",
        ] {
            assert_eq!(shown(text), None, "{text}");
        }
    }

    #[test]
    fn every_table_row_compiles() {
        assert!(DECISION_ROWS.is_complete(DECISION_TABLE.len()));
    }
}
