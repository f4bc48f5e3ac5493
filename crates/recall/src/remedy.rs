//! What helped against an error before, as it is told to an agent that meets the error again. Pure.

use rethread_model::{FactState, Timestamp};

use crate::facts::{Decision, Fix, Fixes};
use crate::quote::{age, short};

/// Characters of what was done, of why, and of names.
const WHAT_CHARS: usize = 200;
const REASON_CHARS: usize = 140;
const NAME_CHARS: usize = 40;

/// The one fix worth telling unasked: seen to help, more often than not.
pub fn best_remedy(fixes: &Fixes) -> Option<&Fix> {
    fixes.fixes.iter().find(|fix| fix.state == FactState::Confirmed)
}

/// `- [2d ago] login: cargo build failed with this before; it went well after "ran `cargo add regex`" …`.
pub fn remedy_line(fix: &Fix, now: Timestamp) -> String {
    let age = age(fix.last_at, now);
    let source = fix.sources.first();
    let name = source.and_then(|source| source.session_name.as_deref()).map(|name| short(name, NAME_CHARS));
    let name = name.map_or_else(String::new, |name| format!(" {name}:"));
    let command = short(fix.command.as_deref().unwrap_or("a command"), NAME_CHARS);
    let reason = fix.reason.as_ref().map(|reason| format!(", said to be because \"{}\"", short(reason, REASON_CHARS)));
    let tries = fix.succeeded + fix.failed;
    let cited = source.map_or_else(String::new, |source| format!("; rethread show {}", source.citation()));
    format!(
        "- [{age}]{name} {command} failed with this error before and went well after: \"{}\"{} (helped {} of {tries} times{cited})",
        short(&fix.what, WHAT_CHARS),
        reason.unwrap_or_default(),
        fix.succeeded,
    )
}

/// `- [5d ago] storage: decided: "use SQLite for the index" (rethread show …)`.
pub fn decision_line(decision: &Decision, now: Timestamp) -> String {
    let age = age(decision.valid_from, now);
    let source = decision.sources.first();
    let name = source.and_then(|source| source.session_name.as_deref()).map(|name| short(name, NAME_CHARS));
    let name = name.map_or_else(String::new, |name| format!(" {name}:"));
    let cited = source.map_or_else(String::new, |source| format!(" (rethread show {})", source.citation()));
    format!("- [{age}]{name} decided: \"{}\"{cited}", short(&decision.what, WHAT_CHARS))
}

#[cfg(test)]
mod tests {
    use rethread_model::Trust;

    use super::*;

    fn fix(what: &str, state: FactState) -> Fix {
        Fix {
            what: what.to_owned(),
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
    fn only_a_confirmed_fix_is_told() {
        let known = |state| Fixes { fixes: vec![fix("ran `npm ci`", state)], dead_ends: Vec::new() };
        assert!(best_remedy(&known(FactState::Confirmed)).is_some());
        assert!(best_remedy(&known(FactState::Hypothesis)).is_none());
    }

    #[test]
    fn a_remedy_is_quoted_counted_and_cited() {
        let told = remedy_line(&fix("ran `x \"y\"`", FactState::Confirmed), Timestamp::from_millis(3 * 86_400_000));
        assert_eq!(
            told,
            "- [3d ago] cargo build failed with this error before and went well after: \"ran `x 'y'`\", said to be because \
             \"the crate is ‹missing>\" (helped 2 of 3 times)"
        );
    }
}
