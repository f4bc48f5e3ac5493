//! Tells words from random characters: what people name things with, and what machines make up.

/// What a piece of text is made of. Counts are of bytes.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Makeup {
    pub(super) length: usize,
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) digits: usize,
    /// `-`, `_`, `.` and `/`, which join words.
    pub(super) joints: usize,
    /// Everything else in ASCII.
    pub(super) symbols: usize,
    /// How often a capital follows a small letter, as in `camelCase`.
    pub(super) humps: usize,
    /// How often a letter follows a digit or a digit a letter.
    pub(super) changes: usize,
}

impl Makeup {
    pub(super) fn of(text: &str) -> Self {
        let mut makeup = Self { length: text.len(), ..Self::default() };
        let mut before = b' ';
        for byte in text.bytes() {
            match byte {
                b'a'..=b'z' => makeup.lower += 1,
                b'A'..=b'Z' => makeup.upper += 1,
                b'0'..=b'9' => makeup.digits += 1,
                b'-' | b'_' | b'.' | b'/' => makeup.joints += 1,
                0x80.. => {}
                _ => makeup.symbols += 1,
            }
            let change = (byte.is_ascii_digit() && before.is_ascii_alphabetic())
                || (byte.is_ascii_alphabetic() && before.is_ascii_digit());
            makeup.changes += usize::from(change);
            makeup.humps += usize::from(byte.is_ascii_uppercase() && before.is_ascii_lowercase());
            before = byte;
        }
        makeup
    }

    pub(super) fn letters(&self) -> usize {
        self.lower + self.upper
    }

    /// Both letters and digits.
    pub(super) fn is_mixed(&self) -> bool {
        self.letters() > 0 && self.digits > 0
    }
}

/// True when most letters belong to pronounceable words: `get_user_by_id`, `maxTokensPerRun`.
pub(super) fn is_wordy(text: &str) -> bool {
    Spelling::of(text.as_bytes()).has_words(60)
}

/// True for what a machine made up, such as a token.
pub(super) fn is_random(text: &str) -> bool {
    let makeup = Makeup::of(text);
    (makeup.is_mixed() || makeup.length >= 20) && !is_wordy(text)
}

/// True for git hashes, checksums and UUIDs, which are names and not secrets.
pub(super) fn is_hash(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

/// True for the ids that agents and their services give to messages and calls, such as `toolu_01AbC`.
pub(super) fn is_service_id(text: &str) -> bool {
    let Some(split) = text.find(['_', '-']) else { return false };
    // GitHub's ids start with the kind of thing and `kwDO`.
    ID_PREFIXES.contains(&&text[..split]) || text[split + 1..].starts_with("kwDO")
}

/// True for a word of four letters or more and nothing else.
pub(super) fn is_plain_word(text: &str) -> bool {
    let one_case = text.bytes().skip(1).all(|b| b.is_ascii_lowercase());
    text.len() >= 4 && one_case && is_word(text.as_bytes())
}

/// True for what names are put together from: words, numbers, hashes and ULIDs.
pub(super) fn is_name_part(text: &str) -> bool {
    let is_ulid = || text.len() == 26 && text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
    is_hash(text) || is_ulid() || Spelling::of(text.as_bytes()).has_words(60)
}

/// How the letters of a text are put together.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Spelling {
    letters: usize,
    in_words: usize,
    segments: usize,
}

impl Spelling {
    pub(super) fn of(text: &[u8]) -> Self {
        let mut spelling = Self::default();
        let mut rest = text;
        while let Some(start) = rest.iter().position(u8::is_ascii_alphabetic) {
            rest = &rest[start..];
            let length = segment(rest);
            spelling.segments += 1;
            spelling.letters += length;
            if is_word(&rest[..length]) {
                spelling.in_words += length;
            }
            rest = &rest[length..];
        }
        spelling
    }

    /// True when at least `share` of a hundred letters belong to words, or there are no letters.
    pub(super) fn has_words(self, share: usize) -> bool {
        self.in_words * 100 >= self.letters * share
    }

    /// True when segments are as long as those of names, also of names with unspeakable short forms. Those of
    /// base64 have 2.1 letters on average, and more than 3.5 in one of two hundred runs.
    pub(super) fn has_long_segments(self) -> bool {
        self.letters * 2 >= self.segments * 7
    }
}

/// What ids start with, up to the first `_` or `-`; also the checksums in lock files.
#[rustfmt::skip]
const ID_PREFIXES: &[&str] = &[
    "toolu", "srvtoolu", "tooluse", "call", "fc", "ws", "msg", "msgbatch", "req", "resp", "rs",
    "chatcmpl", "cmpl", "gen", "run", "thread", "asst", "step", "item", "conv", "batch", "file",
    "session", "sess", "ses", "prt", "evt", "event", "trace", "span", "task", "agent", "cse", "bc",
    "container", "checkpoint", "snapshot", "rollout", "user", "org", "proj", "prj", "team", "dpl",
    "wrkspc", "env", "acct", "cus", "sub", "price", "prod", "pi", "ch", "in",
    "sha1", "sha256", "sha384", "sha512",
];

/// Short forms without a vowel that are words to programmers.
#[rustfmt::skip]
const SHORT_FORMS: &[&str] = &[
    "src", "tmp", "cmd", "ctx", "msg", "str", "ptr", "num", "vec", "std", "fmt", "dbg", "cfg", "mgr",
    "btn", "pkg", "cwd", "pwd", "ttl", "http", "https", "html", "css", "xml", "sql", "ssh", "tls",
    "ssl", "tcp", "udp", "dns", "rpc", "grpc", "jwt", "sdk", "vpc", "gcp", "gpt", "mcp", "llm",
    "npm", "pnpm", "npx", "wsl", "txt", "png", "jpg", "svg", "pdf", "csv", "mjs", "tsx", "jsx",
    "prs", "rfc", "prd", "crlf", "xyz", "bbb", "ccc", "ddd",
];

/// How long the first segment is: `Server` of `ServerId`, `HTTP` of `HTTPServer`, `max` of `max_id`.
fn segment(text: &[u8]) -> usize {
    let count = |from: usize, fits: fn(&u8) -> bool| text[from..].iter().take_while(|b| fits(b)).count();
    let upper = count(0, u8::is_ascii_uppercase);
    let lower = count(upper, u8::is_ascii_lowercase);
    match (upper, lower) {
        (0 | 1, lower) => upper + lower,
        (upper, 0) => upper,
        // The last capital belongs to the next word.
        (upper, _) => upper - 1,
    }
}

/// True when a segment can be spoken: three letters or more, a vowel, and no long row of consonants.
fn is_word(segment: &[u8]) -> bool {
    if segment.len() < 3 {
        return false;
    }
    let is_vowel = |b: &u8| b"aeiouyAEIOUY".contains(b);
    let mut consonants = 0;
    let mut longest = 0;
    let mut vowels = 0;
    for byte in segment {
        if is_vowel(byte) {
            vowels += 1;
            consonants = 0;
        } else {
            consonants += 1;
            longest = longest.max(consonants);
        }
    }
    // Real words have a vowel in about every three letters, and `ngths` of `lengths` is as bad as it gets.
    if vowels > 0 && longest <= 5 && vowels * 6 >= segment.len() {
        return true;
    }
    SHORT_FORMS.iter().any(|short| segment.eq_ignore_ascii_case(short.as_bytes()))
}
