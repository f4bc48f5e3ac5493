//! A reply that names one of the things that were just put side by side: "maplibre, mapbox wants money per load".

use std::ops::Range;

use rethread_model::{Fact, FactState, clip};

use super::DecisionExtractor;
use super::decision::{FactPosition, TrackedDecision};
use super::names::{is_same_name, is_task, leading_name};
use super::prose::prose_lines;
use super::reasons::clause_as_reason;
use super::sentences::{ProseSentence, split_sentences};

/// Maximum number of words in a name that is picked.
const MAX_NAME_WORDS: usize = 4;
/// Maximum lengths, in bytes, of the sentence that puts names side by side, and of the whole statement.
const MAX_OFFER_BYTES: usize = 160;
const MAX_STATEMENT_BYTES: usize = 440;
/// An offer with more words says itself what it is for.
const MAX_BARE_WORDS: usize = 5;
/// A longer reply is an instruction of its own.
const MAX_REPLY_SENTENCES: usize = 4;

/// Words before a name that only lead to it.
const LEADS: &str = "ok okay yes yeah yep hm hmm right alright then so let's lets i'd i'll we'll i we just go with for use do take pick choose \
    want prefer say stay stick keep the a an plain well cool fine good great please definitely would";
/// Words right after a name with which a reply still only picks it.
const FOLLOWERS: &str = "it then please pls because since as over instead rather cause cuz for is sounds seems not";
/// Words after [`FOLLOWERS`] that make it something else: "redis for tiles would be silly", "jest is too slow".
const PRAISE: &str = "fine good ok okay enough better best great perfect simpler easier the";
/// First words of a clause that takes the name back, or asks about it.
const DOUBTS: &str = "no nope nah not really why what hmm how is does but though isn't or";
/// Words before an item of a list of alternatives.
const ITEM_LEADS: &str = "a an the either then use using with like such as plain i'd i would could can you we maybe options option are is via or on in and \
    suggest recommend consider go for both simply just by to take pick try there's compute run store keep";
/// Words after a name that keep it beside the picked one: "postgres, sqlite for the tests".
const KEPT: &str = "for in on as stays remains later too only and also where when if";

/// Words of a sentence that reports or asks what is the case, and offers nothing: "was it built by vite or webpack?"
const REPORTS: &str = "was were did is are has have had may might fails failed failing error errors crash crashes crashed see seen log logs \
    when if happens come comes came be missing";
/// Words of a reply that is not sure, sets a condition, or takes back what it said first.
const HEDGES: &str = "but though although actually wait unless if when maybe perhaps think unsure explain never hmm or";

/// Words that speak against something.
const BLAME: &str =
    "silly overkill too can't cannot doesn't isn't wrong bad costs wants heavy slow expensive pointless nonsense";

/// A name that a reply picks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PickedName {
    pub(super) name: String,
    /// The other name that the reply speaks of.
    pub(super) rejected: Option<String>,
    /// The words that put the names side by side, and the reply.
    pub(super) statement: String,
    pub(super) reason: Option<String>,
    /// Number of sentences of the reply that pick the name and say why.
    pub(super) sentence_count: usize,
}

