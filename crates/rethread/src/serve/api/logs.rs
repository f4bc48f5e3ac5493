//! The log of a session: piece by piece, exchange by exchange, and as a model would get it.

use axum::http::{Method, StatusCode};
use rethread_engine::{CompactRequest, EngineError, EpisodeText, Page, Profile};
use rethread_model::{SessionId, clip};
use schemars::JsonSchema;
use serde::Deserialize;

use super::known;
use super::sessions::at;
use crate::json::{Compacted, Context, Exchanges, LogPiece};
use crate::serve::route::Outcome;
use crate::serve::values::{Limit, OneOf, Position, Text, said};
use crate::serve::{Answer, App, Route};

/// Bytes of records that come at once; a longer one comes alone.
pub(super) const PAGE_BYTES: usize = 4 << 20;
/// Characters of an exchange that are told.
const LONGEST_EXCHANGE: usize = 100_000;

pub(super) fn routes() -> Vec<Route> {
    const OF_THREADS: &[StatusCode] = &[StatusCode::NOT_FOUND, StatusCode::CONFLICT];
    vec![
        Route::get_of::<Piece, LogPiece<'_>>(
            "/api/sessions/{id}/records",
            "A piece of a session's log, in order: the records of a thread, the entries of an agent's session. With `from` \
             the first that fit, otherwise the last. A piece holds at most 4 MiB, or one record that is longer.",
            records,
        ),
        Route::get_of::<Exchange, Exchanges<'_>>(
            "/api/sessions/{id}/episodes",
            "The session exchange by exchange, as plain text; at most 100,000 characters of each.",
            episodes,
        ),
        Route::get_of::<Window, Context<'_>>(
            "/api/sessions/{id}/context",
            "The messages a model would get of a thread. Reading never compacts.",
            context,
        )
        .refusing(OF_THREADS),
        Route::tell_of::<Compacting, Compacted<'_>>(
            Method::POST,
            "/api/sessions/{id}/compact",
            "Summarises the beginning of a thread and appends the summary to its log; nothing in it is rewritten. Waits for \
             a turn that runs. `record` is null where all of it is recent.",
            compact,
        )
        .refusing(&[StatusCode::NOT_FOUND, StatusCode::CONFLICT, StatusCode::TOO_MANY_REQUESTS, StatusCode::BAD_GATEWAY]),
    ]
}

/// Which piece.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Piece {
    /// Only from this number (`seq`) on, the first that fit.
    from: Option<Position>,
    /// Only before this number.
    before: Option<Position>,
    /// Of an agent's session: around this line of its transcript, as citations name it.
    line: Option<Position>,
    /// Of an agent's session: what was said, also what was done, or everything that is stored.
    profile: Option<OneOf<Profile>>,
    /// At most so many.
    #[serde(default)]
    limit: Limit<100, 1000>,
}

fn records(app: &App, id: SessionId, asked: Piece) -> Outcome {
    let page = Page { from: at(asked.from), before: at(asked.before), limit: asked.limit.get(), bytes: PAGE_BYTES };
    match app.engine.thread_records(id, false, page) {
        Ok(found) => Answer::json(&LogPiece::of_thread(&found)),
        Err(EngineError::NotAThread(_)) => {
            let profile = asked.profile.map_or(Profile::Structure, |OneOf(profile)| profile);
            let (_, found) = app.engine.entries(id, profile, at(asked.line), page)?;
            Answer::json(&LogPiece::of_session(id, &found))
        }
        Err(error) => Err(error.into()),
    }
}

/// Which exchanges.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Exchange {
    /// Only from this number on.
    from: Option<Position>,
    /// At most so many.
    #[serde(default)]
    limit: Limit<20, 200>,
}

fn episodes(app: &App, id: SessionId, asked: Exchange) -> Outcome {
    let (listed, all) = app.engine.episodes(&known(app, id)?)?;
    let from = at(asked.from).unwrap_or(0);
    let wanted = all.into_iter().filter(|one| one.episode.number >= from).take(asked.limit.get());
    let wanted = wanted.map(|one| EpisodeText { text: clip(&one.text, LONGEST_EXCHANGE).into_owned(), ..one });
    let wanted: Vec<EpisodeText> = within_a_page(wanted, |one| one.text.len()).collect();
    Answer::json(&Exchanges::new(&listed, &wanted))
}

/// As many as are not too much for one answer; one always is.
fn within_a_page<T>(items: impl Iterator<Item = T>, bytes: impl Fn(&T) -> usize) -> impl Iterator<Item = T> {
    let mut total = 0;
    items
        .enumerate()
        .take_while(move |(at, item)| {
            total += bytes(item);
            *at == 0 || total <= PAGE_BYTES
        })
        .map(|(_, item)| item)
}

/// How much of the context.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Window {
    /// The last so many messages, of at most 4 MiB together; `leftOut` says how many come before them.
    #[serde(default)]
    limit: Limit<1000, 10_000>,
}

fn context(app: &App, id: SessionId, asked: Window) -> Outcome {
    let id = app.engine.only_thread(id)?;
    let found = app.engine.thread_context(&id.to_string())?;
    let latest = found.messages.iter().rev().take(asked.limit.get());
    let most = within_a_page(latest, |message| crate::json::text(message).map_or(0, |text| text.len())).count();
    Answer::json(&Context::last_of(&found, most))
}

/// How to compact.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Compaction")]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Compacting {
    /// What the summary should dwell on.
    focus: Option<Text<0, 4_000>>,
    /// Only tell what it would do and cost; nothing is sent and nothing is written.
    #[serde(default)]
    dry_run: bool,
}

fn compact(app: &App, id: SessionId, asked: Compacting) -> Outcome {
    let id = app.engine.only_thread(id)?;
    let reference = id.to_string();
    let request = CompactRequest { focus: said(asked.focus) };
    let report = if asked.dry_run {
        app.engine.thread_compact_dry_run(&reference, &request)?
    } else {
        let _place = app.room.for_slow()?;
        let is_ending = || *app.ending.borrow();
        let report = app.engine.thread_compact(&reference, &request, &is_ending, &mut |_| {})?;
        // The log has it, whatever becomes of this; the next sync reads it.
        let _ = app.engine.thread_remember(id);
        report
    };
    let answer = report.as_ref().map_or_else(Compacted::nothing, Compacted::new);
    Answer::json(&answer)
}
