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
    /// Parts of letters outside ASCII.
    pub(super) foreign: usize,
    /// Everything else.
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
                0x80.. => makeup.foreign += 1,
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
        self.lower + self.upper + self.foreign
    }

    /// Both letters and digits.
    pub(super) fn is_mixed(&self) -> bool {
        self.letters() > 0 && self.digits > 0
    }
}

/// True when most letters belong to pronounceable words, with few digits between them: `get_user_by_id`,
/// `maxTokensPerRun2`.
pub(super) fn is_wordy(text: &str) -> bool {
    let makeup = Makeup::of(text);
    makeup.changes * 4 < makeup.length && Spelling::of(text.as_bytes()).has_words(60)
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

/// True for words of four letters or more and nothing else, as in `code` and `getMe`.
pub(super) fn is_plain_word(text: &str) -> bool {
    text.len() >= 4 && text.bytes().all(|b| b.is_ascii_alphabetic()) && is_wordy(text)
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
    "wrkspc", "acct", "cus", "sub", "price", "prod", "sha1", "sha256", "sha384", "sha512",
];

/// Words to programmers that cannot be spoken.
#[rustfmt::skip]
const SHORT_FORMS: &[&str] = &[
    "src", "tmp", "cmd", "ctx", "msg", "str", "ptr", "num", "vec", "std", "fmt", "dbg", "cfg", "mgr",
    "btn", "pkg", "cwd", "pwd", "ttl", "http", "https", "html", "css", "xml", "sql", "ssh", "tls",
    "ssl", "tcp", "udp", "dns", "rpc", "grpc", "jwt", "sdk", "vpc", "gcp", "gpt", "mcp", "llm",
    "npm", "pnpm", "npx", "wsl", "txt", "png", "jpg", "svg", "pdf", "csv", "mjs", "tsx", "jsx",
    "prs", "rfc", "prd", "crlf", "linux", "unix", "xyz", "bbb", "ccc", "ddd",
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

/// True when a segment can be spoken: three letters or more, a vowel, and pairs of letters that are common.
fn is_word(segment: &[u8]) -> bool {
    if segment.len() < 3 {
        return false;
    }
    let letter = |b: u8| usize::from(b.to_ascii_lowercase() - b'a');
    let is_common = |pair: &[u8]| COMMON[letter(pair[0])] & (1 << letter(pair[1])) != 0;
    let uncommon = segment.windows(2).filter(|pair| !is_common(pair)).count();
    let has_vowel = segment.iter().any(|b| b"aeiouyAEIOUY".contains(b));
    (has_vowel && uncommon <= segment.len() / 6)
        || SHORT_FORMS.iter().any(|short| segment.eq_ignore_ascii_case(short.as_bytes()))
}

/// The letters that often follow each letter from `a` to `z`: 369 pairs, which are 97 of a hundred in the words of
/// code and English. Of random rows of four letters, one in five has such pairs only.
#[rustfmt::skip]
const FOLLOWERS: [&str; 26] = [
    "abcdefgiklmnprstuvwxy", "abcdefijlmoprstuy", "abcdefhiklmoprstuy", "abcdefgilmnorstuvy",
    "abcdefghiklmnopqrstuvwxy", "abcdefgilmorstuy", "aeghilmnorstu", "aeilmorstuy",
    "abcdefgklmnoprstvxz", "aeosu", "adeilns", "acdefiklmnopstuvy", "abcdeilmnopstu",
    "abcdefghiklmnoprstuvy", "abcdefgiklmnoprstuvwx", "acdefhikloprstuy", "u",
    "abcdefgiklmnoprstuvwy", "acdefghiklmnoprstuwy", "abcdefhilmnoprstuwy", "abcdefgilmnoprst",
    "aeio", "aehinors", "acdefiptx", "aceilmnpst", "aei",
];

/// `FOLLOWERS` as one bit for each pair.
const COMMON: [u32; 26] = {
    let mut table = [0; 26];
    let mut first = 0;
    while first < 26 {
        let followers = FOLLOWERS[first].as_bytes();
        let mut index = 0;
        while index < followers.len() {
            table[first] |= 1 << (followers[index] - b'a');
            index += 1;
        }
        first += 1;
    }
    table
};
