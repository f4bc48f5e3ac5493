//! Decides whether the text next to a secret name looks like a value, rather than code, a type, a path or prose.

use super::keys::KeyClass;
use super::placeholder::is_placeholder;
use super::words::{self, CharStats};

/// How a value is written, which indicates how likely it is a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueStyle {
    /// In quotes: a literal.
    Quoted,
    /// In backticks: a literal, or a word formatted as code.
    Markdown,
    /// Right after `=`: shell and env files, but also keyword arguments.
    Tight,
    /// After `: ` or ` = `: YAML and TOML, but also code and prose.
    Loose,
    /// After "is": prose.
    AfterIs,
    /// After a space: nearly always prose.
    AfterSpace,
}

/// The text next to a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct PairValue<'a> {
    pub(super) text: &'a str,
    pub(super) style: ValueStyle,
    /// Whether the name is written like an environment variable.
    pub(super) is_env: bool,
}

/// Whether the value is a secret, given the class of its name.
pub(super) fn is_secret(class: KeyClass, value: &PairValue<'_>) -> bool {
    let head = truncate(value.text.trim_end_matches("\\n"));
    if head.len() < 4
        || (head.contains(char::is_whitespace) && !can_have_spaces(class, value))
        || is_placeholder(head)
        || is_indirect(head, value)
    {
        return false;
    }
    let value = ValueCandidate { text: head, style: value.style, is_env: value.is_env, stats: CharStats::of(head) };
    match class {
        KeyClass::Password => value.is_password(),
        KeyClass::Pass => value.stats.is_mixed() && value.is_password(),
        KeyClass::Secret => value.is_shared_secret(),
        KeyClass::Token => value.is_token(),
        KeyClass::Key => value.is_random_key(),
    }
}

/// Whether the value of a query parameter with a secret name is a secret.
pub(super) fn is_parameter(value: &str) -> bool {
    let stats = CharStats::of(value);
    let is_name = stats.separators > 0 && words::is_wordlike(value);
    (stats.is_mixed() || stats.length >= 16) && !is_name && !is_placeholder(value)
}

/// Whether the text is a password, where only a password can occur, such as before the `@` of a URL.
pub(super) fn is_typed_password(value: &str) -> bool {
    !is_placeholder(value) && !is_call(value)
}

/// Whether cookies, or the value of one, contain an identifier that grants access. UUIDs and git hashes do not: logs
/// are full of them.
pub(super) fn is_session_cookie(cookies: &str) -> bool {
    cookies.split("; ").map(|cookie| cookie.split_once('=').map_or(cookie, |(_, value)| value)).any(|value| {
        let value = value.trim_end_matches(';');
        let is_uuid = value.len() == 36 && value.matches('-').count() == 4;
        let stats = CharStats::of(value);
        stats.length >= 16 && stats.is_mixed() && !is_uuid && !words::is_wordlike(value) && !is_placeholder(value)
    })
}

/// True for base64 of `user:password`.
pub(super) fn is_basic_credentials(value: &str) -> bool {
    let mut decoded = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for byte in value.trim_end_matches('=').bytes().take(HEAD_BYTES) {
        let Some(sextet) = sextet(byte) else { return false };
        bits = (bits << 6) | sextet;
        count += 6;
        if count >= 8 {
            count -= 8;
            decoded.push(((bits >> count) & 0xff) as u8);
        }
    }
    // A word such as "Authentication" decodes to something, but hardly ever to text with a colon.
    let text = std::str::from_utf8(&decoded).unwrap_or_default();
    text.contains(':') && !text.contains(char::is_control)
}

/// Number of bytes of a value that are examined, so that a long one costs no more.
pub(super) const HEAD_BYTES: usize = 256;

/// A value with its character statistics.
struct ValueCandidate<'a> {
    text: &'a str,
    style: ValueStyle,
    is_env: bool,
    stats: CharStats,
}

