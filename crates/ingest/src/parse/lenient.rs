//! Serde types that accept any JSON value and keep only what has the expected type.
//!
//! Foreign input never fails a parse: a number where a string is expected reads as missing.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use rethread_model::Timestamp;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// Numbers below it are seconds: as milliseconds they would be a time in 1973.
const MIN_MILLIS: f64 = 100_000_000_000.0;

/// A string, borrowed from the line if it has no escapes; `None` for any other value.
#[derive(Debug, Default, Clone)]
pub(crate) struct LenientText<'a>(pub(crate) Option<Cow<'a, str>>);

impl<'a> LenientText<'a> {
    pub(crate) fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or("")
    }

    pub(crate) fn into_string(self) -> String {
        self.0.map(Cow::into_owned).unwrap_or_default()
    }

    /// The text, unless it is missing or empty.
    pub(crate) fn non_empty(self) -> Option<Cow<'a, str>> {
        self.0.filter(|text| !text.is_empty())
    }
}

/// A boolean; false for any other value.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct LenientBool(pub(crate) bool);

/// A number; `None` for any other value.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct LenientNumber(pub(crate) Option<f64>);

/// Larger counts are not believed: sums of them must not overflow.
const MAX_COUNT: f64 = 1e12;

impl LenientNumber {
    /// As a count: fractions are dropped, negative numbers become 0.
    pub(crate) fn count(self) -> u64 {
        self.0.filter(|number| *number > 0.0).map_or(0, |number| number.min(MAX_COUNT) as u64)
    }
}

/// A time: RFC 3339 text, in UTC if it names no zone, or a number of seconds or milliseconds. `None` for any other value.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct LenientTimestamp(pub(crate) Option<Timestamp>);

impl LenientTimestamp {
    pub(crate) fn from_value(value: &Value) -> Self {
        Self(match value {
            Value::String(text) => Self::from_text(text),
            Value::Number(number) => number.as_f64().map(Self::from_number),
            _ => None,
        })
    }

    fn from_number(number: f64) -> Timestamp {
        Timestamp::from_millis(if number < MIN_MILLIS { number * 1000.0 } else { number } as i64)
    }

    fn from_text(text: &str) -> Option<Timestamp> {
        let without_zone = || format!("{text}Z").parse().ok();
        let number = || text.parse().ok().map(Self::from_number);
        text.parse().ok().or_else(number).or_else(without_zone)
    }
}

/// Parses a raw value into a type that accepts anything.
pub(crate) fn parse_or_default<'a, T: Deserialize<'a> + Default>(raw: Option<&'a RawValue>) -> T {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}

/// An object of type `T`; its default for any other value.
#[derive(Debug, Default, Clone)]
pub(crate) struct LenientObject<T>(pub(crate) T);

/// The objects of a list; empty for any other value. Elements of another type become the default of `T`.
#[derive(Debug, Clone)]
pub(crate) struct LenientList<T>(pub(crate) Vec<T>);

impl<T> Default for LenientList<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for LenientList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw: &'de RawValue = Deserialize::deserialize(deserializer)?;
        let list: Vec<LenientObject<T>> = serde_json::from_str(raw.get()).unwrap_or_default();
        Ok(Self(list.into_iter().map(|element| element.0).collect()))
    }
}

macro_rules! ignore_other {
    ($lifetime:lifetime, $value:ty, $($kind:ident),*) => { $( ignore_other!(@one $lifetime, $value, $kind); )* };
    (@one $lifetime:lifetime, $value:ty, bool) => {
        fn visit_bool<E>(self, _: bool) -> Result<$value, E> { Ok(<$value>::default()) }
    };
    (@one $lifetime:lifetime, $value:ty, numbers) => {
        fn visit_i64<E>(self, _: i64) -> Result<$value, E> { Ok(<$value>::default()) }
        fn visit_u64<E>(self, _: u64) -> Result<$value, E> { Ok(<$value>::default()) }
        fn visit_f64<E>(self, _: f64) -> Result<$value, E> { Ok(<$value>::default()) }
    };
    (@one $lifetime:lifetime, $value:ty, null) => {
        fn visit_unit<E>(self) -> Result<$value, E> { Ok(<$value>::default()) }
    };
    (@one $lifetime:lifetime, $value:ty, text) => {
        fn visit_str<E>(self, _: &str) -> Result<$value, E> { Ok(<$value>::default()) }
    };
    (@one $lifetime:lifetime, $value:ty, list) => {
        fn visit_seq<A: SeqAccess<$lifetime>>(self, mut list: A) -> Result<$value, A::Error> {
            while list.next_element::<IgnoredAny>()?.is_some() {}
            Ok(<$value>::default())
        }
    };
    (@one $lifetime:lifetime, $value:ty, object) => {
        fn visit_map<A: MapAccess<$lifetime>>(self, mut object: A) -> Result<$value, A::Error> {
            while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(<$value>::default())
        }
    };
}
pub(crate) use ignore_other;

