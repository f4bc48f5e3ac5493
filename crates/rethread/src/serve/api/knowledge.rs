//! What is known from what happened: facts and their graph, fixes, decisions, workflows, the story of a file.

use axum::http::{Method, StatusCode};
use rethread_engine::{DecisionRequest, FactsRequest, FileRequest, FixRequest, WorkflowRequest};
use rethread_model::EntityKind;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::json::{Decided, FileStory, Fixed, Known, Worked};
use crate::serve::route::Outcome;
use crate::serve::values::{Limit, OneOf, Project, Text, When, said, scope};
use crate::serve::{Answer, App, Refusal, Route};

/// Projects whose workflows are told at once.
const MOST_PROJECTS: usize = 100;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get::<Thing, Known<'_>>(
            "/api/facts",
            "What is known of a thing, with the graph around it; or the things most is known of.",
            facts,
        ),
        Route::get::<ShortError, Fixed<'_>>(
            "/api/fix",
            "What fixed an error before, with how often it helped; dead ends too.",
            |app, asked| fix(app, asked.error.0, asked.project.as_ref()),
        ),
        Route::tell::<LongError, Fixed<'_>>(
            Method::POST,
            "/api/fix",
            "The same for a whole output that was pasted.",
            |app, asked| fix(app, asked.error.0, asked.project.as_ref()),
        ),
        Route::get::<Choices, Decided<'_>>(
            "/api/decisions",
            "What was decided, and what the user always or never wants, newest first.",
            decisions,
        ),
        Route::get::<Work, Worked<'_>>(
            "/api/workflows",
            "How work is done in each project: commands, how they go, and sequences that come back; of at most 100 projects.",
            workflows,
        ),
        Route::get::<File, FileStory<'_>>(
            "/api/files",
            "Who did what to a file under all its names, when, and what for.",
            files,
        )
        .refusing(&[StatusCode::CONFLICT]),
    ]
}

/// What to tell about.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Thing {
    /// The thing: its name, or a part of it that no other has; without it the things most is known of.
    entity: Option<Text<1, 2_000>>,
    /// Only things of this kind.
    kind: Option<OneOf<EntityKind>>,
    /// What was known then: 7d, yesterday, 2026-03, 2026-03-14T12:00.
    as_of: Option<When>,
    /// Only in this project: its root as sessions have it, or a directory below it.
    project: Option<Project>,
    /// At most so many facts, or so many things of each kind.
    #[serde(default)]
    limit: Limit<10, 500>,
}

fn facts(app: &App, asked: Thing) -> Outcome {
    let found = app.engine.facts_about(&FactsRequest {
        entity: said(asked.entity),
        kind: asked.kind.map(|OneOf(kind)| kind),
        scope: scope(asked.project.as_ref()),
        as_of: said(asked.as_of),
        limit: asked.limit.get(),
    })?;
    Answer::json(&Known::new(&found))
}

/// A line of an error.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ShortError {
    /// The error as it was printed, a line of it or a few.
    error: Text<1, 4_000>,
    /// Only in this project: its root as sessions have it, or a directory below it.
    project: Option<Project>,
}

/// A whole output.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "FixRequest")]
#[serde(deny_unknown_fields)]
struct LongError {
    /// The error as it was printed, with whatever stands around it.
    error: Text<1, 1_000_000>,
    /// Only in this project: its root as sessions have it, or a directory below it.
    project: Option<Project>,
}

fn fix(app: &App, text: String, project: Option<&Project>) -> Outcome {
    if text.trim().is_empty() {
        return Err(Refusal::bad("there is no error to look up"));
    }
    Answer::json(&Fixed::new(&app.engine.fix(&FixRequest { text, scope: scope(project) })?))
}

/// Which decisions.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Choices {
    /// Only those that speak of all these words.
    #[serde(default)]
    query: Text<0, 1_000>,
    /// Also what was rejected, and what something else took the place of.
    #[serde(default)]
    all: bool,
    /// What was decided then: 7d, yesterday, 2026-03, 2026-03-14T12:00.
    as_of: Option<When>,
    /// Only in this project: its root as sessions have it, or a directory below it.
    project: Option<Project>,
    /// At most so many.
    #[serde(default)]
    limit: Limit<50, 500>,
}

fn decisions(app: &App, asked: Choices) -> Outcome {
    let mut found = app.engine.decisions(&DecisionRequest {
        query: asked.query.0,
        scope: scope(asked.project.as_ref()),
        all: asked.all,
        as_of: said(asked.as_of),
    })?;
    found.truncate(asked.limit.get());
    Answer::json(&Decided::new(&found))
}

/// Whose workflows.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Work {
    /// How it was then: 7d, yesterday, 2026-03, 2026-03-14T12:00.
    as_of: Option<When>,
    /// Only in this project: its root as sessions have it, or a directory below it.
    project: Option<Project>,
    /// At most so many commands and so many sequences of each project.
    #[serde(default)]
    limit: Limit<10, 100>,
}

fn workflows(app: &App, asked: Work) -> Outcome {
    let request = WorkflowRequest { scope: scope(asked.project.as_ref()), as_of: said(asked.as_of) };
    let mut found = app.engine.workflows(&request)?;
    found.truncate(MOST_PROJECTS);
    for workflow in &mut found {
        workflow.commands.truncate(asked.limit.get());
        workflow.patterns.truncate(asked.limit.get());
    }
    Answer::json(&Worked::new(&found))
}

/// Which file.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct File {
    /// The file: from its project's root, absolute, or the end of its path. It is compared, never opened.
    path: Text<1, 4_096>,
    /// Not before: 7d, yesterday, last week, 2026-03, 2026-03-14T12:00.
    since: Option<When>,
    /// Not after; a day or a week counts to its end.
    until: Option<When>,
    /// Only in this project: its root as sessions have it, or a directory below it.
    project: Option<Project>,
    /// At most so many exchanges.
    #[serde(default)]
    limit: Limit<20, 500>,
}

fn files(app: &App, asked: File) -> Outcome {
    let found = app.engine.file_history(&FileRequest {
        path: asked.path.0,
        scope: scope(asked.project.as_ref()),
        since: said(asked.since),
        until: said(asked.until),
        limit: asked.limit.get(),
    })?;
    Answer::json(&FileStory::new(&found))
}
