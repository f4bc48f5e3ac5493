//! Character classes: letters, joiners, emoji, and scripts written without spaces.

/// Characters of words: letters, digits and combining marks.
pub(super) fn is_letter(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    c.is_alphanumeric() || unicode_normalization::char::is_combining_mark(c)
}

/// Characters that join the parts of a compound.
pub(super) fn is_joiner(c: char) -> bool {
    matches!(c, '/' | '\\' | '.' | '_' | '-' | '\'' | '’')
}

/// Accents that are ignored in searches: café, cafe.
pub(super) fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36F}')
}

/// Searchable emoji, without skin tones and joiners.
pub(super) fn is_emoji(c: char) -> bool {
    matches!(c, '\u{1F300}'..='\u{1F3FA}' | '\u{1F400}'..='\u{1FAFF}' | '\u{2600}'..='\u{27BF}')
}

/// Scripts without spaces between words.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0E00}'..='\u{0EFF}'     // Thai, Lao
        | '\u{1000}'..='\u{109F}'   // Myanmar
        | '\u{1780}'..='\u{17FF}'   // Khmer
        | '\u{3005}'..='\u{3007}'   // iteration mark, closing mark, zero
        | '\u{3040}'..='\u{30FF}'   // Hiragana, Katakana
        | '\u{31F0}'..='\u{31FF}'   // Katakana extensions
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' // Han
        | '\u{1100}'..='\u{11FF}' | '\u{AC00}'..='\u{D7FF}' // Hangul
        | '\u{FF66}'..='\u{FF9D}'   // half-width Katakana
        | '\u{20000}'..='\u{3134F}' // Han extensions
    ) && !matches!(c, '\u{30FB}')
}
