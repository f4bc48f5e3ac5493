//! Cards of sessions as programs get them.

use rethread_engine::{Card as Told, CardPlan, NanoUsd, Refresh};
use rethread_model::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::shape::Moment;
use super::thread::Planned;
use super::{SCHEMA, dollars};

/// The card of a session, and how asking for it went or what that would take.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Card<'a> {
    schema: u8,
    session: CardSession<'a>,
    name: &'a str,
    description: &'a str,
    summary: &'a str,
    tags: &'a [String],
    /// The model; null for a card by rules.
    made_by: Option<&'a str>,
    #[schemars(with = "Moment")]
    created_at: Timestamp,
    #[schemars(with = "Moment")]
    updated_at: Timestamp,
    /// Whether the session has gone on since.
    older: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh: Option<RefreshedCard>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<WouldAsk<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CardSession<'a> {
    id: String,
    agent: &'static str,
    external_id: &'a str,
    project: Option<&'a str>,
    cwd: Option<&'a str>,
    transcript: Option<&'a str>,
}

/// How asking for a card went.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CardRefresh")]
#[serde(rename_all = "camelCase")]
pub(crate) struct RefreshedCard {
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempts: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new_prompts: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    needed_prompts: Option<u64>,
    cost_usd: Option<f64>,
}

/// What asking for a card would take.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CardPlan")]
#[serde(rename_all = "camelCase")]
struct WouldAsk<'a> {
    model: &'a str,
    planned: Planned,
    new_prompts: u64,
    needed_prompts: u64,
    cut: bool,
    refused: Option<&'a str>,
}

impl<'a> Card<'a> {
    pub(crate) fn new(card: &'a Told, refresh: Option<RefreshedCard>) -> Self {
        let (session, fields) = (&card.session, &card.fields);
        Self {
            schema: SCHEMA,
            session: CardSession {
                id: session.id.to_string(),
                agent: session.agent.as_str(),
                external_id: &session.external_id,
                project: session.project.as_deref(),
                cwd: session.cwd.as_deref(),
                transcript: session.transcript.as_deref(),
            },
            name: &fields.name,
            description: &fields.description,
            summary: &fields.summary,
            tags: &fields.tags,
            made_by: card.made_by.as_deref(),
            created_at: card.created_at,
            updated_at: card.updated_at,
            older: card.is_older,
            refresh,
            plan: None,
        }
    }

    pub(crate) fn planned(plan: &'a CardPlan) -> Self {
        let would_ask = WouldAsk {
            model: &plan.model,
            planned: Planned::new(plan.planned),
            new_prompts: plan.new,
            needed_prompts: plan.needed,
            cut: plan.is_cut,
            refused: plan.refused.as_deref(),
        };
        Self { plan: Some(would_ask), ..Self::new(&plan.card, None) }
    }
}

impl RefreshedCard {
    pub(crate) fn new(outcome: &Refresh, cost: Option<NanoUsd>) -> Self {
        let mut told = Self {
            outcome: "made",
            reason: None,
            attempts: None,
            new_prompts: None,
            needed_prompts: None,
            cost_usd: cost.map(dollars),
        };
        (told.outcome, told.reason) = match outcome {
            Refresh::Made { attempts } => {
                told.attempts = Some(*attempts);
                ("made", None)
            }
            Refresh::NotDue { new, needed } => {
                (told.new_prompts, told.needed_prompts) = (Some(*new), Some(*needed));
                ("not-due", None)
            }
            Refresh::Busy => ("busy", None),
            Refresh::Off(why) => ("off", Some(why.clone())),
            Refresh::NoModel(error) => ("no-model", Some(error.to_string())),
            Refresh::Refused(refusal) => ("refused", Some(refusal.to_string())),
            Refresh::Invalid(why) => ("invalid", Some(why.clone())),
            Refresh::Failed(error) => ("failed", Some(error.to_string())),
        };
        told
    }
}
