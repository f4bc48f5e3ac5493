//! Adds and removes our entries in JSON, with or without comments. All other text stays as it is, including its
//! formatting.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::Value;

use super::super::entry::{NAME, Owner, SettingsEntry, SettingsProblem, handlers, includes};

/// The settings with each of our entries exactly once and up to date.
pub(super) fn with(text: &str, entries: &[SettingsEntry], owner: &Owner<'_>) -> Result<String, SettingsProblem> {
    let document = CstRootNode::parse(text, &ParseOptions::default());
    let document = document.map_err(|_| SettingsProblem::new(&[], "an object"))?;
    // A file with nothing but comments has no object yet.
    place_entries(&document.object_value_or_set(), entries, owner);
    Ok(document.to_string())
}

fn place_entries(root: &CstObject, entries: &[SettingsEntry], owner: &Owner<'_>) {
    for entry in entries {
        match entry {
            SettingsEntry::Hooks(at, events) => {
                let hooks = object_at_or_set(root, at);
                remove_our_hooks(&hooks, owner, |event| events.iter().all(|(name, _)| *name != event));
                for (event, wanted) in events {
                    place_hook(&hooks.array_value_or_set(event), wanted, owner);
                }
            }
            SettingsEntry::Items(list, values) => {
                let (key, above) = list.split_last().unwrap_or((&"", &[]));
                place_items(&object_at_or_set(root, above).array_value_or_set(key), values, owner);
            }
            SettingsEntry::Member(object, value) => place_member(&object_at_or_set(root, object), value, owner),
            SettingsEntry::Default(key, value) => {
                if root.get(key).is_none() {
                    root.insert(0, key, to_input(value));
                }
            }
        }
    }
}

/// The settings without our entries and without the containers this leaves empty.
pub(super) fn without(text: &str, entries: &[SettingsEntry], owner: &Owner<'_>) -> Option<String> {
    let document = CstRootNode::parse(text, &ParseOptions::default()).ok()?;
    let root = &document.object_value()?;
    for entry in entries {
        let (path, has_changed) = match entry {
            SettingsEntry::Hooks(at, _) => {
                (*at, object_at(root, at).is_some_and(|hooks| remove_our_hooks(&hooks, owner, |_| true)))
            }
            SettingsEntry::Items(list, values) => {
                (*list, list_at(root, list).is_some_and(|list| remove_items(&list, values, owner)))
            }
            SettingsEntry::Member(object, value) => {
                (*object, object_at(root, object).is_some_and(|object| remove_member(&object, value, owner)))
            }
            SettingsEntry::Default(..) => continue,
        };
        if has_changed {
            remove_if_empty(root, path);
        }
    }
    Some(document.to_string())
}

fn object_at(root: &CstObject, keys: &[&str]) -> Option<CstObject> {
    keys.iter().try_fold(root.clone(), |object, key| object.object_value(key))
}

fn object_at_or_set(root: &CstObject, keys: &[&str]) -> CstObject {
    keys.iter().fold(root.clone(), |object, key| object.object_value_or_set(key))
}

fn list_at(root: &CstObject, keys: &[&str]) -> Option<CstArray> {
    let (key, above) = keys.split_last()?;
    object_at(root, above)?.array_value(key)
}

/// Removes an object or list that is empty, and those above it that this leaves empty.
fn remove_if_empty(root: &CstObject, keys: &[&str]) {
    for depth in (1..=keys.len()).rev() {
        let Some(property) = object_at(root, &keys[..depth - 1]).and_then(|above| above.get(keys[depth - 1])) else {
            return;
        };
        let is_empty = match property.value() {
            Some(value) => match (value.as_object(), value.as_array()) {
                (Some(object), _) => object.properties().is_empty(),
                (_, Some(list)) => list.elements().is_empty(),
                _ => false,
            },
            None => false,
        };
        if !is_empty {
            return;
        }
        property.remove();
    }
}

/// Ensures that an event has our hook exactly once: in the place of an older one, else at the end.
fn place_hook(list: &CstArray, wanted: &Value, owner: &Owner<'_>) {
    let mut is_placed = false;
    for element in list.elements() {
        let Some(value) = element.to_serde_value() else { continue };
        let (ours, all) = count_ours(&value, owner);
        if ours == 0 {
            continue;
        }
        if ours < all {
            // The user put another hook into our group. It stays where it is, and ours gets a new group.
            remove_our_handlers(&element, owner);
        } else if std::mem::replace(&mut is_placed, true) {
            remove_element(list, element);
        } else if value != *wanted
            && let Some(object) = element.as_object()
        {
            object.replace_with(to_input(wanted));
        }
    }
    if !is_placed {
        list.append(to_input(wanted));
    }
}

