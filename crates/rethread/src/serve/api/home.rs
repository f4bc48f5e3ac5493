//! How it is: health, sizes, usage, what needs mending; and reading what is new.

use axum::http::{Method, StatusCode};
use rethread_engine::{SyncRequest, UsageBy, UsageRequest};
use rethread_model::Agent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cli::values::since;
use crate::json::{Diagnosed, SCHEMA, Stated, Synced, Usage, WouldSync};
use crate::serve::route::{Nothing, Outcome};
use crate::serve::values::{OneOf, Project, Text, When, said, scope};
use crate::serve::{Answer, App, Refusal, Route, openapi};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get::<Spent, Usage<'_>>(
            "/api/usage",
            "What the agents' tokens cost, what Rethread itself spent, and how much of the transcripts is kept.",
            usage,
        ),
        Route::tell::<Reading, Read<'_>>(
            Method::POST,
            "/api/sync",
            "Reads what is new in the agents' transcripts, and answers when it is read.",
            sync,
        )
        .refusing(&[StatusCode::CONFLICT, StatusCode::TOO_MANY_REQUESTS]),
        Route::get::<Nothing, Stated<'_>>("/api/status", "Sizes, counts, budget, versions.", |app, _| {
            Answer::json(&Stated::new(&app.engine.status()?))
        }),
        Route::get::<Nothing, Diagnosed<'_>>(
            "/api/doctor",
            "Each source, hook, store and index: what is well, what is not, and how to mend it.",
            |app, _| Answer::json(&Diagnosed::new(&app.engine.doctor()?)),
        ),
        Route::get::<Nothing, Healthy>("/api/health", "Whether the server answers.", health),
        Route::get::<Nothing, openapi::Document>("/api/openapi.json", "This document.", |_, _| {
            Answer::json(openapi::document())
        }),
    ]
}

/// Which usage.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Spent {
    /// What to sum up together; days if nobody says.
    by: Option<OneOf<UsageBy>>,
    /// Only what this agent used.
    agent: Option<OneOf<Agent>>,
    /// Not before: 7d, yesterday, last week, 2026-03, 2026-03-14T12:00.
    since: Option<When>,
    /// Not after; a day or a week counts to its end.
    until: Option<When>,
    /// Only in this project: its root as sessions have it, or a directory below it.
    project: Option<Project>,
}

fn usage(app: &App, asked: Spent) -> Outcome {
    let by = asked.by.map_or_else(UsageBy::default, |OneOf(by)| by);
    let report = app.engine.usage(&UsageRequest {
        scope: scope(asked.project.as_ref()),
        by,
        agent: asked.agent.map(|OneOf(agent)| agent),
        since: said(asked.since),
        until: said(asked.until),
    })?;
    Answer::json(&Usage::new(&report, by))
}

/// What to read.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "SyncRequest")]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Reading {
    /// Only transcripts of this agent.
    agent: Option<OneOf<Agent>>,
    /// Only transcripts written since then: 30d, 12h, 2026-02-20.
    since: Option<When>,
    /// Only tell what would be read.
    #[serde(default)]
    dry_run: bool,
}

/// What was read; in a dry run what would be.
#[derive(JsonSchema)]
#[schemars(rename = "SyncedOrPlan", untagged)]
#[expect(dead_code, reason = "only its shape is used")]
enum Read<'a> {
    Synced(Synced<'a>),
    Plan(WouldSync),
}

fn sync(app: &App, asked: Reading) -> Outcome {
    let bad = |why: String| Refusal::bad(format!("since: {why}"));
    let moment = asked.since.map(|Text(text)| since(&text).map_err(bad)).transpose()?;
    let request = SyncRequest {
        agent: asked.agent.map(|OneOf(agent)| agent),
        paths: Vec::new(),
        since: moment.map(|moment| moment.before(app.engine.now())),
    };
    if asked.dry_run {
        let (runs, estimates) = app.engine.sync_dry_run_with_costs(&request)?;
        return Answer::json(&WouldSync::new(&runs, estimates.as_deref()));
    }
    let _place = app.room.for_slow()?;
    Answer::json(&Synced::new(&app.engine.sync(&request, &mut |_| {})?))
}

/// It answers, so it is well.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Health")]
struct Healthy {
    schema: u8,
    status: &'static str,
    version: &'static str,
}

fn health(_: &App, _: Nothing) -> Outcome {
    Answer::json(&Healthy { schema: SCHEMA, status: "ok", version: env!("CARGO_PKG_VERSION") })
}
