//! Sanitizes text for a terminal: removes what moves the cursor, sets colors or changes the reading direction.

use std::borrow::Cow;

use rethread_model::is_unsafe_to_display;

/// Removes everything a terminal would interpret. Line breaks and tabs stay, color sequences are removed because they
/// carry no text, and every other control character becomes visible.
pub(crate) fn sanitize(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find(is_unsafe_to_display) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..first]);
    let mut rest = &text[first..];
    while let Some(c) = rest.chars().next() {
        if let Some(after) = skip_color_sequence(rest) {
            rest = after;
            continue;
        }
        let after = &rest[c.len_utf8()..];
        match c {
            // A Windows line break.
            '\r' if after.starts_with('\n') => {}
            '\u{2028}' | '\u{2029}' => out.push('\n'),
            c if is_unsafe_to_display(c) => push_visible(c, &mut out),
            c => out.push(c),
        }
        rest = after;
    }
    Cow::Owned(out)
}

/// The rest after a sequence such as `ESC [ 31 m`, if the text starts with one.
fn skip_color_sequence(text: &str) -> Option<&str> {
    let body = text.strip_prefix("\u{1b}[").or_else(|| text.strip_prefix('\u{9b}'))?;
    let end = body.find(|c: char| !('\u{20}'..='\u{3f}').contains(&c))?;
    let last = body[end..].chars().next()?;
    ('\u{40}'..='\u{7e}').contains(&last).then(|| &body[end + 1..])
}

/// Writes a control character in visible form.
fn push_visible(c: char, out: &mut String) {
    let code = u32::from(c);
    let picture = match code {
        0..0x20 => char::from_u32(0x2400 + code),
        0x7f => Some('\u{2421}'),
        _ => None,
    };
    match picture {
        Some(picture) => out.push(picture),
        None => out.extend(c.escape_unicode()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let out = sanitize(text);
        assert_eq!(out, expect);
        assert!(!out.contains(is_unsafe_to_display), "{out:?}");
    }

    #[test]
    fn ordinary_text_is_unchanged() {
        let text = "héllo\n\tworld 日本 👩‍🚀";
        assert!(matches!(sanitize(text), Cow::Borrowed(same) if same == text));
    }

    #[test]
    fn removes_colors_and_shows_other_control_characters() {
        check("\u{1b}[1;31mFAIL\u{1b}[0m x", "FAIL x");
        check("\u{9b}31mred", "red");
        check("\u{1b}]0;title\u{7}", "␛]0;title␇");
        check("a\u{8}\u{7f}\u{0}b", "a␈␡␀b");
        check("one\r\ntwo\rthree", "one\ntwo␍three");
        check("\u{85}\u{90}", "\\u{85}\\u{90}");
    }

    #[test]
    fn shows_direction_and_hidden_characters() {
        check("abc\u{202e}fdp.exe", "abc\\u{202e}fdp.exe");
        check("\u{2066}x\u{2069}\u{200f}", "\\u{2066}x\\u{2069}\\u{200f}");
        check("a\u{e0041}", "a\\u{e0041}");
        check("a\u{2028}b", "a\nb");
    }

    #[test]
    fn removing_a_sequence_never_forms_a_new_one() {
        check("\u{1b}\u{1b}[31m[31m", "␛[31m");
        check("\u{1b}[", "␛[");
        check("\u{1b}[3", "␛[3");
        check("\u{1b}[3é", "␛[3é");
        check("\u{1b}[\u{1b}[Hx", "␛[x");
    }
}
