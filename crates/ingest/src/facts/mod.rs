//! What a stretch of a session says about the world, by rules and without a model.
//!
//! Facts are drawn from one stretch after another; what the next one must know is in [`Carry`]. So a session that
//! grows is drawn from where it grew, with the same result as if it were drawn from at once.

mod choices;
mod command;
mod errors;
mod git;
mod packages;
mod repairs;
mod script;
mod shell;
mod sink;
mod tables;
mod work;

use rethread_model::{Entry, Fact};
use serde::{Deserialize, Serialize};

use self::choices::Choices;
use self::sink::Sink;
pub(crate) use self::work::INTERRUPTED;
use self::work::{Stretch, Work};

pub use self::command::{command_name, only_looks};
pub(crate) use self::errors::is_of_the_agent;
pub use self::errors::{concrete, exact, names_failure, signature, telling_line};
pub use self::git::git_note;
pub(crate) use self::script::shortened;

/// Grows with the rules, so that sessions are drawn from again when they become better.
pub const RULES_VERSION: u64 = 1;

/// What must be remembered from one stretch of a session to the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Carry {
    work: Work,
    choices: Choices,
}

/// What a stretch says.
#[derive(Clone, Debug, Default)]
pub struct Drawn {
    /// In the order of the transcript.
    pub facts: Vec<Fact>,
    /// What to remember.
    pub carry: Carry,
}

/// Draws the facts of a stretch of a session: a pure function of its entries and of what was remembered before it.
/// Paths below the roots are named without them.
pub fn draw(mut carry: Carry, roots: &[&str], entries: &[&Entry]) -> Drawn {
    let mut sink = Sink::default();
    let mut work = Stretch::new(&mut carry.work, roots);
    for entry in entries {
        work.take(entry, &mut sink);
        carry.choices.take(entry, sink.facts_mut());
    }
    work.finish(&mut sink);
    Drawn { facts: sink.into_facts(), carry }
}
