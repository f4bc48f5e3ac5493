//! Reads the syntax of a pattern, as far as it can be matched step by step.
//!
//! Anything unusual is left to the regex engine, which is slow to prepare but knows everything.

use super::char_set::{CharClass, CharSet};

/// Groups in groups, at most.
const MAX_DEPTH: usize = 24;

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PatternNode {
    /// A text; letters in any case if it is folded.
    Literal {
        text: String,
        is_folded: bool,
    },
    Set(CharSet),
    Assert(Assertion),
    /// A group whose place is wanted, by number.
    Capture(usize, Box<PatternNode>),
    Repeat {
        node: Box<PatternNode>,
        min: usize,
        max: Option<usize>,
        is_greedy: bool,
    },
    Concat(Vec<PatternNode>),
    Alternate(Vec<PatternNode>),
}

/// What must hold at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assertion {
    Start,
    End,
    /// The start or end of a word of ASCII letters.
    AsciiBoundary,
    /// The start or end of a word.
    Boundary,
}

/// A pattern that was read.
#[derive(Clone, Debug)]
pub(super) struct ParsedPattern {
    pub(super) node: PatternNode,
    /// The name of each group from 1 on, if it has one.
    pub(super) group_names: Vec<Option<String>>,
    /// Whether it has a class of digits, of which only the ASCII ones are known.
    pub(super) has_digits: bool,
}

/// Reads a pattern. `None` if it is invalid or unusual.
pub(super) fn parse(pattern: &str) -> Option<ParsedPattern> {
    let mut reader = Reader {
        rest: pattern,
        is_folded: false,
        is_spaced: false,
        depth: 0,
        group_names: Vec::new(),
        has_digits: false,
    };
    let node = reader.alternation()?;
    reader.rest.is_empty().then_some(ParsedPattern {
        node,
        group_names: reader.group_names,
        has_digits: reader.has_digits,
    })
}

/// Adds a part of a sequence; texts that follow each other are one.
fn push_part(parts: &mut Vec<PatternNode>, node: PatternNode) {
    match (parts.last_mut(), node) {
        (Some(PatternNode::Literal { text, is_folded }), PatternNode::Literal { text: more, is_folded: folded })
            if *is_folded == folded =>
        {
            text.push_str(&more);
        }
        (_, node) => parts.push(node),
    }
}

struct Reader<'p> {
    rest: &'p str,
    is_folded: bool,
    /// Whether white space is ignored.
    is_spaced: bool,
    depth: usize,
    group_names: Vec<Option<String>>,
    has_digits: bool,
}

