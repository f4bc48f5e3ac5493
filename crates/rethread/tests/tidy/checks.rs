//! The checks, as functions of text, so that each can be tested on a few lines.

use crate::text::{Part, functions, keep, settings, starts_of};

const LONGEST_FILE: usize = 600;
const LONGEST_FUNCTION: usize = 80;
const LONG_BECAUSE: &str = "// tidy: long because ";

/// SQL that other databases reject.
const ONLY_SQLITE: [&str; 10] = [
    " GLOB ",
    "rowid",
    "INSERT OR ",
    "UPDATE OR ",
    "REPLACE INTO",
    "LIMIT -1",
    "INDEXED BY",
    "CROSS JOIN",
    "json_e",
    "PRAGMA",
];

/// Split, because this file is checked too.
const SQL: [&str; 2] = [concat!("SEL", "ECT "), concat!("INS", "ERT INTO")];
const MACHINE_PATHS: [&str; 3] = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/tmp/", "bash_jobs")];

/// Findings: line number from 1 and a remark.
pub(crate) type Remarks = Vec<(usize, String)>;

/// Dependencies on our crates that are not `allowed`; dev-dependencies do not count.
pub(crate) fn forbidden_arrows(manifest: &str, allowed: &[&str]) -> Remarks {
    let mut found = Remarks::new();
    for (number, section, line) in settings(manifest) {
        if !section.contains("dependencies") || section.contains("dev-dependencies") {
            continue;
        }
        let named = section.split('.').chain(line.split(|c: char| " =.\"'[]".contains(c)));
        for target in named.filter_map(|part| part.strip_prefix("rethread-")) {
            let remark = format!("may not use rethread-{target}");
            if !allowed.contains(&target) && !found.iter().any(|(_, seen)| *seen == remark) {
                found.push((number, remark));
            }
        }
    }
    found
}

/// Lines with SQL in code or strings.
pub(crate) fn sql(text: &str) -> Remarks {
    let spoken = keep(text, &[Part::Code, Part::Text]);
    let hit = |line: &str| SQL.iter().find(|needle| line.contains(**needle)).map(|needle| format!("`{needle}`"));
    spoken.lines().enumerate().filter_map(|(at, line)| Some((at + 1, hit(line)?))).collect()
}

/// How a statement about rows starts.
const STATEMENTS: [&str; 5] =
    [concat!("SEL", "ECT "), concat!("INSERT", " INTO "), "UPDATE ", concat!("DELETE", " FROM "), "WITH "];

/// Lines of product code with SQL that only SQLite understands.
pub(crate) fn unportable_sql(text: &str) -> Remarks {
    let product = text.split("#[cfg(test)]").next().unwrap_or_default();
    let spoken = keep(product, &[Part::Text]);
    let hit =
        |line: &str| ONLY_SQLITE.iter().find(|needle| line.contains(**needle)).map(|needle| format!("`{needle}`"));
    spoken.lines().enumerate().filter_map(|(at, line)| Some((at + 1, hit(line)?))).collect()
}

/// Statements in product code that do not name the space. One that is put together of parts may name it in another
/// part; the tests of the store check such statements when they run.
pub(crate) fn spaceless_sql(text: &str) -> Remarks {
    let product = text.split("#[cfg(test)]").next().unwrap_or_default();
    let mut found = Remarks::new();
    let mut line = 1;
    let texts = keep(product, &[Part::Text]).replace("\\\"", "  ");
    // Every second part is a string.
    for (at, part) in texts.split('"').enumerate() {
        let sql = part.trim_start();
        let is_sql = STATEMENTS.iter().any(|verb| sql.starts_with(verb));
        if at % 2 == 1 && is_sql && !sql.contains("space") && !sql.contains('{') {
            found.push((line, "names no space".to_owned()));
        }
        line += part.matches('\n').count();
    }
    found
}

/// Lines with one of `needles` in code; comments and strings do not count.
pub(crate) fn words(text: &str, needles: &[&str]) -> Remarks {
    let code = keep(text, &[Part::Code]);
    let mut found = Remarks::new();
    for (at, line) in code.lines().enumerate() {
        let stands = |needle: &&&str| starts_of(line, needle).next().is_some();
        found.extend(needles.iter().filter(stands).map(|needle| (at + 1, format!("`{needle}`"))));
    }
    found
}

