//! A set of characters of a pattern: a bit for each ASCII character, and rules for all others.

/// Which characters a place of a pattern accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CharSet {
    ascii: u128,
    /// Other characters that are listed.
    listed: Vec<char>,
    /// Other characters that a class accepts.
    classes: Vec<CharClass>,
    /// Whether all other characters are accepted except those that are listed or in a class.
    is_negated: bool,
}

/// A class of characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CharClass {
    Word,
    NotWord,
    Space,
    NotSpace,
    /// Only known for ASCII: a pattern with it is not applied to texts with other digits.
    Digit,
}

impl CharClass {
    fn contains(self, c: char) -> bool {
        match self {
            Self::Word => is_word(c),
            Self::NotWord => !is_word(c),
            Self::Space => c.is_whitespace(),
            Self::NotSpace => !c.is_whitespace(),
            Self::Digit => c.is_ascii_digit(),
        }
    }
}

/// Whether `\w` accepts a character.
pub(super) fn is_word(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_alphanumeric() || c == '_'
    } else {
        regex_syntax::try_is_word_character(c).unwrap_or(false)
    }
}

impl CharSet {
    /// All characters except the end of a line.
    pub(super) fn any_in_line() -> Self {
        Self { ascii: !(1 << b'\n'), is_negated: true, ..Self::default() }
    }

    pub(super) fn add_char(&mut self, c: char, is_folded: bool) {
        if !c.is_ascii() {
            self.listed.push(c);
            return;
        }
        self.ascii |= 1 << (c as u32);
        if is_folded {
            self.ascii |= 1 << (c.to_ascii_lowercase() as u32) | 1 << (c.to_ascii_uppercase() as u32);
        }
    }

    pub(super) fn add_class(&mut self, class: CharClass) {
        let accepted = (0..128u8).filter(|byte| class.contains(char::from(*byte)));
        self.ascii |= accepted.fold(0, |bits, byte| bits | 1 << byte);
        self.classes.push(class);
    }

    /// Accepts also what another set accepts, which is not negated.
    pub(super) fn join(&mut self, other: Self) {
        self.ascii |= other.ascii;
        self.listed.extend(other.listed);
        self.classes.extend(other.classes);
    }

    pub(super) fn negate(&mut self) {
        self.ascii = !self.ascii;
        self.is_negated = !self.is_negated;
    }

    pub(super) fn ascii(&self) -> u128 {
        self.ascii
    }

    /// Whether it may accept characters that are not ASCII.
    pub(super) fn accepts_others(&self) -> bool {
        self.is_negated || !self.listed.is_empty() || !self.classes.is_empty()
    }

    /// The single letter of which the set has both cases, or the single other character.
    pub(super) fn only_char(&self) -> Option<char> {
        if self.accepts_others() || self.ascii == 0 {
            return None;
        }
        let first = char::from(self.ascii.trailing_zeros() as u8);
        let mut same = Self::default();
        same.add_char(first, true);
        (self.ascii == same.ascii || self.ascii.is_power_of_two()).then(|| first.to_ascii_lowercase())
    }

    /// Where the character at this place of a text ends, if the set accepts it.
    pub(super) fn end_at(&self, text: &str, at: usize) -> Option<usize> {
        let byte = *text.as_bytes().get(at)?;
        if byte < 128 {
            return (self.ascii >> byte & 1 == 1).then_some(at + 1);
        }
        let c = text.get(at..)?.chars().next()?;
        let is_named = self.listed.contains(&c) || self.classes.iter().any(|class| class.contains(c));
        (is_named != self.is_negated).then(|| at + c.len_utf8())
    }
}
