//! One turn: the user's text, the model's answer as it comes, and the tools it uses on the way.

use std::time::Instant;

use rethread_llm::{Answer, ChatError, ChatLimits, NanoUsd, Piece, Request, Tool};
use rethread_model::thread::{Block, ChatRole, Message, Metadata, Record, Stop, ThreadId, WaitingCall};
use rethread_model::{OWN_CALL_TAG, Tokens};
use rethread_recall::{build_context, pair_up, plan};
use rethread_store::{Spoken, ThreadError, ThreadLog, Turn};
use serde_json::json;

use super::compact::PlannedCost;
use super::{CompactReport, tools};
use crate::model::Model;
use crate::spending::Books;
use crate::{Engine, EngineError};

/// Answers of one turn: a model that only ever calls tools is stopped here.
const MOST_ANSWERS: usize = 20;
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
    /// Tokens of all answers, as far as they were counted.
    pub usage: Tokens,
    /// What it cost, as far as a price and the tokens are known.
    pub cost: Option<NanoUsd>,
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
    /// Whether the thread would be compacted first.
    pub compacts: bool,
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
        let id = self.thread_id(reference)?;
        let log = self.threads().open(id)?;
        let metadata = log.metadata()?;
        let chosen = metadata.model_is_chosen.then_some(metadata.model.as_str());
        let model = self.model(chosen, ChatLimits::INTERACTIVE)?;
        let books = self.books()?;
        // A refusal comes before anything is written: the text would stand there twice after the next try.
        books.allow(&self.planned(id, &model, &metadata, request)?.0).map_err(ChatError::Budget)?;
        let Some(mut turn) = self.own_turn(&log, is_stopped, events)? else { return Err(EngineError::Stopped) };
        let began = Instant::now();
        let run_id = ThreadId::draw(self.now()).to_string();
        events(TurnEvent::Begun { run_id: &run_id });
        self.note("turn_start", Some(id), &[("runId", json!(run_id))]);
        let talk =
            Talk { log: &log, model: &model, books: &books, tools: tools_of(request), run_id, metadata, is_stopped };
        let mut report = TurnReport {
            id,
            run_id: talk.run_id.clone(),
            messages: Vec::new(),
            stop: Stop::Aborted,
            usage: Tokens::default(),
            cost: None,
            waiting_calls: Vec::new(),
            failed: None,
        };
        let done = self.talk(&talk, &mut turn, request, &mut report, events);
        report.cost = model.chat.price().map(|price| price.cost(report.usage));
        let fields = [
            ("runId", json!(report.run_id)),
            ("tokens", json!(report.usage.total())),
            ("durationMs", json!(began.elapsed().as_millis() as u64)),
            ("stop", json!(report.stop)),
        ];
        self.note("turn_end", Some(id), &fields);
        done?;
        report.waiting_calls = log.metadata()?.waiting_calls;
        log.settle()?;
        Ok(report)
    }

    /// What a turn would take. Nothing is sent and nothing is written.
    pub fn thread_send_dry_run(&self, reference: &str, request: &SendRequest) -> Result<SendPlan, EngineError> {
        let id = self.thread_id(reference)?;
        let metadata = self.threads().metadata(id)?;
        let chosen = metadata.model_is_chosen.then_some(metadata.model.as_str());
        let model = self.model(chosen, ChatLimits::INTERACTIVE)?;
        let (planned, compacts) = self.planned(id, &model, &metadata, request)?;
        let spent = self.budget_status(self.reader()?.as_ref())?;
        let spent = rethread_llm::Spent { tokens: spent.tokens, cost: spent.usd };
        let refused = self.budget().check(&spent, &planned).err().map(|refusal| refusal.to_string());
        Ok(SendPlan { id, model: model.chat.model().to_owned(), planned: planned.into(), compacts, refused })
    }

    /// Waits for the turn in a thread, and writes down what killed processes had heard in it.
    pub(super) fn own_turn(
        &self,
        log: &ThreadLog,
        is_stopped: &dyn Fn() -> bool,
        events: &mut dyn FnMut(TurnEvent<'_>),
    ) -> Result<Option<Turn>, EngineError> {
        let limit = self.config.number("threads.queue_limit") as usize;
        let ticket = self.threads().queue(log.id(), limit)?;
        let ahead = ticket.ahead();
        if ahead > 0 {
            events(TurnEvent::Queued { ahead });
        }
        let Some(mut turn) = ticket.wait(is_stopped)? else { return Ok(None) };
        if !turn.left_behind.is_empty() {
            let records = self.threads().read(log.id())?.records;
            for spoken in turn.left_behind.iter().filter(|spoken| !is_written(&records, spoken)) {
                let mut message = Message::new(ChatRole::Assistant, vec![Block::text(&*spoken.text)], self.now());
                message.run_id = Some(spoken.run_id.clone());
                message.model = Some(spoken.model.clone());
                message.stop_reason = Some(Stop::Aborted);
                log.append(Record::Message(message))?;
            }
        }
        turn.settle_left_behind();
        Ok(Some(turn))
    }

    /// The estimate of the first request, and whether the thread is compacted before it.
    fn planned(
        &self,
        id: ThreadId,
        model: &Model,
        metadata: &Metadata,
        request: &SendRequest,
    ) -> Result<(rethread_llm::Planned, bool), EngineError> {
        let mut records = self.threads().read(id)?.records;
        let next = request.text.as_ref().map(|text| {
            let mut message = Message::new(ChatRole::User, vec![Block::text(text.as_str())], self.now());
            message.seq = metadata.next_seq;
            Record::Message(message)
        });
        records.extend(next);
        let context = build_context(&records);
        let settings = self.compaction_settings(Some(model));
        let compacts = settings.is_due(context.tokens, model.window) && plan(&records, &settings).is_some();
        let request = wire_request(model, metadata, tools_of(request), pair_up(context.messages));
        Ok((model.chat.planned(&request), compacts))
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
        } else if !self.has_something_to_answer(talk.log.id())? {
            return Err(EngineError::NothingToAnswer);
        }
        for _ in 0..MOST_ANSWERS {
            let answer = self.answer(talk, turn, report, events)?;
            if answer.is_none_or(|calls| !calls) || (talk.is_stopped)() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// One answer of the model; whether it called tools that were all used here. Nothing if it said nothing at all.
    fn answer(
        &self,
        talk: &Talk<'_>,
        turn: &mut Turn,
        report: &mut TurnReport,
        events: &mut dyn FnMut(TurnEvent<'_>),
    ) -> Result<Option<bool>, EngineError> {
        let records = self.fitting_records(talk, events)?;
        let after = records.iter().filter_map(Record::seq).max().unwrap_or(0);
        let messages = pair_up(build_context(&records).messages);
        let request = wire_request(talk.model, &talk.metadata, talk.tools.clone(), messages);
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
                // Stopped before the first word: nothing was said and nothing is wrong.
                if (talk.is_stopped)() {
                    report.stop = Stop::Aborted;
                    return Ok(None);
                }
                return Err(error.into());
            }
        };
        report.stop = streamed.answer.stop;
        report.usage = report.usage.plus(streamed.answer.usage.unwrap_or_default());
        report.failed = streamed.failed;
        let message = self.spoken_message(streamed.answer);
        let is_silent = message.content.is_empty();
        let calls: Vec<Block> = message.content.iter().filter(|block| block.call_id().is_some()).cloned().collect();
        if !is_silent {
            append(talk, message, report, events)?;
        }
        turn.end_answer().map_err(|cause| disk(self, talk.log.id(), cause))?;
        if is_silent {
            return Ok(None);
        }
        Ok(Some(self.use_tools(talk, &calls, report, events)?))
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
            let used = if is_offered { self.use_own_tool(name, arguments) } else { None };
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
        let settings = self.compaction_settings(Some(talk.model));
        if !settings.is_due(build_context(&records).tokens, talk.model.window) {
            return Ok(records);
        }
        let Some(plan) = plan(&records, &settings) else { return Ok(records) };
        let model = Some((talk.model, talk.books as &dyn rethread_llm::Meter));
        let report = self.append_summary(talk.log, &plan, model, None)?;
        events(TurnEvent::Compacted(&report));
        Ok(read()?.records)
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
    if let Record::Message(message) = talk.log.append(Record::Message(message))? {
        events(TurnEvent::Appended(&message));
        report.messages.push(message);
    }
    Ok(())
}

/// Instructions with the mark by which our own requests are recognised.
pub(super) fn marked(system: &str) -> String {
    format!("{OWN_CALL_TAG}\n{system}")
}

fn wire_request(
    model: &Model,
    metadata: &Metadata,
    tools: Vec<Tool>,
    messages: Vec<rethread_model::thread::ChatMessage>,
) -> Request {
    let system = metadata.system_prompt_override.as_deref().unwrap_or(SYSTEM);
    Request {
        system: Some(marked(system)),
        messages,
        tools,
        max_output_tokens: model.max_output_tokens,
        purpose: "turn",
    }
}

fn tools_of(request: &SendRequest) -> Vec<Tool> {
    let own = request.memory.then(tools::search_memory);
    let taken = own.as_ref().map(|tool| tool.name.clone());
    let others = request.tools.iter().filter(|tool| Some(&tool.name) != taken.as_ref()).cloned();
    own.into_iter().chain(others).collect()
}

/// Whether an answer that a process had heard when it was killed is in the log already.
fn is_written(records: &[Record], spoken: &Spoken) -> bool {
    records.iter().filter_map(Record::message).any(|message| {
        message.seq > spoken.after_seq
            && message.role == ChatRole::Assistant
            && message.run_id.as_deref() == Some(spoken.run_id.as_str())
    })
}

fn disk(engine: &Engine, id: ThreadId, cause: std::io::Error) -> EngineError {
    ThreadError::Disk { path: engine.threads().log_path(id), doing: "written", cause }.into()
}
