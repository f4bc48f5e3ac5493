//! The content of a message: a text or a list of blocks, and tool results that are measured, not copied.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::loose::{Flag, Text, swallow};

/// How much of a tool result's beginning is looked at: enough for an error's first line.
const HEAD_BYTES: usize = 2048;
/// How much of its end is looked at: builds and tests say last what failed, some agents write the exit code there.
const TAIL_BYTES: usize = 1536;
/// How many keys of an object result are named in its summary.
const KEYS_NAMED: usize = 5;

/// Message content. Always a list of blocks; a bare text becomes one text block.
#[derive(Debug, Default)]
pub(crate) struct Content<'a>(pub(crate) Vec<Block<'a>>);

/// One block of any agent's message content. Fields an agent does not use stay empty.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Block<'a> {
    #[serde(rename = "type", borrow)]
    pub(crate) kind: Text<'a>,
    #[serde(borrow)]
    pub(crate) text: Text<'a>,
    #[serde(borrow)]
    pub(crate) thinking: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) id: Text<'a>,
    #[serde(borrow)]
    pub(crate) name: Text<'a>,
    #[serde(borrow, alias = "arguments")]
    pub(crate) input: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) tool_use_id: Text<'a>,
    pub(crate) content: Measured,
    pub(crate) is_error: Flag,
}

/// What is known of a tool result after looking at it once.
#[derive(Debug, Default, Clone)]
pub(crate) struct Measured {
    pub(crate) shape: Shape,
    pub(crate) lines: u64,
    pub(crate) bytes: u64,
    pub(crate) head: String,
    pub(crate) tail: String,
}

/// The JSON shape of a tool result.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    #[default]
    Nothing,
    Text,
    List(usize),
    Object(Vec<String>),
    Other(&'static str),
}

impl Measured {
    fn add(&mut self, text: &str) {
        self.bytes += text.len() as u64;
        let newlines = memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
        self.lines += newlines + u64::from(!text.is_empty() && !text.ends_with('\n'));
        let room = HEAD_BYTES.saturating_sub(self.head.len());
        if room > 0 {
            if !self.head.is_empty() {
                self.head.push('\n');
            }
            self.head.push_str(&text[..text.floor_char_boundary(room)]);
        }
        self.tail.clear();
        self.tail.push_str(&text[text.ceil_char_boundary(text.len().saturating_sub(TAIL_BYTES))..]);
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for Read<'a> {
            type Value = Content<'a>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Content<'a>, E> {
                Ok(Content(vec![Block::plain(Text(Some(text.into())))]))
            }
            fn visit_str<E>(self, text: &str) -> Result<Content<'a>, E> {
                Ok(Content(vec![Block::plain(Text(Some(text.to_owned().into())))]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Content<'a>, A::Error> {
                let mut blocks = Vec::with_capacity(1);
                while let Some(Element(block)) = list.next_element()? {
                    blocks.push(block);
                }
                Ok(Content(blocks))
            }
            swallow!('de, Content<'a>, bool, numbers, null, object);
        }
        deserializer.deserialize_any(Read(PhantomData))
    }
}

impl<'a> Block<'a> {
    fn plain(text: Text<'a>) -> Self {
        Self { kind: Text(Some("text".into())), text, ..Self::default() }
    }
}

/// An element of a content list: nearly always an object, now and then a bare text.
#[derive(Default)]
struct Element<'a>(Block<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for Element<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for Read<'a> {
            type Value = Element<'a>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }
            fn visit_str<E>(self, text: &str) -> Result<Element<'a>, E> {
                Ok(Element(Block::plain(Text(Some(text.to_owned().into())))))
            }
            fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Element<'a>, A::Error> {
                Block::deserialize(serde::de::value::MapAccessDeserializer::new(object)).map(Element)
            }
            swallow!('de, Element<'a>, bool, numbers, null, list);
        }
        deserializer.deserialize_any(Read(PhantomData))
    }
}

impl<'de> Deserialize<'de> for Measured {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Measure)
    }
}

struct Measure;

