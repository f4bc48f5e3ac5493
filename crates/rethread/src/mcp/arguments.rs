//! What a model passes to a tool, held against what the tool takes. A slip of form is understood, a mistake is explained.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::failure::{Failure, Kind};

/// What a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    Text,
    Texts,
    Number,
    Flag,
}

/// One parameter of a tool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) takes: Takes,
    /// What a model is told; nothing where the name says it.
    pub(super) about: &'static str,
    pub(super) is_required: bool,
}

/// What was passed, as far as it is what the parameters take.
#[derive(Debug, Default)]
pub(super) struct Arguments(Vec<(&'static str, Passed)>);

#[derive(Debug)]
enum Passed {
    Text(String),
    Texts(Vec<String>),
    Number(u64),
    Flag(bool),
}

impl Parameter {
    /// A parameter that need not be there.
    pub(super) const fn new(name: &'static str, takes: Takes, about: &'static str) -> Self {
        Self { name, takes, about, is_required: false }
    }

    /// The same, which must be there.
    pub(super) const fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    fn schema(&self) -> Value {
        let mut schema = match self.takes {
            Takes::Text => json!({"type": "string"}),
            Takes::Texts => json!({"type": "array", "items": {"type": "string"}}),
            Takes::Number => json!({"type": "integer"}),
            Takes::Flag => json!({"type": "boolean"}),
        };
        if !self.about.is_empty() {
            schema["description"] = self.about.into();
        }
        schema
    }

    fn read(&self, value: &Value) -> Option<Passed> {
        match self.takes {
            Takes::Text => text(value).map(Passed::Text),
            Takes::Texts => match value {
                Value::Array(values) => values.iter().map(text).collect::<Option<_>>().map(Passed::Texts),
                one => text(one).map(|text| Passed::Texts(vec![text])),
            },
            Takes::Number => number(value).map(Passed::Number),
            Takes::Flag => match value {
                Value::Bool(flag) => Some(Passed::Flag(*flag)),
                Value::String(text) => text.trim().to_ascii_lowercase().parse().ok().map(Passed::Flag),
                _ => None,
            },
        }
    }

    fn expected(&self) -> &'static str {
        match self.takes {
            Takes::Text => "a text",
            Takes::Texts => "a list of texts",
            Takes::Number => "a whole number",
            Takes::Flag => "true or false",
        }
    }
}

/// The parameters as a model is told of them.
pub(super) fn schema(parameters: &[Parameter]) -> JsonObject {
    let properties: JsonObject = parameters.iter().map(|one| (one.name.to_owned(), one.schema())).collect();
    let required: Vec<&str> = parameters.iter().filter(|one| one.is_required).map(|one| one.name).collect();
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema
}

impl Arguments {
    /// Reads what was passed to a tool. What it does not take is refused: an ignored wish would look like a fulfilled one.
    pub(super) fn read(tool: &str, parameters: &[Parameter], passed: &JsonObject) -> Result<Self, Failure> {
        let takes = || {
            let names: Vec<&str> = parameters.iter().map(|one| one.name).collect();
            format!("{tool} takes: {}", names.join(", "))
        };
        let bad = |message: String| Failure::new(Kind::Usage, message).coded("INVALID_ARGS");
        if let Some(name) = passed.keys().find(|name| !parameters.iter().any(|one| one.name == *name)) {
            let name: String = name.chars().take(60).collect();
            return Err(bad(format!("{tool} takes no {name:?}")).hint(takes()));
        }
        let mut read = Vec::new();
        for one in parameters {
            match passed.get(one.name).filter(|value| !value.is_null()) {
                None if one.is_required => return Err(bad(format!("{:?} is missing", one.name)).hint(takes())),
                None => {}
                Some(value) => {
                    let understood = one.read(value);
                    let understood = understood
                        .ok_or_else(|| bad(format!("{:?} must be {}", one.name, one.expected())).hint(takes()))?;
                    read.push((one.name, understood));
                }
            }
        }
        Ok(Self(read))
    }

    /// A text; empty if none was passed.
    pub(super) fn text(&self, name: &str) -> &str {
        self.optional_text(name).unwrap_or_default()
    }

    /// A text, if one was passed and says something.
    pub(super) fn optional_text(&self, name: &str) -> Option<&str> {
        let passed = self.get(name)?;
        if let Passed::Text(text) = passed { Some(text.as_str()).filter(|text| !text.trim().is_empty()) } else { None }
    }

    /// Texts.
    pub(super) fn texts(&self, name: &str) -> &[String] {
        if let Some(Passed::Texts(texts)) = self.get(name) { texts } else { &[] }
    }

    /// A number that makes sense: the usual one if none was passed, and no more than most.
    pub(super) fn number(&self, name: &str, usual: u64, most: u64) -> u64 {
        if let Some(Passed::Number(number)) = self.get(name) { (*number).clamp(1, most) } else { usual }
    }

    /// Whether something is wished.
    pub(super) fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Some(Passed::Flag(true)))
    }

    fn get(&self, name: &str) -> Option<&Passed> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, passed)| passed)
    }
}

