//! Text output of `rethread status`: storage, counts, budget and compression.

use rethread_engine::{AgentCoverage, BudgetStatus, EngineStatus, FoundAgent, IndexLag, MemoryTiers, TierStatus};

use super::format::{bytes, count, number};
use super::{CellAlign, TextPage, Tone, enrichment_summary, reduction_table};

const LABEL_WIDTH: usize = 13;

/// Renders sizes, counts, redactions and the measured compression.
pub(crate) fn status(page: &mut TextPage, status: &EngineStatus) {
    page.line(Tone::Strong, &format!("Rethread {}", status.version));
    row(page, "home", &status.folder.display().to_string());
    row(page, "budget", &budget(&status.budget));
    agents(page, &status.agents);
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
            format!("up to {} entries behind; searches read them from the store", number(entries))
        }
        IndexLag::Unusable(_) => "not built; the next sync or search builds it".to_owned(),
    };
    row(page, "index", &format!("{}, {lag}", bytes(status.index_bytes)));
    let aside = format!("plus {} of sub-agents, {} empty", number(all.child_sessions), number(all.empty_sessions));
    row(page, "sessions", &format!("{} ({aside})", number(all.sessions)));
    row(page, "memory", &tiers(&status.tiers));
    row(page, "transcripts", &format!("{}, {} read", count(all.transcripts, "file"), bytes(all.bytes_read)));
    row(page, "entries", &number(all.entries));
    row(page, "episodes", &number(all.episodes));
    let added = enrichment_summary(&status.enrichment).map_or_else(String::new, |how| format!(", {how}"));
    row(page, "facts", &format!("{}{added}", number(all.facts)));
    let redactions = all.redactions.iter().map(|(_, count)| count).sum();
    row(page, "redactions", &number(redactions));
    let widest = all.redactions.iter().map(|(rule, _)| rule.len()).max().unwrap_or(0);
    for (rule, amount) in &all.redactions {
        page.add(Tone::Plain, "  ").cell(Tone::Plain, rule, widest, CellAlign::Left).add(Tone::Plain, "  ");
        page.cell(Tone::Plain, &number(*amount), 6, CellAlign::Right).end_line();
    }
    if !status.reductions.is_empty() {
        page.end_line();
        reduction_table(page, &status.reductions);
    }
}

/// The agents that were used on this machine, and whether they are read.
fn agents(page: &mut TextPage, agents: &[FoundAgent]) {
    for (at, found) in agents.iter().enumerate() {
        let read = match found.coverage {
            AgentCoverage::Read { sessions } => format!("{}: {}", found.label, count(sessions, "session")),
            other => format!("{}: {}", found.label, other.explanation().unwrap_or_default()),
        };
        row(page, if at == 0 { "agents" } else { "" }, &read);
    }
}

/// Hot entries, sessions of the last week, older sessions, and archived periods of work.
fn tiers(all: &TierStatus) -> String {
    let MemoryTiers { hot_entries: hot, recent_sessions: warm, older_sessions: cold } = all.counts;
    let sessions = format!("sessions: {} recent, {} older", number(warm), number(cold));
    let archives = format!("archived periods: {}, {}", number(all.archive_count), bytes(all.archive_bytes));
    format!("hot entries: {}; {sessions}; {archives}", number(hot))
}

/// The daily limits for model requests, and what was spent today.
fn budget(budget: &BudgetStatus) -> String {
    let limits =
        [budget.daily_usd.map(|usd| usd.to_string()), budget.daily_tokens.map(|tokens| count(tokens, "token"))];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    if limits.is_empty() && budget.requests == 0 {
        return "none, so no requests are sent to a model".to_owned();
    }
    let limit = if limits.is_empty() { "none".to_owned() } else { format!("{} per day", limits.join(" and ")) };
    let requests = count(budget.requests, "request");
    format!("{limit}; today {requests}, {}, {}", count(budget.tokens, "token"), budget.usd)
}

fn row(page: &mut TextPage, label: &str, text: &str) {
    page.cell(Tone::Dim, label, LABEL_WIDTH, CellAlign::Left).line(Tone::Plain, text);
}
