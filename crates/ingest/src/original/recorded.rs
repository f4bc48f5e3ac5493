//! Finds the diff that an agent recorded with the result of an edit. It has the lines' numbers, which arguments lack.

use rethread_model::ToolUse;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::diff::{DiffHunk, DiffKind, DiffRow, DiffSign, FileDiff};
use super::patch::read_patch;
use crate::parse::{TextSink, is_unified_diff};

/// Names of the fields with a unified diff.
const DIFF_KEYS: [&str; 5] = ["fileDiff", "unified_diff", "unifiedDiff", "patch", "diff"];
/// Names of the fields beside it with the path.
const PATH_KEYS: [&str; 6] = ["filePath", "file_path", "fileName", "path", "file", "relativePath"];
/// Maximum depth of nested values and of JSON in strings.
const MAX_DEPTH: usize = 12;

/// A hunk as Claude Code records it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StructuredHunk {
    old_start: u64,
    new_start: u64,
    lines: Vec<String>,
}

/// The diffs in the record of a call's result that are about its files. Empty unless there is one for each of them: a
/// record may have the results of several calls.
pub(super) fn recorded_diffs(record: &[u8], tool: &ToolUse, sink: &mut TextSink<'_>) -> Vec<FileDiff> {
    let mut found: Vec<FileDiff> = Vec::new();
    collect(&serde_json::from_slice(record).unwrap_or_default(), 0, &mut found);
    found.dedup();
    let mut diffs = Vec::new();
    for path in &tool.paths {
        // A diff without a path belongs to the only file.
        let is_own = |diff: &&FileDiff| match diff.path.as_str() {
            "" => tool.paths.len() == 1,
            other => is_same_file(path, other),
        };
        let mut same = found.iter().filter(is_own);
        let (Some(diff), None) = (same.next(), same.next()) else { return Vec::new() };
        let hunks = diff.hunks.iter().flat_map(|hunk| hunk.clone().redacted(sink)).collect();
        let moved_to = diff.moved_to.clone().map(|path| sink.redact(path));
        diffs.push(FileDiff { path: path.clone(), moved_to, hunks, ..diff.clone() }.shortened());
    }
    diffs.retain(|diff| !diff.is_secret());
    diffs
}

fn collect(value: &Value, depth: usize, found: &mut Vec<FileDiff>) {
    if depth > MAX_DEPTH {
        return;
    }
    match value {
        Value::Object(object) => {
            if let Some(diffs) = diffs_of(object) {
                return found.extend(diffs);
            }
            object.values().for_each(|value| collect(value, depth + 1, found));
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, depth + 1, found)),
        // The columns of a row are JSON in a string.
        Value::String(text) if text.starts_with('{') => {
            if let Ok(value @ Value::Object(_)) = serde_json::from_str(text) {
                collect(&value, depth + 1, found);
            }
        }
        _ => {}
    }
}

/// The diffs of an object, if it has one.
fn diffs_of(object: &Map<String, Value>) -> Option<Vec<FileDiff>> {
    let path = PATH_KEYS.iter().find_map(|key| object.get(*key)?.as_str()).unwrap_or_default();
    if let Some(hunks) = object.get("structuredPatch").and_then(structured_hunks) {
        return Some(vec![FileDiff { hunks, ..FileDiff::new(path, DiffKind::Changed) }]);
    }
    let texts = DIFF_KEYS.iter().filter_map(|key| object.get(*key)?.as_str());
    let read = |text: &str| if is_unified_diff(text) { read_patch(text) } else { read_numbered_diff(text) };
    let mut diffs = texts.map(read).find(|diffs| !diffs.is_empty())?;
    if let [diff] = diffs.as_mut_slice() {
        // The header may have only the name of the file.
        diff.path = if path.is_empty() { std::mem::take(&mut diff.path) } else { path.to_owned() };
    }
    Some(diffs)
}

/// Reads a diff of pi: ` 12 same`, `-13 old`, `+13 new`, and `...` for lines that are left out.
fn read_numbered_diff(text: &str) -> Vec<FileDiff> {
    let (mut hunks, mut hunk, mut shift) = (Vec::new(), DiffHunk::default(), 0i64);
    for line in text.lines() {
        if line.trim() == "..." {
            hunks.push(std::mem::take(&mut hunk));
            continue;
        }
        let Some((sign, number, text)) = numbered_row(line) else { return Vec::new() };
        // Numbers of added lines are those of the new text, all others those of the old one.
        let old = if sign == DiffSign::Added { number.saturating_add_signed(-shift) } else { number };
        hunk.starts.get_or_insert((old, old.saturating_add_signed(shift)));
        shift += i64::from(sign == DiffSign::Added) - i64::from(sign == DiffSign::Removed);
        hunk.rows.push(DiffRow::new(sign, text));
    }
    hunks.push(hunk);
    hunks.retain(|hunk| hunk.rows.iter().any(|row| row.sign != DiffSign::Same));
    if hunks.is_empty() { Vec::new() } else { vec![FileDiff { hunks, ..FileDiff::new("", DiffKind::Changed) }] }
}

