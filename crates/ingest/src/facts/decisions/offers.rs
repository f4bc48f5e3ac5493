//! What the end of a model's text offers: a design to confirm, a way to do something, or only work.

use std::sync::LazyLock;

use rethread_model::clip;

use super::cues::compile_pattern;
use super::design::{described_design, title};
use super::names::leading_name;
use super::options::OfferedOption;
use super::prose::prose_lines;
use super::sentences::{ProseSentence, split_sentences};
use crate::facts::pattern::CuePattern;
use crate::facts::sentence_model::is_technology;

/// Maximum length of the name of an offer, in characters.
const MAX_NAME_CHARS: usize = 60;
/// Maximum length of a stored offer, in characters.
const MAX_TEXT_CHARS: usize = 480;

/// A name with at least this many words describes a way.
const MIN_LONG_NAME_WORDS: usize = 4;

/// Verbs of work that decides nothing.
const WORK_VERBS: &str = "commit push run rerun continue test check look investigate review help explain show deploy open dig try verify take \
    read find search list give walk wait stop send share clarify debug analyze explore retry restart rebase merge pull fetch know see \
    save finish submit post reply wrap summarize get delete reinstall clear reset regenerate rebuild clean close file restore";

/// Verbs that only ask to go on with what the text describes.
const BUILD_VERBS: &str =
    "proceed go start implement build set write wire make do apply begin tackle put draft prepare add create code ship";

/// What a text offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ModelOffer {
    pub(super) name: String,
    /// What it replaces.
    pub(super) rejected: Option<String>,
    /// The words in which it is offered.
    pub(super) text: String,
    /// Whether it is a whole design. Declining it rules out nothing that it names.
    pub(super) is_design: bool,
}

/// How a text ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TextEnding {
    /// It asks to confirm something, or to go on with it.
    Offer(ModelOffer),
    /// It asks what should be different; "no" confirms it.
    AsksForChanges(ModelOffer),
    /// It recommends something without a question.
    Recommendation(ModelOffer),
    /// It asks to do some work.
    Work,
    /// None of these.
    Open,
}

/// How a text ends. `options` are those that it lists.
pub(super) fn text_ending(text: &str, options: &[OfferedOption]) -> TextEnding {
    let lines = last_paragraph(text);
    let sentences = split_sentences(&lines);
    let Some(last) = sentences.iter().rev().find(|one| one.is_question() || is_conditional(one) || checks(one)) else {
        return recommended_at_end(&lines, options).map_or(TextEnding::Open, TextEnding::Recommendation);
    };
    let offer = || recommended_option(text, options).or_else(|| design_offer(text)).or_else(|| titled_section(text));
    if asks_for_changes(last) {
        return offer().map_or(TextEnding::Open, TextEnding::AsksForChanges);
    }
    if checks(last) {
        return offer().map_or(TextEnding::Open, TextEnding::Offer);
    }
    match asked_way(last) {
        Some(AskedWay::Build) => {
            let offer = recommended_option(text, options).or_else(|| design_offer(text));
            offer.map_or(TextEnding::Work, TextEnding::Offer)
        }
        Some(AskedWay::Work) => TextEnding::Work,
        Some(AskedWay::Named(way)) => {
            let described = design_offer(text).filter(|design| !design.text.contains(last.text));
            let text =
                described.map_or_else(|| last.text.to_owned(), |design| format!("{} {}", last.text, design.text));
            TextEnding::Offer(offer_of(&way_name(way), &text))
        }
        None => TextEnding::Open,
    }
}

/// The last lines with text, up to an empty one.
fn last_paragraph(text: &str) -> Vec<&str> {
    let lines = prose_lines(text.trim_end());
    let end = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |at| at + 1);
    let start = lines[..end].iter().rposition(|line| line.is_empty()).map_or(0, |at| at + 1);
    lines[start..end].to_vec()
}

/// Whether a sentence makes an offer that depends on the human: "If that works, I'll …".
fn is_conditional(sentence: &ProseSentence<'_>) -> bool {
    static IF: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"^\W*if (?:you(?:'d| would)? (?:want|like|prefer|agree|wish|confirm|approve)|useful|helpful|so|yes|(?:that|this|it) (?:works|looks|sounds|is|fits|makes)),? ?.*\bi(?:'ll| will| can| could|'d)\b",
        )
    });
    IF.as_ref().is_some_and(|table| table.is_match(&sentence.masked))
}

