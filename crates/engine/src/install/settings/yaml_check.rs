//! Compares YAML before and after a change: nothing but our entry may differ.

use serde_json::{Map, Value, json};

use super::super::entry::{KeyPath, NAME, Owner, SettingsEntry, includes, value_at};

/// Whether everything of an entry is there, unless the user set it up in another way.
pub(super) fn is_complete(settings: &Value, entry: &SettingsEntry, owner: &Owner<'_>) -> bool {
    match entry {
        SettingsEntry::Member(object, wanted) => {
            let member = value_at(settings, object).and_then(|object| object.get(NAME));
            member.is_some_and(|member| owner.is_current_member(member, wanted) || !owner.is_our_member(member, wanted))
        }
        SettingsEntry::Items(list, values) => {
            let items = value_at(settings, list).and_then(Value::as_array);
            items.is_some_and(|items| values.iter().all(|value| items.iter().any(|item| includes(item, value))))
        }
        SettingsEntry::Hooks(..) | SettingsEntry::Default(..) => true,
    }
}

/// The settings without our entry and without empty containers around it.
pub(super) fn stripped(settings: &Value, entry: &SettingsEntry, owner: &Owner<'_>) -> Value {
    let mut settings = settings.clone();
    let keys: KeyPath = match entry {
        SettingsEntry::Member(keys, _) | SettingsEntry::Items(keys, _) => keys,
        SettingsEntry::Default(key, _) => {
            settings.as_object_mut().map(|object| object.shift_remove(*key));
            return if settings.is_null() { json!({}) } else { settings };
        }
        SettingsEntry::Hooks(..) => return settings,
    };
    strip(&mut settings, keys, entry, owner);
    if settings.is_null() { json!({}) } else { settings }
}

fn strip(value: &mut Value, keys: &[&str], entry: &SettingsEntry, owner: &Owner<'_>) {
    if let Some((key, rest)) = keys.split_first() {
        let Some(object) = value.as_object_mut() else { return };
        let Some(inner) = object.get_mut(*key) else { return };
        strip(inner, rest, entry, owner);
        let is_empty = inner.is_null()
            || inner.as_object().is_some_and(Map::is_empty)
            || inner.as_array().is_some_and(Vec::is_empty);
        if is_empty {
            object.shift_remove(*key);
        }
        return;
    }
    match (entry, value) {
        (SettingsEntry::Member(_, wanted), Value::Object(object))
            if object.get(NAME).is_some_and(|member| owner.is_our_member(member, wanted)) =>
        {
            object.shift_remove(NAME);
        }
        (SettingsEntry::Items(_, wanted), Value::Array(items)) => items.retain(|item| !owner.is_our_item(item, wanted)),
        _ => {}
    }
}
