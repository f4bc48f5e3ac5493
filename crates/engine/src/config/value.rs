//! Setting values: parsed from TOML or from text, and written back to TOML.

use rethread_llm::NanoUsd;
use rethread_store::StoreLocation;
use toml_edit::Item;

use super::ConfigError;
use super::declaration::without_plus;
use super::keys::{SettingKey, SettingKind};

/// The value of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingValue {
    /// `true` or `false`.
    Flag(bool),
    /// A non-negative integer.
    Number(u64),
    /// A string.
    Text(String),
    /// A list of strings.
    List(Vec<String>),
}

impl std::fmt::Display for SettingValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SettingValue::Flag(flag) => write!(f, "{flag}"),
            SettingValue::Number(number) => write!(f, "{number}"),
            SettingValue::Text(text) => f.write_str(text),
            SettingValue::List(list) => f.write_str(&list.join(",")),
        }
    }
}

impl SettingValue {
    /// The items of a list; empty for other values.
    pub(super) fn items(&self) -> &[String] {
        if let SettingValue::List(items) = self { items } else { &[] }
    }

    /// Parses text from the command line or an environment variable. List items are separated by commas.
    pub(super) fn parse(key: &'static SettingKey, text: &str) -> Result<Self, ConfigError> {
        let value = match &key.kind {
            SettingKind::Flag(_) => match text {
                "true" | "1" | "yes" | "on" => Some(SettingValue::Flag(true)),
                "false" | "0" | "no" | "off" => Some(SettingValue::Flag(false)),
                _ => None,
            },
            SettingKind::Number { .. } => text.parse().ok().map(SettingValue::Number),
            // Lists are also written as in the file: `["a", "b"]`.
            SettingKind::List { .. } | SettingKind::Names { .. } if text.trim_start().starts_with('[') => {
                serde_json::from_str(text).ok().map(SettingValue::List)
            }
            SettingKind::List { .. } | SettingKind::Names { .. } => {
                let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
                Some(SettingValue::List(parts.map(str::to_owned).collect()))
            }
            SettingKind::Text(_) | SettingKind::Money | SettingKind::StoreUrl => {
                Some(SettingValue::Text(text.trim().to_owned()))
            }
            SettingKind::Choice { names, .. } => names.contains(&text).then(|| SettingValue::Text(text.to_owned())),
        };
        value.filter(|value| value.is_valid(key)).ok_or_else(|| ConfigError::InvalidValue {
            key: &key.name,
            expected: key.expected_value(),
            // It may have a password.
            given: if key.kind == SettingKind::StoreUrl { "…".to_owned() } else { text.to_owned() },
        })
    }

    pub(super) fn from_toml(key: &SettingKey, item: &Item) -> Option<Self> {
        let value = match &key.kind {
            SettingKind::Flag(_) => item.as_bool().map(SettingValue::Flag),
            SettingKind::Number { .. } => {
                item.as_integer().and_then(|number| u64::try_from(number).ok()).map(SettingValue::Number)
            }
            SettingKind::List { .. } | SettingKind::Names { .. } => {
                let texts = item.as_array()?.iter().map(|value| value.as_str().map(str::to_owned));
                texts.collect::<Option<Vec<_>>>().map(SettingValue::List)
            }
            SettingKind::Text(_) | SettingKind::StoreUrl => {
                item.as_str().map(|text| SettingValue::Text(text.to_owned()))
            }
            // Amounts are stored as strings to avoid rounding, but users also write bare numbers.
            SettingKind::Money => {
                let number =
                    || item.as_float().map(|sum| sum.to_string()).or(item.as_integer().map(|sum| sum.to_string()));
                item.as_str().map(str::to_owned).or_else(number).map(SettingValue::Text)
            }
            SettingKind::Choice { names, .. } => {
                item.as_str().filter(|text| names.contains(text)).map(|text| SettingValue::Text(text.to_owned()))
            }
        };
        value.filter(|value| value.is_valid(key))
    }

    /// Whether a number is in its range, every name in a list is a known one, an amount of money parses, and an address of
    /// a store has no password.
    fn is_valid(&self, key: &SettingKey) -> bool {
        match (&key.kind, self) {
            (SettingKind::Number { range, .. }, SettingValue::Number(number)) => range.contains(number),
            (SettingKind::Names { names, .. }, SettingValue::List(list)) => {
                list.iter().all(|name| names.contains(&without_plus(name)))
            }
            (SettingKind::Money, SettingValue::Text(text)) => text.is_empty() || text.parse::<NanoUsd>().is_ok(),
            (SettingKind::StoreUrl, SettingValue::Text(text)) => {
                text.is_empty() || (StoreLocation::is_url(text) && !StoreLocation::has_password(text))
            }
            _ => true,
        }
    }

    pub(super) fn to_toml(&self) -> Item {
        match self {
            SettingValue::Flag(flag) => toml_edit::value(*flag),
            SettingValue::Number(number) => toml_edit::value(i64::try_from(*number).unwrap_or(i64::MAX)),
            SettingValue::Text(text) => toml_edit::value(text.as_str()),
            SettingValue::List(list) => toml_edit::value(list.iter().collect::<toml_edit::Array>()),
        }
    }
}
