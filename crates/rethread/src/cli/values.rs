//! Values on the command line that are more than a word or a number.

use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use rethread_engine::{Kind, Profile, UsageBy};
use rethread_model::thread::ChatRole;
use rethread_model::{Agent, EntityKind, State, Timestamp};

/// A moment: so long ago, or a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Since {
    Ago(Duration),
    At(Timestamp),
}

impl Since {
    /// The moment, seen from now.
    pub(crate) fn before(self, now: Timestamp) -> Timestamp {
        match self {
            Since::At(moment) => moment,
            Since::Ago(ago) => {
                let millis = i64::try_from(ago.as_millis()).unwrap_or(i64::MAX);
                Timestamp::from_millis(now.as_millis().saturating_sub(millis))
            }
        }
    }
}

/// `30d`, `12h`, `2026-02-20` or a full RFC 3339 time.
pub(crate) fn since(text: &str) -> Result<Since, String> {
    if let Ok(ago) = span(text) {
        return Ok(Since::Ago(ago));
    }
    let moment = text.parse().or_else(|_| format!("{text}T00:00:00Z").parse::<Timestamp>());
    moment.map(Since::At).map_err(|_| "expected something like 30d, 12h or 2026-02-20".to_owned())
}

/// `90s`, `5m`, `12h`, `30d`, `2w`.
pub(crate) fn span(text: &str) -> Result<Duration, String> {
    let problem = || "expected a number and a unit: 90s, 5m, 12h, 30d, 2w".to_owned();
    let end = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(problem)?;
    let amount: u64 = text[..end].parse().map_err(|_| problem())?;
    let unit = match &text[end..] {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        _ => return Err(problem()),
    };
    amount.checked_mul(unit).filter(|seconds| *seconds > 0).map(Duration::from_secs).ok_or_else(problem)
}

/// `key=value`.
pub(crate) fn setting(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

/// The name of an agent.
pub(crate) fn agent() -> impl TypedValueParser<Value = Agent> {
    PossibleValuesParser::new(Agent::ALL.map(Agent::as_str)).try_map(|name| name.parse::<Agent>())
}

/// The name of an agent whose transcripts are its own.
pub(crate) fn other_agent() -> impl TypedValueParser<Value = Agent> {
    PossibleValuesParser::new(Agent::OTHERS.map(Agent::as_str)).try_map(|name| name.parse::<Agent>())
}

/// Who speaks in a thread.
pub(crate) fn role() -> impl TypedValueParser<Value = ChatRole> {
    let roles = [ChatRole::User, ChatRole::Assistant, ChatRole::ToolResult];
    PossibleValuesParser::new(roles.map(ChatRole::as_str))
        .map(move |name| roles.into_iter().find(|role| role.as_str() == name).unwrap_or(ChatRole::User))
}

/// The state of a session.
pub(crate) fn state() -> impl TypedValueParser<Value = State> {
    PossibleValuesParser::new(["active", "idle", "suspended", "ended"]).map(|name| match name.as_str() {
        "active" => State::Active,
        "idle" => State::Idle,
        "suspended" => State::Suspended,
        _ => State::Ended,
    })
}

/// A kind of entry; the roles that transcripts use are understood too.
pub(crate) fn kind() -> impl TypedValueParser<Value = Kind> {
    let named = |kind: Kind| {
        let roles: &[&str] = match kind {
            Kind::Prompt => &["user", "human"],
            Kind::Answer => &["assistant"],
            Kind::Reasoning => &["thinking"],
            _ => &[],
        };
        PossibleValue::new(kind.as_str()).aliases(roles)
    };
    PossibleValuesParser::new(Kind::ALL.map(named)).try_map(|name| name.parse::<Kind>())
}

/// A kind of thing that facts are about.
pub(crate) fn entity_kind() -> impl TypedValueParser<Value = EntityKind> {
    PossibleValuesParser::new(EntityKind::ALL.map(EntityKind::as_str))
        .map(|name| EntityKind::from_stored(&name).unwrap_or(EntityKind::File))
}

/// How much of a session is shown.
pub(crate) fn profile() -> impl TypedValueParser<Value = Profile> {
    PossibleValuesParser::new(["text", "structure", "full"]).map(|name| match name.as_str() {
        "text" => Profile::Text,
        "full" => Profile::Full,
        _ => Profile::Structure,
    })
}

/// What usage is summed up by.
pub(crate) fn usage_by() -> impl TypedValueParser<Value = UsageBy> {
    let ways = [UsageBy::Day, UsageBy::Agent, UsageBy::Model, UsageBy::Project];
    PossibleValuesParser::new(ways.map(UsageBy::as_str))
        .map(move |name| ways.into_iter().find(|by| by.as_str() == name).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_a_number_and_a_unit() {
        assert_eq!(span("5m"), Ok(Duration::from_mins(5)));
        assert_eq!(span("2w"), Ok(Duration::from_hours(14 * 24)));
        for wrong in ["", "5", "m", "0s", "5 m", "5x", "-5m", "99999999999999999999d", "9999999999999999999w"] {
            assert!(span(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_moment_is_an_age_or_a_date() {
        let now: Timestamp = "2026-02-20T12:00:00Z".parse().unwrap();
        let at = |text: &str| since(text).map(|since| since.before(now).to_string());
        assert_eq!(at("1d").as_deref(), Ok("2026-02-19T12:00:00.000Z"));
        assert_eq!(at("2026-01-02").as_deref(), Ok("2026-01-02T00:00:00.000Z"));
        assert_eq!(at("2026-01-02T03:04:05Z").as_deref(), Ok("2026-01-02T03:04:05.000Z"));
        assert!(at("yesterday").is_err());
    }
}
