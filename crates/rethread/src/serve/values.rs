//! Values of requests that know their own limits: what the document of the API says of them is what is checked.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use rethread_engine::{Kind, Profile, Scope, UsageBy};
use rethread_model::{Agent, EntityKind, State};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// A whole number from `LEAST` to `MOST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number<const LEAST: u64, const MOST: u64>(pub(crate) u64);

/// At most so many: from 1 to `MOST`, and `USUAL` if nobody says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct Limit<const USUAL: u64, const MOST: u64>(u64);

/// A text of `LEAST` to `MOST` characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text<const LEAST: usize, const MOST: usize>(pub(crate) String);

/// A list of at most `MOST` values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct List<T, const MOST: usize>(pub(crate) Vec<T>);

/// One of a few words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OneOf<T>(pub(crate) T);

/// A place in a log. Larger numbers are not whole in every language.
pub(crate) type Position = Number<0, { (1 << 53) - 1 }>;
/// A project: the path of its root as sessions have it, or of a directory below it. It is compared, never opened.
pub(crate) type Project = Text<1, 4096>;
/// A moment as people write it.
pub(crate) type When = Text<1, 100>;
/// A session: an id, the beginning of one, an alias, a name.
pub(crate) type Reference = Text<1, 400>;

/// Where to look: everywhere, unless a project is named.
pub(crate) fn scope(project: Option<&Project>) -> Scope {
    project.map_or(Scope::AllProjects, |Text(path)| {
        let root = path.trim_end_matches('/');
        Scope::Project(if root.is_empty() { path.clone() } else { root.to_owned() })
    })
}

/// The texts of optional values.
pub(crate) fn said<const LEAST: usize, const MOST: usize>(text: Option<Text<LEAST, MOST>>) -> Option<String> {
    text.map(|Text(text)| text)
}

impl<const USUAL: u64, const MOST: u64> Limit<USUAL, MOST> {
    /// The number.
    pub(crate) fn get(self) -> usize {
        self.0 as usize
    }
}

impl<const USUAL: u64, const MOST: u64> Default for Limit<USUAL, MOST> {
    fn default() -> Self {
        Self(USUAL)
    }
}

impl<const MOST: usize> Default for Text<0, MOST> {
    fn default() -> Self {
        Self(String::new())
    }
}

impl<T, const MOST: usize> Default for List<T, MOST> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

fn number<'de, D: Deserializer<'de>>(deserializer: D, least: u64, most: u64) -> Result<u64, D::Error> {
    let number = u64::deserialize(deserializer)?;
    let fits = (least..=most).contains(&number);
    if fits { Ok(number) } else { Err(Error::custom(format!("expected a whole number from {least} to {most}"))) }
}

impl<'de, const LEAST: u64, const MOST: u64> Deserialize<'de> for Number<LEAST, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        number(deserializer, LEAST, MOST).map(Self)
    }
}

impl<'de, const USUAL: u64, const MOST: u64> Deserialize<'de> for Limit<USUAL, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        number(deserializer, 1, MOST).map(Self)
    }
}

impl<'de, const LEAST: usize, const MOST: usize> Deserialize<'de> for Text<LEAST, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let fits = (LEAST..=MOST).contains(&text.chars().count());
        if fits { Ok(Self(text)) } else { Err(Error::custom(format!("expected {LEAST} to {MOST} characters"))) }
    }
}

impl<'de, T: Deserialize<'de>, const MOST: usize> Deserialize<'de> for List<T, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each<T, const MOST: usize>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for Each<T, MOST> {
            type Value = Vec<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a list of at most {MOST}")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Vec<T>, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = all.next_element()? {
                    if values.len() == MOST {
                        return Err(Error::custom(format!("expected a list of at most {MOST}")));
                    }
                    values.push(value);
                }
                Ok(values)
            }
        }
        deserializer.deserialize_seq(Each::<T, MOST>(PhantomData)).map(Self)
    }
}

/// A choice with a name for each.
pub(crate) trait Choice: Copy {
    /// What is chosen among, as an error says it.
    const WHAT: &'static str;

