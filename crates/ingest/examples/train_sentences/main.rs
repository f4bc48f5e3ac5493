//! Trains the models that recognize statements in sentences, and measures them on sentences they were not trained on.
//!
//! `train_sentences split` reads entries of sessions as JSON lines and prints their sentences as the extractor sees them.
//! `train_sentences train OUT FILE...` trains on labeled sentences (`speaker, class, context, sentence[, group]`, separated
//! by tabs) and writes `kinds.tsv` and `spans.tsv` to OUT. Lines with a group are real: each group is also predicted by a
//! model that was trained without its fold.
//! `train_sentences explain` reads sentences of a human and prints the kind of each, how likely it is, and why.
#![expect(clippy::unwrap_used, reason = "a development tool that stops at the first problem")]

mod logistic;

use std::collections::HashMap;
use std::io::{BufRead, Write, stdin, stdout};
use std::ops::Range;
use std::path::Path;

use rethread_ingest::facts::{conversation_sentences, sentence_model};
use rethread_model::{Entry, EntryKind, EntryLocation, ToolKind, ToolOutcome, ToolStatus, ToolUse};
use sentence_model::{
    LinearModel, SPAN_MARKS, SentenceContext, SentenceToken, Speaker, StatementKind, sentence_features, span_features,
    tokenize,
};
use serde_json::{Value, json};

macro_rules! print_line {
    ($($words:tt)*) => {{
        let mut out = stdout();
        writeln!(out, $($words)*).unwrap();
    }};
}

const FOLDS: u64 = 5;
/// Words that occur less often are not learned.
const MIN_WORDS: u32 = 4;
/// Features of a sentence, and of a word in it, that occur less often are not learned.
const MIN_COUNTS: (u32, u32) = (6, 16);
/// How many features of sentences, and of words, are kept. They are chosen after a first training and trained again, so that
/// the models stay small and lose next to nothing.
const MAX_FEATURES: (usize, usize) = (13_000, 4_500);
/// How strongly the weights of sentences, and of words, are kept small.
const PENALTIES: (f64, f64) = (3.0, 1.0);
/// Features of sentences of agents that occur less often are not learned.
const MIN_AGENT_COUNT: u32 = 4;
/// How much a sentence in the manner of real prompts counts, and a real one, compared with one that was made up freely.
const LIFELIKE_WEIGHT: f64 = 3.0;
const REAL_WEIGHT: f64 = 3.0;
/// Files of sentences in the manner of real prompts begin with this.
const LIFELIKE_FILES: &str = "lifelike-";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["split"] => split(),
        ["train", out, files @ ..] => train_all(Path::new(out), files),
        ["explain"] => explain(),
        _ => print_line!("usage: train_sentences split | train OUT FILE... | explain"),
    }
}

/// Prints what the model takes sentences for, with the features that weigh most.
fn explain() {
    let context = SentenceContext::of(Speaker::Human);
    for line in stdin().lock().lines() {
        let text = line.unwrap();
        let guess = sentence_model::guess_kind(&text, context);
        let spans = sentence_model::find_spans(&text, guess.kind);
        let part = |span: Option<Range<usize>>| span.map_or("-", |span| &text[span]).to_owned();
        let mut features = sentence_model::explain_kind(&text, context);
        features.sort_by(|one, other| other.1.abs().total_cmp(&one.1.abs()));
        let why: Vec<String> = features.iter().take(5).map(|(name, weight)| format!("{name} {weight:+.1}")).collect();
        let sure = (guess.stated_likelihood() * 100.0).round();
        let (subject, other) = (part(spans.subject), part(spans.other));
        print_line!("{}\t{sure} %\t{subject}\t{other}\t{}\t{text}", guess.kind.as_str(), why.join("; "));
    }
}

