//! Removes nodes of a YAML text, by whole lines or inside of brackets.

use super::yaml::line_start;
use super::yaml_tree::{self, Kind, Node};

/// Removes a node, and the containers this leaves empty.
pub(super) fn remove(text: &str, steps: &[usize]) -> Option<String> {
    let root = yaml_tree::parse(text).ok()?;
    // From the inside to the outside: the outermost container that has nothing else.
    let mut parents = vec![&root];
    for at in &steps[..steps.len() - 1] {
        let Kind::Map(members) = &parents.last()?.kind else { return None };
        parents.push(&members.get(*at)?.1);
    }
    let is_flow = |node: &Node| text[node.start..].starts_with(['{', '[']);
    // The key of a container; a comment beside it is the user's.
    let has_comment = |depth: usize| match &parents[depth - 1].kind {
        Kind::Map(members) => members
            .get(steps[depth - 1])
            .is_none_or(|(key, _)| text[key.end..].lines().next().is_some_and(|rest| rest.contains('#'))),
        _ => true,
    };
    let is_ours_alone = |depth: usize| {
        size(parents[depth]) == 1 && !is_flow(parents[depth]) && !is_flow(parents[depth - 1]) && !has_comment(depth)
    };
    let mut depth = steps.len() - 1;
    while depth > 0 && is_ours_alone(depth) {
        depth -= 1;
    }
    let (parent, at) = (parents[depth], steps[depth]);
    let (start, end) = match &parent.kind {
        Kind::Map(members) => (members.get(at)?.0.start, end_of(text, &members.get(at)?.1)),
        Kind::List(items) => (items.get(at)?.start, end_of(text, items.get(at)?)),
        Kind::Scalar(_) => return None,
    };
    if is_flow(parent) { Some(remove_inline(text, start, end)) } else { remove_lines(text, start, end) }
}

fn size(node: &Node) -> usize {
    match &node.kind {
        Kind::Map(members) => members.len(),
        Kind::List(items) => items.len(),
        Kind::Scalar(_) => 0,
    }
}

/// The end of a node without the space after it.
fn end_of(text: &str, node: &Node) -> usize {
    let is_flow = text[node.start..].starts_with(['{', '[']);
    let last = match &node.kind {
        Kind::Map(members) if !is_flow => members.last().map(|(_, value)| value),
        Kind::List(items) if !is_flow => items.last(),
        _ => None,
    };
    last.map_or_else(|| node.start.max(text[..node.end].trim_end().len()), |last| end_of(text, last))
}

fn remove_inline(text: &str, start: usize, end: usize) -> String {
    let rest = &text[end..];
    let after = rest.trim_start_matches([' ', '\t']);
    if let Some(next) = after.strip_prefix(',') {
        return format!("{}{}", &text[..start], next.trim_start_matches([' ', '\t']));
    }
    let before = text[..start].trim_end_matches([' ', '\t']);
    format!("{}{rest}", before.strip_suffix(',').unwrap_or(before))
}

/// Removes whole lines. `None` if something else is on the first one.
fn remove_lines(text: &str, start: usize, end: usize) -> Option<String> {
    let line = line_start(text, start);
    let is_alone = text[line..start].bytes().all(|byte| byte == b' ' || byte == b'-');
    let next = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
    is_alone.then(|| format!("{}{}", &text[..line], &text[next..]))
}
