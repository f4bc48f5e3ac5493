//! Parses tool arguments. Tolerates harmless type slips (a number for a string); other errors are explained.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::failure::{Failure, FailureKind};

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParameterType {
    Text,
    Texts,
    Number,
    Flag,
}

/// One parameter of a tool.
#[derive(Clone, Copy, Debug)]
pub(super) struct ToolParameter {
    pub(super) name: &'static str,
    pub(super) parameter_type: ParameterType,
    /// The description for the model; empty if the name is enough.
    pub(super) description: &'static str,
    pub(super) is_required: bool,
}

/// Arguments that match the tool's parameters.
#[derive(Debug, Default)]
pub(super) struct McpArguments(Vec<(&'static str, ArgumentValue)>);

#[derive(Debug)]
enum ArgumentValue {
    Text(String),
    Texts(Vec<String>),
    Number(u64),
    Flag(bool),
}

impl ToolParameter {
    /// An optional parameter.
    pub(super) const fn new(name: &'static str, parameter_type: ParameterType, description: &'static str) -> Self {
        Self { name, parameter_type, description, is_required: false }
    }

    /// Makes it required.
    pub(super) const fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    fn schema(&self) -> Value {
        let mut schema = match self.parameter_type {
            ParameterType::Text => json!({"type": "string"}),
            ParameterType::Texts => json!({"type": "array", "items": {"type": "string"}}),
            ParameterType::Number => json!({"type": "integer"}),
            ParameterType::Flag => json!({"type": "boolean"}),
        };
        if !self.description.is_empty() {
            schema["description"] = self.description.into();
        }
        schema
    }

    fn parse(&self, value: &Value) -> Option<ArgumentValue> {
        match self.parameter_type {
            ParameterType::Text => text(value).map(ArgumentValue::Text),
            ParameterType::Texts => match value {
                Value::Array(values) => values.iter().map(text).collect::<Option<_>>().map(ArgumentValue::Texts),
                one => text(one).map(|text| ArgumentValue::Texts(vec![text])),
            },
            ParameterType::Number => number(value).map(ArgumentValue::Number),
            ParameterType::Flag => match value {
                Value::Bool(flag) => Some(ArgumentValue::Flag(*flag)),
                Value::String(text) => text.trim().to_ascii_lowercase().parse().ok().map(ArgumentValue::Flag),
                _ => None,
            },
        }
    }

    fn type_name(&self) -> &'static str {
        match self.parameter_type {
            ParameterType::Text => "a string",
            ParameterType::Texts => "a list of strings",
            ParameterType::Number => "an integer",
            ParameterType::Flag => "true or false",
        }
    }
}

/// The JSON schema of the parameters.
pub(super) fn schema(parameters: &[ToolParameter]) -> JsonObject {
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

impl McpArguments {
    /// Parses arguments. Unknown names are errors: a silently ignored argument would look like an applied one.
    pub(super) fn parse(tool: &str, parameters: &[ToolParameter], passed: &JsonObject) -> Result<Self, Failure> {
        let takes = || {
            let names: Vec<&str> = parameters.iter().map(|one| one.name).collect();
            format!("{tool} accepts: {}", names.join(", "))
        };
        let bad = |message: String| match tool {
            // This tool's codes are a contract of their own.
            "ask_memory" | "query_session" => Failure::new(FailureKind::Usage, message).with_code("INVALID_ARGS"),
            _ => Failure::new(FailureKind::Usage, message),
        };
        if let Some(name) = passed.keys().find(|name| !parameters.iter().any(|one| one.name == *name)) {
            let name: String = name.chars().take(60).collect();
            return Err(bad(format!("unknown argument {name:?}")).hint(takes()));
        }
        let mut read = Vec::new();
        for one in parameters {
            match passed.get(one.name).filter(|value| !value.is_null()) {
                None if one.is_required => return Err(bad(format!("missing argument {:?}", one.name)).hint(takes())),
                None => {}
                Some(value) => {
                    let understood = one.parse(value);
                    let understood = understood
                        .ok_or_else(|| bad(format!("{:?} must be {}", one.name, one.type_name())).hint(takes()))?;
                    read.push((one.name, understood));
                }
            }
        }
        Ok(Self(read))
    }

    /// A string; empty if missing or blank.
    pub(super) fn text(&self, name: &str) -> &str {
        self.optional_text(name).unwrap_or_default()
    }

    /// A string that is present and not blank.
    pub(super) fn optional_text(&self, name: &str) -> Option<&str> {
        let passed = self.get(name)?;
        if let ArgumentValue::Text(text) = passed {
            Some(text.as_str()).filter(|text| !text.trim().is_empty())
        } else {
            None
        }
    }

    pub(super) fn texts(&self, name: &str) -> &[String] {
        if let Some(ArgumentValue::Texts(texts)) = self.get(name) { texts } else { &[] }
    }

    /// A number clamped to 1..=`limit`, or `usual` if missing.
    pub(super) fn number(&self, name: &str, usual: u64, limit: u64) -> u64 {
        if let Some(ArgumentValue::Number(number)) = self.get(name) { (*number).clamp(1, limit) } else { usual }
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Some(ArgumentValue::Flag(true)))
    }

    fn get(&self, name: &str) -> Option<&ArgumentValue> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, passed)| passed)
    }
}

/// A string, or a number given instead of one: an id may have only digits.
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

    const TEST_PARAMETERS: [ToolParameter; 4] = [
        ToolParameter::new("query", ParameterType::Text, "words").required(),
        ToolParameter::new("ids", ParameterType::Texts, ""),
        ToolParameter::new("limit", ParameterType::Number, ""),
        ToolParameter::new("everywhere", ParameterType::Flag, ""),
    ];

    fn read(passed: &Value) -> Result<McpArguments, String> {
        let read = McpArguments::parse("search", &TEST_PARAMETERS, passed.as_object().unwrap());
        read.map_err(|failure| format!("{} | {}", failure.source, failure.hints.join("; ")))
    }

    #[test]
    fn type_slips_are_accepted() {
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
    fn invalid_arguments_are_explained() {
        let takes = "search accepts: query, ids, limit, everywhere";
        for (passed, why) in [
            (json!({}), "missing argument \"query\""),
            (json!({"query": null}), "missing argument \"query\""),
            (json!({"query": ["x"]}), "\"query\" must be a string"),
            (json!({"query": "x", "ids": [1, {}]}), "\"ids\" must be a list of strings"),
            (json!({"query": "x", "limit": -1}), "\"limit\" must be an integer"),
            (json!({"query": "x", "limit": 1.5}), "\"limit\" must be an integer"),
            (json!({"query": "x", "everywhere": "perhaps"}), "\"everywhere\" must be true or false"),
            (json!({"query": "x", "path": "/etc/passwd"}), "unknown argument \"path\""),
        ] {
            assert_eq!(read(&passed).unwrap_err(), format!("{why} | {takes}"));
        }
    }

    #[test]
    fn schemas_are_minimal() {
        let text = Value::Object(schema(&TEST_PARAMETERS)).to_string();
        assert_eq!(
            text,
            r#"{"type":"object","properties":{"query":{"type":"string","description":"words"},"ids":{"type":"array","items":{"type":"string"}},"limit":{"type":"integer"},"everywhere":{"type":"boolean"}},"required":["query"]}"#
        );
        assert_eq!(Value::Object(schema(&[])).to_string(), r#"{"type":"object","properties":{}}"#);
    }
}
