//! What a sync did, or would do: one line per agent.

use rethread_engine::{AgentReport, DryRun, EmbeddingReport, SyncReport};

use super::words::{bytes, count, number};
use super::{Page, Side, Tone};

/// How many warnings are listed before the rest is only counted.
const MOST_WARNINGS: usize = 10;

/// The width of the longest agent's name.
const NAME: usize = "claude-code".len();

/// One line per agent, with what was read.
pub(crate) fn synced(page: &mut Page, report: &SyncReport) {
    // An agent that was not looked at has nothing to tell.
    for agent in report.agents.iter().filter(|agent| agent.files > 0 || !agent.warnings.is_empty()) {
        let entry = if agent.entries == 1 { "entry" } else { "entries" };
        let news = if agent.entries > 0 { Tone::Good } else { Tone::Plain };
        let care = if agent.warnings.is_empty() { Tone::Plain } else { Tone::Careful };
        let parts = [
            (Tone::Plain, count(agent.files, "file")),
            (Tone::Plain, format!("{} changed", number(agent.files_changed))),
            (Tone::Plain, count(agent.sessions, "session")),
            (news, format!("{} new {entry}", number(agent.entries))),
            (Tone::Plain, count(agent.episodes, "episode")),
            (Tone::Plain, count(agent.facts, "fact")),
            (Tone::Plain, format!("{} read", bytes(agent.bytes_read))),
            (Tone::Plain, count(agent.redactions, "redaction")),
            (care, count(agent.warnings.len() as u64, "warning")),
            (Tone::Plain, format!("{:.1} s", report.seconds)),
        ];
        name(page, agent.agent.as_str());
        page.row(&parts, NAME + 2);
    }
}

/// One line per agent, with what would be read.
pub(crate) fn would_sync(page: &mut Page, runs: &[DryRun]) {
    for run in runs {
        name(page, run.agent.as_str());
        let excluded = if run.excluded > 0 { format!(" · {} excluded", number(run.excluded)) } else { String::new() };
        let to_read = format!("{} to read", number(run.files_changed));
        page.line(Tone::Plain, &format!("{} · {to_read} · {}{excluded}", count(run.files, "file"), bytes(run.bytes)));
    }
}

/// What could not be read; all of it if wanted.
pub(crate) fn warnings(page: &mut Page, agents: &[AgentReport], all: bool) {
    let warnings: Vec<_> = agents.iter().flat_map(|agent| &agent.warnings).collect();
    let shown = if all { warnings.len() } else { MOST_WARNINGS };
    for warning in warnings.iter().take(shown) {
        let line = warning.line.map_or_else(String::new, |line| format!(":{line}"));
        page.add(Tone::Careful, "warning: ").line(Tone::Plain, &format!("{}{line}: {}", warning.file, warning.message));
    }
    if warnings.len() > shown {
        let more = count((warnings.len() - shown) as u64, "more warning");
        page.add(Tone::Careful, "warning: ").line(Tone::Plain, &format!("{more} (-v shows all)"));
    }
}

/// How many entries got the numbers that stand for their meaning.
pub(crate) fn embedded(report: &EmbeddingReport) -> String {
    let entries = if report.made == 1 { "1 entry".to_owned() } else { format!("{} entries", number(report.made)) };
    let rest = if report.more { " · more after the next sync" } else { "" };
    format!("embedded {entries} · {:.1} s{rest}", report.seconds)
}

/// Why entries have none. They are found by their words.
pub(crate) fn not_embedded(why: &str) -> String {
    format!("what is new can be found by its words only: {why}")
}

fn name(page: &mut Page, agent: &str) {
    page.cell(Tone::Strong, agent, NAME, Side::Left).add(Tone::Plain, "  ");
}
