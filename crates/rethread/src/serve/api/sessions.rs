//! Sessions and threads: listed, made, looked at, changed, deleted.

use axum::http::{Method, StatusCode};
use rethread_engine::{Closing, Engine, Forgotten, ListRequest, NewThread, Page, SessionChange};
use rethread_model::{Agent, SessionId, State};
use schemars::JsonSchema;
use serde::Deserialize;

use super::logs::PAGE_BYTES;
use crate::failure::Kind;
use crate::json::{Conversations, OneConversation};
use crate::serve::route::{Nothing, Outcome};
use crate::serve::values::{Choice, Limit, Number, OneOf, Position, Project, Text, said, scope};
use crate::serve::{Answer, App, Refusal, Route};

/// Messages of a thread that come with it unless somebody asks for more or fewer.
const USUAL_MESSAGES: u64 = 100;

pub(super) fn routes() -> Vec<Route> {
    let one = "/api/sessions/{id}";
    vec![
        Route::get::<Listing, Conversations<'_>>(
            "/api/sessions",
            "Lists sessions of agents and threads of ours, the one in which something last happened first. Threads are \
             listed also before anything is said in them; other sessions in which nothing happened only when asked for.",
            list,
        ),
        Route::tell::<New, OneConversation<'_>>(
            Method::POST,
            "/api/sessions",
            "Makes a thread: a conversation whose log is kept here. Its id is drawn by the server.",
            make,
        )
        .with_status(StatusCode::CREATED),
        Route::get_of::<Look, OneConversation<'_>>(
            one,
            "Shows a session; of a thread also its metadata and its last messages.",
            look,
        ),
        Route::tell_of::<Change, OneConversation<'_>>(
            Method::PATCH,
            one,
            "Changes what people say of a session: name, alias, task, note, state, one or several at once. All of it is \
             checked before any of it is done; what is not named stays as it is.",
            change,
        )
        .refusing(&[StatusCode::NOT_FOUND, StatusCode::CONFLICT]),
        Route::tell_of::<Nothing, ()>(
            Method::DELETE,
            one,
            "Deletes a thread for good, log and all. A session of an agent is forgotten for good as `rethread forget` \
             does: everything that was read, drawn or told of it goes, sub-agents included, and a tombstone keeps it from \
             being read again. The agent's own transcript stays. 503 says that it is gone but its bytes are not wiped yet \
             because somebody reads them; the next sync or deletion wipes them.",
            delete,
        )
        .with_status(StatusCode::NO_CONTENT),
    ]
}

/// Which sessions.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Listing {
    /// Only sessions in this state.
    state: Option<OneOf<State>>,
    /// Only sessions of this agent; `native` are threads of ours.
    agent: Option<OneOf<Agent>>,
    /// Only sessions of this project: its root as sessions have it, or a directory below it.
    project: Option<Project>,
    /// Also sessions of agents in which nothing happened.
    #[serde(default)]
    include_empty: bool,
    /// Also sessions of sub-agents.
    #[serde(default)]
    children: bool,
    /// At most so many.
    #[serde(default)]
    limit: Limit<100, 1000>,
    /// Pass over so many first.
    offset: Option<Number<0, 1_000_000>>,
}

fn list(app: &App, asked: Listing) -> Outcome {
    let Listing { state, agent, project, include_empty, children, limit, offset } = asked;
    let (limit, offset) = (limit.get(), offset.map_or(0, |Number(offset)| offset as usize));
    let request = ListRequest {
        scope: scope(project.as_ref()),
        agent: agent.map(|OneOf(agent)| agent),
        state: state.map(|OneOf(state)| state),
        include_empty,
        include_children: children,
        // One more tells whether there are more.
        limit: Some((offset + limit + 1) as u64),
    };
    let mut found: Vec<_> = app.engine.conversations(&request)?.into_iter().skip(offset).collect();
    let more = found.len() > limit;
    found.truncate(limit);
    Answer::json(&Conversations::new(&found, more))
}

