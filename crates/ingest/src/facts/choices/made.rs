//! Sentences in which a human makes a choice between ways, by a table of how that is said.

use std::sync::LazyLock;

use regex::Regex;
use rethread_model::FactState;

use super::cues::{is_stated, pattern};
use super::phrase::thing;
use super::sentences::Sentence;

/// A choice as a sentence states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Made {
    /// What was chosen or turned down.
    pub(super) chosen: String,
    /// What it was chosen against.
    pub(super) against: Option<String>,
    /// Accepted or rejected.
    pub(super) state: FactState,
}

/// What stands after a cue.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// What was chosen.
    Chosen,
    /// What was chosen, unless it is a thing at hand: that is an order.
    Named,
    /// What was chosen, and then what it was chosen against; without the second it is only an order.
    ChosenAgainst,
    /// What is left, and after "for" what is chosen.
    Swapped,
    /// What is left, and after "in favour of" what is chosen.
    Dropped,
    /// What is turned down.
    Rejected,
}

/// How a choice begins. `^` stands for the beginning of a clause; the first row that fits decides.
const TABLE: &[(&str, Shape)] = &[
    (
        r"^(let's|we|we'll|we will|i'll|i|we should|you should)?(?: just)? ?(?:not going|not go|do not go|
            don't go|won't go) with ",
        Shape::Rejected,
    ),
    (r"^(?:let's not|we won't|we will not|we are not|we're not|we do not|we don't) (?:use|using) ", Shape::Rejected),
    (r"^(?:please )?(?:don't|do not) use (?P<rest>[^,.;]{2,40}? (?:for this|for that|here)\b)", Shape::Rejected),
    (r"^(?:no|nope|nah),? not ", Shape::Rejected),
    (r"^(?:swap out|swap|exchange) ", Shape::Swapped),
    (r"^(?:let's |we'll |we |i'll )?drop ", Shape::Dropped),
    (r"\b(?:let's|we'll|we will|we are|we're)(?: just)? (?:go|going|gonna go) (?:with|wiht|wtih) ", Shape::Chosen),
    (
        r"^(?:let's|we|we'll|we will|we are|we're|i'll|i will|i'd|i would)?(?: just| rather)? ?(?:go|going|
            gonna go) (?:with|wiht|wtih) ",
        Shape::Chosen,
    ),
    (
        r"\bwe(?:'ve| have)?(?: all| now| finally)? (?:decided|settled|agreed) (?:on|for|to use|to go with|
            to adopt|to switch to|to move to) (?:using )?",
        Shape::Chosen,
    ),
    (r"^i(?:'ve| have)? decided (?:on|to use|to go with) ", Shape::Chosen),
    (r"^(?:let's|we|we'll|we will|i'll|i)?(?: just)? ?(?:stick|stay|sticking|staying) with ", Shape::Chosen),
    (
        r"^(?:let's|we'll|we will|please|we're|we are)? ?(?:switch|switching|move|moving|migrate) (?:over )?to ",
        Shape::Chosen,
    ),
    (r"^(?:let's|we'll|we will) (?:just )?(?:use|adopt|choose|pick|take) ", Shape::Named),
    (r"^(?:i'd|i would|we'd) rather (?:use|have|go with|do) ", Shape::Named),
    (
        r"^(?:use|take|pick|choose|adopt|i want|we want|want|we use|we'll use|it should use|please use|just use|
            have it use|back to|go back to|let's go back to) ",
        Shape::ChosenAgainst,
    ),
    (
        r"^(?:change of plan|new plan|final decision|decision|decided):? (?:use |we use |back to |let's use )?",
        Shape::Chosen,
    ),
];

/// What the choice was made against.
const AGAINST: &str = r",? (?:instead of|rather than|than|over|and not|in place of|not) ";

