//! Adds and removes our entries in YAML by changing single lines, and checks the result by parsing it. What cannot be
//! changed that way is refused.

use serde_json::{Map, Value};

use super::super::entry::{NAME, Owner, SettingsEntry, includes};
use super::EditError;
use super::yaml_check::{is_complete, stripped};
use super::yaml_remove::remove;
use super::yaml_tree::{self, Kind, Node};
use super::yaml_write::{item_lines, member_lines, scalar_text};

/// Parses a document.
pub(super) fn parse(text: &str) -> Result<Value, std::io::Error> {
    yaml_tree::parse(text).map(|root| root.to_value())
}

/// The settings with each of our entries exactly once and up to date.
pub(super) fn with(text: &str, entries: &[SettingsEntry], owner: &Owner<'_>) -> Result<String, EditError> {
    let mut edited = text.to_owned();
    for entry in entries {
        let unclear = || EditError::Unclear { lines: as_lines(entry) };
        let before = parse(&edited).map_err(|_| unclear())?;
        edited = place(&edited, entry, owner).ok_or_else(unclear)?;
        let after = parse(&edited).map_err(|_| unclear())?;
        if stripped(&after, entry, owner) != stripped(&before, entry, owner) || !is_complete(&after, entry, owner) {
            return Err(unclear());
        }
    }
    Ok(edited)
}

/// The settings without our entries; `None` if they cannot be changed.
pub(super) fn without(text: &str, entries: &[SettingsEntry], owner: &Owner<'_>) -> Option<String> {
    let mut edited = text.to_owned();
    for entry in entries {
        let before = parse(&edited).ok()?;
        while let Some(path) = find(&yaml_tree::parse(&edited).ok()?, entry, owner) {
            edited = remove(&edited, &path)?;
        }
        let after = parse(&edited).ok()?;
        if stripped(&after, entry, owner) != stripped(&before, entry, owner) {
            return None;
        }
    }
    Some(edited)
}

/// Steps from the top level to a node: positions in maps and lists.
type Steps = Vec<usize>;

fn place(text: &str, entry: &SettingsEntry, owner: &Owner<'_>) -> Option<String> {
    let mut text = text.to_owned();
    match entry {
        SettingsEntry::Member(object, wanted) => {
            let root = yaml_tree::parse(&text).ok()?;
            let Some((_, known)) = node_at(&root, object).and_then(|object| object.member(NAME)) else {
                return insert(&text, object, Some(NAME), wanted);
            };
            let value = known.to_value();
            if owner.is_current_member(&value, wanted) || !owner.is_our_member(&value, wanted) {
                return Some(text);
            }
            let mut keys: Vec<&str> = object.to_vec();
            keys.push(NAME);
            for (key, value) in wanted.as_object()? {
                text = set(&text, &keys, key, value)?;
            }
            Some(text)
        }
        SettingsEntry::Items(list, values) => {
            let mut missing = values.clone();
            let mut at = 0;
            while let Some(item) = nth_item(&text, list, at)? {
                if !owner.is_our_item(&item, values) {
                    at += 1;
                } else if let Some(position) = missing.iter().position(|value| includes(&item, value)) {
                    missing.remove(position);
                    at += 1;
                } else {
                    let path = steps_to(&yaml_tree::parse(&text).ok()?, list, at)?;
                    text = remove(&text, &path)?;
                }
            }
            missing.iter().try_fold(text, |text, value| insert(&text, list, None, value))
        }
        SettingsEntry::Default(key, value) => {
            let is_there = yaml_tree::parse(&text).ok()?.member(key).is_some();
            if is_there { Some(text) } else { insert(&text, &[], Some(key), value) }
        }
        SettingsEntry::Hooks(..) => None,
    }
}

/// An element of a list, if it has that many. The outer value is `None` if the text cannot be parsed.
#[expect(clippy::option_option, reason = "a missing element ends a loop; a text that cannot be parsed ends the edit")]
fn nth_item(text: &str, list: &[&str], at: usize) -> Option<Option<Value>> {
    let root = yaml_tree::parse(text).ok()?;
    Some(match node_at(&root, list).map(|list| &list.kind) {
        Some(Kind::List(items)) => items.get(at).map(Node::to_value),
        _ => None,
    })
}

/// Adds a member or an element to the container at a path, with the containers that are missing.
fn insert(text: &str, keys: &[&str], name: Option<&str>, value: &Value) -> Option<String> {
    let root = yaml_tree::parse(text).ok()?;
    let (mut node, mut depth) = (&root, 0);
    let mut owner_key = None;
    while let Some((key, inner)) = keys.get(depth).and_then(|key| node.member(key)) {
        (node, owner_key, depth) = (inner, Some(key), depth + 1);
    }
    // What has to be added: ours, inside of the containers that are missing.
    let mut name = name;
    let mut value = value.clone();
    for key in keys[depth..].iter().rev() {
        value = match name {
            Some(name) => Value::Object(Map::from_iter([(name.to_owned(), value)])),
            None => Value::Array(vec![value]),
        };
        name = Some(key);
    }
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let lines = |indent: usize| {
        let lines = name.map_or_else(|| item_lines(indent, &value), |name| member_lines(indent, name, &value));
        lines.into_iter().map(|line| line + line_end).collect::<String>()
    };
    let inline = || match name {
        Some(name) => format!("{}: {value}", scalar_text(name)),
        None => value.to_string(),
    };
    let is_flow = text[node.start..].starts_with(['{', '[']);
    match &node.kind {
        Kind::Map(members) if is_flow => Some(insert_inline(text, node, &inline(), members.is_empty())),
        Kind::List(items) if is_flow => Some(insert_inline(text, node, &inline(), items.is_empty())),
        Kind::Map(_) if depth == 0 => append(text, &lines(0), line_end),
        Kind::Map(members) => insert_before(text, members.first()?.0.start, lines),
        Kind::List(items) => insert_before(text, dash_before(text, items.first()?.start)?, lines),
        Kind::Scalar(Value::Null) => match owner_key {
            None => append(text, &lines(0), line_end),
            Some(key) if node.start >= node.end || text[node.start..node.end].trim().is_empty() => {
                insert_below(text, key, lines)
            }
            Some(_) => {
                let inner = if name.is_some() { format!("{{{}}}", inline()) } else { format!("[{}]", inline()) };
                Some(format!("{}{inner}{}", &text[..node.start], &text[node.end..]))
            }
        },
        Kind::Scalar(_) => None,
    }
}

