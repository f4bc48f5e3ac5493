//! The words of an error and of its diagnosis, by which a change is recognized as related to it.

/// Words that occur in errors of any kind.
const COMMON: &[&str] = &[
    "about",
    "absolute",
    "access",
    "after",
    "aliases",
    "allowed",
    "already",
    "arguments",
    "argument",
    "array",
    "assert",
    "assertion",
    "assertionerror",
    "assignable",
    "attribute",
    "before",
    "between",
    "build",
    "call",
    "called",
    "cannot",
    "check",
    "class",
    "code",
    "column",
    "command",
    "compile",
    "const",
    "constructor",
    "contain",
    "contains",
    "could",
    "couldn",
    "declared",
    "default",
    "defined",
    "definition",
    "directory",
    "does",
    "doesn",
    "empty",
    "error",
    "errors",
    "exception",
    "exist",
    "existing",
    "exists",
    "exit",
    "expected",
    "export",
    "exported",
    "expression",
    "fail",
    "failed",
    "failure",
    "fatal",
    "field",
    "file",
    "files",
    "find",
    "following",
    "formatting",
    "found",
    "from",
    "function",
    "given",
    "have",
    "implicitly",
    "import",
    "imports",
    "input",
    "instead",
    "invalid",
    "issue",
    "issues",
    "item",
    "line",
    "lines",
    "main",
    "match",
    "mean",
    "member",
    "method",
    "mismatch",
    "mismatched",
    "missing",
    "module",
    "modules",
    "more",
    "must",
    "name",
    "named",
    "need",
    "none",
    "null",
    "number",
    "object",
    "only",
    "operand",
    "operator",
    "option",
    "other",
    "output",
    "package",
    "panic",
    "parameter",
    "path",
    "permission",
    "positional",
    "possibly",
    "promise",
    "properties",
    "property",
    "received",
    "reference",
    "refused",
    "required",
    "resolve",
    "result",
    "return",
    "returned",
    "self",
    "should",
    "some",
    "specified",
    "statement",
    "string",
    "struct",
    "such",
    "syntax",
    "test",
    "tests",
    "that",
    "the",
    "there",
    "these",
    "this",
    "timeout",
    "token",
    "trait",
    "true",
    "false",
    "try",
    "type",
    "typeerror",
    "types",
    "unable",
    "undeclared",
    "undefined",
    "unexpected",
    "unhandled",
    "unknown",
    "unresolved",
    "unsupported",
    "unused",
    "usage",
    "use",
    "used",
    "using",
    "valid",
    "value",
    "valueerror",
    "values",
    "variable",
    "void",
    "want",
    "warning",
    "were",
    "when",
    "while",
    "with",
    "within",
    "without",
    "would",
    "your",
    "you",
    "and",
    "not",
    "for",
    "are",
    "was",
    "has",
    "its",
    "but",
    "got",
    "referenceerror",
    "importerror",
    "modulenotfounderror",
    "keyerror",
    "nameerror",
    "runtimeerror",
    "http",
    "https",
    "localhost",
    "internal",
    "external",
    "index",
    "src",
    "lib",
    "node",
    "python",
    "typescript",
    "eslint",
    "rule",
];

/// Words that identify what an error is about.
#[derive(Debug, Default)]
pub(super) struct ErrorWords {
    words: Vec<String>,
    /// The texts themselves, in lower case, for finding file names.
    text: String,
}

impl ErrorWords {
    /// Takes the words of the error line, and the long names in the diagnosis.
    pub(super) fn new(message: &str, reason: Option<&str>) -> Self {
        let all = identifiers(message).map(str::to_lowercase);
        let mut words: Vec<String> = all.filter(|word| !COMMON.contains(&word.as_str())).collect();
        // Of prose only names count that could not be ordinary words.
        let is_name =
            |word: &&str| word.len() >= 6 && (word.contains('_') || word.chars().skip(1).any(char::is_uppercase));
        let reason = reason.unwrap_or_default();
        let names = reason.split(|c: char| !c.is_alphanumeric() && c != '_').filter(is_name);
        words.extend(names.map(str::to_lowercase));
        words.sort_unstable();
        words.dedup();
        Self { words, text: format!("{message} {reason}").to_lowercase() }
    }

    /// Whether one of the words occurs in a text.
    pub(super) fn occur_in(&self, text: &str) -> bool {
        let is_mine = |word: &str| {
            if word.is_ascii() {
                self.words.iter().any(|known| known.eq_ignore_ascii_case(word))
            } else {
                self.words.contains(&word.to_lowercase())
            }
        };
        !self.words.is_empty() && identifiers(text).any(is_mine)
    }

    /// Whether the error or its diagnosis names a file, or what the file is called after.
    pub(super) fn name_file(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
        let stem = name.split('.').next().unwrap_or_default();
        let is_generic =
            matches!(stem, "" | "index" | "main" | "mod" | "lib" | "test" | "tests" | "utils" | "types" | "config");
        // A class is written without the separators of its file.
        let joined: String = stem.chars().filter(|c| c.is_alphanumeric()).collect();
        let is_named = |word: &String| word == stem || *word == joined;
        self.text.contains(&name) || (!is_generic && stem.len() >= 4 && self.words.iter().any(is_named))
    }
}

/// The words of a text that may be names.
fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    parts.filter(|word| word.len() >= 3 && word.chars().any(char::is_alphabetic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_related_if_it_names_what_the_error_names() {
        let words =
            ErrorWords::new("error TS2304: Cannot find name 'settingsManager'.", Some("The `loadAll` import is gone."));
        assert!(
            words.occur_in("+ const settingsManager = create()") && words.occur_in("+ import { loadAll } from 'x'")
        );
        assert!(!words.occur_in("name → type") && !words.occur_in(""));
        assert!(words.name_file("src/settingsManager.ts") && !words.name_file("src/index.ts"));
        assert!(ErrorWords::new("src/db.ts: bad", None).name_file("app/src/db.ts"));
        assert!(ErrorWords::new("no 'a' on type 'UserList'", None).name_file("src/user-list.ts"));
    }
}
