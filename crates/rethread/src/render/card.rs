//! The card of a session as people read it.

use rethread_engine::{Card, CardPlan, NanoUsd};
use rethread_model::Timestamp;

use super::words::{age, number};
use super::wrap::wrap;
use super::{Page, SHORT_ID, Side, Tone, WIDEST_TEXT, single};

/// Columns of the labels of a plan.
const LABEL: usize = 10;
/// From here on four decimals of a dollar say enough.
const ONE_CENT: u64 = 10_000_000;

/// Puts a card on the page.
pub(crate) fn card(page: &mut Page, card: &Card, now: Timestamp) {
    let session = &card.session;
    let width = page.width().map(|width| width.min(WIDEST_TEXT));
    page.line(Tone::Strong, &single(&card.fields.name));
    let id: String = session.id.to_string().chars().take(SHORT_ID).collect();
    let by = card.made_by.as_deref().map_or_else(|| "by rules".to_owned(), |model| format!("by {model}"));
    let is_older = if card.is_older { "the session has gone on since" } else { "" };
    page.row(
        &[
            (Tone::Dim, id),
            (Tone::Dim, session.agent.to_string()),
            (Tone::Dim, age(Some(card.updated_at), now)),
            (Tone::Dim, by),
            (Tone::Careful, is_older.to_owned()),
        ],
        0,
    );
    page.end();
    for line in wrap(&single(&card.fields.description), width) {
        page.line(Tone::Plain, &line);
    }
    page.end();
    for line in wrap(&card.fields.summary, width) {
        match line.strip_prefix("## ") {
            Some(heading) => page.line(Tone::Strong, heading),
            None => page.line(Tone::Plain, &line),
        };
    }
    page.end();
    let tags: Vec<(Tone, String)> = card.fields.tags.iter().map(|tag| (Tone::Dim, tag.clone())).collect();
    page.row(&tags, 0);
}

/// What asking a model for a card would take.
pub(crate) fn would_ask_for_card(page: &mut Page, plan: &CardPlan) {
    let mut row = |label: &str, text: &str| {
        page.cell(Tone::Dim, label, LABEL, Side::Left).line(Tone::Plain, text);
    };
    row("model", &single(&plan.model));
    let part = if plan.is_cut { ", the most recent part of the session" } else { "" };
    row("input", &format!("about {} tokens{part}", number(plan.planned.input_tokens)));
    row("output", &format!("at most {} tokens", number(plan.planned.output_tokens)));
    let most = plan.planned.cost.map_or_else(|| "unknown".to_owned(), |sum| format!("at most {}", cost(Some(sum))));
    row("cost", &format!("{most}, for each of at most three answers"));
    row("new", &format!("{} of {} prompts", plan.new, plan.needed));
    row("budget", plan.refused.as_deref().unwrap_or("allows it"));
}

/// A cost with four decimals from a cent on, six below (E001-10).
pub(crate) fn cost(sum: Option<NanoUsd>) -> String {
    let Some(sum) = sum else { return "an unknown price".to_owned() };
    let dollars = sum.get() as f64 / 1e9;
    if sum.get() >= ONE_CENT { format!("${dollars:.4}") } else { format!("${dollars:.6}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e001_10_small_costs_have_six_decimals() {
        let check = |billionths: u64, expect: &str| assert_eq!(cost(Some(NanoUsd::new(billionths))), expect);
        check(10_000_000, "$0.0100");
        check(9_999_000, "$0.009999");
        check(1_234_567_890, "$1.2346");
        check(0, "$0.000000");
        assert_eq!(cost(None), "an unknown price");
    }
}
