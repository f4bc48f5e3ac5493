//! What is known of a setting without its value: name, help text, default and valid values.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use super::{SettingValue, Settings};

/// The type of a setting, with its default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SettingKind {
    Flag(bool),
    Number {
        default: u64,
        range: RangeInclusive<u64>,
    },
    /// Empty by default. If joined, a layer adds to the list of weaker layers instead of replacing it.
    List {
        is_joined: bool,
    },
    /// A list of names.
    Names {
        /// The names that may be used.
        names: Vec<&'static str>,
        /// The names that are used if the setting is not set.
        default: Vec<&'static str>,
    },
    Choice {
        default: &'static str,
        names: Vec<&'static str>,
    },
    Text(&'static str),
    /// An amount in US dollars; empty by default.
    Money,
    /// The address of a store on a server, without a password; empty by default.
    StoreUrl,
}

/// The definition of a setting.
#[derive(Debug, PartialEq, Eq)]
pub struct SettingKey {
    /// `section.field`.
    pub name: Cow<'static, str>,
    /// Help text for the reference.
    pub help: Cow<'static, str>,
    pub(super) kind: SettingKind,
}

/// All settings, in the order of the reference.
pub static SETTING_KEYS: LazyLock<Vec<SettingKey>> = LazyLock::new(Settings::keys);

impl SettingKind {
    pub(super) fn default_value(&self) -> SettingValue {
        match self {
            Self::Flag(flag) => SettingValue::Flag(*flag),
            Self::Number { default, .. } => SettingValue::Number(*default),
            Self::List { .. } => SettingValue::List(Vec::new()),
            Self::Names { default, .. } => SettingValue::List(default.iter().map(ToString::to_string).collect()),
            Self::Choice { default, .. } | Self::Text(default) => SettingValue::Text((*default).to_owned()),
            Self::Money | Self::StoreUrl => SettingValue::Text(String::new()),
        }
    }
}

impl SettingKey {
    pub(super) fn new(
        name: impl Into<Cow<'static, str>>,
        kind: SettingKind,
        help: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { name: name.into(), help: help.into(), kind }
    }

    /// The built-in value.
    pub fn default_value(&self) -> SettingValue {
        self.kind.default_value()
    }

    /// The environment variable that sets it: `RETHREAD_SECTION_FIELD`.
    pub fn env_variable(&self) -> String {
        format!("RETHREAD_{}", self.name.replace(['.', '-'], "_").to_uppercase())
    }

    /// A description of valid values, for error messages and the reference.
    pub fn expected_value(&self) -> String {
        match &self.kind {
            SettingKind::Flag(_) => "true or false".to_owned(),
            SettingKind::Number { range, .. } => match (*range.start(), *range.end()) {
                (0, end) if end == i64::MAX as u64 => "a whole number".to_owned(),
                (start, end) if end == i64::MAX as u64 => format!("a whole number of at least {start}"),
                (start, end) => format!("a whole number from {start} to {end}"),
            },
            SettingKind::List { .. } => "a list of strings".to_owned(),
            SettingKind::Names { names, .. } => {
                format!("a list of {}; + before a name adds it to the default", names.join(", "))
            }
            SettingKind::Choice { names, .. } => names.join(" or "),
            SettingKind::Text(_) => "a string".to_owned(),
            SettingKind::Money => "dollars, such as 0.25".to_owned(),
            SettingKind::StoreUrl => "postgres://USER@HOST/DATABASE, without a password".to_owned(),
        }
    }

    pub(super) fn section_and_field(&self) -> (&str, &str) {
        self.name.split_once('.').unwrap_or((&self.name, ""))
    }
}
