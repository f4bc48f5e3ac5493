//! Patterns of wordings that are rarely found: a pattern is compiled and run only if the text has the words it needs.
//!
//! The words are derived from the pattern, so that the result is the same as without looking for them.

use std::ops::{Index, Range};
use std::sync::OnceLock;

use aho_corasick::AhoCorasick;
use regex_automata::meta;
use regex_automata::util::captures::Captures;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, ClassUnicodeRange, Hir, HirKind};

/// More groups of words make looking for them slower and exclude hardly any more texts.
const MAX_GROUPS: usize = 2;
/// Groups of a table are bits of a number.
const MAX_TABLE_GROUPS: usize = u64::BITS as usize;
/// The letters that equal an ASCII letter in another case.
const FOLDED_LETTERS: [char; 2] = ['ſ', '\u{212A}'];

/// One pattern.
#[derive(Debug)]
pub(super) struct CuePattern {
    words: WordFilter,
    row: PatternRow,
}

/// Patterns whose words are found in one pass.
#[derive(Debug)]
pub(super) struct CueTable<T> {
    words: WordFilter,
    rows: Vec<(PatternRow, T)>,
}

/// A pattern that is ready to be searched.
#[derive(Debug)]
pub(super) struct CompiledPattern(meta::Regex);

/// Where a pattern or a group of it matches.
#[derive(Clone, Copy, Debug)]
pub(super) struct CueMatch<'t> {
    text: &'t str,
    start: usize,
    end: usize,
}

/// A match with its groups.
#[derive(Debug)]
pub(super) struct CueCaptures<'t> {
    text: &'t str,
    groups: Captures,
}

/// A pattern, compiled when it is needed.
#[derive(Debug)]
struct PatternRow {
    parsed: Hir,
    compiled: OnceLock<Option<CompiledPattern>>,
    /// The pattern as written, if what was parsed applies only to ASCII texts.
    written: Option<String>,
    written_compiled: OnceLock<Option<CompiledPattern>>,
    /// The groups of which a text must have a word.
    needed: u64,
}

/// What a text has of the words of patterns.
#[derive(Clone, Copy, Debug)]
struct FoundWords {
    groups: u64,
    is_ascii: bool,
}

/// Finds words in any case, each of which belongs to some groups.
#[derive(Debug, Default)]
struct WordFilter {
    automaton: Option<AhoCorasick>,
    /// The groups of each word.
    groups: Vec<u64>,
    all: u64,
}

/// Words of which every match of a pattern has at least one.
type WordGroup = Vec<String>;

impl CuePattern {
    /// `None` if the pattern is invalid.
    pub(super) fn new(pattern: &str) -> Option<Self> {
        let CueTable { words, mut rows } = CueTable::new([(pattern, ())]);
        Some(Self { words, row: rows.pop()?.0 })
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        self.compiled_for(text).is_some_and(|compiled| compiled.0.is_match(text))
    }

    pub(super) fn find<'t>(&self, text: &'t str) -> Option<CueMatch<'t>> {
        let found = self.compiled_for(text)?.0.find(text)?;
        Some(CueMatch { text, start: found.start(), end: found.end() })
    }

    pub(super) fn captures<'t>(&self, text: &'t str) -> Option<CueCaptures<'t>> {
        self.compiled_for(text)?.captures(text)
    }

    fn compiled_for(&self, text: &str) -> Option<&CompiledPattern> {
        self.row.compiled_for(self.words.find_in(text))
    }
}

impl<T> CueTable<T> {
    /// Leaves out invalid patterns.
    pub(super) fn new<P: AsRef<str>>(patterns: impl IntoIterator<Item = (P, T)>) -> Self {
        let (mut rows, mut groups) = (Vec::new(), Vec::new());
        for (pattern, value) in patterns {
            let Some(mut row) = PatternRow::parse(pattern.as_ref()) else { continue };
            let mut own = required_words(&row.parsed);
            own.truncate(MAX_GROUPS.min(MAX_TABLE_GROUPS - groups.len()));
            row.needed = (groups.len()..groups.len() + own.len()).fold(0, |bits, at| bits | 1 << at);
            groups.extend(own);
            rows.push((row, value));
        }
        Self { words: WordFilter::new(&groups), rows }
    }