/// Prints the sentences of sessions, each with its context.
fn split() {
    let mut sessions: Vec<(String, Vec<Entry>)> = Vec::new();
    for line in stdin().lock().lines() {
        let row: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let name = row["session"].as_str().unwrap().to_owned();
        if sessions.last().is_none_or(|(last, _)| *last != name) {
            sessions.push((name, Vec::new()));
        }
        let entries = &mut sessions.last_mut().unwrap().1;
        entries.push(entry(&row, entries.len() as u64));
    }
    for (name, entries) in &sessions {
        for sentence in conversation_sentences(entries) {
            let context = format_context(sentence.context);
            let speaker = speaker_name(sentence.context.speaker);
            let row = json!({"session": name, "line": sentence.line, "speaker": speaker, "context": context, "text": sentence.text});
            print_line!("{row}");
        }
    }
}

fn entry(row: &Value, seq: u64) -> Entry {
    let text = row["text"].as_str().unwrap_or_default().to_owned();
    let tool = row["tool"].as_str().map(|kind| ToolUse {
        kind: Some(ToolKind::from_stored(kind)),
        outcome: Some(ToolOutcome {
            status: ToolStatus::from_stored(row["status"].as_str().unwrap_or("ok")),
            summary: String::new(),
            error: row["error"].as_str().map(str::to_owned),
            exit_code: None,
            lines: 0,
            bytes: 0,
            output: None,
        }),
        ..ToolUse::default()
    });
    Entry {
        seq,
        native_id: seq.to_string(),
        location: EntryLocation { line: row["line"].as_u64().unwrap(), offset: 0, length: 0 },
        at: None,
        kind: EntryKind::from_stored(row["kind"].as_str().unwrap()),
        text,
        tool,
        episode: None,
        is_abandoned: false,
    }
}

/// A labeled sentence.
struct LabeledSentence {
    context: SentenceContext,
    kind: usize,
    tokens: Vec<SentenceToken>,
    /// The mark of each token, if the sentence is marked.
    marks: Option<Vec<usize>>,
    group: Option<String>,
    /// How much it counts.
    weight: f64,
}

fn train_all(out: &Path, files: &[&str]) {
    let examples: Vec<LabeledSentence> = files.iter().flat_map(|file| read_examples(Path::new(file))).collect();
    print_line!(
        "{} sentences, {} of them real",
        examples.len(),
        examples.iter().filter(|one| one.group.is_some()).count()
    );
    measure(&examples);
    measure_spans(&examples);
    let all: Vec<&LabeledSentence> = examples.iter().collect();
    std::fs::write(out.join("kinds.tsv"), train_kinds(&all)).unwrap();
    std::fs::write(out.join("spans.tsv"), train_spans(&all)).unwrap();
}

fn read_examples(file: &Path) -> Vec<LabeledSentence> {
    let is_lifelike = file.file_name().unwrap().to_string_lossy().starts_with(LIFELIKE_FILES);
    let written = if is_lifelike { LIFELIKE_WEIGHT } else { 1.0 };
    std::fs::read_to_string(file).unwrap().lines().map(|line| example(line, written)).collect()
}

fn example(line: &str, written_weight: f64) -> LabeledSentence {
    let columns: Vec<&str> = line.split('\t').collect();
    let [speaker, class, context, marked, rest @ ..] = columns.as_slice() else { unreachable!("{line}") };
    let (text, ranges) = strip_marks(marked);
    let tokens = tokenize(&text);
    let mark_of = |token: &SentenceToken| {
        let inside = ranges.iter().find(|(_, start, end)| token.start >= *start && token.end <= *end);
        inside.map_or(0, |(mark, _, _)| *mark)
    };
    let marks = (!ranges.is_empty()).then(|| tokens.iter().map(mark_of).collect());
    let kind = StatementKind::ALL.iter().position(|kind| kind.as_str() == *class).unwrap();
    let group = rest.first().map(|group| (*group).to_owned());
    let weight = if group.is_some() { REAL_WEIGHT } else { written_weight };
    LabeledSentence { context: parse_context(speaker, context), kind, tokens, marks, group, weight }
}

