//! Distinguishes words from random characters: names that people choose and strings that machines generate.

/// Character statistics of a text. Counts are in bytes.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct CharStats {
    pub(super) length: usize,
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) digits: usize,
    /// `-`, `_`, `.` and `/`, which join words.
    pub(super) separators: usize,
    /// Bytes of letters outside ASCII.
    pub(super) foreign: usize,
    /// Everything else.
    pub(super) symbols: usize,
    /// Number of capitals after a lower-case letter, as in `camelCase`.
    pub(super) humps: usize,
    /// Number of changes between letter and digit.
    pub(super) letter_digit_changes: usize,
}

impl CharStats {
    pub(super) fn of(text: &str) -> Self {
        let mut stats = Self { length: text.len(), ..Self::default() };
        let mut before = b' ';
        for byte in text.bytes() {
            match byte {
                b'a'..=b'z' => stats.lower += 1,
                b'A'..=b'Z' => stats.upper += 1,
                b'0'..=b'9' => stats.digits += 1,
                b'-' | b'_' | b'.' | b'/' => stats.separators += 1,
                0x80.. => stats.foreign += 1,
                _ => stats.symbols += 1,
            }
            let change = (byte.is_ascii_digit() && before.is_ascii_alphabetic())
                || (byte.is_ascii_alphabetic() && before.is_ascii_digit());
            stats.letter_digit_changes += usize::from(change);
            stats.humps += usize::from(byte.is_ascii_uppercase() && before.is_ascii_lowercase());
            before = byte;
        }
        stats
    }

    pub(super) fn letters(&self) -> usize {
        self.lower + self.upper + self.foreign
    }

    /// Both letters and digits.
    pub(super) fn is_mixed(&self) -> bool {
        self.letters() > 0 && self.digits > 0
    }
}

/// Whether most letters belong to pronounceable words, with few digits between them: `get_user_by_id`,
/// `maxTokensPerRun2`.
pub(super) fn is_wordlike(text: &str) -> bool {
    let stats = CharStats::of(text);
    stats.letter_digit_changes * 4 < stats.length && WordStats::of(text.as_bytes()).has_words(60)
}

/// Whether the text is machine-generated, such as a token.
pub(super) fn is_random(text: &str) -> bool {
    let stats = CharStats::of(text);
    (stats.is_mixed() || stats.length >= 20) && !is_wordlike(text)
}

/// Whether the text is a git hash, a checksum or a UUID, which are identifiers and not secrets.
pub(super) fn is_hash(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

/// Whether the text is an id that agents and their services give to messages and calls, such as `toolu_01AbC`.
pub(super) fn is_service_id(text: &str) -> bool {
    let Some(split) = text.find(['_', '-']) else { return false };
    // GitHub's ids start with the kind of object and `kwDO`.
    ID_PREFIXES.contains(&&text[..split]) || text[split + 1..].starts_with("kwDO")
}

/// Whether the text consists of words of four letters or more, as in `code` and `getMe`.
pub(super) fn is_plain_word(text: &str) -> bool {
    text.len() >= 4 && text.bytes().all(|b| b.is_ascii_alphabetic()) && is_wordlike(text)
}

/// Whether the text is a typical part of a name: a word, a number, a hash or a ULID.
pub(super) fn is_name_part(text: &str) -> bool {
    let is_ulid = || text.len() == 26 && text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
    is_hash(text) || is_ulid() || WordStats::of(text.as_bytes()).has_words(60)
}

/// Statistics of the words in a text.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct WordStats {
    letters: usize,
    in_words: usize,
    segments: usize,
}

impl WordStats {
    pub(super) fn of(text: &[u8]) -> Self {
        let mut spelling = Self::default();
        let mut rest = text;
        while let Some(start) = rest.iter().position(u8::is_ascii_alphabetic) {
            rest = &rest[start..];
            let length = segment_length(rest);
            spelling.segments += 1;
            spelling.letters += length;
            if is_word(&rest[..length]) {
                spelling.in_words += length;
            }
            rest = &rest[length..];
        }
        spelling
    }

    /// Whether at least `share` percent of the letters belong to words, or there are no letters.
    pub(super) fn has_words(self, share: usize) -> bool {
        self.in_words * 100 >= self.letters * share
    }

