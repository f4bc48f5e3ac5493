//! Text output of `rethread sync`: one line per agent.

use rethread_engine::{AgentSyncPlan, AgentSyncReport, CarryOverReport, EmbeddingReport, SyncReport};
use rethread_model::Agent;

use super::format::{bytes, count, number};
use super::{CellAlign, TextPage, Tone};

/// Warnings listed before the rest is only counted.
const MAX_WARNINGS: usize = 10;

/// Renders what was read, one line per agent.
pub(crate) fn sync_report(page: &mut TextPage, report: &SyncReport) {
    // Agents without files or warnings are not listed.
    for agent in report.agents.iter().filter(|agent| agent.files > 0 || !agent.warnings.is_empty()) {
        let entry = if agent.entries == 1 { "entry" } else { "entries" };
        let entries_tone = if agent.entries > 0 { Tone::Success } else { Tone::Plain };
        let warnings_tone = if agent.warnings.is_empty() { Tone::Plain } else { Tone::Warning };
        let parts = [
            (Tone::Plain, count(agent.files, "file")),
            (Tone::Plain, format!("{} changed", number(agent.files_changed))),
            (Tone::Plain, count(agent.sessions, "session")),
            (entries_tone, format!("{} new {entry}", number(agent.entries))),
            (Tone::Plain, count(agent.episodes, "episode")),
            (Tone::Plain, count(agent.facts, "fact")),
            (Tone::Plain, format!("{} read", bytes(agent.bytes_read))),
            (Tone::Plain, count(agent.redactions, "redaction")),
            (warnings_tone, count(agent.warnings.len() as u64, "warning")),
            (Tone::Plain, format!("{:.1} s", report.seconds)),
        ];
        agent_cell(page, agent.agent.as_str());
        page.row(&parts, Agent::MAX_NAME_LENGTH + 2);
    }
}

/// Renders what would be read, one line per agent.
pub(crate) fn sync_plan(page: &mut TextPage, runs: &[AgentSyncPlan], with_files: bool) {
    for run in runs {
        agent_cell(page, run.agent.as_str());
        let excluded = if run.excluded > 0 { format!(" · {} excluded", number(run.excluded)) } else { String::new() };
        let to_read = format!("{} to read", number(run.files_changed));
        page.line(Tone::Plain, &format!("{} · {to_read} · {}{excluded}", count(run.files, "file"), bytes(run.bytes)));
        for unread in run.unread.iter().filter(|_| with_files) {
            page.line(Tone::Dim, &format!("  {} ({})", unread.path.display(), bytes(unread.bytes)));
        }
    }
}

/// Renders the warnings; with `all` without a limit.
pub(crate) fn warnings(page: &mut TextPage, agents: &[AgentSyncReport], all: bool) {
    let warnings: Vec<_> = agents.iter().flat_map(|agent| &agent.warnings).collect();
    let shown = if all { warnings.len() } else { MAX_WARNINGS };
    for warning in warnings.iter().take(shown) {
        let line = warning.line.map_or_else(String::new, |line| format!(":{line}"));
        page.add(Tone::Warning, "warning: ").line(Tone::Plain, &format!("{}{line}: {}", warning.file, warning.message));
    }
    if warnings.len() > shown {
        let more = count((warnings.len() - shown) as u64, "more warning");
        page.add(Tone::Warning, "warning: ").line(Tone::Plain, &format!("{more} (use -v to see all)"));
    }
}

/// How many entries were embedded.
pub(crate) fn embedding_report(report: &EmbeddingReport) -> String {
    let entries =
        if report.embedded == 1 { "1 entry".to_owned() } else { format!("{} entries", number(report.embedded)) };
    let rest = if report.has_more { " · the rest follows with the next sync" } else { "" };
    format!("embedded {entries} · {:.1} s{rest}", report.seconds)
}

/// Why entries were not embedded. Keyword search still finds them.
pub(crate) fn embedding_failure(why: &str) -> String {
    format!("new entries can be found by keyword only: {why}")
}

fn agent_cell(page: &mut TextPage, agent: &str) {
    page.cell(Tone::Strong, agent, Agent::MAX_NAME_LENGTH, CellAlign::Left).add(Tone::Plain, "  ");
}

/// What became of a store that had to be replaced, as one line.
pub(crate) fn carried_over(old: &CarryOverReport) -> String {
    let (path, carried) = (old.path.display(), &old.carried);
    let found = format!(
        "the store was replaced; carried over {}, {} stored entries, {} and {} of your own data; the old file is kept: {path}",
        count(carried.sessions, "session"),
        number(carried.entries),
        count(carried.tombstones, "tombstone"),
        count(carried.own_rows, "row"),
    );
    if carried.damaged_tables.is_empty() && carried.rejected_rows == 0 {
        return found;
    }
    let lost = carried.damaged_tables.join(", ");
    format!("{found}; some rows could not be read ({lost})")
}
