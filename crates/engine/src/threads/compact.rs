//! Compaction: summarizes the beginning of a thread and appends the summary to the log. Nothing is rewritten.

use rethread_llm::{ChatError, ChatLimits, ChatRequest, Meter, NanoUsd, RequestEstimate};
use rethread_model::thread::{Compaction, ThreadId, ThreadRecord};
use rethread_recall::{
    CompactionPlan, CompactionSettings, SummaryError, SummaryRequest, build_context, plan_compaction,
    plan_compaction_within,
};
use rethread_store::ThreadLog;
use serde_json::json;

use super::TurnEvent;
use crate::EngineError;
use crate::models::{ConfiguredModel, ModelError, own_request};
use crate::threads::TurnService;

/// Options of a compaction.
#[derive(Clone, Debug, Default)]
pub struct CompactRequest {
    /// What the summary should focus on.
    pub focus: Option<String>,
}

/// What wrote a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Summarizer {
    /// The model with this name.
    Model(String),
    /// Rules, without a model. The reason, if a model is configured but failed.
    Rules(Option<String>),
}

/// What a compaction did, or would do.
#[derive(Clone, Debug)]
pub struct CompactReport {
    /// The compacted thread.
    pub id: ThreadId,
    /// The compaction record. Numbered 0 in a dry run, where it is not appended.
    pub record: Compaction,
    /// What wrote the summary.
    pub summarizer: Summarizer,
    /// The upper limit of the requests' cost. Only in a dry run with a model.
    pub planned: Option<PlannedCost>,
}

/// The upper limit of a request's tokens and cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedCost {
    /// Estimated tokens sent.
    pub input_tokens: u64,
    /// Tokens of the longest possible answer.
    pub output_tokens: u64,
    /// The highest possible cost. `None` if the price is unknown.
    pub cost: Option<NanoUsd>,
}

impl From<RequestEstimate> for PlannedCost {
    fn from(planned: RequestEstimate) -> Self {
        Self { input_tokens: planned.input_tokens, output_tokens: planned.output_tokens, cost: planned.cost }
    }
}

