//! Parses command line values: times, durations, settings and enums of the engine.

use std::time::Duration;

use clap::builder::{
    PossibleValue, PossibleValuesParser, RangedI64ValueParser, RangedU64ValueParser, TypedValueParser,
};
use rethread_engine::{AgentCommand, HOSTS, HitKind, HostProtocol, LogProfile, UsageGrouping};
use rethread_model::thread::ChatRole;
use rethread_model::{AccessScope, Agent, EntityKind, MemberName, Role, SessionState, Space, Timestamp};

/// A point in time: relative to now, or absolute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SinceValue {
    Ago(Duration),
    At(Timestamp),
}

impl SinceValue {
    /// Resolves a relative value against `now`.
    pub(crate) fn before(self, now: Timestamp) -> Timestamp {
        match self {
            SinceValue::At(moment) => moment,
            SinceValue::Ago(ago) => {
                let millis = i64::try_from(ago.as_millis()).unwrap_or(i64::MAX);
                Timestamp::from_millis(now.as_millis().saturating_sub(millis))
            }
        }
    }
}

/// Parses `30d`, `12h`, `2026-02-20` or an RFC 3339 time.
pub(crate) fn since(text: &str) -> Result<SinceValue, String> {
    if let Ok(ago) = duration(text) {
        return Ok(SinceValue::Ago(ago));
    }
    let moment = text.parse().or_else(|_| format!("{text}T00:00:00Z").parse::<Timestamp>());
    moment.map(SinceValue::At).map_err(|_| "use 30d, 12h, 2026-02-20 or RFC 3339".to_owned())
}

/// Parses `90s`, `5m`, `12h`, `30d` or `2w`. Zero is invalid.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let problem = || "use a number and a unit: 90s, 5m, 12h, 30d, 2w".to_owned();
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

/// Parses `key=value`.
pub(crate) fn setting(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("use KEY=VALUE")?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

/// A number of results. Zero is invalid.
pub(crate) fn limit() -> RangedI64ValueParser<u16> {
    clap::value_parser!(u16).range(1..)
}

pub(crate) fn agent() -> impl TypedValueParser<Value = Agent> {
    PossibleValuesParser::new(Agent::ALL.map(agent_value)).try_map(|name| name.parse::<Agent>())
}

/// An agent other than Rethread itself, whose threads are not read from an agent's files.
pub(crate) fn other_agent() -> impl TypedValueParser<Value = Agent> {
    PossibleValuesParser::new(Agent::EXTERNAL.map(agent_value)).try_map(|name| name.parse::<Agent>())
}

/// An agent that can be started with a first prompt.
pub(crate) fn startable_agent() -> impl TypedValueParser<Value = Agent> {
    PossibleValuesParser::new(AgentCommand::startable_agents().map(agent_value)).try_map(|name| name.parse::<Agent>())
}

fn agent_value(agent: Agent) -> PossibleValue {
    PossibleValue::new(agent.as_str()).aliases(agent.aliases())
}

/// An agent that calls our hook.
pub(crate) fn host() -> impl TypedValueParser<Value = Agent> {
    let value = |host: &HostProtocol| PossibleValue::new(host.agent.as_str()).help(host.agent.label());
    PossibleValuesParser::new(HOSTS.map(value)).try_map(|name| name.parse::<Agent>())
}

pub(crate) fn role() -> impl TypedValueParser<Value = ChatRole> {
    let roles = [ChatRole::User, ChatRole::Assistant, ChatRole::ToolResult];
    PossibleValuesParser::new(roles.map(ChatRole::as_str))
        .map(move |name| roles.into_iter().find(|role| role.as_str() == name).unwrap_or(ChatRole::User))
}

pub(crate) fn state() -> impl TypedValueParser<Value = SessionState> {
    PossibleValuesParser::new(["active", "idle", "suspended", "ended"]).map(|name| match name.as_str() {
        "active" => SessionState::Active,
        "idle" => SessionState::Idle,
        "suspended" => SessionState::Suspended,
        _ => SessionState::Ended,
    })
}

/// A kind of entry. Roles as transcripts name them work too.
pub(crate) fn kind() -> impl TypedValueParser<Value = HitKind> {
    let value = |kind: HitKind| {
        let roles: &[&str] = match kind {
            HitKind::Prompt => &["user", "human"],
            HitKind::Answer => &["assistant"],
            HitKind::Reasoning => &["thinking"],
            _ => &[],
        };
        PossibleValue::new(kind.as_str()).aliases(roles)
    };
    PossibleValuesParser::new(HitKind::ALL.map(value)).try_map(|name| name.parse::<HitKind>())
}

pub(crate) fn entity_kind() -> impl TypedValueParser<Value = EntityKind> {
    PossibleValuesParser::new(EntityKind::ALL.map(EntityKind::as_str))
        .map(|name| EntityKind::from_stored(&name).unwrap_or(EntityKind::File))
}

pub(crate) fn profile() -> impl TypedValueParser<Value = LogProfile> {
    PossibleValuesParser::new(["text", "structure", "full"]).map(|name| match name.as_str() {
        "text" => LogProfile::Text,
        "full" => LogProfile::Full,
        _ => LogProfile::Structure,
    })
}

pub(crate) fn usage_by() -> impl TypedValueParser<Value = UsageGrouping> {
    let groups = [UsageGrouping::Day, UsageGrouping::Agent, UsageGrouping::Model, UsageGrouping::Project];
    PossibleValuesParser::new(groups.map(UsageGrouping::as_str))
        .map(move |name| groups.into_iter().find(|by| by.as_str() == name).unwrap_or_default())
}

/// How long sessions are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetentionValue {
    Days(u64),
    Off,
}

