//! Splits a line of code into comments, texts, numbers, keywords and the rest, for colors. Knows families of languages, not
//! grammars: a mistake costs a color and nothing else.

/// What a piece of code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SyntaxKind {
    Plain,
    Keyword,
    Text,
    Number,
    Comment,
}

/// What the languages of a family have in common.
#[derive(Debug)]
struct SyntaxFamily {
    /// Ends of file names, separated by blanks; also whole names.
    extensions: &'static str,
    line_comments: &'static [&'static str],
    block_comment: Option<(&'static str, &'static str)>,
    /// Marks that begin and end a text on one line.
    quotes: &'static [char],
    /// Marks that begin and end a text on several lines.
    long_quotes: &'static [&'static str],
    /// Separated by blanks.
    keywords: &'static str,
    ignores_case: bool,
}

const C_KEYWORDS: &str = "abstract as async await bool boolean break byte case catch chan char class const constructor \
    continue crate default defer delete do double else enum export extends extern false final finally \
    float fn for foreach from func function go goto if impl implements import in instanceof int \
    interface is let long loop match mod move mut namespace new nil null override package private \
    protected pub public readonly ref return self Self short signed sizeof static struct super switch \
    template this throw throws trait true try type typedef typename typeof undefined union unsafe \
    unsigned use using val var virtual void volatile where while with yield";
const SCRIPT_KEYWORDS: &str = "and as assert async await begin break case class continue def del do done elif else elsif end ensure \
    esac except exec export false False fi finally for from function global if import in is lambda local \
    match module next nil None nonlocal not null or pass raise require rescue return self then true True \
    try unless until when while with yield";
const SQL_KEYWORDS: &str = "add alter and as asc begin between by case column commit constraint create cross default delete desc \
    distinct drop else end exists foreign from full group having if in index inner insert into is join \
    key left like limit not null offset on or order outer primary references returning right rollback \
    select set table then union unique update using values view when where with";

const FAMILIES: [SyntaxFamily; 7] = [
    SyntaxFamily {
        extensions: "rs c h cc cpp hpp cxx go java kt kts scala swift cs m zig dart proto gradle v",
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        quotes: &['"'],
        long_quotes: &["\"\"\"", "`"],
        keywords: C_KEYWORDS,
        ignores_case: false,
    },
    SyntaxFamily {
        extensions: "js jsx mjs cjs ts tsx mts cts php vue svelte json5 jsonc",
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        quotes: &['"', '\''],
        long_quotes: &["`"],
        keywords: C_KEYWORDS,
        ignores_case: false,
    },
    SyntaxFamily {
        extensions: "css scss sass less",
        line_comments: &[],
        block_comment: Some(("/*", "*/")),
        quotes: &['"', '\''],
        long_quotes: &[],
        keywords: "",
        ignores_case: false,
    },
    SyntaxFamily {
        extensions: "py pyi rb sh bash zsh fish yml yaml toml ini cfg conf mk r pl ex exs tf nix jl Dockerfile Makefile justfile dockerfile",
        line_comments: &["#"],
        block_comment: None,
        quotes: &['"', '\''],
        long_quotes: &["\"\"\"", "'''"],
        keywords: SCRIPT_KEYWORDS,
        ignores_case: false,
    },
    SyntaxFamily {
        extensions: "sql lua hs elm ada",
        line_comments: &["--"],
        block_comment: Some(("/*", "*/")),
        quotes: &['\'', '"'],
        long_quotes: &[],
        keywords: SQL_KEYWORDS,
        ignores_case: true,
    },
    SyntaxFamily {
        extensions: "html htm xml svg",
        line_comments: &[],
        block_comment: Some(("<!--", "-->")),
        quotes: &['"'],
        long_quotes: &[],
        keywords: "",
        ignores_case: false,
    },
    SyntaxFamily {
        extensions: "json jsonl ipynb lock",
        line_comments: &[],
        block_comment: None,
        quotes: &['"'],
        long_quotes: &[],
        keywords: "true false null",
        ignores_case: false,
    },
];

/// Reads the lines of one text in their order, because comments and texts can span several.
#[derive(Clone, Debug)]
pub(crate) struct SyntaxReader {
    family: Option<&'static SyntaxFamily>,
    /// The kind and the end mark of what began on an earlier line.
    open: Option<(SyntaxKind, &'static str)>,
}

impl SyntaxReader {
    /// For a file with this path. An unknown kind of file is plain text.
    pub(crate) fn for_path(path: &str) -> Self {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let extension = name.rsplit_once('.').map_or(name, |(_, extension)| extension);
        Self {
            family: FAMILIES.iter().find(|family| family.extensions.split(' ').any(|known| known == extension)),
            open: None,
        }
    }

    /// The pieces of the next line, which together are the line.
    pub(crate) fn pieces<'t>(&mut self, line: &'t str) -> Vec<(SyntaxKind, &'t str)> {
        let Some(family) = self.family else { return vec![(SyntaxKind::Plain, line)] };
        let mut pieces: Vec<(SyntaxKind, &str)> = Vec::new();
        let mut rest = line;
        while !rest.is_empty() {
            let (kind, length) = self.next_piece(family, rest);
            let (piece, after) = rest.split_at(length);
            match pieces.last_mut() {
                // Neighboring pieces of one kind are one.
                Some((last, text)) if *last == kind => {
                    *text = &line[line.len() - rest.len() - text.len()..][..text.len() + length];
                }
                _ => pieces.push((kind, piece)),
            }
            rest = after;
        }
        pieces
    }