impl ValueCandidate<'_> {
    fn is_password(&self) -> bool {
        let stats = &self.stats;
        let odd = stats.digits > 0 || has_inner_symbol(self.text);
        let only_digits = stats.digits == stats.length;
        match self.style {
            ValueStyle::Quoted => !self.is_label(),
            ValueStyle::Tight if self.is_env => !self.is_label(),
            _ if only_digits => stats.length >= 6,
            ValueStyle::Tight | ValueStyle::Loose | ValueStyle::Markdown => {
                // Names join words or use camel case, but hardly ever both together with digits: `hunter2-Correct`.
                let all_classes = stats.upper > 0 && stats.lower > 0 && stats.digits > 0 && stats.separators > 0;
                stats.length >= 6 && stats.letters() > 0 && odd && (all_classes || !self.is_name())
            }
            ValueStyle::AfterIs => stats.length >= 6 && stats.is_mixed() && !self.is_name() && !self.is_technical(),
            ValueStyle::AfterSpace => {
                let all_classes = stats.upper > 0 && stats.lower > 0 && stats.digits > 0;
                stats.length >= 8 && all_classes && stats.symbols > 0 && !is_call(self.text)
            }
        }
    }

    /// Whether the text describes a password instead of being one: "the password is base64".
    fn is_technical(&self) -> bool {
        let word = self.text.trim_end_matches(|c: char| c.is_ascii_digit()).to_ascii_lowercase();
        ["base", "sha", "md", "utf", "oauth", "argon", "pbkdf", "version"].contains(&word.as_str())
    }

    fn is_shared_secret(&self) -> bool {
        let stats = &self.stats;
        if stats.length < 8 || stats.letters() == 0 || self.is_name() {
            return false;
        }
        let literal = self.style == ValueStyle::Quoted || (self.style == ValueStyle::Tight && self.is_env);
        stats.is_mixed()
            || (stats.length >= 16 && !words::is_wordlike(self.text))
            || (literal && stats.lower == stats.length && stats.length >= 12)
            || (literal && has_inner_symbol(self.text))
    }

    fn is_token(&self) -> bool {
        let stats = &self.stats;
        let shortest = if matches!(self.style, ValueStyle::Quoted | ValueStyle::Tight) { 8 } else { 12 };
        if stats.length < shortest || self.is_name() || !is_token_text(self.text) {
            return false;
        }
        let wordy = words::is_wordlike(self.text);
        (stats.is_mixed() && (!wordy || (stats.length >= 16 && stats.letter_digit_changes >= 2)))
            || (stats.length >= 20 && !wordy)
    }

    fn is_random_key(&self) -> bool {
        let stats = &self.stats;
        // In code, a name without quotes is another variable.
        let is_variable = self.style == ValueStyle::Loose && !self.is_env && stats.separators > 0;
        stats.length >= 16
            && stats.is_mixed()
            && is_token_text(self.text)
            && !is_variable
            && !words::is_wordlike(self.text)
            && !words::is_service_id(self.text)
            && (self.is_env || !words::is_hash(self.text))
    }

    /// Whether the text is words joined by separators or capitals: `user_password_v2`, `8-character`, `resetPassword`.
    fn is_name(&self) -> bool {
        let joined = self.stats.separators > 0 || self.stats.humps > 0;
        joined && self.stats.symbols == 0 && words::is_wordlike(self.text)
    }

    /// Whether a literal next to `password` is only a caption or the name of a field.
    fn is_label(&self) -> bool {
        let stats = &self.stats;
        if stats.digits > 0 || stats.symbols > 0 {
            return false;
        }
        let caption = stats.upper == 1 && stats.lower + 1 == stats.length && self.text.starts_with(char::is_uppercase);
        // Four or more words in a row are a passphrase.
        caption || (self.is_name() && stats.separators < 3)
    }
}

/// Accepts `DB_PASSWORD="two words 1"`. Elsewhere, text with spaces next to `password` is a message.
fn can_have_spaces(class: KeyClass, value: &PairValue<'_>) -> bool {
    let literal = value.style == ValueStyle::Quoted && value.is_env;
    class == KeyClass::Password && literal && value.text.bytes().any(|b| b.is_ascii_digit())
}