/// A sentence without brackets and braces, and what they enclosed.
fn strip_marks(marked: &str) -> (String, Vec<(usize, usize, usize)>) {
    let (mut text, mut ranges, mut open) = (String::new(), Vec::new(), None);
    for c in marked.chars() {
        match c {
            '[' => open = Some((1, text.len())),
            '{' => open = Some((2, text.len())),
            ']' | '}' => {
                if let Some((mark, start)) = open.take() {
                    ranges.push((mark, start, text.len()));
                }
            }
            c => text.push(c),
        }
    }
    (text, ranges)
}

fn parse_context(speaker: &str, flags: &str) -> SentenceContext {
    let has = |flag: &str| flags.split(',').any(|one| one.trim() == flag);
    let speaker = if speaker == "human" { Speaker::Human } else { Speaker::Assistant };
    SentenceContext {
        speaker,
        follows_proposal: has("proposal"),
        follows_edit: has("edit"),
        is_refusal: has("refused"),
        is_long: has("long"),
    }
}

fn format_context(context: SentenceContext) -> String {
    let flags = [
        ("proposal", context.follows_proposal),
        ("edit", context.follows_edit),
        ("refused", context.is_refusal),
        ("long", context.is_long),
    ];
    let set: Vec<&str> = flags.iter().filter(|(_, holds)| *holds).map(|(name, _)| *name).collect();
    if set.is_empty() { "-".to_owned() } else { set.join(",") }
}

fn speaker_name(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::Human => "human",
        Speaker::Assistant => "assistant",
    }
}

/// One decision to learn: its features, the right class and how much it counts.
type TrainingCase = (Vec<String>, usize, f64);

fn train_kinds(examples: &[&LabeledSentence]) -> String {
    let words = known_words(examples);
    let is_known = |word: &str| words.binary_search_by(|one| one.as_str().cmp(word)).is_ok();
    let cases: Vec<TrainingCase> =
        examples.iter().map(|one| (kind_features(one, is_known), one.kind, one.weight)).collect();
    let classes = StatementKind::ALL.map(StatementKind::as_str);
    LinearModel::format(&classes, &words, &fit(&cases, classes.len(), (MIN_COUNTS.0, MAX_FEATURES.0), PENALTIES.0))
}

fn kind_features(one: &LabeledSentence, is_known: impl Fn(&str) -> bool) -> Vec<String> {
    let mut features = Vec::new();
    sentence_features(&one.tokens, one.context, is_known, &mut |feature| features.push(feature.name()));
    features
}

fn train_spans(examples: &[&LabeledSentence]) -> String {
    let marked: Vec<&LabeledSentence> = examples.iter().copied().filter(|one| one.marks.is_some()).collect();
    let words = known_words(&marked);
    let is_known = |word: &str| words.binary_search_by(|one| one.as_str().cmp(word)).is_ok();
    let mut cases = Vec::new();
    for one in &marked {
        let marks = one.marks.as_ref().unwrap();
        for at in 0..one.tokens.len() {
            let before = at.checked_sub(1).map_or("^", |before| SPAN_MARKS[marks[before]]);
            let kind = StatementKind::ALL[one.kind];
            let mut features = Vec::new();
            span_features(&one.tokens, at, kind, before, is_known, &mut |feature| features.push(feature.name()));
            cases.push((features, marks[at], one.weight));
        }
    }
    LinearModel::format(
        &SPAN_MARKS,
        &words,
        &fit(&cases, SPAN_MARKS.len(), (MIN_COUNTS.1, MAX_FEATURES.1), PENALTIES.1),
    )
}

fn known_words(examples: &[&LabeledSentence]) -> Vec<String> {
    let mut counts: HashMap<&str, u32> = HashMap::new();
    // Words of real sessions are not published: those that only they have stay unknown.
    for token in examples.iter().filter(|one| one.group.is_none()).flat_map(|one| &one.tokens) {
        *counts.entry(&token.word).or_default() += 1;
    }
    let mut words: Vec<String> =
        counts.into_iter().filter(|(_, count)| *count >= MIN_WORDS).map(|(word, _)| word.to_owned()).collect();
    words.sort_unstable();
    words
}

