//! Adds and removes our entries in TOML. Comments and formatting stay.

use serde_json::Value;
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, TableLike, Value as TomlValue};

use super::super::entry::{NAME, Owner, SettingsEntry, SettingsProblem, includes};
use super::EditError;

/// Parses a document.
pub(super) fn parse(text: &str) -> Result<Value, std::io::Error> {
    let document: DocumentMut = text.parse().map_err(std::io::Error::other)?;
    Ok(table_to_json(document.as_table()))
}

/// The settings with each of our entries exactly once and up to date.
pub(super) fn with(text: &str, entries: &[SettingsEntry], owner: &Owner<'_>) -> Result<String, EditError> {
    edit(text, |document| entries.iter().try_for_each(|entry| place(document, entry, owner)))
        .unwrap_or_else(|| Err(EditError::Unclear { lines: as_lines(entries) }))
}

/// The settings without our entries; `None` if they cannot be changed.
pub(super) fn without(text: &str, entries: &[SettingsEntry], owner: &Owner<'_>) -> Option<String> {
    let edited = edit(text, |document| {
        for entry in entries {
            remove(document, entry, owner);
        }
        Ok(())
    });
    edited?.ok()
}

/// Changes a document; `None` if its line ends would change with it, because some are not like the others.
fn edit(
    text: &str,
    change: impl FnOnce(&mut DocumentMut) -> Result<(), SettingsProblem>,
) -> Option<Result<String, EditError>> {
    let has_returns = text.contains("\r\n");
    // toml_edit ends every line with a line break, and so the last one gets it if it has none.
    let line_end = if has_returns { "\r\n" } else { "\n" };
    let ended = if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}{line_end}") };
    let plain = ended.replace("\r\n", "\n");
    let restore = |edited: String| if has_returns { edited.replace('\n', "\r\n") } else { edited };
    let mut document: DocumentMut = plain.parse().ok()?;
    if restore(document.to_string()) != ended {
        return None;
    }
    let changed = change(&mut document).map_err(EditError::from);
    // Each table of ours has an empty line before it, which the first one in a new file does not need.
    let edited = || if text.is_empty() { document.to_string().trim_start().to_owned() } else { document.to_string() };
    Some(changed.map(|()| restore(edited())))
}

fn place(document: &mut DocumentMut, entry: &SettingsEntry, owner: &Owner<'_>) -> Result<(), SettingsProblem> {
    match entry {
        SettingsEntry::Items(list, values) => {
            let (key, above) = list.split_last().unwrap_or((&"", &[]));
            let table = table_at_or_set(document.as_table_mut(), above)?;
            let item = table.entry(key).or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
            place_items(item, values, owner).ok_or_else(|| SettingsProblem::new(list, "a list"))
        }
        SettingsEntry::Member(object, value) => {
            let table = table_at_or_set(document.as_table_mut(), object)?;
            place_member(table, value, owner);
            Ok(())
        }
        SettingsEntry::Hooks(..) | SettingsEntry::Default(..) => Err(SettingsProblem::new(&[], "JSON")),
    }
}

fn remove(document: &mut DocumentMut, entry: &SettingsEntry, owner: &Owner<'_>) {
    match entry {
        SettingsEntry::Items(list, values) => {
            let (key, above) = list.split_last().unwrap_or((&"", &[]));
            let Some(table) = table_at(document.as_table_mut(), above) else { return };
            let is_empty = match table.get_mut(key) {
                Some(Item::ArrayOfTables(tables)) => {
                    let before = tables.len();
                    tables.retain(|table| !owner.is_our_item(&table_to_json(table), values));
                    tables.len() < before && tables.is_empty()
                }
                Some(Item::Value(TomlValue::Array(array))) => {
                    let before = array.len();
                    array.retain(|value| !owner.is_our_item(&value_to_json(value), values));
                    array.len() < before && array.is_empty()
                }
                _ => false,
            };
            if is_empty {
                table.remove(key);
            }
        }
        SettingsEntry::Member(object, wanted) => {
            let Some(table) = table_at(document.as_table_mut(), object) else { return };
            let known = table.get(NAME).map(item_to_json);
            if known.is_some_and(|known| owner.is_our_member(&known, wanted)) {
                table.remove(NAME);
                if table.is_empty() {
                    document.remove(object.first().unwrap_or(&""));
                }
            }
        }
        SettingsEntry::Hooks(..) | SettingsEntry::Default(..) => {}
    }
}

fn table_at<'d>(root: &'d mut Table, keys: &[&str]) -> Option<&'d mut dyn TableLike> {
    let mut table: &mut dyn TableLike = root;
    for key in keys {
        table = table.get_mut(key)?.as_table_like_mut()?;
    }
    Some(table)
}

