//! Recognizes encoded data: images, certificates, archives, source maps. They are random to the eye and not secret.
//! Private keys are found by their header before this matters.

use std::ops::Range;

/// Longer runs are data. The longest secrets without a rule of their own have about half of this.
const MAX_SECRET_BYTES: usize = 512;

/// Minimum length of a line of wrapped base64: PEM has 64 characters, MIME 76.
const MIN_WRAPPED_BYTES: usize = 56;

/// First characters of base64 of common formats: PNG, JPEG, GIF, WebP, SVG, PDF, gzip, ZIP, WASM, WOFF, WOFF2, MP3, OGG.
const MAGIC: &[&str] = &[
    "iVBORw0KGgo",
    "/9j/",
    "R0lGOD",
    "UklGR",
    "PHN2Zy",
    "PD94bWwg",
    "JVBERi0",
    "H4sI",
    "UEsDB",
    "AGFzbQ",
    "d09GR",
    "d09GMg",
    "SUQz",
    "T2dnUw",
];

/// Whether the run of base64 at `run` belongs to encoded data.
pub(super) fn is_part_of_blob(text: &[u8], run: &Range<usize>) -> bool {
    let value = &text[run.clone()];
    value.len() > MAX_SECRET_BYTES
        || MAGIC.iter().any(|magic| value.starts_with(magic.as_bytes()))
        || text[..run.start].ends_with(b"base64,")
        || is_wrapped(text, run)
        || is_in_public_pem(&text[..run.start])
}

/// Minimum number of lines of wrapped base64. Fewer may be a list of secrets.
const MIN_WRAPPED_LINES: usize = 3;

/// Whether the run is one of several lines of equal width, or the shorter line at their end.
fn is_wrapped(text: &[u8], run: &Range<usize>) -> bool {
    let before = lengths(|at| line_before(text, at), run.start);
    let width = before[0].max(run.len());
    if width < MIN_WRAPPED_BYTES {
        return false;
    }
    let whole_before = before.iter().take_while(|length| **length == width).count();
    let lines = if run.len() < width {
        whole_before + 1
    } else {
        let after = lengths(|at| line_after(text, at), run.end);
        let whole_after = after.iter().take_while(|length| **length == width).count();
        let is_last_shorter = after.get(whole_after).is_some_and(|length| (1..width).contains(length));
        whole_before + 1 + whole_after + usize::from(is_last_shorter)
    };
    lines >= MIN_WRAPPED_LINES
}

/// Lengths of the nearest lines that are only base64, nearest first; 0 where there is none. `next` gives a line and
/// where the search continues.
fn lengths(next: impl Fn(usize) -> Option<(usize, usize)>, mut at: usize) -> [usize; MIN_WRAPPED_LINES] {
    let mut lengths = [0; MIN_WRAPPED_LINES];
    for length in &mut lengths {
        let Some((found, continues_at)) = next(at) else { break };
        (*length, at) = (found, continues_at);
    }
    lengths
}

/// Length and start of the run of base64 that fills the line before the one in which `at` is the first such byte.
fn line_before(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let before = strip_newline_end(trim_indent_end(&text[..at]))?;
    let length = before.iter().rev().take(MAX_SECRET_BYTES).take_while(|b| is_base64(**b)).count();
    let start = before.len() - length;
    let rest = trim_indent_end(&before[..start]);
    (length > 0 && (rest.is_empty() || strip_newline_end(rest).is_some())).then_some((length, start))
}

/// Length and end of the run of base64 at the start of the line after the one that ends at `at`.
fn line_after(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let padding = text[at..].iter().take(2).take_while(|b| **b == b'=').count();
    let rest = strip_newline_start(&text[at + padding..])?;
    let rest = &rest[indent_length(rest)..];
    let start = text.len() - rest.len();
    let length = rest.iter().take(MAX_SECRET_BYTES).take_while(|b| is_base64(**b)).count();
    (length > 0).then_some((length, start + length))
}

/// Whether the last PEM header before the run opens a certificate or a public key.
fn is_in_public_pem(before: &[u8]) -> bool {
    let near = &before[before.len().saturating_sub(MAX_PEM_BYTES)..];
    let Some(at) = memchr::memmem::rfind(near, b"-----BEGIN ") else { return false };
    let label = &near[at..];
    let is_closed = memchr::memmem::find(label, b"-----END").is_some();
    let is_private = memchr::memmem::find(&label[..label.len().min(60)], b"PRIVATE").is_some();
    !is_closed && !is_private
}

