//! What the wording of a question says about its answer. English; other languages simply give no cue.

/// What a question says about its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cues {
    /// "Where did I …": someone asks about what they said themselves.
    pub(crate) of_self: bool,
    /// "You suggested …": someone asks about what the agent said.
    pub(crate) of_agent: bool,
    /// "When did …": the answer says a time.
    pub(crate) when: bool,
}

impl Cues {
    pub(crate) fn of(question: &str) -> Self {
        let words: Vec<String> = question
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let of_agent = of_agent(&words);
        let of_self = words.iter().any(|word| matches!(*word, "i" | "my" | "me" | "mine" | "we" | "our"));
        Self { of_self: of_self && !of_agent, of_agent, when: asks_when(&words) }
    }
}

fn of_agent(words: &[&str]) -> bool {
    const SAID: [&str; 12] = [
        "mentioned",
        "told",
        "said",
        "suggested",
        "recommended",
        "gave",
        "wrote",
        "provided",
        "listed",
        "described",
        "outlined",
        "explained",
    ];
    let said = words.windows(2).any(|pair| pair[0] == "you" && SAID.contains(&pair[1]));
    let remind = words.windows(2).any(|pair| pair == ["remind", "me"]);
    let talk = |word: &str| matches!(word, "conversation" | "chat" | "discussion");
    let previous = words.windows(2).any(|pair| pair[0] == "previous" && talk(pair[1]));
    let our_last =
        words.windows(3).any(|three| three[0] == "our" && matches!(three[1], "last" | "earlier") && talk(three[2]));
    said || remind || previous || our_last
}

fn asks_when(words: &[&str]) -> bool {
    match words {
        ["when", ..] | ["in", "which", ..] | ["how", "long", ..] => true,
        ["what", unit, ..] => matches!(*unit, "date" | "day" | "month" | "year"),
        ["which", unit, ..] => matches!(*unit, "month" | "year" | "day"),
        ["how", "many", unit, ..] => matches!(*unit, "days" | "weeks" | "months" | "years"),
        _ => false,
    }
}

/// How much a word of a question counts, in lower case: what frames a question says less about the answer.
pub(crate) fn weight_of(word: &str) -> f32 {
    const FAINT_WEIGHT: f32 = 0.15;
    const FRAME_WEIGHT: f32 = 0.5;
    if FAINT.binary_search(&word).is_ok() {
        FAINT_WEIGHT
    } else if FRAME.binary_search(&word).is_ok() {
        FRAME_WEIGHT
    } else {
        1.0
    }
}

/// Almost nothing in prose, something in code: `make`, `go`, `type`. Sorted.
const FAINT: [&str; 33] = [
    "anything",
    "cannot",
    "done",
    "else",
    "get",
    "gets",
    "getting",
    "go",
    "goes",
    "going",
    "gone",
    "got",
    "kind",
    "let",
    "like",
    "lot",
    "make",
    "mentioned",
    "one",
    "please",
    "quite",
    "really",
    "said",
    "say",
    "someone",
    "something",
    "tell",
    "thing",
    "things",
    "type",
    "won",
    "yeah",
    "yes",
];

/// Words that frame a question. Sorted.
const FRAME: [&str; 66] = [
    "according",
    "amount",
    "besides",
    "called",
    "came",
    "certain",
    "chat",
    "come",
    "consider",
    "considered",
    "considering",
    "conversation",
    "conversations",
    "current",
    "currently",
    "describe",
    "described",
    "different",
    "discuss",
    "discussed",
    "example",
    "first",
    "gave",
    "give",
    "given",
    "happen",
    "happened",
    "happening",
    "last",
    "long",
    "made",
    "main",
    "many",
    "mention",
    "name",
    "named",
    "names",
    "number",
    "particular",
    "particularly",
    "plan",
    "planning",
    "plans",
    "previous",
    "previously",
    "receive",
    "received",
    "recent",
    "recently",
    "remember",
    "remind",
    "see",
    "specific",
    "specifically",
    "take",
    "taken",
    "took",
    "total",
    "use",
    "used",
    "using",
    "various",
    "way",
    "ways",
    "went",
    "whole",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn check(question: &str, expect: &str) {
        let cues = Cues::of(question);
        let told = [(cues.of_self, "self"), (cues.of_agent, "agent"), (cues.when, "when")];
        let told: Vec<&str> = told.iter().filter(|(is, _)| *is).map(|(_, name)| *name).collect();
        assert_eq!(told.join(" "), expect, "{question:?}");
    }

    #[test]
    fn the_wording_says_who_said_it_and_what_kind_of_answer_is_meant() {
        check("fix parser", "");
        check("What did I say about the parser?", "self");
        check("Which library you suggested, I forgot", "agent");
        check("Can you remind me of the flag", "agent");
        check("When did we merge it?", "self when");
        check("how many weeks did it take", "when");
        check("in our last chat, the port", "agent");
    }

    #[test]
    fn words_are_sorted_so_that_they_can_be_looked_up() {
        assert!(FAINT.is_sorted() && FRAME.is_sorted());
        assert!(weight_of("make") < weight_of("number") && weight_of("number") < weight_of("parser"));
    }
}
