//! Serde types that accept any JSON value and keep only what has the expected shape.
//!
//! Foreign input never fails a parse: a number where a text should be reads as "nothing there".

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A text, borrowed from the line where it has no escapes; nothing for any other value.
#[derive(Debug, Default, Clone)]
pub(crate) struct Text<'a>(pub(crate) Option<Cow<'a, str>>);

impl<'a> Text<'a> {
    pub(crate) fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or("")
    }

    pub(crate) fn into_string(self) -> String {
        self.0.map(Cow::into_owned).unwrap_or_default()
    }

    /// The text, unless it is missing or empty.
    pub(crate) fn filled(self) -> Option<Cow<'a, str>> {
        self.0.filter(|text| !text.is_empty())
    }
}

/// A truth value; false for any other value.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Flag(pub(crate) bool);

/// A number; nothing for any other value.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Number(pub(crate) Option<f64>);

impl Number {
    /// As a count: never negative, never a fraction.
    pub(crate) fn count(self) -> u64 {
        self.0.filter(|number| *number > 0.0).map_or(0, |number| number as u64)
    }
}

/// An object of the given shape; its default for any other value.
#[derive(Debug, Default, Clone)]
pub(crate) struct Object<T>(pub(crate) T);

macro_rules! swallow {
    ($lifetime:lifetime, $value:ty, $($kind:ident),*) => { $( swallow!(@one $lifetime, $value, $kind); )* };
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
pub(crate) use swallow;

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for Read<'a> {
            type Value = Text<'a>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'a>, E> {
                Ok(Text(Some(Cow::Borrowed(text))))
            }
            fn visit_str<E>(self, text: &str) -> Result<Text<'a>, E> {
                Ok(Text(Some(Cow::Owned(text.to_owned()))))
            }
            swallow!('de, Text<'a>, bool, numbers, null, list, object);
        }
        deserializer.deserialize_any(Read(PhantomData))
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Flag;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }
            fn visit_bool<E>(self, value: bool) -> Result<Flag, E> {
                Ok(Flag(value))
            }
            swallow!('de, Flag, numbers, null, text, list, object);
        }
        deserializer.deserialize_any(Read)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Number;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }
            fn visit_i64<E>(self, value: i64) -> Result<Number, E> {
                Ok(Number(Some(value as f64)))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Number, E> {
                Ok(Number(Some(value as f64)))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Number, E> {
                Ok(Number(Some(value)))
            }
            swallow!('de, Number, bool, null, text, list, object);
        }
        deserializer.deserialize_any(Read)
    }
}

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de> + Default> Visitor<'de> for Read<T> {
            type Value = Object<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }
            fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Object<T>, A::Error> {
                T::deserialize(serde::de::value::MapAccessDeserializer::new(object)).map(Object)
            }
            swallow!('de, Object<T>, bool, numbers, null, text, list);
        }
        deserializer.deserialize_any(Read(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize, Default)]
    #[serde(default)]
    struct Line<'a> {
        #[serde(borrow)]
        text: Text<'a>,
        flag: Flag,
        number: Number,
        inner: Object<Inner>,
    }
    #[derive(serde::Deserialize, Default)]
    #[serde(default)]
    struct Inner {
        flag: Flag,
    }

    #[test]
    fn values_of_the_wrong_shape_read_as_nothing() {
        for value in ["1", "-2.5", "null", "[1,{}]", "{\"a\":[]}", "true", "\"t\""] {
            let line = format!(r#"{{"text":{value},"flag":{value},"number":{value},"inner":{value},"other":{value}}}"#);
            let read: Line<'_> = serde_json::from_str(&line).unwrap();
            assert_eq!(read.text.0.is_some(), value == "\"t\"");
            assert_eq!(read.flag.0, value == "true");
            assert_eq!(read.number.0.is_some(), value == "1" || value == "-2.5");
            assert!(!read.inner.0.flag.0);
        }
    }
}
