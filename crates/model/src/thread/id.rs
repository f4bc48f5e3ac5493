//! The id of a thread: a ULID that only we generate. It is validated before it becomes part of a path.

use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use ulid::Ulid;

use crate::{SessionId, Timestamp};

/// The text is not a valid thread id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid thread id {0:?}: expected 26 characters of 0-9 and A-Z without I, L, O, U")]
pub struct InvalidThreadId(pub String);

/// The id of a thread. Its text form is safe as a directory name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(Ulid);

/// The last id generated in this process. The next one is larger, even if the clock stands still or goes back.
static LAST_GENERATED: Mutex<Ulid> = Mutex::new(Ulid::nil());

impl ThreadId {
    /// Generates an id that starts with `now` and is larger than every id generated before in this process.
    pub fn generate(now: Timestamp) -> Self {
        let millis = u64::try_from(now.as_millis()).unwrap_or(0) & ((1 << 48) - 1);
        let fresh = Ulid::from_parts(millis, Ulid::generate().random());
        let mut last = LAST_GENERATED.lock().unwrap_or_else(PoisonError::into_inner);
        let next = if fresh > *last { fresh } else { last.increment().unwrap_or(fresh) };
        *last = next;
        Self(next)
    }

    /// The time it was generated.
    pub fn created_at(self) -> Timestamp {
        Timestamp::from_millis(self.0.timestamp_ms() as i64)
    }

    /// The session id of this thread; both have the same value.
    pub fn session_id(self) -> SessionId {
        SessionId::from_ulid(self.0)
    }
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for ThreadId {
    type Err = InvalidThreadId;

    /// Accepts exactly `^[0-9A-HJKMNP-TV-Z]{26}$` within the 128 bits of a ULID.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || InvalidThreadId(text.chars().take(60).collect());
        let fits = text.len() == 26
            && text.bytes().all(|c| c.is_ascii_digit() || c.is_ascii_uppercase() && !b"ILOU".contains(&c));
        if !fits {
            return Err(bad());
        }
        let id = Ulid::from_string(text).map_err(|_| bad())?;
        // A first character above 7 would lose bits, and two texts would name one thread.
        if id.to_string() == text { Ok(Self(id)) } else { Err(bad()) }
    }
}

impl Serialize for ThreadId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ThreadId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_increase_even_when_the_clock_goes_back() {
        // L004-18
        let first = ThreadId::generate(Timestamp::from_millis(2_000_000_000_000));
        let second = ThreadId::generate(Timestamp::from_millis(2_000_000_000_000));
        let third = ThreadId::generate(Timestamp::from_millis(1_999_999_999_999));
        assert!(first < second && second < third);
        assert!(first.to_string() < second.to_string());
        assert_eq!(first.created_at(), Timestamp::from_millis(2_000_000_000_000));
    }

    #[test]
    fn thread_id_has_only_one_spelling() {
        // S7.8, S004-02
        let id = ThreadId::generate(Timestamp::from_millis(1_700_000_000_000));
        let text = id.to_string();
        assert_eq!(text.parse::<ThreadId>().unwrap(), id);
        assert_eq!(id.session_id().to_string(), text);
        let wrong = [
            text.to_lowercase(),
            text[..25].to_owned(),
            format!("{text}0"),
            format!("8{}", &text[1..]),
            format!("{}\0", &text[..25]),
            format!("{}İ", &text[..24]),
            format!("{}Ａ", &text[..23]),
            "../../../../../../etc/pass".to_owned(),
            "../x".to_owned(),
            String::new(),
        ];
        for wrong in wrong {
            assert!(wrong.parse::<ThreadId>().is_err(), "{wrong:?}");
        }
    }
}