/// A text, or a number that was meant as one: an id may have only digits.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => {
            let whole = |number: f64| number.fract() == 0.0 && number >= 0.0;
            number.as_u64().or_else(|| number.as_f64().filter(|number| whole(*number)).map(|number| number as u64))
        }
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAKEN: [Parameter; 4] = [
        Parameter::new("query", Takes::Text, "words").required(),
        Parameter::new("ids", Takes::Texts, ""),
        Parameter::new("limit", Takes::Number, ""),
        Parameter::new("everywhere", Takes::Flag, ""),
    ];

    fn read(passed: &Value) -> Result<Arguments, String> {
        let read = Arguments::read("search", &TAKEN, passed.as_object().unwrap());
        read.map_err(|failure| format!("{} | {}", failure.source, failure.hints.join("; ")))
    }

    #[test]
    fn slips_of_form_are_understood() {
        let passed = json!({"query": 4711, "ids": "a", "limit": " 7 ", "everywhere": "True"});
        let read = read(&passed).unwrap();
        assert_eq!(
            (read.text("query"), read.texts("ids"), read.number("limit", 5, 20)),
            ("4711", &["a".to_owned()][..], 7)
        );
        assert!(read.flag("everywhere"));
        let bare = super::tests::read(&json!({"query": "x", "limit": null, "ids": null})).unwrap();
        assert_eq!((bare.number("limit", 5, 20), bare.texts("ids").len(), bare.flag("everywhere")), (5, 0, false));
        let large = super::tests::read(&json!({"query": "x", "limit": 1e300})).unwrap();
        assert_eq!(large.number("limit", 5, 20), 20);
        assert_eq!(super::tests::read(&json!({"query": "x", "limit": 0})).unwrap().number("limit", 5, 20), 1);
    }

    #[test]
    fn mistakes_are_explained() {
        let takes = "search takes: query, ids, limit, everywhere";
        for (passed, why) in [
            (json!({}), "\"query\" is missing"),
            (json!({"query": null}), "\"query\" is missing"),
            (json!({"query": ["x"]}), "\"query\" must be a text"),
            (json!({"query": "x", "ids": [1, {}]}), "\"ids\" must be a list of texts"),
            (json!({"query": "x", "limit": -1}), "\"limit\" must be a whole number"),
            (json!({"query": "x", "limit": 1.5}), "\"limit\" must be a whole number"),
            (json!({"query": "x", "everywhere": "perhaps"}), "\"everywhere\" must be true or false"),
            (json!({"query": "x", "path": "/etc/passwd"}), "search takes no \"path\""),
        ] {
            assert_eq!(read(&passed).unwrap_err(), format!("{why} | {takes}"));
        }
    }

    #[test]
    fn a_schema_says_no_more_than_it_must() {
        let told = Value::Object(schema(&TAKEN)).to_string();
        assert_eq!(
            told,
            r#"{"type":"object","properties":{"query":{"type":"string","description":"words"},"ids":{"type":"array","items":{"type":"string"}},"limit":{"type":"integer"},"everywhere":{"type":"boolean"}},"required":["query"]}"#
        );
        assert_eq!(Value::Object(schema(&[])).to_string(), r#"{"type":"object","properties":{}}"#);
    }
}
