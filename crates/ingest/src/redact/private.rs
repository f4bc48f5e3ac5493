//! Removes what the user marked as private with `<private>…</private>`. Does not look for secrets.

/// The tag that opens a private part. Only in lower case: `<Private>` is an element of .NET project files.
pub(super) const OPEN_TAG: &str = "<private>";
const CLOSE_TAG: &str = "</private>";

/// The text without its private parts, and their number; `None` if there are none.
///
/// A part ends at its closing tag, counting nested tags, or at the end of the text. A tag alone in backticks only
/// mentions the tag and opens nothing.
pub(super) fn strip_private(text: &str) -> Option<(String, u64)> {
    let mut out = String::new();
    let mut parts = 0;
    let mut rest = text;
    while let Some(open) = find_open(rest) {
        out.push_str(&rest[..open]);
        rest = skip_part(&rest[open + OPEN_TAG.len()..]);
        parts += 1;
        // Removing a part can create a new opening tag: `<pri<private>…</private>vate>`.
        while let Some(kept) = joined_tag(&out, rest) {
            rest = skip_part(&rest[OPEN_TAG.len() - (out.len() - kept)..]);
            out.truncate(kept);
            parts += 1;
        }
    }
    if parts == 0 {
        return None;
    }
    out.push_str(rest);
    Some((out, parts))
}

/// The offset of the first tag that opens a part.
fn find_open(text: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text[from..].find(OPEN_TAG).map(|at| from + at) {
        let end = at + OPEN_TAG.len();
        let quoted = text[..at].ends_with('`') && text[end..].starts_with('`');
        if !quoted {
            return Some(at);
        }
        from = end;
    }
    None
}

/// The text after the closing tag of a part whose content starts here.
fn skip_part(text: &str) -> &str {
    let mut depth = 1;
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'<', rest.as_bytes()) {
        rest = &rest[at..];
        if rest.starts_with(CLOSE_TAG) {
            depth -= 1;
            rest = &rest[CLOSE_TAG.len()..];
            if depth == 0 {
                return rest;
            }
        } else if rest.starts_with(OPEN_TAG) {
            depth += 1;
            rest = &rest[OPEN_TAG.len()..];
        } else {
            rest = &rest[1..];
        }
    }
    ""
}

/// The offset in `before` of an opening tag that ends in `after`.
fn joined_tag(before: &str, after: &str) -> Option<usize> {
    (1..OPEN_TAG.len()).find_map(|split| {
        let (head, tail) = OPEN_TAG.split_at(split);
        let kept = before.len().checked_sub(split)?;
        (before.ends_with(head) && after.starts_with(tail)).then_some(kept)
    })
}
