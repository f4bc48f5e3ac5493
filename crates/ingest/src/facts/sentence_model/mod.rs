//! Recognizes sentences that state knowledge, and what they are about, with two small linear models.
//!
//! One model chooses the kind of a sentence, the other one marks what it is about. Both are trained by
//! `cargo run --release -p rethread-ingest --example train_sentences`; at run time they add integers, so that the same
//! text gives the same facts on every machine.

mod features;
mod linear;
mod packing;
mod tokens;

pub use self::features::{Feature, sentence_features, span_features};
pub use self::linear::{LinearModel, Scores};
pub use self::tokens::{SentenceToken, is_technology, tokenize};

static KINDS: LinearModel<'static> = LinearModel::packed(include_bytes!(concat!(env!("OUT_DIR"), "/kinds.bin")));
static SPANS: LinearModel<'static> = LinearModel::packed(include_bytes!(concat!(env!("OUT_DIR"), "/spans.bin")));

/// Who wrote a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Speaker {
    /// A person.
    Human,
    /// A model.
    Assistant,
}

/// What happened before a sentence, as far as it changes its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each says whether one thing happened, independently of the others")]
pub struct SentenceContext {
    /// Who wrote it.
    pub speaker: Speaker,
    /// The agent has just proposed something or asked which way to go.
    pub follows_proposal: bool,
    /// The agent has changed files since the last prompt.
    pub follows_edit: bool,
    /// The human refused a tool call or interrupted the agent with this text.
    pub is_refusal: bool,
    /// It is part of a long text.
    pub is_long: bool,
}

impl SentenceContext {
    /// A sentence about which nothing else is known.
    pub const fn of(speaker: Speaker) -> Self {
        Self { speaker, follows_proposal: false, follows_edit: false, is_refusal: false, is_long: false }
    }
}

/// What a sentence states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatementKind {
    /// Nothing worth remembering.
    Other,
    /// A decision for something.
    Chooses,
    /// A decision against something.
    Rejects,
    /// A lasting wish.
    Prefers,
    /// A lasting prohibition.
    Forbids,
    /// Why something happens.
    Explains,
    /// What something needs.
    Requires,
    /// What does not work together.
    Conflicts,
    /// A model's recommendation.
    Proposes,
}

impl StatementKind {
    /// Every kind, in the order of the weights.
    pub const ALL: [Self; 9] = [
        Self::Other,
        Self::Chooses,
        Self::Rejects,
        Self::Prefers,
        Self::Forbids,
        Self::Explains,
        Self::Requires,
        Self::Conflicts,
        Self::Proposes,
    ];

    /// The name in training data and weights.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Other => "none",
            Self::Chooses => "choose",
            Self::Rejects => "reject",
            Self::Prefers => "prefer",
            Self::Forbids => "forbid",
            Self::Explains => "cause",
            Self::Requires => "require",
            Self::Conflicts => "conflict",
            Self::Proposes => "propose",
        }
    }
}

/// A word is taken for a name, if no other one is, from this likelihood.
const MIN_NAME_LIKELIHOOD: f64 = 0.02;

/// A mark of a token: outside, the subject, or the other side.
pub const SPAN_MARKS: [&str; 3] = ["o", "s", "t"];

/// The kind that fits a sentence best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SentenceGuess {
    /// The kind.
    pub kind: StatementKind,
    /// How likely the model considers it, from 0 to 1.
    pub likelihood: f64,
    /// How likely the model considers each kind, in the order of `StatementKind::ALL`.
    pub likelihoods: [f64; StatementKind::ALL.len()],
}

impl SentenceGuess {
    /// How likely something of this sort is stated: decisions and preferences are often hard to separate.
    pub fn stated_likelihood(self) -> f64 {
        1.0 - self.likelihoods[0]
    }

    /// The likeliest kind of decision or preference, and how likely it is that the sentence is any of them. Together they
    /// may be likelier than an ordinary sentence, even if none of them is.
    pub fn wish(self) -> (StatementKind, f64) {
        const WISHES: [StatementKind; 4] =
            [StatementKind::Chooses, StatementKind::Rejects, StatementKind::Prefers, StatementKind::Forbids];
        let chances = StatementKind::ALL.into_iter().zip(self.likelihoods).filter(|(kind, _)| WISHES.contains(kind));
        let (kind, _) =
            chances.clone().fold((StatementKind::Chooses, 0.0), |best, one| if one.1 > best.1 { one } else { best });
        (kind, chances.map(|(_, chance)| chance).sum())
    }

    /// How likely one of these kinds is.
    pub fn likelihood_of(self, kinds: [StatementKind; 2]) -> f64 {
        StatementKind::ALL
            .iter()
            .zip(self.likelihoods)
            .filter(|(kind, _)| kinds.contains(kind))
            .map(|(_, one)| one)
            .sum()
    }
}

/// The parts of a sentence that name what it is about, as byte ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SentenceSpans {
    /// What is chosen, wanted, explained or needed by.
    pub subject: Option<std::ops::Range<usize>>,
    /// The alternative, the cause or what is needed.
    pub other: Option<std::ops::Range<usize>>,
}

