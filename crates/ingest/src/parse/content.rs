//! Message content: text or a list of blocks. Tool results are measured, not copied.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::lenient::{LenientBool, LenientObject, LenientText, ignore_other};
use super::own_text::{is_tool_output, without_own_text};

/// Bytes kept from the start of a tool result: enough for the first line of an error.
const HEAD_BYTES: usize = 2048;
/// Bytes kept from the end of a tool result: builds and tests report failures last, some agents the exit code.
const TAIL_BYTES: usize = 1536;
/// A result that is read again for its text stays whole until it is redacted: half a secret would not be recognized.
const WHOLE_BYTES: KeptBytes = KeptBytes { head: usize::MAX, tail: TAIL_BYTES };
/// Number of keys listed in the summary of an object result.
const MAX_KEYS: usize = 5;

/// How much is kept of a tool result.
#[derive(Clone, Copy)]
struct KeptBytes {
    head: usize,
    tail: usize,
}

thread_local! {
    // A limit cannot be passed to a result that is deserialized inside an agent's own types.
    static KEPT_BYTES: Cell<KeptBytes> = const { Cell::new(KeptBytes { head: HEAD_BYTES, tail: TAIL_BYTES }) };
}

/// Keeps tool results whole while `read` runs.
pub(crate) fn with_whole_results<T>(read: impl FnOnce() -> T) -> T {
    struct Restore(KeptBytes);
    impl Drop for Restore {
        fn drop(&mut self) {
            KEPT_BYTES.set(self.0);
        }
    }
    let _restore = Restore(KEPT_BYTES.replace(WHOLE_BYTES));
    read()
}

/// Message content. Always a list of blocks; a bare string becomes one text block.
#[derive(Debug, Default)]
pub(crate) struct MessageContent<'a>(pub(crate) Vec<MessageBlock<'a>>);

/// One part of a message's content: a text, a thought, a tool call or its result. Has the fields of all agents; those
/// that an agent does not use stay empty.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct MessageBlock<'a> {
    #[serde(rename = "type", borrow)]
    pub(crate) kind: LenientText<'a>,
    #[serde(borrow)]
    pub(crate) text: LenientText<'a>,
    #[serde(borrow)]
    pub(crate) thinking: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) id: LenientText<'a>,
    #[serde(borrow)]
    pub(crate) name: LenientText<'a>,
    #[serde(borrow, alias = "arguments")]
    pub(crate) input: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) tool_use_id: LenientText<'a>,
    pub(crate) content: MeasuredResult,
    pub(crate) is_error: LenientBool,
}

/// Size, shape, head and tail of a tool result, collected in one pass. Text that we injected is not part of it.
#[derive(Debug, Default, Clone)]
pub(crate) struct MeasuredResult {
    pub(crate) shape: ResultShape,
    pub(crate) lines: u64,
    pub(crate) bytes: u64,
    pub(crate) head: String,
    pub(crate) tail: String,
    /// Whether one of our own tools wrote it; nothing of it is worth storing.
    pub(crate) is_own: bool,
}

/// The JSON type of a tool result.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) enum ResultShape {
    #[default]
    Empty,
    Text,
    List(usize),
    Object(Vec<String>),
    Other(&'static str),
}

impl MeasuredResult {
    /// A text result.
    pub(crate) fn from_text(text: &str) -> Self {
        let mut measured = Self { shape: ResultShape::Text, ..Self::default() };
        measured.add_text(text);
        measured
    }

    fn add_text(&mut self, text: &str) {
        self.is_own = is_tool_output(text);
        let text = &if self.is_own { Cow::Borrowed(text) } else { without_own_text(text) };
        self.bytes += text.len() as u64;
        let newlines = memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
        self.lines += newlines + u64::from(!text.is_empty() && !text.ends_with('\n'));
        let kept = KEPT_BYTES.get();
        let free_bytes = kept.head.saturating_sub(self.head.len());
        if free_bytes > 0 {
            if !self.head.is_empty() {
                self.head.push('\n');
            }
            self.head.push_str(&text[..text.floor_char_boundary(free_bytes)]);
        }
        self.tail.clear();
        self.tail.push_str(&text[text.ceil_char_boundary(text.len().saturating_sub(kept.tail))..]);
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for MessageContent<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ContentVisitor<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for ContentVisitor<'a> {
            type Value = MessageContent<'a>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<MessageContent<'a>, E> {
                Ok(MessageContent(vec![MessageBlock::from_text(LenientText(Some(text.into())))]))
            }
            fn visit_str<E>(self, text: &str) -> Result<MessageContent<'a>, E> {
                Ok(MessageContent(vec![MessageBlock::from_text(LenientText(Some(text.to_owned().into())))]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<MessageContent<'a>, A::Error> {
                let mut blocks = Vec::with_capacity(1);
                while let Some(ContentElement(block)) = list.next_element()? {
                    blocks.push(block);
                }
                Ok(MessageContent(blocks))
            }
            ignore_other!('de, MessageContent<'a>, bool, numbers, null, object);
        }
        deserializer.deserialize_any(ContentVisitor(PhantomData))
    }
}

