//! Decisions in a plan that a human approved or handed over.
//!
//! They are its approach, its numbered changes, its sections about decisions, and what it leaves out.

use std::sync::LazyLock;

use rethread_model::{FactState, clip};

use super::decision::WrittenDecision;
use super::design::title;
use super::names::is_task;
use crate::facts::pattern::CuePattern;
use crate::parse::APPROVED_PLAN;

/// Maximum number of decisions of one plan.
const MAX_DECISIONS: usize = 16;
/// Maximum length of a subject, in characters.
const MAX_SUBJECT_CHARS: usize = 60;
/// Maximum length of a stored text, in characters.
const MAX_DETAIL_CHARS: usize = 240;
/// A shorter text is not a plan.
const MIN_PLAN_BYTES: usize = 200;

/// Whether a human's text is a plan to carry out.
pub(super) fn is_plan(text: &str) -> bool {
    static START: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        CuePattern::new(
            r"(?i)^\s*(?:please )?(?:implement|execute|carry out|follow) (?:the following|this|the) (?:approved )?plan\b",
        )
    });
    let is_handed_over = || START.as_ref().is_some_and(|start| start.is_match(text));
    text.len() >= MIN_PLAN_BYTES && (text.starts_with(APPROVED_PLAN) || is_handed_over())
}

/// What the lines below a heading are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PlanSection {
    /// Decisions of this state, one per item.
    Decisions(FactState),
    /// The way in which it will be done, said in the first line.
    Approach,
}

/// The decisions of a plan, in order.
pub(super) fn planned_decisions(plan: &str) -> Vec<WrittenDecision> {
    let mut found = Vec::new();
    let (mut section, mut in_code) = (None, false);
    for line in plan.lines() {
        if found.len() >= MAX_DECISIONS {
            break;
        }
        let line = line.trim();
        in_code ^= line.starts_with("```");
        if in_code || line.is_empty() {
            continue;
        }
        if let Some(title) = title(line) {
            section = section_kind(title);
            found.extend(planned_change(line, title));
        } else if section == Some(PlanSection::Approach) {
            section = None;
            found.extend(is_sentence(line).then(|| chosen(line)));
        } else if let Some(PlanSection::Decisions(state)) = section {
            found.extend(planned_item(line).map(|(subject, detail, reason)| WrittenDecision {
                subject,
                state,
                detail,
                reason,
            }));
        }
    }
    found.truncate(MAX_DECISIONS);
    found
}

/// The decision for what a text of a plan says.
fn chosen(text: &str) -> WrittenDecision {
    let bare = text.replace("**", "");
    WrittenDecision {
        subject: plan_subject(bare.split(". ").next().unwrap_or(&bare)).trim_end_matches('.').to_owned(),
        detail: clip(&bare, MAX_DETAIL_CHARS).into_owned(),
        reason: None,
        state: FactState::Confirmed,
    }
}

fn is_sentence(line: &str) -> bool {
    !line.starts_with(['-', '*', '|', '`', '>', '<', '1']) && line.split_whitespace().count() >= 4
}

/// The change that a heading names: "### 2. Validate ids", "## Fix: one query per page", "### Part 1: offsets".
fn planned_change(line: &str, title: &str) -> Option<WrittenDecision> {
    static CHANGE: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        CuePattern::new(
            r"(?i)^(?:(?:part )?\d{1,2}[.):]|part [a-h\d]:|(?:fix|approach|solution|design|strategy):) +(?P<change>.+)$",
        )
    });
    // The title of a whole plan may name the problem.
    let change = CHANGE.as_ref()?.captures(title).filter(|_| line.starts_with("##"))?.name("change")?.as_str();
    (!is_step(change)).then(|| chosen(change))
}

/// Whether a heading names a step of work, without saying in which way it is done.
fn is_step(change: &str) -> bool {
    static WAY: LazyLock<Option<CuePattern>> =
        LazyLock::new(|| CuePattern::new(r"(?i)\b(?:instead|rather|with|by|using|via|without|only|before|into|as)\b"));
    let words = change.split_whitespace().count();
    // "`src/main.rs` (new)" is a file to change.
    if change.starts_with('`') {
        return true;
    }
    let says_how = WAY.as_ref().is_some_and(|way| way.is_match(change));
    words < 3 || (is_task(&change.to_lowercase()) && !says_how)
}

fn section_kind(title: &str) -> Option<PlanSection> {
    static TABLE: LazyLock<Option<[CuePattern; 3]>> = LazyLock::new(|| {
        let made = CuePattern::new(r"(?i)\bdecisions?\b|\bdesign choices\b")?;
        let left_out = CuePattern::new(
            r"(?i)\b(?:out of scope|non-goals?|not (?:doing|changing|fixing|included)|won't (?:do|fix)|rejected|skipped|deferred|dismissed|false positives?|no changes?)\b",
        )?;
        let approach = CuePattern::new(
            r"(?i)^(?:(?:proposed|chosen|recommended|our|high-level) )?(?:approach|solution|strategy|design)$",
        )?;
        Some([made, left_out, approach])
    });
    let [made, left_out, approach] = TABLE.as_ref()?;
    match (left_out.is_match(title), made.is_match(title), approach.is_match(title)) {
        (true, ..) => Some(PlanSection::Decisions(FactState::Refuted)),
        (_, true, _) => Some(PlanSection::Decisions(FactState::Confirmed)),
        (_, _, true) => Some(PlanSection::Approach),
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
        return Some((
            plan_subject(subject),
            clip(&format!("{subject}: {chosen}").replace("**", ""), MAX_DETAIL_CHARS).into_owned(),
            reason,
        ));
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

    #[test]
    fn an_approved_plan_decides_its_approach_and_its_numbered_changes() {
        let plan = format!(
            "{APPROVED_PLAN}\n\n# Fix: totals are wrong instead of rounded\n\n## Context\nIt is slow. {}\n\n\
             ## Approach\n\nRound once at the end. Nothing else changes.\n\n### 1. Replace floats with integers of cents\n\
             text\n### 2. Add tests\n### Step 3: run it\n## Solution: one table per year\n",
            "x".repeat(150)
        );
        assert!(is_plan(&plan));
        let found: Vec<String> = planned_decisions(&plan).into_iter().map(|one| one.subject).collect();
        assert_eq!(found, ["round once at the end", "replace floats with integers of cents", "one table per year"]);
    }
}