/// Lines of a manifest with one of `needles`; comments do not count.
pub(crate) fn mentions(manifest: &str, needles: &[&str]) -> Remarks {
    let mut found = Remarks::new();
    for (number, _, line) in settings(manifest) {
        let stands = |needle: &&&str| starts_of(line, needle).next().is_some();
        found.extend(needles.iter().filter(stands).map(|needle| (number, format!("`{needle}`"))));
    }
    found
}

/// Whether the package inherits the workspace lints.
pub(crate) fn inherits_lints(manifest: &str) -> bool {
    settings(manifest).any(|(_, section, line)| {
        let line: String = line.split_whitespace().collect();
        section == "lints" && line == "workspace=true" || line == "lints.workspace=true"
    })
}

/// Line 1, unless it is a `//!` sentence.
pub(crate) fn opening(text: &str) -> Remarks {
    let first = text.lines().next().unwrap_or_default().trim_end();
    let sentence = first.strip_prefix("//! ").unwrap_or_default();
    let good = sentence.ends_with('.') || sentence.contains(". ");
    if good { vec![] } else { vec![(1, "does not start with a `//!` sentence and a full stop".into())] }
}

/// Files and functions with too many lines.
pub(crate) fn too_long(text: &str) -> Remarks {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Remarks::new();
    if lines.len() > LONGEST_FILE {
        found.push((1, format!("{} lines, more than {LONGEST_FILE}", lines.len())));
    }
    let code = keep(text, &[Part::Code]);
    for (start, length, name) in functions(&code) {
        let above = lines[..start - 1].iter().rev().map(|line| line.trim_start());
        let mut notes = above.take_while(|line| line.starts_with("//") || line.starts_with("#["));
        if length > LONGEST_FUNCTION && !notes.any(|line| line.starts_with(LONG_BECAUSE)) {
            found.push((start, format!("fn {name} has {length} lines, more than {LONGEST_FUNCTION}")));
        }
    }
    found
}

/// Lines with a path that exists on one machine only.
pub(crate) fn machine_paths(text: &str) -> Remarks {
    let mut found = Remarks::new();
    for (at, line) in text.lines().enumerate() {
        let stands = |needle: &&&str| starts_of(line, needle).next().is_some();
        found.extend(MACHINE_PATHS.iter().filter(stands).map(|path| (at + 1, (*path).to_string())));
    }
    found
}

/// Malformed behavior ids in comments, and names of integration tests that start with an id.
pub(crate) fn bad_ids(text: &str, is_integration_test: bool) -> Remarks {
    let comments = keep(text, &[Part::Comment]);
    let mut found = Remarks::new();
    for (at, line) in comments.lines().enumerate() {
        let tokens = line.split(|c: char| !c.is_alphanumeric() && c != '-');
        found.extend(tokens.filter(|token| is_bad_id(token)).map(|id| (at + 1, id.to_string())));
    }
    let named = functions(&keep(text, &[Part::Code]));
    let with_id = named.into_iter().filter(|(_, _, name)| is_integration_test && starts_with_id(name));
    found.extend(with_id.map(|(line, _, name)| (line, name)));
    found
}

/// Whether a word looks like an id (a letter, digits, a dash, a digit) but is malformed.
fn is_bad_id(word: &str) -> bool {
    let Some((design, rest)) = word.strip_prefix(['S', 'E', 'L']).and_then(|rest| rest.split_once('-')) else {
        return false;
    };
    let looks_like_id = design.len() >= 2 && digits(design) == design.len() && digits(rest) > 0;
    let ends = rest.chars().nth(2).is_none_or(|next| next == '-');
    looks_like_id && !(["000", "001", "002", "003", "004"].contains(&design) && digits(rest) == 2 && ends)
}

/// Whether a function name starts with an id, such as `s000_13_` or `t7_`.
fn starts_with_id(name: &str) -> bool {
    let Some((number, rest)) = name.strip_prefix(['s', 'e', 'l', 't']).and_then(|rest| rest.split_once('_')) else {
        return false;
    };
    let is_number = !number.is_empty() && digits(number) == number.len();
    is_number && (name.starts_with('t') || digits(rest) > 0)
}

/// The number of digits at the start.
fn digits(text: &str) -> usize {
    text.chars().take_while(char::is_ascii_digit).count()
}

/// Behavior ids in comments that `documented` does not list.
pub(crate) fn undocumented_ids(text: &str, documented: &str) -> Remarks {
    let comments = keep(text, &[Part::Comment]);
    let mut found = Remarks::new();
    for (at, line) in comments.lines().enumerate() {
        let ids = line.split(|c: char| !c.is_alphanumeric() && c != '-').filter(|token| is_id(token));
        found.extend(ids.filter(|id| !documented.contains(&format!("| {id} |"))).map(|id| (at + 1, id.to_string())));
    }
    found
}

