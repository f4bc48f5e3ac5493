//! `hook`: what an agent's hook says comes in, what it is told goes out. Never fails, never blocks, never takes long.

use std::io::Read;
use std::sync::mpsc::channel;
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

/// Answers a hook. What goes wrong is noted in our log where that can be written; the agent hears nothing of it.
pub(crate) fn run(context: &Context, request: &Hook) -> Exit {
    let variables = &context.environment.variables;
    if variables.iter().any(|(name, value)| name == DISABLE && !matches!(value.as_str(), "" | "0")) {
        return Exit::Done;
    }
    let (sender, receiver) = channel();
    let (environment, agent) = (context.environment.clone(), request.agent);
    // In a thread of its own: a disk that hangs must not make the agent wait.
    let spawned = std::thread::Builder::new().spawn(move || {
        let mut input = Vec::new();
        if std::io::stdin().lock().take(LONGEST_INPUT).read_to_end(&mut input).is_err() {
            return;
        }
        let Ok(engine) = Engine::open(environment).map(|engine| engine.within(LONGEST_LOCK)) else { return };
        let answered = match agent {
            HookAgent::ClaudeCode => engine.hook_claude_code(&input),
        };
        match answered {
            Ok(answer) => drop(sender.send(answer)),
            Err(error) => engine.note_trouble("hook", &error),
        }
    });
    if spawned.is_ok()
        && let Ok(Some(answer)) = receiver.recv_timeout(LONGEST)
    {
        say(context, &answer);
    }
    Exit::Done
}

/// An agent that does not listen is no failure of ours.
fn say(context: &Context, answer: &Value) {
    let _ = context.printer.json(answer);
}
