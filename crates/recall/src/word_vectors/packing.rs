//! Packs the list of word pieces into a table that is searched as it is. Only the build script runs this, so that starting
//! the program costs nothing.
//!
//! The table is a list of slots, little endian: a check of the piece (4 bytes) and its row (2 bytes).

use super::piece_hash::{NO_ROW, PieceHash};

/// Packs a list with one piece per line, in the order of their rows.
pub(super) fn pack(list: &str) -> Vec<u8> {
    let pieces: Vec<&str> = list.lines().collect();
    // A third of the slots is empty: a search ends at the next empty slot.
    let mut slots = vec![(0, NO_ROW); pieces.len() * 3 / 2 + 1];
    for (piece, row) in pieces.into_iter().zip(0..NO_ROW) {
        let (mut at, check) = PieceHash::START.extend(piece.as_bytes()).place(slots.len());
        while slots[at].1 != NO_ROW {
            at = (at + 1) % slots.len();
        }
        slots[at] = (check, row);
    }
    slots.iter().flat_map(|(check, row)| check.to_le_bytes().into_iter().chain(row.to_le_bytes())).collect()
}