/// A thread to be made.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "NewThread")]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct New {
    /// Its name; without one it is named after what is said first.
    name: Option<Text<0, 200>>,
    /// Instructions of its own.
    system_prompt: Option<Text<0, 100_000>>,
    /// The model it is talked to with; without one it is the configured one.
    model: Option<Text<0, 200>>,
    /// The job that starts it, if it runs by the clock.
    cron_job_id: Option<Text<1, 200>>,
}

fn make(app: &App, asked: New) -> Outcome {
    let made = app.engine.thread_new(&NewThread {
        name: said(asked.name),
        model: said(asked.model),
        system: said(asked.system_prompt),
        cron_job: said(asked.cron_job_id),
    })?;
    let id = made.id.session();
    // It is on disk; that memory knows it too is only for those who look there first.
    let _ = app.engine.make_known(id);
    Ok(shown(&app.engine, id, USUAL_MESSAGES, StatusCode::CREATED)?.at(format!("/api/sessions/{id}")))
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Look {
    /// So many of a thread's last messages, 100 if nobody says.
    messages: Option<Number<0, 1000>>,
}

fn look(app: &App, id: SessionId, asked: Look) -> Outcome {
    shown(&app.engine, id, asked.messages.map_or(USUAL_MESSAGES, |Number(most)| most), StatusCode::OK)
}

/// A session as it is now.
fn shown(engine: &Engine, id: SessionId, messages: u64, status: StatusCode) -> Outcome {
    let found = engine.conversation(id)?;
    let hand = engine.at_hand(id)?;
    let page = Page { from: None, before: None, limit: messages as usize, bytes: PAGE_BYTES };
    let log = found.thread.as_ref().map(|_| engine.thread_records(id, true, page)).transpose()?;
    Answer::with(status, &OneConversation::new(&found, &hand, log.as_ref()))
}

/// What is to become of a session.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "SessionChange")]
#[serde(deny_unknown_fields)]
struct Change {
    /// Its name; an empty one gives back the one it would have by itself.
    name: Option<Text<0, 200>>,
    /// A short name of letters, digits, dashes, dots and underscores, taken from any other session that had it; an empty
    /// one takes it away.
    alias: Option<Text<0, 100>>,
    /// What it is working on; an empty text if nothing.
    task: Option<Text<0, 2_000>>,
    /// Something it should remember for a day.
    note: Option<Text<1, 2_000>>,
    /// How its period of work ends: the next prompt in it goes on after `suspended`, and begins a new one after `ended`.
    state: Option<OneOf<Closing>>,
}

impl Choice for Closing {
    const WHAT: &'static str = "state";

    fn all() -> Vec<(&'static str, Self)> {
        vec![("suspended", Closing::Suspend), ("ended", Closing::End)]
    }
}

fn change(app: &App, id: SessionId, asked: Change) -> Outcome {
    let change = SessionChange {
        name: said(asked.name),
        alias: said(asked.alias),
        task: said(asked.task),
        note: said(asked.note),
        closing: asked.state.map(|OneOf(closing)| closing),
    };
    if change == SessionChange::default() {
        return Err(Refusal::bad("nothing is named that should be changed"));
    }
    app.engine.change_session(id, &change)?;
    shown(&app.engine, id, USUAL_MESSAGES, StatusCode::OK)
}

fn delete(app: &App, id: SessionId, _: Nothing) -> Outcome {
    let forgotten = app.engine.delete_session(id)?;
    let left: Vec<&str> = forgotten.iter().flat_map(Forgotten::left).map(|left| left.place).collect();
    if left.is_empty() {
        return Answer::done();
    }
    let message = format!("it is forgotten, but still in: {}", left.join(", "));
    let refusal = Refusal::new(StatusCode::SERVICE_UNAVAILABLE, Kind::StoreLocked, message);
    Err(refusal.hint("the next sync or deletion wipes it, once nobody else reads the database"))
}

/// A position, for pages.
pub(super) fn at(position: Option<Position>) -> Option<u64> {
    position.map(|Number(position)| position)
}