fn table_at_or_set<'d>(root: &'d mut Table, keys: &[&str]) -> Result<&'d mut dyn TableLike, SettingsProblem> {
    let mut table: &mut dyn TableLike = root;
    for (depth, key) in keys.iter().enumerate() {
        let implicit = || {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        };
        let item = table.entry(key).or_insert_with(implicit);
        table = item.as_table_like_mut().ok_or_else(|| SettingsProblem::new(&keys[..=depth], "a table"))?;
    }
    Ok(table)
}

/// Keeps each wanted value that is there, adds the others and removes outdated ones. `None` if it is not a list.
fn place_items(item: &mut Item, values: &[Value], owner: &Owner<'_>) -> Option<()> {
    let mut missing: Vec<&Value> = values.iter().collect();
    let mut is_kept = |item: &Value| {
        if !owner.is_our_item(item, values) {
            return true;
        }
        let at = missing.iter().position(|value| includes(item, value));
        at.map(|at| missing.remove(at)).is_some()
    };
    match item {
        Item::ArrayOfTables(tables) => {
            tables.retain(|table| is_kept(&table_to_json(table)));
            tables.extend(missing.into_iter().map(to_table));
        }
        Item::Value(TomlValue::Array(array)) => {
            array.retain(|value| is_kept(&value_to_json(value)));
            array.extend(missing.into_iter().map(to_value));
        }
        _ => return None,
    }
    Some(())
}

/// Sets our key. A value that the user set up in another way stays, and so does what the user added to ours.
fn place_member(table: &mut dyn TableLike, wanted: &Value, owner: &Owner<'_>) {
    let Some(known) = table.get(NAME).map(item_to_json) else {
        let is_inline = table.get_values().len() == table.len() && !table.is_empty();
        let item = if is_inline { Item::Value(to_value(wanted)) } else { Item::Table(to_table(wanted)) };
        table.insert(NAME, item);
        return;
    };
    if !owner.is_our_member(&known, wanted) || owner.is_current_member(&known, wanted) {
        return;
    }
    let Some(ours) = table.get_mut(NAME).and_then(Item::as_table_like_mut) else { return };
    for (key, value) in wanted.as_object().into_iter().flatten() {
        if ours.get(key).map(item_to_json).as_ref() != Some(value) {
            ours.insert(key, Item::Value(to_value(value)));
        }
    }
}

fn to_table(value: &Value) -> Table {
    let mut table = Table::new();
    for (key, value) in value.as_object().into_iter().flatten() {
        table.insert(key, Item::Value(to_value(value)));
    }
    table.decor_mut().set_prefix("\n");
    table
}

fn to_value(value: &Value) -> TomlValue {
    match value {
        // TOML has no null, and we never write one.
        Value::Null => TomlValue::from(""),
        Value::Bool(value) => TomlValue::from(*value),
        Value::Number(number) => {
            number.as_i64().map_or_else(|| TomlValue::from(number.as_f64().unwrap_or_default()), TomlValue::from)
        }
        Value::String(text) => TomlValue::from(text.as_str()),
        Value::Array(list) => TomlValue::Array(list.iter().map(to_value).collect::<Array>()),
        Value::Object(map) => {
            TomlValue::InlineTable(map.iter().map(|(key, value)| (key.as_str(), to_value(value))).collect())
        }
    }
}

fn table_to_json(table: &Table) -> Value {
    Value::Object(table.iter().map(|(key, item)| (key.to_owned(), item_to_json(item))).collect())
}

fn item_to_json(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => value_to_json(value),
        Item::Table(table) => table_to_json(table),
        Item::ArrayOfTables(tables) => Value::Array(tables.iter().map(table_to_json).collect()),
    }
}

fn value_to_json(value: &TomlValue) -> Value {
    match value {
        TomlValue::String(text) => Value::from(text.value().as_str()),
        TomlValue::Integer(number) => Value::from(*number.value()),
        TomlValue::Float(number) => Value::from(*number.value()),
        TomlValue::Boolean(value) => Value::from(*value.value()),
        TomlValue::Datetime(time) => Value::from(time.value().to_string()),
        TomlValue::Array(array) => Value::Array(array.iter().map(value_to_json).collect()),
        TomlValue::InlineTable(table) => {
            Value::Object(table.iter().map(|(key, value)| (key.to_owned(), value_to_json(value))).collect())
        }
    }
}

/// The entries as a document of their own.
fn as_lines(entries: &[SettingsEntry]) -> String {
    let mut document = DocumentMut::new();
    let owner = Owner { agent: rethread_model::Agent::Native, binary: None };
    for entry in entries {
        // An empty document takes every entry.
        let _ = place(&mut document, entry, &owner);
    }
    document.to_string().trim().to_owned()
}
