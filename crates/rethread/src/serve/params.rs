//! Request values that carry their limits in the type, so that the `OpenAPI` document and the checks cannot differ.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use rethread_engine::{HitKind, LogProfile, SessionScope, UsageGrouping};
use rethread_model::{Agent, EntityKind, SessionState};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// An integer from `MIN` to `MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BoundedNumber<const MIN: u64, const MAX: u64>(pub(crate) u64);

/// How many results to return: 1 to `MAX`, by default `DEFAULT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct ResultLimit<const DEFAULT: u64, const MAX: u64>(u64);

/// A string of `MIN` to `MAX` characters (not bytes).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BoundedText<const MIN: usize, const MAX: usize>(pub(crate) String);

/// A list of at most `MAX` values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BoundedList<T, const MAX: usize>(pub(crate) Vec<T>);

/// One of a fixed set of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChoiceParam<T>(pub(crate) T);

/// A position in a log. JSON numbers above 2^53 lose precision in many clients.
pub(crate) type LogPosition = BoundedNumber<0, { (1 << 53) - 1 }>;
/// The root of a project as sessions record it, or a directory below it. Compared as text, never opened.
pub(crate) type ProjectParam = BoundedText<1, 4096>;
/// A point in time, absolute (`2026-03-14T12:00`) or relative (`7d`, `yesterday`).
pub(crate) type TimeParam = BoundedText<1, 100>;
/// A session reference: id, its start or end, alias, name or words of it.
pub(crate) type SessionRefParam = BoundedText<1, 400>;

/// The scope of a request: all projects unless one is given.
pub(crate) fn scope(project: Option<&ProjectParam>) -> SessionScope {
    project.map_or(SessionScope::AllProjects, |BoundedText(path)| {
        let root = path.trim_end_matches('/');
        SessionScope::Project(if root.is_empty() { path.clone() } else { root.to_owned() })
    })
}

pub(crate) fn optional_string<const MIN: usize, const MAX: usize>(
    text: Option<BoundedText<MIN, MAX>>,
) -> Option<String> {
    text.map(|BoundedText(text)| text)
}

impl<const DEFAULT: u64, const MAX: u64> ResultLimit<DEFAULT, MAX> {
    pub(crate) fn get(self) -> usize {
        self.0 as usize
    }
}

impl<const DEFAULT: u64, const MAX: u64> Default for ResultLimit<DEFAULT, MAX> {
    fn default() -> Self {
        Self(DEFAULT)
    }
}

impl<const MAX: usize> Default for BoundedText<0, MAX> {
    fn default() -> Self {
        Self(String::new())
    }
}

impl<T, const MAX: usize> Default for BoundedList<T, MAX> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

fn parse_bounded<'de, D: Deserializer<'de>>(deserializer: D, min: u64, max: u64) -> Result<u64, D::Error> {
    let number = u64::deserialize(deserializer)?;
    let fits = (min..=max).contains(&number);
    if fits { Ok(number) } else { Err(Error::custom(format!("expected an integer from {min} to {max}"))) }
}

impl<'de, const MIN: u64, const MAX: u64> Deserialize<'de> for BoundedNumber<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parse_bounded(deserializer, MIN, MAX).map(Self)
    }
}

impl<'de, const DEFAULT: u64, const MAX: u64> Deserialize<'de> for ResultLimit<DEFAULT, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parse_bounded(deserializer, 1, MAX).map(Self)
    }
}

impl<'de, const MIN: usize, const MAX: usize> Deserialize<'de> for BoundedText<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let fits = (MIN..=MAX).contains(&text.chars().count());
        if fits { Ok(Self(text)) } else { Err(Error::custom(format!("expected {MIN} to {MAX} characters"))) }
    }
}

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for BoundedList<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BoundedListVisitor<T, const MAX: usize>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for BoundedListVisitor<T, MAX> {
            type Value = Vec<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a list of at most {MAX}")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Vec<T>, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = all.next_element()? {
                    if values.len() == MAX {
                        return Err(Error::custom(format!("expected a list of at most {MAX}")));
                    }
                    values.push(value);
                }
                Ok(values)
            }
        }
        deserializer.deserialize_seq(BoundedListVisitor::<T, MAX>(PhantomData)).map(Self)
    }
}

/// A value that requests give by name.
pub(crate) trait NamedChoice: Copy {
    /// What error messages call it, such as "agent".
    const NOUN: &'static str;