impl TurnService<'_> {
    /// Compacts a thread. `None` if all of it is too recent.
    pub fn compact(
        self,
        reference: &str,
        request: &CompactRequest,
        is_stopped: &dyn Fn() -> bool,
        events: &mut dyn FnMut(TurnEvent<'_>),
    ) -> Result<Option<CompactReport>, EngineError> {
        let id = self.engine.threads().id(reference)?;
        let log = self.engine.thread_store().open(id)?;
        // A running turn would add to the records that are being summarized.
        let Some(_turn) = self.wait_for_turn(&log, is_stopped, events)? else { return Err(EngineError::Stopped) };
        let chosen = log.metadata()?;
        let chosen = chosen.model_is_chosen.then_some(chosen.model);
        let model = self.optional_model(chosen.as_deref())?;
        let records = self.engine.thread_store().read(id)?.records;
        let Some(plan) = self.manual_plan(&records, model.as_ref()) else { return Ok(None) };
        let focus = request.focus.as_deref();
        let ledger = model.as_ref().map(|_| self.engine.models().meter()).transpose()?;
        let meter = ledger.as_ref().map(|ledger| ledger as &dyn Meter);
        let report = self.append_summary(&log, &plan, model.as_ref().zip(meter), focus, is_stopped)?;
        drop(log);
        Ok(Some(report))
    }

    /// What a compaction would do. Nothing is sent and nothing is written.
    pub fn plan_compaction(
        self,
        reference: &str,
        request: &CompactRequest,
    ) -> Result<Option<CompactReport>, EngineError> {
        let id = self.engine.threads().id(reference)?;
        let metadata = self.engine.thread_store().metadata(id)?;
        let chosen = metadata.model_is_chosen.then_some(metadata.model);
        let model = self.optional_model(chosen.as_deref())?;
        let records = self.engine.thread_store().read(id)?.records;
        let Some(plan) = self.manual_plan(&records, model.as_ref()) else { return Ok(None) };
        let focus = request.focus.as_deref();
        let record = plan.record(&plan.summary_without_model(focus), self.engine.now());
        let planned = model.as_ref().map(|model| planned_summary(model, &plan, focus));
        let by = model.map_or(Summarizer::Rules(None), |model| Summarizer::Model(model.chat.model().to_owned()));
        Ok(Some(CompactReport { id, record, summarizer: by, planned }))
    }

    /// The plan for a manual compaction. If the context exceeds the model's window, it compacts enough to make it fit.
    fn manual_plan(self, records: &[ThreadRecord], model: Option<&ConfiguredModel>) -> Option<CompactionPlan> {
        let settings = self.compaction_settings(model);
        match model {
            Some(model) if settings.is_due(build_context(records).tokens, model.window) => {
                plan_compaction_within(records, &settings, model.window.saturating_sub(settings.reserve_tokens))
            }
            _ => plan_compaction(records, &settings),
        }
    }

    /// Writes the summary and appends it: by the model if there is one and it succeeds, otherwise by rules.
    pub(super) fn append_summary(
        self,
        log: &ThreadLog,
        plan: &CompactionPlan,
        model: Option<(&ConfiguredModel, &dyn Meter)>,
        focus: Option<&str>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<CompactReport, EngineError> {
        let summary = model.map(|(model, meter)| {
            let token_budget = summary_token_budget(model, plan);
            plan.summarize(focus, token_budget, &mut |request| {
                ask_for_summary(model, meter, &summary_request(plan, request), is_stopped)
            })
            .map(|summary| (summary, model.chat.model().to_owned()))
            .map_err(|error| summary_error_text(&error))
        });
        // After a stop the caller does not want the poorer summary by rules.
        if is_stopped() {
            return Err(EngineError::Stopped);
        }
        let (summary, by) = match summary {
            Some(Ok((summary, name))) => (summary, Summarizer::Model(name)),
            Some(Err(why)) => (plan.summary_without_model(focus), Summarizer::Rules(Some(why))),
            None => (plan.summary_without_model(focus), Summarizer::Rules(None)),
        };
        let record = match log.append(ThreadRecord::Compaction(plan.record(&summary, self.engine.now())))? {
            ThreadRecord::Compaction(record) => record,
            _ => plan.record(&summary, self.engine.now()),
        };
        let by_model = matches!(by, Summarizer::Model(_));
        let fields = [("tokensBefore", json!(record.tokens_before)), ("byModel", json!(by_model))];
        self.engine.journal().event("session_compacted", Some(log.id()), &fields);
        self.allow_injections_again(log.id());
        Ok(CompactReport { id: log.id(), record, summarizer: by, planned: None })
    }

    /// The configured settings, limited by the model's window.
    pub(super) fn compaction_settings(self, model: Option<&ConfiguredModel>) -> CompactionSettings {
        let settings = CompactionSettings {
            enabled: self.engine.settings().compaction.enabled,
            reserve_tokens: self.engine.settings().compaction.reserve_tokens,
            keep_recent_tokens: self.engine.settings().compaction.keep_recent_tokens,
        };
        model.map_or(settings, |model| settings.for_window(model.window))
    }

    fn optional_model(self, chosen: Option<&str>) -> Result<Option<ConfiguredModel>, EngineError> {
        match self.engine.models().configured(chosen, ChatLimits::BACKGROUND) {
            Ok(model) => Ok(Some(model)),
            Err(ModelError::NotConfigured) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// The upper limit of all requests for a summary, assuming that each answer is as long as a summary by rules.
pub(super) fn planned_summary(model: &ConfiguredModel, plan: &CompactionPlan, focus: Option<&str>) -> PlannedCost {
    let mut sum = PlannedCost { input_tokens: 0, output_tokens: 0, cost: Some(NanoUsd::ZERO) };
    let _ = plan.summarize::<()>(focus, summary_token_budget(model, plan), &mut |request| {
        let one = model.chat.estimate(&summary_request(plan, request));
        sum.input_tokens += one.input_tokens;
        sum.output_tokens += one.output_tokens;
        sum.cost = sum.cost.zip(one.cost).map(|(sum, cost)| sum.plus(cost));
        Ok(plan.summary_without_model(focus))
    });
    sum
}

/// Tokens of a summary request beside its answer. A tenth of the window is left for estimation errors.
fn summary_token_budget(model: &ConfiguredModel, plan: &CompactionPlan) -> u64 {
    model.window.saturating_sub(plan.max_summary_tokens()).saturating_sub(model.window / 10)
}

fn summary_request(plan: &CompactionPlan, request: &SummaryRequest) -> ChatRequest {
    own_request("compaction", &request.system, request.prompt.clone(), plan.max_summary_tokens())
}

/// Asks for a summary. Streamed, because a stream can be stopped at any time.
fn ask_for_summary(
    model: &ConfiguredModel,
    meter: &dyn Meter,
    request: &ChatRequest,
    is_stopped: &dyn Fn() -> bool,
) -> Result<String, ChatError> {
    let streamed = model.chat.stream(request, meter, is_stopped, &mut |_| {})?;
    match streamed.error {
        Some(error) => Err(error),
        None => Ok(streamed.answer.content.iter().filter_map(|block| block.as_text()).collect::<Vec<_>>().join("\n")),
    }
}

fn summary_error_text(error: &SummaryError<ChatError>) -> String {
    match error {
        SummaryError::ModelFailed(error) => error.to_string(),
        SummaryError::Unusable { reason } => format!("the model's summary could not be used: {reason}"),
    }
}
