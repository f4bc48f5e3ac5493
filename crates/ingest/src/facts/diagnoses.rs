//! Causes, requirements and conflicts: what agents and humans find out about a failure.
//!
//! A diagnosis is a hypothesis until the fix of the failure confirms it.

use std::sync::LazyLock;

use rethread_model::{Entity, EntityKind, Entry, EntryKind, Fact, FactState, Predicate, Trust, clip};
use serde::{Deserialize, Serialize};

use super::decisions::{assistant_sentences, first_human_sentence, human_sentences, may_diagnose};
use super::fixes::says_it_works;
use super::pattern::{CuePattern, CueTable};
use super::sentence_model::{SentenceContext, SentenceGuess, Speaker, StatementKind, find_spans, guess_kind};
use super::sink::observed_fact;

/// A diagnosis is accepted if the model considers it at least this likely.
const MIN_LIKELIHOOD: f64 = 0.8;
/// A sentence that the model finds less likely is not examined further.
const MIN_PLAUSIBLE_LIKELIHOOD: f64 = 0.25;
/// A requirement or conflict in a clear wording needs less.
const MIN_WORDED_LIKELIHOOD: f64 = 0.6;
/// Maximum number of diagnoses that wait for a confirmation.
const MAX_OPEN: usize = 6;
/// Maximum length of a stored sentence, in characters.
const MAX_DETAIL_CHARS: usize = 300;
/// A first sentence with more words names no problem.
const MAX_TOPIC_WORDS: usize = 14;
/// Maximum length of the subject of a diagnosis, in characters. The patterns are unlimited: counting is slow to compile.
const MAX_SUBJECT_CHARS: usize = 41;
/// Maximum length of the name of a topic, in characters.
const MAX_TOPIC_CHARS: usize = 80;

/// The state of diagnosis extraction, carried from one span to the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct DiagnosisTracker {
    open: Vec<OpenDiagnosis>,
    /// What the human asked for, in a few words.
    topic: Option<String>,
    /// Whether something is broken: the prompt says so, or a command failed since.
    is_investigating: bool,
    /// Line of the text before the present one.
    last_text: u64,
}

/// An error that a diagnosis may be about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct DiagnosedError {
    pub(super) signature: String,
    pub(super) message: String,
    /// Line of the call that failed.
    pub(super) line: u64,
}

impl DiagnosedError {
    /// Whether a sentence is about this error: it failed just before, or the sentence has words of its message.
    fn is_meant_by(&self, sentence: &str, last_text: u64) -> bool {
        let lower = sentence.to_lowercase();
        let message = self.message.to_lowercase();
        let words = message.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| word.len() >= 5);
        let follows_failure = self.line > last_text && !lower.contains("the other ");
        follows_failure || words.filter(|word| lower.contains(word)).count() >= 2
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct OpenDiagnosis {
    predicate: Predicate,
    subject: Entity,
    object: Entity,
    detail: String,
    quote: Option<String>,
    trust: Trust,
    line: u64,
}

impl DiagnosisTracker {
    /// Extracts diagnoses from the next entry. `error` is the failure that is open now.
    pub(super) fn extract(&mut self, entry: &Entry, error: Option<&DiagnosedError>, facts: &mut Vec<Fact>) {
        match entry.kind {
            EntryKind::Prompt | EntryKind::Answer => {
                self.apply_reply(entry, facts);
                self.topic = prompt_topic(&entry.text);
                self.is_investigating = reports_problem(&entry.text);
                self.extract_text(entry, Speaker::Human, error, facts);
            }
            EntryKind::AssistantText => self.extract_text(entry, Speaker::Assistant, error, facts),
            EntryKind::Call => self.is_investigating |= error.is_some(),
            _ => {}
        }
        if matches!(entry.kind, EntryKind::Prompt | EntryKind::Answer | EntryKind::AssistantText) {
            self.last_text = entry.location.line;
        }
    }

    /// Confirms the last diagnosis before a fix that was verified.
    pub(super) fn confirm_by_fixes(&mut self, from: usize, facts: &mut Vec<Fact>) {
        let is_fix = |fact: &Fact| fact.predicate == Predicate::FixedBy && fact.state == FactState::Confirmed;
        let fixes: Vec<Fact> = facts[from.min(facts.len())..].iter().filter(|fact| is_fix(fact)).cloned().collect();
        for fix in fixes {
            let failed_at = fix.evidence_lines.iter().copied().min().unwrap_or(fix.line);
            let is_about = |open: &OpenDiagnosis| {
                let is_same_error = open.subject.kind != EntityKind::Error || open.subject == fix.subject;
                open.predicate == Predicate::CausedBy
                    && open.line >= failed_at
                    && open.line <= fix.line
                    && is_same_error
            };
            if let Some(at) = self.open.iter().rposition(is_about) {
                let confirmed = self.open.remove(at);
                facts.push(confirmed.to_fact(FactState::Confirmed, fix.line, &fix));
            }
        }
    }