    /// Whether segments are as long as those of names, including names with unpronounceable abbreviations. Segments of
    /// base64 have 2.1 letters on average, and more than 3.5 in one of two hundred runs.
    pub(super) fn has_long_segments(self) -> bool {
        self.letters * 2 >= self.segments * 7
    }
}

/// Prefixes of ids, up to the first `_` or `-`; also of the checksums in lock files.
#[rustfmt::skip]
const ID_PREFIXES: &[&str] = &[
    "toolu", "srvtoolu", "tooluse", "call", "fc", "ws", "msg", "msgbatch", "req", "resp", "rs",
    "chatcmpl", "cmpl", "gen", "run", "thread", "asst", "step", "item", "conv", "batch", "file",
    "session", "sess", "ses", "prt", "evt", "event", "trace", "span", "task", "agent", "cse", "bc",
    "container", "checkpoint", "snapshot", "rollout", "user", "org", "proj", "prj", "team", "dpl",
    "wrkspc", "acct", "cus", "sub", "price", "prod", "sha1", "sha256", "sha384", "sha512",
];

/// Abbreviations common in code that cannot be pronounced.
#[rustfmt::skip]
const ABBREVIATIONS: &[&str] = &[
    "src", "tmp", "cmd", "ctx", "msg", "str", "ptr", "num", "vec", "std", "fmt", "dbg", "cfg", "mgr",
    "btn", "pkg", "cwd", "pwd", "ttl", "http", "https", "html", "css", "xml", "sql", "ssh", "tls",
    "ssl", "tcp", "udp", "dns", "rpc", "grpc", "jwt", "sdk", "vpc", "gcp", "gpt", "mcp", "llm",
    "npm", "pnpm", "npx", "wsl", "txt", "png", "jpg", "svg", "pdf", "csv", "mjs", "tsx", "jsx",
    "prs", "rfc", "prd", "crlf", "linux", "unix", "xyz", "bbb", "ccc", "ddd",
];

/// The length of the first segment: `Server` of `ServerId`, `HTTP` of `HTTPServer`, `max` of `max_id`.
fn segment_length(text: &[u8]) -> usize {
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

/// Whether a segment is pronounceable: three letters or more, a vowel, and mostly common pairs of letters.
fn is_word(segment: &[u8]) -> bool {
    if segment.len() < 3 {
        return false;
    }
    let letter = |b: u8| usize::from(b.to_ascii_lowercase() - b'a');
    let is_common = |pair: &[u8]| COMMON_PAIRS[letter(pair[0])] & (1 << letter(pair[1])) != 0;
    let uncommon = segment.windows(2).filter(|pair| !is_common(pair)).count();
    let has_vowel = segment.iter().any(|b| b"aeiouyAEIOUY".contains(b));
    (has_vowel && uncommon <= segment.len() / 6)
        || ABBREVIATIONS.iter().any(|short| segment.eq_ignore_ascii_case(short.as_bytes()))
}

/// The letters that often follow each letter from `a` to `z`: 369 pairs, which cover 97 % of the words of code and
/// English. Of random strings of four letters, one in five consists of such pairs only.
#[rustfmt::skip]
const FOLLOWERS: [&str; 26] = [
    "abcdefgiklmnprstuvwxy", "abcdefijlmoprstuy", "abcdefhiklmoprstuy", "abcdefgilmnorstuvy",
    "abcdefghiklmnopqrstuvwxy", "abcdefgilmorstuy", "aeghilmnorstu", "aeilmorstuy",
    "abcdefgklmnoprstvxz", "aeosu", "adeilns", "acdefiklmnopstuvy", "abcdeilmnopstu",
    "abcdefghiklmnoprstuvy", "abcdefgiklmnoprstuvwx", "acdefhikloprstuy", "u",
    "abcdefgiklmnoprstuvwy", "acdefghiklmnoprstuwy", "abcdefhilmnoprstuwy", "abcdefgilmnoprst",
    "aeio", "aehinors", "acdefiptx", "aceilmnpst", "aei",
];

/// `FOLLOWERS` with one bit per pair.
const COMMON_PAIRS: [u32; 26] = {
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