fn asks_for_changes(sentence: &ProseSentence<'_>) -> bool {
    static CHANGES: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(r"\bany(?:thing)?\b.{0,25}\b(?:change|adjust|tweak|different|missing|objections?|concerns?)\b")
    });
    CHANGES.as_ref().is_some_and(|changes| changes.is_match(&sentence.masked))
}

/// Whether a sentence asks if the text is right.
fn checks(sentence: &ProseSentence<'_>) -> bool {
    static CHECK: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"\b(?:do(?:es)? (?:this|that|it|these|those|the) .{0,40}?(?:look|work|make sense|sound|match|seem|fit|address|capture)|
                (?:looks?|sounds?|seems?) (?:good|right|ok|okay|reasonable|fine|correct)|(?:is|are) (?:this|that|these|those|you) (?:ok|okay|right|fine|happy|good|what you)|
                do you agree|agree with|happy with|good to go|what do you think|your thoughts|shall we go this way|
                (?:is|are) (?:this|that|the|these|it) .{0,40}(?:ok|okay|right|fine|acceptable|correct|good))\b|
                ^\W*(?:all )?(?:ok|okay|agreed|approved|thoughts|deal|good|fine|right|yes|correct)\b[^?]{0,15}\?\W*$|^\W*if (?:so|yes|(?:that|this|it) )|
                \bif you(?:'re| are)? (?:happy|agree|ok|okay|fine|good)\b|\b(?:move on|continue|go on)\b.{0,20}\b(?:section|part|chapter)\b",
        )
    });
    CHECK.as_ref().is_some_and(|check| check.is_match(&sentence.masked))
}

/// What a question asks to do.
enum AskedWay<'a> {
    /// What the text describes.
    Build,
    /// A step of work.
    Work,
    /// Something that it names.
    Named(&'a str),
}

/// What a question asks to do: "Should I switch to X?", "If you want, I can add a retry.", "Proceed?"
fn asked_way<'a>(sentence: &ProseSentence<'a>) -> Option<AskedWay<'a>> {
    static ASKED: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"(?:\b(?:want me to|like me to|shall (?:i|we)|should (?:i|we)|do you want (?:me )?to|would you like (?:me )?to|ready to|ready for me to|ok for me to|
                ok to|okay to|can (?:i|we)|may i)|^\W*if (?:you(?:'d| would)? (?:want|like|prefer|agree|wish|confirm|approve)|useful|helpful),? i(?:'ll| will| can| could|'d)) (?:just |
                also |instead |now |next |first |go ahead and |proceed to |then )*(?P<way>[a-z]+\b.*)$",
        )
    });
    static BARE: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"^\W*(?:shall i|should i|proceed|go ahead|want (?:that|this|it)|would you like (?:that|this))\b",
        )
    });
    let Some(way) = ASKED.as_ref()?.captures(&sentence.masked).and_then(|found| found.name("way")) else {
        return BARE.as_ref()?.is_match(&sentence.masked).then_some(AskedWay::Build);
    };
    let asked = sentence.text.get(way.range())?.trim_end_matches(['?', '*', ' ', ')', '.']);
    let verb = asked.split_whitespace().next().unwrap_or_default().trim_end_matches(',');
    let is_one_of = |table: &str| table.split_whitespace().any(|known| known.eq_ignore_ascii_case(verb));
    let words = asked.split_whitespace().count();
    if is_one_of(WORK_VERBS) || asked.starts_with("move on") {
        Some(AskedWay::Work)
    } else if refers_back(asked) || (is_one_of(BUILD_VERBS) && words < 7) || words < 2 {
        Some(AskedWay::Build)
    } else {
        (!sentence.text.contains(" or ")).then_some(AskedWay::Named(asked))
    }
}

