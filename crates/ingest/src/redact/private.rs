//! Drops what the user marked as private with `<private>…</private>`. Does not look for secrets.

/// The tag that opens a private part. In small letters only: `<Private>` is an element of .NET project files.
pub(super) const OPEN: &str = "<private>";
const CLOSE: &str = "</private>";

/// The text without its private parts, and how many there were; `None` when there is none.
///
/// A part ends at its closing tag, counting tags inside it, or at the end of the text. A tag alone in backticks
/// is talk about the tag and opens nothing.
pub(super) fn drop_parts(text: &str) -> Option<(String, u64)> {
    let mut out = String::new();
    let mut parts = 0;
    let mut rest = text;
    while let Some(open) = find_open(rest) {
        out.push_str(&rest[..open]);
        rest = after_part(&rest[open + OPEN.len()..]);
        parts += 1;
        // `<pri<private>…</private>vate>` leaves a new opening tag behind.
        while let Some(kept) = joined_tag(&out, rest) {
            rest = after_part(&rest[OPEN.len() - (out.len() - kept)..]);
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

/// Where the first tag that opens a part stands.
fn find_open(text: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text[from..].find(OPEN).map(|at| from + at) {
        let end = at + OPEN.len();
        let quoted = text[..at].ends_with('`') && text[end..].starts_with('`');
        if !quoted {
            return Some(at);
        }
        from = end;
    }
    None
}

/// What follows the closing tag of a part whose content starts here.
fn after_part(text: &str) -> &str {
    let mut depth = 1;
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'<', rest.as_bytes()) {
        rest = &rest[at..];
        if rest.starts_with(CLOSE) {
            depth -= 1;
            rest = &rest[CLOSE.len()..];
            if depth == 0 {
                return rest;
            }
        } else if rest.starts_with(OPEN) {
            depth += 1;
            rest = &rest[OPEN.len()..];
        } else {
            rest = &rest[1..];
        }
    }
    ""
}

/// Where in `before` an opening tag starts that ends in `after`.
fn joined_tag(before: &str, after: &str) -> Option<usize> {
    (1..OPEN.len()).find_map(|split| {
        let (head, tail) = OPEN.split_at(split);
        let kept = before.len().checked_sub(split)?;
        (before.ends_with(head) && after.starts_with(tail)).then_some(kept)
    })
}
