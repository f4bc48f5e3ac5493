//! Hides lines from the inside of a private key: rules know a key by its first line, which a part of a file may lack.

/// The widths of wrapped base64: PEM has 64 characters, OpenSSH 70, MIME 76.
const WIDTHS: std::ops::RangeInclusive<usize> = 60..=76;
/// Fewer such lines next to each other may be hashes.
const MIN_LINES: usize = 2;
const HIDDEN: &str = "[REDACTED:key-lines]";

/// The text with every such line replaced, so that its number of lines stays the same.
pub(super) fn without_key_lines(text: &str) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    let mut shown: Vec<&str> = Vec::with_capacity(lines.len());
    for run in lines.chunk_by(|one, next| is_key_line(one) == is_key_line(next)) {
        let is_key = run.len() >= MIN_LINES && is_key_line(run[0]);
        shown.extend(run.iter().map(|line| if is_key { HIDDEN } else { line }));
    }
    shown.join("\n")
}

/// Whether a line is only base64. Lines of one case, such as hashes and numbers, and rulers are not.
fn is_key_line(line: &str) -> bool {
    let line = line.trim();
    let has = |test: fn(&u8) -> bool| line.bytes().any(|byte| test(&byte));
    WIDTHS.contains(&line.len())
        && line.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_key_are_hidden_and_hashes_are_shown() {
        let key = "Ab3+".repeat(16);
        assert_eq!(without_key_lines(&format!("a\n{key}\n  {key}\r\nb")), format!("a\n{HIDDEN}\n{HIDDEN}\nb"));
        let hash = "0a".repeat(32);
        for text in [format!("{hash}\n{hash}\n"), format!("{key}\nb"), String::new(), "-".repeat(64)] {
            assert_eq!(without_key_lines(&text), text);
        }
    }
}
