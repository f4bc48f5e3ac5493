//! Recognizes placeholders: `your_password`, `${TOKEN}`, `xxxx`, `string`.

/// Whether a value is a placeholder for a secret, as in documentation, templates, types and tests.
pub(super) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    is_template(value) || EXAMPLE_PARTS.iter().chain(SEQUENCES).any(|mark| lower.contains(mark))
}

/// Whether a value is a placeholder or calls itself an example. Sequences such as `0123456789` do not count.
pub(super) fn is_named_example(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    is_template(value) || EXAMPLE_PARTS.iter().any(|mark| lower.contains(mark))
}

/// Whether a value stands for another one: a template, a reference, a type, a row of crosses. An example value in the
/// format of a real one does not.
pub(super) fn is_template(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    is_repeated_char(&lower)
        || is_reference(&lower)
        || TEMPLATE_PARTS.iter().any(|mark| lower.contains(mark))
        || consists_of(&lower, FILLER_WORDS)
        // Only in one case: `XxxX` can be random.
        || value.contains("xxxxxx")
        || value.contains("XXXXXX")
}

/// Parts that no real value contains, in lower case.
#[rustfmt::skip]
const TEMPLATE_PARTS: &[&str] = &[
    // Templates, and what other tools put in place of a secret.
    "${", "$(", "{{", "#{", "<%", "&lt;", "%(", "%s", "...", "…", "••", "****", "____",
    "redacted", "placeholder",
    "your-", "your_", "-here", "_here", "insert-", "insert_", "replace-", "replace_", "replaceme",
    // Where code reads a value from.
    "process.env", "os.environ", "getenv", "import.meta", "env::var", "env!(", "op://", "vault:",
];

/// Parts of values that call themselves an example.
const EXAMPLE_PARTS: &[&str] = &["example", "dummy", "changeme", "change-me", "change_me"];

/// Parts of values typed along the keyboard. A token in the exact format of a service may have one.
const SEQUENCES: &[&str] = &["0123456789", "123456789", "abcdefgh"];

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
