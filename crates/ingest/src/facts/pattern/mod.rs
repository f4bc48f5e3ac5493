//! Patterns of wordings, matched step by step. Most are used only a few times, and a regex engine would have to be prepared
//! first. Matches are the same.
//!
//! The engine is used for patterns with an unusual syntax, for letters with unusual cases, and if matching takes too long.

mod backtrack;
mod char_set;
mod start_bytes;
mod steps;
mod syntax;
mod words;

use std::ops::{Index, Range};
use std::sync::{Arc, OnceLock};

use regex_automata::{PatternID, meta};

use self::backtrack::{Search, UNSET};
use self::steps::StepPattern;
use self::words::{WordFilter, required_words};

/// More groups of words make looking for them slower and exclude hardly any more texts.
const MAX_GROUPS: usize = 2;
/// Groups of a table are bits of a number.
const MAX_TABLE_GROUPS: usize = u64::BITS as usize;
/// The letters that equal an ASCII letter in another case.
const FOLDED_LETTERS: [char; 2] = ['ſ', '\u{212A}'];

/// One pattern.
#[derive(Debug)]
pub(super) struct CuePattern {
    steps: Option<StepPattern>,
    written: String,
    /// The names of the groups from 1 on.
    group_names: GroupNames,
    compiled: OnceLock<Option<meta::Regex>>,
}

/// Patterns whose words are found in one pass, so that only those are matched which may be there.
#[derive(Debug)]
pub(super) struct CueTable<T> {
    words: WordFilter,
    rows: Vec<TableRow<T>>,
}

#[derive(Debug)]
struct TableRow<T> {
    pattern: CuePattern,
    /// The groups of which a text must have a word.
    needed: u64,
    value: T,
}

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
    /// Start and end of each group.
    slots: Vec<usize>,
    names: GroupNames,
}

type GroupNames = Arc<[Option<String>]>;

impl CuePattern {
    /// `None` if the pattern is invalid.
    pub(super) fn new(pattern: &str) -> Option<Self> {
        Self::from_parsed(pattern, syntax::parse(pattern).as_ref())
    }

    fn from_parsed(pattern: &str, parsed: Option<&syntax::ParsedPattern>) -> Option<Self> {
        let steps = parsed.and_then(StepPattern::new);
        let group_names = parsed.map(|parsed| parsed.group_names.as_slice()).unwrap_or_default().into();
        let mut made = Self { steps, written: pattern.to_owned(), group_names, compiled: OnceLock::new() };
        if made.steps.is_none() {
            let names = made.engine()?.group_info().pattern_names(PatternID::ZERO).skip(1);
            made.group_names = names.map(|name| name.map(str::to_owned)).collect();
        }
        Some(made)
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        match self.search(text, false) {
            Search::GivenUp => self.engine().is_some_and(|engine| engine.is_match(text)),
            found => found != Search::NotFound,
        }
    }

    pub(super) fn find<'t>(&self, text: &'t str) -> Option<CueMatch<'t>> {
        let (start, end) = match self.search(text, false) {
            Search::Found(slots) => (slots[0], slots[1]),
            Search::NotFound => return None,
            Search::GivenUp => self.engine()?.find(text).map(|found| (found.start(), found.end()))?,
        };
        Some(CueMatch { text, start, end })
    }

    pub(super) fn captures<'t>(&self, text: &'t str) -> Option<CueCaptures<'t>> {
        match self.search(text, true) {
            Search::Found(slots) => Some(CueCaptures { text, slots, names: Arc::clone(&self.group_names) }),
            Search::NotFound => None,
            Search::GivenUp => self.engine_captures(text),
        }
    }

    fn search(&self, text: &str, wants_groups: bool) -> Search {
        let Some(steps) = &self.steps else { return Search::GivenUp };
        let is_unusual = |c: char| FOLDED_LETTERS.contains(&c) || (steps.has_digits && !c.is_ascii() && c.is_numeric());
        if !text.is_ascii() && text.contains(is_unusual) {
            return Search::GivenUp;
        }
        steps.search(text, wants_groups)
    }

    fn engine_captures<'t>(&self, text: &'t str) -> Option<CueCaptures<'t>> {
        let engine = self.engine()?;
        let mut groups = engine.create_captures();
        engine.captures(text, &mut groups);
        groups.pattern()?;
        let places = |group: usize| groups.get_group(group).map_or([UNSET; 2], |found| [found.start, found.end]);
        let slots = (0..groups.group_len()).flat_map(places).collect();
        Some(CueCaptures { text, slots, names: Arc::clone(&self.group_names) })
    }

    fn engine(&self) -> Option<&meta::Regex> {
        let compile = || {
            // Deriving words to look for takes a third of the time to compile.
            let config = meta::Config::new().auto_prefilter(false);
            meta::Builder::new().configure(config).build_from_hir(&regex_syntax::parse(&self.written).ok()?).ok()
        };
        self.compiled.get_or_init(compile).as_ref()
    }
}

