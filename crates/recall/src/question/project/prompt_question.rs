//! Recognizes a prompt that asks what is remembered about the project: what was decided, fixed, caused or done.

use super::MemoryKind::{Cause, Decision, Fix, Preference, Requirement};
use super::quotes::is_question;
use super::shape::QuestionShape;

/// A longer prompt asks for work, and its question is beside that.
const MAX_PROMPT_CHARS: usize = 240;
/// Maximum number of words beside the question.
const MAX_OTHER_WORDS: usize = 12;
/// From this likelihood on, the wording asks for a memory.
pub(super) const LIKELY: f32 = 0.6;
/// From this likelihood on, the wording alone shows it.
pub(super) const CLEAR: f32 = 0.77;

/// Words before a question.
const LEADS: &str = "so and ok okay hey but btw also hmm wait again quick question sorry um well please";
/// Phrases before a question that ask for a memory.
const REMINDER_LEADS: [&str; 16] = [
    "do you remember",
    "do you recall",
    "can you remind me",
    "could you remind me",
    "can you tell me",
    "refresh my memory",
    "remind me again",
    "remind me",
    "tell me again",
    "tell me",
    "any idea",
    "i forgot",
    "i forget",
    "i can't remember",
    "i don't remember",
    "not sure anymore",
];
/// Other words for choosing, and for what a team has chosen.
const IDIOMS: [(&str, &str); 14] = [
    (" end up with", " choose"),
    (" end up using", " choose"),
    (" end up on", " choose"),
    (" ended up with", " chose"),
    (" go for", " choose"),
    (" went for", " chose"),
    (" land on", " choose"),
    (" landed on", " chose"),
    (" opt for", " choose"),
    (" settle for", " choose"),
    (" settle on", " choose"),
    (" are we on", " do we use"),
    (" we're on", " we use"),
    (" we are on", " we use"),
];
/// Openings of questions that `is_question` does not know.
const OPENINGS: [&str; 13] = [
    "since when",
    "for what",
    "for which",
    "in which",
    "may",
    "shall",
    "am",
    "were",
    "aren't",
    "wouldn't",
    "root cause",
    "cause of",
    "reason for",
];
/// Openings that ask for what happened, without a verb.
const BARE_CAUSES: [&str; 4] = ["root cause", "cause of", "the cause of", "reason for"];
/// Openings of requests that look like questions.
const REQUESTS: [&str; 9] =
    ["can you", "could you", "would you", "will you", "can u", "do you", "are you", "would it be possible", "can it"];
/// Openings of questions about a time. "When I type this" is not one.
const WHEN_OPENINGS: [&str; 12] = [
    "when did ",
    "when was ",
    "when were ",
    "when do ",
    "when have ",
    "when had ",
    "since when",
    "what day",
    "what date",
    "which day",
    "how long ago",
    "how recently",
];
/// Words of a request that asks for a memory: "can you remind me".
const REMINDERS: &str = "remind recall remember recap";
/// Words for those who work on the project.
const OURS: &str = "we we're we've we'd we'll our ours us i i'm i've i'd my project repo repository codebase stack \
    convention conventions guideline guidelines policy rule rules";
/// Words that ask about the past.
const PAST: &str = "took got ran went kept did was were had didn't wasn't weren't made caused broke fixed solved resolved helped happened been";
/// Words that show something did not work.
const FAULTS: &str = "wrong broken broke break breaks bug bugs error errors fail fails failed failing failure crash crashes \
    crashed slow timeout problem problems issue issues fix fixed leak hang hangs down missing";

/// A question about what is remembered.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryQuestion {
    /// The question in lower case, without what stands before it.
    pub(super) text: String,
    pub(super) shape: QuestionShape,
    /// Whether it is about those who work on the project.
    pub(super) is_ours: bool,
    /// Whether it is about the past.
    pub(super) is_past: bool,
    /// Whether it is about something that did not work.
    pub(super) has_fault: bool,
}