    /// A human's reply confirms or refutes the last diagnosis.
    fn apply_reply(&mut self, entry: &Entry, facts: &mut Vec<Fact>) {
        let state = if says_it_works(&entry.text) {
            FactState::Confirmed
        } else if says_it_is_wrong(&entry.text) {
            FactState::Refuted
        } else {
            return;
        };
        let is_cause = |open: &OpenDiagnosis| open.predicate == Predicate::CausedBy;
        if let Some(at) = self.open.iter().rposition(is_cause) {
            let diagnosis = self.open.remove(at);
            let line = entry.location.line;
            facts.push(diagnosis.to_fact(
                state,
                line,
                &observed_fact(entry, diagnosis.predicate, diagnosis.subject.clone()),
            ));
        }
    }

    fn extract_text(&mut self, entry: &Entry, speaker: Speaker, error: Option<&DiagnosedError>, facts: &mut Vec<Fact>) {
        if !may_diagnose(&entry.text) {
            return;
        }
        let sentences = match speaker {
            Speaker::Human => human_sentences(&entry.text),
            Speaker::Assistant => assistant_sentences(&entry.text),
        };
        for sentence in sentences {
            let Some(found) = self.diagnose(sentence, speaker, error) else { continue };
            let diagnosis = OpenDiagnosis {
                detail: clip(sentence, MAX_DETAIL_CHARS).into_owned(),
                quote: error.filter(|_| found.1.kind == EntityKind::Error).map(|error| error.message.clone()),
                trust: if speaker == Speaker::Human { Trust::Human } else { Trust::Assistant },
                line: entry.location.line,
                predicate: found.0,
                subject: found.1,
                object: found.2,
            };
            if self.open.iter().any(|open| open.predicate == diagnosis.predicate && open.object == diagnosis.object) {
                continue;
            }
            facts.push(diagnosis.to_fact(
                FactState::Hypothesis,
                entry.location.line,
                &observed_fact(entry, diagnosis.predicate, diagnosis.subject.clone()),
            ));
            self.open.push(diagnosis);
            if self.open.len() > MAX_OPEN {
                self.open.remove(0);
            }
        }
    }

    /// Relation, subject and object of a sentence that diagnoses something.
    fn diagnose(
        &self,
        sentence: &str,
        speaker: Speaker,
        error: Option<&DiagnosedError>,
    ) -> Option<(Predicate, Entity, Entity)> {
        if !may_diagnose(sentence) || is_unsure(sentence) {
            return None;
        }
        let guess = guess_kind(sentence, SentenceContext::of(speaker));
        if guess.stated_likelihood() < MIN_PLAUSIBLE_LIKELIHOOD {
            return None;
        }
        let found = worded_diagnosis(sentence, guess).or_else(|| classified_diagnosis(sentence, guess))?;
        let predicate = found.predicate;
        // Code is explained all the time; a cause is one if something is broken.
        let is_idle = predicate == Predicate::CausedBy && !self.is_investigating;
        // "This needs to be blue" is a wish.
        let is_wish = speaker == Speaker::Human && sentence.contains("needs to ");
        if is_idle || (predicate == Predicate::Requires && (is_demand(sentence) || is_wish)) {
            return None;
        }
        let object = entity_in(whole_name(found.object)?)?;
        let error = error.filter(|error| error.is_meant_by(sentence, self.last_text));
        let subject = found.subject.filter(|subject| names_something(subject, predicate));
        let subject = match (error, subject.and_then(entity_in)) {
            (Some(error), _) if predicate == Predicate::CausedBy => Entity::new(EntityKind::Error, &error.signature),
            (_, Some(subject)) => subject,
            _ if predicate == Predicate::CausedBy => Entity::new(EntityKind::Topic, self.topic.clone()?),
            _ => return None,
        };
        (subject != object).then_some((predicate, subject, object))
    }
}

/// Relation, subject and object in the words of a sentence.
struct SentenceDiagnosis<'a> {
    predicate: Predicate,
    subject: Option<&'a str>,
    object: &'a str,
}

