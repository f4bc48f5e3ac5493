//! A command as it is kept: with its line breaks, and without the texts in it that are no part of what it does.

use std::sync::LazyLock;

use regex::Regex;
use rethread_model::clip;
use xxhash_rust::xxh3::xxh3_64;

/// The longest command kept, in characters.
const SCRIPT_CHARS: usize = 1500;
/// Longer texts in quotes are known by their beginning and a hash.
const QUOTED_CHARS: usize = 200;
const QUOTED_KEPT: usize = 120;

/// A command without what it writes into files: the texts of here documents and long quotations are left out, and a hash
/// of each tells two of them apart.
pub(crate) fn shortened(command: &str) -> String {
    static HERE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"<<-?[ \t]*\\?['"]?([A-Za-z0-9_]+)['"]?"#).ok());
    let mut out = String::new();
    let mut lines = command.lines();
    while let Some(line) = lines.next() {
        // Most lines hold none, and never build the pattern.
        let has_one = line.contains("<<") && !line.contains("<<<");
        let found = if has_one { HERE.as_ref().and_then(|here| here.captures(line)) } else { None };
        let Some(found) = found else {
            out.push_str(line);
            out.push('\n');
            continue;
        };
        let mark = &found[1];
        let body: Vec<&str> = lines.by_ref().take_while(|line| line.trim() != mark).collect();
        let (before, after) = line.split_at(line.find("<<").unwrap_or(line.len()));
        let after = &after[found[0].len().min(after.len())..];
        let hash = hash(&body.join("\n"));
        match before.strip_suffix("$(cat ") {
            // A message: its first line says what it is about.
            Some(quoted) => {
                let first = body.iter().find(|line| !line.trim().is_empty()).copied().unwrap_or_default();
                out.extend([quoted, &first.trim().replace(['"', '\''], ""), " #", &hash]);
                let rest = lines.next().unwrap_or_default();
                out.push_str(rest.trim_start().strip_prefix(')').unwrap_or(rest));
            }
            None => out.extend([before, "<<", mark, "#", &hash, after]),
        }
        out.push('\n');
    }
    clip(without_long_quotations(out.trim_end()).as_str(), SCRIPT_CHARS).into_owned()
}

fn without_long_quotations(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\'', '"']) {
        let quote = &rest[at..=at];
        let inside = &rest[at + 1..];
        let Some(end) = closing(inside, quote) else { break };
        out.push_str(&rest[..=at]);
        let quoted = &inside[..end];
        if quoted.chars().count() > QUOTED_CHARS {
            let kept: String = quoted.chars().take(QUOTED_KEPT).collect();
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

/// Where a quotation ends.
fn closing(inside: &str, quote: &str) -> Option<usize> {
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
    fn what_is_written_into_files_is_left_out() {
        let first = shortened("cat > a.py <<'EOF'\nsecret text\nEOF\npython3 a.py");
        assert!(!first.contains("secret") && first.ends_with("\npython3 a.py"), "{first}");
        assert_ne!(first, shortened("cat > a.py <<'EOF'\nother text\nEOF\npython3 a.py"));
        assert_eq!(shortened("npm ci\nnpm test"), "npm ci\nnpm test");
    }

    #[test]
    fn a_commit_is_known_by_the_first_line_of_its_message() {
        let told = shortened("git commit -m \"$(cat <<'EOF'\nfix: the lock\n\nlong story\nEOF\n)\" && git push");
        assert!(told.starts_with("git commit -m \"fix: the lock #") && told.ends_with("\" && git push"), "{told}");
    }

    #[test]
    fn long_quotations_are_told_apart_by_a_hash() {
        let script = |end: &str| shortened(&format!("python3 -c \"{}{end}\" --fast", "x = 1; ".repeat(60)));
        assert_ne!(script("a"), script("b"));
        assert!(script("a").ends_with("\" --fast") && script("a").len() < 250);
    }

    proptest::proptest! {
        #[test]
        fn any_command_can_be_shortened(text in "(?s)[a-z<'\"\\\\\n $()EOF-]{0,120}") {
            shortened(&text);
        }
    }
}
