//! Amounts of money as integers, because budgets are compared and must not be rounded.

use std::fmt;
use std::str::FromStr;

/// Nanodollars per dollar.
const DOLLAR: u64 = 1_000_000_000;
/// Decimal places of a dollar amount.
const DECIMALS: usize = 9;

/// An amount in billionths of a US dollar. Arithmetic saturates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct NanoUsd(u64);

impl NanoUsd {
    /// $0.00.
    pub const ZERO: Self = Self(0);

    /// Creates an amount from billionths of a dollar.
    pub const fn new(billionths: u64) -> Self {
        Self(billionths)
    }

    /// The amount in billionths of a dollar.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Saturating sum.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Saturating product.
    #[must_use]
    pub const fn times(self, count: u64) -> Self {
        Self(self.0.saturating_mul(count))
    }
}

impl fmt::Display for NanoUsd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = format!("{:09}", self.0 % DOLLAR);
        let needed = decimals.trim_end_matches('0').len().max(2);
        write!(f, "${}.{}", self.0 / DOLLAR, &decimals[..needed])
    }
}

impl FromStr for NanoUsd {
    type Err = String;

    /// Parses dollars such as `0.25` or `$3`, without sign or exponent.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad =
            || format!("invalid amount {:?}: use dollars such as 0.25", text.chars().take(40).collect::<String>());
        let plain = text.trim();
        let plain = plain.strip_prefix('$').unwrap_or(plain);
        let (whole, part) = plain.split_once('.').unwrap_or((plain, ""));
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.len() + part.len() == 0 || part.len() > DECIMALS || !is_digits(whole) || !is_digits(part) {
            return Err(bad());
        }
        let number = |text: &str| if text.is_empty() { Ok(0) } else { text.parse::<u64>().map_err(|_| bad()) };
        let dollars = number(whole)?.checked_mul(DOLLAR).ok_or_else(bad)?;
        let billionths = number(&format!("{part:0<DECIMALS$}"))?;
        dollars.checked_add(billionths).map(Self).ok_or_else(bad)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, billionths: u64, shown: &str) {
        let sum: NanoUsd = text.parse().unwrap();
        assert_eq!((sum.get(), sum.to_string().as_str()), (billionths, shown), "{text}");
    }

    #[test]
    fn amounts_are_parsed_and_printed_without_loss() {
        check("0.25", 250_000_000, "$0.25");
        check("$3", 3_000_000_000, "$3.00");
        check(" .000000001 ", 1, "$0.000000001");
        check("12.5", 12_500_000_000, "$12.50");
        check("0", 0, "$0.00");
        check("18446744073.709551615", u64::MAX, "$18446744073.709551615");
    }

    #[test]
    fn invalid_amounts_are_rejected() {
        for text in ["", ".", "$", "-1", "+1", "1e3", "1,5", "0.0000000001", "18446744074", "1.2.3", "nan", "１"] {
            assert!(text.parse::<NanoUsd>().is_err(), "{text}");
        }
    }

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(NanoUsd::new(u64::MAX).plus(NanoUsd::new(1)).get(), u64::MAX);
        assert_eq!(NanoUsd::new(3).times(2).get(), 6);
        assert_eq!(NanoUsd::new(u64::MAX).times(2).get(), u64::MAX);
    }
}