/// Wordings that leave no doubt. `{lead}` stands for an interjection.
const DIAGNOSIS_TABLE: [(&str, Predicate); 3] = [
    (
        r"{lead}(?:found (?:it|the (?:actual |real |root )?(?:issue|problem|bug|cause|culprit))|i (?:see|found) the (?:actual |real )?(?:issue|problem|bug)|there(?:'s| is) the (?:issue|problem|bug)|(?:the )?(?:actual |real )?root cause(?: (?:is|was))?(?: that)?|the (?:actual |real )?(?:culprit|cause|issue|problem|bug|reason) (?:is|was)(?: that)?|turns out(?: that)?)(?:\*\*)?\s*(?:[:—–-]+\s*)?(?:\*\*)?\s*(?P<object>\S.{7,})$",
        Predicate::CausedBy,
    ),
    (
        r"{lead}(?P<subject>[\w@][\w@./+ -]+?) (?:requires|only works with|needs|depends on) (?P<object>\S.{3,})$",
        Predicate::Requires,
    ),
    (
        r"{lead}(?P<subject>[\w@][\w@./+ -]+?) (?:conflicts with|is incompatible with|is not compatible with|isn't compatible with|doesn't work with|does not work with|clashes with|breaks with|can't be used with|cannot be used with) (?P<object>\S.{2,})$",
        Predicate::ConflictsWith,
    ),
];

/// A diagnosis in a wording that leaves no doubt.
fn worded_diagnosis(sentence: &str, guess: SentenceGuess) -> Option<SentenceDiagnosis<'_>> {
    static ROWS: LazyLock<CueTable<Predicate>> = LazyLock::new(|| {
        let lead = r"(?i)^\W*(?:(?:ah|aha|ok|okay|so|yes|right|perfect|and|but|note|also|the|our)[,!.:]? )*(?:\*\*)?";
        CueTable::new(DIAGNOSIS_TABLE.map(|(row, predicate)| (row.replace("{lead}", lead), predicate)))
    });
    ROWS.rows_for(sentence).find_map(|(row, predicate)| {
        let found = row.captures(sentence)?;
        let part = |name: &str| found.name(name).map(|part| part.as_str());
        let is_name = |subject: &&str| {
            subject.chars().count() <= MAX_SUBJECT_CHARS && !is_pronoun(&subject.to_lowercase()) && !is_clause(subject)
        };
        let subject = part("subject").filter(is_name);
        let is_named = *predicate == Predicate::CausedBy || subject.is_some();
        // Descriptions of code have needs as well; the model must not find the sentence ordinary.
        let is_plausible = *predicate == Predicate::CausedBy || guess.stated_likelihood() >= MIN_WORDED_LIKELIHOOD;
        let object = part("object").filter(|object| !is_vague(object))?;
        (is_named && is_plausible).then_some(SentenceDiagnosis { predicate: *predicate, subject, object })
    })
}

/// What a diagnosis names as cause or need, if it is complete: a cut-off part, or a mere "required", says nothing.
fn whole_name(object: &str) -> Option<&str> {
    static DANGLING: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        ascii_pattern(
            r"(?i)^\W*(?:to be|being|required|needed|necessary|optional|missing|broken|wrong|clear)\b\W*(?:\w+\W*)?$|^\W*to be \w+ed\b|\b(?:and|or|the|a|an|of|to|for|with|but)\W*$",
        )
    });
    let object = object.trim();
    (!DANGLING.as_ref().is_none_or(|dangling| dangling.is_match(object)) && !is_symptom(object)).then_some(object)
}

/// Whether a text says what can be seen, and not where it comes from: "the page doesn't contain the expected link".
fn is_symptom(text: &str) -> bool {
    static SYMPTOM: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        ascii_pattern(
            r"(?i)\b(?:expected|(?:is|are|was|were)(?:n't| not) (?:appearing|showing|displayed|working|passing|visible|there)|(?:is|are) (?:still )?failing|tests? (?:still )?fails?|we can see|still (?:fails?|shows?|happens?|there))\b",
        )
    });
    // A contrast names a cause: "it sends objects, but strings are expected".
    SYMPTOM.as_ref().is_none_or(|symptom| symptom.is_match(text)) && !text.to_lowercase().contains(" but ")
}

/// Whether the subject of a diagnosis names what it is about. "The key issue" names nothing, and neither does a question.
fn names_something(subject: &str, predicate: Predicate) -> bool {
    static EMPTY: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        ascii_pattern(
            r"(?i)^\W*(?:the |a |one |this |that |our |my |your |key |main |real |actual |only |other |first |second |another )*(?:issue|issues|problem|problems|reason|cause|thing|point|difference|screenshot|fix|solution|change|changes|still|why|how|what|when|where|which|so|then|now|also|note|required|result|answer)\b",
        )
    });
    let is_name = predicate == Predicate::CausedBy || !is_clause(subject);
    is_name && !EMPTY.as_ref().is_none_or(|empty| empty.is_match(subject))
}