/// The first bytes of the text, cut between characters.
fn truncate(text: &str) -> &str {
    &text[..text.floor_char_boundary(HEAD_BYTES)]
}

/// Whether the text refers to the value instead of being it: code, a path, a URL.
fn is_indirect(text: &str, value: &PairValue<'_>) -> bool {
    let bare = value.style != ValueStyle::Quoted;
    text.contains("://")
        || is_path(text)
        || is_dotted_name(text)
        || is_number(text)
        || (bare && is_call(text))
        || (bare && !value.is_env && is_variable(text))
        || (bare && text.starts_with(['&', '*', '!', '#', '@', '-', '(', '[', '|', '=', '+', '\\']))
}

/// `/etc/key.pem`, `./token`, `~/.netrc`, `certs/server.key`, `C:\keys`.
fn is_path(text: &str) -> bool {
    text.starts_with("./")
        || text.starts_with("../")
        || text.starts_with("~/")
        || text.as_bytes().get(1..3) == Some(b":\\")
        || (text.contains('/') && words::is_wordlike(text))
}

/// `0x80090033_u32`, `1003u32`, `2.5.4.35`: numbers in code. Digits alone can be a password.
fn is_number(text: &str) -> bool {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
    let typed = digits.ends_with(['u', 'i', 'f']) && digits.len() > 1;
    let value = if typed { &digits[..digits.len() - 1] } else { text };
    let value = value.trim_end_matches('_');
    if let Some(hex) = value.strip_prefix("0x") {
        return hex.len() <= 16 && hex.bytes().all(|b| b.is_ascii_hexdigit() || b == b'_');
    }
    let joined = typed || value.contains(['.', '_']);
    joined && value.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'_'))
}

/// `user.password`, `settings.SECRET_KEY`, `token.json`.
fn is_dotted_name(text: &str) -> bool {
    let is_part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"_?!$".contains(&b))
            && (words::is_wordlike(part) || is_snake_case(part))
    };
    text.contains('.') && text.split('.').all(is_part)
}

/// `get_token(`, `tokens[0]`, `Option<String>`, `Token::new`, `a->b`: code.
fn is_call(text: &str) -> bool {
    let name = text.bytes().take_while(|b| b.is_ascii_alphanumeric() || b"_.:$?!".contains(b)).count();
    let opens = matches!(text.as_bytes().get(name), Some(b'(' | b'[' | b'<' | b'{'));
    (opens && name > 0) || text.contains("::") || text.contains("->") || text.contains("=>") || text.contains("()")
}

/// `has_pkcs8`, `user_2`, `password1`: the name of a variable.
fn is_variable(text: &str) -> bool {
    let word = text.trim_end_matches(|c: char| c.is_ascii_digit());
    (word.len() + 2 >= text.len() && is_placeholder(word)) || is_snake_case(text)
}

/// `user_name2`, `MAX_SIZE`: words joined by `_`, in one case, and none of them random.
fn is_snake_case(text: &str) -> bool {
    let stats = CharStats::of(text);
    text.contains('_')
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && (stats.lower == 0 || stats.upper == 0)
        && !text.split('_').any(|part| part.len() >= 12 && words::is_random(part))
}

/// Whether the text has a symbol as in `p@ss`. A final one may be punctuation, and `*`, `/` and brackets may be markup.
fn has_inner_symbol(text: &str) -> bool {
    let signs = b"@#$%^&+!?~=";
    text.len() > 1 && text.as_bytes()[..text.len() - 1].iter().any(|b| signs.contains(b))
}

/// Whether every byte can be part of a token: those of base64, of URLs, and `:` as in `id:secret`.
fn is_token_text(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=_-.~:%|!$@".contains(&b))
}

/// The six bits that a base64 character encodes.
fn sextet(byte: u8) -> Option<u32> {
    let value = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}
