//! Serde types that accept any JSON value and keep only what has the expected type.
//!
//! Foreign input never fails a parse: a number where a string is expected reads as missing.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

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

impl LenientNumber {
    /// As a count: fractions are dropped, negative numbers become 0.
    pub(crate) fn count(self) -> u64 {
        self.0.filter(|number| *number > 0.0).map_or(0, |number| number as u64)
    }
}

/// An object of type `T`; its default for any other value.
#[derive(Debug, Default, Clone)]
pub(crate) struct LenientObject<T>(pub(crate) T);

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
}