/// Whether a text is more than a name.
fn is_clause(text: &str) -> bool {
    const VERBS: [&str; 12] = ["is", "are", "was", "but", "and", "or", "works", "that", "which", "still", "also", "to"];
    text.split_whitespace().any(|word| VERBS.contains(&word.to_lowercase().as_str()))
}

/// Whether what follows "the issue is" only says where or that there is one.
fn is_vague(object: &str) -> bool {
    let first = object.split_whitespace().next().unwrap_or_default().to_lowercase();
    let is_bare = [
        "for",
        "with",
        "in",
        "of",
        "on",
        "at",
        "here",
        "clear",
        "now",
        "resolution",
        "analysis",
        "fixed",
        "solved",
        "simple",
    ]
    .contains(&first.trim_matches(|c: char| !c.is_alphanumeric()));
    is_bare || object.trim_end_matches(['*', ' ']).ends_with(':')
}

/// A diagnosis that the sentence model recognizes.
fn classified_diagnosis(sentence: &str, guess: SentenceGuess) -> Option<SentenceDiagnosis<'_>> {
    let predicate = match guess.kind {
        StatementKind::Explains => Predicate::CausedBy,
        StatementKind::Requires => Predicate::Requires,
        StatementKind::Conflicts => Predicate::ConflictsWith,
        _ => return None,
    };
    if guess.likelihood < MIN_LIKELIHOOD {
        return None;
    }
    let spans = find_spans(sentence, guess.kind);
    let subject = spans.subject.and_then(|span| sentence.get(span));
    Some(SentenceDiagnosis { predicate, subject, object: sentence.get(spans.other?)? })
}

impl OpenDiagnosis {
    fn to_fact(&self, state: FactState, line: u64, seen: &Fact) -> Fact {
        Fact {
            predicate: self.predicate,
            subject: self.subject.clone(),
            object: Some(self.object.clone()),
            detail: self.detail.clone(),
            reason: None,
            quote: self.quote.clone(),
            state,
            success_count: u64::from(state == FactState::Confirmed),
            failure_count: u64::from(state == FactState::Refuted),
            trust: self.trust,
            line: self.line,
            evidence_lines: if line == self.line { Vec::new() } else { vec![line] },
            at: seen.at,
            model: None,
        }
    }
}

/// The entity that a part of a sentence names.
fn entity_in(text: &str) -> Option<Entity> {
    static FILE: LazyLock<Option<CuePattern>> =
        LazyLock::new(|| ascii_pattern(r"^[\w@.~-]*(?:/[\w@.-]+)*[\w-]+\.[A-Za-z]{1,5}(?::\d+)?$"));
    static SETTING: LazyLock<Option<CuePattern>> =
        LazyLock::new(|| ascii_pattern(r"^(?:[A-Z][A-Z0-9]*_[A-Z0-9_]+|--[a-z][\w-]+|[\w.-]+ ?= ?\S{1,20})$"));
    let bare = text.trim().trim_matches(['`', '"', '\'', '*', '.', ',', ':', ' ']);
    let has_content = bare.chars().filter(|c| c.is_alphanumeric()).count() >= 3;
    let fits = |table: &LazyLock<Option<CuePattern>>| table.as_ref().is_some_and(|table| table.is_match(bare));
    let entity = if fits(&SETTING) {
        Entity::new(EntityKind::Setting, bare)
    } else if bare.contains('.') && fits(&FILE) {
        Entity::new(EntityKind::File, bare.split(':').next().unwrap_or(bare))
    } else {
        let words: Vec<&str> = bare.split_whitespace().collect();
        let start = usize::from(matches!(
            words.first().map(|word| word.to_lowercase()).as_deref(),
            Some("the" | "a" | "an" | "that")
        ));
        let name = words[start.min(words.len())..].join(" ").replace(['`', '*'], "").to_lowercase();
        Entity::new(EntityKind::Topic, clip(&name, MAX_TOPIC_CHARS).into_owned())
    };
    (has_content && !is_pronoun(&entity.name)).then_some(entity)
}

fn is_pronoun(name: &str) -> bool {
    matches!(
        name,
        "it" | "this"
            | "that"
            | "they"
            | "these"
            | "those"
            | "which"
            | "there"
            | "what"
            | "you"
            | "we"
            | "i"
            | "he"
            | "she"
            | "something"
            | "user"
    )
}