/// Whether a text is in the language that the models know: at least half of its words are known to them.
pub fn is_known_language(text: &str) -> bool {
    let tokens = tokenize(text);
    let words = tokens.iter().filter(|token| !token.is_punctuation());
    let (known, all) =
        words.fold((0, 0), |(known, all), token| (known + usize::from(KINDS.knows(&token.word)), all + 1));
    known * 2 >= all
}

/// The most likely kind of a sentence.
pub fn guess_kind(text: &str, context: SentenceContext) -> SentenceGuess {
    let tokens = tokenize(text);
    let scores = KINDS.score(|visit| sentence_features(&tokens, context, |word| KINDS.knows(word), visit));
    let (best, likelihoods) = (scores.best(), scores.likelihoods());
    let likelihood = |at: usize| likelihoods.get(at).copied().unwrap_or(0.0);
    SentenceGuess {
        kind: StatementKind::ALL[best],
        likelihood: likelihood(best),
        likelihoods: std::array::from_fn(likelihood),
    }
}

/// What a sentence of this kind is about.
pub fn find_spans(text: &str, kind: StatementKind) -> SentenceSpans {
    let tokens = tokenize(text);
    let mut marks: Vec<usize> = Vec::with_capacity(tokens.len());
    for at in 0..tokens.len() {
        let before = marks.last().map_or("^", |mark| SPAN_MARKS[*mark]);
        let scores = SPANS.score(|visit| span_features(&tokens, at, kind, before, |word| SPANS.knows(word), visit));
        marks.push(scores.best());
    }
    let other = first_run(&tokens, &marks, 2);
    // A decision or a wish always names something. A diagnosis may be about what was said before.
    let is_wish = matches!(
        kind,
        StatementKind::Chooses | StatementKind::Rejects | StatementKind::Prefers | StatementKind::Forbids
    );
    let subject =
        first_run(&tokens, &marks, 1).or_else(|| is_wish.then(|| likeliest_run(&tokens, kind, &marks)).flatten());
    SentenceSpans { subject, other }
}

/// The run of words that starts at the word which names the subject most likely, for a sentence in which no word is more
/// likely a name than not.
fn likeliest_run(tokens: &[SentenceToken], kind: StatementKind, marks: &[usize]) -> Option<std::ops::Range<usize>> {
    let mark_at = |at: usize, before: &str| {
        SPANS.score(|visit| span_features(tokens, at, kind, before, |word| SPANS.knows(word), visit))
    };
    let is_free = |at: &usize| marks[*at] == 0 && !tokens[*at].is_punctuation();
    let likelihood = |at: usize| mark_at(at, SPAN_MARKS[0]).likelihood(1);
    let first = (0..tokens.len())
        .filter(is_free)
        .map(|at| (at, likelihood(at)))
        .reduce(|best, one| if one.1 > best.1 { one } else { best })
        .filter(|(_, likelihood)| *likelihood >= MIN_NAME_LIKELIHOOD)?
        .0;
    let mut extended = vec![0; tokens.len()];
    extended[first] = 1;
    for at in first + 1..tokens.len() {
        if marks[at] != 0 || mark_at(at, SPAN_MARKS[1]).best() != 1 {
            break;
        }
        extended[at] = 1;
    }
    first_run(tokens, &extended, 1)
}

/// The strongest features of a sentence for the kind that was chosen, to explain the choice.
pub fn explain_kind(text: &str, context: SentenceContext) -> Vec<(String, f64)> {
    let tokens = tokenize(text);
    let mut features = Vec::new();
    sentence_features(&tokens, context, |word| KINDS.knows(word), &mut |feature| features.push(feature.name()));
    let best = guess_kind(text, context).kind;
    KINDS.explain(features, StatementKind::ALL.iter().position(|kind| *kind == best).unwrap_or(0))
}

/// The first run of tokens with this mark; a single token between two parts of a run belongs to it.
fn first_run(tokens: &[SentenceToken], marks: &[usize], mark: usize) -> Option<std::ops::Range<usize>> {
    let first = marks.iter().position(|one| *one == mark)?;
    let mut last = first;
    for at in first + 1..marks.len() {
        let is_gap = marks[at] != mark && marks.get(at + 1) == Some(&mark) && marks[at] == 0 && !tokens[at].is_break();
        if marks[at] != mark && !is_gap {
            break;
        }
        last = at;
    }
    let is_edge = |token: &&SentenceToken| !token.is_punctuation();
    let run = &tokens[first..=last];
    let (start, end) = (run.iter().find(is_edge)?, run.iter().rev().find(is_edge)?);
    Some(start.start..end.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_unique_name() {
        let mut names: Vec<&str> = StatementKind::ALL.iter().map(|kind| kind.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), StatementKind::ALL.len());
    }

    proptest::proptest! {
        #[test]
        fn spans_are_parts_of_any_text(text in "(?s)[a-zé`'’\"/.,:?! \n日-]{0,60}") {
            for kind in StatementKind::ALL {
                let spans = find_spans(&text, kind);
                for span in [spans.subject, spans.other].into_iter().flatten() {
                    proptest::prop_assert!(text.get(span).is_some());
                }
            }
            guess_kind(&text, SentenceContext::of(Speaker::Human));
        }
    }
}