/// The weights of the features that occur often enough and matter most.
fn fit(
    cases: &[TrainingCase],
    classes: usize,
    (min_count, max_features): (u32, usize),
    penalty: f64,
) -> Vec<(String, Vec<f64>)> {
    let mut counts: HashMap<&str, u32> = HashMap::new();
    for feature in cases.iter().flat_map(|(features, _, _)| features) {
        *counts.entry(feature).or_default() += 1;
    }
    // There are fewer sentences of agents, so a feature of theirs is learned from fewer of them.
    let is_learned =
        |name: &str, count: u32| count >= min_count || (name.starts_with("a ") && count >= MIN_AGENT_COUNT);
    let mut names: Vec<&str> =
        counts.iter().filter(|(name, count)| is_learned(name, **count)).map(|(name, _)| *name).collect();
    names.sort_unstable();
    let mut weights = fit_features(cases, &names, classes, penalty);
    if names.len() > max_features {
        names = most_important(&names, &weights, classes, &counts, max_features);
        weights = fit_features(cases, &names, classes, penalty);
    }
    names.iter().map(|name| (*name).to_owned()).zip(weights.chunks(classes).map(<[f64]>::to_vec)).collect()
}

/// The weights of these features, in their order.
fn fit_features(cases: &[TrainingCase], names: &[&str], classes: usize, penalty: f64) -> Vec<f64> {
    let numbers: HashMap<&str, usize> = names.iter().enumerate().map(|(at, name)| (*name, at)).collect();
    let numbered: Vec<logistic::TrainingRow> = cases
        .iter()
        .map(|(features, class, weight)| logistic::TrainingRow {
            features: features.iter().filter_map(|one| numbers.get(one.as_str()).copied()).collect(),
            class: *class,
            weight: *weight,
        })
        .collect();
    logistic::fit(&numbered, names.len(), classes, penalty)
}

/// The features that change most: with a large weight, and in many sentences. In the order of `names`.
fn most_important<'a>(
    names: &[&'a str],
    weights: &[f64],
    classes: usize,
    counts: &HashMap<&str, u32>,
    max_features: usize,
) -> Vec<&'a str> {
    let importance = |at: usize| {
        let largest = weights[at * classes..(at + 1) * classes].iter().fold(0.0_f64, |most, one| most.max(one.abs()));
        largest * f64::from(counts[names[at]]).sqrt()
    };
    let mut ranked: Vec<(f64, usize)> = (0..names.len()).map(|at| (importance(at), at)).collect();
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    ranked.truncate(max_features);
    ranked.sort_unstable_by_key(|(_, at)| *at);
    ranked.into_iter().map(|(_, at)| names[at]).collect()
}

/// What a model that has not seen an example says about it.
struct KindPrediction<'a> {
    example: &'a LabeledSentence,
    kind: usize,
    likelihood: f64,
}

/// Predicts every real sentence, and every fifth written one, with a model that has not seen its fold.
fn measure(examples: &[LabeledSentence]) {
    let mut found: Vec<KindPrediction<'_>> = Vec::new();
    for fold in 0..FOLDS {
        let in_fold = |at: usize, one: &LabeledSentence| match &one.group {
            Some(group) => group.bytes().map(u64::from).sum::<u64>() % FOLDS == fold,
            None => at as u64 % FOLDS == fold,
        };
        let (held, rest): (Vec<_>, Vec<_>) = examples.iter().enumerate().partition(|(at, one)| in_fold(*at, one));
        let rest: Vec<&LabeledSentence> = rest.into_iter().map(|(_, one)| one).collect();
        let weights = train_kinds(&rest);
        let model = LinearModel::parse(&weights);
        for (_, example) in held {
            let known = |word: &str| model.knows(word);
            let scores = model.score(|visit| sentence_features(&example.tokens, example.context, known, visit));
            let kind = scores.best();
            found.push(KindPrediction { example, kind, likelihood: scores.likelihood(kind) });
        }
    }
    for (title, is_real) in [("written", false), ("real", true)] {
        print_line!("\n{title}: what is stated, whatever its kind");
        for (speaker, kinds) in [(Speaker::Human, 1..5), (Speaker::Assistant, 5..8)] {
            for least in [0.5, 0.7, 0.8, 0.9] {
                print_sum(&found, is_real, speaker, &kinds, least);
            }
        }
    }
    for (title, is_real) in [("written", false), ("real", true)] {
        print_line!("\n{title}: kind, likelihood at least, right of found, found of labeled");
        for (speaker, kinds) in [(Speaker::Human, 1..8), (Speaker::Assistant, 5..9)] {
            for kind in kinds {
                for least in [0.5, 0.7, 0.9] {
                    print_kind(&found, is_real, speaker, kind, least);
                }
            }
        }
    }
}

