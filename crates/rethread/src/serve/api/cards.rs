//! What a session was about, and what somebody who goes on with it has to know.

use axum::http::{Method, StatusCode};
use rethread_model::SessionId;
use schemars::JsonSchema;
use serde::Deserialize;

use super::known;
use crate::commands::card::failure_of;
use crate::json::{Card, HandedOff, RefreshedCard, Resumed};
use crate::render::resume_command;
use crate::serve::route::{Nothing, Outcome};
use crate::serve::values::{Text, said};
use crate::serve::{Answer, App, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get_of::<Nothing, Card<'_>>(
            "/api/sessions/{id}/card",
            "The card of a session: name, description, summary, tags; as a model wrote it, otherwise made by rules.",
            card,
        ),
        Route::tell_of::<Refreshing, Card<'_>>(
            Method::POST,
            "/api/sessions/{id}/card",
            "Has the configured model write the card, if enough is new; `refresh` says how it went.",
            refresh,
        )
        .refusing(&[
            StatusCode::NOT_FOUND,
            StatusCode::CONFLICT,
            StatusCode::TOO_MANY_REQUESTS,
            StatusCode::BAD_GATEWAY,
        ]),
        Route::get_of::<Nothing, Resumed<'_>>(
            "/api/sessions/{id}/resume",
            "The words that would greet the session now, and its agent's own command to go on with it.",
            resume,
        ),
        Route::get_of::<Nothing, HandedOff<'_>>(
            "/api/sessions/{id}/handoff",
            "Goal, progress, hurdles, touched files and next steps as Markdown, for whoever goes on with the work.",
            handoff,
        ),
    ]
}

fn card(app: &App, id: SessionId, _: Nothing) -> Outcome {
    Answer::json(&Card::new(&app.engine.card(&known(app, id)?)?, None))
}

/// How a card is to be written.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "CardRequest")]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Refreshing {
    /// Another model of the configured provider.
    model: Option<Text<1, 200>>,
    /// Also if little is new.
    #[serde(default)]
    force: bool,
    /// Only tell what it would cost; nothing is sent and nothing is written.
    #[serde(default)]
    dry_run: bool,
}

fn refresh(app: &App, id: SessionId, asked: Refreshing) -> Outcome {
    let (reference, model) = (known(app, id)?, said(asked.model));
    if asked.dry_run {
        return Answer::json(&Card::planned(&app.engine.refresh_card_dry_run(&reference, model.as_deref())?));
    }
    let _place = app.room.for_slow()?;
    let refreshed = app.engine.refresh_card(&reference, model.as_deref(), asked.force)?;
    let told = RefreshedCard::new(&refreshed.outcome, refreshed.cost);
    match failure_of(refreshed.outcome) {
        Some(failure) => Err(failure.into()),
        None => Answer::json(&Card::new(&refreshed.card, Some(told))),
    }
}

fn resume(app: &App, id: SessionId, _: Nothing) -> Outcome {
    let reference = known(app, id)?;
    let listed = app.engine.resolve(&reference)?;
    let text = app.engine.resume_text(&reference)?;
    Answer::json(&Resumed::new(&listed, &text, resume_command(&listed.session).as_deref()))
}

fn handoff(app: &App, id: SessionId, _: Nothing) -> Outcome {
    Answer::json(&HandedOff::new(&app.engine.handoff(&known(app, id)?)?))
}
