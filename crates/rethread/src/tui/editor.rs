//! Opens a file in the user's editor, at a line.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::effect::OpenTarget;
use super::variable;

/// Used if neither `VISUAL` nor `EDITOR` is set.
const DEFAULT_EDITOR: &str = "vi";
/// Files that are no text.
const DATABASES: [&str; 4] = ["db", "sqlite", "sqlite3", "vscdb"];
/// Editors that take the line before the file as `+LINE`.
const PLUS_LINE: [&str; 13] =
    ["vi", "vim", "nvim", "nano", "emacs", "emacsclient", "micro", "kak", "ne", "joe", "mg", "less", "gvim"];
/// Editors that take it after the file as `FILE:LINE`.
const COLON_LINE: [&str; 5] = ["hx", "helix", "subl", "zed", "mate"];
/// Editors that take `--goto FILE:LINE`.
const GOTO_LINE: [&str; 5] = ["code", "codium", "cursor", "windsurf", "code-insiders"];

/// What a shell says if it cannot find a program.
const NOT_FOUND: i32 = 127;

/// The editor that opens a file.
#[derive(Debug)]
pub(super) struct EditorCommand {
    /// As the user wrote it. It may have arguments, so a shell splits it, as for git.
    editor: String,
    arguments: Vec<String>,
}

/// The command that opens a file. The error says why it cannot be opened.
pub(super) fn command_for(target: &OpenTarget, variables: &[(String, String)]) -> Result<EditorCommand, String> {
    let file = find(target)?;
    let editor = variable(variables, "VISUAL").or_else(|| variable(variables, "EDITOR")).unwrap_or(DEFAULT_EDITOR);
    let editor = if editor.trim().is_empty() { DEFAULT_EDITOR } else { editor };
    Ok(EditorCommand { editor: editor.to_owned(), arguments: arguments(editor, &file.to_string_lossy(), target.line) })
}

impl EditorCommand {
    /// Runs the editor and waits for it. The error says what is wrong.
    pub(super) fn run(&self) -> Result<(), String> {
        let editor = &self.editor;
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("{editor} \"$@\"")).arg(editor).args(&self.arguments);
        match shell.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) if status.code() == Some(NOT_FOUND) => {
                Err(format!("cannot start the editor {editor:?}; set EDITOR"))
            }
            Ok(status) => Err(format!("the editor {editor:?} ended with {status}")),
            Err(error) => Err(format!("cannot start a shell for the editor: {error}")),
        }
    }
}

/// The file, if it exists and is text. A session in a file with several has the address `FILE#ID`.
fn find(target: &OpenTarget) -> Result<PathBuf, String> {
    let absolute = |path: &str| target.folder.as_ref().map_or_else(|| PathBuf::from(path), |f| Path::new(f).join(path));
    let whole = absolute(&target.path);
    let file = match target.path.rsplit_once('#') {
        Some((file, _)) if !whole.exists() => absolute(file),
        _ => whole,
    };
    if !file.is_file() {
        return Err(format!("{} does not exist any more", file.display()));
    }
    let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if DATABASES.contains(&extension) {
        return Err(format!("{} is a database, not text", file.display()));
    }
    Ok(file)
}

/// The words after the editor. Editors that are not known get the file only.
fn arguments(editor: &str, file: &str, line: Option<u64>) -> Vec<String> {
    let program = editor.split_whitespace().next().unwrap_or_default().trim_matches(['"', '\'']);
    let name = program.rsplit('/').next().unwrap_or_default();
    let is_one_of = |names: &[&str]| names.contains(&name);
    match line {
        Some(line) if is_one_of(&PLUS_LINE) => vec![format!("+{line}"), file.to_owned()],
        Some(line) if is_one_of(&COLON_LINE) => vec![format!("{file}:{line}")],
        Some(line) if is_one_of(&GOTO_LINE) => vec!["--goto".to_owned(), format!("{file}:{line}")],
        _ => vec![file.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_editor_gets_the_line_in_its_own_way() {
        let check = |editor: &str, expect: &str| assert_eq!(arguments(editor, "/a b.md", Some(7)).join("|"), expect);
        check("vim -u NONE", "+7|/a b.md");
        check("/usr/bin/hx", "/a b.md:7");
        check("code --wait", "--goto|/a b.md:7");
        check("'/usr/bin/nano' -w", "+7|/a b.md");
        check("ed", "/a b.md");
        assert_eq!(arguments("vim", "/a", None), ["/a"]);
    }

    #[test]
    fn a_shell_splits_the_editor() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("an editor");
        std::fs::write(&program, "#!/bin/sh\nprintf '%s|' \"$@\" > \"$1\"\n").unwrap();
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let written = folder.path().join("a b").to_string_lossy().into_owned();
        let run = |editor: String| EditorCommand { editor, arguments: vec![written.clone(), "$HOME".to_owned()] }.run();
        run(format!("'{}'", program.display())).unwrap();
        assert_eq!(std::fs::read_to_string(&written).unwrap(), format!("{written}|$HOME|"));
        assert!(run("no-such-editor-here".to_owned()).unwrap_err().contains("set EDITOR"));
    }

    #[test]
    fn a_file_must_exist_and_be_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        let target = |path: String| OpenTarget { path, line: None, folder: None };
        std::fs::write(path("a.jsonl"), "").unwrap();
        std::fs::write(path("a.db"), "").unwrap();
        assert_eq!(find(&target(path("a.jsonl#one"))).unwrap().to_string_lossy(), path("a.jsonl"));
        assert!(find(&target(path("a.db"))).unwrap_err().contains("is a database"));
        assert!(find(&target(path("b"))).unwrap_err().contains("does not exist"));
        let relative = OpenTarget {
            path: "a.jsonl".to_owned(),
            line: None,
            folder: Some(folder.path().to_string_lossy().into_owned()),
        };
        assert_eq!(find(&relative).unwrap().to_string_lossy(), path("a.jsonl"));
    }
}
