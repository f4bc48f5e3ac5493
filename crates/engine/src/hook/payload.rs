//! Finds values in the JSON object that a host sends.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// The JSON object that a host sends with an event.
pub(super) type HookPayload = Map<String, Value>;

/// A place in a payload: `extra.result` is the field `result` of the object `extra`. Of several places, separated by
/// `|`, the first with a value counts: hosts rename fields.
pub(super) type PayloadPlace = &'static str;

/// The value at a place.
pub(super) fn value_at<'a>(payload: &'a HookPayload, place: &str) -> Option<&'a Value> {
    let find = |path: &str| {
        let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
        let mut value = payload.get(first)?;
        for name in rest.into_iter().flat_map(|rest| rest.split('.')) {
            value = value.get(name)?;
        }
        (!value.is_null()).then_some(value)
    };
    place.split('|').find_map(find)
}

/// The text at a place; `None` if there is none.
pub(super) fn text_at<'a>(payload: &'a HookPayload, place: &str) -> Option<Cow<'a, str>> {
    match value_at(payload, place)? {
        Value::String(text) => Some(Cow::Borrowed(text)),
        // Parts of a message: `[{"type": "text", "text": "…"}]`.
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.as_str().or_else(|| part.get("text")?.as_str()));
            let texts: Vec<&str> = texts.collect();
            (!texts.is_empty()).then(|| Cow::Owned(texts.join("\n")))
        }
        _ => None,
    }
}

/// The first path at a place that is not empty. A host may send a list of folders.
pub(super) fn path_at<'a>(payload: &'a HookPayload, place: &str) -> Option<&'a str> {
    let first = |place: &str| match value_at(payload, place)? {
        Value::Array(paths) => paths.iter().find_map(Value::as_str),
        value => value.as_str(),
    };
    place.split('|').filter_map(first).find(|path| !path.is_empty())
}

/// A condition on the payload.
#[derive(Clone, Copy, Debug)]
pub(super) enum PayloadCondition {
    /// A field is one of these texts.
    Is(PayloadPlace, &'static [&'static str]),
    /// A field is a text, but none of these.
    IsOther(PayloadPlace, &'static [&'static str]),
    /// A field is true.
    True(PayloadPlace),
    /// A field is not a text.
    Missing(PayloadPlace),
    /// A field is not a text, or has only white space.
    Blank(PayloadPlace),
}

impl PayloadCondition {
    pub(super) fn is_met(self, payload: &HookPayload) -> bool {
        let text = |place| value_at(payload, place).and_then(Value::as_str);
        match self {
            Self::Is(place, texts) => text(place).is_some_and(|text| texts.contains(&text)),
            Self::IsOther(place, texts) => text(place).is_some_and(|text| !texts.contains(&text)),
            Self::True(place) => value_at(payload, place).is_some_and(|value| *value == true),
            Self::Missing(place) => text(place).is_none(),
            Self::Blank(place) => text_at(payload, place).is_none_or(|text| text.trim().is_empty()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(place: &str, expect: Option<&str>) {
        let payload = json!({
            "a": "one", "b": {"c": {"d": "two"}}, "list": [{"text": "three"}, {"image": 1}, "four"], "no": null, "n": 7,
        });
        assert_eq!(text_at(payload.as_object().unwrap(), place).as_deref(), expect, "{place}");
    }

    #[test]
    fn places_name_fields_and_alternatives() {
        check("a", Some("one"));
        check("b.c.d", Some("two"));
        check("b.d", None);
        check("a.b", None);
        check("no|x|a", Some("one"));
        check("list", Some("three\nfour"));
        check("n", None);
        check("", None);
    }

    #[test]
    fn the_first_path_that_is_not_empty_counts() {
        let payload = json!({"cwd": "", "workspace_roots": ["/app", "/docs"], "n": 7});
        assert_eq!(path_at(payload.as_object().unwrap(), "cwd|workspace_roots"), Some("/app"));
        assert_eq!(path_at(payload.as_object().unwrap(), "cwd|n|none"), None);
    }
}
