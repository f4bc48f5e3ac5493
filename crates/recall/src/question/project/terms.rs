//! The words that say what a question is about, and how much of them a text has.

use rethread_index::words::{WordList, WordSplitter};

use super::shape::names_memory;
use crate::cues::word_weight;

/// More words than this are a pasted text; the first ones say what it is about.
const MAX_TERMS: usize = 64;
/// Weight of a word that no text has, at most, compared with the heaviest one that some text has.
const MAX_UNKNOWN_SHARE: f32 = 1.2;
/// Share of that in a question in another language: its words are no names, and sessions are mostly in English.
const FOREIGN_SHARE: f32 = 0.25;
/// Weight of a word that says which kind of answer is wanted, not what about.
const CUE_WEIGHT: f32 = 0.2;

/// Different spellings of the same word, which people use freely.
const SYNONYMS: [&str; 32] = [
    "pull pr prs",
    "push pushed commit",
    "store storage stored",
    "image images picture pictures photo photos",
    "http request requests fetch",
    "sign-in signin login",
    "database databases db",
    "authentication auth login",
    "authorization auth",
    "configuration config configure",
    "repository repo",
    "dependency dependencies deps",
    "environment env",
    "javascript js",
    "typescript ts",
    "python py",
    "postgres postgresql pg",
    "kubernetes k8s",
    "documentation docs",
    "directory folder dir",
    "parameter param argument arg",
    "rollback revert rolled roll",
    "delete remove",
    "timeout timed",
    "connection connect",
    "library package dependency",
    "function fn func",
    "tests test testing spec",
    "backend server",
    "frontend ui web",
    "users user people customers",
    "provider service",
];

/// Words of a question that name the kind of answer.
const CUE_WORDS: &str = "behind concern concerns deal discussion handle handling happening objection objections outcome sorted \
    story thinking thoughts ok stance verdict opinion table candidate continue option outstanding pending progress recap remind resume status summarize summary unfinished ago catch leave next open step steps off again agree agreed allowed always answer answered avoid avoided avoiding before break breaks broke broken \
    cause caused causes causing change changed changes changing choice choose chose chosen come convention \
    conventions day decide decided decision decisions edit edited error errors exactly fail failed failing \
    fails failure failures fix fixed fixes fixing forbidden handle handled happen happened happens help helped \
    history instead issue issues keep kept last latest left need needed needs never normally okay pick picked \
    prefer preference preferences preferred previous previously problem problems project reason reasons reject \
    rejected remaining require required requires resolve resolved rule rules session sessions settle settled \
    solution solve solved stop stopped style task tasks time today todo touch touched usually want wanted week \
    when work worked working works wrong yesterday yet";

/// Words of general meaning: they describe, but do not name what the question is about.
const GENERAL_WORDS: &str = "kick kicked throw threw rip ripped introduce introduced adopt adopted bring brought all get gets getting got take took taken taking keeps being replace replaced replacing speak speaks statement statements swap swapped away begin began come each every everybody everyone made people someone move moved moving start started starting abandon abandoned ditch ditched drop dropped dropping gone switch switched approach framework library thing things tool actual actually already anymore anyway anywhere became become becomes big bigger code directly ever everything exist \
    exists fine good hard hold holds immediately large live lives look looks mean means new now often old planned put \
    right seem seems simply small somewhere sort still straight supposed sure think tried try turn turned whatever";
/// Weight of such a word.
const GENERAL_WEIGHT: f32 = 0.5;

/// Other words for using a tool.
const USE_WORDS: &str = "store stored live lives keep kept sign base based build built depend import install pull rely run running runs write written";

/// Words before a name.
const WORDS_BEFORE_NAMES: &str = "a about an any at by choose chose from for in into my no of on onto our that the this to use using via with \
    without";

/// A word of the question with the spellings that count as it.
struct QuestionTerm {
    forms: Vec<String>,
    weight: f32,
    /// Whether it is another word for using something.
    is_use: bool,
    /// Whether it stands where a name does: it is what the question is about, and not a verb or an adverb.
    is_name: bool,
}

/// The words of a question, stemmed as in the index.
pub(super) struct QuestionTerms {
    terms: Vec<QuestionTerm>,
    /// Whether the question is in English, as far as its small words show.
    pub(super) is_english: bool,
}

/// Which terms of a question a text has, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TermSet(u64);

impl TermSet {
    pub(super) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn len(self) -> u32 {
        self.0.count_ones()
    }
}

