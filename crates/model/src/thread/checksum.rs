//! The checksum at the end of every record we write: `"crc"`, the CRC-32 of the line up to the comma before it.
//!
//! Records without one were written by older versions or by other programs, and are accepted.

/// Text between a record and the eight hexadecimal digits of its checksum.
const START: &[u8] = br#","crc":""#;
/// Text after the digits.
const END: &[u8] = br#""}"#;
const DIGITS: usize = 8;
const LENGTH: usize = START.len() + DIGITS + END.len();
/// The field that holds the checksum.
pub(super) const FIELD: &str = "crc";

/// What the end of a line says about the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineChecksum {
    /// There is none.
    Absent,
    /// The line is as it was written.
    Correct,
    /// The line, or the checksum itself, was changed since.
    Wrong,
}

/// Adds the checksum to a JSON object without newline.
pub(super) fn add(line: &mut Vec<u8>) {
    if line.pop() != Some(b'}') {
        return;
    }
    let checksum = crc32fast::hash(line);
    line.extend_from_slice(START);
    line.extend_from_slice(format!("{checksum:0DIGITS$x}").as_bytes());
    line.extend_from_slice(END);
}

/// Checks a line without newline.
pub(super) fn check(line: &[u8]) -> LineChecksum {
    let Some((body, end)) = line.split_last_chunk::<LENGTH>() else { return LineChecksum::Absent };
    match differences(end) {
        0 if end[START.len()..][..DIGITS] == *format!("{:0DIGITS$x}", crc32fast::hash(body)).as_bytes() => {
            LineChecksum::Correct
        }
        // One damaged byte must not turn a checksum into an unknown field.
        0 | 1 => LineChecksum::Wrong,
        _ => LineChecksum::Absent,
    }
}

/// Whether a line was written up to its end, even if it was damaged later. A line that was cut off while it was written
/// was never acknowledged.
pub(super) fn was_written_whole(line: &[u8]) -> bool {
    let without_break = line.split_last().map_or(line, |(_, rest)| rest);
    [line, without_break].iter().any(|line| check(line) != LineChecksum::Absent)
}

/// In how many bytes the end of a line differs from a checksum of any value.
fn differences(end: &[u8; LENGTH]) -> usize {
    let shape = START.iter().map(Some).chain([None; DIGITS]).chain(END.iter().map(Some));
    let fits = |(byte, expected): (&u8, Option<&u8>)| match expected {
        Some(expected) => byte == expected,
        None => byte.is_ascii_digit() || (b'a'..=b'f').contains(byte),
    };
    end.iter().zip(shape).filter(|pair| !fits(*pair)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_is_noticed() {
        // D66
        let mut line = br#"{"recordType":"message","seq":7,"text":"stay as you are"}"#.to_vec();
        assert_eq!(check(&line), LineChecksum::Absent);
        add(&mut line);
        assert_eq!(check(&line), LineChecksum::Correct);
        for at in 0..line.len() * 8 {
            let mut damaged = line.clone();
            damaged[at / 8] ^= 1 << (at % 8);
            assert_eq!(check(&damaged), LineChecksum::Wrong, "bit {at}");
        }
        for length in 0..line.len() {
            assert!(!was_written_whole(&line[..length]), "cut at {length}");
        }
    }

    #[test]
    fn the_checksum_is_a_plain_crc_32() {
        // D66
        let mut line = br#"{"a":1}"#.to_vec();
        add(&mut line);
        assert_eq!(
            String::from_utf8(line).unwrap(),
            format!(r#"{{"a":1,"crc":"{:08x}"}}"#, crc32fast::hash(b"{\"a\":1"))
        );
    }
}
