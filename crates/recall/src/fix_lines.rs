//! Renders the line injected for a known fix.

use rethread_model::{FactState, Timestamp};

use crate::facts::{Fix, KnownFixes};
use crate::quote::{format_age, quote_short};

/// Maximum lengths, in characters, of the fix, the reason, and names.
const TEXT_CHARS: usize = 200;
const REASON_CHARS: usize = 140;
const NAME_CHARS: usize = 40;

/// The fix to inject: the best confirmed one.
pub fn best_fix(fixes: &KnownFixes) -> Option<&Fix> {
    fixes.fixes.iter().find(|fix| fix.state == FactState::Confirmed)
}

/// `- [2d ago] login: cargo build failed with this error before and succeeded after: "ran `cargo add regex`" …`.
pub fn fix_line(fix: &Fix, now: Timestamp) -> String {
    let age = format_age(fix.last_at, now);
    let source = fix.sources.first();
    let name = source.and_then(|source| source.session_name.as_deref()).map(|name| quote_short(name, NAME_CHARS));
    let name = name.map_or_else(String::new, |name| format!(" {name}:"));
    let command = quote_short(fix.command.as_deref().unwrap_or("a command"), NAME_CHARS);
    let reason =
        fix.reason.as_ref().map(|reason| format!(", reportedly because \"{}\"", quote_short(reason, REASON_CHARS)));
    let tries = fix.succeeded + fix.failed;
    let cited = source.map_or_else(String::new, |source| format!("; rethread show {}", source.citation()));
    format!(
        "- [{age}]{name} {command} failed with this error before and succeeded after: \"{}\"{} (helped {} of {tries} times{cited})",
        quote_short(&fix.description, TEXT_CHARS),
        reason.unwrap_or_default(),
        fix.succeeded,
    )
}

#[cfg(test)]
mod tests {
    use rethread_model::Trust;

    use super::*;

    fn fix(what: &str, state: FactState) -> Fix {
        Fix {
            description: what.to_owned(),
            state,
            succeeded: 2,
            failed: 1,
            command: Some("cargo build".to_owned()),
            reason: Some("the crate is <missing>".to_owned()),
            trust: Trust::Tool,
            last_at: Some(Timestamp::from_millis(0)),
            sources: Vec::new(),
        }
    }

    #[test]
    fn only_a_confirmed_fix_is_injected() {
        let known = |state| KnownFixes { fixes: vec![fix("ran `npm ci`", state)], failed_attempts: Vec::new() };
        assert!(best_fix(&known(FactState::Confirmed)).is_some());
        assert!(best_fix(&known(FactState::Hypothesis)).is_none());
    }

    #[test]
    fn a_fix_is_quoted_counted_and_cited() {
        let rendered = fix_line(&fix("ran `x \"y\"`", FactState::Confirmed), Timestamp::from_millis(3 * 86_400_000));
        assert_eq!(
            rendered,
            "- [3d ago] cargo build failed with this error before and succeeded after: \"ran `x 'y'`\", reportedly because \
             \"the crate is ‹missing>\" (helped 2 of 3 times)"
        );
    }
}