impl<T> CueTable<T> {
    /// Leaves out invalid patterns.
    pub(super) fn new<P: AsRef<str>>(patterns: impl IntoIterator<Item = (P, T)>) -> Self {
        let (mut rows, mut groups) = (Vec::new(), Vec::new());
        for (pattern, value) in patterns {
            let parsed = syntax::parse(pattern.as_ref());
            let Some(row) = CuePattern::from_parsed(pattern.as_ref(), parsed.as_ref()) else { continue };
            let mut own = parsed.map(|parsed| required_words(&parsed.node)).unwrap_or_default();
            own.truncate(MAX_GROUPS.min(MAX_TABLE_GROUPS - groups.len()));
            let needed = (groups.len()..groups.len() + own.len()).fold(0, |bits, at| bits | 1 << at);
            groups.extend(own);
            rows.push(TableRow { pattern: row, needed, value });
        }
        Self { words: WordFilter::new(&groups), rows }
    }

    /// The rows that may match a text, in order.
    pub(super) fn rows_for(&self, text: &str) -> impl Iterator<Item = (&CuePattern, &T)> {
        let is_unusual = !text.is_ascii() && text.contains(FOLDED_LETTERS);
        let found = if is_unusual { u64::MAX } else { self.words.groups_in(text) };
        let may_match = move |row: &&TableRow<T>| found & row.needed == row.needed;
        self.rows.iter().filter(may_match).map(|row| (&row.pattern, &row.value))
    }

    #[cfg(test)]
    pub(super) fn is_complete(&self, len: usize) -> bool {
        self.rows.len() == len && self.rows.iter().all(|row| row.pattern.engine().is_some())
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
        let (start, end) = (*self.slots.get(group * 2)?, *self.slots.get(group * 2 + 1)?);
        (start != UNSET && end != UNSET).then_some(CueMatch { text: self.text, start, end })
    }

    /// The groups from 1 on that took part in the match.
    pub(super) fn groups(&self) -> impl Iterator<Item = CueMatch<'t>> {
        (1..self.slots.len() / 2).filter_map(|group| self.get(group))
    }

    pub(super) fn name(&self, name: &str) -> Option<CueMatch<'t>> {
        let at = self.names.iter().position(|known| known.as_deref() == Some(name))?;
        self.get(at + 1)
    }
}

/// The text of a named group; empty if it did not take part in the match.
impl Index<&str> for CueCaptures<'_> {
    type Output = str;

    fn index(&self, name: &str) -> &str {
        self.name(name).map_or("", |found| &self.text[found.range()])
    }
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

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
    fn usual_patterns_need_no_engine() {
        for (pattern, is_usual) in [
            (r"(?i)^(?:hm+|so+ )*,? ?(?:why|what's)(?-u:\b)|(?P<end> or not)[.! ]*$", true),
            (r"(?x) ^\s* ( > | \|\ x | [+-]\s?\S*[{}();=] | (?i:npm) \ (warn|error) | \x22 )", true),
            (r"(?i)[^'\x22“]{0,30}(?:[\w@][\w@./+ -]+?) (\d+)['’]?", true),
            (r"a++[\x20\t]++b", true),
            (r"[[A-Za-z0-9_].-]+[^[\x20\t]+!]", true),
            (r"[[^a]b]", false),
            (r"(?i)é", false),
            (r"(?m)^a", false),
            (r"(?:a*)*", false),
            (r"[a&&b]", false),
        ] {
            assert_eq!(CuePattern::new(pattern).unwrap().steps.is_some(), is_usual, "{pattern}");
        }
    }

    #[test]
    fn a_search_that_takes_too_long_is_left_to_the_engine() {
        let pattern = CuePattern::new("(?:a|b|ab|ba)+c").unwrap();
        let text = "ab".repeat(60);
        assert_eq!(pattern.search(&text, false), Search::GivenUp);
        assert!(!pattern.is_match(&text) && pattern.is_match(&format!("{text}c")));
    }

    fn groups_of(pattern: &str, text: &str) -> Option<Vec<Option<Range<usize>>>> {
        let found = CuePattern::new(pattern)?.captures(text)?;
        Some((0..found.slots.len() / 2).map(|group| found.get(group).map(|one| one.range())).collect())
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(2_000))]
        #[test]
        fn matches_are_those_of_the_regex_engine(
            pattern in "(\\(\\?i\\))?\\^?([a-ck?|]|[a-c][*+?][?]?|[a-c][+][+]|\\((ab|sk|a)(\\|[ac]?)?\\)[?+*]?\\??|\\(\\?P<n>(a|b)(\\|c)?\\)(\\{1,2\\})?|\\[a-cé\\\\s\\]|\\[\\^?\\[ab\\][?+]\\]|\\[\\^aé\\][+*]?|[.é’]|\\\\[bwWsSd]|\\(\\?-u:\\\\b\\)){1,6}\\$?",
            text in "[a-ckKS sſ\u{212A}éÉ’\u{2003}1?٣²]{0,10}",
        ) {
            if let (Some(cue), Ok(regex)) = (CuePattern::new(&pattern), Regex::new(&pattern)) {
                let expected = regex.captures(&text);
                proptest::prop_assert_eq!(cue.is_match(&text), expected.is_some(), "{}", &pattern);
                proptest::prop_assert_eq!(cue.find(&text).map(|found| found.range()), regex.find(&text).map(|found| found.range()));
                let expected = expected.map(|found| found.iter().map(|group| group.map(|one| one.range())).collect());
                proptest::prop_assert_eq!(groups_of(&pattern, &text), expected, "{}", &pattern);
            }
        }
    }
}