static ROWS: LazyLock<Vec<(Regex, Shape)>> = LazyLock::new(|| {
    let row = |(table, shape): &(&str, Shape)| {
        let clause = r"(?:^|[,;:—–] ?|\. |\b(?:and|but|so|then|ok|okay|no|hm|actually|pls|please|yes|yeah|
            alright|fine|instead|also|whatever),? )";
        let table = table.strip_prefix('^').map_or_else(|| (*table).to_owned(), |rest| format!("{clause}(?:{rest})"));
        Some((pattern(&table)?, *shape))
    };
    TABLE.iter().filter_map(row).collect()
});
static AGAINST_CUE: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(AGAINST));
static SWAPPED_FOR: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r" (?:for|with) "));
static DROPPED_FOR: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r" (?:in favou?r of|and (?:use|keep|go with|stick with)) "));

/// The choice a sentence makes, if it makes one.
pub(super) fn made(sentence: &Sentence<'_>) -> Option<Made> {
    if !is_stated(sentence) {
        return None;
    }
    ROWS.iter().find_map(|(row, shape)| {
        let cue = row.captures(&sentence.masked)?;
        let whole = cue.get(0)?;
        let begins = cue.name("rest").map_or(whole.end(), |rest| rest.start());
        let rest = Clause::new(sentence, begins);
        match shape {
            Shape::Chosen => rest.chosen(),
            Shape::Named => rest.chosen().filter(|made| made.against.is_some() || !is_definite(rest.masked)),
            Shape::ChosenAgainst => {
                let is_told = whole.start() == 0 && rest.is_for_a_purpose() || rest.is_in_place();
                rest.chosen().filter(|made| made.against.is_some() || is_told)
            }
            Shape::Swapped => rest.exchanged(&SWAPPED_FOR),
            Shape::Dropped => rest.exchanged(&DROPPED_FOR),
            Shape::Rejected => rest.rejected(),
        }
    })
}

/// What follows a cue, as written and with code blotted out.
struct Clause<'a> {
    text: &'a str,
    masked: &'a str,
}

impl<'a> Clause<'a> {
    fn new(sentence: &'a Sentence<'a>, begins: usize) -> Self {
        Self { text: sentence.text.get(begins..).unwrap_or_default(), masked: &sentence.masked[begins..] }
    }

    fn thing(&self) -> Option<String> {
        thing(self.text, self.masked)
    }

    fn from(&self, at: usize) -> Self {
        Self { text: self.text.get(at..).unwrap_or_default(), masked: &self.masked[at..] }
    }

    fn chosen(&self) -> Option<Made> {
        let cue = AGAINST_CUE.as_ref()?.find(self.masked);
        let against =
            cue.filter(|cue| is_one_thing(&self.masked[..cue.start()])).and_then(|cue| self.from(cue.end()).thing());
        let against = against.filter(|against| !is_deed(against));
        let chosen = self.thing().filter(|_| against.is_some() || !is_passing(self.masked))?;
        let is_itself = against.as_ref().is_some_and(|against| *against == chosen);
        (!is_itself).then_some(Made { chosen, against, state: FactState::Confirmed })
    }

    fn exchanged(&self, cue: &LazyLock<Option<Regex>>) -> Option<Made> {
        let cue = cue.as_ref()?.find(self.masked)?;
        let against = thing(self.text.get(..cue.start())?, &self.masked[..cue.start()]).filter(|name| is_name(name))?;
        let chosen = self.from(cue.end()).thing().filter(|name| is_name(name))?;
        (!is_definite(self.masked)).then_some(Made { chosen, against: Some(against), state: FactState::Confirmed })
    }

    fn rejected(&self) -> Option<Made> {
        let is_order = is_definite(self.masked) || is_passing(self.masked);
        let chosen = self.thing().filter(|_| !is_order)?;
        Some(Made { chosen, against: None, state: FactState::Refuted })
    }

