//! Finds long random runs that match no rule. Ignores hashes, UUIDs, ids, paths and identifiers.

use std::ops::Range;

use super::words::{self, WordStats};
use super::{blob, placeholder};

/// Reports each random run, with the name of its rule.
pub(super) fn scan(text: &str, mut report: impl FnMut(Range<usize>, &'static str)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    // A run of at least `MIN_RUN_BYTES` from `at` must include the last byte of the window. So the window is read
    // backwards, and a byte outside any run moves the window past it: most bytes of prose are never read.
    while at + MIN_RUN_BYTES <= bytes.len() {
        let window = &bytes[at..at + MIN_RUN_BYTES];
        if let Some(outside) = window.iter().rposition(|b| !IS_RUN_BYTE[usize::from(*b)]) {
            at += outside + 1;
            continue;
        }
        let longer = bytes[at + MIN_RUN_BYTES..].iter().take_while(|b| IS_RUN_BYTE[usize::from(**b)]).count();
        let end = at + MIN_RUN_BYTES + longer;
        check_run(text, after_escape(bytes, at)..end, &mut report);
        at = end + 1;
    }
}

/// The start of a run after an escape at its beginning, such as the `n` of `\n` or the `3D` of `%3D`.
fn after_escape(bytes: &[u8], start: usize) -> usize {
    match (&bytes[..start], bytes[start]) {
        ([.., b'\\'], b'n' | b'r' | b't') => start + 1,
        ([.., b'%'], _) => start + 2,
        _ => start,
    }
}

/// Shorter secrets are left to the rules and the key names.
const MIN_RUN_BYTES: usize = 24;

/// The bytes of base64 in both alphabets, without padding. `=` would join a name and its value.
const IS_RUN_BYTE: [bool; 256] = {
    let mut table = [false; 256];
    let bytes = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_";
    let mut index = 0;
    while index < bytes.len() {
        table[bytes[index] as usize] = true;
        index += 1;
    }
    table
};

/// Reports the run, or its random parts.
fn check_run(text: &str, run: Range<usize>, report: &mut impl FnMut(Range<usize>, &'static str)) {
    let value = &text[run.clone()];
    // Most long runs are names and paths, and end here.
    if !has_all_classes(value)
        || blob::is_part_of_blob(text.as_bytes(), &run)
        || words::is_service_id(value)
        || PUBLIC_PREFIXES.iter().any(|start| value.starts_with(start))
        || is_checksum(&text.as_bytes()[..run.start])
    {
        return;
    }
    let parts = || {
        let mut start = run.start;
        value.split('/').map(move |part| {
            let range = start..start + part.len();
            start = range.end + 1;
            range
        })
    };
    if let Some((range, name)) = parts().find_map(|part| known_format(text, &part)) {
        return report(range, name);
    }
    // A path that contains a word is not base64, but a part of it can be.
    let is_path = value.contains('/') && value.split('/').any(words::is_plain_word);
    if !is_path && is_secret(value) {
        return report(with_padding(text, run), RULE_NAME);
    }
    for part in parts().filter(|part| part.len() >= MIN_RUN_BYTES) {
        if has_all_classes(&text[part.clone()]) && is_secret(&text[part.clone()]) {
            report(with_padding(text, part), RULE_NAME);
        }
    }
}

const RULE_NAME: &str = "entropy";

/// Prefixes of mangled C++ and Rust symbols and of public SSH keys.
const PUBLIC_PREFIXES: &[&str] = &["_Z", "AAAAB3NzaC1", "AAAAC3NzaC1", "AAAAE2VjZHNh"];

/// Secrets with a known format but without a literal to search for.
fn known_format(text: &str, run: &Range<usize>) -> Option<(Range<usize>, &'static str)> {
    let value = &text[run.clone()];
    if value.len() == 34 && value.starts_with("SK") && value[2..].bytes().all(|b| b.is_ascii_hexdigit()) {
        return Some((run.clone(), "twilio"));
    }
    // Three parts of base64: the user's number, a time, a signature.
    if (23..=28).contains(&value.len()) && value.starts_with(['M', 'N', 'O']) {
        let rest = text[run.end..].strip_prefix('.')?;
        let time = token_length(rest);
        let signature = token_length(rest[time..].strip_prefix('.')?);
        if (5..=7).contains(&time) && signature >= 25 {
            return Some((run.start..run.end + 1 + time + 1 + signature, "discord"));
        }
    }
    None
}

/// Whether `SHA256:`, `sha256=`, `"sha512": "` or the `h1:` of go.sum comes before it, which mark public checksums.
fn is_checksum(before: &[u8]) -> bool {
    let near = &before[before.len().saturating_sub(16)..];
    let joints = near.iter().rev().take_while(|b| b"=:- \"'\\".contains(b)).count();
    let name = &near[..near.len() - joints];
    let ends_with = |end: &&str| {
        let start = name.len().saturating_sub(end.len());
        name[start..].eq_ignore_ascii_case(end.as_bytes())
    };
    joints > 0 && ["sha1", "sha256", "sha384", "sha512", "md5", "h1"].iter().any(ends_with)
}

/// Whether a run has lower-case letters, capitals and digits.
fn has_all_classes(run: &str) -> bool {
    let has = |fits: fn(&u8) -> bool| run.as_bytes().iter().any(fits);
    has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)
}

/// Whether a run is machine-generated and not a public identifier.
fn is_secret(run: &str) -> bool {
    let spelling = WordStats::of(run.as_bytes());
    let random: usize = run.split(['-', '_']).filter(|part| !words::is_name_part(part)).map(str::len).sum();
    random >= MIN_RANDOM_BYTES
        && !spelling.has_words(MAX_WORD_PERCENT)
        && !spelling.has_long_segments()
        && entropy(run.as_bytes()) >= threshold(run.len())
        && !words::is_service_id(run)
        && !placeholder::is_placeholder(run)
}

/// Minimum number of bytes in parts that are not words, numbers or hashes.
const MIN_RANDOM_BYTES: usize = 20;

/// Maximum percentage of letters that belong to words.
const MAX_WORD_PERCENT: usize = 45;

/// Shannon entropy of the run, in bits per byte.
#[expect(clippy::cast_precision_loss, reason = "no run is as long as 2^52 bytes")]
fn entropy(run: &[u8]) -> f64 {
    let mut counts = [0_usize; 128];
    for byte in run {
        counts[usize::from(byte & 0x7f)] += 1;
    }
    let share = |count: usize| count as f64 / run.len() as f64;
    let bits = |count: usize| share(count) * -share(count).log2();
    counts.into_iter().filter(|count| *count > 0).map(bits).sum()
}

/// The minimum entropy of a secret. A short run cannot reach that of a long one: of random base64, one run in a
/// thousand has less than 0.8 of what its length allows.
#[expect(clippy::cast_precision_loss, reason = "the length is at most 64")]
fn threshold(length: usize) -> f64 {
    (length.min(64) as f64).log2() * 0.8
}

fn with_padding(text: &str, run: Range<usize>) -> Range<usize> {
    let padding = text.as_bytes()[run.end..].iter().take(2).take_while(|b| **b == b'=').count();
    run.start..run.end + padding
}

fn token_length(text: &str) -> usize {
    text.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')).count()
}
