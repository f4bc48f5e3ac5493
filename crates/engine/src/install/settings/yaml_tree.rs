//! A YAML document as a tree whose nodes know where they are in the text, so that single lines can be changed.

use saphyr_parser::{Event, Parser, ScalarStyle, Span};
use serde_json::{Map, Value};

/// A node and its place in the text.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// The first byte.
    pub(super) start: usize,
    /// The byte after the last one. Space after a block may be included.
    pub(super) end: usize,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// Text, a number, a boolean, nothing, or an alias.
    Scalar(Value),
    Map(Vec<(Node, Node)>),
    List(Vec<Node>),
}

impl Node {
    /// The value of a key, with the key.
    pub(super) fn member(&self, key: &str) -> Option<&(Node, Node)> {
        let Kind::Map(members) = &self.kind else { return None };
        members.iter().find(|(name, _)| matches!(&name.kind, Kind::Scalar(Value::String(name)) if name == key))
    }

    pub(super) fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Scalar(value) => value.clone(),
            Kind::List(items) => Value::Array(items.iter().map(Node::to_value).collect()),
            Kind::Map(members) => {
                let key = |node: &Node| match node.to_value() {
                    Value::String(text) => text,
                    other => other.to_string(),
                };
                Value::Object(members.iter().map(|(name, value)| (key(name), value.to_value())).collect::<Map<_, _>>())
            }
        }
    }
}

/// Parses a text with one document. It is a scalar with nothing if the text is empty or has only comments.
pub(super) fn parse(text: &str) -> Result<Node, std::io::Error> {
    let mut offsets: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    offsets.push(text.len());
    let mut builder = TreeBuilder { offsets, open: Vec::new(), roots: Vec::new() };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(std::io::Error::other)?;
        builder.push(event, span);
    }
    let nothing = Node { kind: Kind::Scalar(Value::Null), start: text.len(), end: text.len() };
    match builder.roots.len() {
        0 => Ok(nothing),
        1 => Ok(builder.roots.swap_remove(0)),
        _ => Err(std::io::Error::other("more than one document")),
    }
}

/// Builds the tree from the events of the parser.
struct TreeBuilder {
    /// The byte at which each character begins.
    offsets: Vec<usize>,
    /// The containers around the next event, outermost first. Keys and values of a map alternate.
    open: Vec<(bool, usize, Vec<Node>)>,
    roots: Vec<Node>,
}

impl TreeBuilder {
    fn push(&mut self, event: Event<'_>, span: Span) {
        let at = |index: usize| self.offsets.get(index).or(self.offsets.last()).copied().unwrap_or_default();
        let (start, end) = (at(span.start.index()), at(span.end.index()));
        match event {
            Event::Scalar(text, style, ..) => self.add(Node { kind: Kind::Scalar(scalar(&text, style)), start, end }),
            Event::Alias(id) => {
                self.add(Node { kind: Kind::Scalar(Value::String(format!("*{id}"))), start, end });
            }
            Event::SequenceStart(..) => self.open.push((false, start, Vec::new())),
            Event::MappingStart(..) => self.open.push((true, start, Vec::new())),
            Event::SequenceEnd | Event::MappingEnd => {
                let Some((is_map, start, children)) = self.open.pop() else { return };
                let kind = if is_map { Kind::Map(pairs(children)) } else { Kind::List(children) };
                self.add(Node { kind, start, end });
            }
            _ => {}
        }
    }

    fn add(&mut self, node: Node) {
        match self.open.last_mut() {
            Some((_, _, children)) => children.push(node),
            None => self.roots.push(node),
        }
    }
}

fn pairs(children: Vec<Node>) -> Vec<(Node, Node)> {
    let mut children = children.into_iter();
    let mut pairs = Vec::new();
    while let (Some(key), Some(value)) = (children.next(), children.next()) {
        pairs.push((key, value));
    }
    pairs
}

fn scalar(text: &str, style: ScalarStyle) -> Value {
    match text {
        _ if style != ScalarStyle::Plain => Value::from(text),
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => Value::from(text),
    }
}