    /// "use x instead": a bare name in place of what was talked about.
    fn is_in_place(&self) -> bool {
        static INSTEAD: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"^(?:[\w.+#`-]+ ){1,2}instead[.!]*$"));
        !is_definite(self.masked) && INSTEAD.as_ref().is_some_and(|instead| instead.is_match(self.masked))
    }

    /// "use x for the index": a bare name for a thing of the project, and nothing to be done with it at once.
    fn is_for_a_purpose(&self) -> bool {
        static PURPOSE: LazyLock<Option<Regex>> =
            LazyLock::new(|| pattern(r"^(?:[\w.+#`-]+ ){1,2}for (?:the|our|all|every) [a-z]+(?: [a-z]+)?[.!]?$"));
        PURPOSE.as_ref().is_some_and(|purpose| purpose.is_match(self.masked))
    }
}

/// Whether a text begins with a thing at hand, which is used rather than chosen.
fn is_definite(masked: &str) -> bool {
    let first = masked.split_whitespace().next().unwrap_or_default().to_lowercase();
    matches!(first.as_str(), "the" | "this" | "that" | "these" | "those" | "my" | "your" | "it" | "its" | "both")
}

/// Whether a text names something that one moves to in passing, or does once, rather than chooses.
fn is_passing(masked: &str) -> bool {
    static PASSING: LazyLock<Option<Regex>> = LazyLock::new(|| {
        pattern(
            r"^(?:\S+ ){0,3}(?:branch|main|master|tab|folder|directory|window|session|page|file|line|screen|
                next|test|commit|review|step|pass|round|time|look|check|rest|run|quick \w+)\b",
        )
    });
    PASSING.as_ref().is_some_and(|passing| passing.is_match(masked))
}

/// Whether the words before "instead of" name one thing, so that what follows is its opposite.
fn is_one_thing(masked: &str) -> bool {
    static BREAK: LazyLock<Option<Regex>> =
        LazyLock::new(|| pattern(r"[,;:!—–]| - |\. |\b(?:to|because|since|that|which|when|so|if|and)\b"));
    BREAK.as_ref().is_some_and(|breaks| !breaks.is_match(masked))
}

/// Whether a name is of something done, such as "calling".
fn is_deed(name: &str) -> bool {
    let first = name.split(' ').next().unwrap_or_default();
    first.len() > 5 && first.ends_with("ing")
}

/// Whether something is called by a name rather than described.
fn is_name(thing: &str) -> bool {
    thing.split(' ').count() <= 2
}

#[cfg(test)]
mod tests {
    use super::super::sentences::split;
    use super::*;

    fn shown(text: &str) -> Option<String> {
        let made = made(&split(&[text])[0])?;
        let sign = if made.state == FactState::Confirmed { "+" } else { "-" };
        let against = made.against.map(|against| format!(" / {against}")).unwrap_or_default();
        Some(format!("{sign}{}{against}", made.chosen))
    }

    #[test]
    fn choices_are_known_by_how_they_are_said() {
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
            ("actually use pnpm instead", "+pnpm"),
            ("swap moment for dayjs", "+dayjs / moment"),
            ("drop webpack in favour of vite", "+vite / webpack"),
            ("we'll switch to pnpm", "+pnpm"),
            ("don't use regex for this, it breaks", "-regex"),
            ("no, not lodash", "-lodash"),
            ("let's not use docker", "-docker"),
            ("I’d rather use zod than joi", "+zod / joi"),
        ] {
            assert_eq!(shown(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn orders_are_no_choices() {
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
            "let's drop support for python 3.8",
            "use brave search to find the answer",
            "let's do a quick check",
            "make it read the cache first rather than asking the server",
            "Load and use `presets` for all charts",
            "replace the header with a single link",
            "why did you use axios instead of fetch",
            "show the name instead of the id",
        ] {
            assert_eq!(shown(text), None, "{text}");
        }
    }

    #[test]
    fn every_row_of_the_table_is_a_pattern() {
        assert_eq!(ROWS.len(), TABLE.len());
    }
}
