//! How one rule finds a secret with a known format. The table of rules is in `rule_table`.

use std::ops::Range;

use regex::Regex;

use super::{placeholder, values, words};

/// One kind of secret.
#[derive(Debug)]
pub(super) struct SecretRule {
    /// Used in the placeholder and in the counts.
    pub(super) name: &'static str,
    /// The pattern is tried only where one of these occurs, ignoring case.
    pub(super) triggers: &'static [&'static str],
    /// Matches from the start of the trigger.
    pattern: &'static str,
    /// The capture group that is the secret; 0 is the whole match.
    secret: usize,
    before: PrecedingText,
    check: SecretCheck,
}

impl SecretRule {
    /// Compiles the pattern, anchored at its start.
    #[expect(clippy::expect_used, reason = "the patterns are constants, and a test compiles them all")]
    pub(super) fn compile(&self) -> Regex {
        Regex::new(&format!("^(?:{})", self.pattern)).expect("the table holds valid patterns")
    }

    /// The secret of this rule whose trigger starts at `at`. `pattern` returns the result of `compile`.
    pub(super) fn find<'r>(&self, pattern: impl FnOnce() -> &'r Regex, text: &str, at: usize) -> Option<Range<usize>> {
        if !self.before.fits(&text.as_bytes()[..at]) {
            return None;
        }
        let pattern = pattern();
        let reach = match self.check {
            SecretCheck::Always => text.len(),
            _ => text.floor_char_boundary(at + MAX_MATCH_BYTES),
        };
        let near = &text[at..reach];
        // Most triggers in ordinary text fail here, without the allocation for capture groups.
        if !pattern.is_match(near) {
            return None;
        }
        let found = pattern.captures(near)?.get(self.secret)?.range();
        let range = at + found.start..at + found.end;
        if !self.check.passes(text, range.clone()) {
            return None;
        }
        let is_cut = range.end == reach;
        Some(if is_cut { range.start..end_of_run(text.as_bytes(), reach) } else { range })
    }
}

/// Maximum length of a match before its check. A check can fail, and the next trigger in the same run is then tried
/// too: without a limit, a long run full of triggers would take quadratic time.
const MAX_MATCH_BYTES: usize = 1024;

/// The end of a secret that extends past `from`.
fn end_of_run(bytes: &[u8], from: usize) -> usize {
    let is_inside = |b: &u8| b.is_ascii_alphanumeric() || b"+/=_-.~%".contains(b);
    from + bytes[from..].iter().take_while(|b| is_inside(b)).count()
}

/// What must come before the trigger.
#[derive(Debug, Clone, Copy)]
pub(super) enum PrecedingText {
    Anything,
    /// Not a letter or digit, unless it belongs to an escape such as `\n` or `%3D`.
    Edge,
    Digit,
    /// The `?` or `&` of a URL query.
    Query,
}

impl PrecedingText {
    fn fits(self, before: &[u8]) -> bool {
        match (self, before) {
            (Self::Anything, _) | (Self::Edge, [] | [.., b'\\', b'n' | b'r' | b't'] | [.., b'%', _, _]) => true,
            (Self::Edge, [.., last]) => !last.is_ascii_alphanumeric(),
            (Self::Digit, [.., last]) => last.is_ascii_digit(),
            (Self::Query, [.., last]) => matches!(last, b'?' | b'&'),
            (Self::Digit | Self::Query, []) => false,
        }
    }
}

/// The check that a match must pass.
#[derive(Debug, Clone, Copy)]
pub(super) enum SecretCheck {
    /// The pattern is sufficient. It must not read far and then fail.
    Always,
    /// Not a placeholder such as `xxxx` or `your-key`. Examples from documentation and test values in the exact format
    /// of a service count as secrets: no rule can distinguish them from real ones.
    Format,
    /// Also not made of words, as `sk-learn-estimator-html` is.
    Random,
    /// The value of a query parameter.
    Parameter,
    /// A password chosen by a human.
    Password,
    /// Base64 of `user:password`.
    Credentials,
    /// A password with `curl` shortly before it.
    AfterCurl,
    /// The value of a cookie that identifies a session.
    Cookie,
}

impl SecretCheck {
    fn passes(self, text: &str, range: Range<usize>) -> bool {
        let value = &text[range.clone()];
        match self {
            Self::Always => true,
            Self::Format => !placeholder::is_template(value),
            Self::Random => !placeholder::is_named_example(value) && words::is_random(value),
            Self::Parameter => values::is_parameter(value),
            Self::Password => values::is_typed_password(value),
            Self::Credentials => values::is_basic_credentials(value),
            Self::Cookie => values::is_session_cookie(value),
            Self::AfterCurl => {
                let near = &text.as_bytes()[range.start.saturating_sub(400)..range.start];
                memchr::memmem::find(near, b"curl").is_some() && values::is_typed_password(value)
            }
        }
    }
}

/// One row of the table.
pub(super) const fn rule(
    name: &'static str,
    triggers: &'static [&'static str],
    pattern: &'static str,
    secret: usize,
    before: PrecedingText,
    check: SecretCheck,
) -> SecretRule {
    SecretRule { name, triggers, pattern, secret, before, check }
}