/// The name of what a way brings in: "switch to pnpm for the jobs" is about pnpm.
fn way_name(way: &str) -> String {
    static BRINGS: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(r"^(?:use|add|install|switch to|go with|adopt|introduce|migrate to|move to|pull in|bring in) ")
    });
    let rest = BRINGS.as_ref().and_then(|brings| brings.find(way)).and_then(|brings| way.get(brings.end()..));
    rest.and_then(|rest| leading_name(rest, rest)).unwrap_or_else(|| way.to_owned())
}

/// The name of a declined offer, if it needs another one: a design rules out nothing that it names, and a long offer is
/// named by what it would bring in.
pub(super) fn declined_name(name: &str, offer: &str, is_design: bool) -> Option<String> {
    if is_design { Some(format!("{name} as proposed")) } else { brought_in(name, offer) }
}

/// What a long offer would bring in, if that is one technology: "move the state into a Redis cluster" is about a Redis
/// cluster. A human who declines it turns that down.
fn brought_in(name: &str, offer: &str) -> Option<String> {
    const BRINGING: &str = "to into with using use add via through install introduce adopt";
    const REMOVING: &str = "remove removing drop dropping delete disable replace replacing without from";
    if name.split_whitespace().count() < MIN_LONG_NAME_WORDS {
        return None;
    }
    let words: Vec<&str> = offer.split_whitespace().collect();
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let follows = |at: usize, table: &str| {
        words[at.saturating_sub(2)..at].iter().any(|word| table.split(' ').any(|known| known == bare(word)))
    };
    let is_brought = |at: &usize| is_technology(&bare(words[*at])) && follows(*at, BRINGING) && !follows(*at, REMOVING);
    let mut brought = (0..words.len()).filter(is_brought);
    let (first, None) = (brought.next()?, brought.next()) else { return None };
    let rest = words[first..].join(" ");
    // What follows says how it would be used.
    let name = rest.split(" with ").next().unwrap_or(&rest);
    leading_name(name, name)
}

/// Whether what is asked for only refers to the text before: "clean that up", "update the test file as well".
fn refers_back(asked: &str) -> bool {
    let words: Vec<String> = asked.split_whitespace().map(str::to_lowercase).collect();
    let refers =
        |word: &String| matches!(word.as_str(), "this" | "that" | "these" | "those" | "it" | "them" | "accordingly");
    let ends_as_well = asked.ends_with("as well") || asked.ends_with(" too");
    (words.len() <= 6 && words.iter().skip(1).any(refers)) || ends_as_well
}

/// The option that a text recommends by its letter, number or place.
fn recommended_option(text: &str, options: &[OfferedOption]) -> Option<ModelOffer> {
    static PICK: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"\b(?:recommend(?:ation)?|suggest(?:ion)?|pick|lean(?:ing)?(?: towards?)?|go with|start with|prefer(?:ence)?|proceed with|choose|vote)\b[^.?!]{0,25}?
                (?P<mark>\boption |\bapproach |[(*]|[ :])(?:(?P<key>[a-h]|[1-9])(?:[\s,.:;)?*]|$)|(?P<place>first|second|third|last)\b)",
        )
    });
    let prose = prose_lines(text);
    let marked = options.iter().find(|option| option.is_recommended);
    let picked = split_sentences(&prose).into_iter().rev().find_map(|sentence| {
        let found = PICK.as_ref()?.captures(&sentence.masked)?;
        if let Some(place) = found.name("place") {
            return option_at(options, place.as_str());
        }
        let key = found.name("key")?;
        // "recommend a cache" names no option.
        let is_article = sentence.text.get(key.range()) == Some("a") && matches!(&found["mark"], " " | ":");
        let key = key.as_str().to_lowercase();
        options.iter().find(|option| option.key == key).filter(|_| !is_article)
    });
    picked.or(marked).map(|option| offer_of(&option.title, &option.text))
}

/// The option at a place of the list.
pub(super) fn option_at<'a>(options: &'a [OfferedOption], place: &str) -> Option<&'a OfferedOption> {
    match place.to_lowercase().as_str() {
        "first" | "former" => options.first(),
        "second" => options.get(1),
        "third" => options.get(2),
        _ => options.last(),
    }
}

