//! A year of sessions as squares: one per day, darker with more sessions, each a link to its day.

use std::collections::BTreeMap;

use jiff::ToSpan;
use jiff::civil::{Date, date};
use maud::{Markup, html};
use rethread_engine::Board;

use super::super::components::{PageContext, count, non_blank};
use super::BoardParams;
use super::weekdays::{by_weekday, top_projects};
use crate::render::number;
use crate::serve::ApiError;

/// Distance between two squares, and the size of one.
const PITCH: i32 = 13;
const SIZE: i32 = 11;
/// Room for the weekdays on the left and the months on top.
const LEFT: i32 = 30;
const TOP: i32 = 18;
const WEEKS: i32 = 54;

/// Sessions per day.
type DayCounts = BTreeMap<Date, u64>;

/// The heat map of a year, with links to the other years and the same numbers as a table.
pub(super) fn section(context: PageContext<'_>, params: &BoardParams, board: &Board) -> Result<Markup, ApiError> {
    let per_day = &board.per_day;
    let Some(today) = context.date(Some(context.now)) else { return Ok(html! {}) };
    let chosen = non_blank(params.year.as_ref()).map(|year| super::parse_number(year, "year")).transpose()?;
    let year = chosen.and_then(|year| i16::try_from(year).ok()).filter(|year| (1..=9998).contains(year));
    let (first, last) = match year {
        Some(year) => (date(year, 1, 1), date(year, 12, 31)),
        None => (today.saturating_sub(1.year()).saturating_add(1.day()), today),
    };
    let of_year: DayCounts = per_day.range(first..=last).map(|(day, many)| (*day, *many)).collect();
    let total: u64 = of_year.values().sum();
    Ok(html! {
        section.heat aria-labelledby="heat-title" {
            header {
                h2 id="heat-title" { "Activity" }
                p.dim { (count(total, "session")) " on " (count(of_year.len() as u64, "day")) }
                (years(params, per_day, year))
            }
            div.heat-row {
                div {
                    div.heat-box tabindex="0" role="region" aria-label="Sessions per day" { (squares(params, first, last, &of_year)) }
                    details.more {
                        summary { "As a table" }
                        (months(params, &of_year))
                    }
                }
                (by_weekday(&of_year))
                (top_projects(params, board))
            }
        }
    })
}

/// Links to the years with sessions.
fn years(params: &BoardParams, per_day: &DayCounts, current: Option<i16>) -> Markup {
    let mut years: Vec<i16> = per_day.keys().map(|day| day.year()).collect();
    years.dedup();
    years.reverse();
    html! {
        nav.years aria-label="Year" {
            a href=(params.link(&[("year", None), ("since", None), ("until", None)])) aria-current=[current.is_none().then_some("true")] { "Last 12 months" }
            @for year in years {
                @let name = year.to_string();
                a href=(to_year(params, &name)) aria-current=[(current == Some(year)).then_some("true")] { (name) }
            }
        }
    }
}

/// The drawing. Hidden from screen readers and from Tab, because the table has the same links.
fn squares(params: &BoardParams, first: Date, last: Date, per_day: &DayCounts) -> Markup {
    let start = first.saturating_sub(i64::from(first.weekday().to_monday_zero_offset()).days());
    let most = per_day.values().copied().max().unwrap_or(1);
    let days = first.series(1.day()).take_while(|day| *day <= last);
    let column = |day: Date| start.until(day).map_or(0, |span| span.get_days() / 7);
    html! {
        svg.squares aria-hidden="true" width=(LEFT + WEEKS * PITCH) height=(TOP + 7 * PITCH) {
            @for (row, name) in [(0, "Mon"), (2, "Wed"), (4, "Fri")] {
                text x="0" y=(TOP + row * PITCH + SIZE - 1) { (name) }
            }
            @for month in first.series(1.day()).take_while(|day| *day <= last).filter(|day| day.day() == 1) {
                text x=(LEFT + column(month) * PITCH) y="10" { (month.strftime("%b").to_string()) }
            }
            @for day in days { (square(params, day, column(day), per_day.get(&day).copied().unwrap_or(0), most)) }
        }
    }
}

fn square(params: &BoardParams, day: Date, column: i32, many: u64, most: u64) -> Markup {
    let (x, y) = (LEFT + column * PITCH, TOP + i32::from(day.weekday().to_monday_zero_offset()) * PITCH);
    let level = level(many, most);
    let label = format!("{} on {}", count(many, "session"), day.strftime("%-d %B %Y"));
    html! {
        @if many == 0 { rect.l0 x=(x) y=(y) width=(SIZE) height=(SIZE) rx="2" {} }
        @else {
            a href=(to_day(params, day)) tabindex="-1" {
                rect class={ "l" (level) } x=(x) y=(y) width=(SIZE) height=(SIZE) rx="2" { title { (label) } }
            }
        }
    }
}

/// 0 for none, 4 for the busiest days. The root keeps one busy day from making all others pale.
fn level(many: u64, most: u64) -> u32 {
    let share = (many as f64 / most.max(1) as f64).sqrt();
    (share * 4.0).ceil().clamp(0.0, 4.0) as u32
}

/// A year on the map and in the table.
fn to_year(params: &BoardParams, year: &str) -> String {
    let (first, last) = (format!("{year}-01-01"), format!("{year}-12-31"));
    params.link(&[("year", Some(year)), ("since", Some(&first)), ("until", Some(&last))])
}

/// The sessions of one day, with the other filters of the page.
fn to_day(params: &BoardParams, day: Date) -> String {
    let day = day.to_string();
    params.link(&[("since", Some(&day)), ("until", Some(&day))])
}

fn months(params: &BoardParams, per_day: &DayCounts) -> Markup {
    let mut months: BTreeMap<(i16, i8), Vec<(Date, u64)>> = BTreeMap::new();
    for (day, many) in per_day {
        months.entry((day.year(), day.month())).or_default().push((*day, *many));
    }
    html! {
        table.plain-table.months {
            thead { tr { th scope="col" { "Month" } th scope="col" { "Sessions" } th scope="col" { "Days" } } }
            tbody {
                @for days in months.values().rev() {
                    tr {
                        th scope="row" { (days[0].0.strftime("%B %Y").to_string()) }
                        td { (number(days.iter().map(|(_, many)| many).sum())) }
                        td.days {
                            @for (day, many) in days {
                                a href=(to_day(params, *day)) title=(day.strftime("%A").to_string()) { (day.day()) ": " (number(*many)) }
                                " "
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::Weekday;

    use super::*;

    #[test]
    fn levels_grow_with_the_number_of_sessions() {
        assert_eq!([0, 1, 4, 9, 16].map(|many| level(many, 16)), [0, 1, 2, 3, 4]);
        assert_eq!(level(1, 1), 4);
        assert_eq!(level(0, 0), 0);
    }

    #[test]
    fn every_day_of_a_year_has_a_square_and_only_days_with_sessions_link() {
        let days = DayCounts::from([(date(2026, 2, 20), 3)]);
        let drawn = squares(&BoardParams::default(), date(2026, 1, 1), date(2026, 12, 31), &days).into_string();
        assert_eq!(drawn.matches("<rect").count(), 365);
        assert_eq!(drawn.matches("<a ").count(), 1);
        assert!(drawn.contains("/?since=2026-02-20&amp;until=2026-02-20"), "{drawn}");
        assert_eq!(date(2026, 2, 20).weekday(), Weekday::Friday);
        assert!(drawn.contains("3 sessions on 20 February 2026"));
    }
}
