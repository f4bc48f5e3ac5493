//! When there was work: messages by weekday and hour.

use maud::{Markup, html};
use rethread_engine::UsageDetails;

use super::super::components::count;

const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

pub(super) fn activity(details: &UsageDetails) -> Markup {
    let most = details.hours.iter().flatten().copied().max().unwrap_or(0).max(1);
    html! {
        section {
            h2 { "Activity by weekday and hour" }
            div.hours-box tabindex="0" role="region" aria-label="Messages by weekday and hour" {
                table.hours {
                    caption.sr { "Messages by weekday and hour" }
                    thead {
                        tr {
                            th scope="col" { span.sr { "Weekday" } }
                            @for hour in 0..24 { th scope="col" { @if hour % 3 == 0 { (hour) } @else { span.sr { (hour) } } } }
                        }
                    }
                    tbody {
                        @for (name, hours) in WEEKDAYS.iter().zip(&details.hours) {
                            tr {
                                th scope="row" { (name) }
                                @for (hour, many) in hours.iter().enumerate() {
                                    td class={ "l" (level(*many, most)) } title={ (name) " " (hour) ":00, " (count(*many, "message")) } { span.sr { (many) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// 0 for none, 4 for the busiest hours.
fn level(many: u64, most: u64) -> u32 {
    let share = (many as f64 / most as f64).sqrt();
    (share * 4.0).ceil().clamp(0.0, 4.0) as u32
}
