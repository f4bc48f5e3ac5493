//! One turn: the user's text, the model's answer as it comes, and the tools it uses on the way.

use std::time::Instant;

use rethread_llm::{Answer, ChatError, ChatLimits, NanoUsd, Piece, Request, Tool};
use rethread_model::thread::{Block, ChatMessage, ChatRole, Message, Metadata, Record, Stop, ThreadId, WaitingCall};
use rethread_model::{OWN_CALL_TAG, Tokens, estimate_text};
use rethread_recall::{CompactionSettings, build_context, pair_up, plan_within};
use rethread_store::{ThreadError, ThreadLog, Turn};
use serde_json::json;

use super::compact::PlannedCost;
use super::{CompactReport, WaitingTurn, tools};
use crate::model::Model;
use crate::spending::Books;
use crate::{Engine, EngineError};

/// Answers of one turn: a model that only ever calls tools is stopped here.
const MOST_ANSWERS: usize = 20;
/// The least that is left for an answer.
const SHORTEST_ANSWER: u64 = 256;
/// Instructions of threads that have none of their own.
const SYSTEM: &str = "You are a helpful assistant.";

/// What to say.
#[derive(Clone, Debug, Default)]
pub struct SendRequest {
    /// The user's text. Without one the model goes on, for example after its tools' results were appended.
    pub text: Option<String>,
    /// Tools of the caller. Who gets calls answers them by appending results, and sends again.
    pub tools: Vec<Tool>,
    /// Whether the model may search memory.
    pub memory: bool,
    /// What the client calls this turn; it is kept with the first message of it.
    pub client_id: Option<String>,
}

