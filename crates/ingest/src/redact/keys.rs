//! The names beside which a value is a secret: `password`, `*_TOKEN`, `clientSecret` and so on.

/// How much a name says, and so how much a value must show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// People choose these, so they may look like words.
    Password,
    /// `pass` is short for it, but also for a test that passes: the value needs letters and digits.
    Pass,
    /// Machines or people choose these.
    Secret,
    /// Machines choose these, so they look random.
    Token,
    /// Most keys are not secret (`primary_key`, `cache_key`), so only what looks random counts.
    Key,
}

/// A part of every secret name. The whole name is judged by `classify`.
#[rustfmt::skip]
pub(super) const TRIGGERS: &[&str] = &[
    "password", "passwd", "passphrase", "passcode", "pwd", "_pass",
    "pass:", "pass=", "pass\"", "pass'", "pass\\\"", "secret", "token", "apikey",
    "api key", "access key", "accesskey", "privatekey", "encryptionkey", "signingkey", "masterkey",
    "_key", "-key", "_auth", "auth\"", "auth\\\"",
];

/// How names end, without case, `_`, `-`, `.` and spaces. The first that fits counts.
const ENDINGS: &[(&str, Option<Class>, &str)] = &[
    // These name no secret, though they end like one.
    ("publickey", None, ""),
    ("primarykey", None, ""),
    ("foreignkey", None, ""),
    ("websocketkey", None, ""),
    ("pagetoken", None, ""),
    ("nexttoken", None, ""),
    ("continuationtoken", None, ""),
    ("password", Some(Class::Password), "password"),
    ("passwordconfirm", Some(Class::Password), "password"),
    ("passwordconfirmation", Some(Class::Password), "password"),
    ("passwd", Some(Class::Password), "password"),
    ("passphrase", Some(Class::Password), "password"),
    ("passcode", Some(Class::Password), "password"),
    ("pwd", Some(Class::Password), "password"),
    ("pass", Some(Class::Pass), "password"),
    ("secret", Some(Class::Secret), "secret"),
    ("secretkey", Some(Class::Secret), "secret"),
    ("secretkeybase", Some(Class::Secret), "secret"),
    ("secretaccesskey", Some(Class::Secret), "secret"),
    ("privatekey", Some(Class::Token), "secret"),
    ("encryptionkey", Some(Class::Secret), "secret"),
    ("signingkey", Some(Class::Secret), "secret"),
    ("masterkey", Some(Class::Secret), "secret"),
    ("token", Some(Class::Token), "token"),
    ("apikey", Some(Class::Token), "api-key"),
    ("accesskey", Some(Class::Token), "api-key"),
    ("accountkey", Some(Class::Token), "api-key"),
    ("authkey", Some(Class::Token), "api-key"),
    ("key", Some(Class::Key), "key"),
    ("auth", Some(Class::Key), "key"),
];

/// What a name says about its value, and the name of the rule; `None` for a name that gives no reason.
pub(super) fn classify(name: &str) -> Option<(Class, &'static str)> {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    // `DB_PASSWORD2` and `TOKEN_1` are numbered secrets.
    let plain = plain.trim_end_matches(|c: char| c.is_ascii_digit());
    let (ending, class, rule) = ENDINGS.iter().find(|(ending, ..)| plain.ends_with(ending))?;
    if *ending == "pass" && !ends_with_pass(name) {
        return None;
    }
    class.map(|class| (class, *rule))
}

/// True for `pass`, `db_pass`, `dbPass` and `DBPASS`, but not for `bypass`.
fn ends_with_pass(name: &str) -> bool {
    let name = name.trim_end_matches(|c: char| !c.is_ascii_alphabetic());
    let (before, pass) = name.split_at(name.len().saturating_sub(4));
    !before.ends_with(|c: char| c.is_ascii_alphabetic()) || pass.starts_with('P')
}

/// True for names as environment variables have them.
pub(super) fn is_environment(name: &str) -> bool {
    name.bytes().any(|b| b.is_ascii_uppercase()) && !name.bytes().any(|b| b.is_ascii_lowercase() || b == b'-')
}