/// The name that a reply picks from those that the model's text or the question before it put side by side.
pub(super) fn find_pick(reply: &[ProseSentence<'_>], replied: &str, asked: &str) -> Option<PickedName> {
    let first = reply.first().filter(|first| !first.is_question() && !first.is_list_item)?;
    if reply.len() > MAX_REPLY_SENTENCES || !(sets_side_by_side(replied) || sets_side_by_side(asked)) {
        return None;
    }
    let is_hedge =
        |sentence: &ProseSentence<'_>| sentence.text.split_whitespace().any(|word| is_in(bare(word), HEDGES));
    let is_taken_back =
        reply.get(1).is_some_and(|next| is_in(bare(next.text.split(' ').next().unwrap_or_default()), DOUBTS));
    if reply.iter().take(2).any(is_hedge) || is_taken_back {
        return None;
    }
    let offers = Alternatives::of(replied, asked);
    let (name, place) = picked_at(first.text, &offers)?;
    let rest = first.text[place.end..].trim_start_matches([' ', ',', '.', ';', ':', '!', '-', '—', '–']);
    let before = first.text[..place.start].trim_end().trim_end_matches("so").trim_end_matches("then");
    let own = clause_as_reason(rest).or_else(|| clause_as_reason(before));
    let next = reply.get(1).filter(|next| own.is_none() && !next.is_question());
    let next_reason = next.and_then(|next| clause_as_reason(next.text));
    let sentence_count = 1 + usize::from(next_reason.is_some());
    let said = reply[..sentence_count].iter().map(|one| one.text).collect::<Vec<_>>().join(" ");
    let statement = match offers.sentence_with(&name) {
        Some(offer) => format!("{} → {said}", clip(&offer, MAX_OFFER_BYTES)),
        None => said.clone(),
    };
    Some(PickedName {
        rejected: offers.other_in(&said, &name),
        statement: clip(&statement, MAX_STATEMENT_BYTES).into_owned(),
        reason: own.or(next_reason),
        sentence_count,
        name,
    })
}

impl DecisionExtractor {
    /// Adds the name that a reply picks, and settles the proposals that it answers.
    pub(super) fn add_pick(&mut self, pick: PickedName, position: FactPosition, facts: &mut Vec<Fact>) {
        let open = std::mem::take(&mut self.open_proposals);
        let is_picked = |known: &&TrackedDecision| is_same_name(&known.subject, &pick.name);
        let others: Vec<TrackedDecision> = open.iter().filter(|known| !is_picked(known)).cloned().collect();
        self.settle_proposals(&others, FactState::Refuted, position, facts);
        let same: Vec<TrackedDecision> = open.iter().filter(is_picked).cloned().collect();
        self.settle_proposals(&same, FactState::Superseded, position, facts);
        let mut choice = TrackedDecision::stated(pick.name, &pick.statement, position);
        choice.object = pick.rejected;
        choice.reason = pick.reason;
        self.add(choice, position, facts);
    }
}

/// Whether a text says "this or that".
pub(super) fn sets_side_by_side(text: &str) -> bool {
    [" or ", " vs ", " vs. ", " versus "].iter().any(|word| text.contains(word))
}

/// Whether a sentence offers this or that.
fn offers_choice(sentence: &str) -> bool {
    sets_side_by_side(sentence) && !sentence.split_whitespace().any(|word| is_in(bare(word), REPORTS))
}

/// The picked name and its place: at the start of the reply, or after its last "so".
fn picked_at(first: &str, offers: &Alternatives<'_>) -> Option<(String, Range<usize>)> {
    let start = lead_length(first);
    let at_start = offers.name_at(&first[start..]).filter(|name| only_picks(&first[start + name.len()..]));
    if let Some(name) = at_start {
        return Some((name.to_lowercase(), start..start + name.len()));
    }
    let (before, last) = [", so ", " so ", ", then "].iter().find_map(|so| first.rsplit_once(so))?;
    let start = first.len() - last.len();
    let name = offers.name_at(last)?;
    let after = last[name.len()..].trim_end_matches(['.', '!', ' ']);
    let is_end = after.is_empty() || [" it is", " then", " please"].contains(&after);
    (is_end && !before.is_empty()).then(|| (name.to_lowercase(), start..start + name.len()))
}

/// Length of the words that lead to a name.
fn lead_length(text: &str) -> usize {
    let mut at = 0;
    while let Some((word, _)) = text[at..].split_once(' ') {
        // "No, postgres" picks; "no postgres" does not.
        let is_no = word.ends_with([',', '.']) && is_in(bare(word), "no nope nah");
        if !is_no && !is_in(bare(word), LEADS) {
            break;
        }
        at += word.len() + 1;
    }
    at
}

/// Whether what follows a name leaves it at picking it.
fn only_picks(after: &str) -> bool {
    let after = after.trim_end_matches(['.', '!', ' ']);
    if after.is_empty() {
        return true;
    }
    let rest = after.trim_start_matches([',', ';', ':', '-', '—', '–', ' ', '.']);
    let mut words = rest.split_whitespace().map(bare);
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    if !after.starts_with(' ') || after.starts_with(" - ") || after.starts_with(" –") || after.starts_with(" —") {
        return after.starts_with([',', ';', ':', ' ']) && !is_in(first, DOUBTS);
    }
    match first {
        "is" | "sounds" | "seems" => is_in(second, PRAISE),
        "it" => second == "is" || second.is_empty(),
        "for" => rest.split(", ").next().is_some_and(|clause| clause.split_whitespace().count() <= 4),
        _ => is_in(first, FOLLOWERS),
    }
}

/// What was put side by side.
struct Alternatives<'a> {
    /// Sentences with "or", each split into its items.
    sentences: Vec<(&'a str, Vec<String>)>,
    asked: &'a str,
    /// All sentences.
    all: Vec<&'a str>,
    /// Everything that was said, in its own spelling.
    words: Vec<&'a str>,
}

impl<'a> Alternatives<'a> {
    fn of(replied: &'a str, asked: &'a str) -> Self {
        let lines: Vec<&str> = prose_lines(replied).into_iter().chain(prose_lines(asked)).collect();
        let sentences = split_sentences(&lines);
        let texts = sentences.iter().map(|sentence| sentence.text);
        let with_or = texts.clone().filter(|text| offers_choice(text)).map(|text| (text, items(text))).collect();
        let all = texts.clone().collect();
        Self { sentences: with_or, asked, all, words: texts.flat_map(str::split_whitespace).collect() }
    }

    /// The longest name of an alternative at the start of a text, as the text writes it.
    fn name_at<'t>(&self, text: &'t str) -> Option<&'t str> {
        let ends = text.char_indices().filter(|(_, c)| c.is_whitespace() || ",;:!".contains(*c)).map(|(at, _)| at);
        let stop = text.trim_end_matches(['.', '!', ' ']).len();
        let ends: Vec<usize> = ends.take(MAX_NAME_WORDS).chain([stop]).filter(|end| *end <= stop).collect();
        let names = ends.into_iter().rev().map(|end| text[..end].trim_end_matches(['.', ' ']));
        names.filter(|name| (1..=MAX_NAME_WORDS).contains(&name.split(' ').count())).find(|name| self.offers(name))
    }

    /// Whether a name is an item, or a proper name in a sentence that has some.
    fn offers(&self, name: &str) -> bool {
        let lower = name.to_lowercase();
        let is_name = lower.len() > 1
            && leading_name(&lower, &lower).is_some_and(|whole| whole == lower && !is_task(&whole))
            && lower.chars().any(char::is_alphabetic);
        is_name
            && (self.sentences.iter().any(|(_, items)| items.contains(&lower))
                || self.sentences.iter().any(|(text, _)| has_words(text, &lower)) && self.is_proper(&lower))
    }

    /// Whether the model writes the name with a capital, and the question before has it too or it stands inside of a
    /// sentence.
    fn is_proper(&self, lower: &str) -> bool {
        let is_capital = |word: &str| bare(word).chars().next().is_some_and(char::is_uppercase);
        let first = lower.split(' ').next().unwrap_or_default();
        let is_same = |word: &str| bare(word).eq_ignore_ascii_case(first) && is_capital(word);
        let is_inside = self.words.windows(2).any(|pair| is_same(pair[1]) && !pair[0].ends_with(['.', '!', '?', ':']));
        is_inside || self.words.iter().any(|word| is_same(word)) && has_words(self.asked, lower)
    }

    /// The sentence that offers a name. A short one says what for only together with the one before it.
    fn sentence_with(&self, name: &str) -> Option<String> {
        let (at, text) = self.all.iter().enumerate().find(|(_, text)| offers_choice(text) && has_words(text, name))?;
        let before =
            at.checked_sub(1).map(|at| self.all[at]).filter(|_| text.split_whitespace().count() <= MAX_BARE_WORDS);
        Some(before.map_or_else(|| (*text).to_owned(), |before| format!("{before} {text}")))
    }

    /// The other alternative that a reply speaks of, unless it is kept beside the picked one.
    fn other_in(&self, said: &str, name: &str) -> Option<String> {
        let lower = said.to_lowercase();
        let words: Vec<&str> = lower.split_whitespace().map(bare).collect();
        // "Redis for tiles would be silly" does not keep it.
        let is_blamed = words.iter().any(|word| is_in(word, BLAME));
        let is_other = |at: usize| {
            let word = words[at].trim_end_matches("'s");
            let is_kept = !is_blamed && words.get(at + 1).is_some_and(|next| is_in(next, KEPT))
                || at > 0 && is_in(words[at - 1], "keep and");
            (!is_kept && !name.split(' ').any(|own| own == word) && self.is_name_of_item(word)).then(|| word.to_owned())
        };
        (0..words.len()).find_map(is_other)
    }

    /// Whether a word is an item, or the proper name in one.
    fn is_name_of_item(&self, word: &str) -> bool {
        let is_item = |item: &String| item == word || item.split(' ').any(|part| part == word) && self.is_proper(word);
        let is_name = leading_name(word, word).is_some_and(|name| name == word) && !is_in(word, ITEM_LEADS);
        is_name && self.sentences.iter().any(|(_, items)| items.iter().any(is_item))
    }
}

