//! Generates random identifiers in the formats agents use.

use crate::random::Random;

const HEX: &[u8; 16] = b"0123456789abcdef";
const API_ID_CHARS: &[u8; 32] = b"123456789ABCDEFGHJKLMNPQRSTUVWXa";
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A lower-case UUID, version 4.
pub fn uuid(random: &mut Random) -> String {
    let mut id = hex(random, 32);
    id.replace_range(12..13, "4");
    id.replace_range(16..17, "a");
    for at in [20, 16, 12, 8] {
        id.insert(at, '-');
    }
    id
}

/// `len` lower-case hexadecimal digits.
pub fn hex(random: &mut Random, len: usize) -> String {
    random_text(random, HEX, 4, len)
}

/// `len` characters of base64 (no padding).
pub fn base64(random: &mut Random, len: usize) -> String {
    random_text(random, BASE64, 6, len)
}

/// An API identifier such as `toolu_01…` or `msg_01…`.
pub fn api_id(random: &mut Random, prefix: &str) -> String {
    format!("{prefix}01{}", random_text(random, API_ID_CHARS, 5, 22))
}

/// `len` random characters of an alphabet with `2^bits_each` characters.
fn random_text(random: &mut Random, alphabet: &[u8], bits_each: u32, len: usize) -> String {
    let mut text = String::with_capacity(len);
    let (mut pool, mut left) = (0_u64, 0_u32);
    let mask = alphabet.len() - 1;
    while text.len() < len {
        if left < bits_each {
            (pool, left) = (random.bits(), 60);
        }
        text.push(char::from(alphabet[usize::from(pool.to_le_bytes()[0]) & mask]));
        pool >>= bits_each;
        left -= bits_each;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{api_id, uuid};
    use crate::random::Random;

    #[test]
    fn ids_have_the_real_format() {
        let mut random = Random::new(3);
        let id = uuid(&mut random);
        let dashes: Vec<_> = id.match_indices('-').map(|(at, _)| at).collect();
        assert_eq!((id.len(), dashes), (36, vec![8, 13, 18, 23]), "{id}");
        assert_eq!(&id[14..15], "4");
        assert_eq!(api_id(&mut random, "toolu_").len(), 30);
    }
}
