//! Hashes word pieces. A piece is recognized by its hash alone.
//!
//! Place and check together have far more bits than there are pieces, so that another one is practically never taken for
//! it.

/// The row of an empty slot, at which a search ends.
pub(super) const NO_ROW: u16 = u16::MAX;

/// The hash of a piece, built byte by byte: a word gives the hashes of all its beginnings in one pass.
#[derive(Clone, Copy)]
pub(super) struct PieceHash(u64);

impl Default for PieceHash {
    fn default() -> Self {
        Self::START
    }
}

impl PieceHash {
    /// Hashes the start of a word.
    pub(super) const START: Self = Self(0xcbf2_9ce4_8422_2325);

    #[inline]
    pub(super) fn extend(self, bytes: &[u8]) -> Self {
        Self(bytes.iter().fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)))
    }

    /// The first slot to look in, and the check that identifies the piece there.
    #[inline]
    pub(super) fn place(self, slots: usize) -> (usize, u32) {
        let mixed = (self.0 ^ self.0 >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((((mixed >> 32) * slots as u64) >> 32) as usize, (mixed ^ self.0) as u32)
    }
}
