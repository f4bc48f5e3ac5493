//! Strict decoding of query strings: unknown keys, repeated keys and bad escapes are errors.
//!
//! Lists repeat their key (`kind=prompt&kind=answer`); every other key may be given once.

use std::fmt;

use serde::de::value::SeqDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, Visitor};
use serde::forward_to_deserialize_any;

/// More pairs than any route accepts.
const MAX_PAIRS: usize = 256;

/// An invalid query, with the message for the client.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct QueryError(String);

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for QueryError {}

impl Error for QueryError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

pub(super) fn decode<T: DeserializeOwned>(query: &str) -> Result<T, QueryError> {
    let mut pairs: Vec<(String, Vec<String>)> = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()).enumerate().map(|(at, pair)| (at < MAX_PAIRS, pair)) {
        let (true, pair) = pair else { return Err(QueryError(format!("more than {MAX_PAIRS} parameters"))) };
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (key, value) = (percent_decode(key)?, percent_decode(value)?);
        match pairs.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => pairs.push((key, vec![value])),
        }
    }
    T::deserialize(QueryDeserializer(QueryPairs { rest: pairs.into_iter(), value: None }))
}

/// Percent-decodes. A plus is a space, as HTML forms write it.
fn percent_decode(text: &str) -> Result<String, QueryError> {
    let bad = || QueryError(format!("invalid percent-encoding {:?}", text.chars().take(60).collect::<String>()));
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

/// Deserializes a struct from all pairs.
struct QueryDeserializer(QueryPairs);

impl<'de> Deserializer<'de> for QueryDeserializer {
    type Error = QueryError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, QueryError> {
        visitor.visit_map(self.0)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct
        seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// The pairs that are left.
struct QueryPairs {
    rest: std::vec::IntoIter<(String, Vec<String>)>,
    value: Option<(String, Vec<String>)>,
}

impl<'de> MapAccess<'de> for QueryPairs {
    type Error = QueryError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, QueryError> {
        let Some((key, values)) = self.rest.next() else { return Ok(None) };
        self.value = Some((key.clone(), values));
        seed.deserialize(key.into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, QueryError> {
        let (key, values) = self.value.take().unwrap_or_default();
        seed.deserialize(QueryValues(values)).map_err(|QueryError(why)| QueryError(format!("{key}: {why}")))
    }
}

/// All values given for one key.
struct QueryValues(Vec<String>);

impl QueryValues {
    fn single(mut self) -> Result<String, QueryError> {
        match (self.0.pop(), self.0.is_empty()) {
            (Some(value), true) => Ok(value),
            _ => Err(QueryError("given more than once".to_owned())),
        }
    }
}

impl IntoDeserializer<'_, QueryError> for QueryValues {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for QueryValues {
    type Error = QueryError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, QueryError> {
        visitor.visit_string(self.single()?)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, QueryError> {
        match self.single()?.as_str() {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            _ => Err(QueryError("expected true or false".to_owned())),
        }
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, QueryError> {
        let text = self.single()?;
        // `parse` would accept a leading plus.
        let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|_| is_plain);
        visitor.visit_u64(number.ok_or_else(|| QueryError("expected an integer of at most 64 bits".to_owned()))?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, QueryError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, QueryError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, QueryError> {
        let each = self.0.into_iter().map(|value| QueryValues(vec![value]));
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
    struct QueryTestParams {
        text: String,
        limit: Option<u64>,
        kind: Vec<String>,
        include_empty: bool,
    }

    fn check(query: &str) -> Result<QueryTestParams, String> {
        decode(query).map_err(|QueryError(why)| why)
    }

    #[test]
    fn values_are_decoded_by_type() {
        assert_eq!(check(""), Ok(QueryTestParams::default()));
        let params = check("text=a%2Bb+%E2%82%AC&limit=7&kind=x&includeEmpty=true&kind=y%2Cz&").unwrap();
        assert_eq!((params.text.as_str(), params.limit, params.include_empty), ("a+b €", Some(7), true));
        assert_eq!(params.kind, ["x", "y,z"], "commas do not split values");
        assert_eq!(check("kind=").unwrap().kind, [""]);
    }

    #[test]
    fn invalid_parameters_are_rejected_by_name() {
        let why = |query: &str| check(query).unwrap_err();
        assert!(why("limt=7").contains("limt"));
        assert_eq!(why("limit=7&limit=8"), "limit: given more than once");
        for number in ["", "-1", "1.5", "+1", "1e3", "x", "99999999999999999999"] {
            assert!(why(&format!("limit={number}")).starts_with("limit: expected an integer"), "{number}");
        }
        assert_eq!(why("includeEmpty=yes"), "includeEmpty: expected true or false");
        for text in ["text=%", "text=%e", "text=%zz", "text=%ff", "%c3=1"] {
            assert!(why(text).contains("invalid percent-encoding"), "{text}");
        }
        assert!(why(&"kind=x&".repeat(MAX_PAIRS + 1)).starts_with("more than"));
    }
}
