//! What an edit changed, as short as it can be understood: `max: 5 → max: 20`.

mod hunks;
mod pieces;
mod secret_files;

pub(crate) use self::hunks::{FoundChange, is_unified_diff, visit_changes};
pub(crate) use self::secret_files::is_secret_file;
pub(super) use self::secret_files::may_hold_secret;
use rethread_model::clip;

use self::hunks::{ChangedLines, collect_changes, compare_texts};
use self::pieces::describe;
use super::TextSink;
use crate::facts::bypass_marker;

/// Maximum number of described places: of one file, and of a patch for several files.
const MAX_PIECES: usize = 3;
const MAX_PATCH_PIECES: usize = 6;
/// Maximum length of all pieces, in characters: of one file, and of a patch for several files.
const MAX_CHANGE_CHARS: usize = 240;
const MAX_PATCH_CHARS: usize = 480;
/// Maximum length of a line that switches a check off, in characters.
const MAX_SILENCED_CHARS: usize = 60;

/// The places that an edit changed, one on each line; `None` if its arguments do not say. If it changes several files,
/// each line begins with the path.
pub(super) fn describe_edit(arguments: &str, has_many_files: bool, sink: &mut TextSink<'_>) -> Option<String> {
    let (max_pieces, max_chars) =
        if has_many_files { (MAX_PATCH_PIECES, MAX_PATCH_CHARS) } else { (MAX_PIECES, MAX_CHANGE_CHARS) };
    let mut pieces: Vec<(u8, String)> = Vec::new();
    for change in collect_changes(arguments, sink) {
        let mut described = describe(&change);
        if !described.iter().any(|piece| rank(piece) == 0) {
            described.extend(silenced_line(&change));
        }
        for piece in described {
            let rank = rank(&piece);
            let piece = match change.path.as_deref().filter(|_| has_many_files) {
                Some(path) => format!("{path}: {piece}"),
                None => piece,
            };
            if !pieces.iter().any(|(_, known)| *known == piece) {
                pieces.push((rank, piece));
            }
        }
    }
    // Stable: within a rank the places keep their order.
    pieces.sort_by_key(|(rank, _)| *rank);
    let mut out = String::new();
    let mut chars = 0;
    for (_, piece) in pieces.into_iter().take(max_pieces) {
        let length = piece.chars().count() + 1;
        if chars > 0 && chars + length > max_chars {
            continue;
        }
        chars += length;
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&clip(&piece, max_chars));
    }
    (!out.is_empty()).then_some(out)
}

/// The places in which two texts differ, one on each line; `None` if they only differ in white space or comments.
pub(crate) fn describe_change(old: &str, new: &str) -> Option<String> {
    let pieces = compare_texts(old, new).iter().flat_map(describe).take(MAX_PIECES).collect::<Vec<_>>();
    (!pieces.is_empty()).then(|| clip(&pieces.join("\n"), MAX_CHANGE_CHARS).into_owned())
}

/// What says most about the change comes first: a check that was switched off, then code, then comments.
fn rank(piece: &str) -> u8 {
    let is_comment = |text: &str| {
        let text = text.trim_start_matches(['+', '-', ' ']);
        ["//", "/*", "* ", "# ", "<!--", "\"\"\""].iter().any(|start| text.starts_with(start))
    };
    let (old, new) = piece.split_once(" → ").unwrap_or(("", piece));
    if bypass_marker(old, new).is_some() {
        0
    } else if piece.split(" → ").all(is_comment) {
        2
    } else {
        1
    }
}

