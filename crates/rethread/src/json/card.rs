//! JSON of session cards, and of the model requests that write them.

use rethread_engine::{CardPlan, CardRefreshOutcome, NanoUsd, SessionCard};
use rethread_model::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::schema::TimestampJson;
use super::thread::PlannedCostJson;
use super::{SCHEMA, dollars};

/// The card of a session, with the result of a refresh or what one would cost.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CardJson<'a> {
    schema: u8,
    session: CardSessionJson<'a>,
    name: &'a str,
    description: &'a str,
    summary: &'a str,
    tags: &'a [String],
    /// The model that wrote it; null if it was generated without a model.
    made_by: Option<&'a str>,
    #[schemars(with = "TimestampJson")]
    created_at: Timestamp,
    #[schemars(with = "TimestampJson")]
    updated_at: Timestamp,
    /// Whether the session has new entries since the card was written.
    older: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh: Option<CardRefreshJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<CardPlanJson<'a>>,
}

/// The session that a card describes.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CardSessionJson<'a> {
    id: String,
    agent: &'static str,
    external_id: &'a str,
    project: Option<&'a str>,
    cwd: Option<&'a str>,
    transcript: Option<&'a str>,
    /// Whether the user pinned it.
    pinned: bool,
    /// The user's tags.
    tags: &'a [String],
}

/// The result of asking a model for a card.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CardRefreshJson {
    /// `made`, `not-due`, `busy`, `off`, `no-model`, `refused`, `invalid` or `failed`.
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Answers the model needed until one was valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    attempts: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new_prompts: Option<u64>,
    /// New prompts required before the card is refreshed.
    #[serde(skip_serializing_if = "Option::is_none")]
    needed_prompts: Option<u64>,
    /// Null if the price of the model is unknown.
    cost_usd: Option<f64>,
}

/// What asking a model for a card would cost (`--dry-run`).
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CardPlanJson<'a> {
    model: &'a str,
    planned: PlannedCostJson,
    new_prompts: u64,
    /// New prompts required before the card is refreshed.
    needed_prompts: u64,
    /// Whether only the most recent part of the session would be sent.
    cut: bool,
    /// Why the budget does not allow it; null if it does.
    refused: Option<&'a str>,
}

impl<'a> CardJson<'a> {
    pub(crate) fn new(card: &'a SessionCard, refresh: Option<CardRefreshJson>) -> Self {
        let (session, fields) = (&card.session, &card.fields);
        Self {
            schema: SCHEMA,
            session: CardSessionJson {
                id: session.id.to_string(),
                agent: session.agent.as_str(),
                external_id: &session.external_id,
                project: session.project.as_deref(),
                cwd: session.cwd.as_deref(),
                transcript: session.transcript.as_deref(),
                pinned: card.is_pinned,
                tags: &card.user_tags,
            },
            name: &fields.name,
            description: &fields.description,
            summary: &fields.summary,
            tags: &fields.tags,
            made_by: card.model.as_deref(),
            created_at: card.created_at,
            updated_at: card.updated_at,
            older: card.is_outdated,
            refresh,
            plan: None,
        }
    }

    pub(crate) fn from_plan(plan: &'a CardPlan) -> Self {
        let would_ask = CardPlanJson {
            model: &plan.model,
            planned: PlannedCostJson::new(plan.planned),
            new_prompts: plan.new_prompts,
            needed_prompts: plan.needed_prompts,
            cut: plan.is_truncated,
            refused: plan.refusal_reason.as_deref(),
        };
        Self { plan: Some(would_ask), ..Self::new(&plan.card, None) }
    }
}

impl CardRefreshJson {
    pub(crate) fn new(outcome: &CardRefreshOutcome, cost: Option<NanoUsd>) -> Self {
        let mut refresh = Self {
            outcome: "made",
            reason: None,
            attempts: None,
            new_prompts: None,
            needed_prompts: None,
            cost_usd: cost.map(dollars),
        };
        (refresh.outcome, refresh.reason) = match outcome {
            CardRefreshOutcome::Written { attempts } => {
                refresh.attempts = Some(*attempts);
                ("made", None)
            }
            CardRefreshOutcome::NotDue { new_prompts: new, needed_prompts: needed } => {
                (refresh.new_prompts, refresh.needed_prompts) = (Some(*new), Some(*needed));
                ("not-due", None)
            }
            CardRefreshOutcome::Busy => ("busy", None),
            CardRefreshOutcome::Disabled(why) => ("off", Some(why.clone())),
            CardRefreshOutcome::NoModel(error) => ("no-model", Some(error.to_string())),
            CardRefreshOutcome::OverBudget(error) => ("refused", Some(error.to_string())),
            CardRefreshOutcome::InvalidAnswer(why) => ("invalid", Some(why.clone())),
            CardRefreshOutcome::Failed(error) => ("failed", Some(error.to_string())),
        };
        refresh
    }
}