/// The things that a sentence puts side by side, in lower case.
fn items(sentence: &str) -> Vec<String> {
    let lower = sentence.to_lowercase();
    let mut joined = lower.as_str().to_owned();
    for word in [" or ", " vs. ", " vs ", " versus ", ": ", "; ", " (", "? "] {
        joined = joined.replace(word, ", ");
    }
    let item = |part: &str| {
        let mut part = part.trim_matches(|c: char| c.is_whitespace() || ",.?!)*`\"".contains(c));
        while let Some((_, rest)) = part.split_once(' ').filter(|(first, _)| is_in(first, ITEM_LEADS)) {
            part = rest;
        }
        part.to_owned()
    };
    joined.split(", ").map(item).filter(|item| !item.is_empty()).collect()
}

/// Whether a text has a name as whole words.
fn has_words(text: &str, name: &str) -> bool {
    let words: Vec<String> = text.split_whitespace().map(|word| bare(word).to_lowercase()).collect();
    let name: Vec<&str> = name.split(' ').collect();
    words.windows(name.len()).any(|window| window.iter().zip(&name).all(|(word, own)| word == own))
}

fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

fn is_in(word: &str, table: &str) -> bool {
    !word.is_empty() && table.split_ascii_whitespace().any(|known| known.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::super::prose::human_prose;
    use super::*;

    fn picked(asked: &str, replied: &str, reply: &str) -> Option<(String, Option<String>, Option<String>)> {
        let lines = human_prose(reply);
        let found = find_pick(&split_sentences(&lines), replied, asked)?;
        Some((found.name, found.rejected, found.reason))
    }

    #[test]
    fn a_reply_picks_what_was_put_side_by_side() {
        for (asked, replied, reply, name, rejected, reason) in [
            (
                "",
                "I'd use Leaflet, Mapbox GL or MapLibre.",
                "maplibre, mapbox wants money per load",
                "maplibre",
                "mapbox",
                "mapbox wants money per load",
            ),
            (
                "Rust or Go?",
                "Go compiles faster.",
                "Go. nobody here knows Rust well enough",
                "go",
                "rust",
                "nobody here knows Rust well enough",
            ),
            (
                "",
                "Varnish in front, or an nginx proxy cache, or Redis.",
                "nginx proxy cache. redis would be silly, they're files",
                "nginx proxy cache",
                "redis",
                "redis would be silly, they're files",
            ),
            (
                "compute it on the fly or precompute?",
                "Both work.",
                "precompute, the raster doesn't fit in RAM",
                "precompute",
                "",
                "the raster doesn't fit in RAM",
            ),
            (
                "",
                "Stripe or Paddle. I propose Stripe.",
                "paddle handles VAT for us, so paddle",
                "paddle",
                "",
                "paddle handles VAT for us",
            ),
            ("", "SQLite or Postgres would work.", "postgres for production, sqlite for the tests", "postgres", "", ""),
            (
                "kafka or nats?",
                "Kafka is the standard.",
                "let's go with nats because one binary is enough",
                "nats",
                "",
                "one binary is enough",
            ),
        ] {
            let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            assert_eq!(picked(asked, replied, reply), Some((name.to_owned(), some(rejected), some(reason))), "{reply}");
        }
    }

    #[test]
    fn a_reply_about_something_else_picks_nothing() {
        for (replied, reply) in [
            ("Redis or Memcached would do.", "redis? why"),
            ("Redis or Memcached would do.", "redis is too slow for this"),
            ("Redis or Memcached would do.", "redis, no way"),
            ("Redis or Memcached would do.", "redis for the sessions of the mobile app would be silly"),
            ("Tests pass. Should I commit or push?", "tests, please run them again"),
            ("I can fix the tests or leave them.", "run the linter first"),
            ("It fails if the file is empty or missing.", "ok, fix it"),
            ("Done.", "maplibre, please"),
            ("It fails with Node or Bun when Vite is missing.", "bun, same error again"),
            ("Could be either nginx or Caddy.", "caddy. it restarts every minute"),
            ("Was the dump made by MySQL or MariaDB?", "mariadb"),
            ("Is this React or Vue?", "vue"),
            ("Which one do you see in the logs, jest or vitest?", "jest, in the old package"),
            ("Kafka or NATS would do.", "kafka sounds good but I want to think about it"),
            ("Kafka or NATS would do.", "kafka it is. actually no, nats"),
            ("Redis or Memcached would do.", "redis since when do we have that"),
            ("Redis or Memcached would do.", "redis, if it is already installed"),
            ("Redis or Memcached would do.", "redis - I never heard of memcached, explain it to me"),
        ] {
            assert_eq!(picked("", replied, reply), None, "{reply}");
        }
    }
}
