//! Parses the structured summary into items, so that it can be merged, shortened and rendered again.

use rethread_model::clip;

/// A section of the summary, in rendering order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SummarySection {
    Goal,
    Constraints,
    Done,
    InProgress,
    Blocked,
    Decisions,
    NextSteps,
    /// Also takes the content of unknown sections.
    Critical,
}

use SummarySection::{Blocked, Constraints, Critical, Decisions, Done, Goal, InProgress, NextSteps};

/// Each section with its heading.
const SECTION_HEADINGS: [(SummarySection, &str); 8] = [
    (Goal, "## Goal"),
    (Constraints, "## Constraints & Preferences"),
    (Done, "## Progress\n### Done"),
    (InProgress, "### In Progress"),
    (Blocked, "### Blocked"),
    (Decisions, "## Key Decisions"),
    (NextSteps, "## Next Steps"),
    (Critical, "## Critical Context"),
];
/// Placeholder for an empty section.
const EMPTY_ITEM: &str = "(none)";
/// Maximum length of an item, in characters.
const MAX_ITEM_CHARS: usize = 2_000;

/// A summary as lists of items, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SummarySections([Vec<String>; SECTION_HEADINGS.len()]);

impl SummarySections {
    /// Parses a summary. The content of unknown sections becomes critical context.
    pub(crate) fn parse(summary: &str) -> Self {
        let mut sections = Self::default();
        let mut section = Critical;
        let mut item = String::new();
        let mut in_code = false;
        for line in summary.lines() {
            let bare = line.trim();
            let is_fence = bare.starts_with("```");
            let goes_on = in_code || is_fence || line.starts_with("  ");
            in_code ^= is_fence;
            if goes_on && !item.is_empty() {
                item.push('\n');
                item.push_str(line);
                continue;
            }
            sections.add(section, &std::mem::take(&mut item));
            if let Some(heading) = section_of_heading(bare) {
                section = heading;
            } else if bare != "---" && !bare.starts_with("**Turn Context (split turn)") {
                without_marker(bare).clone_into(&mut item);
            }
        }
        sections.add(section, &item);
        sections
    }

    /// Appends an item to a section, unless it is already there.
    pub(crate) fn add(&mut self, section: SummarySection, item: &str) {
        let item = item.trim();
        let items = &mut self.0[section as usize];
        if !item.is_empty() && item != EMPTY_ITEM && !items.iter().any(|known| are_equal_items(known, item)) {
            items.push(clip(item, MAX_ITEM_CHARS).into_owned());
        }
    }

    /// Keeps only the newest `limit` items of a section.
    pub(crate) fn keep_newest(&mut self, section: SummarySection, limit: usize) {
        let items = &mut self.0[section as usize];
        items.drain(..items.len().saturating_sub(limit));
    }

    /// Removes the items of a section that start with `beginning`.
    pub(crate) fn remove_starting_with(&mut self, section: SummarySection, beginning: &str) {
        self.0[section as usize].retain(|item| !item.starts_with(beginning));
    }

    /// Removes the items of a section that a condition applies to, and returns them.
    pub(crate) fn take_where(
        &mut self,
        section: SummarySection,
        condition: impl FnMut(&mut String) -> bool,
    ) -> Vec<String> {
        self.0[section as usize].extract_if(.., condition).collect()
    }

    /// Renders the summary, dropping the oldest items of the longest sections until it fits.
    pub(crate) fn render_within(mut self, tokens: u64) -> String {
        loop {
            let written = self.render();
            let max_chars = usize::try_from(tokens.saturating_mul(4)).unwrap_or(usize::MAX);
            let excess = written.chars().count().saturating_sub(max_chars);
            if excess == 0 || !self.shorten(excess) {
                return written;
            }
        }
    }

    fn render(&self) -> String {
        let section = |(section, heading): &(SummarySection, &str)| {
            let items = &self.0[*section as usize];
            let lines: Vec<String> =
                items.iter().enumerate().map(|(at, item)| render_item(*section, at, items.len(), item)).collect();
            let lines = if lines.is_empty() { render_item(*section, 0, 1, EMPTY_ITEM) } else { lines.join("\n") };
            format!("{heading}\n{lines}")
        };
        SECTION_HEADINGS.iter().map(section).collect::<Vec<_>>().join("\n\n")
    }