    /// The rows that may match a text, in order.
    pub(super) fn rows_for(&self, text: &str) -> impl Iterator<Item = (&CompiledPattern, &T)> {
        let found = self.words.find_in(text);
        self.rows.iter().filter_map(move |(row, value)| Some((row.compiled_for(found)?, value)))
    }

    #[cfg(test)]
    pub(super) fn is_complete(&self, len: usize) -> bool {
        let compiles = |row: &PatternRow| {
            [true, false]
                .iter()
                .all(|is_ascii| row.compiled_for(FoundWords { groups: u64::MAX, is_ascii: *is_ascii }).is_some())
        };
        self.rows.len() == len && self.rows.iter().all(|(row, _)| compiles(row))
    }
}

impl PatternRow {
    fn parse(pattern: &str) -> Option<Self> {
        let (parsed, written) = match parse_for_ascii(pattern) {
            Some(parsed) => (parsed, Some(pattern.to_owned())),
            None => (regex_syntax::parse(pattern).ok()?, None),
        };
        Some(Self { parsed, compiled: OnceLock::new(), written, written_compiled: OnceLock::new(), needed: 0 })
    }

    fn compiled_for(&self, found: FoundWords) -> Option<&CompiledPattern> {
        if found.groups & self.needed != self.needed {
            return None;
        }
        match &self.written {
            Some(written) if !found.is_ascii => {
                self.written_compiled.get_or_init(|| CompiledPattern::new(&regex_syntax::parse(written).ok()?))
            }
            _ => self.compiled.get_or_init(|| CompiledPattern::new(&self.parsed)),
        }
        .as_ref()
    }
}

impl CompiledPattern {
    fn new(parsed: &Hir) -> Option<Self> {
        // The words were looked for already; deriving them again takes a third of the time to compile.
        let config = meta::Config::new().auto_prefilter(false);
        Some(Self(meta::Builder::new().configure(config).build_from_hir(parsed).ok()?))
    }

    pub(super) fn captures<'t>(&self, text: &'t str) -> Option<CueCaptures<'t>> {
        let mut groups = self.0.create_captures();
        self.0.captures(text, &mut groups);
        groups.is_match().then_some(CueCaptures { text, groups })
    }
}

impl<'t> CueMatch<'t> {
    pub(super) fn start(&self) -> usize {
        self.start
    }

    pub(super) fn end(&self) -> usize {
        self.end
    }

    pub(super) fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    pub(super) fn as_str(&self) -> &'t str {
        &self.text[self.range()]
    }
}

impl<'t> CueCaptures<'t> {
    /// A group by its number; 0 is the whole match.
    pub(super) fn get(&self, group: usize) -> Option<CueMatch<'t>> {
        let found = self.groups.get_group(group)?;
        Some(CueMatch { text: self.text, start: found.start, end: found.end })
    }

    pub(super) fn name(&self, name: &str) -> Option<CueMatch<'t>> {
        let found = self.groups.get_group_by_name(name)?;
        Some(CueMatch { text: self.text, start: found.start, end: found.end })
    }
}

/// The text of a named group; empty if it did not take part in the match.
impl Index<&str> for CueCaptures<'_> {
    type Output = str;

    fn index(&self, name: &str) -> &str {
        self.name(name).map_or("", |found| &self.text[found.range()])
    }
}

impl WordFilter {
    fn new(groups: &[WordGroup]) -> Self {
        let mut words: Vec<&str> = groups.iter().flatten().map(String::as_str).collect();
        words.sort_unstable();
        words.dedup();
        let groups_of = |word: &&str| {
            let bits = groups.iter().enumerate().filter(|(_, group)| group.iter().any(|one| one == word));
            bits.fold(0, |bits, (at, _)| bits | 1 << at)
        };
        let automaton = AhoCorasick::builder().ascii_case_insensitive(true).build(&words).ok();
        let bits: Vec<u64> = words.iter().map(groups_of).collect();
        Self { automaton, all: bits.iter().fold(0, |all, bits| all | bits), groups: bits }
    }

    fn find_in(&self, text: &str) -> FoundWords {
        let is_ascii = text.is_ascii();
        FoundWords { groups: self.groups_in(text, is_ascii), is_ascii }
    }