/// Whether a sentence guesses, denies or asks.
fn is_unsure(sentence: &str) -> bool {
    static UNSURE: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        ascii_pattern(
            r"(?i)\b(?:no longer|doesn't need|does not need|doesn't require|does not require|don't need|not caused|unrelated|works because|might|may be|may have|maybe|perhaps|possibly|probably|likely|suspect|could be|could have|i think|i guess|i believe|seems?|appears?|looks like|suggests?|hypothesis|whether|let me|i'll|i will|i need to|we need to|let's|to be sure|should be|would be|if (?:the|you|we|it|this|that))\b|\b(?:issue|problem|cause|bug|error) (?:is|was)(?:n't| not)\b|\bnot (?:the|a) (?:issue|problem|cause)|\?\s*$",
        )
    });
    UNSURE.as_ref().is_none_or(|unsure| unsure.is_match(sentence))
}

/// Whether a sentence demands something of its reader, instead of saying what a thing needs.
fn is_demand(sentence: &str) -> bool {
    static DEMAND: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        ascii_pattern(
            r"(?i)\b(?:you|we|i)(?:'ll)?(?: still| also| just)? (?:must|need|have to|should)\b|^\W*(?:cons|pros|important|note|step|todo)\b|\b(?:ensure|make sure)\b",
        )
    });
    DEMAND.as_ref().is_none_or(|demand| demand.is_match(sentence))
}

/// Whether a human's text reports something broken.
fn reports_problem(text: &str) -> bool {
    static PROBLEM: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        ascii_pattern(
            r"(?i)\b(?:crash|not work|hang|panic|(?:error|errors|bug|bugs|fail|fails|failed|failing|failure|broken|breaks|issue|issues|wrong|doesn'?t|does not|isn'?t|is not|didn'?t|won'?t|can'?t|cannot|stuck|timeout|timed out|flaky|leak|regression|slow|missing|exception|traceback|fix|why|debug|investigate|weird|strange|unexpected)\b)",
        )
    });
    PROBLEM.as_ref().is_some_and(|problem| problem.is_match(text))
}

/// Whether a human says that the problem is still there.
fn says_it_is_wrong(text: &str) -> bool {
    static WRONG: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        ascii_pattern(
            r"(?i)\bstill (?:fail|broken|not|doesn'?t|does not|get|see|happen|the same|there|wrong|error)|\b(?:that'?s|that is|this is|it'?s) not (?:it|the|why|true|right|correct)|\bnot the (?:issue|problem|cause|reason)|\bdid(?:n'?t| not) (?:work|help|fix)|\bsame (?:error|issue|problem|thing)\b",
        )
    });
    text.len() < 2000 && WRONG.as_ref().is_some_and(|wrong| wrong.is_match(text))
}

/// Compiles a pattern with ASCII word boundaries, which are much quicker than those of Unicode.
fn ascii_pattern(pattern: &str) -> Option<CuePattern> {
    CuePattern::new(&pattern.replace(r"\b", r"(?-u:\b)"))
}

/// The problem that a prompt names in its first sentence, in a few words and without the task.
fn prompt_topic(text: &str) -> Option<String> {
    static TASK: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        ascii_pattern(
            r"(?i)^(?:ok(?:ay)?|so|now|please|pls|can you|could you|hey|hi|and|also|then|let'?s|i want (?:you )?to|help me(?: to)?|we need to|you need to|try to|go|just|alright)[, ]+|^(?:fix|debug|investigate|solve|find out|figure out|look (?:at|into)|check|why (?:is|does|do|are|did)|explain|resolve|find|see|repair|handle)\s+",
        )
    });
    let first = first_human_sentence(text)?;
    if !reports_problem(first) || first.split_whitespace().count() > MAX_TOPIC_WORDS {
        return None;
    }
    let mut rest = first.trim();
    for _ in 0..5 {
        match TASK.as_ref()?.find(rest).filter(|found| found.end() < rest.len()) {
            Some(found) => rest = rest[found.end()..].trim_start(),
            None => break,
        }
    }
    let words: Vec<&str> = rest.split_whitespace().take(8).collect();
    let start = usize::from(
        words.first().is_some_and(|word| matches!(word.to_lowercase().as_str(), "the" | "a" | "an" | "this" | "my")),
    );
    let name = words[start.min(words.len())..].join(" ").to_lowercase();
    let name = name.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    (name.len() >= 4).then(|| clip(&name, MAX_TOPIC_CHARS).into_owned())
}
