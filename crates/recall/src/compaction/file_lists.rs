//! Reads and writes the tagged file lists below a summary.

use rethread_model::one_line;

const READ_TAG: &str = "read-files";
const MODIFIED_TAG: &str = "modified-files";

/// Replaces the file lists below a summary. An empty list gets no tag.
pub(crate) fn with_files(summary: &str, read: &[String], modified: &[String]) -> String {
    let mut pieces = vec![without_files(summary)];
    for (tag, files) in [(READ_TAG, read), (MODIFIED_TAG, modified)] {
        // A line break in a path would turn one file into two.
        let lines: Vec<String> = files.iter().map(|file| on_one_line(file)).collect();
        if !lines.is_empty() {
            pieces.push(format!("<{tag}>\n{}\n</{tag}>", lines.join("\n")));
        }
    }
    pieces.join("\n\n")
}

/// Removes all tagged file lists, whether written by us or by a model.
pub(crate) fn without_files(summary: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut inside = None;
    for line in summary.lines() {
        let bare = line.trim();
        match inside {
            Some(tag) if closes(bare, tag) => inside = None,
            // An unclosed list ends where the summary continues.
            Some(_) if !bare.starts_with('#') && bare != "---" => {}
            _ => {
                let opened = [READ_TAG, MODIFIED_TAG].into_iter().find(|tag| opens(bare, tag));
                inside = opened.filter(|tag| !closes(bare, tag));
                if opened.is_none() {
                    kept.push(line);
                }
            }
        }
    }
    kept.join("\n").trim().to_owned()
}

fn opens(line: &str, tag: &str) -> bool {
    line.strip_prefix('<').and_then(|rest| rest.strip_prefix(tag)).is_some_and(|rest| rest.starts_with('>'))
}

fn closes(line: &str, tag: &str) -> bool {
    line.strip_suffix('>').and_then(|rest| rest.strip_suffix(tag)).is_some_and(|rest| rest.ends_with("</"))
}

fn on_one_line(path: &str) -> String {
    if path.contains(char::is_control) { one_line(path) } else { path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(summary: &str, read: &[&str], modified: &[&str], expect: &str) {
        let owned = |files: &[&str]| files.iter().map(|file| (*file).to_owned()).collect::<Vec<_>>();
        assert_eq!(with_files(summary, &owned(read), &owned(modified)), expect);
    }

    #[test]
    fn file_lists_have_the_specified_format() {
        // L004-09
        check(
            "## Goal\nx\n",
            &["a.rs", "b.rs"],
            &["c.rs"],
            "## Goal\nx\n\n<read-files>\na.rs\nb.rs\n</read-files>\n\n<modified-files>\nc.rs\n</modified-files>",
        );
        check("s", &[], &["c.rs"], "s\n\n<modified-files>\nc.rs\n</modified-files>");
        check("s", &[], &[], "s");
        check("s", &["a\nb.rs"], &[], "s\n\n<read-files>\na b.rs\n</read-files>");
    }

    #[test]
    fn file_tags_written_by_the_model_are_replaced() {
        // L004-09
        let wrote = "a\n\n<read-files>\nwrong\n</read-files>\n<modified-files>\nnever closed\n## Next\nb";
        check(wrote, &["r"], &[], "a\n\n## Next\nb\n\n<read-files>\nr\n</read-files>");
        check("a\n<read-files>x</read-files>\nb", &[], &[], "a\nb");
        check("say `<read-files>` twice", &[], &[], "say `<read-files>` twice");
    }
}
