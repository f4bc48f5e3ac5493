//! Decisions in a plan that a human approved or handed over: its sections about decisions, and about what is left out.

use std::sync::LazyLock;

use regex::Regex;
use rethread_model::{FactState, clip};

/// Maximum number of decisions of one plan.
const MAX_DECISIONS: usize = 16;
/// Maximum length of a subject, in characters.
const MAX_SUBJECT_CHARS: usize = 60;
/// A shorter text is not a plan.
const MIN_PLAN_BYTES: usize = 200;

/// A decision of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlannedDecision {
    pub(super) subject: String,
    pub(super) detail: String,
    pub(super) reason: Option<String>,
    pub(super) state: FactState,
}

/// Whether a human's text is a plan to carry out.
pub(super) fn is_plan(text: &str) -> bool {
    static START: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)^\s*(?:please )?(?:implement|execute|carry out|follow) (?:the following|this|the) (?:approved )?plan\b")
            .ok()
    });
    text.len() >= MIN_PLAN_BYTES && START.as_ref().is_some_and(|start| start.is_match(text))
}

/// The decisions of a plan, in order.
pub(super) fn planned_decisions(plan: &str) -> Vec<PlannedDecision> {
    let mut found = Vec::new();
    let (mut section, mut in_code) = (None, false);
    for line in plan.lines() {
        let line = line.trim();
        in_code ^= line.starts_with("```");
        if in_code {
            continue;
        }
        if let Some(title) = heading(line) {
            section = section_state(title);
        } else if let Some(state) = section {
            found.extend(planned_item(line).map(|(subject, detail, reason)| PlannedDecision {
                subject,
                detail,
                reason,
                state,
            }));
        }
    }
    found.truncate(MAX_DECISIONS);
    found
}

fn heading(line: &str) -> Option<&str> {
    let is_bold =
        line.starts_with("**") && line.trim_end_matches(':').ends_with("**") && line.matches("**").count() == 2;
    (line.starts_with('#') || is_bold).then(|| line.trim_matches(['#', '*', ':', ' ']))
}

fn section_state(title: &str) -> Option<FactState> {
    static TABLE: LazyLock<Option<(Regex, Regex)>> = LazyLock::new(|| {
        let made = Regex::new(r"(?i)\bdecisions?\b|\bdesign choices\b").ok()?;
        let left_out = Regex::new(r"(?i)\b(?:out of scope|non-goals?|not (?:doing|changing|fixing|included)|won't (?:do|fix)|rejected|skipped|deferred|dismissed|false positives?|no changes?)\b").ok()?;
        Some((made, left_out))
    });
    let (made, left_out) = TABLE.as_ref()?;
    match (left_out.is_match(title), made.is_match(title)) {
        (true, _) => Some(FactState::Refuted),
        (_, true) => Some(FactState::Confirmed),
        _ => None,
    }
}

/// A bullet with a title, or a row of a table: subject, text and reason.
fn planned_item(line: &str) -> Option<(String, String, Option<String>)> {
    if line.starts_with('|') {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let is_rule = cells.iter().all(|cell| cell.chars().all(|c| matches!(c, '-' | ':' | ' ')));
        let is_title = matches!(
            cells.first()?.to_lowercase().as_str(),
            "decision" | "question" | "topic" | "choice" | "item" | "issue" | "finding" | "option" | "area" | "#"
        );
        let [subject, chosen, rest @ ..] = cells.as_slice() else { return None };
        if is_rule || is_title || subject.is_empty() {
            return None;
        }
        let reason = rest.first().filter(|reason| !reason.is_empty()).map(|reason| clip(reason, 240).into_owned());
        return Some((plan_subject(subject), format!("{subject}: {chosen}").replace("**", ""), reason));
    }
    let bullet = line.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches(['.', ')']);
    let bullet = if bullet.len() < line.len() {
        bullet.trim_start()
    } else {
        line.strip_prefix(['-', '*', '•'])?.trim_start()
    };
    let bare = bullet.replace("**", "");
    if !(10..=600).contains(&bare.len()) {
        return None;
    }
    let end =
        [": ", " — ", " – ", " - ", ". ", "; "].iter().filter_map(|mark| bare.find(mark)).min().unwrap_or(bare.len());
    let reason =
        bare.find(" because ").map(|at| clip(bare[at + " because ".len()..].trim_end_matches('.'), 240).into_owned());
    Some((plan_subject(&bare[..end]), bare.clone(), reason))
}

fn plan_subject(text: &str) -> String {
    clip(&text.replace("**", "").to_lowercase(), MAX_SUBJECT_CHARS).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_about_decisions_and_what_is_left_out_are_read() {
        let plan = format!(
            "Implement the following plan:\n\n# Cache\n\n## Context\n- it is slow {}\n\n## Key decisions\n\n\
             | Decision | Choice | Why |\n|---|---|---|\n| Store | SQLite | one file |\n\n- **Keys**: hashed, because paths are long.\n\n\
             ## Out of scope\n1. A daemon that warms it\n\n## Steps\n- add the table\n",
            "x".repeat(150)
        );
        assert!(is_plan(&plan) && !is_plan("implement the following plan"));
        let found = planned_decisions(&plan);
        let shown: Vec<(&str, FactState, Option<&str>)> =
            found.iter().map(|one| (one.subject.as_str(), one.state, one.reason.as_deref())).collect();
        assert_eq!(
            shown,
            [
                ("store", FactState::Confirmed, Some("one file")),
                ("keys", FactState::Confirmed, Some("paths are long")),
                ("a daemon that warms it", FactState::Refuted, None),
            ]
        );
        assert_eq!(found[0].detail, "Store: SQLite");
    }
}
