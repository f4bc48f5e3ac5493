//! Detects what the wording of a question says about its answer. English only; other languages give no cues.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QuestionCues {
    /// "Where did I …": asks about something the user said.
    pub(crate) asks_about_self: bool,
    /// "You suggested …": asks about something the agent said.
    pub(crate) asks_about_agent: bool,
    /// "When did …": the answer contains a time.
    pub(crate) asks_when: bool,
}

impl QuestionCues {
    pub(crate) fn parse(question: &str) -> Self {
        let words: Vec<String> = question
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let asks_about_agent = is_about_agent(&words);
        let of_self = words.iter().any(|word| matches!(*word, "i" | "my" | "me" | "mine" | "we" | "our"));
        Self { asks_about_self: of_self && !asks_about_agent, asks_about_agent, asks_when: is_about_time(&words) }
    }
}

fn is_about_agent(words: &[&str]) -> bool {
    const SAYING_VERBS: [&str; 12] = [
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
    let mentions_you_said = words.windows(2).any(|pair| pair[0] == "you" && SAYING_VERBS.contains(&pair[1]));
    let remind = words.windows(2).any(|pair| pair == ["remind", "me"]);
    let is_conversation = |word: &str| matches!(word, "conversation" | "chat" | "discussion");
    let previous = words.windows(2).any(|pair| pair[0] == "previous" && is_conversation(pair[1]));
    let our_last = words
        .windows(3)
        .any(|three| three[0] == "our" && matches!(three[1], "last" | "earlier") && is_conversation(three[2]));
    mentions_you_said || remind || previous || our_last
}

fn is_about_time(words: &[&str]) -> bool {
    match words {
        ["when", ..] | ["in", "which", ..] | ["how", "long", ..] => true,
        ["what", unit, ..] => matches!(*unit, "date" | "day" | "month" | "year"),
        ["which", unit, ..] => matches!(*unit, "month" | "year" | "day"),
        ["how", "many", unit, ..] => matches!(*unit, "days" | "weeks" | "months" | "years"),
        _ => false,
    }
}

/// Weight of a lower-case word in a question, 0 to 1. Words that only frame the question count less.
pub(crate) fn word_weight(word: &str) -> f32 {
    const FAINT_WEIGHT: f32 = 0.15;
    const FRAME_WEIGHT: f32 = 0.5;
    if FAINT_WORDS.binary_search(&word).is_ok() {
        FAINT_WEIGHT
    } else if FRAMING_WORDS.binary_search(&word).is_ok() {
        FRAME_WEIGHT
    } else {
        1.0
    }
}

/// Carry almost no meaning in prose but some in code: `make`, `go`, `type`. Sorted.
const FAINT_WORDS: [&str; 34] = [
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
    "since",
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
const FRAMING_WORDS: [&str; 66] = [
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
        let cues = QuestionCues::parse(question);
        let rendered = [(cues.asks_about_self, "self"), (cues.asks_about_agent, "agent"), (cues.asks_when, "when")];
        let rendered: Vec<&str> = rendered.iter().filter(|(is, _)| *is).map(|(_, name)| *name).collect();
        assert_eq!(rendered.join(" "), expect, "{question:?}");
    }

    #[test]
    fn the_wording_shows_the_speaker_and_the_kind_of_answer() {
        check("fix parser", "");
        check("What did I say about the parser?", "self");
        check("Which library you suggested, I forgot", "agent");
        check("Can you remind me of the flag", "agent");
        check("When did we merge it?", "self when");
        check("how many weeks did it take", "when");
        check("in our last chat, the port", "agent");
    }

    #[test]
    fn the_word_tables_are_sorted_for_binary_search() {
        assert!(FAINT_WORDS.is_sorted() && FRAMING_WORDS.is_sorted());
        assert!(word_weight("make") < word_weight("number") && word_weight("number") < word_weight("parser"));
    }
}
