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
    let is_listed = |agent: &&AgentSyncReport| agent.files > 0 || !agent.warnings.is_empty();
    let listed: Vec<_> = report.agents.iter().filter(is_listed).collect();
    let seconds = (Tone::Plain, format!("{:.1} s", report.seconds));
    for agent in &listed {
        let entry = if agent.entries == 1 { "entry" } else { "entries" };
        let entries_tone = if agent.entries > 0 { Tone::Success } else { Tone::Plain };
        let warnings_tone = if agent.warnings.is_empty() { Tone::Plain } else { Tone::Warning };
        let mut parts = vec![
            (Tone::Plain, count(agent.files, "file")),
            (Tone::Plain, format!("{} changed", number(agent.files_changed))),
            (Tone::Plain, count(agent.sessions, "session")),
            (entries_tone, format!("{} new {entry}", number(agent.entries))),
            (Tone::Plain, count(agent.episodes, "episode")),
            (Tone::Plain, count(agent.facts, "fact")),
            (Tone::Plain, format!("{} read", bytes(agent.bytes_read))),
            (Tone::Plain, count(agent.redactions, "redaction")),
            (warnings_tone, count(agent.warnings.len() as u64, "warning")),
        ];
        // Agents are read at the same time.
        parts.extend((listed.len() == 1).then(|| seconds.clone()));
        agent_cell(page, agent.agent.as_str());
        page.row(&parts, Agent::MAX_NAME_LENGTH + 2);
    }
    if listed.len() > 1 {
        let files = (Tone::Plain, count(listed.iter().map(|agent| agent.files).sum(), "file"));
        agent_cell(page, "total");
        page.row(&[files, seconds], Agent::MAX_NAME_LENGTH + 2);
    }
}

/// Renders what would be read, one line per agent.
pub(crate) fn sync_plan(page: &mut TextPage, runs: &[AgentSyncPlan], with_files: bool) {
    for run in runs {
        agent_cell(page, run.agent.as_str());
        let excluded = if run.excluded > 0 { format!(" · {} excluded", number(run.excluded)) } else { String::new() };
        let to_read = format!("{} to read", number(run.files_changed));
        let is_size_known = run.bytes > 0 || run.files_changed == 0;
        let size = if is_size_known { format!(" · {}", bytes(run.bytes)) } else { String::new() };
        page.line(Tone::Plain, &format!("{} · {to_read}{size}{excluded}", count(run.files, "file")));
        for unread in run.unread.iter().filter(|_| with_files) {
            let size = if unread.bytes > 0 { format!(" ({})", bytes(unread.bytes)) } else { String::new() };
            page.line(Tone::Dim, &format!("  {}{size}", unread.path.display()));
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