/// What happens during a turn.
#[derive(Debug)]
pub enum TurnEvent<'a> {
    /// Others are before it.
    Queued {
        /// How many.
        ahead: usize,
    },
    /// The turn has begun.
    Begun {
        /// Its id.
        run_id: &'a str,
    },
    /// The model says something.
    Delta(&'a str),
    /// The model calls a tool.
    ToolCalled {
        /// The call.
        id: &'a str,
        /// The tool.
        name: &'a str,
    },
    /// A message is in the log.
    Appended(&'a Message),
    /// The thread was compacted.
    Compacted(&'a CompactReport),
}

/// How a turn ended.
#[derive(Debug)]
pub struct TurnReport {
    /// The thread.
    pub id: ThreadId,
    /// The turn.
    pub run_id: String,
    /// What it added to the log.
    pub messages: Vec<Message>,
    /// Why the model stopped.
    pub stop: Stop,
    /// Tokens of all answers; nothing if one of them was not counted.
    pub usage: Option<Tokens>,
    /// What everything that was sent has cost by the ledger; nothing if no price is known.
    pub cost: Option<NanoUsd>,
    /// Whether the model wanted to go on, and had answered as often as it may in one turn.
    pub is_cut_short: bool,
    /// Calls that wait for results of the caller.
    pub waiting_calls: Vec<WaitingCall>,
    /// Why the model's answer broke off, if it did. What was said is in the log.
    pub failed: Option<ChatError>,
}

/// What a turn would take.
#[derive(Clone, Debug)]
pub struct SendPlan {
    /// The thread.
    pub id: ThreadId,
    /// The model.
    pub model: String,
    /// What the first request may take.
    pub planned: PlannedCost,
    /// What the requests for a summary may take, if the thread is compacted first.
    pub compaction: Option<PlannedCost>,
    /// Why the budget does not allow it, if it does not.
    pub refused: Option<String>,
}

/// What one turn works with.
struct Talk<'a> {
    log: &'a ThreadLog,
    model: &'a Model,
    books: &'a Books,
    tools: Vec<Tool>,
    run_id: String,
    client_id: Option<String>,
    metadata: Metadata,
    is_stopped: &'a dyn Fn() -> bool,
}

impl Engine {
    /// One turn with the configured model. What the model says is kept however the turn ends.
    pub fn thread_send(
        &self,
        reference: &str,
        request: &SendRequest,
        is_stopped: &dyn Fn() -> bool,
        events: &mut dyn FnMut(TurnEvent<'_>),
    ) -> Result<TurnReport, EngineError> {
        let waiting = self.thread_accept(reference, request.clone())?;
        if waiting.ahead() > 0 {
            events(TurnEvent::Queued { ahead: waiting.ahead() });
        }
        self.thread_run(waiting, is_stopped, events)
    }

    /// Runs a turn that was accepted, once nobody is before it any more.
    pub fn thread_run(
        &self,
        waiting: WaitingTurn,
        is_stopped: &dyn Fn() -> bool,
        events: &mut dyn FnMut(TurnEvent<'_>),
    ) -> Result<TurnReport, EngineError> {
        let (id, threads) = (waiting.id(), self.threads());
        // Whoever deletes a thread wants to hear no more of it.
        let is_stopped = &|| is_stopped() || threads.is_deleted(id);
        let log = threads.open(id)?;
        let (had_to_wait, run_id, request) = (waiting.ahead() > 0, waiting.run_id().to_owned(), waiting.request);
        let Some(mut turn) = self.take_turn(&log, waiting.ticket, is_stopped)? else {
            return Err(EngineError::Stopped);
        };
        let metadata = log.metadata()?;
        let (model, books) = (self.model_of_thread(&metadata)?, self.books()?);
        if had_to_wait {
            // Those before it may have spent the budget, or answered what there was to answer.
            self.must_be_able(id, &model, &books, &metadata, &request)?;
        }
        let began = Instant::now();
        events(TurnEvent::Begun { run_id: &run_id });
        self.note("turn_start", Some(id), &[("runId", json!(run_id))]);
        let tools = tools_of(&request);
        let client_id = request.client_id.clone();
        let talk = Talk { log: &log, model: &model, books: &books, tools, run_id, client_id, metadata, is_stopped };
        let mut report = TurnReport {
            id,
            run_id: talk.run_id.clone(),
            messages: Vec::new(),
            stop: Stop::Error,
            usage: Some(Tokens::default()),
            cost: None,
            is_cut_short: false,
            waiting_calls: Vec::new(),
            failed: None,
        };
        let done = self.talk(&talk, &mut turn, &request, &mut report, events);
        report.cost = books.run_cost();
        self.note_end(&report, began.elapsed().as_millis() as u64, done.as_ref().err());
        done?;
        report.waiting_calls = log.metadata()?.waiting_calls;
        log.settle()?;
        Ok(report)
    }

    /// Refuses a turn that could not be run. It is asked before anything is written: the text would stand in the log
    /// twice after the next try.
    pub(super) fn must_be_able(
        &self,
        id: ThreadId,
        model: &Model,
        books: &Books,
        metadata: &Metadata,
        request: &SendRequest,
    ) -> Result<(), EngineError> {
        if request.text.is_none() && !self.has_something_to_answer(id)? {
            return Err(EngineError::NothingToAnswer);
        }
        let planned = self.planned(id, model, metadata, request)?.0;
        books.allow(&planned).map_err(ChatError::Budget)?;
        Ok(())
    }

    /// The model that a thread is talked to with.
    pub(super) fn model_of_thread(&self, metadata: &Metadata) -> Result<Model, EngineError> {
        let chosen = metadata.model_is_chosen.then_some(metadata.model.as_str());
        Ok(self.model(chosen, ChatLimits::INTERACTIVE)?)
    }

    /// What a turn would take. Nothing is sent and nothing is written.
    pub fn thread_send_dry_run(&self, reference: &str, request: &SendRequest) -> Result<SendPlan, EngineError> {
        let id = self.thread_id(reference)?;
        let metadata = self.threads().metadata(id)?;
        let model = self.model_of_thread(&metadata)?;
        let (planned, compaction) = self.planned(id, &model, &metadata, request)?;
        let spent = self.budget_status(self.reader()?.as_ref())?;
        let spent = rethread_llm::Spent { tokens: spent.tokens, cost: spent.usd };
        let refused = self.budget().check(&spent, &planned).err().map(|refusal| refusal.to_string());
        Ok(SendPlan { id, model: model.chat.model().to_owned(), planned: planned.into(), compaction, refused })
    }

    /// The estimate of the turn's first request and, if the thread is compacted before it, of those for the summary.
    fn planned(
        &self,
        id: ThreadId,
        model: &Model,
        metadata: &Metadata,
        request: &SendRequest,
    ) -> Result<(rethread_llm::Planned, Option<PlannedCost>), EngineError> {
        let mut records = self.threads().read(id)?.records;
        let next = request.text.as_ref().map(|text| {
            let mut message = Message::new(ChatRole::User, vec![Block::text(text.as_str())], self.now());
            message.seq = metadata.next_seq;
            Record::Message(message)
        });
        records.extend(next);
        let frame = Frame::new(self, model, metadata, &tools_of(request));
        let mut tokens = build_context(&records).tokens;
        let mut compaction = None;
        if frame.is_due(tokens)
            && let Some(plan) = plan_within(&records, &frame.settings, frame.room())
        {
            compaction = Some(super::compact::planned_summary(model, &plan, None));
            tokens = plan.tokens_after();
            records.push(Record::Compaction(plan.record(&" ".repeat(plan.summary_tokens() as usize * 3), self.now())));
        }
        frame.must_hold(tokens)?;
        let messages = pair_up(build_context(&records).messages);
        Ok((model.chat.planned(&frame.request(tools_of(request), messages)), compaction))
    }

    fn talk(
        &self,
        talk: &Talk<'_>,
        turn: &mut Turn,
        request: &SendRequest,
        report: &mut TurnReport,
        events: &mut dyn FnMut(TurnEvent<'_>),
    ) -> Result<(), EngineError> {
        if let Some(text) = &request.text {
            let mut message = Message::new(ChatRole::User, vec![Block::text(text.as_str())], self.now());
            message.cwd = self.cwd_text();
            append(talk, message, report, events)?;
        }
        for _ in 0..MOST_ANSWERS {
            let goes_on = self.answer(talk, turn, report, events)?;
            if !goes_on || (talk.is_stopped)() {
                return Ok(());
            }
        }
        report.is_cut_short = true;
        Ok(())
    }

    /// One answer of the model; whether it called tools, all of which were used here, and may go on.
    fn answer(
        &self,
        talk: &Talk<'_>,
        turn: &mut Turn,
        report: &mut TurnReport,
        events: &mut dyn FnMut(TurnEvent<'_>),
    ) -> Result<bool, EngineError> {
        let records = match self.fitting_records(talk, events) {
            Err(EngineError::Stopped) => {
                report.stop = Stop::Aborted;
                return Ok(false);
            }
            records => records?,
        };
        let after = records.iter().filter_map(Record::seq).max().unwrap_or(0);
        let messages = pair_up(build_context(&records).messages);
        let frame = Frame::new(self, talk.model, &talk.metadata, &talk.tools);
        let request = frame.request(talk.tools.clone(), messages);
        let name = talk.model.chat.model();
        turn.begin_answer(&talk.run_id, name, after).map_err(|cause| disk(self, talk.log.id(), cause))?;
        let streamed = talk.model.chat.stream(&request, talk.books, talk.is_stopped, &mut |piece| match piece {
            Piece::Text(text) => {
                // A note that cannot be written is missed only if this process is killed too.
                let _ = turn.note(text);
                events(TurnEvent::Delta(text));
            }
            Piece::CallStarted { id, name } => events(TurnEvent::ToolCalled { id, name }),
        });
        let streamed = match streamed {
            Ok(streamed) => streamed,
            Err(error) => {
                turn.end_answer().map_err(|cause| disk(self, talk.log.id(), cause))?;
                return Err(error.into());
            }
        };
        report.stop = streamed.answer.stop;
        report.usage = report.usage.zip(streamed.answer.usage).map(|(sum, usage)| sum.plus(usage));
        report.failed = streamed.failed;
        let message = self.spoken_message(streamed.answer);
        let is_silent = message.content.is_empty();
        let calls: Vec<Block> = message.content.iter().filter(|block| block.call_id().is_some()).cloned().collect();
        if !is_silent {
            append(talk, message, report, events)?;
        }
        turn.end_answer().map_err(|cause| disk(self, talk.log.id(), cause))?;
        if report.stop == Stop::Aborted || report.failed.is_some() {
            return Ok(false);
        }
        self.use_tools(talk, &calls, report, events)
    }

    /// Uses the tools that are ours; whether there were any calls and all of them were.
    fn use_tools(
        &self,
        talk: &Talk<'_>,
        calls: &[Block],
        report: &mut TurnReport,
        events: &mut dyn FnMut(TurnEvent<'_>),
    ) -> Result<bool, EngineError> {
        let mut all_ours = !calls.is_empty();
        for call in calls {
            let Block::ToolCall { id, name, arguments } = call else { continue };
            self.note("tool_call", Some(talk.log.id()), &[("runId", json!(talk.run_id)), ("name", json!(name))]);
            let is_offered = talk.tools.iter().any(|tool| tool.name == *name);
            let used = if is_offered { self.use_own_tool(talk.log.id(), name, arguments) } else { None };
            match used {
                Some((text, is_error)) => {
                    let result = Message::result(id, vec![Block::text(text)], is_error, self.now());
                    append(talk, result, report, events)?;
                }
                None => all_ours = false,
            }
        }
        Ok(all_ours)
    }

    /// The records of the thread, compacted first if they outgrew the window.
    fn fitting_records(
        &self,
        talk: &Talk<'_>,
        events: &mut dyn FnMut(TurnEvent<'_>),
    ) -> Result<Vec<Record>, EngineError> {
        let read = || self.threads().read(talk.log.id());
        let records = read()?.records;
        let frame = Frame::new(self, talk.model, &talk.metadata, &talk.tools);
        let tokens = build_context(&records).tokens;
        let plan = if frame.is_due(tokens) { plan_within(&records, &frame.settings, frame.room()) } else { None };
        let Some(plan) = plan else {
            frame.must_hold(tokens)?;
            return Ok(records);
        };
        let asked = Some((talk.model, talk.books as &dyn rethread_llm::Meter));
        let report = self.append_summary(talk.log, &plan, asked, None, talk.is_stopped)?;
        events(TurnEvent::Compacted(&report));
        let records = read()?.records;
        frame.must_hold(build_context(&records).tokens)?;
        Ok(records)
    }

    /// Notes how a turn ended.
    fn note_end(&self, report: &TurnReport, millis: u64, error: Option<&EngineError>) {
        let tools = report.messages.iter().flat_map(Message::calls).count();
        let error = error.map(ToString::to_string).or_else(|| report.failed.as_ref().map(ToString::to_string));
        let fields = [
            ("runId", json!(report.run_id)),
            ("usage", json!(report.usage)),
            ("durationMs", json!(millis)),
            ("toolCalls", json!(tools)),
            ("stop", json!(report.stop)),
            ("error", json!(error)),
        ];
        self.note("turn_end", Some(report.id), &fields);
    }

    fn spoken_message(&self, answer: Answer) -> Message {
        let mut message = Message::new(ChatRole::Assistant, answer.content, self.now());
        message.content.retain(|block| block.as_text().is_none_or(|text| !text.is_empty()));
        message.model = Some(answer.model);
        message.usage = answer.usage;
        message.stop_reason = Some(answer.stop);
        message
    }

    /// Whether the last message is one that a model answers.
    fn has_something_to_answer(&self, id: ThreadId) -> Result<bool, EngineError> {
        let records = self.threads().read(id)?.records;
        let last = records.iter().rev().find_map(Record::message);
        Ok(last.is_some_and(|message| message.role != ChatRole::Assistant))
    }
}

/// Appends a message of this turn.
fn append(
    talk: &Talk<'_>,
    mut message: Message,
    report: &mut TurnReport,
    events: &mut dyn FnMut(TurnEvent<'_>),
) -> Result<(), EngineError> {
    message.run_id = Some(talk.run_id.clone());
    if report.messages.is_empty() {
        message.client_id.clone_from(&talk.client_id);
    }
    if let Record::Message(message) = talk.log.append(Record::Message(message))? {
        events(TurnEvent::Appended(&message));
        report.messages.push(message);
    }
    Ok(())
}

/// Instructions with the mark by which our own requests are recognised.
pub(crate) fn marked(system: &str) -> String {
    format!("{OWN_CALL_TAG}\n{system}")
}

/// What is around the messages of a request, and how much room it leaves them.
struct Frame {
    system: String,
    settings: CompactionSettings,
    window: u64,
    max_output_tokens: u64,
    /// Tokens of instructions and tools.
    own_tokens: u64,
}

impl Frame {
    fn new(engine: &Engine, model: &Model, metadata: &Metadata, tools: &[Tool]) -> Self {
        let system = marked(metadata.system_prompt_override.as_deref().unwrap_or(SYSTEM));
        let settings = engine.compaction_settings(Some(model));
        let described = |tool: &Tool| {
            estimate_text(&tool.name) + estimate_text(&tool.description) + estimate_text(&tool.parameters.to_string())
        };
        let own_tokens = estimate_text(&system) + tools.iter().map(described).sum::<u64>();
        // An answer longer than what is kept free for it would not fit beside a full context.
        let max_output_tokens = model.max_output_tokens.min(settings.reserve_tokens.max(SHORTEST_ANSWER));
        Self { system, settings, window: model.window, max_output_tokens, own_tokens }
    }

    /// Whether messages of so many tokens have to be compacted first.
    fn is_due(&self, tokens: u64) -> bool {
        self.settings.is_due(tokens.saturating_add(self.own_tokens), self.window)
    }

    /// Tokens the messages may have after a compaction.
    fn room(&self) -> u64 {
        self.window.saturating_sub(self.settings.reserve_tokens).saturating_sub(self.own_tokens)
    }

    /// Refuses what no model of that window could read.
    fn must_hold(&self, tokens: u64) -> Result<(), EngineError> {
        let tokens = tokens.saturating_add(self.own_tokens);
        if tokens <= self.window { Ok(()) } else { Err(EngineError::TooLong { tokens, window: self.window }) }
    }

    fn request(&self, tools: Vec<Tool>, messages: Vec<ChatMessage>) -> Request {
        Request {
            system: Some(self.system.clone()),
            messages,
            tools,
            max_output_tokens: self.max_output_tokens,
            purpose: "turn",
        }
    }
}

fn tools_of(request: &SendRequest) -> Vec<Tool> {
    let own = request.memory.then(tools::search_memory);
    let taken = own.as_ref().map(|tool| tool.name.clone());
    let others = request.tools.iter().filter(|tool| Some(&tool.name) != taken.as_ref()).cloned();
    own.into_iter().chain(others).collect()
}

fn disk(engine: &Engine, id: ThreadId, cause: std::io::Error) -> EngineError {
    ThreadError::Disk { path: engine.threads().log_path(id), doing: "written", cause }.into()
}
