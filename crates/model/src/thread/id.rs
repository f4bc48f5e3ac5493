//! The id of a thread: a ULID that only we make, and that is parsed before it becomes part of any path.

use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use ulid::Ulid;

use crate::{SessionId, Timestamp};

/// The text is no thread's id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a thread id: {0:?}; one has 26 characters of 0-9 and A-Z without I, L, O, U")]
pub struct BadThreadId(pub String);

/// The id of a thread. Displayed, it is a safe name of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(Ulid);

/// The last id drawn in this process; the next one is larger, also within a millisecond or when a clock goes back.
static LAST: Mutex<Ulid> = Mutex::new(Ulid::nil());

impl ThreadId {
    /// A new id that begins with this moment, larger than every one drawn before in this process.
    pub fn draw(now: Timestamp) -> Self {
        let millis = u64::try_from(now.as_millis()).unwrap_or(0) & ((1 << 48) - 1);
        let fresh = Ulid::from_parts(millis, Ulid::generate().random());
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        let next = if fresh > *last { fresh } else { last.increment().unwrap_or(fresh) };
        *last = next;
        Self(next)
    }

    /// When it was drawn.
    pub fn drawn_at(self) -> Timestamp {
        Timestamp::from_millis(self.0.timestamp_ms() as i64)
    }

    /// The same id as that of a session: a thread is one.
    pub fn session(self) -> SessionId {
        SessionId::from_ulid(self.0)
    }
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for ThreadId {
    type Err = BadThreadId;

    /// Exactly `^[0-9A-HJKMNP-TV-Z]{26}$`, and within the 128 bits of a ULID.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || BadThreadId(text.chars().take(60).collect());
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
    fn l004_18_ids_drawn_grow_even_when_the_clock_goes_back() {
        let first = ThreadId::draw(Timestamp::from_millis(2_000_000_000_000));
        let second = ThreadId::draw(Timestamp::from_millis(2_000_000_000_000));
        let third = ThreadId::draw(Timestamp::from_millis(1_999_999_999_999));
        assert!(first < second && second < third);
        assert!(first.to_string() < second.to_string());
        assert_eq!(first.drawn_at(), Timestamp::from_millis(2_000_000_000_000));
    }

    #[test]
    fn s7_8_s004_02_an_id_has_one_spelling() {
        let id = ThreadId::draw(Timestamp::from_millis(1_700_000_000_000));
        let text = id.to_string();
        assert_eq!(text.parse::<ThreadId>().unwrap(), id);
        assert_eq!(id.session().to_string(), text);
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
