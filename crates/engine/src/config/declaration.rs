//! How a setting is declared: its type together with default and valid values, so that they cannot disagree.

use std::ops::RangeInclusive;
use std::slice::Iter;

use rethread_llm::NanoUsd;
use rethread_model::Agent;

use super::keys::SettingKind;
use super::{Setting, SettingValue};

/// A setting of type `T`.
pub(super) struct Declaration<T> {
    pub(super) kind: SettingKind,
    /// Reads a value that is valid for the kind.
    read: fn(&SettingValue) -> T,
}

impl<T> Declaration<T> {
    /// The typed value of the next entry.
    pub(super) fn read_next(&self, entries: &mut Iter<'_, Setting>) -> T {
        match entries.next() {
            Some(entry) => (self.read)(&entry.value),
            None => (self.read)(&self.kind.default_value()),
        }
    }
}

/// A type with a fixed set of values.
pub(super) trait SettingChoice: Copy + PartialEq + 'static {
    /// Names and values in the order of the reference; at least one.
    const CHOICES: &'static [(&'static str, Self)];
}

pub(super) fn flag(default: bool) -> Declaration<bool> {
    Declaration { kind: SettingKind::Flag(default), read: |value| *value == SettingValue::Flag(true) }
}

pub(super) fn number(default: u64) -> Declaration<u64> {
    // TOML has no larger integers.
    bounded(default, 0..=i64::MAX as u64)
}

pub(super) fn bounded(default: u64, range: RangeInclusive<u64>) -> Declaration<u64> {
    let read = |value: &SettingValue| if let SettingValue::Number(number) = value { *number } else { 0 };
    Declaration { kind: SettingKind::Number { default, range }, read }
}

/// Any string; empty by default.
pub(super) fn text() -> Declaration<String> {
    text_or("")
}

pub(super) fn text_or(default: &'static str) -> Declaration<String> {
    Declaration { kind: SettingKind::Text(default), read: ToString::to_string }
}

/// The address of a store; empty by default.
pub(super) fn store_url() -> Declaration<String> {
    Declaration { kind: SettingKind::StoreUrl, read: ToString::to_string }
}

/// Dollars; none by default.
pub(super) fn money() -> Declaration<Option<NanoUsd>> {
    Declaration { kind: SettingKind::Money, read: |value| value.to_string().parse().ok() }
}

/// Strings; none by default.
pub(super) fn list() -> Declaration<Vec<String>> {
    Declaration { kind: SettingKind::List { is_joined: false }, read: |value| value.items().to_vec() }
}

/// Strings; the lists of all layers together.
pub(super) fn joined_list() -> Declaration<Vec<String>> {
    Declaration { kind: SettingKind::List { is_joined: true }, ..list() }
}

/// Names of agents; by default all of them except those that the user has to choose.
pub(super) fn agents() -> Declaration<Vec<Agent>> {
    let names = Agent::EXTERNAL.into_iter().map(Agent::as_str).collect();
    let default = Agent::EXTERNAL.into_iter().filter(|agent| !agent.is_opt_in()).map(Agent::as_str).collect();
    Declaration { kind: SettingKind::Names { names, default }, read: |value| selected_agents(value.items()) }
}

/// The agents of a list. `+` before a name adds it to those that are read by default.
pub(super) fn selected_agents(names: &[String]) -> Vec<Agent> {
    let named: Vec<Agent> = names.iter().filter_map(|name| without_plus(name).parse().ok()).collect();
    if !names.iter().any(|name| name.starts_with('+')) {
        return named;
    }
    Agent::EXTERNAL.into_iter().filter(|agent| !agent.is_opt_in() || named.contains(agent)).collect()
}

/// A name of a list without the mark that adds it to the default.
pub(super) fn without_plus(name: &str) -> &str {
    name.strip_prefix('+').unwrap_or(name)
}

pub(super) fn choice<C: SettingChoice>(default: C) -> Declaration<C> {
    let named = C::CHOICES.iter().find(|(_, value)| *value == default);
    let names = C::CHOICES.iter().map(|(name, _)| *name).collect();
    let read = |value: &SettingValue| {
        let name = value.to_string();
        C::CHOICES.iter().find(|(choice, _)| *choice == name).unwrap_or(&C::CHOICES[0]).1
    };
    Declaration { kind: SettingKind::Choice { default: named.map_or("", |(name, _)| *name), names }, read }
}