impl QuestionTerms {
    pub(super) fn of(question: &str, splitter: &mut TermSplitter) -> Self {
        let mut terms: Vec<QuestionTerm> = Vec::new();
        for word in splitter.words(question).iter() {
            let raw = question[word.start..word.end].to_lowercase();
            let known = terms.iter().any(|term| term.forms[0] == word.text);
            if known || terms.len() == MAX_TERMS || is_question_word(&raw) {
                continue;
            }
            let before = word_before(question, word.start);
            let weight = if is_listed(CUE_WORDS, &raw) || names_memory(&raw) {
                CUE_WEIGHT
            } else if is_listed(GENERAL_WORDS, &raw) {
                GENERAL_WEIGHT
            } else if raw == "main" && is_listed("from into on onto to", &before) {
                // The branch.
                1.0
            } else {
                word_weight(&raw)
            };
            let is_name = weight >= 1.0 && is_listed(WORDS_BEFORE_NAMES, &before);
            let is_use = is_listed(USE_WORDS, &raw);
            terms.push(QuestionTerm { forms: vec![word.text.to_owned(), raw], weight, is_use, is_name });
        }
        for term in &mut terms {
            let raw = term.forms.pop().unwrap_or_default();
            let groups = SYNONYMS.iter().filter(|group| is_listed(group, &raw));
            for other in groups.flat_map(|group| group.split(' ')).filter(|other| *other != raw) {
                let stems: Vec<String> = splitter.words(other).iter().map(|word| word.text.to_owned()).collect();
                term.forms.extend(stems.into_iter().take(1));
            }
        }
        Self { terms, is_english: question.split_whitespace().any(|word| is_english_word(&word.to_lowercase())) }
    }

    /// Whether no word says what the question is about.
    pub(super) fn has_no_topic(&self) -> bool {
        self.terms.iter().all(|term| term.weight < 1.0)
    }

    /// Whether a word that says what the question is about stands where a name does.
    pub(super) fn has_named_topic(&self) -> bool {
        self.terms.iter().any(|term| term.is_name)
    }

    /// Number of words of some meaning in a set, also those that only describe.
    pub(super) fn meaning_len_of(&self, set: TermSet) -> usize {
        let is_in = |at: usize| set.0 & (1 << at) != 0;
        self.terms.iter().enumerate().filter(|(at, term)| is_in(*at) && term.weight >= GENERAL_WEIGHT).count()
    }

    /// Number of words that say what the question is about.
    pub(super) fn topic_len(&self) -> usize {
        self.terms.iter().filter(|term| term.weight >= 1.0).count()
    }

    /// Whether the question names something that none of these texts have: they are hardly about it.
    pub(super) fn names_unknown(&self, known: TermSet) -> bool {
        let is_known = |at: usize| known.0 & (1 << at) != 0;
        self.is_english && self.terms.iter().enumerate().any(|(at, term)| term.is_name && !is_known(at))
    }

    /// Whether `found` has every word that says what the question is about, up to the last of `named`.
    pub(super) fn has_topics_until(&self, named: TermSet, found: TermSet) -> bool {
        let last = (u64::BITS - named.0.leading_zeros()) as usize;
        self.terms.iter().take(last).enumerate().all(|(at, term)| term.weight < 1.0 || found.0 & (1 << at) != 0)
    }

    /// Whether `found` has every word that says what the question is about, apart from words for using it.
    pub(super) fn has_topics_but_use(&self, found: TermSet) -> bool {
        let is_known = |at: usize, term: &QuestionTerm| term.weight < 1.0 || term.is_use || found.0 & (1 << at) != 0;
        self.terms.iter().enumerate().all(|(at, term)| is_known(at, term))
    }

    /// How many of these terms say what the question is about.
    pub(super) fn topic_len_of(&self, set: TermSet) -> usize {
        let is_in = |at: usize| set.0 & (1 << at) != 0;
        self.terms.iter().enumerate().filter(|(at, term)| is_in(*at) && term.weight >= 1.0).count()
    }

    /// Whether these terms are nearly all that the question is about, and at least this many.
    pub(super) fn is_most_of_topic(&self, set: TermSet, least: usize) -> bool {
        let (found, all) = (self.topic_len_of(set), self.topic_len());
        found >= least && 5 * found >= 4 * all
    }

    pub(super) fn position(&self, word: &str) -> Option<TermSet> {
        let at = self.terms.iter().position(|term| term.forms.iter().any(|form| form == word))?;
        Some(TermSet(1 << at))
    }

    /// The terms that a text has.
    pub(super) fn find(&self, text: &str, splitter: &mut TermSplitter) -> TermSet {
        let words = splitter.words(text);
        words.iter().filter_map(|word| self.position(word.text)).fold(TermSet::default(), TermSet::with)
    }

    /// The share of a name's words that the question has, if the name is short enough to be named in a question.
    pub(super) fn share_of_name(&self, name: &str, splitter: &mut TermSplitter) -> f32 {
        const MAX_NAME_WORDS: usize = 5;
        let words = splitter.words(name);
        let mut names: Vec<&str> = words.iter().map(|word| word.text).collect();
        names.sort_unstable();
        names.dedup();
        if names.is_empty() || names.len() > MAX_NAME_WORDS {
            return 0.0;
        }
        let is_asked = |word: &&&str| self.position(word).is_some_and(|set| self.topic_len_of(set) > 0);
        names.iter().filter(is_asked).count() as f32 / names.len() as f32
    }

