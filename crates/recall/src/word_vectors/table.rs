//! The vectors of word pieces. They are part of the program; only what a search touches is loaded into memory.

use super::piece_hash::{NO_ROW, PieceHash};

/// Numbers of a vector.
pub(super) const DIMENSIONS: usize = 64;

/// Bytes of a slot: the check of a piece (4) and its row (2).
const SLOT: usize = 6;

/// The vector of a piece. The numbers are signed. Frequent words have small ones.
pub(super) type PieceRow = [u8; DIMENSIONS];

static SLOTS: &[[u8; SLOT]] = include_bytes!(concat!(env!("OUT_DIR"), "/word_pieces.bin")).as_chunks().0;
static ROWS: &[PieceRow] = include_bytes!("rows.bin").as_chunks().0;

/// The vector of a piece; `None` if the piece is not listed.
#[inline]
pub(super) fn find(hash: PieceHash) -> Option<&'static PieceRow> {
    let (first, check) = hash.place(SLOTS.len());
    let (before, after) = SLOTS.split_at_checked(first)?;
    for &[a, b, c, d, e, f] in after.iter().chain(before) {
        let row = u16::from_le_bytes([e, f]);
        if row == NO_ROW {
            break;
        }
        if u32::from_le_bytes([a, b, c, d]) == check {
            return ROWS.get(usize::from(row));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::packing::pack;
    use super::*;

    const LIST: &str = include_str!("pieces.txt");

    #[test]
    fn each_listed_piece_has_its_own_row() {
        assert_eq!(pack(LIST), SLOTS.concat());
        assert_eq!(LIST.lines().count(), ROWS.len());
        for (piece, row) in LIST.lines().zip(ROWS) {
            assert!(
                find(PieceHash::START.extend(piece.as_bytes())).is_some_and(|found| std::ptr::eq(found, row)),
                "{piece}"
            );
        }
    }

    #[test]
    fn other_texts_have_no_row() {
        for at in 0..100_000 {
            assert!(find(PieceHash::START.extend(format!("no piece {at}").as_bytes())).is_none(), "{at}");
        }
    }
}