impl<'a> MessageBlock<'a> {
    fn from_text(text: LenientText<'a>) -> Self {
        Self { kind: LenientText(Some("text".into())), text, ..Self::default() }
    }
}

/// An element of a content list: nearly always an object, sometimes a bare string.
#[derive(Default)]
struct ContentElement<'a>(MessageBlock<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for ContentElement<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ElementVisitor<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for ElementVisitor<'a> {
            type Value = ContentElement<'a>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }
            fn visit_str<E>(self, text: &str) -> Result<ContentElement<'a>, E> {
                Ok(ContentElement(MessageBlock::from_text(LenientText(Some(text.to_owned().into())))))
            }
            fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<ContentElement<'a>, A::Error> {
                MessageBlock::deserialize(MapAccessDeserializer::new(object)).map(ContentElement)
            }
            ignore_other!('de, ContentElement<'a>, bool, numbers, null, list);
        }
        deserializer.deserialize_any(ElementVisitor(PhantomData))
    }
}

impl<'de> Deserialize<'de> for MeasuredResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MeasureVisitor)
    }
}

struct MeasureVisitor;

impl<'de> Visitor<'de> for MeasureVisitor {
    type Value = MeasuredResult;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_str<E>(self, text: &str) -> Result<MeasuredResult, E> {
        Ok(MeasuredResult::from_text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<MeasuredResult, A::Error> {
        let (mut whole, mut items, mut texts) = (MeasuredResult::default(), 0, 0);
        while let Some(part) = list.next_element::<ResultItem>()? {
            if items > 0 && part.0.as_ref().is_some_and(|text| text.bytes == 0 || text.is_own) {
                // A part that we added after the output.
                continue;
            }
            items += 1;
            if let Some(text) = part.0 {
                texts += 1;
                whole.is_own |= text.is_own;
                whole.bytes += text.bytes;
                whole.lines += text.lines;
                if whole.head.len() < KEPT_BYTES.get().head {
                    if !whole.head.is_empty() {
                        whole.head.push('\n');
                    }
                    whole.head.push_str(&text.head);
                }
                whole.tail = text.tail;
            }
        }
        // Several agents write plain text as a single text block.
        whole.shape = if items == 1 && texts == 1 { ResultShape::Text } else { ResultShape::List(items) };
        Ok(whole)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<MeasuredResult, A::Error> {
        if KEPT_BYTES.get().head > HEAD_BYTES {
            let object = Value::deserialize(MapAccessDeserializer::new(object))?;
            let keys = object.as_object().into_iter().flat_map(|object| object.keys()).take(MAX_KEYS).cloned();
            let head = serde_json::to_string_pretty(&object).unwrap_or_default();
            return Ok(MeasuredResult {
                shape: ResultShape::Object(keys.collect()),
                head,
                ..MeasuredResult::default()
            });
        }
        let mut keys = Vec::new();
        while let Some((key, IgnoredAny)) = object.next_entry::<String, _>()? {
            if keys.len() < MAX_KEYS {
                keys.push(key);
            }
        }
        Ok(MeasuredResult { shape: ResultShape::Object(keys), ..MeasuredResult::default() })
    }

    fn visit_bool<E>(self, _: bool) -> Result<MeasuredResult, E> {
        Ok(MeasuredResult { shape: ResultShape::Other("boolean"), ..MeasuredResult::default() })
    }
    fn visit_i64<E>(self, _: i64) -> Result<MeasuredResult, E> {
        Ok(MeasuredResult { shape: ResultShape::Other("number"), ..MeasuredResult::default() })
    }
    fn visit_u64<E>(self, _: u64) -> Result<MeasuredResult, E> {
        Ok(MeasuredResult { shape: ResultShape::Other("number"), ..MeasuredResult::default() })
    }
    fn visit_f64<E>(self, _: f64) -> Result<MeasuredResult, E> {
        Ok(MeasuredResult { shape: ResultShape::Other("number"), ..MeasuredResult::default() })
    }
    fn visit_unit<E>(self) -> Result<MeasuredResult, E> {
        Ok(MeasuredResult::default())
    }
}

/// An item of a list result: its text, if it has any. Images and documents only count as items.
#[derive(Default)]
struct ResultItem(Option<MeasuredResult>);

impl<'de> Deserialize<'de> for ResultItem {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ResultItemVisitor;
        impl<'de> Visitor<'de> for ResultItemVisitor {
            type Value = ResultItem;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<ResultItem, E> {
                MeasureVisitor.visit_str(text).map(|measured| ResultItem(Some(measured)))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<ResultItem, A::Error> {
                let mut text = None;
                while let Some(key) = object.next_key::<Cow<'_, str>>()? {
                    if key == "text" {
                        text = Some(object.next_value::<MeasuredResult>()?);
                    } else {
                        object.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(ResultItem(text))
            }
            ignore_other!('de, ResultItem, bool, numbers, null, list);
        }
        deserializer.deserialize_any(ResultItemVisitor)
    }
}

/// A tool call as chat models write it, with name and arguments beside its id or in `function`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct ChatToolCall<'a> {
    #[serde(borrow)]
    id: LenientText<'a>,
    #[serde(borrow)]
    name: LenientText<'a>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    function: LenientObject<CalledFunction<'a>>,
}

/// The tool that a call names, and what it is called with.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct CalledFunction<'a> {
    #[serde(borrow)]
    pub(crate) name: LenientText<'a>,
    #[serde(borrow)]
    pub(crate) arguments: Option<&'a RawValue>,
}

impl<'a> ChatToolCall<'a> {
    /// The id of the call, and the tool with its arguments, wherever the call has them.
    pub(crate) fn into_parts(self) -> (LenientText<'a>, CalledFunction<'a>) {
        let inner = self.function.0;
        let name = if self.name.as_str().is_empty() { inner.name } else { self.name };
        (self.id, CalledFunction { name, arguments: self.arguments.or(inner.arguments) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(json: &str) -> MeasuredResult {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn trailing_newline_does_not_add_a_line() {
        assert_eq!(measure(r#""a\nb\n""#).lines, 2);
        assert_eq!(measure(r#""a\nb""#).lines, 2);
        assert_eq!(measure(r#""""#).lines, 0);
        assert_eq!(measure(r#""é""#).bytes, 2);
    }

    #[test]
    fn every_result_shape_is_recognized() {
        // S003-14
        assert_eq!(measure(r#""x""#).shape, ResultShape::Text);
        assert_eq!(measure(r#"[{"type":"text","text":"x"}]"#).shape, ResultShape::Text);
        assert_eq!(
            measure(r#"[{"type":"text","text":"x"},{"type":"image","source":{"data":"AAAA"}}]"#).shape,
            ResultShape::List(2)
        );
        let keys = ["a", "b", "c", "d", "e"].map(String::from).to_vec();
        assert_eq!(measure(r#"{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}"#).shape, ResultShape::Object(keys));
        assert_eq!(measure("true").shape, ResultShape::Other("boolean"));
        assert_eq!(measure("null").shape, ResultShape::Empty);
    }

    #[test]
    fn bare_text_and_strings_in_lists_become_text_blocks() {
        // L000-04
        for json in [r#""hi""#, r#"["hi"]"#, r#"[{"type":"text","text":"hi"}]"#] {
            let content: MessageContent<'_> = serde_json::from_str(json).unwrap();
            assert_eq!(content.0[0].kind.as_str(), "text");
            assert_eq!(content.0[0].text.as_str(), "hi");
        }
    }

    #[test]
    fn our_own_text_is_not_measured() {
        let own = "<rethread-context>\\nerror: planted\\n\\n(as of 2026-03-02 09:08 UTC)\\n</rethread-context>";
        for json in [
            format!(r#""boom\n\n{own}""#),
            format!(r#"[{{"type":"text","text":"boom"}},{{"type":"text","text":"{own}"}}]"#),
            format!(r#"[{{"type":"text","text":"boom"}},{{"type":"text","text":"{}"}}]"#, &own[..40]),
        ] {
            let measured = measure(&json);
            assert_eq!((measured.lines, measured.bytes, measured.shape), (1, 4, ResultShape::Text), "{json}");
            assert_eq!((measured.head.as_str(), measured.tail.as_str(), measured.is_own), ("boom", "boom", false));
        }
    }
}