    fn next_piece(&mut self, family: &'static SyntaxFamily, rest: &str) -> (SyntaxKind, usize) {
        if let Some((kind, end)) = self.open {
            return (kind, self.length_to(end, rest, 0));
        }
        if family.line_comments.iter().any(|mark| rest.starts_with(mark)) {
            return (SyntaxKind::Comment, rest.len());
        }
        if let Some((start, end)) = family.block_comment.filter(|(start, _)| rest.starts_with(start)) {
            self.open = Some((SyntaxKind::Comment, end));
            return (SyntaxKind::Comment, self.length_to(end, rest, start.len()));
        }
        if let Some(mark) = family.long_quotes.iter().find(|mark| rest.starts_with(**mark)) {
            self.open = Some((SyntaxKind::Text, mark));
            return (SyntaxKind::Text, self.length_to(mark, rest, mark.len()));
        }
        let first = rest.chars().next().unwrap_or(' ');
        if family.quotes.contains(&first) {
            return (SyntaxKind::Text, quoted_length(rest, first));
        }
        if first.is_alphabetic() || first == '_' {
            let word = &rest[..rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())];
            return (family.kind_of_word(word), word.len());
        }
        if first.is_ascii_digit() {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '_').unwrap_or(rest.len());
            return (SyntaxKind::Number, end);
        }
        (SyntaxKind::Plain, first.len_utf8())
    }

    /// Bytes up to the end mark and with it; without one, the whole line.
    fn length_to(&mut self, end: &str, rest: &str, from: usize) -> usize {
        match rest[from..].find(end) {
            Some(at) => {
                self.open = None;
                from + at + end.len()
            }
            None => rest.len(),
        }
    }
}

impl SyntaxFamily {
    fn kind_of_word(&self, word: &str) -> SyntaxKind {
        let is_keyword = |known: &str| known == word || (self.ignores_case && known.eq_ignore_ascii_case(word));
        if self.keywords.split(' ').any(is_keyword) { SyntaxKind::Keyword } else { SyntaxKind::Plain }
    }
}

/// Bytes of a text on one line, with its quotes.
fn quoted_length(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Marks: `k` keyword, `t` text, `n` number, `c` comment.
    fn check(path: &str, lines: &[&str], expect: &[&str]) {
        let mut reader = SyntaxReader::for_path(path);
        for (line, expect) in lines.iter().zip(expect) {
            let pieces = reader.pieces(line);
            assert_eq!(pieces.iter().map(|(_, text)| *text).collect::<String>(), *line);
            let mark = |(kind, text): &(SyntaxKind, &str)| match kind {
                SyntaxKind::Plain => (*text).to_owned(),
                SyntaxKind::Keyword => format!("k<{text}>"),
                SyntaxKind::Text => format!("t<{text}>"),
                SyntaxKind::Number => format!("n<{text}>"),
                SyntaxKind::Comment => format!("c<{text}>"),
            };
            assert_eq!(pieces.iter().map(mark).collect::<String>(), *expect, "{path}");
        }
    }

    #[test]
    fn pieces_of_several_languages_are_recognized() {
        check("src/a.rs", &["let x = 4.5_f64; // é"], &["k<let> x = n<4.5_f64>; c<// é>"]);
        check("a.rs", &["fn f<'a>(s: &'a str) { \"a\\\"b\" }"], &["k<fn> f<'a>(s: &'a str) { t<\"a\\\"b\"> }"]);
        check(
            "b.py",
            &["def f(): # '", "    return 'x' + \"y"],
            &["k<def> f(): c<# '>", "    k<return> t<'x'> + t<\"y>"],
        );
        check("c.sql", &["ORDER by a -- b"], &["k<ORDER> k<by> a c<-- b>"]);
        check("notes.md", &["if \"this\" # stays"], &["if \"this\" # stays"]);
        check("Makefile", &["# all"], &["c<# all>"]);
    }

    #[test]
    fn comments_and_texts_span_lines() {
        check("a.ts", &["x /* one", "two */ 3", "`a", "b` c"], &["x c</* one>", "c<two */> n<3>", "t<`a>", "t<b`> c"]);
        check("a.py", &["\"\"\"doc", "end\"\"\" 1"], &["t<\"\"\"doc>", "t<end\"\"\"> n<1>"]);
    }

    #[test]
    fn hostile_lines_are_kept_whole() {
        for line in ["\"", "'\\", "/*", "日本語\u{1b}[31m\"x", "`````", "0x", ""] {
            for path in ["a.rs", "a.js", "a.py", "a.sql", "a.html", "a.json", "a"] {
                let mut reader = SyntaxReader::for_path(path);
                assert_eq!(reader.pieces(line).iter().map(|(_, text)| *text).collect::<String>(), line);
            }
        }
    }
}
