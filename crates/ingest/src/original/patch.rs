//! Reads patches: those of `apply_patch`, and unified diffs.

use super::diff::{DiffHunk, DiffKind, DiffRow, DiffSign, FileDiff};

/// The files that a patch changes. Nothing is redacted.
pub(super) fn read_patch(text: &str) -> Vec<FileDiff> {
    let mut reader = PatchReader::default();
    for line in text.lines() {
        reader.read_line(line);
    }
    reader.end_hunk();
    reader.files
}

/// Reads a patch line by line.
#[derive(Default)]
struct PatchReader {
    files: Vec<FileDiff>,
    hunk: DiffHunk,
    /// In a unified diff: lines of the text before and after that the hunk still has.
    left: Option<(u64, u64)>,
    /// The name before a change, in a unified diff.
    old_name: String,
}

impl PatchReader {
    fn read_line(&mut self, line: &str) {
        if self.left.is_some_and(|left| left != (0, 0)) {
            return self.read_row(line);
        }
        let starts = |mark: &str| line.strip_prefix(mark).map(str::trim);
        if let Some(path) = starts("*** Update File: ") {
            self.start_file(path, DiffKind::Changed);
        } else if let Some(path) = starts("*** Add File: ") {
            self.start_file(path, DiffKind::Added);
        } else if let Some(path) = starts("*** Delete File: ") {
            self.start_file(path, DiffKind::Deleted);
        } else if let Some(path) = starts("*** Move to: ") {
            if let Some(file) = self.files.last_mut() {
                file.moved_to = Some(path.to_owned());
            }
        } else if line.starts_with("@@") {
            self.start_hunk(line);
        } else if let (Some(name), false) = (starts("--- "), self.is_in_apply_patch()) {
            self.end_hunk();
            name_of(name).clone_into(&mut self.old_name);
        } else if let (Some(name), false) = (starts("+++ "), self.is_in_apply_patch()) {
            self.start_named_file(name_of(name));
        } else if !line.starts_with("***") && self.is_in_apply_patch() {
            self.read_row(line);
        }
    }

    /// Whether the current lines belong to a file of `apply_patch`, which has no counts.
    fn is_in_apply_patch(&self) -> bool {
        self.left.is_none() && !self.files.is_empty() && self.old_name.is_empty()
    }

    fn start_file(&mut self, path: &str, kind: DiffKind) {
        self.end_hunk();
        (self.left, self.old_name) = (None, String::new());
        self.files.push(FileDiff::new(path, kind));
    }

    fn start_named_file(&mut self, new_name: &str) {
        let old_name = std::mem::take(&mut self.old_name);
        let (path, kind) = match (old_name.as_str(), new_name) {
            ("/dev/null", new) => (new, DiffKind::Added),
            (old, "/dev/null") => (old, DiffKind::Deleted),
            (_, new) => (new, DiffKind::Changed),
        };
        self.end_hunk();
        self.files.push(FileDiff::new(path, kind));
        self.left = Some((0, 0));
    }

    fn start_hunk(&mut self, line: &str) {
        self.end_hunk();
        let Some((old, new)) = hunk_ranges(line) else {
            // A line of the file that precedes the place.
            let heading = line.trim_start_matches('@').trim();
            if !heading.is_empty() && self.left.is_none() {
                self.hunk.rows.push(DiffRow::new(DiffSign::Same, heading));
            }
            return;
        };
        if self.files.is_empty() {
            self.files.push(FileDiff::new("", DiffKind::Changed));
        }
        self.hunk.starts = Some((old.0, new.0));
        self.left = Some((old.1, new.1));
    }

    fn read_row(&mut self, line: &str) {
        if line.starts_with('\\') {
            return;
        }
        let (sign, text) = match (line.strip_prefix('+'), line.strip_prefix('-')) {
            (Some(text), _) => (DiffSign::Added, text),
            (_, Some(text)) => (DiffSign::Removed, text),
            // Editors remove the blank of an empty line.
            _ => (DiffSign::Same, line.strip_prefix(' ').unwrap_or(line)),
        };
        if let Some((old, new)) = &mut self.left {
            *old = old.saturating_sub(u64::from(sign != DiffSign::Added));
            *new = new.saturating_sub(u64::from(sign != DiffSign::Removed));
        }
        self.hunk.rows.push(DiffRow::new(sign, text));
    }

    fn end_hunk(&mut self) {
        let hunk = std::mem::take(&mut self.hunk);
        let is_change = hunk.rows.iter().any(|row| row.sign != DiffSign::Same);
        if let (true, Some(file)) = (is_change, self.files.last_mut()) {
            file.hunks.push(hunk);
        }
    }
}

/// `@@ -1,4 +1,5 @@ heading` → first line and number of lines, before and after.
fn hunk_ranges(line: &str) -> Option<((u64, u64), (u64, u64))> {
    let (old, new) = line.strip_prefix("@@ -")?.split_once(" @@")?.0.split_once(" +")?;
    Some((range(old)?, range(new)?))
}

fn range(text: &str) -> Option<(u64, u64)> {
    match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

/// The path in the header of a unified diff. Some programs write a time after a tab.
fn name_of(header: &str) -> &str {
    let name = header.split('\t').next().unwrap_or(header).trim();
    name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::super::diff::shown;
    use super::*;

    fn check(patch: &str, expect: &str) {
        assert_eq!(shown(&read_patch(patch)), expect, "{patch}");
    }

    #[test]
    fn patches_of_several_files_are_read() {
        check(
            "*** Begin Patch\n*** Update File: a.rs\n*** Move to: b.rs\n@@ fn main()\n let a;\n-- x\n+- y\n\n*** Add File: n.md\n+one\n*** Delete File: old.rs\n*** End Patch",
            "changed a.rs > b.rs\n fn main()\n let a;\n-- x\n+- y\n \nadded n.md\n+one\ndeleted old.rs\n",
        );
    }

    #[test]
    fn unified_diffs_are_read_by_their_counts() {
        check(
            "diff --git a/x.py b/x.py\nindex 1..2\n--- a/x.py\n+++ b/x.py\n@@ -3,2 +3,3 @@ def f():\n one\n--- two\n++++ two\n+three\n\\ No newline at end of file\n--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+print()\n",
            "changed x.py\n@3,3\n one\n--- two\n++++ two\n+three\nadded new.py\n@0,1\n+print()\n",
        );
        check(
            "Index: a.ts\n=====\n--- a.ts\tCurrent\n+++ a.ts\tProposed\n@@ -1 +1 @@\n-a\n+b\n",
            "changed a.ts\n@1,1\n-a\n+b\n",
        );
        check("@@ -1 +1 @@\n-a\n+b", "changed \n@1,1\n-a\n+b\n");
    }

    #[test]
    fn other_text_has_no_changes() {
        check("nothing\n- a list\n+ here", "");
        check("", "");
    }
}
