//! Shortens a command for storage: keeps its line breaks, drops long texts that are not part of what it does.

use std::sync::LazyLock;

use rethread_model::clip;
use xxhash_rust::xxh3::xxh3_64;

use super::pattern::CuePattern;
use super::tables::INTERPRETERS;

/// Maximum length of a stored command, in characters.
const MAX_SCRIPT_CHARS: usize = 1500;
/// Maximum length of a stored script that is written into a call, in characters.
const MAX_INLINE_CHARS: usize = 1200;
/// Longer quoted texts are replaced by their beginning and a hash.
const MAX_QUOTED_CHARS: usize = 200;
const KEPT_QUOTED_CHARS: usize = 120;

/// Shortens a command: the contents of here documents and long quoted texts are replaced by a hash, so that two
/// different commands stay different. A script for an interpreter is what the command does, and is kept beside its hash.
pub(crate) fn shorten_script(command: &str) -> String {
    static HERE: LazyLock<Option<CuePattern>> =
        LazyLock::new(|| CuePattern::new(r#"<<-?[ \t]*\\?['"]?([A-Za-z0-9_]+)['"]?"#));
    let mut out = String::new();
    let mut lines = command.lines();
    while let Some(line) = lines.next() {
        // Most lines contain none, so the pattern is rarely compiled.
        let has_one = line.contains("<<") && !line.contains("<<<");
        let found = if has_one { HERE.as_ref().and_then(|here| here.captures(line)) } else { None };
        let Some(found) = found else {
            out.push_str(line);
            out.push('\n');
            continue;
        };
        let mark = found.get(1).map_or("", |mark| mark.as_str());
        let body: Vec<&str> = lines.by_ref().take_while(|line| line.trim() != mark).collect();
        let (before, after) = line.split_at(line.find("<<").unwrap_or(line.len()));
        let after = &after[found.get(0).map_or(0, |whole| whole.range().len()).min(after.len())..];
        let hash = hash(&body.join("\n"));
        match before.strip_suffix("$(cat ") {
            // A commit message: its first line is kept.
            Some(quoted) => {
                let first = body.iter().find(|line| !line.trim().is_empty()).copied().unwrap_or_default();
                out.extend([quoted, &first.trim().replace(['"', '\''], ""), " #", &hash]);
                let rest = lines.next().unwrap_or_default();
                out.push_str(rest.trim_start().strip_prefix(')').unwrap_or(rest));
            }
            None => out.extend([before, "<<", mark, "#", &hash, after]),
        }
        let text = body.join("\n");
        if runs_interpreter(before) && text.len() <= MAX_INLINE_CHARS {
            out.extend([" '", &text.replace('\'', "’"), "'"]);
        }
        out.push('\n');
    }
    clip(shorten_quoted_texts(out.trim_end()).as_str(), MAX_SCRIPT_CHARS).into_owned()
}

fn shorten_quoted_texts(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\'', '"']) {
        let quote = &rest[at..=at];
        let inside = &rest[at + 1..];
        let Some(end) = find_closing_quote(inside, quote) else { break };
        out.push_str(&rest[..=at]);
        let quoted = &inside[..end];
        let limit = if runs_script(&rest[..at]) { MAX_INLINE_CHARS } else { MAX_QUOTED_CHARS };
        if quoted.chars().count() > limit {
            let kept: String = quoted.chars().take(KEPT_QUOTED_CHARS).collect();
            out.extend([&kept, "… #", &hash(quoted)]);
        } else {
            out.push_str(quoted);
        }
        out.push_str(quote);
        rest = &inside[end + 1..];
    }
    out.push_str(rest);
    out
}

/// Whether a quoted text after this is a script of its own, as in `bash -lc "…"` and `python3 -c '…'`.
fn runs_script(before: &str) -> bool {
    let (rest, flag) = before.trim_end().rsplit_once(char::is_whitespace).unwrap_or(("", ""));
    let is_here_document = flag.starts_with("<<") && flag.contains('#');
    is_here_document
        || flag.starts_with('-') && !flag.starts_with("--") && flag.ends_with(['c', 'e', 'p']) && runs_interpreter(rest)
}

/// Whether the last command of a text is an interpreter, with flags at most.
fn runs_interpreter(before: &str) -> bool {
    let last = before.rsplit(['|', ';', '&', '\n', '(']).next().unwrap_or_default();
    let mut words = last.split_whitespace().rev().skip_while(|word| word.starts_with('-'));
    words.next().is_some_and(|program| is_interpreter(program.rsplit('/').next().unwrap_or(program)))
}

/// Whether a program runs scripts, whatever its version: `python3.11`.
pub(super) fn is_interpreter(program: &str) -> bool {
    INTERPRETERS.contains(program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
}

/// The offset of the closing quote.
fn find_closing_quote(inside: &str, quote: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + inside[from..].find(quote)?;
        if quote == "'" || !inside[..at].ends_with('\\') {
            return Some(at);
        }
        from = at + 1;
    }
}

fn hash(text: &str) -> String {
    format!("{:08x}", xxh3_64(text.as_bytes()) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_contents_are_omitted() {
        let first = shorten_script("cat > a.py <<'EOF'\nsecret text\nEOF\npython3 a.py");
        assert!(!first.contains("secret") && first.ends_with("\npython3 a.py"), "{first}");
        assert_ne!(first, shorten_script("cat > a.py <<'EOF'\nother text\nEOF\npython3 a.py"));
        assert_eq!(shorten_script("npm ci\nnpm test"), "npm ci\nnpm test");
    }

    #[test]
    fn commit_keeps_the_first_line_of_its_message() {
        let script = shorten_script("git commit -m \"$(cat <<'EOF'\nfix: the lock\n\nlong story\nEOF\n)\" && git push");
        assert!(
            script.starts_with("git commit -m \"fix: the lock #") && script.ends_with("\" && git push"),
            "{script}"
        );
    }

    #[test]
    fn long_quoted_texts_are_distinguished_by_a_hash() {
        let script = |end: &str| shorten_script(&format!("git commit -m \"{}{end}\" --fast", "x = 1; ".repeat(60)));
        assert_ne!(script("a"), script("b"));
        assert!(script("a").ends_with("\" --fast") && script("a").len() < 250);
    }

    #[test]
    fn scripts_of_interpreters_are_kept() {
        let text = "print(1)\n".repeat(40);
        assert!(shorten_script(&format!("cat a | python3 -c '{text}' | head")).contains(&text));
        let here = shorten_script(&format!("cd x && python3 - <<'EOF'\n{text}it's\nEOF\nls"));
        assert!(here.contains("python3 - <<EOF#") && here.contains("it’s'\nls"), "{here}");
        assert!(!shorten_script(&format!("cat > a.py <<'EOF'\n{text}EOF")).contains("print"));
    }

    proptest::proptest! {
        #[test]
        fn any_command_can_be_shortened(text in "(?s)[a-z<'\"\\\\\n $()EOF-]{0,120}") {
            shorten_script(&text);
        }
    }
}
