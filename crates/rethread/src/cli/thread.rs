//! The verbs about threads.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use rethread_model::thread::ChatRole;

use super::{Json, values};

#[derive(Debug, Subcommand)]
pub(crate) enum Thread {
    /// Make a thread and print its id
    #[command(after_long_help = "Example:\n  id=$(rethread thread new --name 'release notes')")]
    New(ThreadNew),
    /// Append a message from standard input: a text, or a JSON array of blocks.
    ///
    /// Prints the number of the record once it is on disk. With --jsonl, standard input holds one message on each line,
    /// such as {"role":"user","content":"hi"}, and each number is printed as soon as its record is on disk.
    #[command(after_long_help = "Example:\n  echo 'why is the build red?' | rethread thread append 01KA7 --role user")]
    Append(ThreadAppend),
    /// Show the messages a model would get
    #[command(after_long_help = "Example:\n  rethread thread context 01KA7 --json")]
    Context(ThreadContext),
    /// Summarise the beginning of a thread; nothing in its log is changed
    #[command(after_long_help = "Example:\n  rethread thread compact 01KA7 --focus 'the migration' --dry-run")]
    Compact(ThreadCompact),
    /// Say something and let the configured model answer; queued behind a turn that runs.
    ///
    /// The answer is written down as it comes: neither Ctrl-C nor a crash loses what was said. Without a text the model
    /// goes on, for example after results of its tools were appended. Nothing is sent without a budget: see
    /// `rethread config get budget.daily_usd`.
    #[command(after_long_help = "Example:\n  rethread thread send 01KA7 'what did we decide?' --memory")]
    Send(ThreadSend),
    /// List threads, the one last spoken in first
    #[command(after_long_help = "Example:\n  rethread thread list --json")]
    List(Json),
    /// Delete a thread for good: its log, and what memory holds of it
    #[command(after_long_help = "Example:\n  rethread thread delete 01KA7M0Z8QWX3V5T9N2R4B6CDE")]
    Delete(ThreadDelete),
    /// Let the model name a thread; started by `send`, which does not wait for it
    #[command(hide = true)]
    Title(ThreadNamed),
}

impl Thread {
    /// Whether a program reads the answer.
    pub(crate) fn wants_json(&self) -> bool {
        match self {
            Thread::New(ThreadNew { json, .. })
            | Thread::Append(ThreadAppend { json, .. })
            | Thread::Context(ThreadContext { json, .. })
            | Thread::Compact(ThreadCompact { json, .. })
            | Thread::Send(ThreadSend { json, .. })
            | Thread::Delete(ThreadDelete { json, .. })
            | Thread::List(json) => json.json,
            Thread::Title(_) => false,
        }
    }
}

/// A thread.
#[derive(Debug, Args)]
pub(crate) struct ThreadNamed {
    /// The thread: its id, the beginning of it (4 characters or more), or its name
    #[arg(value_name = "REF")]
    pub(crate) reference: String,
}

#[derive(Debug, Args)]
pub(crate) struct ThreadNew {
    /// Its name; without one it is named after what is said first
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Talk in it with this model instead of the configured one
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Instructions of its own
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,
    /// The job that starts it
    #[arg(long, value_name = "JOB")]
    pub(crate) cron: Option<String>,
    #[command(flatten)]
    pub(crate) json: Json,
}

#[derive(Debug, Args)]
pub(crate) struct ThreadAppend {
    #[command(flatten)]
    pub(crate) thread: ThreadNamed,
    /// Who speaks: user, assistant or toolResult
    #[arg(long, value_parser = values::role(), required_unless_present = "jsonl")]
    pub(crate) role: Option<ChatRole>,
    /// Of a toolResult: the call it answers
    #[arg(long, value_name = "ID")]
    pub(crate) tool_call_id: Option<String>,
    /// Of a toolResult: the tool failed
    #[arg(long, requires = "tool_call_id")]
    pub(crate) error: bool,
    /// Take one message from each line of standard input
    #[arg(long, conflicts_with_all = ["role", "tool_call_id", "error"])]
    pub(crate) jsonl: bool,
    #[command(flatten)]
    pub(crate) json: Json,
}

#[derive(Debug, Args)]
pub(crate) struct ThreadContext {
    #[command(flatten)]
    pub(crate) thread: ThreadNamed,
    #[command(flatten)]
    pub(crate) json: Json,
}

#[derive(Debug, Args)]
pub(crate) struct ThreadDelete {
    #[command(flatten)]
    pub(crate) thread: ThreadNamed,
    #[command(flatten)]
    pub(crate) json: Json,
}

#[derive(Debug, Args)]
pub(crate) struct ThreadCompact {
    #[command(flatten)]
    pub(crate) thread: ThreadNamed,
    /// What the summary should dwell on
    #[arg(long, value_name = "TEXT")]
    pub(crate) focus: Option<String>,
    /// Show what would be summarised and what it may cost; send and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) json: Json,
}

#[derive(Debug, Args)]
pub(crate) struct ThreadSend {
    #[command(flatten)]
    pub(crate) thread: ThreadNamed,
    /// What to say; - takes it from standard input
    #[arg(value_name = "TEXT")]
    pub(crate) text: Option<String>,
    /// Tools the model may call, as a JSON array of {name, description, parameters}; append their results, then send again
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tools: Option<PathBuf>,
    /// Let the model search what was said and done in this project
    #[arg(long)]
    pub(crate) memory: bool,
    /// Show what it may cost; send and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) json: Json,
}
