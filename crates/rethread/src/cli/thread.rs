//! Arguments of `thread …`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use rethread_model::thread::ChatRole;

use super::{JsonArgs, values};

#[derive(Debug, Subcommand)]
pub(crate) enum ThreadCommand {
    /// Create a thread and print its ID.
    ///
    /// Use the ID as REF in the other thread commands.
    #[command(after_long_help = "Examples:\n  id=$(rethread thread new --name 'release notes')")]
    New(ThreadNewArgs),
    /// Append a message from stdin.
    ///
    /// The message is text or a JSON array of content blocks. Prints the record number once it is on disk. With --jsonl,
    /// each line of stdin is one message, such as {"role":"user","content":"hi"}, and each number is printed as soon as
    /// its record is on disk.
    #[command(after_long_help = "Examples:\n  echo 'why is the build red?' | rethread thread append 01KA7 --role user")]
    Append(ThreadAppendArgs),
    /// Show the messages a model would receive.
    ///
    /// Use it to call a model yourself, or to check what a compaction left.
    #[command(after_long_help = "Examples:\n  rethread thread context 01KA7 --json")]
    Context(ThreadContextArgs),
    /// Summarize the beginning of a thread.
    ///
    /// Use it when a thread gets too long for the model. Appends a compaction record; nothing in the log is changed.
    #[command(after_long_help = "Examples:\n  rethread thread compact 01KA7 --focus 'the migration' --dry-run")]
    Compact(ThreadCompactArgs),
    /// Send a message and print the answer.
    ///
    /// Runs one turn with the configured model, after any turn that is already running. The answer is stored as it arrives, so
    /// neither Ctrl-C nor a crash loses it. Without TEXT the model continues, for example after you appended tool
    /// results. Nothing is sent without a budget: set one with `rethread config set budget.daily_usd 1`.
    #[command(after_long_help = "Examples:\n  rethread thread send 01KA7 'what did we decide?' --memory")]
    Send(ThreadSendArgs),
    /// List threads, most recent first.
    ///
    /// The ID, its start or end, the alias or the name works as REF in the other thread commands.
    #[command(after_long_help = "Examples:\n  rethread thread list")]
    List(JsonArgs),
    /// Print the log of a thread.
    ///
    /// One JSON object per line, byte for byte as it is stored. `thread import` creates the same thread from it.
    #[command(after_long_help = "Examples:\n  rethread thread export 01KA7 --output 01KA7M0Z8QWX3V5T9N2R4B6CDE.jsonl")]
    Export(ThreadExportArgs),
    /// Create a thread from an exported log.
    ///
    /// Prints the ID of the thread: the one that the file is named after, as in ID.jsonl or ID/session.jsonl, or a new
    /// one. An ID that is or was in use is refused.
    #[command(after_long_help = "Examples:\n  rethread thread import 01KA7M0Z8QWX3V5T9N2R4B6CDE.jsonl")]
    Import(ThreadImportArgs),
    /// Delete a thread permanently.
    ///
    /// Deletes its log and everything stored from it. There is no undo. Asks first in a terminal.
    #[command(after_long_help = "Examples:\n  rethread thread delete 01KA7M0Z8QWX3V5T9N2R4B6CDE")]
    Delete(ThreadDeleteArgs),
    /// Let the model name a thread; `send` starts it in the background
    #[command(hide = true)]
    Title(ThreadRefArgs),
}

impl ThreadCommand {
    /// Whether `--json` was given.
    pub(crate) fn wants_json(&self) -> bool {
        match self {
            ThreadCommand::New(ThreadNewArgs { json, .. })
            | ThreadCommand::Append(ThreadAppendArgs { json, .. })
            | ThreadCommand::Context(ThreadContextArgs { json, .. })
            | ThreadCommand::Compact(ThreadCompactArgs { json, .. })
            | ThreadCommand::Send(ThreadSendArgs { json, .. })
            | ThreadCommand::Import(ThreadImportArgs { json, .. })
            | ThreadCommand::Delete(ThreadDeleteArgs { json, .. })
            | ThreadCommand::List(json) => json.json,
            ThreadCommand::Export(_) | ThreadCommand::Title(_) => false,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ThreadRefArgs {
    /// Thread: ID, its start (4 or more characters) or end (6 or more), its alias or name
    #[arg(value_name = "REF")]
    pub(crate) reference: String,
}

#[derive(Debug, Args)]
pub(crate) struct ThreadNewArgs {
    /// Set the name [default: taken from the first message]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Use this model instead of the configured one
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Set the system prompt
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,
    /// Record the scheduled job that created the thread
    #[arg(long, value_name = "JOB")]
    pub(crate) cron: Option<String>,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ThreadAppendArgs {
    #[command(flatten)]
    pub(crate) thread: ThreadRefArgs,
    /// Set the role of the message
    #[arg(long, value_parser = values::role(), required_unless_present = "jsonl")]
    pub(crate) role: Option<ChatRole>,
    /// For toolResult: the tool call it answers
    #[arg(long, value_name = "ID")]
    pub(crate) tool_call_id: Option<String>,
    /// For toolResult: mark the call as failed
    #[arg(long, requires = "tool_call_id")]
    pub(crate) error: bool,
    /// Read one message from each line of stdin
    #[arg(long, conflicts_with_all = ["role", "tool_call_id", "error"])]
    pub(crate) jsonl: bool,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ThreadContextArgs {
    #[command(flatten)]
    pub(crate) thread: ThreadRefArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ThreadExportArgs {
    #[command(flatten)]
    pub(crate) thread: ThreadRefArgs,
    /// Write to FILE instead of stdout
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ThreadImportArgs {
    /// Exported log; `-` reads stdin
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Give the thread a new ID
    #[arg(long)]
    pub(crate) new_id: bool,
    /// Also import lines that cannot be read; readers skip them
    #[arg(long)]
    pub(crate) allow_damaged: bool,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ThreadDeleteArgs {
    #[command(flatten)]
    pub(crate) thread: ThreadRefArgs,
    /// Do not ask for confirmation
    #[arg(short, long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ThreadCompactArgs {
    #[command(flatten)]
    pub(crate) thread: ThreadRefArgs,
    /// Focus the summary on TEXT
    #[arg(long, value_name = "TEXT")]
    pub(crate) focus: Option<String>,
    /// Show what would be summarized and its maximum cost; send and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ThreadSendArgs {
    #[command(flatten)]
    pub(crate) thread: ThreadRefArgs,
    /// Message to send; `-` reads stdin
    #[arg(value_name = "TEXT")]
    pub(crate) text: Option<String>,
    /// Offer the tools in FILE, a JSON array of {name, description, parameters}; append their results, then send again
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tools: Option<PathBuf>,
    /// Let the model search the sessions of this project
    #[arg(long)]
    pub(crate) memory: bool,
    /// Show the maximum cost; send and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}
