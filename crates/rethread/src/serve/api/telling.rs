//! What sessions are told: of each other, with a prompt, by references, and what they were told before.

use axum::http::{Method, StatusCode};
use rethread_model::SessionId;
use schemars::JsonSchema;
use serde::Deserialize;

use super::known;
use crate::json::{Awareness, Injections, Resolved};
use crate::serve::route::{Nothing, Outcome};
use crate::serve::values::{Limit, Project, Reference, Text, scope};
use crate::serve::{Answer, App, Route};

/// What is typed where nobody says.
const USUAL_PROMPT: &str = "go on";

pub(super) fn routes() -> Vec<Route> {
    const REFERENCES: &[StatusCode] = &[StatusCode::NOT_FOUND, StatusCode::CONFLICT];
    vec![
        Route::get_of::<Nothing, Awareness<'_>>(
            "/api/sessions/{id}/activity",
            "What the other sessions of its project did since this one was told last, as far as transcripts were read. \
             Everything stays as unread as it is.",
            peek,
        ),
        Route::tell_of::<Nothing, Awareness<'_>>(
            Method::POST,
            "/api/sessions/{id}/activity",
            "The same after reading what is new in their transcripts, and what is told counts as read.",
            activity,
        ),
        Route::get_of::<Latest, Injections<'_>>(
            "/api/sessions/{id}/injections",
            "What the session was told up to now, newest first, each with its reasons.",
            injections,
        ),
        Route::tell::<Typed, Awareness<'_>>(
            Method::POST,
            "/api/inject",
            "Exactly what the prompt hook would add, and why. Reads what is new in transcripts; moves nothing and notes \
             nothing.",
            inject,
        )
        .refusing(REFERENCES),
        Route::get::<ShortText, Resolved<'_>>(
            "/api/resolve",
            "Finds @@references in a text and gives what would be told of the sessions they mean.",
            |app, asked| resolve(app, &asked.text.0, asked.project.as_ref()),
        ),
        Route::tell::<LongText, Resolved<'_>>(Method::POST, "/api/resolve", "The same for a longer text.", |app, asked| {
            resolve(app, &asked.text.0, asked.project.as_ref())
        }),
    ]
}

fn peek(app: &App, id: SessionId, _: Nothing) -> Outcome {
    Answer::json(&Awareness::activity(app.engine.activity_at_hand(&known(app, id)?)?.as_ref()))
}

fn activity(app: &App, id: SessionId, _: Nothing) -> Outcome {
    Answer::json(&Awareness::activity(app.engine.activity(&known(app, id)?, false)?.as_ref()))
}

/// How many.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Latest {
    /// At most so many.
    #[serde(default)]
    limit: Limit<20, 1000>,
}

fn injections(app: &App, id: SessionId, asked: Latest) -> Outcome {
    Answer::json(&Injections::new(&app.engine.told_to(&known(app, id)?, asked.limit.get() as u64)?))
}

/// A prompt in a session.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "InjectRequest")]
#[serde(deny_unknown_fields)]
struct Typed {
    /// The session that would be told: an id, the beginning of one, an alias, a name.
    session: Reference,
    /// What is typed; "go on" if nobody says.
    prompt: Option<Text<1, 100_000>>,
}

fn inject(app: &App, asked: Typed) -> Outcome {
    let Typed { session: Text(session), prompt } = asked;
    let prompt = prompt.as_ref().map_or(USUAL_PROMPT, |Text(prompt)| prompt);
    Answer::json(&Awareness::explained(&app.engine.explain(&session, prompt)?))
}

/// A text that fits into an address.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ShortText {
    /// The text.
    text: Text<1, 4_000>,
    /// The project from which it is written: its sessions are meant first.
    project: Option<Project>,
}

/// A text.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "ResolveRequest")]
#[serde(deny_unknown_fields)]
struct LongText {
    /// The text.
    text: Text<1, 100_000>,
    /// The project from which it is written: its sessions are meant first.
    project: Option<Project>,
}

fn resolve(app: &App, text: &str, project: Option<&Project>) -> Outcome {
    Answer::json(&Resolved::new(&app.engine.resolve_references_from(text, &scope(project))?))
}