    /// Weights by rarity: how much each term says, given how many of these texts have it.
    pub(super) fn rarity(&self, texts: &[TermSet]) -> TermRarity {
        let count = texts.len() as f32;
        let weights = self.terms.iter().enumerate().map(|(at, term)| {
            let with_term = texts.iter().filter(|set| set.0 & (1 << at) != 0).count() as f32;
            term.weight * (1.0 + (count + 1.0) / (with_term + 0.5)).ln()
        });
        let mut weights: Vec<f32> = weights.collect();
        // A word that no text has may be an idiom or another word for the same: it counts, but not more than others.
        let known = texts.iter().fold(TermSet::default(), |all, text| all.with(*text));
        let is_known = |at: usize| known.0 & (1 << at) != 0;
        let heaviest = weights.iter().enumerate().filter(|(at, _)| is_known(*at)).map(|(_, weight)| *weight);
        let heaviest = heaviest.fold(0.0, f32::max) * MAX_UNKNOWN_SHARE;
        for (at, weight) in weights.iter_mut().enumerate() {
            if !is_known(at) && heaviest > 0.0 {
                *weight = weight.min(if self.is_english { heaviest } else { heaviest * FOREIGN_SHARE });
            }
        }
        let total = weights.iter().sum::<f32>();
        TermRarity { weights, total }
    }
}

/// How much each term of a question says.
pub(super) struct TermRarity {
    weights: Vec<f32>,
    total: f32,
}

impl TermRarity {
    /// The share of the question that these terms cover, 0 to 1.
    pub(super) fn coverage(&self, set: TermSet) -> f32 {
        if self.total <= 0.0 {
            return 0.0;
        }
        let covered = self.weights.iter().enumerate().filter(|(at, _)| set.0 & (1 << at) != 0);
        covered.map(|(_, weight)| weight).sum::<f32>() / self.total
    }
}

/// Splits texts into words, with one cache of stems for all of them.
#[derive(Default)]
pub(super) struct TermSplitter {
    splitter: WordSplitter,
    words: WordList,
}

impl TermSplitter {
    pub(super) fn words(&mut self, text: &str) -> &WordList {
        self.splitter.split(text, &mut self.words);
        &self.words
    }
}

/// Words that only form the question; the index keeps some of them, because code has them too.
fn is_question_word(word: &str) -> bool {
    const WORDS: &str = "about am any are aren arent btw can cant could couldn couldnt d did didn didnt do does doesn doesnt don dont \
        have here how howd hows i is isn isnt it its ll may me my no not on or our pls please s shall should shouldnt stuff t \
        there to us was wasn wasnt we were what whats where wheres which who whos why you";
    is_listed(WORDS, word)
}

/// The word before a position of a text, in lower case.
fn word_before(text: &str, at: usize) -> String {
    let before = text[..at].trim_end_matches(|c: char| !c.is_alphanumeric());
    let from = before
        .rfind(|c: char| !c.is_alphanumeric())
        .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
    before[from..].to_lowercase()
}

fn is_english_word(word: &str) -> bool {
    const WORDS: &str = "a and are can did do does for from have how i in is it of on or should that the to was we what when where \
        which who why";
    is_listed(WORDS, word.trim_matches(|c: char| !c.is_alphanumeric()))
}

fn is_listed(words: &str, word: &str) -> bool {
    words.split(' ').any(|listed| listed == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_only_form_a_question_are_no_topic() {
        let topics = |question: &str| QuestionTerms::of(question, &mut TermSplitter::default()).topic_len();
        assert_eq!(
            [topics("what did we decide?"), topics("why did it fail again?"), topics("why no redis?")],
            [0, 0, 1]
        );
        assert!(is_english_word("why") && is_english_word("(the") && !is_english_word("warum"));
    }

    #[test]
    fn names_are_noticed_by_the_word_before_them() {
        // D17
        let mut splitter = TermSplitter::default();
        let mut names_unknown = |question: &str, known: &str| {
            let terms = QuestionTerms::of(question, &mut splitter);
            terms.names_unknown(terms.find(known, &mut splitter))
        };
        assert!(names_unknown("is there a zeppelin in the parser?", "the parser reads tokens"));
        assert!(!names_unknown("how does the parser hiccup?", "the parser reads tokens"));
        assert!(!names_unknown("is there a cache in the parser?", "the parser has a cache"));
    }

    #[test]
    fn coverage_counts_topics_by_rarity_and_ignores_spelling() {
        let mut splitter = TermSplitter::default();
        let terms = QuestionTerms::of("how did we fix the database connection timeouts?", &mut splitter);
        let texts = ["raised the timeout of the db connection pool", "the timeout of the build", "timeouts again"];
        let sets: Vec<TermSet> = texts.iter().map(|text| terms.find(text, &mut splitter)).collect();
        let rarity = terms.rarity(&sets);
        let coverage: Vec<f32> = sets.iter().map(|set| rarity.coverage(*set)).collect();
        assert!(coverage[0] > 0.8 && coverage[1] < 0.5, "{coverage:?}");
        assert!((terms.share_of_name("timeout", &mut splitter) - 1.0).abs() < 0.01);
    }
}
