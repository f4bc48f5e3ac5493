//! Names whose values are secrets: `password`, `*_TOKEN`, `clientSecret` and so on.

/// How strongly a name indicates a secret, and so how random its value must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyClass {
    /// Chosen by people, so the value may look like words.
    Password,
    /// `pass` can mean password or a passing test: the value needs letters and digits.
    Pass,
    /// Chosen by machines or people.
    Secret,
    /// Chosen by machines, so the value looks random.
    Token,
    /// Most keys are not secret (`primary_key`, `cache_key`), so only random values count.
    Key,
}

/// Every secret name contains one of these. `classify` decides on the whole name.
#[rustfmt::skip]
pub(super) const TRIGGERS: &[&str] = &[
    "password", "passwd", "passphrase", "passcode", "pwd", "_pass",
    "pass:", "pass=", "pass\"", "pass'", "pass\\\"", "secret", "token", "apikey",
    "api key", "access key", "accesskey", "privatekey", "encryptionkey", "signingkey", "masterkey",
    "_key", "-key", "_auth", "auth\"", "auth\\\"",
];

/// Suffixes of names, without case, `_`, `-`, `.` and spaces. The first match counts.
const NAME_SUFFIXES: &[(&str, Option<KeyClass>, &str)] = &[
    // Not secrets, although they end like one.
    ("publickey", None, ""),
    ("primarykey", None, ""),
    ("foreignkey", None, ""),
    ("websocketkey", None, ""),
    ("pagetoken", None, ""),
    ("nexttoken", None, ""),
    ("continuationtoken", None, ""),
    ("password", Some(KeyClass::Password), "password"),
    ("passwordconfirm", Some(KeyClass::Password), "password"),
    ("passwordconfirmation", Some(KeyClass::Password), "password"),
    ("passwd", Some(KeyClass::Password), "password"),
    ("passphrase", Some(KeyClass::Password), "password"),
    ("passcode", Some(KeyClass::Password), "password"),
    ("pwd", Some(KeyClass::Password), "password"),
    ("pass", Some(KeyClass::Pass), "password"),
    ("secret", Some(KeyClass::Secret), "secret"),
    ("secretkey", Some(KeyClass::Secret), "secret"),
    ("secretkeybase", Some(KeyClass::Secret), "secret"),
    ("secretaccesskey", Some(KeyClass::Secret), "secret"),
    ("privatekey", Some(KeyClass::Token), "secret"),
    ("encryptionkey", Some(KeyClass::Secret), "secret"),
    ("signingkey", Some(KeyClass::Secret), "secret"),
    ("masterkey", Some(KeyClass::Secret), "secret"),
    ("token", Some(KeyClass::Token), "token"),
    ("apikey", Some(KeyClass::Token), "api-key"),
    ("accesskey", Some(KeyClass::Token), "api-key"),
    ("accountkey", Some(KeyClass::Token), "api-key"),
    ("authkey", Some(KeyClass::Token), "api-key"),
    ("key", Some(KeyClass::Key), "key"),
    ("auth", Some(KeyClass::Key), "key"),
];

/// The class of a name's value and the name of the rule; `None` if the name does not indicate a secret.
pub(super) fn classify(name: &str) -> Option<(KeyClass, &'static str)> {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    // `DB_PASSWORD2` and `TOKEN_1` are numbered secrets.
    let plain = plain.trim_end_matches(|c: char| c.is_ascii_digit());
    let (ending, class, rule) = NAME_SUFFIXES.iter().find(|(ending, ..)| plain.ends_with(ending))?;
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

/// Whether a name is written like an environment variable.
pub(super) fn is_env_name(name: &str) -> bool {
    name.bytes().any(|b| b.is_ascii_uppercase()) && !name.bytes().any(|b| b.is_ascii_lowercase() || b == b'-')
}
