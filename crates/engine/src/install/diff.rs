//! A line diff of two texts, with context.

/// Context lines around a change.
const CONTEXT_LINES: usize = 2;
/// Largest table (old lines × new lines) for which the shortest diff is computed.
const MAX_TABLE_CELLS: usize = 4_000_000;

/// One line of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiffLine {
    /// In both texts.
    Unchanged(String),
    /// Only in the new text.
    Added(String),
    /// Only in the old text.
    Removed(String),
    /// Number of unchanged lines that are not shown.
    Skipped(usize),
}

/// The diff from `before` to `after`. Empty if they are the same line by line.
pub(super) fn diff_lines(before: &str, after: &str) -> Vec<DiffLine> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let head = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(old, new)| old == new).count();
    let mut all: Vec<DiffLine> = old[..head].iter().map(|line| DiffLine::Unchanged((*line).to_owned())).collect();
    diff_middle(&old[head..old.len() - tail], &new[head..new.len() - tail], &mut all);
    all.extend(old[old.len() - tail..].iter().map(|line| DiffLine::Unchanged((*line).to_owned())));
    with_context_only(all)
}

/// The shortest diff, by longest common subsequence.
fn diff_middle(old: &[&str], new: &[&str], out: &mut Vec<DiffLine>) {
    let (mut at_old, mut at_new) = (0, 0);
    if old.len() * new.len() <= MAX_TABLE_CELLS {
        let common = common_lengths(old, new);
        while at_old < old.len() && at_new < new.len() {
            if old[at_old] == new[at_new] {
                out.push(DiffLine::Unchanged(old[at_old].to_owned()));
                (at_old, at_new) = (at_old + 1, at_new + 1);
            } else if common[at_old + 1][at_new] >= common[at_old][at_new + 1] {
                out.push(DiffLine::Removed(old[at_old].to_owned()));
                at_old += 1;
            } else {
                out.push(DiffLine::Added(new[at_new].to_owned()));
                at_new += 1;
            }
        }
    }
    out.extend(old[at_old..].iter().map(|line| DiffLine::Removed((*line).to_owned())));
    out.extend(new[at_new..].iter().map(|line| DiffLine::Added((*line).to_owned())));
}

/// For each pair of positions, the length of the longest common subsequence of what follows.
fn common_lengths(old: &[&str], new: &[&str]) -> Vec<Vec<u32>> {
    let mut table = vec![vec![0; new.len() + 1]; old.len() + 1];
    for at_old in (0..old.len()).rev() {
        for at_new in (0..new.len()).rev() {
            table[at_old][at_new] = if old[at_old] == new[at_new] {
                table[at_old + 1][at_new + 1] + 1
            } else {
                table[at_old + 1][at_new].max(table[at_old][at_new + 1])
            };
        }
    }
    table
}

/// Replaces lines far from any change by `Skipped`.
fn with_context_only(all: Vec<DiffLine>) -> Vec<DiffLine> {
    let changed: Vec<bool> = all.iter().map(|line| !matches!(line, DiffLine::Unchanged(_))).collect();
    let is_near = |at: usize| {
        let to = (at + CONTEXT_LINES + 1).min(changed.len());
        changed[at.saturating_sub(CONTEXT_LINES)..to].contains(&true)
    };
    let mut out: Vec<DiffLine> = Vec::new();
    if !changed.contains(&true) {
        return out;
    }
    for (at, line) in all.into_iter().enumerate() {
        if is_near(at) {
            out.push(line);
        } else if let Some(DiffLine::Skipped(count)) = out.last_mut() {
            *count += 1;
        } else {
            out.push(DiffLine::Skipped(1));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: &str, after: &str, expect: &str) {
        let printed: Vec<String> = diff_lines(before, after)
            .into_iter()
            .map(|line| match line {
                DiffLine::Unchanged(text) => format!(" {text}"),
                DiffLine::Added(text) => format!("+{text}"),
                DiffLine::Removed(text) => format!("-{text}"),
                DiffLine::Skipped(count) => format!("…{count}"),
            })
            .collect();
        assert_eq!(printed.join(" "), expect);
    }

    #[test]
    fn a_diff_shows_changes_with_context() {
        check("a\nb\n", "a\nb\n", "");
        check("", "a\nb\n", "+a +b");
        check("a\n", "", "-a");
        check("1\n2\n3\n4\n5\n", "1\n2\n3\nx\n5\n", "…1  2  3 -4 +x  5");
        check("1\n2\n3\n4\n5\n6\n7\n8\n", "0\n1\n2\n3\n4\n5\n6\n7\n9\n", "+0  1  2 …3  6  7 -8 +9");
    }
}
