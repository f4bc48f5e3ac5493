//! One turn: the user's text, the model's streamed answer, and the tools it calls.

use std::cell::Cell;
use std::time::Instant;

use rethread_llm::{AnswerChunk, ChatAnswer, ChatError, ChatLimits, NanoUsd, ToolDefinition};
use rethread_model::Tokens;
use rethread_model::thread::{
    ChatRole, ContentBlock, PendingToolCall, StopReason, ThreadId, ThreadMessage, ThreadMetadata, ThreadRecord,
};
use rethread_recall::{build_context, pair_tool_results, plan_compaction_within};
use rethread_store::{ThreadError, ThreadLog, ThreadTurn};
use serde_json::json;

use super::compact::PlannedCost;
use super::request_frame::RequestFrame;
use super::{CompactReport, PendingTurn, tools};
use crate::EngineError;
use crate::models::ConfiguredModel;
use crate::models::LedgerMeter;
use crate::threads::TurnService;

/// Maximum answers of one turn. Stops a model that never ends calling tools.
const MAX_ANSWERS: usize = 20;

/// What to send to the model.
#[derive(Clone, Debug, Default)]
pub struct SendRequest {
    /// The user's text. Without one the model continues, for example after tool results were appended.
    pub text: Option<String>,
    /// Tools of the caller, who answers calls by appending results and sending again.
    pub tools: Vec<ToolDefinition>,
    /// Whether the model may search memory.
    pub can_search_memory: bool,
    /// The client's id of this turn. Stored with its first message.
    pub client_id: Option<String>,
}