const NAME_RULE: &str = "use 1 to 64 lower-case letters, digits and dashes, with no dash at either end";
/// A hundred years.
const MAX_DAYS: u64 = 36_500;

pub(crate) fn space(text: &str) -> Result<Space, String> {
    text.parse().map_err(|_| NAME_RULE.to_owned())
}

pub(crate) fn member_name(text: &str) -> Result<MemberName, String> {
    text.parse().map_err(|_| NAME_RULE.to_owned())
}

pub(crate) fn access_scope(text: &str) -> Result<AccessScope, String> {
    text.parse().map_err(|_| "use read, write and admin, separated by commas".to_owned())
}

pub(crate) fn member_role() -> impl TypedValueParser<Value = Role> {
    PossibleValuesParser::new(Role::ALL.map(Role::as_str)).try_map(|name| name.parse::<Role>())
}

/// A number of days. Zero is invalid.
pub(crate) fn days() -> RangedU64ValueParser<u64> {
    RangedU64ValueParser::new().range(1..=MAX_DAYS)
}

/// Parses a number of days or `off`.
pub(crate) fn retention(text: &str) -> Result<RetentionValue, String> {
    if text == "off" {
        return Ok(RetentionValue::Off);
    }
    let days = text.parse().ok().filter(|days| (1..=MAX_DAYS).contains(days));
    days.map(RetentionValue::Days).ok_or_else(|| format!("use a number of days from 1 to {MAX_DAYS}, or off"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_need_a_number_and_a_unit() {
        assert_eq!(duration("5m"), Ok(Duration::from_mins(5)));
        assert_eq!(duration("2w"), Ok(Duration::from_hours(14 * 24)));
        for wrong in ["", "5", "m", "0s", "5 m", "5x", "-5m", "99999999999999999999d", "9999999999999999999w"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn since_takes_an_age_or_a_date() {
        let now: Timestamp = "2026-02-20T12:00:00Z".parse().unwrap();
        let at = |text: &str| since(text).map(|since| since.before(now).to_string());
        assert_eq!(at("1d").as_deref(), Ok("2026-02-19T12:00:00.000Z"));
        assert_eq!(at("2026-01-02").as_deref(), Ok("2026-01-02T00:00:00.000Z"));
        assert_eq!(at("2026-01-02T03:04:05Z").as_deref(), Ok("2026-01-02T03:04:05.000Z"));
        assert!(at("yesterday").is_err());
    }
}
