//! Questions about one session.

use axum::http::{Method, StatusCode};
use rethread_engine::{AskError, AskRequest};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::failure::Failure;
use crate::json::{Answered, WouldAsk};
use crate::serve::route::Outcome;
use crate::serve::values::{Reference, Text, said};
use crate::serve::{Answer, App, Refusal, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::tell::<Asking, AnswerOrPlan<'_>>(
            Method::POST,
            "/api/ask",
            "Answers a question about a session, with citations: by the configured model within the budget, otherwise by \
             quoting what fits best. Refusals carry the stable codes INVALID_ARGS, CALL_LIMIT_EXCEEDED, SESSION_NOT_FOUND, \
             SESSION_AMBIGUOUS, SESSION_FILE_MISSING, SESSION_PARSE_FAILED, SESSION_EMPTY, QUERY_MODEL_UNAVAILABLE, \
             QUERY_TRANSPORT_FAILED, QUERY_INVALID_OUTPUT and UNKNOWN; `kind` is our own name for them.",
            ask,
        )
        .refusing(&[
            StatusCode::NOT_FOUND,
            StatusCode::CONFLICT,
            StatusCode::TOO_MANY_REQUESTS,
            StatusCode::BAD_GATEWAY,
        ]),
    ]
}

/// A question.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "AskRequest")]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Asking {
    /// The session: an id, the beginning of one, an alias, a name.
    session: Reference,
    /// The question.
    question: Text<1, 4_000>,
    /// Another model of the configured provider.
    model: Option<Text<1, 200>>,
    /// Ask no model: quote the passages that fit best.
    #[serde(default)]
    no_model: bool,
    /// Only tell what it would cost; nothing is sent.
    #[serde(default)]
    dry_run: bool,
    /// The agent's turn in which it is asked, by an id of its own: a model is asked only so often in one.
    turn: Option<Text<1, 200>>,
}

/// An answer; in a dry run what it would take.
#[derive(JsonSchema)]
#[schemars(rename = "AnswerOrPlan", untagged)]
#[expect(dead_code, reason = "only its shape is used")]
enum AnswerOrPlan<'a> {
    Answer(Answered<'a>),
    Plan(WouldAsk<'a>),
}

fn ask(app: &App, asked: Asking) -> Outcome {
    let request = AskRequest {
        reference: asked.session.0,
        question: asked.question.0,
        model: said(asked.model),
        without_model: asked.no_model,
        turn: said(asked.turn),
        max_bytes: None,
        timeout: None,
    };
    if asked.dry_run {
        let plan = app.engine.ask_dry_run(&request).map_err(refused)?;
        return Answer::json(&WouldAsk::new(&plan));
    }
    let _place = app.room.for_slow()?;
    let answered = app.engine.ask(&request).map_err(refused)?;
    Answer::json(&Answered::new(&answered))
}

/// Why not, with what a program can do instead of what a person can.
fn refused(error: AskError) -> Refusal {
    let is_of_a_model = error.code().starts_with("QUERY_");
    let mut failure = Failure::from(error);
    if is_of_a_model {
        failure.hints.pop();
        failure.hints.push("noModel quotes the passages that fit best, and costs nothing".to_owned());
    }
    failure.into()
}
