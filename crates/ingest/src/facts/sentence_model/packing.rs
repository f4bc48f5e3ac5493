//! Packs the weights of a model into a table of bytes that is searched as it is.
//!
//! The build script runs this, so that starting the program costs nothing.
//!
//! Layout, little endian: the number of classes and of slots (`u32` each), a tag for each slot, the slots, then the weights.
//! A tag is a byte of the hash of a feature, 0 for an empty slot; most features of a sentence are unknown, and the tags alone
//! show that. A slot has the check of its feature, and where its weights start and how many there are. A weight is a number
//! with its class in the lowest bits. A known word is a feature without weights; all other features have a space.

/// Bytes of a slot: the check (4), the offset of the weights (3) and the count (1).
pub(super) const SLOT: usize = 8;
/// Bytes of a weight.
pub(super) const WEIGHT: usize = 2;

/// The class is in this many lowest bits of a weight.
pub(super) const CLASS_BITS: u32 = 4;
/// The highest class.
pub(super) const MAX_CLASS: i16 = (1 << CLASS_BITS) - 1;
const MAX_WEIGHT: i16 = i16::MAX >> CLASS_BITS;

/// The hash of a feature by its parts, which are separated by spaces when it is written.
pub(super) fn feature_hash<'a>(parts: impl IntoIterator<Item = &'a str>) -> u64 {
    let mut hash = 0;
    for part in parts {
        for bytes in part.as_bytes().chunks(8) {
            hash = mix(hash ^ bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)));
        }
        hash = mix(hash ^ part.len() as u64);
    }
    hash ^ hash >> 29
}

fn mix(number: u64) -> u64 {
    (number ^ number >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
}

/// Where a feature is looked for first, and by what it is recognized there. Both together have far more bits than there are
/// features, so that another feature is practically never taken for it.
pub(super) fn place(hash: u64, slots: u32) -> (usize, u8, u32) {
    let first = ((hash >> 32) * u64::from(slots)) >> 32;
    (first as usize, (hash as u8).max(1), hash as u32)
}

/// Packs a model as the trainer writes it: a line of classes, a line of known words, then a line per feature.
pub(super) fn pack(text: &str) -> Vec<u8> {
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let classes = lines.next().unwrap_or_default().split_whitespace().count();
    let words = lines.next().unwrap_or_default().split_whitespace().map(|word| (word, ""));
    let rows: Vec<(&str, &str)> = words.chain(lines.filter_map(|line| line.split_once('\t'))).collect();
    // A third of the slots is empty: a search ends at the next empty slot.
    let slots = u32::try_from(rows.len() * 3 / 2 + 1).unwrap_or(u32::MAX);
    let mut tags = vec![0; slots as usize];
    let mut table = vec![0; tags.len() * SLOT];
    let mut weights = Vec::new();
    for (feature, values) in rows {
        let (first, tag, check) = place(feature_hash(feature.split(' ')), slots);
        let mut at = first;
        while tags[at] != 0 {
            at = (at + 1) % tags.len();
        }
        tags[at] = tag;
        let start = weights.len() / WEIGHT;
        weights.extend(values.split(' ').filter_map(parse_weight).flatten());
        let count = u8::try_from(weights.len() / WEIGHT - start).unwrap_or(u8::MAX);
        let slot = &mut table[at * SLOT..][..SLOT];
        slot[..4].copy_from_slice(&check.to_le_bytes());
        slot[4..7].copy_from_slice(&start.to_le_bytes()[..3]);
        slot[7] = count;
    }
    let header = [u32::try_from(classes).unwrap_or_default(), slots].map(u32::to_le_bytes);
    [header.concat(), tags, table, weights].concat()
}

/// Reads `class=weight`.
fn parse_weight(value: &str) -> Option<[u8; WEIGHT]> {
    let (class, weight) = value.split_once('=')?;
    let (class, weight) = (class.parse::<i16>().ok()?, weight.parse::<i16>().ok()?);
    Some((weight.clamp(-MAX_WEIGHT, MAX_WEIGHT) << CLASS_BITS | class & MAX_CLASS).to_le_bytes())
}