/// The added line that switches a check off. It must be seen, even if it is one of many.
fn silenced_line(change: &ChangedLines) -> Option<String> {
    let old = change.old.join("\n");
    let (line, marker) = change.new.iter().find_map(|line| Some((line, bypass_marker(&old, line)?)))?;
    let start = line.find(marker).unwrap_or_default();
    let shown = if line.chars().count() > MAX_SILENCED_CHARS { &line[start..] } else { line };
    Some(format!("+ {}", clip(shown.trim(), MAX_SILENCED_CHARS)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(arguments: &str, expect: &str) {
        let change = TextSink::with_defaults(|sink| describe_edit(arguments, false, sink));
        assert_eq!(change.as_deref().unwrap_or_default(), expect, "{arguments}");
    }

    #[test]
    fn edits_of_every_agent_are_described() {
        // D35
        let (old, new) = ("const pool = {\n  max: 5,\n  idle: 10,\n}", "const pool = {\n  max: 20,\n  idle: 10,\n}");
        let blocks = |search: &str, replace: &str| format!("{search}\n{old}\n=======\n{new}\n{replace}");
        let patch = "*** Begin Patch\n*** Update File: src/db.ts\n@@ const pool\n const pool = {\n-  max: 5,\n+  max: 20,\n   idle: 10,\n*** End Patch";
        let unified = "--- a/src/db.ts\n+++ b/src/db.ts\n@@ -1,4 +1,4 @@\n const pool = {\n-  max: 5,\n+  max: 20,\n   idle: 10,\n }";
        for arguments in [
            json!({"file_path": "src/db.ts", "old_string": old, "new_string": new}),
            json!({"file_path": "src/db.ts", "edits": [{"old_string": old, "new_string": new}]}),
            json!({"command": "str_replace", "path": "src/db.ts", "old_str": old, "new_str": new}),
            json!({"path": "src/db.ts", "oldText": old, "newText": new}),
            json!({"path": "src/db.ts", "edits": [{"oldText": old, "newText": new}]}),
            json!({"path": "src/db.ts", "edits": json!([{"oldText": old, "newText": new}]).to_string()}),
            json!({"filePath": "src/db.ts", "oldString": old, "newString": new}),
            json!({"replacements": [{"filePath": "src/db.ts", "oldString": old, "newString": new}]}),
            json!({"path": "src/db.ts", "edit": {"old": old, "new": new}}),
            json!({"path": "src/db.ts", "find": old, "replace": new}),
            json!({"TargetFile": "src/db.ts", "TargetContent": old, "ReplacementContent": new}),
            json!({"path": "src/db.ts", "str_replace_entries": [{"old_str": old, "new_str": new}]}),
            json!({"path": "src/db.ts", "old_str_1": old, "new_str_1": new}),
            json!({"path": "src/db.ts", "diff": blocks("<<<<<<< SEARCH", ">>>>>>> REPLACE")}),
            json!({"path": "src/db.ts", "diff": blocks("<<<<<<< SEARCH\n:start_line:1\n-------", ">>>>>>> REPLACE")}),
            json!({"path": "src/db.ts", "diff": blocks("------- SEARCH", "+++++++ REPLACE")}),
            json!({"path": "src/db.ts", "patch": blocks("<<<<<<< ORIGINAL", ">>>>>>> UPDATED")}),
            json!({"patchText": patch}),
            json!({"input": patch}),
            json!({"path": "src/db.ts", "diff": unified}),
        ] {
            check(&arguments.to_string(), "max: 5 → max: 20");
        }
        check(patch, "max: 5 → max: 20");
    }

    #[test]
    fn added_and_removed_lines_are_marked() {
        let arguments = json!({"path": "a.go", "old_str": "import (\n\t\"os\"\n)", "new_str": "import (\n\t\"os\"\n\t\"os/exec\"\n)"});
        check(&arguments.to_string(), "+ \"os/exec\"");
        let arguments = json!({"path": "a.go", "old_str": "one()\ntwo()\nthree()", "new_str": "one()\nthree()"});
        check(&arguments.to_string(), "- two()");
        check(&json!({"path": "a", "insert_line": 3, "insert_text": "retry = true\n"}).to_string(), "+ retry = true");
        check(&json!({"path": "a", "old_string": "x = 1\n", "new_string": "x = 1  \n"}).to_string(), "");
        check(&json!({"path": "a", "content": "whole file"}).to_string(), "");
    }

    #[test]
    fn a_patch_for_several_files_names_each() {
        let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n-let a = 1;\n+let a = 2;\n*** Update File: b.rs\n@@\n+use b;\n*** Delete File: c.rs\n*** End Patch";
        let change = TextSink::with_defaults(|sink| describe_edit(patch, true, sink));
        assert_eq!(change.as_deref(), Some("a.rs: let a = 1 → let a = 2\nb.rs: + use b\nc.rs: - file"));
    }

    #[test]
    fn comments_come_last_and_the_length_is_limited() {
        let line =
            |n: usize, value: usize| format!("# note {value}\nsetting_number_{n}_with_a_long_name = {value}\n\nkept\n");
        let text = |value: usize| (0..9).map(|n| line(n, value)).collect::<String>();
        let arguments = json!({"path": "a", "old_string": text(1), "new_string": text(2)}).to_string();
        let change = TextSink::with_defaults(|sink| describe_edit(&arguments, false, sink)).unwrap();
        assert!(change.chars().count() <= MAX_CHANGE_CHARS + 2, "{change}");
        assert!(change.starts_with("setting_number_0_with_a_long_name = 1 → "), "{change}");
        let huge = json!({"path": "a", "old_string": "x y\n".repeat(90_000), "new_string": "x z\n".repeat(90_000)});
        check(&huge.to_string(), "x y → x z");
    }

    #[test]
    fn secrets_are_redacted_before_the_change_is_cut() {
        let line = |key: &str| format!("const client = create({{\n  apiKey: \"{key}\",\n}})");
        let key = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH";
        let arguments = json!({"path": "a", "old_string": line("x"), "new_string": line(key)}).to_string();
        let change = TextSink::with_defaults(|sink| describe_edit(&arguments, false, sink)).unwrap();
        assert!(!change.contains("abcdefghij"), "{change}");
    }

    #[test]
    fn a_secret_at_the_end_of_a_cut_text_is_dropped_with_its_line() {
        let key = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH";
        // Every cut that ends within the key, whatever the limit is.
        for filler in (11_900..12_020).step_by(7).chain((47_900..48_020).step_by(7)) {
            let text = |value: &str| format!("{}\napiKey: {value}\n", "y".repeat(filler));
            let edit = json!({"path": "a", "old_string": text("x"), "new_string": text(key)}).to_string();
            let patch = format!("*** Update File: a\n@@\n-{}\n+apiKey: {key}\n", "y".repeat(filler));
            for arguments in [edit, patch] {
                let change = TextSink::with_defaults(|sink| describe_edit(&arguments, false, sink)).unwrap_or_default();
                assert!(!change.contains("sk-ant-api03-a"), "{filler} {change}");
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn any_arguments_are_accepted(old in "(?s)[a-z \n:=é→-]{0,60}", new in "(?s)[a-z \n:=é→+-]{0,60}") {
            let arguments = json!({"path": "a", "old_string": old, "new_string": new, "diff": format!("@@\n{old}")});
            TextSink::with_defaults(|sink| describe_edit(&arguments.to_string(), false, sink));
            TextSink::with_defaults(|sink| describe_edit(&new, true, sink));
        }
    }
}