    /// The groups of which a text has a word.
    fn groups_in(&self, text: &str, is_ascii: bool) -> u64 {
        let Some(automaton) = &self.automaton else { return u64::MAX };
        if self.all == 0 || (!is_ascii && text.contains(FOLDED_LETTERS)) {
            return u64::MAX;
        }
        if self.all == 1 {
            return u64::from(automaton.is_match(text));
        }
        let mut found = 0;
        for one in automaton.find_overlapping_iter(text) {
            found |= self.groups[one.pattern().as_usize()];
            if found == self.all {
                break;
            }
        }
        found
    }
}

/// A pattern as it applies to ASCII texts, if it has classes of characters: those are much smaller for bytes.
fn parse_for_ascii(pattern: &str) -> Option<Hir> {
    const CLASSES: [&str; 9] = [r"\w", r"\W", r"\s", r"\S", r"\d", "[^", ".{", ".*", ".+"];
    if !CLASSES.iter().any(|class| pattern.contains(class)) {
        return None;
    }
    ParserBuilder::new().unicode(false).utf8(false).build().parse(&without_other_letters(pattern)?).ok()
}

/// A pattern without the characters in its classes that are not ASCII. `None` if they may be ends of a range.
fn without_other_letters(pattern: &str) -> Option<String> {
    let (mut out, mut class_start, mut before) = (String::with_capacity(pattern.len()), None, ' ');
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, class_start) {
            ('\\', _) => {
                out.push(c);
                out.extend(chars.next());
            }
            ('[', None) => {
                class_start = Some(out.len());
                out.push(c);
            }
            // A class in a class, or a bracket as the first character.
            ('[', Some(_)) => return None,
            (']', Some(_)) if before == '[' => return None,
            (']', Some(start)) => {
                // Nothing is left of the class: it matches no ASCII character.
                out.push_str(if &out[start..] == "[" { "a&&b]" } else { "]" });
                class_start = None;
            }
            (_, Some(_)) if !c.is_ascii() => {
                let rest: String = chars.clone().take(2).collect();
                if before == '-' || (rest.starts_with('-') && rest != "-]") {
                    return None;
                }
            }
            _ => out.push(c),
        }
        before = c;
    }
    Some(out)
}

/// The groups of words that every match has, best first.
fn required_words(hir: &Hir) -> Vec<WordGroup> {
    let mut groups = match hir.kind() {
        HirKind::Capture(capture) => return required_words(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => return required_words(&repetition.sub),
        HirKind::Alternation(branches) => alternatives(branches).into_iter().collect(),
        HirKind::Concat(parts) => sequence(parts),
        HirKind::Literal(_) | HirKind::Class(_) => sequence(std::slice::from_ref(hir)),
        HirKind::Empty | HirKind::Look(_) | HirKind::Repetition(_) => Vec::new(),
    };
    groups.retain(|group| shortest(group) > 1 || group.iter().all(|word| !word.starts_with(char::is_alphabetic)));
    groups.sort_by_key(|group| (std::cmp::Reverse(shortest(group)), group.len()));
    groups
}

/// One word of each branch; none if a branch has none.
fn alternatives(branches: &[Hir]) -> Option<WordGroup> {
    let mut words: WordGroup = Vec::new();
    for branch in branches {
        words.extend(required_words(branch).into_iter().next()?);
    }
    // A word that contains another one is found with it.
    let is_found_with = |word: &String| words.iter().any(|other| other != word && word.contains(other.as_str()));
    let mut kept: WordGroup = words.iter().filter(|word| !is_found_with(word)).cloned().collect();
    kept.sort_unstable();
    kept.dedup();
    Some(kept)
}

/// The runs of letters of a sequence, and the words of its other parts.
fn sequence(parts: &[Hir]) -> Vec<WordGroup> {
    let (mut groups, mut run) = (Vec::new(), String::new());
    for part in parts {
        match part.kind() {
            HirKind::Literal(literal) if plain_text(&literal.0).is_some() => {
                run.push_str(&plain_text(&literal.0).unwrap_or_default().to_ascii_lowercase());
            }
            HirKind::Class(class) if letter_of(class).is_some() => run.extend(letter_of(class)),
            HirKind::Look(_) | HirKind::Empty => {}
            _ => {
                groups.push(vec![std::mem::take(&mut run)]);
                if !matches!(part.kind(), HirKind::Class(_) | HirKind::Literal(_)) {
                    groups.extend(required_words(part));
                }
            }
        }
    }
    groups.push(vec![run]);
    groups.retain(|group| shortest(group) > 0);
    groups
}

/// A text whose letters are ASCII: others may match in another case.
fn plain_text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|text| text.chars().all(|c| c.is_ascii() || !c.is_alphabetic()))
}

