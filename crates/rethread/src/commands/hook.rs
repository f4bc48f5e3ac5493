//! `hook`: what an agent's hook says comes in, what it is told goes out. Never fails, never blocks, never takes long.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rethread_engine::Engine;
use serde_json::Value;

use super::{Context, Exit};
use crate::cli::life::{Hook, HookAgent};

/// After so long the agent goes on without us.
const LONGEST: Duration = Duration::from_secs(2);
/// How long another process that is writing is waited for: what is missed now is told with the next prompt.
const LONGEST_LOCK: Duration = Duration::from_millis(300);
/// More than any agent says in one hook; what is longer is cut, and then says nothing.
const LONGEST_INPUT: u64 = 64 << 20;
/// Set to anything but 0, hooks do nothing.
const DISABLE: &str = "RETHREAD_DISABLE";

/// Set by whoever ends the process: with an answer, or because it takes too long.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Answers a hook. What goes wrong is noted in our log where that can be written; the agent hears nothing of it.
pub(crate) fn run(context: &Context, request: &Hook) -> Exit {
    let variables = &context.environment.variables;
    if variables.iter().any(|(name, value)| name == DISABLE && !matches!(value.as_str(), "" | "0")) {
        return Exit::Done;
    }
    // A disk that hangs must not make the agent wait. Without somebody who looks at the clock nothing is begun.
    if std::thread::Builder::new().spawn(end_in_time).is_err() {
        return Exit::Done;
    }
    let answer = answer(context, request.agent);
    if !ENDING.swap(true, Ordering::AcqRel)
        && let Some(answer) = answer
    {
        say(context, &answer);
    }
    Exit::Done
}

#[expect(clippy::exit, reason = "the thread that works may hang, and nobody else can end the process")]
fn end_in_time() {
    std::thread::sleep(LONGEST);
    if !ENDING.swap(true, Ordering::AcqRel) {
        std::process::exit(0);
    }
}

fn answer(context: &Context, agent: HookAgent) -> Option<Value> {
    let mut input = Vec::new();
    std::io::stdin().lock().take(LONGEST_INPUT).read_to_end(&mut input).ok()?;
    let engine = Engine::open(context.environment.clone()).ok()?.within(LONGEST_LOCK);
    let answered = match agent {
        HookAgent::ClaudeCode => engine.hook_claude_code(&input),
        HookAgent::Pi => engine.hook_pi(&input),
    };
    answered.unwrap_or_else(|error| {
        engine.note_trouble("hook", &error);
        None
    })
}

/// An agent that does not listen is no failure of ours.
fn say(context: &Context, answer: &Value) {
    let _ = context.printer.json(answer);
}
