//! Reads messages in the wire format of Protocol Buffers, without their descriptions. Damaged input ends a message early.

/// The bytes of a message.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProtobufMessage<'a>(pub(crate) &'a [u8]);

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProtobufValue<'a> {
    /// A number of variable or fixed length.
    Number(u64),
    /// A text, a message or any other bytes.
    Bytes(&'a [u8]),
}

impl<'a> ProtobufMessage<'a> {
    /// The fields with their numbers, in the order in which they were written.
    pub(crate) fn fields(self) -> impl Iterator<Item = (u64, ProtobufValue<'a>)> {
        let mut rest = self.0;
        std::iter::from_fn(move || read_field(&mut rest))
    }

    /// Whether all of it can be read.
    pub(crate) fn is_whole(self) -> bool {
        let mut rest = self.0;
        while read_field(&mut rest).is_some() {}
        rest.is_empty()
    }

    /// The messages in a field that may be repeated.
    pub(crate) fn messages(self, number: u64) -> impl Iterator<Item = ProtobufMessage<'a>> {
        self.fields().filter_map(move |(found, value)| match value {
            ProtobufValue::Bytes(bytes) if found == number => Some(ProtobufMessage(bytes)),
            _ => None,
        })
    }

    /// The message in a field.
    pub(crate) fn message(self, number: u64) -> Option<ProtobufMessage<'a>> {
        self.messages(number).last()
    }

    /// The text in a field; empty if it is missing.
    pub(crate) fn text(self, number: u64) -> &'a str {
        self.message(number).and_then(|text| std::str::from_utf8(text.0).ok()).unwrap_or_default()
    }

    /// The texts in a repeated field.
    pub(crate) fn texts(self, number: u64) -> Vec<&'a str> {
        self.messages(number).filter_map(|text| std::str::from_utf8(text.0).ok()).collect()
    }

    /// The number in a field.
    pub(crate) fn number(self, number: u64) -> Option<u64> {
        let numbers = self.fields().filter_map(|(found, value)| match value {
            ProtobufValue::Number(value) if found == number => Some(value),
            _ => None,
        });
        numbers.last()
    }
}

fn read_field<'a>(rest: &mut &'a [u8]) -> Option<(u64, ProtobufValue<'a>)> {
    let key = read_varint(rest)?;
    let value = match key & 7 {
        0 => ProtobufValue::Number(read_varint(rest)?),
        1 => ProtobufValue::Number(read_fixed(rest, 8)?),
        2 => {
            let length = usize::try_from(read_varint(rest)?).ok()?;
            let (bytes, after) = rest.split_at_checked(length)?;
            *rest = after;
            ProtobufValue::Bytes(bytes)
        }
        5 => ProtobufValue::Number(read_fixed(rest, 4)?),
        _ => return None,
    };
    Some((key >> 3, value))
}

fn read_varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for (at, byte) in rest.iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7f).checked_shl(7 * at as u32)?;
        if byte & 0x80 == 0 {
            *rest = &rest[at + 1..];
            return Some(value);
        }
    }
    None
}

fn read_fixed(rest: &mut &[u8], length: usize) -> Option<u64> {
    let (bytes, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `1: "ab", 2: 300, 3: { 1: "x" }, 1: "c", 4: 5 as fixed32`
    const MESSAGE: &[u8] = b"\x0a\x02ab\x10\xac\x02\x1a\x03\x0a\x01x\x0a\x01c\x25\x05\0\0\0";

    #[test]
    fn fields_of_every_wire_type_are_read() {
        let message = ProtobufMessage(MESSAGE);
        assert_eq!(message.texts(1), ["ab", "c"]);
        assert_eq!((message.text(1), message.number(2), message.number(4)), ("c", Some(300), Some(5)));
        assert_eq!(message.message(3).map(|inner| inner.text(1)), Some("x"));
        assert_eq!((message.text(9), message.number(9)), ("", None));
    }

    #[test]
    fn damaged_messages_end_early() {
        for end in 0..MESSAGE.len() {
            assert!(ProtobufMessage(&MESSAGE[..end]).fields().count() < 5);
        }
        assert!(ProtobufMessage(MESSAGE).is_whole() && !ProtobufMessage(&MESSAGE[..3]).is_whole());
        assert_eq!(ProtobufMessage(&[0xff; 40]).fields().count(), 0);
        assert_eq!(ProtobufMessage(b"\x0a\xff\xff\xff\xff\x0f").fields().count(), 0, "longer than the input");
    }
}