/// The letter of which a class has both cases and nothing else.
fn letter_of(class: &Class) -> Option<char> {
    let letters: Vec<char> = match class {
        Class::Unicode(class) => {
            let ranges = class.ranges();
            if ranges.iter().any(|range| range.len() > 1) {
                return None;
            }
            ranges.iter().map(ClassUnicodeRange::start).filter(|letter| !FOLDED_LETTERS.contains(letter)).collect()
        }
        Class::Bytes(class) => {
            if class.ranges().iter().any(|range| range.len() > 1) {
                return None;
            }
            class.ranges().iter().map(|range| char::from(range.start())).collect()
        }
    };
    let [first, rest @ ..] = &letters[..] else { return None };
    let is_letter = first.is_ascii() && rest.iter().all(|other| other.eq_ignore_ascii_case(first));
    is_letter.then(|| first.to_ascii_lowercase())
}

fn shortest(group: &[String]) -> usize {
    group.iter().map(String::len).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    fn words(pattern: &str) -> Vec<WordGroup> {
        required_words(&regex_syntax::parse(pattern).unwrap())
    }

    #[test]
    fn required_words_are_derived_from_the_pattern() {
        for (pattern, expected) in [
            (r"(?i)\b(?:want|like) me to\b", vec![vec![" me to"], vec!["like", "want"]]),
            (r"(?i)(?:ask|skip)s?", vec![vec!["ask", "skip"]]),
            (r"(?i)not|nothing|\d", vec![]),
            (r"(?i)not|nothing", vec![vec!["not"]]),
            (r"(?i)does.{0,60}\?$", vec![vec!["does"], vec!["?"]]),
            (r"(?i)(?:maybe )?", vec![]),
            (r"(?i)(?:no){1,2} é", vec![vec!["no"], vec![" "]]),
        ] {
            assert_eq!(words(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn a_table_gives_only_rows_that_may_match() {
        let table = CueTable::new([(r"(?i)\bdrop\b", 1), (r"(?i)\b(?:go|stay) with\b", 2), (r"\d", 3), ("(", 4)]);
        let rows = |text: &str| table.rows_for(text).map(|(_, value)| *value).collect::<Vec<_>>();
        assert_eq!((rows("DROP it"), rows("go on"), rows("stay with it")), (vec![1, 3], vec![3], vec![2, 3]));
        assert!(table.is_complete(3));
    }

    #[test]
    fn letters_of_other_alphabets_that_match_are_not_missed() {
        let pattern = CuePattern::new(r"(?i)\bask\b").unwrap();
        assert!(pattern.is_match("aſk") && pattern.is_match("as\u{212A}") && !pattern.is_match("äsk"));
    }

    #[test]
    fn classes_keep_their_ascii_characters() {
        for (pattern, expected) in [
            ("['’]?[,—–-] →", Some("[']?[,-] →")),
            (r"[—–]|\[—", Some(r"[a&&b]|\[—")),
            ("[а-я]", None),
            ("[a-я]", None),
        ] {
            assert_eq!(without_other_letters(pattern).as_deref(), expected, "{pattern}");
        }
    }

    proptest::proptest! {
        #[test]
        fn patterns_match_what_they_match_without_looking_for_words(
            pattern in "(\\(\\?i\\))?([a-ck?|]|\\(\\?:(ab|sk)(\\|[ac])?\\)[?+*]?|\\[a-cé\\\\s\\]|\\[\\^aé\\]|[.é’]|\\\\[bwWsSd]){1,6}",
            text in "[a-ckKS sſ\u{212A}éÉ’\u{2003}1?]{0,8}",
        ) {
            if let (Some(cue), Ok(regex)) = (CuePattern::new(&pattern), Regex::new(&pattern)) {
                proptest::prop_assert_eq!(cue.is_match(&text), regex.is_match(&text), "{}", pattern);
            }
        }
    }
}
