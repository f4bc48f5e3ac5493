//! What stands after the question mark of an address, decoded strictly: nothing is guessed, and nothing is passed over.
//!
//! A list is its key repeated (`kind=prompt&kind=answer`); every other key may be given once.

use std::fmt;

use serde::de::value::SeqDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, Visitor};
use serde::forward_to_deserialize_any;

/// More keys and values than any route takes.
const MOST_PAIRS: usize = 256;

/// Why a query is not what a route takes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadQuery(String);

impl fmt::Display for BadQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadQuery {}

impl Error for BadQuery {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// Decodes a query.
pub(super) fn decode<T: DeserializeOwned>(query: &str) -> Result<T, BadQuery> {
    let mut pairs: Vec<(String, Vec<String>)> = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()).enumerate().map(|(at, pair)| (at < MOST_PAIRS, pair)) {
        let (true, pair) = pair else { return Err(BadQuery(format!("more than {MOST_PAIRS} parameters"))) };
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (key, value) = (plain(key)?, plain(value)?);
        match pairs.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => pairs.push((key, vec![value])),
        }
    }
    T::deserialize(Whole(Pairs { rest: pairs.into_iter(), value: None }))
}

/// A text without its escapes. A plus is a space, as forms write it.
fn plain(text: &str) -> Result<String, BadQuery> {
    let bad = || BadQuery(format!("{:?} is not written as addresses are", text.chars().take(60).collect::<String>()));
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = [rest.next().ok_or_else(bad)?, rest.next().ok_or_else(bad)?];
                let digit = |byte: u8| (byte as char).to_digit(16).ok_or_else(bad);
                bytes.push((digit(digits[0])? * 16 + digit(digits[1])?) as u8);
            }
            other => bytes.push(other),
        }
    }
    String::from_utf8(bytes).map_err(|_| bad())
}

/// All pairs, as a struct reads them.
struct Whole(Pairs);

impl<'de> Deserializer<'de> for Whole {
    type Error = BadQuery;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadQuery> {
        visitor.visit_map(self.0)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct
        seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// The pairs that were not read yet.
struct Pairs {
    rest: std::vec::IntoIter<(String, Vec<String>)>,
    value: Option<(String, Vec<String>)>,
}

impl<'de> MapAccess<'de> for Pairs {
    type Error = BadQuery;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, BadQuery> {
        let Some((key, values)) = self.rest.next() else { return Ok(None) };
        self.value = Some((key.clone(), values));
        seed.deserialize(key.into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, BadQuery> {
        let (key, values) = self.value.take().unwrap_or_default();
        seed.deserialize(Values(values)).map_err(|BadQuery(why)| BadQuery(format!("{key}: {why}")))
    }
}

/// Everything that was given for one key.
struct Values(Vec<String>);

impl Values {
    fn one(mut self) -> Result<String, BadQuery> {
        match (self.0.pop(), self.0.is_empty()) {
            (Some(value), true) => Ok(value),
            _ => Err(BadQuery("it may be given once".to_owned())),
        }
    }
}

impl IntoDeserializer<'_, BadQuery> for Values {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Values {
    type Error = BadQuery;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadQuery> {
        visitor.visit_string(self.one()?)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadQuery> {
        match self.one()?.as_str() {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            _ => Err(BadQuery("expected true or false".to_owned())),
        }
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadQuery> {
        let text = self.one()?;
        // A plus before a number was a space, and is no number.
        let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|_| is_plain);
        visitor.visit_u64(number.ok_or_else(|| BadQuery("expected a whole number that is not too large".to_owned()))?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadQuery> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, BadQuery> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadQuery> {
        let each = self.0.into_iter().map(|value| Values(vec![value]));
        visitor.visit_seq(SeqDeserializer::new(each))
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 u8 u16 u32 f32 f64 char str string bytes byte_buf unit unit_struct tuple tuple_struct map struct
        enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Default, PartialEq, Eq, Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields, default)]
    struct Asked {
        text: String,
        limit: Option<u64>,
        kind: Vec<String>,
        include_empty: bool,
    }

    fn check(query: &str) -> Result<Asked, String> {
        decode(query).map_err(|BadQuery(why)| why)
    }

    #[test]
    fn each_key_is_read_as_what_it_is() {
        assert_eq!(check(""), Ok(Asked::default()));
        let asked = check("text=a%2Bb+%E2%82%AC&limit=7&kind=x&includeEmpty=true&kind=y%2Cz&").unwrap();
        assert_eq!((asked.text.as_str(), asked.limit, asked.include_empty), ("a+b €", Some(7), true));
        assert_eq!(asked.kind, ["x", "y,z"], "a comma is a part of a name");
        assert_eq!(check("kind=").unwrap().kind, [""]);
    }

    #[test]
    fn what_is_not_understood_is_refused_by_name() {
        let why = |query: &str| check(query).unwrap_err();
        assert!(why("limt=7").contains("limt"));
        assert_eq!(why("limit=7&limit=8"), "limit: it may be given once");
        for number in ["", "-1", "1.5", "+1", "1e3", "x", "99999999999999999999"] {
            assert!(why(&format!("limit={number}")).starts_with("limit: expected a whole number"), "{number}");
        }
        assert_eq!(why("includeEmpty=yes"), "includeEmpty: expected true or false");
        for text in ["text=%", "text=%e", "text=%zz", "text=%ff", "%c3=1"] {
            assert!(why(text).contains("not written as addresses are"), "{text}");
        }
        assert!(why(&"kind=x&".repeat(MOST_PAIRS + 1)).starts_with("more than"));
    }
}
