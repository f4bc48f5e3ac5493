//! A small seeded random number generator (xorshift64*) for sizes and words. Not for secrets.

/// Random numbers that depend only on the seed.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Creates a generator. Adjacent seeds give unrelated numbers.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        let mixed = (seed ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        // A state of zero would never change.
        Self((mixed ^ (mixed >> 29)) | 1)
    }

    /// The next 64 bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number in `0..limit`; 0 when `limit` is 0.
    pub const fn below(&mut self, limit: u64) -> u64 {
        if limit == 0 { 0 } else { (self.bits() >> 11) % limit }
    }

    /// A number in `low..high`.
    pub const fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low))
    }

    /// True with a probability of `percent` %.
    pub const fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A valid index for a length of `len`.
    #[expect(clippy::cast_possible_truncation, reason = "the result is below a usize")]
    pub const fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// One of `items`, which must not be empty.
    pub const fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.index(items.len())]
    }

    /// A log-normal size: most are near `median`, a few are many times larger. `spread` is the standard deviation of the
    /// logarithm; transcript and file sizes have about 1 to 1.6.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "sizes are positive, finite and far below 2^52"
    )]
    pub fn size(&mut self, median: usize, spread: f64) -> usize {
        (median as f64 * (spread * self.normal()).exp()) as usize
    }

    /// Normally distributed with mean 0 and standard deviation 1 (Box-Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.fraction()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.fraction()).cos()
    }

    /// A number from 0 to just below 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit an f64 exactly")]
    pub const fn fraction(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let (mut one, mut two) = (Random::new(7), Random::new(7));
        assert!((0..100).all(|_| one.bits() == two.bits()));
        assert_ne!(Random::new(7).bits(), Random::new(8).bits());
    }

    #[test]
    fn half_of_the_sizes_are_below_the_median() {
        let mut random = Random::new(1);
        let below = (0..10_000).filter(|_| random.size(1000, 1.2) < 1000).count();
        assert!((4_700..5_300).contains(&below), "{below} of 10000 below the median");
    }
}
