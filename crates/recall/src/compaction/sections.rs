//! The structured summary taken apart into items, so that it can be merged, shortened and written again.

use rethread_model::clip;

/// A section of the summary, in the order of the design.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    /// What the user wants.
    Goal,
    /// How the user wants it.
    Constraints,
    /// What is finished.
    Done,
    /// What is being worked on.
    InProgress,
    /// What does not work.
    Blocked,
    /// What was decided.
    Decisions,
    /// What should happen next.
    NextSteps,
    /// What else one has to know.
    Critical,
}

use Section::{Blocked, Constraints, Critical, Decisions, Done, Goal, InProgress, NextSteps};

/// Each section with its heading.
const ALL: [(Section, &str); 8] = [
    (Goal, "## Goal"),
    (Constraints, "## Constraints & Preferences"),
    (Done, "## Progress\n### Done"),
    (InProgress, "### In Progress"),
    (Blocked, "### Blocked"),
    (Decisions, "## Key Decisions"),
    (NextSteps, "## Next Steps"),
    (Critical, "## Critical Context"),
];
/// Stands in a section that has no item.
const NONE: &str = "(none)";
/// Characters of an item.
const LONGEST_ITEM: usize = 2_000;

/// A summary as lists of items, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sections([Vec<String>; ALL.len()]);

impl Sections {
    /// Takes a summary apart. What stands in sections unknown here becomes critical context.
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
            if let Some(heading) = heading(bare) {
                section = heading;
            } else if bare != "---" && !bare.starts_with("**Turn Context (split turn)") {
                without_marker(bare).clone_into(&mut item);
            }
        }
        sections.add(section, &item);
        sections
    }

    /// Adds an item at the end of a section, unless it is there already.
    pub(crate) fn add(&mut self, section: Section, item: &str) {
        let item = item.trim();
        let items = &mut self.0[section as usize];
        if !item.is_empty() && item != NONE && !items.iter().any(|known| are_alike(known, item)) {
            items.push(clip(item, LONGEST_ITEM).into_owned());
        }
    }

    /// Leaves only the newest items of a section.
    pub(crate) fn keep_newest(&mut self, section: Section, most: usize) {
        let items = &mut self.0[section as usize];
        items.drain(..items.len().saturating_sub(most));
    }

    /// Takes items that begin so out of a section.
    pub(crate) fn remove(&mut self, section: Section, beginning: &str) {
        self.0[section as usize].retain(|item| !item.starts_with(beginning));
    }

    /// The summary, made to fit by leaving out the oldest items of the longest sections.
    pub(crate) fn write_within(mut self, tokens: u64) -> String {
        loop {
            let written = self.write();
            let most = usize::try_from(tokens.saturating_mul(4)).unwrap_or(usize::MAX);
            let excess = written.chars().count().saturating_sub(most);
            if excess == 0 || !self.shorten(excess) {
                return written;
            }
        }
    }

    fn write(&self) -> String {
        let section = |(section, heading): &(Section, &str)| {
            let items = &self.0[*section as usize];
            let lines: Vec<String> =
                items.iter().enumerate().map(|(at, item)| marked(*section, at, items.len(), item)).collect();
            let lines = if lines.is_empty() { marked(*section, 0, 1, NONE) } else { lines.join("\n") };
            format!("{heading}\n{lines}")
        };
        ALL.iter().map(section).collect::<Vec<_>>().join("\n\n")
    }

    /// Leaves out about that many characters. False if nothing is left that could be.
    fn shorten(&mut self, excess: usize) -> bool {
        let mut removed = 0;
        while removed < excess {
            let length = |at: usize| self.0[at].iter().map(String::len).sum::<usize>();
            let with_several = (0..ALL.len()).filter(|at| self.0[*at].len() > 1);
            let Some(longest) = with_several.max_by_key(|at| length(*at)) else { break };
            // The first goal is what everything is about.
            removed += self.0[longest].remove(usize::from(longest == Goal as usize)).chars().count();
        }
        removed > 0 || self.halve_longest()
    }

    fn halve_longest(&mut self) -> bool {
        let longest = self.0.iter_mut().flatten().max_by_key(|item| item.len());
        let Some(longest) = longest.filter(|item| item.len() > SHORTEST_ITEM) else { return false };
        *longest = clip(longest, longest.chars().count() / 2).into_owned();
        true
    }
}

/// Bytes below which cutting an item gains nothing.
const SHORTEST_ITEM: usize = 80;

/// The section a heading opens.
fn heading(line: &str) -> Option<Section> {
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

/// Whether two items differ at most in blanks and in capitals.
fn are_alike(one: &str, other: &str) -> bool {
    let (mut one, mut other) = (one.split_whitespace(), other.split_whitespace());
    loop {
        match (one.next(), other.next()) {
            (None, None) => return true,
            (Some(one), Some(other)) if one.eq_ignore_ascii_case(other) => {}
            _ => return false,
        }
    }
}

/// The text of a list's item.
fn without_marker(line: &str) -> &str {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let text = match number.strip_prefix(". ") {
        Some(text) if number.len() < line.len() => text,
        _ => line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).unwrap_or(line),
    };
    ["[x] ", "[X] ", "[ ] "].iter().find_map(|marker| text.strip_prefix(marker)).unwrap_or(text)
}

fn marked(section: Section, at: usize, count: usize, item: &str) -> String {
    match section {
        Goal if count == 1 => item.to_owned(),
        _ if item == NONE => format!("- {item}"),
        Done => format!("- [x] {item}"),
        InProgress => format!("- [ ] {item}"),
        NextSteps => format!("{}. {item}", at + 1),
        _ => format!("- {item}"),
    }
}

#[cfg(test)]
mod tests {
    use rethread_model::estimate_text;

    use super::*;

    #[test]
    fn s7_14_what_is_parsed_is_written_again() {
        let summary = "## Goal\nShip it\n\n## Constraints & Preferences\n- No unsafe\n\n## Progress\n### Done\n\
            - [x] Parser\n- [x] Tests\n\n### In Progress\n- [ ] Docs\n\n### Blocked\n- (none)\n\n## Key Decisions\n\
            - **Rust**: fast\n  and safe\n\n## Next Steps\n1. Write\n2. Ship\n\n## Critical Context\n- Port 80";
        assert_eq!(Sections::parse(summary).write(), summary);
    }

    #[test]
    fn unknown_sections_and_turn_contexts_are_kept() {
        let summary = "## Goal\nx\n\n## Notes\n- of old\n\n---\n\n**Turn Context (split turn):**\n\n\
            ## Original Request\nFix y\n\n## Early Progress\n- Looked at z";
        let sections = Sections::parse(summary);
        assert_eq!(sections.0[Critical as usize], ["of old", "Fix y"]);
        assert_eq!(sections.0[InProgress as usize], ["Looked at z"]);
    }

    #[test]
    fn the_oldest_items_go_first_and_the_first_goal_never() {
        let mut sections = Sections::default();
        for number in 0..100 {
            sections.add(Goal, &format!("goal {number} {}", "x".repeat(50)));
            sections.add(Done, &format!("deed {number} {}", "x".repeat(50)));
        }
        let written = sections.write_within(600);
        assert!(estimate_text(&written) <= 600, "{written}");
        for kept in ["goal 0 ", "goal 99 ", "deed 99 "] {
            assert!(written.contains(kept), "{kept} in {written}");
        }
        assert!(!written.contains("goal 1 ") && !written.contains("deed 0 "));
    }
}
