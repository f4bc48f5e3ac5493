//! Horizontal bars for the terminal, with a resolution of an eighth of a column.

/// One eighth to seven eighths of a column.
const PARTS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];
const FULL: char = '█';

/// A bar of `share` (0 to 1) of `width` columns. A share above 0 is always visible.
pub(crate) fn bar(share: f64, width: usize) -> String {
    // 0/0 is NaN and gets no bar.
    let share = if share > 0.0 { share.min(1.0) } else { return String::new() };
    let eighths = ((share * (width * 8) as f64).round() as usize).max(1);
    let mut out = String::from(FULL).repeat((eighths / 8).min(width));
    out.extend((eighths % 8).checked_sub(1).filter(|_| width > 0).map(|part| PARTS[part]));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn bar_grows_by_eighths() {
        assert_eq!(bar(1.0, 4), "████");
        assert_eq!(bar(0.5, 4), "██");
        assert_eq!(bar(0.53125, 4), "██▏");
        assert_eq!(bar(0.97, 4), "███▉");
        assert_eq!(bar(0.000_001, 4), "▏");
        for nothing in [0.0, -1.0, f64::NAN] {
            assert_eq!(bar(nothing, 4), "");
        }
        assert_eq!(bar(f64::INFINITY, 4), "████");
        assert_eq!(bar(0.7, 0), "");
    }

    #[test]
    fn bar_never_exceeds_its_width() {
        for width in 1..20 {
            for part in 0..=200 {
                assert!(bar(f64::from(part) / 200.0, width).width() <= width, "{part} {width}");
            }
        }
    }
}
