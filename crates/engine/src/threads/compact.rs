//! Compaction: the beginning of a thread becomes a summary, appended to the log. Nothing is rewritten.

use rethread_llm::{ChatError, ChatLimits, Meter, NanoUsd, Planned, Request};
use rethread_model::thread::{ChatMessage, Compaction, Record, ThreadId};
use rethread_recall::{CompactionSettings, Plan, SummaryError, SummaryRequest, build_context, plan, plan_within};
use rethread_store::ThreadLog;
use serde_json::json;

use super::TurnEvent;
use crate::model::{Model, ModelError};
use crate::{Engine, EngineError};

/// Which thread to compact, and what matters in it.
#[derive(Clone, Debug, Default)]
pub struct CompactRequest {
    /// What the summary should dwell on.
    pub focus: Option<String>,
}

/// Who made a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Summariser {
    /// The model of this name.
    Model(String),
    /// Rules. The reason, if a model is configured and was not able to.
    Rules(Option<String>),
}

/// What a compaction did, or would do.
#[derive(Clone, Debug)]
pub struct CompactReport {
    /// The thread.
    pub id: ThreadId,
    /// The record; numbered 0 if it was not appended.
    pub record: Compaction,
    /// Who made the summary.
    pub by: Summariser,
    /// What the first request to the model would take, in a dry run with a model.
    pub planned: Option<PlannedCost>,
}

/// What a request may take at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedCost {
    /// Tokens sent, by estimate.
    pub input_tokens: u64,
    /// Tokens of the longest answer.
    pub output_tokens: u64,
    /// The highest price; nothing if none is known.
    pub cost: Option<NanoUsd>,
}

impl From<Planned> for PlannedCost {
    fn from(planned: Planned) -> Self {
        Self { input_tokens: planned.input_tokens, output_tokens: planned.output_tokens, cost: planned.cost }
    }
}

