//! The loop: waits for events, updates the state, draws, and does what an update asked for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossterm::event::{self, Event};
use ratatui::layout::Size;
use rethread_model::Session;
use rustix::process::{Signal, getpid, kill_process};

use super::effect::{OpenTarget, TuiEffect, TuiExit};
use super::request::WorkerAnswer;
use super::screen::Screen;
use super::state::{Overlay, TuiState, TuiTab};
use super::update::{TuiEvent, load_list, update};
use super::worker::Workers;
use super::{clipboard, editor, launch};
use crate::commands::CommandContext;
use crate::failure::{Failure, FailureKind};
use crate::render::Tone;

/// How long to wait for keys while a worker is expected to answer.
const BUSY_WAIT: Duration = Duration::from_millis(4);
/// And otherwise. New transcript lines and signals are noticed this late.
const IDLE_WAIT: Duration = Duration::from_millis(150);
/// How often live activity is loaded again.
const LIVE_INTERVAL: Duration = Duration::from_secs(3);

/// The interface while it runs.
pub(super) struct EventLoop<'c> {
    pub(super) context: &'c CommandContext,
    pub(super) screen: Screen,
    pub(super) state: TuiState,
    pub(super) workers: Workers,
    /// Set by a signal that ends the process.
    pub(super) is_terminated: Arc<AtomicBool>,
}

impl EventLoop<'_> {
    /// Runs until the user leaves.
    pub(super) fn run(mut self) -> Result<TuiExit, Failure> {
        let left = self.run_until_left();
        self.workers.exports.finish();
        left
    }

    fn run_until_left(&mut self) -> Result<TuiExit, Failure> {
        let mut effects = load_list(&mut self.state);
        let mut last_tick = Instant::now();
        let mut is_changed = true;
        loop {
            for effect in std::mem::take(&mut effects) {
                if let Some(exit) = self.perform(effect)? {
                    return Ok(exit);
                }
            }
            if is_changed {
                self.screen.draw(&mut self.state)?;
            }
            is_changed = self.read_keys(&mut effects)?;
            is_changed |= self.read_answers(&mut effects)?;
            if self.is_terminated.load(Ordering::Relaxed) {
                return Ok(TuiExit::Terminated);
            }
            if self.state.tab == TuiTab::Live && last_tick.elapsed() > LIVE_INTERVAL {
                last_tick = Instant::now();
                effects.extend(update(&mut self.state, TuiEvent::Tick));
            }
        }
    }

    /// Takes all keys that were pressed, so that a fast typist never waits for a drawing.
    fn read_keys(&mut self, effects: &mut Vec<TuiEffect>) -> Result<bool, Failure> {
        let mut wait = if self.state.is_waiting() { BUSY_WAIT } else { IDLE_WAIT };
        let mut is_changed = false;
        while event::poll(wait)? {
            wait = Duration::ZERO;
            let event = match event::read()? {
                Event::Key(key) => TuiEvent::Key(key),
                Event::Mouse(mouse) => TuiEvent::Mouse(mouse),
                Event::Paste(text) => TuiEvent::Paste(text),
                Event::Resize(..) => {
                    self.screen.follow_resize()?;
                    TuiEvent::Resize(self.screen.size())
                }
                Event::FocusGained | Event::FocusLost => continue,
            };
            effects.extend(update(&mut self.state, event));
            is_changed = true;
        }
        Ok(is_changed)
    }

    fn read_answers(&mut self, effects: &mut Vec<TuiEffect>) -> Result<bool, Failure> {
        let mut is_changed = false;
        while let Ok(answer) = self.workers.answers.try_recv() {
            if matches!(answer, WorkerAnswer::Crashed) {
                return Err(Failure::new(FailureKind::Internal, "internal error: a worker thread stopped (a bug)"));
            }
            effects.extend(update(&mut self.state, TuiEvent::Answer(answer)));
            is_changed = true;
        }
        Ok(is_changed)
    }

    fn perform(&mut self, effect: TuiEffect) -> Result<Option<TuiExit>, Failure> {
        match effect {
            TuiEffect::LoadList(request) => self.workers.load_list(request),
            TuiEffect::LoadPreview(request) => self.workers.load_preview(request),
            TuiEffect::FindInSession(request) => self.workers.find_in_session(request),
            TuiEffect::Copy(what, text) => self.copy(what, &text),
            TuiEffect::Open(target) => self.open(&target)?,
            TuiEffect::Export(session, format) => {
                self.workers.exports.start(*session, format, &self.context.environment.cwd)?;
            }
            TuiEffect::Resume(session) => return Ok(self.resume(session)),
            TuiEffect::Suspend => self.screen.lend(stop_until_continued)?,
            TuiEffect::Leave(exit) => return Ok(Some(exit)),
        }
        Ok(None)
    }

    /// Leaves to start the agent. If that is impossible, the question says why and stays open.
    fn resume(&mut self, session: Box<Session>) -> Option<TuiExit> {
        let problem = launch::check_agent(self.context, &session).err().map(|failure| failure.source.to_string());
        match &mut self.state.overlay {
            Some(Overlay::Resume(question)) if problem.is_some() => {
                question.problem = problem;
                None
            }
            _ => Some(TuiExit::Resume(session)),
        }
    }

    fn copy(&mut self, what: &str, text: &str) {
        self.state.message = Some(match clipboard::copy(text, &self.context.environment.variables) {
            Ok(()) => (Tone::Success, format!("copied the {what}")),
            Err(error) => (Tone::Error, format!("cannot copy: {error}")),
        });
    }

    fn open(&mut self, target: &OpenTarget) -> Result<(), Failure> {
        let variables = &self.context.environment.variables;
        let opened = match editor::command_for(target, variables) {
            Ok(editor) => self.screen.lend(|| editor.run())?,
            Err(problem) => Err(problem),
        };
        self.state.message = opened.err().map(|problem| (Tone::Error, problem));
        let size = self.screen.size();
        self.resize(size);
        Ok(())
    }

    /// The terminal may have been resized while it was lent.
    fn resize(&mut self, size: Size) {
        for effect in update(&mut self.state, TuiEvent::Resize(size)) {
            if let TuiEffect::LoadPreview(request) = effect {
                self.workers.load_preview(request);
            }
        }
    }
}

/// Stops the process as Ctrl-Z does outside of the interface.
fn stop_until_continued() {
    let _ = kill_process(getpid(), Signal::TSTP);
}