/// How far back a PEM header is searched for.
const MAX_PEM_BYTES: usize = 8 * 1024;

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=_-".contains(&byte)
}

/// The arrow between a line number and the line, as agents show files.
const ARROW: &[u8] = "→".as_bytes();

fn is_indent(byte: u8) -> bool {
    b" \t\"'>|".contains(&byte)
}

/// Length of the indentation and of the line number at the start of a line.
fn indent_length(line: &[u8]) -> usize {
    let spaces = line.iter().take_while(|b| is_indent(**b)).count();
    let digits = line[spaces..].iter().take_while(|b| b.is_ascii_digit()).count();
    let is_numbered = digits > 0 && line[spaces + digits..].starts_with(ARROW);
    if is_numbered { spaces + digits + ARROW.len() } else { spaces }
}

/// The text before the indentation and the line number at its end.
fn trim_indent_end(text: &[u8]) -> &[u8] {
    let trim = |text: &[u8], fits: fn(u8) -> bool| text.len() - text.iter().rev().take_while(|b| fits(**b)).count();
    let mut text = text;
    if let Some(numbered) = text.strip_suffix(ARROW) {
        text = &numbered[..trim(numbered, |b| b.is_ascii_digit())];
    }
    &text[..trim(text, is_indent)]
}

/// The text before a newline, also one that is escaped, as in JSON.
fn strip_newline_end(text: &[u8]) -> Option<&[u8]> {
    let text = text.strip_suffix(b"\n").or_else(|| strip_escaped(text))?;
    Some(text.strip_suffix(b"\r").unwrap_or(text))
}

fn strip_escaped(text: &[u8]) -> Option<&[u8]> {
    let text = text.strip_suffix(b"\\n")?;
    let slashes = text.iter().rev().take_while(|b| **b == b'\\').count();
    Some(&text[..text.len() - slashes])
}

/// The text after a newline, also one that is escaped, as in JSON.
fn strip_newline_start(text: &[u8]) -> Option<&[u8]> {
    let text = text.strip_prefix(b"\r").unwrap_or(text);
    if let Some(rest) = text.strip_prefix(b"\n") {
        return Some(rest);
    }
    let slashes = text.iter().take_while(|b| **b == b'\\').count();
    (slashes > 0).then(|| &text[slashes..]).and_then(|rest| rest.strip_prefix(b"n"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{BASE62, random, redact};

    /// `count` lines of base64 and a shorter one.
    fn wrapped(width: usize, count: u64) -> String {
        let lines = (0..count).map(|seed| format!("{}\n", random(BASE62, width, 40 + seed)));
        lines.collect::<String>() + &random(BASE62, 30, 90) + "=="
    }

    #[test]
    fn certificates_images_and_other_data_are_kept() {
        // D70
        let pem = wrapped(64, 4);
        let image = random(BASE62, 300, 7);
        for text in [
            format!("-----BEGIN CERTIFICATE-----\nMII{pem}\n-----END CERTIFICATE-----\nnext"),
            format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----", wrapped(64, 1)),
            format!("{{\"cert\": \"-----BEGIN CERTIFICATE-----\\n{}\\n\"}}", pem.replace('\n', "\\n")),
            format!("content:\n{}", wrapped(76, 3)),
            format!("   1→{}", wrapped(76, 3).replace('\n', "\n   2→")),
            format!("url(data:font/woff2;base64,{image})"),
            format!("{{\"data\": \"iVBORw0KGgo{image}\"}}"),
            format!("//# sourceMappingURL=data:application/json;base64,{image}"),
            random(BASE62, 700, 3),
        ] {
            assert_eq!(redact(&text).0, text);
        }
    }

    #[test]
    fn secrets_near_data_are_still_removed() {
        // D70
        let secret = random(BASE62, 64, 5);
        for text in [
            format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n{secret}", wrapped(64, 3)),
            format!("{secret}\n{}", random(BASE62, 64, 6)),
            format!("key {secret}\nother text"),
        ] {
            assert!(!redact(&text).0.contains(&secret), "{text}");
        }
    }
}