/// The recommendation with which a text ends without a question.
fn recommended_at_end(lines: &[&str], options: &[OfferedOption]) -> Option<ModelOffer> {
    static CUE: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"\b(?:i(?:'d| would)? (?:recommend|suggest|propose|pick|go with|delete|remove|drop)|my (?:recommendation|suggestion|proposal)|(?:slight )?preference for)\b",
        )
    });
    let text = lines.join("\n");
    CUE.as_ref()?.is_match(&text).then(|| recommended_option(&text, options).or_else(|| design_offer(&text)))?
}

fn design_offer(text: &str) -> Option<ModelOffer> {
    let design = described_design(text)?;
    Some(ModelOffer { name: design.name, rejected: design.rejected, text: design.text, is_design: !design.is_option })
}

/// The last section of a text that has a title, by its first line.
fn titled_section(text: &str) -> Option<ModelOffer> {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let at = lines.iter().rposition(|line| title(line).is_some())?;
    let title = title(lines[at])?.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ' '));
    let body = lines.get(at + 1).filter(|body| !body.starts_with(['`', '|']) && !body.ends_with('?'))?;
    let is_name = title.len() >= 4 && title.split_whitespace().count() <= 9;
    let offer = || offer_of(title, &format!("{title}: {}", body.trim_start_matches(['-', '*', ' '])));
    is_name.then(|| ModelOffer { is_design: true, ..offer() })
}

fn offer_of(name: &str, text: &str) -> ModelOffer {
    ModelOffer {
        name: clip(&name.replace("**", "").to_lowercase(), MAX_NAME_CHARS).trim().to_owned(),
        rejected: None,
        text: clip(&text.replace("**", ""), MAX_TEXT_CHARS).into_owned(),
        is_design: false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::find_options;
    use super::*;

    fn name(text: &str) -> Option<String> {
        match text_ending(text, &find_options(text)) {
            TextEnding::Offer(offer) | TextEnding::AsksForChanges(offer) | TextEnding::Recommendation(offer) => {
                Some(offer.name)
            }
            _ => None,
        }
    }

    #[test]
    fn a_section_that_is_to_be_confirmed_is_named() {
        for (text, expected) in [
            ("## Storage layer\n\nOne SQLite file per project.\n\nDoes this look right so far?", Some("storage layer")),
            ("## Storage layer\n\nThe plan:\n- One file.\n\nShall I set it up like this?", Some("storage layer")),
            (
                "## Storage layer\n\n- One file.\n\nDoes this fit? If yes, I'll continue with the index.",
                Some("storage layer"),
            ),
            ("## Storage layer\n\n- One file.\n\nAnything you'd change before I start?", Some("storage layer")),
            ("## Storage layer\n\n- One file.\n\nWhich database?", None),
            ("Done, I added the storage layer.\n\nLooks good?", None),
        ] {
            assert_eq!(name(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_way_that_is_asked_for_is_named() {
        for (text, expected) in [
            ("Done.\n\nShould I switch to `pnpm` for the CI jobs?", Some("pnpm")),
            ("Want me to keep the old route?", Some("keep the old route")),
            ("If you want, I can replace the loop with a stream.", Some("replace the loop with a stream")),
            ("Want me to commit this?", None),
            ("Shall I delete `node_modules` and reinstall?", None),
            ("Should I use A or B?", None),
            ("All passed. Want me to clean that up too?", None),
        ] {
            assert_eq!(name(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_long_offer_brings_in_at_most_one_technology() {
        for (offer, expected) in [
            ("move the queue over to RabbitMQ for all jobs", Some("rabbitmq")),
            ("replace Redis with a plain map in memory", None),
            ("copy the data from Postgres to Mongo with Kafka", None),
            ("split the file into three smaller ones", None),
        ] {
            assert_eq!(brought_in(offer, offer).as_deref(), expected, "{offer}");
        }
    }

    #[test]
    fn the_recommended_option_is_offered() {
        let list = "Two ways:\n1. **Redis**: fast\n2. **A table**: simple\n\n";
        for (end, expected) in [
            ("I'd start with 2. Proceed with that?", Some("table")),
            ("I recommend the first. OK?", Some("redis")),
            ("My recommendation: **1**, because of the TTL.", Some("redis")),
        ] {
            assert_eq!(name(&format!("{list}{end}")).as_deref(), expected, "{end}");
        }
    }
}
