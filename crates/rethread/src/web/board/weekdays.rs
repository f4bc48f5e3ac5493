//! Beside the heat map: the sessions of its days by weekday, and the projects with most sessions.

use std::collections::BTreeMap;

use jiff::civil::Date;
use maud::{Markup, html};
use rethread_engine::Board;

use super::super::chart::bar;
use super::super::components::{self, OneLine};
use super::BoardParams;
use crate::render::number;

const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
/// Projects in the list; as many as there are weekdays.
const MAX_PROJECTS: usize = 7;

pub(super) fn by_weekday(per_day: &BTreeMap<Date, u64>) -> Markup {
    let sums = sums(per_day);
    let most = sums.iter().copied().max().unwrap_or(0).max(1);
    html! {
        table.mini-bars {
            caption { "By weekday" }
            thead.sr { tr { th scope="col" { "Weekday" } th scope="col" { "Share" } th scope="col" { "Sessions" } } }
            tbody {
                @for (name, many) in WEEKDAYS.iter().zip(sums) {
                    tr { th scope="row" { (name) } td.share { (bar(many as f64 / most as f64)) } td { (number(many)) } }
                }
            }
        }
    }
}

fn sums(per_day: &BTreeMap<Date, u64>) -> [u64; 7] {
    let mut sums = [0; 7];
    for (day, many) in per_day {
        let weekday = usize::try_from(day.weekday().to_monday_zero_offset()).unwrap_or(0);
        sums[weekday] += many;
    }
    sums
}

/// The projects with most sessions, as links that filter by them.
pub(super) fn top_projects(params: &BoardParams, board: &Board) -> Markup {
    let mut projects: Vec<(&str, u64)> =
        board.all_projects.iter().filter_map(|(path, many)| Some((path.as_deref()?, *many))).collect();
    projects.sort_by_key(|(_, many)| std::cmp::Reverse(*many));
    let most = projects.first().map_or(1, |(_, many)| (*many).max(1));
    html! {
        @if projects.len() > 1 {
            table.mini-bars.projects {
                caption { "Top projects" }
                thead.sr { tr { th scope="col" { "Project" } th scope="col" { "Share" } th scope="col" { "Sessions" } } }
                tbody {
                    @for (path, many) in projects.into_iter().take(MAX_PROJECTS) {
                        tr {
                            th scope="row" { a href=(params.link(&[("project", Some(path))])) title=(OneLine(path)) { (OneLine(components::last_part(path))) } }
                            td.share { (bar(many as f64 / most as f64)) }
                            td { (number(many)) }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn sessions_are_summed_by_weekday_from_monday() {
        let days = BTreeMap::from([(date(2026, 2, 16), 2), (date(2026, 2, 22), 1), (date(2026, 2, 23), 3)]);
        assert_eq!(sums(&days), [5, 0, 0, 0, 0, 0, 1]);
    }
}