impl<'de: 'a, 'a> Deserialize<'de> for LenientText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for TextVisitor<'a> {
            type Value = LenientText<'a>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<LenientText<'a>, E> {
                Ok(LenientText(Some(Cow::Borrowed(text))))
            }
            fn visit_str<E>(self, text: &str) -> Result<LenientText<'a>, E> {
                Ok(LenientText(Some(Cow::Owned(text.to_owned()))))
            }
            ignore_other!('de, LenientText<'a>, bool, numbers, null, list, object);
        }
        deserializer.deserialize_any(TextVisitor(PhantomData))
    }
}

impl<'de> Deserialize<'de> for LenientBool {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BoolVisitor;
        impl<'de> Visitor<'de> for BoolVisitor {
            type Value = LenientBool;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }
            fn visit_bool<E>(self, value: bool) -> Result<LenientBool, E> {
                Ok(LenientBool(value))
            }
            ignore_other!('de, LenientBool, numbers, null, text, list, object);
        }
        deserializer.deserialize_any(BoolVisitor)
    }
}

impl<'de> Deserialize<'de> for LenientNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberVisitor;
        impl<'de> Visitor<'de> for NumberVisitor {
            type Value = LenientNumber;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }
            fn visit_i64<E>(self, value: i64) -> Result<LenientNumber, E> {
                Ok(LenientNumber(Some(value as f64)))
            }
            fn visit_u64<E>(self, value: u64) -> Result<LenientNumber, E> {
                Ok(LenientNumber(Some(value as f64)))
            }
            fn visit_f64<E>(self, value: f64) -> Result<LenientNumber, E> {
                Ok(LenientNumber(Some(value)))
            }
            ignore_other!('de, LenientNumber, bool, null, text, list, object);
        }
        deserializer.deserialize_any(NumberVisitor)
    }
}

impl<'de> Deserialize<'de> for LenientTimestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw: &RawValue = Deserialize::deserialize(deserializer)?;
        Ok(Self(match raw.get().strip_prefix('"') {
            Some(text) => Self::from_text(text.trim_end_matches('"')),
            None => raw.get().parse().ok().map(Self::from_number),
        }))
    }
}

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for LenientObject<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de> + Default> Visitor<'de> for ObjectVisitor<T> {
            type Value = LenientObject<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }
            fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<LenientObject<T>, A::Error> {
                T::deserialize(serde::de::value::MapAccessDeserializer::new(object)).map(LenientObject)
            }
            ignore_other!('de, LenientObject<T>, bool, numbers, null, text, list);
        }
        deserializer.deserialize_any(ObjectVisitor(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize, Default)]
    #[serde(default)]
    struct LenientLine<'a> {
        #[serde(borrow)]
        text: LenientText<'a>,
        flag: LenientBool,
        number: LenientNumber,
        inner: LenientObject<LenientInner>,
    }
    #[derive(serde::Deserialize, Default)]
    #[serde(default)]
    struct LenientInner {
        flag: LenientBool,
    }

    #[test]
    fn values_of_the_wrong_type_read_as_missing() {
        for value in ["1", "-2.5", "null", "[1,{}]", "{\"a\":[]}", "true", "\"t\""] {
            let line = format!(r#"{{"text":{value},"flag":{value},"number":{value},"inner":{value},"other":{value}}}"#);
            let read: LenientLine<'_> = serde_json::from_str(&line).unwrap();
            assert_eq!(read.text.0.is_some(), value == "\"t\"");
            assert_eq!(read.flag.0, value == "true");
            assert_eq!(read.number.0.is_some(), value == "1" || value == "-2.5");
            assert!(!read.inner.0.flag.0);
        }
    }

    #[test]
    fn times_are_read_in_every_form_that_agents_write() {
        for (value, expect) in [
            ("\"2026-06-24T12:00:05.250Z\"", Some("2026-06-24T12:00:05.250Z")),
            ("\"2026-06-24T14:00:05+02:00\"", Some("2026-06-24T12:00:05.000Z")),
            ("\"2026-06-24 12:00:05\"", Some("2026-06-24T12:00:05.000Z")),
            ("\"2026-06-24T12:00:05.123456\"", Some("2026-06-24T12:00:05.123Z")),
            ("1782302405", Some("2026-06-24T12:00:05.000Z")),
            ("1782302405.5", Some("2026-06-24T12:00:05.500Z")),
            ("1782302405250", Some("2026-06-24T12:00:05.250Z")),
            ("\"1782302405250\"", Some("2026-06-24T12:00:05.250Z")),
            ("\"teatime\"", None),
            ("[1]", None),
            ("null", None),
        ] {
            let read: LenientTimestamp = serde_json::from_str(value).unwrap();
            assert_eq!(read.0.map(|at| at.to_string()).as_deref(), expect, "{value}");
        }
    }
}
