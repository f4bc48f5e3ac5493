//! Answers about a session or a project as text: the answer, its confidence and its citations.

use rethread_engine::{
    AnswerSentence, AnsweredProjectQuestion, AnsweredQuestion, AskPlan, Confidence, NanoUsd, PlannedCost,
    ProjectAskPlan, SentenceSource,
};

use super::format::{bytes, count, number};
use super::wrap::wrap;
use super::{CellAlign, MAX_TEXT_WIDTH, TextPage, Tone, sanitize, sanitize_line};

/// Indentation of an excerpt.
const INDENT: &str = "    ";
/// Width of the label column.
const LABEL_WIDTH: usize = 9;

/// Renders the answer with confidence, citations and notes.
pub(crate) fn answer(page: &mut TextPage, answered: &AnsweredQuestion) {
    let answer = &answered.answer;
    // The passages follow as citations, so they are not repeated here.
    let text = if answer.is_extractive && !answer.citations.is_empty() {
        "No model was asked. Best matching passages of the session, found by keyword:"
    } else {
        answer.answer.as_str()
    };
    for line in wrap(&sanitize(text), text_width(page, 0)) {
        page.line(Tone::Plain, &line);
    }
    page.end_line();
    confidence(page, answer.confidence);
    for citation in &answer.citations {
        page.end_line().add(Tone::Strong, &answered.listed.session.citation(citation.line));
        page.line(Tone::Dim, &format!("  {}", citation.role.as_str()));
        for line in wrap(&sanitize_line(&citation.excerpt), text_width(page, INDENT.len())) {
            page.add(Tone::Plain, INDENT).line(Tone::Plain, &line);
        }
    }
    notes(page, &answer.notes);
}

/// Renders the answer to a project question: one paragraph per item, each sentence with its citations.
pub(crate) fn project_answer(page: &mut TextPage, answered: &AnsweredProjectQuestion) {
    let answer = &answered.answer;
    if answer.is_empty() {
        page.line(Tone::Plain, "Nothing is known about that.");
        return;
    }
    for (at, item) in answer.items.iter().enumerate() {
        if at > 0 {
            page.end_line();
        }
        for (at, sentence) in item.sentences.iter().enumerate() {
            project_sentence(page, sentence, at > 0);
        }
    }
    page.end_line();
    confidence(page, answer.confidence);
    notes(page, &answer.notes);
}

/// A sentence with its citations in brackets. All but the first of an item are indented.
fn project_sentence(page: &mut TextPage, sentence: &AnswerSentence, is_detail: bool) {
    let indent = if is_detail { "  " } else { "" };
    let cited: Vec<String> = sentence.sources.iter().map(SentenceSource::citation).collect();
    let text = format!("{} [{}]", sanitize_line(&sentence.text), cited.join(", "));
    for line in wrap(&text, text_width(page, indent.len())) {
        page.add(Tone::Plain, indent).line(if is_detail { Tone::Dim } else { Tone::Plain }, &line);
    }
}

fn confidence(page: &mut TextPage, confidence: Confidence) {
    let tone = match confidence {
        Confidence::High => Tone::Success,
        Confidence::Medium => Tone::Plain,
        Confidence::Low => Tone::Warning,
    };
    page.add(Tone::Dim, "confidence ").line(tone, confidence.as_str());
}

fn notes(page: &mut TextPage, notes: &[String]) {
    for (at, note) in notes.iter().enumerate() {
        if at == 0 {
            page.end_line();
        }
        page.add(Tone::Warning, "note: ").line(Tone::Plain, &sanitize_line(note));
    }
}

/// The model that was asked, with tokens and cost.
pub(crate) fn model_and_cost(answered: &AnsweredQuestion) -> String {
    let AnsweredQuestion { model, cached, attempts, tokens, cost, .. } = answered;
    model_line(model.as_deref(), *cached, *attempts, tokens.total(), *cost)
}

/// The same for a project question.
pub(crate) fn project_model_and_cost(answered: &AnsweredProjectQuestion) -> String {
    let AnsweredProjectQuestion { model, cached, attempts, tokens, cost, .. } = answered;
    model_line(model.as_deref(), *cached, *attempts, tokens.total(), *cost)
}

fn model_line(model: Option<&str>, cached: bool, attempts: u32, tokens: u64, cost: Option<NanoUsd>) -> String {
    let Some(model) = model else { return "no model was asked".to_owned() };
    if cached {
        return format!("{model}, cached answer; nothing was sent");
    }
    let cost = cost.map_or_else(|| "price unknown".to_owned(), |cost| cost.to_string());
    let answers = if attempts > 1 { format!(" · {attempts} attempts") } else { String::new() };
    format!("{model} · {}{answers} · {cost}", count(tokens, "token"))
}

/// Renders what asking would cost.
pub(crate) fn ask_plan(page: &mut TextPage, plan: &AskPlan) {
    let Some((model, planned)) = plan.model.as_ref().zip(plan.planned) else {
        page.line(Tone::Plain, "No model is configured: the best matching passages would be quoted, at no cost.");
        return;
    };
    row(page, "model", &sanitize_line(model));
    let left_out = if plan.skipped_entries > 0 {
        format!(", {} omitted", number(plan.skipped_entries as u64))
    } else {
        String::new()
    };
    let entries = if plan.sent_entries == 1 {
        "entry".to_owned()
    } else {
        format!("{} entries", number(plan.sent_entries as u64))
    };
    row(page, "session", &format!("{}, {entries}{left_out}", bytes(plan.bytes)));
    cost_rows(page, &planned, plan.cached, plan.refusal_reason.as_deref());
}

/// Renders what asking about a project would cost.
pub(crate) fn project_ask_plan(page: &mut TextPage, plan: &ProjectAskPlan) {
    let Some((model, planned)) = plan.model.as_ref().zip(plan.planned) else {
        let text = if plan.sentences == 0 {
            "Nothing is known about that, so no model would be asked."
        } else {
            "No model is configured: the answer would be put together from facts and passages, at no cost."
        };
        page.line(Tone::Plain, text);
        return;
    };
    row(page, "model", &sanitize_line(model));
    row(page, "evidence", &format!("{}, {}", bytes(plan.bytes), count(plan.sentences as u64, "sentence")));
    cost_rows(page, &planned, plan.cached, plan.refusal_reason.as_deref());
}

fn cost_rows(page: &mut TextPage, planned: &PlannedCost, cached: bool, refusal_reason: Option<&str>) {
    row(page, "input", &format!("about {} tokens", number(planned.input_tokens)));
    row(page, "output", &format!("at most {} tokens", number(planned.output_tokens)));
    row(page, "cost", &planned.cost.map_or_else(|| "unknown".to_owned(), |cost| format!("at most {cost}")));
    let budget = if cached { "not needed: the answer is cached" } else { "allowed" };
    row(page, "budget", refusal_reason.unwrap_or(budget));
}

fn row(page: &mut TextPage, label: &str, text: &str) {
    page.cell(Tone::Dim, label, LABEL_WIDTH, CellAlign::Left).line(Tone::Plain, text);
}

fn text_width(page: &TextPage, indent: usize) -> Option<usize> {
    page.width().map(|width| width.min(MAX_TEXT_WIDTH).saturating_sub(indent).max(1))
}
