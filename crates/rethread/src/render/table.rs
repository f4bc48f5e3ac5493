//! Rows as CSV or as tab-separated lines, for spreadsheets and scripts.

use super::sanitize_line;
use crate::cli::TableFormat;

/// How columns are separated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Separator {
    /// Commas, and quotes where they are needed.
    Comma,
    /// Tabs, which no value has.
    Tab,
}

impl Separator {
    /// `None` for a table.
    pub(crate) const fn of(format: TableFormat) -> Option<Self> {
        match format {
            TableFormat::Table => None,
            TableFormat::Csv => Some(Separator::Comma),
            TableFormat::Tsv => Some(Separator::Tab),
        }
    }
}

/// A spreadsheet takes a text that begins with one of these for a formula.
const FORMULA_STARTS: [char; 4] = ['=', '+', '-', '@'];

/// All rows, each on one line. Control characters are removed.
pub(crate) fn separated(separator: Separator, rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut out = String::new();
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| separated_cell(separator, &sanitize_line(cell))).collect();
        out.push_str(&cells.join(if separator == Separator::Comma { "," } else { "\t" }));
        out.push('\n');
    }
    out
}

fn separated_cell(separator: Separator, text: &str) -> String {
    match separator {
        Separator::Tab => text.replace('\t', " "),
        Separator::Comma => {
            let is_formula = text.starts_with(FORMULA_STARTS) && text.parse::<f64>().is_err();
            let text = if is_formula { format!("'{text}") } else { text.to_owned() };
            if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_never_formulas() {
        let row = || [vec!["a, \"b\"".to_owned(), "=cmd()".to_owned(), "-1.5".to_owned(), "x\ty".to_owned()]];
        assert_eq!(separated(Separator::Comma, row()), "\"a, \"\"b\"\"\",'=cmd(),-1.5,x y\n");
        assert_eq!(separated(Separator::Tab, row()), "a, \"b\"\t=cmd()\t-1.5\tx y\n");
    }
}
