//! Finds types that share a name, so that a name means one thing in the whole workspace.

use std::collections::BTreeMap;

use crate::text::{Part, keep};
use crate::tree::Named;

/// Names that several types may have, with the reason.
const SHARED: [(&str, &str); 1] = [("BoxError", "the same alias in three benchmark binaries")];

/// Types that are defined more than once, as `file:line: remark`.
pub(crate) fn repeated(files: &[Named]) -> Vec<String> {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, text) in files {
        for (line, defined) in definitions(text) {
            places.entry(defined).or_default().push(format!("{name}:{line}"));
        }
    }
    places.retain(|name, places| places.len() > 1 && !SHARED.iter().any(|(shared, _)| shared == name));
    places
        .into_iter()
        .map(|(name, places)| format!("{}: `{name}` also at {}", places[0], places[1..].join(", ")))
        .collect()
}

/// Types a text defines, with their lines from 1. Associated types belong to their trait and do not count.
pub(crate) fn definitions(text: &str) -> Vec<(usize, String)> {
    let code = keep(text, &[Part::Code]);
    let defined = |(at, line): (usize, &str)| {
        let indented = line.starts_with(' ');
        let line = line.trim_start();
        let line =
            ["pub(crate) ", "pub(super) ", "pub "].iter().find_map(|public| line.strip_prefix(public)).unwrap_or(line);
        let (keyword, rest) = line.split_once(' ')?;
        let is_type = matches!(keyword, "struct" | "enum" | "trait" | "union") || keyword == "type" && !indented;
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
        (is_type && !name.is_empty()).then_some((at + 1, name))
    };
    code.lines().enumerate().filter_map(defined).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_with_one_name_are_found() {
        let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let files = [
            file("a.rs", "pub struct Row;\nimpl Iterator for Row {\n    type Item = u8;\n}\n"),
            file("b.rs", "// struct Row\npub(crate) enum Row<'a> {}\ntype Item = u8;\n"),
        ];
        assert_eq!(repeated(&files), ["a.rs:1: `Row` also at b.rs:2"]);
    }
}
