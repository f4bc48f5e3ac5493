//! Answers about a session, for people: what is said, how sure that is, and where it stands.

use rethread_engine::{AskPlan, Asked, Confidence};

use super::words::{bytes, count, number};
use super::wrap::wrap;
use super::{Page, Side, Tone, WIDEST_TEXT, neutral, single};

/// Columns before an excerpt.
const INDENT: &str = "    ";
/// Columns of a label.
const LABEL: usize = 9;

/// The answer, how sure it is, and what it rests on.
pub(crate) fn answered(page: &mut Page, asked: &Asked) {
    let answer = &asked.answer;
    // The passages follow as citations, so they are not told twice.
    let said = if answer.is_extractive && !answer.citations.is_empty() {
        "No model was asked. Passages of the session that fit best, found by their words:"
    } else {
        answer.answer.as_str()
    };
    for line in wrap(&neutral(said), width(page, 0)) {
        page.line(Tone::Plain, &line);
    }
    page.end();
    let tone = match answer.confidence {
        Confidence::High => Tone::Good,
        Confidence::Medium => Tone::Plain,
        Confidence::Low => Tone::Careful,
    };
    page.add(Tone::Dim, "confidence ").line(tone, answer.confidence.as_str());
    for citation in &answer.citations {
        page.end().add(Tone::Strong, &asked.listed.session.citation(citation.line));
        page.line(Tone::Dim, &format!("  {}", citation.role.as_str()));
        for line in wrap(&single(&citation.excerpt), width(page, INDENT.len())) {
            page.add(Tone::Plain, INDENT).line(Tone::Plain, &line);
        }
    }
    for (at, note) in answer.notes.iter().enumerate() {
        if at == 0 {
            page.end();
        }
        page.add(Tone::Careful, "note: ").line(Tone::Plain, &single(note));
    }
}

/// Who was asked, and what that took.
pub(crate) fn price_of(asked: &Asked) -> String {
    let Some(model) = &asked.model else { return "no model was asked".to_owned() };
    if asked.cached {
        return format!("{model} was asked before; nothing was sent");
    }
    let cost = asked.cost.map_or_else(|| "price unknown".to_owned(), |cost| cost.to_string());
    let answers = if asked.attempts > 1 { format!(" · {} answers", asked.attempts) } else { String::new() };
    format!("{model} · {}{answers} · {cost}", count(asked.tokens.total(), "token"))
}

/// What asking would take.
pub(crate) fn would_ask(page: &mut Page, plan: &AskPlan) {
    let Some((model, planned)) = plan.model.as_ref().zip(plan.planned) else {
        page.line(
            Tone::Plain,
            "No model is configured: the passages that fit best would be quoted, which costs nothing.",
        );
        return;
    };
    row(page, "model", &single(model));
    let left_out =
        if plan.left_out > 0 { format!(", {} left out", number(plan.left_out as u64)) } else { String::new() };
    let entries = if plan.shown == 1 { "entry".to_owned() } else { format!("{} entries", number(plan.shown as u64)) };
    row(page, "session", &format!("{}, {entries}{left_out}", bytes(plan.bytes)));
    row(page, "input", &format!("about {} tokens", number(planned.input_tokens)));
    row(page, "output", &format!("at most {} tokens", number(planned.output_tokens)));
    row(page, "cost", &planned.cost.map_or_else(|| "unknown".to_owned(), |cost| format!("at most {cost}")));
    let budget = if plan.cached { "not needed: the answer is known" } else { "allows it" };
    row(page, "budget", plan.refused.as_deref().unwrap_or(budget));
}

fn row(page: &mut Page, label: &str, text: &str) {
    page.cell(Tone::Dim, label, LABEL, Side::Left).line(Tone::Plain, text);
}

fn width(page: &Page, indent: usize) -> Option<usize> {
    page.width().map(|width| width.min(WIDEST_TEXT).saturating_sub(indent).max(1))
}
