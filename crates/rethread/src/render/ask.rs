//! Answers about a session as text: the answer, its confidence and its citations.

use rethread_engine::{AnsweredQuestion, AskPlan, Confidence};

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
    let tone = match answer.confidence {
        Confidence::High => Tone::Success,
        Confidence::Medium => Tone::Plain,
        Confidence::Low => Tone::Warning,
    };
    page.add(Tone::Dim, "confidence ").line(tone, answer.confidence.as_str());
    for citation in &answer.citations {
        page.end_line().add(Tone::Strong, &answered.listed.session.citation(citation.line));
        page.line(Tone::Dim, &format!("  {}", citation.role.as_str()));
        for line in wrap(&sanitize_line(&citation.excerpt), text_width(page, INDENT.len())) {
            page.add(Tone::Plain, INDENT).line(Tone::Plain, &line);
        }
    }
    for (at, note) in answer.notes.iter().enumerate() {
        if at == 0 {
            page.end_line();
        }
        page.add(Tone::Warning, "note: ").line(Tone::Plain, &sanitize_line(note));
    }
}

/// The model that was asked, with tokens and cost.
pub(crate) fn model_and_cost(answered: &AnsweredQuestion) -> String {
    let Some(model) = &answered.model else { return "no model was asked".to_owned() };
    if answered.cached {
        return format!("{model}, cached answer; nothing was sent");
    }
    let cost = answered.cost.map_or_else(|| "price unknown".to_owned(), |cost| cost.to_string());
    let answers = if answered.attempts > 1 { format!(" · {} attempts", answered.attempts) } else { String::new() };
    format!("{model} · {}{answers} · {cost}", count(answered.tokens.total(), "token"))
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
    row(page, "input", &format!("about {} tokens", number(planned.input_tokens)));
    row(page, "output", &format!("at most {} tokens", number(planned.output_tokens)));
    row(page, "cost", &planned.cost.map_or_else(|| "unknown".to_owned(), |cost| format!("at most {cost}")));
    let budget = if plan.cached { "not needed: the answer is cached" } else { "allowed" };
    row(page, "budget", plan.refusal_reason.as_deref().unwrap_or(budget));
}

fn row(page: &mut TextPage, label: &str, text: &str) {
    page.cell(Tone::Dim, label, LABEL_WIDTH, CellAlign::Left).line(Tone::Plain, text);
}

fn text_width(page: &TextPage, indent: usize) -> Option<usize> {
    page.width().map(|width| width.min(MAX_TEXT_WIDTH).saturating_sub(indent).max(1))
}
