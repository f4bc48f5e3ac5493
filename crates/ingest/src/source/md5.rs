//! MD5, with which some agents name the folder of a directory. Never used to protect anything.

/// How far each step of a round rotates.
const ROTATIONS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// The hash of some bytes, as 32 hex digits.
pub(crate) fn md5_hex(bytes: &[u8]) -> String {
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((bytes.len() as u64 * 8).to_le_bytes());
    let mut state = [0x6745_2301_u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for block in padded.chunks_exact(64) {
        let words: Vec<u32> = block.chunks_exact(4).map(little_endian).collect();
        let mixed = mix(state, &words);
        for (old, new) in state.iter_mut().zip(mixed) {
            *old = old.wrapping_add(new);
        }
    }
    // The words are stored with their lowest byte first.
    state.iter().fold(String::new(), |hex, word| format!("{hex}{:08x}", word.swap_bytes()))
}

fn little_endian(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, byte| (word << 8) | u32::from(*byte))
}

/// The 64 steps over one block.
fn mix([mut a, mut b, mut c, mut d]: [u32; 4], words: &[u32]) -> [u32; 4] {
    for step in 0..64_usize {
        let (chosen, word) = match step / 16 {
            0 => ((b & c) | (!b & d), step),
            1 => ((d & b) | (!d & c), (5 * step + 1) % 16),
            2 => (b ^ c ^ d, (3 * step + 5) % 16),
            _ => (c ^ (b | !d), (7 * step) % 16),
        };
        // The constants of the standard are defined by the sine.
        let constant = (((step + 1) as f64).sin().abs() * 4_294_967_296.0) as u32;
        let sum = a.wrapping_add(chosen).wrapping_add(constant).wrapping_add(words[word]);
        let turned = sum.rotate_left(ROTATIONS[step / 16][step % 4]);
        (a, d, c, b) = (d, c, b, b.wrapping_add(turned));
    }
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_standard() {
        assert_eq!(md5_hex(b""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(md5_hex(b"message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
        let digits = "1234567890".repeat(8);
        assert_eq!(md5_hex(digits.as_bytes()), "57edf4a22be3c955ac49da2e2107b67a");
    }
}