    /// Removes about `excess` characters. Returns false if nothing more can be removed.
    fn shorten(&mut self, excess: usize) -> bool {
        let mut removed = 0;
        while removed < excess {
            let length = |at: usize| self.0[at].iter().map(String::len).sum::<usize>();
            let with_several = (0..SECTION_HEADINGS.len()).filter(|at| self.0[*at].len() > 1);
            let Some(longest) = with_several.max_by_key(|at| length(*at)) else { break };
            // The first goal is always kept: it is what the thread is about.
            removed += self.0[longest].remove(usize::from(longest == Goal as usize)).chars().count();
        }
        removed > 0 || self.halve_longest()
    }

    fn halve_longest(&mut self) -> bool {
        let longest = self.0.iter_mut().flatten().max_by_key(|item| item.len());
        let Some(longest) = longest.filter(|item| item.len() > MIN_ITEM_BYTES) else { return false };
        *longest = clip(longest, longest.chars().count() / 2).into_owned();
        true
    }
}

/// Items of at most this many bytes are not cut further.
const MIN_ITEM_BYTES: usize = 80;

/// The section a heading opens.
fn section_of_heading(line: &str) -> Option<SummarySection> {
    let name = line.strip_prefix('#')?.trim_start_matches('#').trim().trim_end_matches(':').to_lowercase();
    Some(match name.as_str() {
        "goal" | "goals" => Goal,
        "constraints & preferences" | "constraints" | "preferences" => Constraints,
        "progress" | "done" => Done,
        "in progress" | "early progress" => InProgress,
        "blocked" => Blocked,
        "key decisions" => Decisions,
        "next steps" => NextSteps,
        _ => Critical,
    })
}

/// Whether two items differ only in whitespace and letter case.
fn are_equal_items(one: &str, other: &str) -> bool {
    let (mut one, mut other) = (one.split_whitespace(), other.split_whitespace());
    loop {
        match (one.next(), other.next()) {
            (None, None) => return true,
            (Some(one), Some(other)) if one.eq_ignore_ascii_case(other) => {}
            _ => return false,
        }
    }
}

/// The text of a list item without its marker.
fn without_marker(line: &str) -> &str {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let text = match number.strip_prefix(". ") {
        Some(text) if number.len() < line.len() => text,
        _ => line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).unwrap_or(line),
    };
    ["[x] ", "[X] ", "[ ] "].iter().find_map(|marker| text.strip_prefix(marker)).unwrap_or(text)
}

fn render_item(section: SummarySection, at: usize, count: usize, item: &str) -> String {
    match section {
        Goal if count == 1 => item.to_owned(),
        _ if item == EMPTY_ITEM => format!("- {item}"),
        Done => format!("- [x] {item}"),
        InProgress => format!("- [ ] {item}"),
        NextSteps => format!("{}. {item}", at + 1),
        _ => format!("- {item}"),
    }
}

#[cfg(test)]
mod tests {
    use rethread_model::estimate_text_tokens;

    use super::*;

    #[test]
    fn a_parsed_summary_renders_unchanged() {
        // S7.14
        let summary = "## Goal\nShip it\n\n## Constraints & Preferences\n- No unsafe\n\n## Progress\n### Done\n\
            - [x] Parser\n- [x] Tests\n\n### In Progress\n- [ ] Docs\n\n### Blocked\n- (none)\n\n## Key Decisions\n\
            - **Rust**: fast\n  and safe\n\n## Next Steps\n1. Write\n2. Ship\n\n## Critical Context\n- Port 80";
        assert_eq!(SummarySections::parse(summary).render(), summary);
    }

    #[test]
    fn unknown_sections_and_turn_contexts_are_kept() {
        let summary = "## Goal\nx\n\n## Notes\n- of old\n\n---\n\n**Turn Context (split turn):**\n\n\
            ## Original Request\nFix y\n\n## Early Progress\n- Looked at z";
        let sections = SummarySections::parse(summary);
        assert_eq!(sections.0[Critical as usize], ["of old", "Fix y"]);
        assert_eq!(sections.0[InProgress as usize], ["Looked at z"]);
    }

    #[test]
    fn the_oldest_items_are_dropped_first_but_never_the_first_goal() {
        let mut sections = SummarySections::default();
        for number in 0..100 {
            sections.add(Goal, &format!("goal {number} {}", "x".repeat(50)));
            sections.add(Done, &format!("deed {number} {}", "x".repeat(50)));
        }
        let written = sections.render_within(600);
        assert!(estimate_text_tokens(&written) <= 600, "{written}");
        for kept in ["goal 0 ", "goal 99 ", "deed 99 "] {
            assert!(written.contains(kept), "{kept} in {written}");
        }
        assert!(!written.contains("goal 1 ") && !written.contains("deed 0 "));
    }
}