impl MemoryQuestion {
    /// The question of a short prompt; `None` for requests, statements, and questions of other kinds.
    pub fn find(prompt: &str) -> Option<Self> {
        let prompt = prompt.trim();
        if prompt.chars().count() > MAX_PROMPT_CHARS || prompt.contains("```") {
            return None;
        }
        let sentences = sentences(prompt);
        let (at, text) = sentences.iter().enumerate().find_map(|(at, one)| Some((at, asked(one)?)))?;
        let others = sentences.iter().enumerate().filter(|(other, _)| *other != at);
        if others.map(|(_, other)| other.split_whitespace().count()).sum::<usize>() > MAX_OTHER_WORDS {
            return None;
        }
        let shape = QuestionShape::parse(&text);
        let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '\'').collect();
        let has = |list: &str| words.iter().any(|word| is_listed(list, word));
        // What the agent itself did is in its context.
        if has("you your you've") && !has("we we've our us") {
            return None;
        }
        let is_reminder = REMINDER_LEADS.iter().any(|lead| prompt.to_lowercase().contains(lead));
        let is_past = has(PAST) || is_reminder || BARE_CAUSES.iter().any(|opening| text.starts_with(opening));
        let question = Self { is_ours: has(OURS), is_past, has_fault: has(FAULTS), shape, text: text.clone() };
        question.asks_memory().then_some(question)
    }

    /// The question in lower case.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What its wording says about the answer.
    pub fn shape(&self) -> &QuestionShape {
        &self.shape
    }

    /// Whether it asks when something happened.
    pub fn asks_when(&self) -> bool {
        WHEN_OPENINGS.iter().any(|opening| self.text.starts_with(opening))
    }

    /// Whether it asks for what a human decided or wants.
    pub(super) fn asks_for_verdict(&self) -> bool {
        let verdict = self.verdict();
        let others = [Fix, Cause, Requirement].map(|kind| self.shape.likelihood(kind));
        self.is_bare_why() || verdict >= LIKELY && others.into_iter().all(|other| other <= verdict)
    }

    /// Whether it only asks why something is used: "why postgres?".
    fn is_bare_why(&self) -> bool {
        self.text.starts_with("why ") && self.text.split_whitespace().count() <= 3
    }

    /// Whether it asks which thing is used: "what do we use for X", "who is our provider", "how do users sign in".
    pub fn asks_which(&self) -> bool {
        let openings =
            ["what ", "what's ", "which ", "where ", "who's our ", "who is our ", "how do ", "how is ", "in which "];
        let is_use = !self.has_fault && !self.asks_when() && !self.shape.asks_why;
        is_use
            && openings.iter().any(|opening| self.text.starts_with(opening))
            && (self.is_ours || self.asks_which_here())
    }

    /// Whether only an answer with a number can be right: "which version of postgres", "how many retries".
    pub(super) fn asks_for_number(&self) -> bool {
        const OPENINGS: [&str; 6] =
            ["how many ", "how much ", "how big ", "how large ", "how long may ", "how long should "];
        let words = self.text.split(|c: char| !c.is_alphanumeric());
        OPENINGS.iter().any(|opening| self.text.starts_with(opening))
            || !self.asks_when()
                && words.clone().any(|word| is_listed("version versions port ports", word))
                && words.clone().any(|word| is_listed("which what", word))
    }

    /// Whether it asks whether something is wanted: "should X have Y", "X or Y".
    pub(super) fn asks_whether(&self) -> bool {
        let first = self.text.split_whitespace().next().unwrap_or_default();
        is_listed("should shall may must do does are is can", first)
    }

    /// Whether it asks which of something is used, and means that of the project: "what runs the jobs".
    pub(super) fn asks_which_here(&self) -> bool {
        let begins = ["what ", "what's ", "which ", "where "].iter().any(|opening| self.text.starts_with(opening));
        let defines = ["what is a ", "what is an ", "what's a ", "what's an ", "what are "];
        let is_here = self.text.contains(" the ") || self.text.contains(" this ");
        begins && is_here && !defines.iter().any(|opening| self.text.starts_with(opening))
    }

    /// How likely it asks for a decision or a preference.
    pub(super) fn verdict(&self) -> f32 {
        self.shape.likelihood(Decision).max(self.shape.likelihood(Preference))
    }

    fn asks_memory(&self) -> bool {
        let is_about_us = self.is_ours || self.is_past;
        is_about_us || self.asks_for_verdict() || self.asks_which_here() || self.asks_whether()
    }
}

