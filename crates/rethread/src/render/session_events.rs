//! The events of a session: one line each, with its local time.

use jiff::tz::TimeZone;
use rethread_engine::{EventOrigin, SessionEvents};

use super::format::{count, local_time};
use super::sessions::session_label;
use super::show::state_name;
use super::{TextPage, Tone, sanitize_line};

/// Width of the longest event kind.
const KIND_WIDTH: usize = 18;

/// Renders the events of a session.
pub(crate) fn session_events(page: &mut TextPage, found: &SessionEvents, zone: &TimeZone) {
    let session = &found.listed.session;
    page.line(Tone::Strong, &session_label(session));
    let origin = match found.origin {
        EventOrigin::Hooks => "reported by hooks",
        EventOrigin::Transcript => "inferred from the transcript",
    };
    let about = [state_name(found.listed.state).to_owned(), count(found.total, "event"), origin.to_owned()];
    page.row(&about.map(|part| (Tone::Plain, part)), 0);
    page.row(&[(Tone::Dim, session.id.to_string()), (Tone::Dim, session.external_id.clone())], 0);
    page.end_line();
    let earlier = found.total.saturating_sub(found.events.len() as u64);
    if earlier > 0 {
        page.line(Tone::Dim, &format!("… {} no longer stored", count(earlier, "earlier event")));
    }
    for event in &found.events {
        page.add(Tone::Dim, &local_time(Some(event.at), zone)).add(Tone::Plain, "  ");
        page.add(Tone::Strong, &format!("{:KIND_WIDTH$}", event.kind));
        page.add(Tone::Plain, &format!("  {}", sanitize_line(&event.detail))).end_line();
    }
}
