//! Ids that can only be made by parsing or deriving, never by hand.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use ulid::Ulid;
use xxhash_rust::xxh3;

use crate::{Agent, Timestamp};

/// The owner of data. One laptop is the space `local`; every stored key starts with it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Space(String);

impl Space {
    /// The space of a single machine.
    pub fn local() -> Self {
        Self("local".to_owned())
    }

    /// The name as stored.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The text does not follow the grammar of the id it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a session id: {0:?}")]
pub struct BadId(pub String);

/// Our id of a session: a ULID in its canonical upper-case form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(Ulid);

impl SessionId {
    /// The id of a session of ours, whose thread has drawn it.
    pub(crate) fn from_ulid(id: Ulid) -> Self {
        Self(id)
    }

    /// The id of an agent's session: its start time, then a hash of who it is.
    ///
    /// Deriving instead of drawing lots means that a rebuilt store, or a second machine, gives the same id.
    /// A thread of ours has drawn its id already.
    pub fn derive(agent: Agent, external_id: &str, started: Timestamp) -> Self {
        if let (Agent::Native, Ok(own)) = (agent, external_id.parse()) {
            return own;
        }
        let hash = xxh3::xxh3_128(format!("{agent}\0{external_id}").as_bytes());
        let millis = u64::try_from(started.as_millis()).unwrap_or(0);
        Self(Ulid::from_parts(millis & ((1 << 48) - 1), hash & ((1 << 80) - 1)))
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for SessionId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || BadId(text.to_owned());
        let id = Ulid::from_string(text).map_err(|_| bad())?;
        // The decoder accepts lower case and look-alikes; one session has one spelling.
        if id.to_string() == text { Ok(Self(id)) } else { Err(bad()) }
    }
}

impl Serialize for SessionId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A native id of an agent (a uuid, a tool call id, a message id) as one number, stable over runs and machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NativeKey(i64);

impl NativeKey {
    /// The key of a native id that is unique among all sessions of an agent.
    pub fn global(agent: Agent, id: &str) -> Self {
        Self::of(&[agent.as_str(), id])
    }

    /// The key of a native id that is unique only inside one session.
    pub fn within(agent: Agent, session: &str, id: &str) -> Self {
        Self::of(&[agent.as_str(), session, id])
    }

    /// From its stored form.
    pub const fn from_stored(number: i64) -> Self {
        Self(number)
    }

    /// The form to store.
    pub const fn as_stored(self) -> i64 {
        self.0
    }

    fn of(parts: &[&str]) -> Self {
        let mut hasher = xxh3::Xxh3::new();
        for part in parts {
            hasher.update(part.as_bytes());
            hasher.update(&[0]);
        }
        Self(hasher.digest() as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_id_has_one_spelling() {
        let id = SessionId::derive(Agent::Pi, "x", Timestamp::from_millis(1_700_000_000_000));
        let text = id.to_string();
        assert_eq!(text.parse::<SessionId>().unwrap(), id);
        for wrong in [text.to_lowercase(), String::new(), "../../etc/passwd".into(), format!("{text}0")] {
            assert!(wrong.parse::<SessionId>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_same_session_gets_the_same_id_and_another_one_does_not() {
        let at = Timestamp::from_millis(1);
        assert_eq!(SessionId::derive(Agent::Pi, "x", at), SessionId::derive(Agent::Pi, "x", at));
        assert_ne!(SessionId::derive(Agent::Pi, "x", at), SessionId::derive(Agent::Pi, "y", at));
        assert_ne!(SessionId::derive(Agent::Pi, "x", at), SessionId::derive(Agent::ClaudeCode, "x", at));
    }
}
