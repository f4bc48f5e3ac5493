//! Sizes and counts for people, with how much of the transcripts was left out.

use rethread_engine::{BudgetStatus, IndexLag, Status, TierStatus, Tiers};

use super::words::{bytes, count, number};
use super::{Page, Side, Tone, enrichment, kept};

const LABEL: usize = 13;

/// Puts sizes, counts, redactions and the measured reduction on the page.
pub(crate) fn status(page: &mut Page, status: &Status) {
    page.line(Tone::Strong, &format!("Rethread {}", status.version));
    row(page, "home", &status.folder.display().to_string());
    row(page, "budget", &budget(&status.budget));
    let Some(all) = &status.statistics else {
        row(page, "store", "none yet");
        return;
    };
    row(
        page,
        "store",
        &format!("{}, schema {}, change {}", bytes(status.database_bytes), all.schema, number(all.change)),
    );
    let lag = match status.index_lag {
        IndexLag::None => "up to date".to_owned(),
        IndexLag::Entries(entries) => {
            format!("up to {} entries behind; a search reads them from the store", number(entries))
        }
        IndexLag::Unusable(_) => "the next sync or search makes it".to_owned(),
    };
    row(page, "index", &format!("{}, {lag}", bytes(status.index_bytes)));
    let aside = format!("and {} of sub-agents, {} empty", number(all.children), number(all.empty));
    row(page, "sessions", &format!("{} ({aside})", number(all.sessions)));
    row(page, "memory", &tiers(&status.tiers));
    row(page, "transcripts", &format!("{}, {} read", count(all.transcripts, "file"), bytes(all.bytes_read)));
    row(page, "entries", &number(all.entries));
    row(page, "episodes", &number(all.episodes));
    let added = enrichment(&status.enrichment).map_or_else(String::new, |how| format!(", {how}"));
    row(page, "facts", &format!("{}{added}", number(all.facts)));
    let redactions = all.redactions.iter().map(|(_, count)| count).sum();
    row(page, "redactions", &number(redactions));
    let widest = all.redactions.iter().map(|(rule, _)| rule.len()).max().unwrap_or(0);
    for (rule, amount) in &all.redactions {
        page.add(Tone::Plain, "  ").cell(Tone::Plain, rule, widest, Side::Left).add(Tone::Plain, "  ");
        page.cell(Tone::Plain, &number(*amount), 6, Side::Right).end();
    }
    if !status.kept.is_empty() {
        page.end();
        kept(page, &status.kept);
    }
}

/// What is at hand, what is looked into with a prompt, what is found when asked for, and what was put away.
fn tiers(all: &TierStatus) -> String {
    let Tiers { hot, warm, cold } = all.tiers;
    let sessions = format!("sessions: {} warm, {} cold", number(warm), number(cold));
    let archives = format!("archived periods: {}, {}", number(all.archives), bytes(all.archive_bytes));
    format!("hot entries: {}; {sessions}; {archives}", number(hot))
}

/// What may be spent on models, and what was today.
fn budget(budget: &BudgetStatus) -> String {
    let limits =
        [budget.daily_usd.map(|usd| usd.to_string()), budget.daily_tokens.map(|tokens| count(tokens, "token"))];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    if limits.is_empty() && budget.requests == 0 {
        return "none: nothing is sent to a model".to_owned();
    }
    let limit = if limits.is_empty() { "none".to_owned() } else { format!("{} a day", limits.join(" and ")) };
    let requests = count(budget.requests, "request");
    format!("{limit}; today {requests}, {}, {}", count(budget.tokens, "token"), budget.usd)
}

fn row(page: &mut Page, label: &str, text: &str) {
    page.cell(Tone::Dim, label, LABEL, Side::Left).line(Tone::Plain, text);
}