impl<'de> Visitor<'de> for Measure {
    type Value = Measured;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Measured, E> {
        let mut measured = Measured { shape: Shape::Text, ..Measured::default() };
        measured.add(text);
        Ok(measured)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Measured, A::Error> {
        let (mut whole, mut items, mut texts) = (Measured::default(), 0, 0);
        while let Some(part) = list.next_element::<Part>()? {
            items += 1;
            if let Some(text) = part.0 {
                texts += 1;
                whole.bytes += text.bytes;
                whole.lines += text.lines;
                if whole.head.len() < HEAD_BYTES {
                    if !whole.head.is_empty() {
                        whole.head.push('\n');
                    }
                    whole.head.push_str(&text.head);
                }
                whole.tail = text.tail;
            }
        }
        // One text block is how several agents write a plain text.
        whole.shape = if items == 1 && texts == 1 { Shape::Text } else { Shape::List(items) };
        Ok(whole)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Measured, A::Error> {
        let mut keys = Vec::new();
        while let Some((key, IgnoredAny)) = object.next_entry::<String, _>()? {
            if keys.len() < KEYS_NAMED {
                keys.push(key);
            }
        }
        Ok(Measured { shape: Shape::Object(keys), ..Measured::default() })
    }

    fn visit_bool<E>(self, _: bool) -> Result<Measured, E> {
        Ok(Measured { shape: Shape::Other("boolean"), ..Measured::default() })
    }
    fn visit_i64<E>(self, _: i64) -> Result<Measured, E> {
        Ok(Measured { shape: Shape::Other("number"), ..Measured::default() })
    }
    fn visit_u64<E>(self, _: u64) -> Result<Measured, E> {
        Ok(Measured { shape: Shape::Other("number"), ..Measured::default() })
    }
    fn visit_f64<E>(self, _: f64) -> Result<Measured, E> {
        Ok(Measured { shape: Shape::Other("number"), ..Measured::default() })
    }
    fn visit_unit<E>(self) -> Result<Measured, E> {
        Ok(Measured::default())
    }
}

/// A part of a list result: its text, if it has one. Images and documents only count as items.
#[derive(Default)]
struct Part(Option<Measured>);

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Part;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Part, E> {
                Measure.visit_str(text).map(|measured| Part(Some(measured)))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Part, A::Error> {
                let mut text = None;
                while let Some(key) = object.next_key::<std::borrow::Cow<'_, str>>()? {
                    if key == "text" {
                        text = Some(object.next_value::<Measured>()?);
                    } else {
                        object.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(Part(text))
            }
            swallow!('de, Part, bool, numbers, null, list);
        }
        deserializer.deserialize_any(Read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(json: &str) -> Measured {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_trailing_newline_is_not_a_line_of_its_own() {
        assert_eq!(measure(r#""a\nb\n""#).lines, 2);
        assert_eq!(measure(r#""a\nb""#).lines, 2);
        assert_eq!(measure(r#""""#).lines, 0);
        assert_eq!(measure(r#""é""#).bytes, 2);
    }

    #[test]
    fn s003_14_every_shape_of_result_is_known() {
        assert_eq!(measure(r#""x""#).shape, Shape::Text);
        assert_eq!(measure(r#"[{"type":"text","text":"x"}]"#).shape, Shape::Text);
        assert_eq!(
            measure(r#"[{"type":"text","text":"x"},{"type":"image","source":{"data":"AAAA"}}]"#).shape,
            Shape::List(2)
        );
        let keys = ["a", "b", "c", "d", "e"].map(String::from).to_vec();
        assert_eq!(measure(r#"{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}"#).shape, Shape::Object(keys));
        assert_eq!(measure("true").shape, Shape::Other("boolean"));
        assert_eq!(measure("null").shape, Shape::Nothing);
    }

    #[test]
    fn l000_04_bare_text_and_bare_strings_in_lists_are_text_blocks() {
        for json in [r#""hi""#, r#"["hi"]"#, r#"[{"type":"text","text":"hi"}]"#] {
            let content: Content<'_> = serde_json::from_str(json).unwrap();
            assert_eq!(content.0[0].kind.as_str(), "text");
            assert_eq!(content.0[0].text.as_str(), "hi");
        }
    }
}