    /// All values with their names.
    fn choices() -> Vec<(&'static str, Self)>;
}

impl<'de, T: NamedChoice> Deserialize<'de> for ChoiceParam<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = String::deserialize(deserializer)?;
        let found = T::choices().into_iter().find(|(name, _)| *name == given);
        found.map(|(_, chosen)| Self(chosen)).ok_or_else(|| {
            let names: Vec<&str> = T::choices().into_iter().map(|(name, _)| name).collect();
            let given: String = given.chars().take(60).collect();
            Error::custom(format!("unknown {} {given:?}; use one of: {}", T::NOUN, names.join(", ")))
        })
    }
}

impl NamedChoice for Agent {
    const NOUN: &'static str = "agent";

    fn choices() -> Vec<(&'static str, Self)> {
        Agent::ALL.map(|agent| (agent.as_str(), agent)).to_vec()
    }
}

impl NamedChoice for HitKind {
    const NOUN: &'static str = "kind";

    fn choices() -> Vec<(&'static str, Self)> {
        HitKind::ALL.map(|kind| (kind.as_str(), kind)).to_vec()
    }
}

impl NamedChoice for EntityKind {
    const NOUN: &'static str = "kind";

    fn choices() -> Vec<(&'static str, Self)> {
        EntityKind::ALL.map(|kind| (kind.as_str(), kind)).to_vec()
    }
}

impl NamedChoice for SessionState {
    const NOUN: &'static str = "state";

    fn choices() -> Vec<(&'static str, Self)> {
        let states = [SessionState::Active, SessionState::Idle, SessionState::Suspended, SessionState::Ended];
        states.map(|state| (crate::render::state_name(state), state)).to_vec()
    }
}

impl NamedChoice for LogProfile {
    const NOUN: &'static str = "profile";

    fn choices() -> Vec<(&'static str, Self)> {
        vec![("text", LogProfile::Text), ("structure", LogProfile::Structure), ("full", LogProfile::Full)]
    }
}

impl NamedChoice for UsageGrouping {
    const NOUN: &'static str = "grouping";

    fn choices() -> Vec<(&'static str, Self)> {
        [UsageGrouping::Day, UsageGrouping::Agent, UsageGrouping::Model, UsageGrouping::Project]
            .map(|by| (by.as_str(), by))
            .to_vec()
    }
}

impl<const MIN: u64, const MAX: u64> JsonSchema for BoundedNumber<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Number".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": MIN, "maximum": MAX})
    }
}

impl<const DEFAULT: u64, const MAX: u64> JsonSchema for ResultLimit<DEFAULT, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Limit".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": 1, "maximum": MAX})
    }
}

impl<const MIN: usize, const MAX: usize> JsonSchema for BoundedText<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Text".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "minLength": MIN, "maxLength": MAX})
    }
}

impl<T: JsonSchema, const MAX: usize> JsonSchema for BoundedList<T, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "List".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "array", "items": generator.subschema_for::<T>(), "maxItems": MAX})
    }
}

impl<T: NamedChoice> JsonSchema for ChoiceParam<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "OneOf".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = T::choices().into_iter().map(|(name, _)| name).collect();
        json_schema!({"type": "string", "enum": names})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why<T: serde::de::DeserializeOwned + fmt::Debug>(json: &str) -> String {
        serde_json::from_str::<T>(json).unwrap_err().to_string()
    }

    #[test]
    fn values_out_of_range_are_rejected_with_the_range() {
        assert_eq!(serde_json::from_str::<ResultLimit<10, 20>>("20").unwrap().get(), 20);
        assert!(why::<ResultLimit<10, 20>>("0").starts_with("expected an integer from 1 to 20"));
        assert!(why::<ResultLimit<10, 20>>("21").starts_with("expected an integer from 1 to 20"));
        assert!(why::<LogPosition>("9007199254740992").starts_with("expected an integer"));
        assert!(serde_json::from_str::<BoundedText<1, 3>>("\"äöü\"").is_ok(), "characters, not bytes");
        assert!(why::<BoundedText<1, 3>>("\"\"").starts_with("expected 1 to 3 characters"));
        assert!(why::<BoundedText<1, 3>>("\"abcd\"").starts_with("expected 1 to 3 characters"));
        assert!(why::<BoundedList<bool, 1>>("[true, true]").contains("at most 1"));
        assert!(why::<ChoiceParam<Agent>>("\"bob\"").contains("use one of: claude-code, pi"));
    }

    #[test]
    fn a_project_is_compared_and_never_opened() {
        let at = |path: &str| scope(Some(&BoundedText(path.to_owned())));
        assert_eq!(at("/home/dev/app/"), SessionScope::Project("/home/dev/app".into()));
        assert_eq!(at("/"), SessionScope::Project("/".into()));
        assert_eq!(at("../x"), SessionScope::Project("../x".into()));
        assert_eq!(scope(None), SessionScope::AllProjects);
    }
}
