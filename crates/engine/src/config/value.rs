//! The value of a setting: read from TOML or from a text, written back to TOML.

use rethread_llm::NanoUsd;
use toml_edit::Item;

use super::ConfigError;
use super::keys::{Key, Shape};

/// The value of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// True or false.
    Flag(bool),
    /// A whole number.
    Number(u64),
    /// A text.
    Text(String),
    /// A list of texts.
    List(Vec<String>),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Flag(flag) => write!(f, "{flag}"),
            Value::Number(number) => write!(f, "{number}"),
            Value::Text(text) => f.write_str(text),
            Value::List(list) => f.write_str(&list.join(",")),
        }
    }
}

impl Value {
    /// From a text, as given on the command line or in the environment. Lists are separated by commas.
    pub(super) fn parse(key: &'static Key, text: &str) -> Result<Self, ConfigError> {
        let value = match key.shape {
            Shape::Flag(_) => match text {
                "true" | "1" | "yes" | "on" => Some(Value::Flag(true)),
                "false" | "0" | "no" | "off" => Some(Value::Flag(false)),
                _ => None,
            },
            Shape::Number(_) => text.parse().ok().map(Value::Number),
            Shape::List(_) | Shape::Names(_) => {
                let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
                Some(Value::List(parts.map(str::to_owned).collect()))
            }
            Shape::Text | Shape::Word(_) | Shape::Money => Some(Value::Text(text.trim().to_owned())),
            Shape::Choice(_, choices) => choices.contains(&text).then(|| Value::Text(text.to_owned())),
        };
        value.filter(|value| value.fits(key)).ok_or_else(|| ConfigError::BadValue {
            key: key.name,
            expected: key.expected(),
            given: text.to_owned(),
        })
    }

    pub(super) fn from_toml(key: &Key, item: &Item) -> Option<Self> {
        let value = match key.shape {
            Shape::Flag(_) => item.as_bool().map(Value::Flag),
            Shape::Number(_) => item.as_integer().and_then(|number| u64::try_from(number).ok()).map(Value::Number),
            Shape::List(_) | Shape::Names(_) => {
                let texts = item.as_array()?.iter().map(|value| value.as_str().map(str::to_owned));
                texts.collect::<Option<Vec<_>>>().map(Value::List)
            }
            Shape::Text | Shape::Word(_) => item.as_str().map(|text| Value::Text(text.to_owned())),
            // Sums are texts, so that none is rounded; bare numbers are what people write.
            Shape::Money => {
                let number =
                    || item.as_float().map(|sum| sum.to_string()).or(item.as_integer().map(|sum| sum.to_string()));
                item.as_str().map(str::to_owned).or_else(number).map(Value::Text)
            }
            Shape::Choice(_, choices) => {
                item.as_str().filter(|text| choices.contains(text)).map(|text| Value::Text(text.to_owned()))
            }
        };
        value.filter(|value| value.fits(key))
    }

    /// Whether a list of names holds only names that exist, and a sum of money is one.
    fn fits(&self, key: &Key) -> bool {
        match (key.shape, self) {
            (Shape::Names(names), Value::List(list)) => list.iter().all(|name| names.contains(&name.as_str())),
            (Shape::Money, Value::Text(text)) => text.is_empty() || text.parse::<NanoUsd>().is_ok(),
            _ => true,
        }
    }

    pub(super) fn to_toml(&self) -> Item {
        match self {
            Value::Flag(flag) => toml_edit::value(*flag),
            Value::Number(number) => toml_edit::value(i64::try_from(*number).unwrap_or(i64::MAX)),
            Value::Text(text) => toml_edit::value(text.as_str()),
            Value::List(list) => toml_edit::value(list.iter().collect::<toml_edit::Array>()),
        }
    }
}
