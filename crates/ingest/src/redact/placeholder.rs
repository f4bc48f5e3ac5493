//! Recognizes placeholders: `your_password`, `${TOKEN}`, `xxxx`, `string`.

/// Whether a value is a placeholder for a secret, as in documentation, templates, types and tests.
pub(super) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    is_repeated_char(&lower)
        || is_reference(&lower)
        || PLACEHOLDER_PARTS.iter().any(|mark| lower.contains(mark))
        || consists_of(&lower, FILLER_WORDS)
        // Only in one case: `XxxX` can be random.
        || value.contains("xxxxxx")
        || value.contains("XXXXXX")
}

/// Parts that no real value contains, in lower case.
#[rustfmt::skip]
const PLACEHOLDER_PARTS: &[&str] = &[
    // Templates, and what other tools put in place of a secret.
    "${", "$(", "{{", "#{", "<%", "&lt;", "%(", "%s", "...", "…", "••", "****", "____",
    "redacted", "example", "placeholder", "dummy", "changeme", "change-me", "change_me",
    "your-", "your_", "-here", "_here", "insert-", "insert_", "replace-", "replace_", "replaceme",
    "0123456789", "123456789", "abcdefgh",
    // Where code reads a value from.
    "process.env", "os.environ", "getenv", "import.meta", "env::var", "env!(", "op://", "vault:",
];

/// Words for a value, its type, its state or its source. Text made only of these is not a value.
#[rustfmt::skip]
const FILLER_WORDS: &[&str] = &[
    "password", "passwd", "passphrase", "passcode", "pass", "pwd", "secret", "secrets", "token",
    "tokens", "key", "keys", "credential", "credentials", "auth", "bearer", "basic", "oauth", "jwt",
    "api", "access", "client", "session", "refresh", "private", "public", "value", "values",
    "user", "username", "admin", "name", "email", "account", "app", "db", "database", "server",
    "host", "port", "service", "hidden", "masked", "redacted", "removed", "omitted", "todo", "tbd",
    "my", "your", "the", "a", "an", "this", "that", "some", "any", "new", "old", "current", "here",
    "is", "it", "me", "in", "to", "for", "of", "with", "not", "no", "only", "super", "very",
    "test", "testing", "fake", "mock", "sample", "example", "default", "demo", "temp", "tmp",
    "foo", "bar", "baz", "x", "xx", "xxx", "abc", "abcd", "abcdef", "placeholder",
    "change", "confirm", "insert", "enter", "replace", "set", "get", "read", "write", "prompt",
    "string", "str", "text", "char", "varchar", "bool", "boolean", "number", "int", "integer",
    "float", "object", "array", "buffer", "bytes", "optional", "option", "unknown", "void", "never",
    "null", "none", "nil", "undefined", "nan", "empty", "true", "false", "yes", "on", "off", "ok",
    "required", "invalid", "valid", "incorrect", "wrong", "missing", "expired", "visible",
    "enabled", "disabled", "protected", "encrypted", "plain", "plaintext", "hash", "hashed",
    "bcrypt", "type", "field", "input", "label", "id", "header", "body", "query", "cookie", "form",
    "json", "env", "file", "include", "omit", "same", "origin",
];

/// `****`, `xxx`, `-`: one repeated character.
fn is_repeated_char(value: &str) -> bool {
    let mut signs = value.bytes().filter(|b| !matches!(b, b'-' | b'_' | b'.' | b' '));
    match signs.next() {
        None => true,
        Some(first) => signs.all(|sign| sign == first),
    }
}

/// `$TOKEN`, `<token>`, `{token}`, `%TOKEN%`, `:token`: a reference to the value.
fn is_reference(value: &str) -> bool {
    match value.as_bytes() {
        // `$2b$12$` starts a password hash.
        [b'$', next, ..] => !next.is_ascii_digit(),
        [b'<' | b'{' | b':', ..] | [b'%', .., b'%'] | [b'%', _] => true,
        _ => ["env.", "secrets.", "arn:"].iter().any(|start| value.starts_with(start)),
    }
}

/// Whether `value` consists only of these words and has no digits.
fn consists_of(value: &str, words: &[&str]) -> bool {
    let is_joint = |b: u8| b"-_. /:()[]|<>?!'".contains(&b);
    if !value.bytes().all(|b| b.is_ascii_alphabetic() || is_joint(b)) {
        return false;
    }
    let letters: Vec<u8> = value.bytes().filter(u8::is_ascii_alphabetic).collect();
    if letters.len() > MAX_LETTERS {
        return false;
    }
    // `reached[n]` means that the first `n` letters are words.
    let mut reached = [false; MAX_LETTERS + 1];
    reached[0] = true;
    for from in 0..letters.len() {
        if reached[from] {
            for word in words {
                if letters[from..].starts_with(word.as_bytes()) {
                    reached[from + word.len()] = true;
                }
            }
        }
    }
    reached[letters.len()]
}

/// Maximum number of letters that are checked.
const MAX_LETTERS: usize = 48;