/// How many hooks of a group are ours, and how many it has. A hook without a group counts as a group of one.
fn count_ours(group: &Value, owner: &Owner<'_>) -> (usize, usize) {
    let hooks = handlers(group).map_or(std::slice::from_ref(group), Vec::as_slice);
    (hooks.iter().filter(|hook| owner.hook_program(hook).is_some()).count(), hooks.len())
}

/// Removes our hooks from the selected events, and the containers this leaves empty. Returns whether there were any.
fn remove_our_hooks(hooks: &CstObject, owner: &Owner<'_>, is_selected: impl Fn(&str) -> bool) -> bool {
    let mut has_changed = false;
    for property in hooks.properties() {
        let event = property.decoded_name().unwrap_or_default();
        let Some(groups) = property.array_value().filter(|_| is_selected(&event)) else { continue };
        let mut is_touched = false;
        for group in groups.elements() {
            let Some(value) = group.to_serde_value() else { continue };
            let (ours, all) = count_ours(&value, owner);
            is_touched |= ours > 0;
            if ours > 0 && ours == all {
                remove_element(&groups, group);
            } else if ours > 0 {
                remove_our_handlers(&group, owner);
            }
        }
        if is_touched && groups.elements().is_empty() {
            property.remove();
        }
        has_changed |= is_touched;
    }
    has_changed
}

fn remove_our_handlers(group: &CstNode, owner: &Owner<'_>) {
    let Some(handlers) = group.as_object().and_then(|group| group.array_value("hooks")) else { return };
    let is_ours = |handler: &CstNode| handler.to_serde_value().is_some_and(|it| owner.hook_program(&it).is_some());
    for handler in handlers.elements().into_iter().filter(is_ours) {
        remove_element(&handlers, handler);
    }
}

/// Keeps each wanted value that is there, adds the others and removes outdated ones.
fn place_items(list: &CstArray, values: &[Value], owner: &Owner<'_>) {
    let mut missing: Vec<&Value> = values.iter().collect();
    for element in list.elements() {
        let Some(item) = element.to_serde_value().filter(|item| owner.is_our_item(item, values)) else { continue };
        match missing.iter().position(|value| includes(&item, value)) {
            Some(at) => {
                missing.remove(at);
            }
            None => remove_element(list, element),
        }
    }
    for value in missing {
        list.append(to_input(value));
    }
}

fn remove_items(list: &CstArray, values: &[Value], owner: &Owner<'_>) -> bool {
    let is_ours = |element: &CstNode| element.to_serde_value().is_some_and(|item| owner.is_our_item(&item, values));
    let ours: Vec<CstNode> = list.elements().into_iter().filter(is_ours).collect();
    let has_any = !ours.is_empty();
    for element in ours {
        remove_element(list, element);
    }
    has_any
}

/// Sets our key. A value that the user set up in another way stays.
fn place_member(object: &CstObject, value: &Value, owner: &Owner<'_>) {
    let Some(property) = object.get(NAME) else {
        object.append(NAME, to_input(value));
        return;
    };
    let known = property.value().and_then(|value| value.to_serde_value());
    match known.filter(|known| owner.is_our_member(known, value)) {
        Some(known) if !owner.is_current_member(&known, value) => merge(object, NAME, value),
        _ => {}
    }
}

/// Sets what is in `value`, and keeps what else an object has.
fn merge(object: &CstObject, key: &str, value: &Value) {
    let property = object.get(key);
    match (value, property) {
        (Value::Object(wanted), Some(property)) if property.object_value().is_some() => {
            let inner = object.object_value_or_set(key);
            for (key, value) in wanted {
                merge(&inner, key, value);
            }
        }
        (_, Some(property)) => {
            if property.value().and_then(|value| value.to_serde_value()).as_ref() != Some(value) {
                property.set_value(to_input(value));
            }
        }
        (_, None) => {
            object.append(key, to_input(value));
        }
    }
}

fn remove_member(object: &CstObject, value: &Value, owner: &Owner<'_>) -> bool {
    let Some(property) = object.get(NAME) else { return false };
    let known = property.value().and_then(|value| value.to_serde_value());
    let is_ours = known.is_some_and(|known| owner.is_our_member(&known, value));
    if is_ours {
        property.remove();
    }
    is_ours
}

/// Removes an element, and the line break it may leave behind in a list that was on one line.
fn remove_element(list: &CstArray, element: CstNode) {
    element.remove();
    let children = list.children();
    let first = list.elements().first().map_or(0, CstNode::child_index);
    let last = list.elements().last().map_or(usize::MAX, CstNode::child_index);
    let is_on_one_line = !children.iter().take(first).any(CstNode::is_newline);
    for node in children.into_iter().skip(last.saturating_add(1)).filter(|node| is_on_one_line && node.is_newline()) {
        node.remove();
    }
}

fn to_input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(list) => CstInputValue::Array(list.iter().map(to_input).collect()),
        Value::Object(map) => {
            CstInputValue::Object(map.iter().map(|(key, value)| (key.clone(), to_input(value))).collect())
        }
    }
}