/// The sentences of a text. A full stop inside a name does not end one.
fn sentences(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut rest = text;
    while let Some(at) = rest
        .char_indices()
        .find(|(at, c)| {
            *c == '\n' || ".?!".contains(*c) && rest[at + 1..].chars().next().is_none_or(char::is_whitespace)
        })
        .map(|(at, _)| at + 1)
    {
        all.push(rest[..at].trim());
        rest = &rest[at..];
    }
    all.push(rest.trim());
    all.retain(|sentence| sentence.chars().any(char::is_alphanumeric));
    all
}

/// A sentence in lower case without what stands before the question, if it asks something.
fn asked(sentence: &str) -> Option<String> {
    let lower = sentence.to_lowercase().replace('’', "'");
    let mut bare = lower.as_str();
    while let Some((first, rest)) = bare.split_once(|c: char| c.is_whitespace() || c == ',') {
        if !first.is_empty() && !is_listed(LEADS, first) {
            break;
        }
        bare = rest;
    }
    let lead =
        REMINDER_LEADS.iter().find_map(|lead| bare.strip_prefix(lead)).filter(|rest| rest.starts_with([' ', ',', ':']));
    let reminded = lead.map(|rest| rest.trim_start_matches([' ', ',', ':'])).filter(|rest| !rest.is_empty());
    let bare = reminded.unwrap_or(bare);
    let plain = IDIOMS.iter().fold(bare.to_owned(), |text, (idiom, plain)| replace_words(&text, idiom, plain));
    let bare = plain.as_str();
    let begins = |opening: &str| bare.strip_prefix(opening).is_some_and(|rest| rest.starts_with(' '));
    if let Some(request) = REQUESTS.into_iter().find(|request| begins(request)) {
        let next = bare[request.len()..].split_whitespace().next().unwrap_or_default();
        return is_listed(REMINDERS, next).then(|| bare.to_owned());
    }
    (reminded.is_some() || is_question(bare) || OPENINGS.into_iter().any(begins)).then(|| bare.to_owned())
}

/// A question without the words that only lead to it, such as "refresh my memory,".
pub fn without_lead(question: &str) -> &str {
    let lower = question.to_lowercase();
    let lead = REMINDER_LEADS.iter().find(|lead| lower.starts_with(*lead));
    let rest = lead.and_then(|lead| question.get(lead.len()..)).filter(|rest| rest.starts_with([' ', ',', ':']));
    rest.map(|rest| rest.trim_start_matches([' ', ',', ':'])).filter(|rest| rest.contains(' ')).unwrap_or(question)
}

/// Replaces words where they are followed by the end of a word.
fn replace_words(text: &str, words: &str, by: &str) -> String {
    match text.find(words) {
        Some(at) if !text[at + words.len()..].starts_with(char::is_alphanumeric) => {
            format!("{}{by}{}", &text[..at], &text[at + words.len()..])
        }
        _ => text.to_owned(),
    }
}

fn is_listed(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_about_the_project_differ_from_requests() {
        let text = |prompt: &str| MemoryQuestion::find(prompt).map(|question| question.text);
        assert_eq!(text("So, which http client do we use?").as_deref(), Some("which http client do we use?"));
        assert_eq!(text("I'm back. Why no redis?").as_deref(), Some("why no redis?"));
        assert_eq!(text("should we run on fly.io or vercel").as_deref(), Some("should we run on fly.io or vercel"));
        for prompt in
            ["add retries to the client", "can you add axios?", "how does jsonb indexing work in postgres?", "thanks"]
        {
            assert_eq!(text(prompt), None, "{prompt}");
        }
        assert_eq!(text("do you remember why the login failed?").as_deref(), Some("why the login failed?"));
        assert_eq!(text("which router are we on?").as_deref(), Some("which router do we use?"));
        assert_eq!(text("which map did we end up with?").as_deref(), Some("which map did we choose?"));
        assert!(text("root cause of the nightly outage?").is_some());
        let number = |prompt: &str| MemoryQuestion::find(prompt).is_some_and(|question| question.asks_for_number());
        assert!(number("which postgres version do we use?") && !number("which database do we use?"));
        let long = format!("{} Which one did we pick?", "The importer reads the file line by line. ".repeat(3));
        assert_eq!(text(&long), None);
    }
}