/// Reported during a turn.
#[derive(Debug)]
pub enum TurnEvent<'a> {
    /// Other turns of the thread run first.
    Queued {
        /// Number of turns ahead.
        ahead: usize,
    },
    /// The turn has started.
    Started {
        /// The id of the turn.
        run_id: &'a str,
    },
    /// A part of the model's text.
    Delta(&'a str),
    /// The model calls a tool.
    ToolCalled {
        /// The id of the call.
        id: &'a str,
        /// The name of the tool.
        name: &'a str,
    },
    /// A message was appended to the log.
    Appended(&'a ThreadMessage),
    /// The thread was compacted before the request.
    Compacted(&'a CompactReport),
}

/// The result of a turn.
#[derive(Debug)]
pub struct TurnReport {
    /// The thread of the turn.
    pub id: ThreadId,
    /// The id of the turn.
    pub run_id: String,
    /// The messages it appended to the log.
    pub messages: Vec<ThreadMessage>,
    /// Why the model stopped.
    pub stop: StopReason,
    /// Tokens of all answers. `None` if one of them was not counted.
    pub usage: Option<Tokens>,
    /// Total cost of the turn by the ledger. `None` if a price is unknown.
    pub cost: Option<NanoUsd>,
    /// Whether the limit of answers per turn ended it although the model wanted to continue.
    pub is_cut_short: bool,
    /// Tool calls that wait for results from the caller.
    pub pending_calls: Vec<PendingToolCall>,
    /// Why the model's answer was interrupted, if it was. The part received is in the log.
    pub interruption: Option<ChatError>,
}

/// What a turn would cost.
#[derive(Clone, Debug)]
pub struct SendPlan {
    /// The thread of the turn.
    pub id: ThreadId,
    /// The model to ask.
    pub model: String,
    /// Upper limit of the first request.
    pub planned: PlannedCost,
    /// Upper limit of the requests for a summary, if the thread is compacted first.
    pub compaction: Option<PlannedCost>,
    /// Why the budget does not allow it, if so.
    pub refusal_reason: Option<String>,
}

/// Everything the steps of one turn share.
struct TurnContext<'a> {
    log: &'a ThreadLog,
    model: &'a ConfiguredModel,
    ledger: &'a LedgerMeter,
    tools: Vec<ToolDefinition>,
    run_id: String,
    client_id: Option<String>,
    metadata: ThreadMetadata,
    is_stopped: &'a dyn Fn() -> bool,
}

impl TurnService<'_> {
    /// Runs one turn with the configured model. What the model says is logged however the turn ends.
    pub fn send(
        self,
        reference: &str,
        request: &SendRequest,
        is_stopped: &dyn Fn() -> bool,
        events: &mut dyn FnMut(TurnEvent<'_>),
    ) -> Result<TurnReport, EngineError> {
        let waiting = self.accept(reference, request.clone())?;
        if waiting.ahead() > 0 {
            events(TurnEvent::Queued { ahead: waiting.ahead() });
        }
        self.run(waiting, is_stopped, events)
    }

    /// Runs an accepted turn, once no other turn is ahead of it.
    pub fn run(
        self,
        waiting: PendingTurn,
        is_stopped: &dyn Fn() -> bool,
        events: &mut dyn FnMut(TurnEvent<'_>),
    ) -> Result<TurnReport, EngineError> {
        let (id, threads) = (waiting.id(), self.engine.thread_store());
        // Deleting a thread also stops its turns.
        let is_stopped = &|| is_stopped() || threads.is_deleted(id);
        let log = threads.open(id)?;
        let (had_to_wait, run_id, request) = (waiting.ahead() > 0, waiting.run_id().to_owned(), waiting.request);
        let Some(mut turn) = self.start_turn(&log, waiting.ticket, is_stopped)? else {
            return Err(EngineError::Stopped);
        };
        self.check_client_id(id, request.client_id.as_deref())?;
        let metadata = log.metadata()?;
        let (model, ledger) = (self.model(&metadata)?, self.engine.models().meter()?);
        if had_to_wait {
            // Turns before it may have spent the budget or answered the last message.
            self.check_can_run(id, &model, &ledger, &metadata, &request)?;
        }
        let began = Instant::now();
        events(TurnEvent::Started { run_id: &run_id });
        self.engine.journal().event("turn_start", Some(id), &[("runId", json!(run_id))]);
        let tools = offered_tools(&request);
        let client_id = request.client_id.clone();
        let context =
            TurnContext { log: &log, model: &model, ledger: &ledger, tools, run_id, client_id, metadata, is_stopped };
        let mut report = TurnReport {
            id,
            run_id: context.run_id.clone(),
            messages: Vec::new(),
            stop: StopReason::Error,
            usage: Some(Tokens::default()),
            cost: None,
            is_cut_short: false,
            pending_calls: Vec::new(),
            interruption: None,
        };
        let done = self.run_answers(&context, &mut turn, &request, &mut report, events);
        report.cost = ledger.run_cost();
        self.log_turn_end(&report, began.elapsed().as_millis() as u64, done.as_ref().err());
        done?;
        report.pending_calls = log.metadata()?.waiting_calls;
        log.save_unsaved_metadata()?;
        Ok(report)
    }

    /// Rejects a turn that has run since it was accepted: its client also sent it to another node.
    fn check_client_id(self, id: ThreadId, client_id: Option<&str>) -> Result<(), EngineError> {
        let Some(client_id) = client_id else { return Ok(()) };
        if self.engine.threads().messages_by_client_id(id, client_id)?.is_empty() {
            return Ok(());
        }
        Err(ThreadError::ClientIdTaken { id, client_id: client_id.to_owned() }.into())
    }

    /// Rejects a turn that could not run. Checked before anything is written: otherwise a retry would log the text
    /// twice.
    pub(super) fn check_can_run(
        self,
        id: ThreadId,
        model: &ConfiguredModel,
        ledger: &LedgerMeter,
        metadata: &ThreadMetadata,
        request: &SendRequest,
    ) -> Result<(), EngineError> {
        if request.text.is_none() && !self.needs_answer(id)? {
            return Err(EngineError::NothingToAnswer);
        }
        let planned = self.plan_first_request(id, model, metadata, request)?.0;
        ledger.check_budget(&planned).map_err(ChatError::Budget)?;
        Ok(())
    }

    /// The model of a thread: chosen for it, or the configured one.
    pub(super) fn model(self, metadata: &ThreadMetadata) -> Result<ConfiguredModel, EngineError> {
        let chosen = metadata.model_is_chosen.then_some(metadata.model.as_str());
        Ok(self.engine.models().configured(chosen, ChatLimits::INTERACTIVE)?)
    }

    /// What a turn would cost. Nothing is sent and nothing is written.
    pub fn plan(self, reference: &str, request: &SendRequest) -> Result<SendPlan, EngineError> {
        let id = self.engine.threads().id(reference)?;
        let metadata = self.engine.thread_store().metadata(id)?;
        let model = self.model(&metadata)?;
        let (planned, compaction) = self.plan_first_request(id, &model, &metadata, request)?;
        let spent = self.engine.models().budget_status(self.engine.reader()?.as_ref())?;
        let spent = rethread_llm::SpentToday { tokens: spent.tokens, cost: spent.usd };
        let refusal_reason = self.engine.models().budget().check(&spent, &planned).err().map(|error| error.to_string());
        Ok(SendPlan { id, model: model.chat.model().to_owned(), planned: planned.into(), compaction, refusal_reason })
    }

    /// Estimates the turn's first request and, if the thread is compacted first, the requests for the summary.
    fn plan_first_request(
        self,
        id: ThreadId,
        model: &ConfiguredModel,
        metadata: &ThreadMetadata,
        request: &SendRequest,
    ) -> Result<(rethread_llm::RequestEstimate, Option<PlannedCost>), EngineError> {
        let mut records = self.engine.thread_store().read(id)?.records;
        let next = request.text.as_ref().map(|text| {
            let mut message =
                ThreadMessage::new(ChatRole::User, vec![ContentBlock::text(text.as_str())], self.engine.now());
            message.seq = metadata.next_seq;
            ThreadRecord::Message(message)
        });
        records.extend(next);
        let frame = RequestFrame::new(self, model, metadata, &offered_tools(request));
        let mut tokens = build_context(&records).tokens;
        let mut compaction = None;
        if frame.must_compact(tokens)
            && let Some(plan) = plan_compaction_within(&records, &frame.settings, frame.message_token_budget())
        {
            compaction = Some(super::compact::planned_summary(model, &plan, None));
            tokens = plan.tokens_after();
            records.push(ThreadRecord::Compaction(
                plan.record(&" ".repeat(plan.max_summary_tokens() as usize * 3), self.engine.now()),
            ));
        }
        frame.check_fits(tokens)?;
        let messages = pair_tool_results(build_context(&records).messages);
        Ok((model.chat.estimate(&frame.request(offered_tools(request), messages)), compaction))
    }

    fn run_answers(
        self,
        context: &TurnContext<'_>,
        turn: &mut ThreadTurn,
        request: &SendRequest,
        report: &mut TurnReport,
        events: &mut dyn FnMut(TurnEvent<'_>),
    ) -> Result<(), EngineError> {
        if let Some(text) = &request.text {
            self.append_injection(context.log, &context.run_id, text, context.model.window)?;
            let mut message =
                ThreadMessage::new(ChatRole::User, vec![ContentBlock::text(text.as_str())], self.engine.now());
            message.cwd = self.engine.cwd_text();
            append_turn_message(context, message, report, events)?;
        }
        for _ in 0..MAX_ANSWERS {
            let should_continue = self.run_answer(context, turn, report, events)?;
            if !should_continue || (context.is_stopped)() {
                return Ok(());
            }
        }
        report.is_cut_short = true;
        Ok(())
    }

    /// Gets one answer of the model. Returns true if it only called tools of ours, so that it can continue.
    fn run_answer(
        self,
        context: &TurnContext<'_>,
        turn: &mut ThreadTurn,
        report: &mut TurnReport,
        events: &mut dyn FnMut(TurnEvent<'_>),
    ) -> Result<bool, EngineError> {
        let records = match self.records_within_window(context, events) {
            Err(EngineError::Stopped) => {
                report.stop = StopReason::Aborted;
                return Ok(false);
            }
            records => records?,
        };
        let after = records.iter().filter_map(ThreadRecord::seq).max().unwrap_or(0);
        let messages = pair_tool_results(build_context(&records).messages);
        let frame = RequestFrame::new(self, context.model, &context.metadata, &context.tools);
        let request = frame.request(context.tools.clone(), messages);
        let name = context.model.chat.model();
        turn.begin_answer(&context.run_id, name, after)?;
        let is_lost = Cell::new(false);
        let is_stopped = || is_lost.get() || (context.is_stopped)();
        let streamed = context.model.chat.stream(&request, context.ledger, &is_stopped, &mut |chunk| match chunk {
            AnswerChunk::Text(text) => {
                // If this fails, the text is lost only if the process is also killed. A turn that was taken over
                // cannot append its answer.
                let saved = turn.append_answer_text(text);
                is_lost.set(is_lost.get() || matches!(saved, Err(ThreadError::TurnLost { .. })));
                events(TurnEvent::Delta(text));
            }
            AnswerChunk::CallStarted { id, name } => events(TurnEvent::ToolCalled { id, name }),
        });
        let streamed = match streamed {
            Ok(streamed) => streamed,
            Err(error) => {
                turn.end_answer()?;
                return Err(error.into());
            }
        };
        report.stop = streamed.answer.stop;
        report.usage = report.usage.zip(streamed.answer.usage).map(|(sum, usage)| sum.plus(usage));
        report.interruption = streamed.error;
        let message = self.answer_message(streamed.answer);
        let is_empty = message.content.is_empty();
        let calls: Vec<ContentBlock> =
            message.content.iter().filter(|block| block.call_id().is_some()).cloned().collect();
        if !is_empty {
            append_turn_message(context, message, report, events)?;
        }
        turn.end_answer()?;
        if report.stop == StopReason::Aborted || report.interruption.is_some() {
            return Ok(false);
        }
        self.run_own_tools(context, &calls, report, events)
    }

    /// Runs the calls of our own tools. Returns true if there were any calls and all of them were ours.
    fn run_own_tools(
        self,
        context: &TurnContext<'_>,
        calls: &[ContentBlock],
        report: &mut TurnReport,
        events: &mut dyn FnMut(TurnEvent<'_>),
    ) -> Result<bool, EngineError> {
        let mut all_ours = !calls.is_empty();
        for call in calls {
            let ContentBlock::ToolCall { id, name, arguments } = call else { continue };
            self.engine.journal().event(
                "tool_call",
                Some(context.log.id()),
                &[("runId", json!(context.run_id)), ("name", json!(name))],
            );
            let is_offered = context.tools.iter().any(|tool| tool.name == *name);
            let used = if is_offered { self.run_own_tool(context.log.id(), name, arguments) } else { None };
            match used {
                Some((text, is_error)) => {
                    let result =
                        ThreadMessage::tool_result(id, vec![ContentBlock::text(text)], is_error, self.engine.now());
                    append_turn_message(context, result, report, events)?;
                }
                None => all_ours = false,
            }
        }
        Ok(all_ours)
    }

    /// The records of the thread, compacted first if they exceed the window.
    fn records_within_window(
        self,
        context: &TurnContext<'_>,
        events: &mut dyn FnMut(TurnEvent<'_>),
    ) -> Result<Vec<ThreadRecord>, EngineError> {
        let read = || self.engine.thread_store().read(context.log.id());
        let records = read()?.records;
        let frame = RequestFrame::new(self, context.model, &context.metadata, &context.tools);
        let tokens = build_context(&records).tokens;
        let plan = if frame.must_compact(tokens) {
            plan_compaction_within(&records, &frame.settings, frame.message_token_budget())
        } else {
            None
        };
        let Some(plan) = plan else {
            frame.check_fits(tokens)?;
            return Ok(records);
        };
        let model = Some((context.model, context.ledger as &dyn rethread_llm::Meter));
        let report = self.append_summary(context.log, &plan, model, None, context.is_stopped)?;
        events(TurnEvent::Compacted(&report));
        let records = read()?.records;
        frame.check_fits(build_context(&records).tokens)?;
        Ok(records)
    }

    /// Logs the end of a turn.
    fn log_turn_end(self, report: &TurnReport, millis: u64, error: Option<&EngineError>) {
        let tools = report.messages.iter().flat_map(ThreadMessage::tool_calls).count();
        let error = error.map(ToString::to_string).or_else(|| report.interruption.as_ref().map(ToString::to_string));
        let fields = [
            ("runId", json!(report.run_id)),
            ("usage", json!(report.usage)),
            ("durationMs", json!(millis)),
            ("toolCalls", json!(tools)),
            ("stop", json!(report.stop)),
            ("error", json!(error)),
        ];
        self.engine.journal().event("turn_end", Some(report.id), &fields);
    }

    fn answer_message(self, answer: ChatAnswer) -> ThreadMessage {
        let mut message = ThreadMessage::new(ChatRole::Assistant, answer.content, self.engine.now());
        message.content.retain(|block| block.as_text().is_none_or(|text| !text.is_empty()));
        message.model = Some(answer.model);
        message.usage = answer.usage;
        message.stop_reason = Some(answer.stop);
        message
    }

    /// Whether the last message is one that a model answers.
    fn needs_answer(self, id: ThreadId) -> Result<bool, EngineError> {
        let records = self.engine.thread_store().read(id)?.records;
        let last = records.iter().rev().find_map(ThreadRecord::message);
        Ok(last.is_some_and(|message| message.role != ChatRole::Assistant))
    }
}

/// Appends a message of this turn to the log and reports it.
fn append_turn_message(
    context: &TurnContext<'_>,
    mut message: ThreadMessage,
    report: &mut TurnReport,
    events: &mut dyn FnMut(TurnEvent<'_>),
) -> Result<(), EngineError> {
    message.run_id = Some(context.run_id.clone());
    if report.messages.is_empty() {
        message.client_id.clone_from(&context.client_id);
    }
    if let ThreadRecord::Message(message) = context.log.append(ThreadRecord::Message(message))? {
        events(TurnEvent::Appended(&message));
        report.messages.push(message);
    }
    Ok(())
}

fn offered_tools(request: &SendRequest) -> Vec<ToolDefinition> {
    let own = request.can_search_memory.then(tools::search_memory_tool);
    let taken = own.as_ref().map(|tool| tool.name.clone());
    let others = request.tools.iter().filter(|tool| Some(&tool.name) != taken.as_ref()).cloned();
    own.into_iter().chain(others).collect()
}