/// True for `S000-13`: a letter, the number of a design, a dash and two digits.
fn is_id(token: &str) -> bool {
    let Some((design, number)) = token.strip_prefix(|c| "SEL".contains(c)).and_then(|rest| rest.split_once('-')) else {
        return false;
    };
    let is_number = |text: &str, digits: usize| text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number(design, 3) && is_number(number, 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(remarks: &Remarks) -> Vec<usize> {
        remarks.iter().map(|(line, _)| *line).collect()
    }

    #[test]
    fn dependency_is_found_in_every_notation() {
        let manifest = "[dependencies]\nrethread-model.workspace = true\nrethread-store = { path = \"../store\" }\n\
            s = { package = \"rethread-llm\" }\n[target.'cfg(unix)'.dependencies.rethread-index]\n\
            [dev-dependencies]\nrethread-engine = \"1\"\n# rethread-recall = \"1\"\n";
        assert_eq!(lines(&forbidden_arrows(manifest, &["model"])), [3, 4, 5]);
    }

    #[test]
    fn words_count_only_in_code() {
        let text = "// todo!()\nlet a = \"todo!\";\ntodo!();\nmy_todo!();\n";
        assert_eq!(lines(&words(text, &["todo!"])), [3]);
        assert_eq!(lines(&words("eprintln!();\nprint!();", &["print!", "println!"])), [2]);
        let manifest = "# rusqlite\n[dependencies]\nrusqlite.workspace = true\n";
        assert_eq!(lines(&mentions(manifest, &["rusqlite"])), [3]);
    }

    #[test]
    fn sql_counts_in_strings_but_not_in_comments() {
        let text = format!("// {0}1\nlet a = \"{0}1\";\n", SQL[0]);
        assert_eq!(lines(&sql(&text)), [2]);
    }

    #[test]
    fn sql_of_sqlite_alone_is_found_in_product_strings() {
        let line = format!("let a = \"{}1\";\n", ONLY_SQLITE[2]);
        assert_eq!(lines(&unportable_sql(&format!("// {0}\n{line}#[cfg(test)]\n{line}", ONLY_SQLITE[2]))), [2]);
    }

    #[test]
    fn first_line_is_a_sentence() {
        assert!(opening("//! Splits entries. Never looks\n//! across sessions.\n").is_empty());
        assert_eq!(lines(&opening("//! Episode utilities\n")), [1]);
        assert_eq!(lines(&opening("use std::fs;\n")), [1]);
    }

    #[test]
    fn long_function_is_found_unless_it_has_a_reason() {
        let long = format!("fn a() {{\n{}}}\n", "    work();\n".repeat(LONGEST_FUNCTION));
        assert_eq!(lines(&too_long(&format!("\n{long}"))), [2]);
        let excused = format!("{LONG_BECAUSE}it is a table.\n#[test]\n{long}");
        assert!(too_long(&excused).is_empty());
        assert_eq!(lines(&too_long(&"\n".repeat(LONGEST_FILE + 1))), [1]);
    }

    #[test]
    fn machine_path_starts_at_the_root() {
        let text = format!("see {0}x\nhttps://a.example{0}x\n~{0}x\n", MACHINE_PATHS[0]);
        assert_eq!(lines(&machine_paths(&text)), [1]);
    }

    #[test]
    fn ids_are_well_formed_and_not_in_test_names() {
        let good =
            "fn offset_past_end() {\n    // S000-13, L003-02/03, S7.4, T11; E0308 and E1-2\n}\nfn split_2_3() {}\n";
        assert_eq!(bad_ids(good, true), Remarks::new());
        let bad = ["S005-01", "S000-1", "E01-02", "L002-123"].map(|id| format!("// {id}\n"));
        assert_eq!(lines(&bad_ids(&bad.concat(), false)), [1, 2, 3, 4]);
        for name in ["s000_13_resets", "s7_4_counts", "t11_quotes"] {
            assert_eq!(lines(&bad_ids(&format!("fn {name}() {{}}\n"), true)), [1], "{name}");
        }
    }

    #[test]
    fn lints_are_found_in_both_notations() {
        assert!(inherits_lints("[lints]\nworkspace = true\n"));
        assert!(inherits_lints("lints.workspace = true\n"));
        assert!(!inherits_lints("[package]\nworkspace = true\n"));
    }
}