fn numbered_row(line: &str) -> Option<(DiffSign, u64, &str)> {
    let sign = match line.chars().next()? {
        ' ' => DiffSign::Same,
        '-' => DiffSign::Removed,
        '+' => DiffSign::Added,
        _ => return None,
    };
    let rest = line[1..].trim_start_matches(' ');
    let (number, text) = rest.split_once(' ').unwrap_or((rest, ""));
    Some((sign, number.parse().ok()?, text))
}

/// `None` for a new file, which has no hunks.
fn structured_hunks(value: &Value) -> Option<Vec<DiffHunk>> {
    let hunks = Vec::<StructuredHunk>::deserialize(value).ok().filter(|hunks| !hunks.is_empty())?;
    let row = |line: &String| match (line.strip_prefix('+'), line.strip_prefix('-')) {
        _ if line.starts_with('\\') => None,
        (Some(text), _) => Some(DiffRow::new(DiffSign::Added, text)),
        (_, Some(text)) => Some(DiffRow::new(DiffSign::Removed, text)),
        _ => Some(DiffRow::new(DiffSign::Same, line.strip_prefix(' ').unwrap_or(line))),
    };
    let hunk = |hunk: StructuredHunk| DiffHunk {
        starts: Some((hunk.old_start, hunk.new_start)),
        rows: hunk.lines.iter().filter_map(row).collect(),
    };
    Some(hunks.into_iter().map(hunk).collect())
}

/// Whether two paths mean one file: one of them may be relative, or only a name.
fn is_same_file(path: &str, other: &str) -> bool {
    let ends_with = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', '\\']))
    };
    !other.is_empty() && (ends_with(path, other) || ends_with(other, path.trim_start_matches("./")))
}

#[cfg(test)]
mod tests {
    use rethread_model::ToolKind;
    use serde_json::json;

    use super::super::diff::shown;
    use super::*;

    fn check(record: &Value, paths: &[&str], expect: &str) {
        let paths = paths.iter().map(|path| (*path).to_owned()).collect();
        let tool = ToolUse { kind: Some(ToolKind::Edit), paths, ..ToolUse::default() };
        let diffs = TextSink::with_defaults(|sink| recorded_diffs(record.to_string().as_bytes(), &tool, sink));
        let lines = shown(&diffs);
        assert_eq!(lines.lines().skip(1).collect::<Vec<_>>().join(" "), expect, "{record}");
    }

    #[test]
    fn diffs_of_every_agent_are_found_beside_the_result() {
        let unified = "--- x.rs\tCurrent\n+++ x.rs\tProposed\n@@ -3,2 +3,2 @@\n a\n-b\n+c\n";
        let found = "@3,3  a -b +c";
        let hunk = json!({"oldStart": 3, "newStart": 3, "lines": [" a", "-b", "+c"]});
        check(&json!({"toolUseResult": {"filePath": "/p/x.rs", "structuredPatch": [hunk]}}), &["/p/x.rs"], found);
        let display = json!({"fileDiff": unified, "fileName": "x.rs", "filePath": "C:\\p\\src\\x.rs"});
        check(&json!({"toolCalls": [{"resultDisplay": display}]}), &["src\\x.rs"], found);
        check(&json!({"data": json!({"metadata": {"diff": unified}}).to_string()}), &["./src/x.rs"], found);
        check(&json!({"details": {"diff": "  3 a\n- 4 b\n+ 4 c", "patch": unified}}), &["src/x.rs"], found);
        let numbered = "     ...\n  8 a\n- 9 b\n+ 9 c\n+10 d\n     ...\n 20 e\n-21 f";
        check(&json!({"details": {"diff": numbered}}), &["x.rs"], "@8,8  a -b +c +d @20,21  e -f");
    }

    #[test]
    fn a_diff_of_another_call_is_not_taken() {
        let unified = |name: &str| format!("--- {name}\n+++ {name}\n@@ -1 +1 @@\n-b\n+c\n");
        check(&json!([{"diff": unified("x.rs")}]), &["y.rs"], "");
        let other = unified("x.rs").replace("+c", "+d");
        check(&json!([{"diff": unified("x.rs")}, {"diff": other}]), &["x.rs"], "");
        check(&json!({"diff": "plain words"}), &["x.rs"], "");
        check(&json!({"filePath": "x.rs", "structuredPatch": []}), &["x.rs"], "");
    }
}