impl Engine {
    /// Compacts a thread. Nothing if all of it is recent.
    pub fn thread_compact(
        &self,
        reference: &str,
        request: &CompactRequest,
        is_stopped: &dyn Fn() -> bool,
        events: &mut dyn FnMut(TurnEvent<'_>),
    ) -> Result<Option<CompactReport>, EngineError> {
        let id = self.thread_id(reference)?;
        let log = self.threads().open(id)?;
        // A turn that runs would add to what is being summarised.
        let Some(_turn) = self.own_turn(&log, is_stopped, events)? else { return Err(EngineError::Stopped) };
        let chosen = log.metadata()?;
        let chosen = chosen.model_is_chosen.then_some(chosen.model);
        let model = self.optional_model(chosen.as_deref())?;
        let records = self.threads().read(id)?.records;
        let Some(plan) = self.manual_plan(&records, model.as_ref()) else { return Ok(None) };
        let focus = request.focus.as_deref();
        let books = model.as_ref().map(|_| self.books()).transpose()?;
        let meter = books.as_ref().map(|books| books as &dyn Meter);
        let report = self.append_summary(&log, &plan, model.as_ref().zip(meter), focus, is_stopped)?;
        drop(log);
        Ok(Some(report))
    }

    /// What a compaction would do. Nothing is sent and nothing is written.
    pub fn thread_compact_dry_run(
        &self,
        reference: &str,
        request: &CompactRequest,
    ) -> Result<Option<CompactReport>, EngineError> {
        let id = self.thread_id(reference)?;
        let metadata = self.threads().metadata(id)?;
        let chosen = metadata.model_is_chosen.then_some(metadata.model);
        let model = self.optional_model(chosen.as_deref())?;
        let records = self.threads().read(id)?.records;
        let Some(plan) = self.manual_plan(&records, model.as_ref()) else { return Ok(None) };
        let focus = request.focus.as_deref();
        let record = plan.record(&plan.summary_without_model(focus), self.now());
        let planned = model.as_ref().map(|model| planned_summary(model, &plan, focus));
        let by = model.map_or(Summariser::Rules(None), |model| Summariser::Model(model.chat.model().to_owned()));
        Ok(Some(CompactReport { id, record, by, planned }))
    }

    /// The plan for doing it by hand: if a model's window is outgrown, so much that it fits.
    fn manual_plan(&self, records: &[Record], model: Option<&Model>) -> Option<Plan> {
        let settings = self.compaction_settings(model);
        match model {
            Some(model) if settings.is_due(build_context(records).tokens, model.window) => {
                plan_within(records, &settings, model.window.saturating_sub(settings.reserve_tokens))
            }
            _ => plan(records, &settings),
        }
    }

    /// Summarises and appends: by the model if there is one and it can, by rules otherwise.
    pub(super) fn append_summary(
        &self,
        log: &ThreadLog,
        plan: &Plan,
        model: Option<(&Model, &dyn Meter)>,
        focus: Option<&str>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<CompactReport, EngineError> {
        let asked = model.map(|(model, meter)| {
            let room = summary_room(model, plan);
            plan.summarise(focus, room, &mut |request| ask(model, meter, &summary_request(plan, request), is_stopped))
                .map(|summary| (summary, model.chat.model().to_owned()))
                .map_err(|error| told(&error))
        });
        // Who stops does not want a poorer summary instead.
        if is_stopped() {
            return Err(EngineError::Stopped);
        }
        let (summary, by) = match asked {
            Some(Ok((summary, name))) => (summary, Summariser::Model(name)),
            Some(Err(why)) => (plan.summary_without_model(focus), Summariser::Rules(Some(why))),
            None => (plan.summary_without_model(focus), Summariser::Rules(None)),
        };
        let record = match log.append(Record::Compaction(plan.record(&summary, self.now())))? {
            Record::Compaction(record) => record,
            _ => plan.record(&summary, self.now()),
        };
        let by_model = matches!(by, Summariser::Model(_));
        let fields = [("tokensBefore", json!(record.tokens_before)), ("byModel", json!(by_model))];
        self.note("session_compacted", Some(log.id()), &fields);
        Ok(CompactReport { id: log.id(), record, by, planned: None })
    }

    /// The settings, bounded by what the model holds.
    pub(super) fn compaction_settings(&self, model: Option<&Model>) -> CompactionSettings {
        let settings = CompactionSettings {
            enabled: self.config.flag("compaction.enabled"),
            reserve_tokens: self.config.number("compaction.reserve_tokens"),
            keep_recent_tokens: self.config.number("compaction.keep_recent_tokens"),
        };
        model.map_or(settings, |model| settings.within(model.window))
    }

    fn optional_model(&self, chosen: Option<&str>) -> Result<Option<Model>, EngineError> {
        match self.model(chosen, ChatLimits::PATIENT) {
            Ok(model) => Ok(Some(model)),
            Err(ModelError::NotConfigured) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// What the requests for a summary may take, as if each were answered by as much as rules write.
pub(super) fn planned_summary(model: &Model, plan: &Plan, focus: Option<&str>) -> PlannedCost {
    let mut sum = PlannedCost { input_tokens: 0, output_tokens: 0, cost: Some(NanoUsd::ZERO) };
    let _ = plan.summarise::<()>(focus, summary_room(model, plan), &mut |request| {
        let one = model.chat.planned(&summary_request(plan, request));
        sum.input_tokens += one.input_tokens;
        sum.output_tokens += one.output_tokens;
        sum.cost = sum.cost.zip(one.cost).map(|(sum, cost)| sum.plus(cost));
        Ok(plan.summary_without_model(focus))
    });
    sum
}

/// What one request for a summary may hold beside its answer. A tenth is left for what estimates miss.
fn summary_room(model: &Model, plan: &Plan) -> u64 {
    model.window.saturating_sub(plan.summary_tokens()).saturating_sub(model.window / 10)
}

fn summary_request(plan: &Plan, request: &SummaryRequest) -> Request {
    Request {
        system: Some(super::turn::marked(&request.system)),
        messages: vec![ChatMessage::user(request.prompt.clone())],
        tools: Vec::new(),
        max_output_tokens: plan.summary_tokens(),
        purpose: "compaction",
    }
}

/// Asks for a summary. It is listened to like a turn, because that can be stopped at any time.
fn ask(
    model: &Model,
    meter: &dyn Meter,
    request: &Request,
    is_stopped: &dyn Fn() -> bool,
) -> Result<String, ChatError> {
    let streamed = model.chat.stream(request, meter, is_stopped, &mut |_| {})?;
    match streamed.failed {
        Some(error) => Err(error),
        None => Ok(streamed.answer.content.iter().filter_map(|block| block.as_text()).collect::<Vec<_>>().join("\n")),
    }
}

fn told(error: &SummaryError<ChatError>) -> String {
    match error {
        SummaryError::Asked(error) => error.to_string(),
        SummaryError::Unusable { reason } => format!("its summary could not be used: {reason}"),
    }
}
