//! The order of the table: which column sorts it, and the links in its head that change that.

use maud::{Markup, html};
use rethread_engine::{BoardColumn, BoardOrder};

use super::super::components::non_blank;
use super::BoardParams;
use crate::serve::ApiError;

/// The columns that sort the table, as they are in a URL and as classes of their cells.
const COLUMNS: [(&str, BoardColumn); 6] = [
    ("time", BoardColumn::Activity),
    ("project", BoardColumn::Project),
    ("agent", BoardColumn::Agent),
    ("cost", BoardColumn::Cost),
    ("failures", BoardColumn::Failures),
    ("files", BoardColumn::Files),
];

/// The orders and their names, for a list.
pub(super) fn choices() -> Vec<(String, String)> {
    let both = |name: &str, first: &str, last: &str| {
        [(name.to_owned(), first.to_owned()), (format!("-{name}"), last.to_owned())]
    };
    let mut all = vec![(String::new(), "newest first".to_owned()), ("-time".to_owned(), "oldest first".to_owned())];
    all.extend(both("cost", "most expensive", "least expensive"));
    all.extend(both("failures", "most failures", "fewest failures"));
    all.extend(both("files", "most files", "fewest files"));
    all.extend(both("project", "project A to Z", "project Z to A"));
    all.extend(both("agent", "agent A to Z", "agent Z to A"));
    all
}

/// Parses the `sort` parameter.
pub(super) fn parse(text: &str) -> Result<BoardOrder, ApiError> {
    let (name, is_reversed) = text.strip_prefix('-').map_or((text, false), |name| (name, true));
    let found = COLUMNS.iter().find(|(known, _)| *known == name);
    let (_, column) = found.ok_or_else(|| ApiError::bad_request(format!("unknown column {name:?}")))?;
    Ok(BoardOrder { column: *column, is_reversed })
}

/// The order of a request that was parsed before.
pub(super) fn of(params: &BoardParams) -> BoardOrder {
    non_blank(params.sort.as_ref()).and_then(|text| parse(text).ok()).unwrap_or_default()
}

/// The name of a column in the head. If it sorts the table, a link that does so, or reverses the order.
pub(super) fn heading(params: &BoardParams, class: &str, name: &str) -> Markup {
    let order = of(params);
    let Some((name_in_url, column)) = COLUMNS.iter().find(|(known, _)| *known == class) else {
        return html! { th scope="col" class=(class) { (name) } };
    };
    let is_current = order.column == *column;
    let (is_text, is_reversed) = (matches!(column, BoardColumn::Project | BoardColumn::Agent), order.is_reversed);
    let direction = if is_text == is_reversed { "descending" } else { "ascending" };
    let next = if is_current && !is_reversed { format!("-{name_in_url}") } else { (*name_in_url).to_owned() };
    let next = Some(next.as_str()).filter(|next| *next != COLUMNS[0].0);
    html! {
        th scope="col" class=(class) aria-sort=[is_current.then_some(direction)] {
            a href=(params.link(&[("sort", next)])) title={ "Sort by " (name.to_lowercase()) } { (name) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_sorts_and_then_reverses_the_table() {
        let head = |sort: Option<&str>, class: &str| {
            let params = BoardParams { sort: sort.map(str::to_owned), ..BoardParams::default() };
            heading(&params, class, "Cost").into_string()
        };
        assert!(head(None, "cost").contains("href=\"/?sort=cost\"") && !head(None, "cost").contains("aria-sort"));
        let sorted = head(Some("cost"), "cost");
        assert!(sorted.contains("href=\"/?sort=-cost\"") && sorted.contains("aria-sort=\"descending\""), "{sorted}");
        let reversed = head(Some("-cost"), "cost");
        assert!(reversed.contains("href=\"/?sort=cost\"") && reversed.contains("aria-sort=\"ascending\""));
        assert!(head(Some("agent"), "agent").contains("aria-sort=\"ascending\""));
        assert!(head(Some("-time"), "time").contains("href=\"/\""), "the default order is not in the URL");
        assert!(parse("size").is_err());
    }
}