/// What an escape stands for.
enum Escape {
    Char(char),
    Class(CharClass),
    Boundary,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn eat(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn skip_space(&mut self) {
        if self.is_spaced {
            self.rest = self.rest.trim_start();
        }
    }

    fn alternation(&mut self) -> Option<PatternNode> {
        let mut branches = vec![self.concat()?];
        while self.eat("|") {
            branches.push(self.concat()?);
        }
        Some(if branches.len() == 1 { branches.pop()? } else { PatternNode::Alternate(branches) })
    }

    fn concat(&mut self) -> Option<PatternNode> {
        let mut parts: Vec<PatternNode> = Vec::new();
        loop {
            self.skip_space();
            if self.rest.is_empty() || self.rest.starts_with(['|', ')']) {
                return Some(PatternNode::Concat(parts));
            }
            let atom = self.atom()?;
            self.skip_space();
            match self.repeated(atom)? {
                PatternNode::Concat(inner) => inner.into_iter().for_each(|node| push_part(&mut parts, node)),
                node => push_part(&mut parts, node),
            }
        }
    }

    /// One place, group or assertion. Flags are an empty sequence.
    fn atom(&mut self) -> Option<PatternNode> {
        let node = match self.next()? {
            '(' => return self.group(),
            '[' => PatternNode::Set(self.class()?),
            '.' => PatternNode::Set(CharSet::any_in_line()),
            '^' => PatternNode::Assert(Assertion::Start),
            '$' => PatternNode::Assert(Assertion::End),
            '\\' => match self.escape()? {
                Escape::Char(c) => self.literal(c)?,
                Escape::Boundary => PatternNode::Assert(Assertion::Boundary),
                Escape::Class(class) => {
                    let mut set = CharSet::default();
                    set.add_class(class);
                    PatternNode::Set(set)
                }
            },
            '?' | '*' | '+' | '{' => return None,
            '#' if self.is_spaced => return None,
            c => self.literal(c)?,
        };
        Some(node)
    }

    /// A character as itself. Letters that are not ASCII may have several other cases.
    fn literal(&self, c: char) -> Option<PatternNode> {
        let is_plain = c.is_ascii() || !(self.is_folded && c.is_alphabetic());
        is_plain.then(|| PatternNode::Literal { text: c.to_string(), is_folded: self.is_folded })
    }

    fn escape(&mut self) -> Option<Escape> {
        Some(match self.next()? {
            'b' if !self.rest.starts_with('{') => Escape::Boundary,
            'w' => Escape::Class(CharClass::Word),
            'W' => Escape::Class(CharClass::NotWord),
            's' => Escape::Class(CharClass::Space),
            'S' => Escape::Class(CharClass::NotSpace),
            'd' => {
                self.has_digits = true;
                Escape::Class(CharClass::Digit)
            }
            't' => Escape::Char('\t'),
            'n' => Escape::Char('\n'),
            'x' => {
                let (digits, rest) = self.rest.split_at_checked(2)?;
                self.rest = rest;
                Escape::Char(u8::from_str_radix(digits, 16).ok().filter(u8::is_ascii).map(char::from)?)
            }
            c if c.is_ascii_punctuation() || c == ' ' => Escape::Char(c),
            _ => return None,
        })
    }

    fn group(&mut self) -> Option<PatternNode> {
        self.depth += 1;
        let (is_folded, is_spaced) = (self.is_folded, self.is_spaced);
        let mut number = None;
        if self.eat("?-u:\\b)") {
            self.depth -= 1;
            return Some(PatternNode::Assert(Assertion::AsciiBoundary));
        } else if self.eat("?P<") || self.eat("?<") {
            let (name, rest) = self.rest.split_once('>')?;
            self.rest = rest;
            number = Some(self.add_group(Some(name.to_owned())));
        } else if self.eat("?") {
            let (flags, rest) = self.rest.split_at_checked(self.rest.find([':', ')'])?)?;
            for flag in flags.chars() {
                match flag {
                    'i' => self.is_folded = true,
                    'x' => self.is_spaced = true,
                    _ => return None,
                }
            }
            self.rest = rest;
            if self.eat(")") {
                self.depth -= 1;
                return Some(PatternNode::Concat(Vec::new()));
            }
            self.eat(":");
        } else {
            number = Some(self.add_group(None));
        }
        if self.depth > MAX_DEPTH {
            return None;
        }
        let node = self.alternation()?;
        (self.is_folded, self.is_spaced) = (is_folded, is_spaced);
        self.depth -= 1;
        self.eat(")").then_some(match number {
            Some(number) => PatternNode::Capture(number, Box::new(node)),
            None => node,
        })
    }

    fn add_group(&mut self, name: Option<String>) -> usize {
        self.group_names.push(name);
        self.group_names.len()
    }

    /// A class in brackets. Ranges must be ASCII, and letters that are not ASCII may have other cases.
    fn class(&mut self) -> Option<CharSet> {
        let mut set = CharSet::default();
        let is_negated = self.eat("^");
        let mut is_first = true;
        loop {
            self.skip_space();
            let c = match self.next()? {
                ']' if !is_first => break,
                '-' if is_first || self.rest.starts_with(']') => '-',
                // `[[0-9].]`: classes in a class are joined.
                '[' if !self.rest.starts_with([':', '^']) => {
                    set.join(self.class()?);
                    is_first = false;
                    continue;
                }
                '[' | ']' | '&' | '~' | '-' => return None,
                '\\' => match self.escape()? {
                    Escape::Char(c) => c,
                    Escape::Class(class) => {
                        set.add_class(class);
                        is_first = false;
                        continue;
                    }
                    Escape::Boundary => return None,
                },
                c => c,
            };
            is_first = false;
            if !c.is_ascii() && self.is_folded && c.is_alphabetic() {
                return None;
            }
            let end = self.range_end(c)?;
            if end != c && !(c.is_ascii() && end.is_ascii() && c < end) {
                return None;
            }
            (c..=end).for_each(|one| set.add_char(one, self.is_folded));
        }
        if is_negated {
            set.negate();
        }
        Some(set)
    }

    /// The end of the range that a character starts, or that character.
    fn range_end(&mut self, start: char) -> Option<char> {
        if !self.rest.starts_with('-') || self.rest.starts_with("-]") {
            return Some(start);
        }
        self.rest = &self.rest[1..];
        match self.next()? {
            '\\' | '[' | ']' | '-' => None,
            c => Some(c),
        }
    }

    fn repeated(&mut self, node: PatternNode) -> Option<PatternNode> {
        let (min, max) = if self.eat("?") {
            (0, Some(1))
        } else if self.eat("*") {
            (0, None)
        } else if self.eat("+") {
            (1, None)
        } else if self.eat("{") {
            let (counts, rest) = self.rest.split_once('}')?;
            self.rest = rest;
            let (min, max) = counts.split_once(',').unwrap_or((counts, counts));
            (min.parse().ok()?, if max.is_empty() { None } else { Some(max.parse().ok()?) })
        } else {
            return Some(node);
        };
        let is_greedy = !self.eat("?");
        // Tables write a space for "any white space", so `a +b` repeats a repetition, which is the same as one.
        if is_greedy && (min, max) == (1, None) {
            self.eat("+");
        }
        // A repetition of a repetition, or of nothing, is unusual.
        let is_fine = !self.rest.starts_with(['*', '+', '{', '?'])
            && max.is_none_or(|max| min <= max)
            && !matches!(node, PatternNode::Assert(_));
        is_fine.then(|| PatternNode::Repeat { node: Box::new(node), min, max, is_greedy })
    }
}
