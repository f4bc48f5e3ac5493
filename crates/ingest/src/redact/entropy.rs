//! Finds long random runs that no rule names. Leaves hashes, UUIDs, ids, paths and identifiers.

use std::ops::Range;

use super::placeholder;
use super::words::{self, Spelling};

/// Reports each random run, with the name of its rule.
pub(super) fn scan(text: &str, mut report: impl FnMut(Range<usize>, &'static str)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    // A run of `SHORTEST` bytes from `at` on must hold the last byte of the window. So the window is read
    // backwards, and a byte that is in no run moves it past that byte: most bytes of prose are never read.
    while at + SHORTEST <= bytes.len() {
        let window = &bytes[at..at + SHORTEST];
        if let Some(outside) = window.iter().rposition(|b| !IN_RUN[usize::from(*b)]) {
            at += outside + 1;
            continue;
        }
        let longer = bytes[at + SHORTEST..].iter().take_while(|b| IN_RUN[usize::from(**b)]).count();
        let end = at + SHORTEST + longer;
        judge(text, after_escape(bytes, at)..end, &mut report);
        at = end + 1;
    }
}

/// Where a run starts whose first bytes may end an escape, such as the `n` of `\n` or the `3D` of `%3D`.
fn after_escape(bytes: &[u8], start: usize) -> usize {
    match (&bytes[..start], bytes[start]) {
        ([.., b'\\'], b'n' | b'r' | b't') => start + 1,
        ([.., b'%'], _) => start + 2,
        _ => start,
    }
}

/// Shorter secrets are left to the rules and the names.
const SHORTEST: usize = 24;

/// The bytes of base64 in both alphabets, without the padding. `=` would join a name and its value.
const IN_RUN: [bool; 256] = {
    let mut table = [false; 256];
    let bytes = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_";
    let mut index = 0;
    while index < bytes.len() {
        table[bytes[index] as usize] = true;
        index += 1;
    }
    table
};

/// Reports the run, or the random parts of it.
fn judge(text: &str, run: Range<usize>, report: &mut impl FnMut(Range<usize>, &'static str)) {
    let value = &text[run.clone()];
    // Most long runs are names and paths, which end here.
    if !has_all_classes(value)
        || words::is_service_id(value)
        || PUBLIC_STARTS.iter().any(|start| value.starts_with(start))
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
    if let Some((range, name)) = parts().find_map(|part| known_shape(text, &part)) {
        return report(range, name);
    }
    // A path with a word in it is not base64, but a part of it can be.
    let is_path = value.contains('/') && value.split('/').any(words::is_plain_word);
    if !is_path && is_secret(value) {
        return report(with_padding(text, run), NAME);
    }
    for part in parts().filter(|part| part.len() >= SHORTEST) {
        if has_all_classes(&text[part.clone()]) && is_secret(&text[part.clone()]) {
            report(with_padding(text, part), NAME);
        }
    }
}

const NAME: &str = "entropy";

/// How the names of C++ and Rust functions in object files start, and the public keys of SSH.
const PUBLIC_STARTS: &[&str] = &["_Z", "AAAAB3NzaC1", "AAAAC3NzaC1", "AAAAE2VjZHNh"];

/// Secrets whose shape is known but that no literal announces.
fn known_shape(text: &str, run: &Range<usize>) -> Option<(Range<usize>, &'static str)> {
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

/// True after `SHA256:`, `sha256=`, `"sha512": "` and the `h1:` of go.sum, which announce public checksums.
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

/// True for a run with small letters, capitals and digits.
fn has_all_classes(run: &str) -> bool {
    let has = |fits: fn(&u8) -> bool| run.as_bytes().iter().any(fits);
    has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)
}

/// True for a run that a machine made up and that is not a public name of something.
fn is_secret(run: &str) -> bool {
    let spelling = Spelling::of(run.as_bytes());
    let random: usize = run.split(['-', '_']).filter(|part| !words::is_name_part(part)).map(str::len).sum();
    random >= LEAST_RANDOM
        && !spelling.has_words(MOST_IN_WORDS)
        && !spelling.has_long_segments()
        && entropy(run.as_bytes()) >= threshold(run.len())
        && !words::is_service_id(run)
        && !placeholder::is_placeholder(run)
}

/// How many bytes must be in parts that are no words, numbers or hashes.
const LEAST_RANDOM: usize = 20;

/// How many in a hundred letters may belong to words.
const MOST_IN_WORDS: usize = 45;

/// Bits for each byte, by how often each byte occurs in the run.
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

/// The least entropy of a secret. A short run cannot reach that of a long one: of random base64, one run in a
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
