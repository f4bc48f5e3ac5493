//! `hook`: passes an agent's event to the engine and prints the reply. Never fails, blocks, or takes long.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rethread_engine::Engine;
use rethread_model::Agent;
use serde_json::Value;

use super::{CommandContext, Exit};
use crate::cli::hook::HookArgs;

/// After this time the process exits without a reply.
const DEADLINE: Duration = Duration::from_secs(2);
/// How long to wait for a writing process. What is missed now is injected with the next prompt.
const LOCK_TIMEOUT: Duration = Duration::from_millis(300);
/// More bytes than any agent sends. Longer input is cut, and then ignored as invalid.
const MAX_INPUT: u64 = 64 << 20;
/// Set to anything but 0, hooks do nothing.
const DISABLE: &str = "RETHREAD_DISABLE";

/// Set by the first thread that ends the process: with a reply, or at the deadline.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// Errors go to our log only; the agent never sees them.
pub(crate) fn run(context: &CommandContext, args: &HookArgs) -> Exit {
    let variables = &context.environment.variables;
    if variables.iter().any(|(name, value)| name == DISABLE && !matches!(value.as_str(), "" | "0")) {
        return Exit::Done;
    }
    // A hanging disk must not block the agent. Without the deadline thread nothing is started.
    if std::thread::Builder::new().spawn(exit_at_deadline).is_err() {
        return Exit::Done;
    }
    let reply = reply(context, args.agent);
    if !IS_ENDING.swap(true, Ordering::AcqRel)
        && let Some(reply) = reply
    {
        print(context, &reply);
    }
    Exit::Done
}

#[expect(clippy::exit, reason = "the working thread may hang, so this one has to end the process")]
fn exit_at_deadline() {
    std::thread::sleep(DEADLINE);
    if !IS_ENDING.swap(true, Ordering::AcqRel) {
        std::process::exit(0);
    }
}

fn reply(context: &CommandContext, agent: Agent) -> Option<Value> {
    let mut input = Vec::new();
    std::io::stdin().lock().take(MAX_INPUT).read_to_end(&mut input).ok()?;
    let engine = Engine::open(context.environment.clone()).ok()?.with_hook_timeout(LOCK_TIMEOUT);
    engine.hooks().handle(agent, &input).unwrap_or_else(|error| {
        engine.journal().error("hook", &error);
        None
    })
}

/// An agent that closed its end is not an error.
fn print(context: &CommandContext, reply: &Value) {
    let _ = match reply {
        // Some hosts give the model whatever is printed.
        Value::String(text) => context.printer.raw(text.as_bytes()),
        json => context.printer.json(json),
    };
}