fn insert_inline(text: &str, node: &Node, new: &str, is_empty: bool) -> String {
    let at = node.start + 1;
    let comma = if is_empty { "" } else { ", " };
    format!("{}{new}{comma}{}", &text[..at], &text[at..])
}

/// Adds lines at the end of the text.
fn append(text: &str, lines: &str, line_end: &str) -> Option<String> {
    if text.lines().next_back().is_some_and(|last| last.trim_end() == "...") {
        return None;
    }
    let separator = if text.is_empty() || text.ends_with('\n') { "" } else { line_end };
    Some(format!("{text}{separator}{lines}"))
}

/// Adds lines before the line of a first child, with the same indent.
fn insert_before(text: &str, child: usize, lines: impl Fn(usize) -> String) -> Option<String> {
    let line = line_start(text, child);
    let indent = &text[line..child];
    // Only spaces: a child that begins in the line of its parent cannot move down.
    indent
        .bytes()
        .all(|byte| byte == b' ')
        .then(|| format!("{}{}{}", &text[..line], lines(indent.len()), &text[line..]))
}

/// The dash of an element of a list, if it is on the same line.
fn dash_before(text: &str, item: usize) -> Option<usize> {
    text[..item].trim_end_matches(' ').strip_suffix('-').map(str::len)
}

/// Adds lines below the line of a key that has no value.
fn insert_below(text: &str, key: &Node, lines: impl Fn(usize) -> String) -> Option<String> {
    let line = line_start(text, key.start);
    let indent = &text[line..key.start];
    let next = text[key.end..].find('\n').map(|at| key.end + at + 1)?;
    let is_plain = indent.bytes().all(|byte| byte == b' ');
    is_plain.then(|| format!("{}{}{}", &text[..next], lines(indent.len() + 2), &text[next..]))
}

/// Sets one key of the object at a path.
fn set(text: &str, keys: &[&str], key: &str, value: &Value) -> Option<String> {
    let root = yaml_tree::parse(text).ok()?;
    let Some((_, node)) = node_at(&root, keys)?.member(key) else { return insert(text, keys, Some(key), value) };
    if node.to_value() == *value {
        return Some(text.to_owned());
    }
    let is_block = matches!(node.kind, Kind::Map(_) | Kind::List(_)) && !text[node.start..].starts_with(['{', '[']);
    let new = value.as_str().map_or_else(|| value.to_string(), scalar_text);
    (!is_block).then(|| format!("{}{new}{}", &text[..node.start], &text[node.end..]))
}

/// The first node of ours.
fn find(root: &Node, entry: &SettingsEntry, owner: &Owner<'_>) -> Option<Steps> {
    match entry {
        SettingsEntry::Member(object, wanted) => {
            let Kind::Map(members) = &node_at(root, object)?.kind else { return None };
            let is_ours =
                |(key, value): &(Node, Node)| key.to_value() == NAME && owner.is_our_member(&value.to_value(), wanted);
            steps_to(root, object, members.iter().position(is_ours)?)
        }
        SettingsEntry::Items(list, values) => {
            let Kind::List(items) = &node_at(root, list)?.kind else { return None };
            steps_to(root, list, items.iter().position(|item| owner.is_our_item(&item.to_value(), values))?)
        }
        SettingsEntry::Hooks(..) | SettingsEntry::Default(..) => None,
    }
}

fn node_at<'n>(root: &'n Node, keys: &[&str]) -> Option<&'n Node> {
    keys.iter().try_fold(root, |node, key| node.member(key).map(|(_, value)| value))
}

fn steps_to(root: &Node, keys: &[&str], last: usize) -> Option<Steps> {
    let mut node = root;
    let mut steps = Vec::new();
    for key in keys {
        let Kind::Map(members) = &node.kind else { return None };
        let at = members.iter().position(|(name, _)| name.to_value() == *key)?;
        steps.push(at);
        node = &members[at].1;
    }
    steps.push(last);
    Some(steps)
}

/// The lines of an entry, to be added by hand.
fn as_lines(entry: &SettingsEntry) -> String {
    let lines = match entry {
        SettingsEntry::Member(keys, value) => insert("", keys, Some(NAME), value),
        SettingsEntry::Items(keys, values) => {
            values.iter().try_fold(String::new(), |text, value| insert(&text, keys, None, value))
        }
        SettingsEntry::Hooks(..) | SettingsEntry::Default(..) => None,
    };
    lines.unwrap_or_default().trim_end().to_owned()
}

pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}
