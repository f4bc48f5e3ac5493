//! Text output of `rethread store copy`: the rows of each table, by space.

use rethread_engine::{CopyReport, StoreCopyRequest};

use super::format::{count, number};
use super::{CellAlign, TextPage, Tone, sanitize_line};

/// Width of the number column.
const NUMBER_WIDTH: usize = 11;

/// Renders what was copied. Empty tables are left out.
pub(crate) fn store_copy(page: &mut TextPage, request: &StoreCopyRequest, report: &CopyReport, seconds: f64) {
    let (from, to) = (request.from.location.to_string(), request.to.location.to_string());
    let mut total = 0;
    for space in &report.spaces {
        page.add(Tone::Strong, &sanitize_line(&from)).add(Tone::Plain, &format!(" (space \"{}\") → ", space.from));
        page.add(Tone::Strong, &sanitize_line(&to)).line(Tone::Plain, &format!(" (space \"{}\")", space.to));
        for table in space.tables.iter().filter(|table| table.rows > 0) {
            total += table.rows;
            page.cell(Tone::Plain, &number(table.rows), NUMBER_WIDTH, CellAlign::Right).add(Tone::Plain, "  ");
            page.line(Tone::Plain, table.table);
        }
    }
    page.line(Tone::Plain, &format!("{} copied and compared · {seconds:.1} s", count(total, "row")));
}
