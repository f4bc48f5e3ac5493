//! The lists of files below a summary, between tags.

use rethread_model::one_line;

const READ: &str = "read-files";
const MODIFIED: &str = "modified-files";

/// The summary with exactly these lists below it; a list without a file has no tag.
pub(crate) fn with_files(summary: &str, read: &[String], modified: &[String]) -> String {
    let mut pieces = vec![without_files(summary)];
    for (tag, files) in [(READ, read), (MODIFIED, modified)] {
        // A line break in a name would make two files of one.
        let lines: Vec<String> = files.iter().map(|file| on_one_line(file)).collect();
        if !lines.is_empty() {
            pieces.push(format!("<{tag}>\n{}\n</{tag}>", lines.join("\n")));
        }
    }
    pieces.join("\n\n")
}

/// The summary without any lists of files between tags, ours or a model's.
pub(crate) fn without_files(summary: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut inside = None;
    for line in summary.lines() {
        let bare = line.trim();
        match inside {
            Some(tag) if closes(bare, tag) => inside = None,
            // A list that is never closed ends where the summary goes on.
            Some(_) if !bare.starts_with('#') && bare != "---" => {}
            _ => {
                let opened = [READ, MODIFIED].into_iter().find(|tag| opens(bare, tag));
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
    fn l004_09_files_are_written_as_the_design_shows() {
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
    fn l004_09_tags_of_the_model_are_replaced() {
        let wrote = "a\n\n<read-files>\nwrong\n</read-files>\n<modified-files>\nnever closed\n## Next\nb";
        check(wrote, &["r"], &[], "a\n\n## Next\nb\n\n<read-files>\nr\n</read-files>");
        check("a\n<read-files>x</read-files>\nb", &[], &[], "a\nb");
        check("say `<read-files>` twice", &[], &[], "say `<read-files>` twice");
    }
}
