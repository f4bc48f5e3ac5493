//! Session cards as text, and what asking a model for one would cost.

use rethread_engine::{CardPlan, NanoUsd, SessionCard};
use rethread_model::Timestamp;

use super::format::{age, number};
use super::sessions::label_marks;
use super::wrap::wrap;
use super::{CellAlign, MAX_TEXT_WIDTH, TextPage, Tone, sanitize_line};

/// Width of the label column.
const LABEL_WIDTH: usize = 10;
/// In billionths of a dollar.
const ONE_CENT: u64 = 10_000_000;

/// Renders name, description, summary and tags.
pub(crate) fn card(page: &mut TextPage, card: &SessionCard, now: Timestamp) {
    let session = &card.session;
    let width = page.width().map(|width| width.min(MAX_TEXT_WIDTH));
    page.line(Tone::Strong, &sanitize_line(&card.fields.name));
    let id = rethread_model::short_id(&session.id.to_string()).to_owned();
    let by =
        card.model.as_deref().map_or_else(|| "generated without a model".to_owned(), |model| format!("by {model}"));
    let is_older = if card.is_outdated { "the session has changed since" } else { "" };
    page.row(
        &[
            (Tone::Dim, id),
            (Tone::Dim, session.agent.to_string()),
            (Tone::Dim, age(Some(card.updated_at), now)),
            (Tone::Dim, by),
            (Tone::Warning, is_older.to_owned()),
        ],
        0,
    );
    if card.is_pinned || !card.user_tags.is_empty() {
        page.line(Tone::Plain, label_marks(card.is_pinned, &card.user_tags).trim_start());
    }
    page.end_line();
    for line in wrap(&sanitize_line(&card.fields.description), width) {
        page.line(Tone::Plain, &line);
    }
    page.end_line();
    for line in wrap(&card.fields.summary, width) {
        match line.strip_prefix("## ") {
            Some(heading) => page.line(Tone::Strong, heading),
            None => page.line(Tone::Plain, &line),
        };
    }
    page.end_line();
    let tags: Vec<(Tone, String)> = card.fields.tags.iter().map(|tag| (Tone::Dim, tag.clone())).collect();
    page.row(&tags, 0);
}

/// Renders what asking a model for a card would cost.
pub(crate) fn card_plan(page: &mut TextPage, plan: &CardPlan) {
    let mut row = |label: &str, text: &str| {
        page.cell(Tone::Dim, label, LABEL_WIDTH, CellAlign::Left).line(Tone::Plain, text);
    };
    row("model", &sanitize_line(&plan.model));
    let part = if plan.is_truncated { " (only the most recent part of the session)" } else { "" };
    row("input", &format!("about {} tokens{part}", number(plan.planned.input_tokens)));
    row("output", &format!("at most {} tokens", number(plan.planned.output_tokens)));
    let max_cost = plan.planned.cost.map_or_else(|| "unknown".to_owned(), |sum| format!("at most {}", cost(Some(sum))));
    row("cost", &format!("{max_cost} per attempt, up to three attempts"));
    row("new", &format!("{} of {} prompts needed", plan.new_prompts, plan.needed_prompts));
    row("budget", plan.refusal_reason.as_deref().unwrap_or("allowed"));
}

/// A cost with four decimals from one cent on, six below.
// E001-10
pub(crate) fn cost(sum: Option<NanoUsd>) -> String {
    let Some(sum) = sum else { return "unknown price".to_owned() };
    let dollars = sum.get() as f64 / 1e9;
    if sum.get() >= ONE_CENT { format!("${dollars:.4}") } else { format!("${dollars:.6}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    // E001-10
    #[test]
    fn small_costs_have_six_decimals() {
        let check = |billionths: u64, expect: &str| assert_eq!(cost(Some(NanoUsd::new(billionths))), expect);
        check(10_000_000, "$0.0100");
        check(9_999_000, "$0.009999");
        check(1_234_567_890, "$1.2346");
        check(0, "$0.000000");
        assert_eq!(cost(None), "unknown price");
    }
}