fn print_kind(found: &[KindPrediction<'_>], is_real: bool, speaker: Speaker, kind: usize, least: f64) {
    let of_group = || {
        found.iter().filter(move |one| one.example.group.is_some() == is_real && one.example.context.speaker == speaker)
    };
    let is_guessed = |one: &&KindPrediction<'_>| one.kind == kind && one.likelihood >= least;
    let all = of_group().filter(is_guessed).count();
    let right = of_group().filter(is_guessed).filter(|one| one.example.kind == kind).count();
    let labeled = of_group().filter(|one| one.example.kind == kind).count();
    if all + labeled > 0 {
        let name = StatementKind::ALL[kind].as_str();
        print_line!(
            "{:<9} {name:<9} {least:.1}  {right:>4} of {all:<4} {right:>4} of {labeled}",
            speaker_name(speaker)
        );
    }
}

fn print_sum(found: &[KindPrediction<'_>], is_real: bool, speaker: Speaker, kinds: &Range<usize>, least: f64) {
    let of_group = || {
        found.iter().filter(move |one| one.example.group.is_some() == is_real && one.example.context.speaker == speaker)
    };
    let is_stated = |one: &&KindPrediction<'_>| kinds.contains(&one.kind) && one.likelihood >= least;
    let all = of_group().filter(is_stated).count();
    let right = of_group().filter(is_stated).filter(|one| kinds.contains(&one.example.kind)).count();
    let labeled = of_group().filter(|one| kinds.contains(&one.example.kind)).count();
    print_line!("{:<9} {least:.1}  right {right} of {all}, found {right} of {labeled}", speaker_name(speaker));
}

/// How often the marked parts are found exactly, or overlap.
fn measure_spans(examples: &[LabeledSentence]) {
    let (mut exact, mut overlapping, mut all) = ([0; 3], [0; 3], [0; 3]);
    for fold in 0..FOLDS as usize {
        let marked = || examples.iter().enumerate().filter(|(_, one)| one.marks.is_some());
        let rest: Vec<&LabeledSentence> =
            marked().filter(|(at, _)| at % FOLDS as usize != fold).map(|(_, one)| one).collect();
        let weights = train_spans(&rest);
        let model = LinearModel::parse(&weights);
        for (_, one) in marked().filter(|(at, _)| at % FOLDS as usize == fold) {
            let right = one.marks.as_ref().unwrap();
            let mut marks: Vec<usize> = Vec::new();
            for at in 0..one.tokens.len() {
                let before = marks.last().map_or("^", |mark| SPAN_MARKS[*mark]);
                let kind = StatementKind::ALL[one.kind];
                let known = |word: &str| model.knows(word);
                let scores = model.score(|visit| span_features(&one.tokens, at, kind, before, known, visit));
                marks.push(scores.best());
            }
            for mark in 1..3 {
                let places = |marks: &[usize]| (0..marks.len()).filter(|at| marks[*at] == mark).collect::<Vec<_>>();
                let (wanted, got) = (places(right), places(&marks));
                if !wanted.is_empty() {
                    all[mark] += 1;
                    exact[mark] += usize::from(wanted == got);
                    overlapping[mark] += usize::from(got.iter().any(|at| wanted.contains(at)));
                }
            }
        }
    }
    for mark in 1..3 {
        print_line!(
            "span {}: {} exact and {} overlapping of {}",
            SPAN_MARKS[mark],
            exact[mark],
            overlapping[mark],
            all[mark]
        );
    }
}