    /// All there are, by name.
    fn all() -> Vec<(&'static str, Self)>;
}

impl<'de, T: Choice> Deserialize<'de> for OneOf<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = String::deserialize(deserializer)?;
        let found = T::all().into_iter().find(|(name, _)| *name == given);
        found.map(|(_, chosen)| Self(chosen)).ok_or_else(|| {
            let names: Vec<&str> = T::all().into_iter().map(|(name, _)| name).collect();
            let given: String = given.chars().take(60).collect();
            Error::custom(format!("unknown {} {given:?}; known are: {}", T::WHAT, names.join(", ")))
        })
    }
}

impl Choice for Agent {
    const WHAT: &'static str = "agent";

    fn all() -> Vec<(&'static str, Self)> {
        Agent::ALL.map(|agent| (agent.as_str(), agent)).to_vec()
    }
}

impl Choice for Kind {
    const WHAT: &'static str = "kind";

    fn all() -> Vec<(&'static str, Self)> {
        Kind::ALL.map(|kind| (kind.as_str(), kind)).to_vec()
    }
}

impl Choice for EntityKind {
    const WHAT: &'static str = "kind";

    fn all() -> Vec<(&'static str, Self)> {
        EntityKind::ALL.map(|kind| (kind.as_str(), kind)).to_vec()
    }
}

impl Choice for State {
    const WHAT: &'static str = "state";

    fn all() -> Vec<(&'static str, Self)> {
        let states = [State::Active, State::Idle, State::Suspended, State::Ended];
        states.map(|state| (crate::render::state(state), state)).to_vec()
    }
}

impl Choice for Profile {
    const WHAT: &'static str = "profile";

    fn all() -> Vec<(&'static str, Self)> {
        vec![("text", Profile::Text), ("structure", Profile::Structure), ("full", Profile::Full)]
    }
}

impl Choice for UsageBy {
    const WHAT: &'static str = "grouping";

    fn all() -> Vec<(&'static str, Self)> {
        [UsageBy::Day, UsageBy::Agent, UsageBy::Model, UsageBy::Project].map(|by| (by.as_str(), by)).to_vec()
    }
}

impl<const LEAST: u64, const MOST: u64> JsonSchema for Number<LEAST, MOST> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Number".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": LEAST, "maximum": MOST})
    }
}

impl<const USUAL: u64, const MOST: u64> JsonSchema for Limit<USUAL, MOST> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Limit".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": 1, "maximum": MOST})
    }
}

impl<const LEAST: usize, const MOST: usize> JsonSchema for Text<LEAST, MOST> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Text".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "minLength": LEAST, "maxLength": MOST})
    }
}

impl<T: JsonSchema, const MOST: usize> JsonSchema for List<T, MOST> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "List".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "array", "items": generator.subschema_for::<T>(), "maxItems": MOST})
    }
}

impl<T: Choice> JsonSchema for OneOf<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "OneOf".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = T::all().into_iter().map(|(name, _)| name).collect();
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
    fn what_is_out_of_range_is_refused_with_the_range() {
        assert_eq!(serde_json::from_str::<Limit<10, 20>>("20").unwrap().get(), 20);
        assert!(why::<Limit<10, 20>>("0").starts_with("expected a whole number from 1 to 20"));
        assert!(why::<Limit<10, 20>>("21").starts_with("expected a whole number from 1 to 20"));
        assert!(why::<Position>("9007199254740992").starts_with("expected a whole number"));
        assert!(serde_json::from_str::<Text<1, 3>>("\"äöü\"").is_ok(), "characters, not bytes");
        assert!(why::<Text<1, 3>>("\"\"").starts_with("expected 1 to 3 characters"));
        assert!(why::<Text<1, 3>>("\"abcd\"").starts_with("expected 1 to 3 characters"));
        assert!(why::<List<bool, 1>>("[true, true]").contains("at most 1"));
        assert!(why::<OneOf<Agent>>("\"bob\"").contains("known are: claude-code, pi, native"));
    }

    #[test]
    fn a_project_is_compared_and_never_opened() {
        let at = |path: &str| scope(Some(&Text(path.to_owned())));
        assert_eq!(at("/home/dev/app/"), Scope::Project("/home/dev/app".into()));
        assert_eq!(at("/"), Scope::Project("/".into()));
        assert_eq!(at("../x"), Scope::Project("../x".into()));
        assert_eq!(scope(None), Scope::AllProjects);
    }
}
