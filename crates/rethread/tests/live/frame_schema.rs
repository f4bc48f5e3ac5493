//! L004-14: one definition of frames for the program, the documents and the tests.

#[expect(dead_code, reason = "only the definition is read here, not how frames come about")]
#[path = "../../src/json/frame.rs"]
mod frame;

use std::fmt::Write;
use std::path::Path;

use schemars::SchemaGenerator;
use serde_json::Value;

const BEGINS: &str = "<!-- Made from the program by `UPDATE_DOCS=1 cargo test -p rethread`. Changes here are lost. -->";
const ENDS: &str = "<!-- End of what is made from the program. -->";

/// The schema of one frame type or of the envelope: name, whether it is required, and description of each field.
struct FrameSchema {
    kind: String,
    about: String,
    fields: Vec<(String, bool, String)>,
}

fn frame_schema(schema: &Value) -> FrameSchema {
    let required = |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let kind = properties.get("type").and_then(|kind| kind["const"].as_str()).unwrap_or_default().to_owned();
    let about = |value: &Value| value["description"].as_str().unwrap_or_default().replace('\n', " ");
    let fields = properties.iter().filter(|(name, _)| *name != "type");
    let fields = fields.map(|(name, value)| (name.clone(), required(name), about(value))).collect();
    FrameSchema { kind, about: about(schema), fields }
}

fn schemas<T: schemars::JsonSchema>() -> Vec<FrameSchema> {
    let schema = SchemaGenerator::default().into_root_schema_for::<T>().to_value();
    schema["oneOf"].as_array().unwrap().iter().map(frame_schema).collect()
}

fn envelope() -> FrameSchema {
    let schema = SchemaGenerator::default().into_root_schema_for::<frame::Frame>().to_value();
    frame_schema(&schema)
}

/// Asserts that a frame has all required fields of its type and no unknown one.
pub(crate) fn check(frame: &Value) {
    let known = schemas::<frame::Told>();
    let shape = known.iter().find(|shape| frame["type"] == shape.kind.as_str());
    let shape = shape.unwrap_or_else(|| panic!("unknown frame type: {frame}"));
    let around = envelope();
    let fields = frame.as_object().unwrap();
    for name in fields.keys().filter(|name| *name != "type") {
        let is_known = shape.fields.iter().chain(&around.fields).any(|(field, ..)| field == name);
        assert!(is_known, "unknown field {name} in {frame}");
    }
    for (name, is_always_there, _) in shape.fields.iter().chain(&around.fields) {
        let may_miss = !is_always_there || fields.contains_key(name);
        assert!(may_miss, "{name} is missing in {frame}");
    }
}

#[test]
fn frame_reference_is_up_to_date() {
    // L004-14
    let mut out = format!("{BEGINS}\n\n### Every frame\n\n");
    table(&envelope(), &mut out);
    out += "\n### What the server tells\n";
    for shape in schemas::<frame::Told>() {
        chapter(&shape, &mut out);
    }
    out += "\n### What a client may ask for\n";
    for shape in schemas::<frame::Asked>() {
        chapter(&shape, &mut out);
    }
    write!(out, "\n{ENDS}").unwrap();

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/live.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGINS).unwrap();
    let (_, after) = rest.split_once(ENDS).unwrap();
    let new = format!("{before}{out}{after}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, new).unwrap();
    } else {
        assert!(text == new, "docs/live.md is out of date: UPDATE_DOCS=1 cargo test -p rethread");
    }
}

fn chapter(shape: &FrameSchema, out: &mut String) {
    write!(out, "\n**`{}`**: {}\n", shape.kind, shape.about).unwrap();
    if !shape.fields.is_empty() {
        out.push('\n');
        table(shape, out);
    }
}

fn table(shape: &FrameSchema, out: &mut String) {
    *out += "| field | always there | what it is |\n|---|---|---|\n";
    for (name, is_always_there, about) in &shape.fields {
        let always = if *is_always_there { "yes" } else { "no" };
        writeln!(out, "| `{name}` | {always} | {about} |").unwrap();
    }
}
