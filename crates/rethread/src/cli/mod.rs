//! The command line. One definition gives parsing, help, completions, the man page and `docs/cli.md`.

pub(crate) mod admin;
pub(crate) mod ask;
pub(crate) mod debug;
pub(crate) mod enrich;
pub(crate) mod facts;
pub(crate) mod forget;
pub(crate) mod groups;
pub(crate) mod hook;
pub(crate) mod install;
pub(crate) mod search;
pub(crate) mod serve;
pub(crate) mod session;
pub(crate) mod sessions;
pub(crate) mod setup;
pub(crate) mod store;
pub(crate) mod sync;
pub(crate) mod thread;
pub(crate) mod transfer;
pub(crate) mod tui;
pub(crate) mod usage;
pub(crate) mod values;

use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueHint};
use clap_complete::Shell;

use self::admin::AdminCommand;
use self::ask::{AskArgs, HandoffArgs};
use self::debug::DebugCommand;
use self::enrich::EnrichArgs;
use self::facts::{DecisionsArgs, FactsArgs, FilesArgs, FixArgs, WorkflowsArgs};
use self::forget::ForgetArgs;
use self::hook::HookArgs;
use self::install::{InstallArgs, UninstallArgs};
use self::search::{SEARCH_HELP, SearchArgs, TimelineArgs};
use self::serve::{McpArgs, OpenArgs, ServeArgs, TokenArgs};
use self::session::SessionCommand;
use self::sessions::{ResumeArgs, SessionsArgs, ShowArgs};
pub(crate) use self::setup::DemoArgs;
use self::setup::{ConfigCommand, InitArgs, ShellArgs};
use self::store::StoreCommand;
use self::sync::{RebuildArgs, SyncArgs, WatchArgs};
use self::thread::ThreadCommand;
use self::transfer::{ExportArgs, ImportArgs};
use self::tui::TuiArgs;
use self::usage::UsageArgs;

/// When to use color.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ColorMode {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Also in files and pipes
    Always,
    /// Never
    Never,
}

/// Session memory for AI coding agents.
///
/// Rethread reads the transcripts your coding agents already write, strips secrets and bulky output, and makes them
/// searchable: by you through the commands below, and by your agents through hooks and MCP. Everything stays on this machine unless you
/// configure a model or name a store on a server.
///
/// Start with `rethread init`.
#[derive(Debug, Parser)]
#[command(
    name = "rethread",
    version,
    propagate_version = true,
    after_help = "Run `rethread help COMMAND` for details and examples.",
    after_long_help = "Examples:\n  rethread init\n  rethread search 'why did the build fail'\n  rethread sessions\n\nRun `rethread help COMMAND` for details and examples.\n\nExit codes:\n    0  success\n    1  nothing found, or a problem reported\n    2  invalid command, reference or configuration\n    3  store, disk, network, permission or model error\n   70  internal error (a bug)\n  130  interrupted"
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    /// Without a verb, Rethread starts the terminal UI, or prints a short overview if nothing is synced.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// The complete definition: what is derived from `Cli`, with verbs grouped in help and flat spellings hidden.
pub(crate) fn command() -> clap::Command {
    groups::with_groups(Cli::command())
}

/// Flags that every verb takes.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArgs {
    /// Use this data directory [default: `$RETHREAD_HOME`, else ~/.rethread]
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) home: Option<PathBuf>,
    /// Use this store: `postgres://USER@HOST/DATABASE?space=NAME` [default: the local store]
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// Override a setting for this run; can be repeated
    #[arg(short = 'c', long = "config", global = true, value_name = "KEY=VALUE", value_parser = values::setting)]
    pub(crate) settings: Vec<(String, String)>,
    /// Print only results and errors
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Print more: -v all warnings, -vv also paths and timings
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Do not show long results in a pager
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
    /// Use color: auto, always or never
    #[arg(
        long = "color",
        global = true,
        value_name = "WHEN",
        value_enum,
        default_value_t,
        hide_possible_values = true,
        help = "Use color: auto, always or never"
    )]
    pub(crate) color: ColorMode,
}

/// The verbs. Help shows them in the order of `groups::GROUPS`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Index new transcript entries.
    ///
    /// Reads what your agents wrote since the last sync and updates the search index. Run it before a search,
    /// unless hooks, `rethread watch` or `rethread serve` already keep the store up to date.
    #[command(
        after_long_help = "Examples:\n  rethread sync\n  rethread sync --agent pi --since 30d\n  rethread sync --dry-run"
    )]
    Sync(SyncArgs),
    /// Search sessions, most relevant first
    #[command(
        long_about = SEARCH_HELP,
        after_long_help = "Examples:\n  rethread search 'deadlock in the pool'\n  rethread search 'flaky kind:error' --since 'last week' --all-projects"
    )]
    Search(SearchArgs),
    /// Search and read sessions in the terminal.
    ///
    /// Searches as you type, shows the conversation around each hit, and resumes a session with Enter. Running `rethread`
    /// without a command also starts it, once something is synced. Press F1 for all keys.
    ///
    /// With --print, Enter prints the resume command of the session instead of running it, for shells and scripts.
    #[command(
        after_long_help = "Examples:\n  rethread tui\n  rethread tui 'connection pool'\n  eval \"$(rethread tui --inline --print)\""
    )]
    Tui(TuiArgs),
    /// Find what fixed an error before.
    ///
    /// Use it when a command fails. Pass the error line, or pipe the whole output into `rethread fix -`: Rethread picks
    /// out the line that identifies the error, ignoring numbers, paths and quoted values. If this error is new, similar
    /// errors are shown. An error code alone finds all errors with that code.
    ///
    /// A fix counts as confirmed when the failed command later succeeded. Attempts that did not help are listed too.
    #[command(
        after_long_help = "Examples:\n  cargo test 2>&1 | rethread fix -\n  rethread fix 'error[E0308]: mismatched types'\n  rethread fix TS2345"
    )]
    Fix(FixArgs),
    /// Ask a question about this project or a session.
    ///
    /// Use it to learn why something was decided, how an error was fixed, what you prefer, what changed a file, or where
    /// the last session stopped. The answer comes from facts and from the exchanges that match best, and each sentence
    /// cites its line. Exits with 1 if nothing is known.
    ///
    /// With REF first, the question is about that session only. With a model and a budget configured, the model answers
    /// with citations, and Rethread removes those that do not match. Secrets are removed before anything is sent.
    /// Repeating a question costs nothing while the sessions are unchanged.
    #[command(
        after_long_help = "Examples:\n  rethread ask 'why did we drop redis?'\n  rethread ask 'how did we fix the connection timeout?'\n  rethread ask 'what were we working on?'\n  rethread ask 'flaky parser' 'which fix was kept, and why?'\n  rethread ask 01KHX 'what is left to do?' --no-model"
    )]
    Ask(AskArgs),
    /// Continue a session in its agent.
    ///
    /// Shows what the session was doing, and starts its agent in the right directory if you confirm. Without REF, you pick
    /// one of the newest sessions; without a terminal it is the newest one of this project, and nothing is started.
    ///
    /// --in hands the work over to another agent: it starts in the same directory with the note of `rethread handoff` as
    /// its first prompt.
    #[command(
        after_long_help = "Examples:\n  rethread resume\n  rethread resume 'flaky parser' --exec\n  rethread resume 'flaky parser' --in codex\n  eval \"$(rethread resume --print)\""
    )]
    Resume(ResumeArgs),
    /// List sessions in this project, newest first.
    ///
    /// Use it to find the session to show, ask or resume. Empty sessions and sub-agents are hidden by default.
    #[command(after_long_help = "Examples:\n  rethread sessions\n  rethread sessions --all-projects --state active")]
    Sessions(SessionsArgs),
    /// Show a session as a conversation.
    ///
    /// Prints the last 50 entries. With a citation REF:LINE, as `search` and `timeline` print it, shows the entries
    /// around that line.
    #[command(after_long_help = "Examples:\n  rethread show 'flaky parser' --lines 20\n  rethread show 01KHXB9QW0:120")]
    Show(ShowArgs),
    /// Name, annotate, pause or end a session.
    ///
    /// Use it to make a session easier to find, to leave a note for it, or to correct its state.
    #[command(
        subcommand,
        arg_required_else_help = true,
        after_long_help = "Examples:\n  rethread session name 01KHX 'discount rounding'\n  rethread session note discounts 'staging is down until noon'"
    )]
    Session(SessionCommand),
    /// Write a handoff note (Markdown).
    ///
    /// Use it to pass unfinished work to a colleague or a new session. The note lists goal, progress, hurdles, touched
    /// files and next steps. No model is needed.
    #[command(after_long_help = "Examples:\n  rethread handoff 'flaky parser' > handoff.md")]
    Handoff(HandoffArgs),
    /// Write sessions to a file.
    ///
    /// Without REF, all sessions of this project. The format jsonl is for `rethread import` on another machine; md and
    /// html are for reading, with diffs and folded output while the transcripts exist. Secrets are removed once more, and the number of
    /// those found is printed. The file is readable only by you.
    #[command(
        after_long_help = "Examples:\n  rethread export --output sessions.jsonl\n  rethread export 'flaky parser' --format html --output parser.html\n  rethread export --search 'connection pool' --format md"
    )]
    Export(ExportArgs),
    /// Import sessions that `export` wrote.
    ///
    /// Adds what is not there yet: importing a file again changes nothing, and a later sync of the same transcripts adds
    /// nothing twice. Forgotten sessions stay out. Episodes, facts and the search index are derived again. A damaged
    /// line is reported with its number and costs only itself; the exit code is then 1. With --dry-run nothing is stored.
    #[command(
        after_long_help = "Examples:\n  rethread import sessions.jsonl\n  ssh desk rethread export --all-projects | rethread import -"
    )]
    Import(ImportArgs),
    /// Show episodes in time order.
    ///
    /// An episode is one prompt and what followed. Use it to see what happened before and after a search result. Shows
    /// the most recent episodes, oldest first, or those around --around.
    #[command(
        after_long_help = "Examples:\n  rethread timeline --since yesterday\n  rethread timeline --around 01KHXB9QW0:120\n  rethread timeline --file src/parser.rs"
    )]
    Timeline(TimelineArgs),
    /// Show decisions, preferences and prohibitions.
    ///
    /// Use it before you revisit a design. Shows active decisions with their reasons, open proposals, what was
    /// ruled out, and the rules in files for agents such as CLAUDE.md, as they are now. --all adds superseded ones.
    #[command(after_long_help = "Examples:\n  rethread decisions\n  rethread decisions database --as-of 2026-03-01")]
    Decisions(DecisionsArgs),
    /// Show the history of a file.
    ///
    /// Shows which session changed the file, when and why, the errors fixed in it, and the decisions that name it.
    /// Renames are followed.
    #[command(
        after_long_help = "Examples:\n  rethread files src/parser.rs\n  rethread files parser.rs --since 'last week'"
    )]
    Files(FilesArgs),
    /// Show what is known about a file, command, error …
    ///
    /// An entity is a file, command, error, decision, preference, commit, branch or package. Without ENTITY, lists the
    /// entities with the most facts. --dot and --svg draw its graph.
    #[command(after_long_help = "Examples:\n  rethread facts\n  rethread facts 'cargo test' --svg > facts.svg")]
    Facts(FactsArgs),
    /// Show frequent commands and recurring sequences.
    ///
    /// Use it to learn how work is done in a project: which commands are run, how often they succeed, which sequences
    /// of tools and commands recur, and what is done after a failure.
    #[command(after_long_help = "Examples:\n  rethread workflows\n  rethread workflows --limit 20 --all-projects")]
    Workflows(WorkflowsArgs),
    /// Show token usage and cost.
    ///
    /// Shows what your agents used, what Rethread itself spent on models, and what share of the transcripts is stored.
    ///
    /// Costs are those recorded by the agents. Where an agent recorded none, list prices are used and marked with ~. A
    /// sum that includes a model without a known price is marked with +.
    #[command(after_long_help = "Examples:\n  rethread usage\n  rethread usage --by model --since 30d --all-projects")]
    Usage(UsageArgs),
    /// Extract more facts with a model.
    ///
    /// Facts are extracted without a model. With `facts.model` set to true and a budget, the configured model adds
    /// decisions, preferences and fixes from ended sessions; each must cite lines that exist in the transcript. Sessions
    /// are queued at each sync, and a failed request is retried five times with growing delays. Use this command to work
    /// through the queue now, or to see what it would cost.
    #[command(after_long_help = "Examples:\n  rethread enrich --dry-run\n  rethread enrich 'flaky parser'")]
    Enrich(EnrichArgs),
    /// Chat with a model and keep the history.
    ///
    /// A thread is a conversation that Rethread itself stores, with its whole history. Use threads to talk to a model from
    /// scripts, or to build an agent.
    #[command(
        subcommand,
        arg_required_else_help = true,
        after_long_help = "Examples:\n  rethread thread new --name 'release notes'\n  rethread thread send 'release notes' 'what changed since 1.2?' --memory"
    )]
    Thread(ThreadCommand),
    /// Start the server: web UI, HTTP API and MCP.
    ///
    /// Also keeps syncing while it runs; stop it with Ctrl-C. Clients need the token from `rethread token`; `rethread
    /// open` signs a browser in. It listens on this machine only, unless you pass --listen, --tls-cert and
    /// --tls-key.
    #[command(after_long_help = "Examples:\n  rethread serve\n  rethread serve --listen 127.0.0.1:8080 --no-watch")]
    Serve(ServeArgs),
    /// Open the web UI in your browser, signed in.
    ///
    /// Starts `rethread serve` in the background if it does not run yet. The link works once.
    #[command(after_long_help = "Examples:\n  rethread open\n  rethread open --print")]
    Open(OpenArgs),
    /// Run the MCP server on stdio.
    ///
    /// Your agent starts it and gets tools to search sessions, read them and find fixes. It searches the project of its
    /// working directory unless the model asks for all projects, syncs in the background, and stops when its input ends.
    /// `rethread serve` offers the same tools at /mcp.
    #[command(after_long_help = "Examples:\n  claude mcp add --scope user rethread -- rethread mcp")]
    Mcp(McpArgs),
    /// Print or rotate the API token.
    ///
    /// Clients of the HTTP API send it as a bearer token.
    #[command(
        after_long_help = "Examples:\n  curl -H \"Authorization: Bearer $(rethread token)\" http://127.0.0.1:7717/api/status\n  rethread token --rotate"
    )]
    Token(TokenArgs),
    /// Manage spaces, members and their tokens.
    ///
    /// Use it to set up a memory that a team shares. These commands open the store itself; members use the server with
    /// the tokens printed here.
    #[command(
        subcommand,
        arg_required_else_help = true,
        after_long_help = "Examples:\n  rethread admin space new acme\n  rethread admin member add alice --role admin --space acme\n  rethread admin audit --space acme"
    )]
    Admin(AdminCommand),
    /// Handle a hook event (called by agents).
    ///
    /// Agents call it; you normally do not. Reads one JSON event from stdin, prints the reply in the agent's format, or
    /// nothing, and always exits with 0. Set `RETHREAD_DISABLE=1` to turn hooks off.
    #[command(after_long_help = "Examples:\n  rethread hook claude-code < event.json")]
    Hook(HookArgs),
    /// Find agents, install hooks and sync.
    ///
    /// Run this first. It shows what it found and what it would change, and asks before it changes anything. Without a
    /// terminal it only shows the plan; pass --yes to apply it.
    #[command(after_long_help = "Examples:\n  rethread init\n  rethread init --yes --agents claude-code --no-hooks")]
    Init(InitArgs),
    /// Run a demo in a temporary directory.
    ///
    /// Shows two agents that work on one project, using the real commands. Your own data is not touched.
    #[command(after_long_help = "Examples:\n  rethread demo")]
    Demo(DemoArgs),
    /// Install hooks for an agent.
    ///
    /// With hooks, the agent gets relevant context with each prompt, and its sessions are synced as they run. --mcp also
    /// sets up the MCP server. Prints the changes it makes; --print only shows them. `service` installs `rethread serve`
    /// as a user service.
    #[command(
        after_long_help = "Examples:\n  rethread install claude-code --print\n  rethread install codex --mcp\n  rethread install --all\n  rethread install service"
    )]
    Install(InstallArgs),
    /// Remove an agent's hooks.
    ///
    /// Removes what `rethread install` added: hooks or plugin, MCP server and skill. Other settings and your stored
    /// sessions stay.
    ///
    /// --purge also removes the service, stops the server and deletes the memory: all sessions, threads, settings and
    /// logs. It asks first, and prints what it removed. Other files in the directory and your agents' transcripts are
    /// kept, and so is the program itself.
    #[command(
        after_long_help = "Examples:\n  rethread uninstall claude-code\n  rethread uninstall --all\n  rethread uninstall --all --purge"
    )]
    Uninstall(UninstallArgs),
    /// Show or change settings.
    ///
    /// A value comes from the strongest layer that sets it: default, user file, project file, environment, flag.
    /// `docs/config.md` describes every setting.
    #[command(
        subcommand,
        arg_required_else_help = true,
        after_long_help = "Examples:\n  rethread config show --origin\n  rethread config set intake.mode batch"
    )]
    Config(ConfigCommand),
    /// Print a shell completion script.
    ///
    /// Save the script where your shell looks for completions. It completes commands, options, sessions, agents and
    /// settings by calling `rethread`, which must be on your PATH.
    #[command(
        after_long_help = "Examples:\n  rethread completions zsh > ~/.zfunc/_rethread\n  rethread completions fish > ~/.config/fish/completions/rethread.fish"
    )]
    Completions {
        /// Shell to complete for
        shell: Shell,
    },
    /// Print shell integration: completions and a key.
    ///
    /// The key opens the picker of sessions below the prompt and puts the chosen session's resume command on the command
    /// line. Nothing is run until you press Enter. Add it to the configuration of your shell; it includes what
    /// `rethread completions` prints. PowerShell has to be version 7; its script was read against the
    /// grammar of PowerShell, and is not run by our tests.
    #[command(
        after_long_help = "Examples:\n  eval \"$(rethread shell zsh)\"                       # ~/.zshrc; the same with bash\n  rethread shell fish | source                        # ~/.config/fish/config.fish\n  rethread shell powershell | Out-String | Invoke-Expression   # $PROFILE"
    )]
    Shell(ShellArgs),
    /// Print the man page.
    ///
    /// Covers every command.
    #[command(after_long_help = "Examples:\n  rethread man > rethread.1 && man ./rethread.1")]
    Man,
    /// Show counts, sizes and index state.
    ///
    /// Use it to see how much is stored, whether the index is up to date, and what models cost today.
    #[command(after_long_help = "Examples:\n  rethread status\n  rethread status --json")]
    Status(JsonArgs),
    /// Check the installation and suggest fixes.
    ///
    /// Run it when something does not work. Checks transcripts, hooks, store, index, model and configuration. Exits with
    /// 1 if there is a problem.
    #[command(after_long_help = "Examples:\n  rethread doctor")]
    Doctor(JsonArgs),
    /// Keep syncing as transcripts grow.
    ///
    /// Use it if you do not run `rethread serve`, which does the same. Stop it with Ctrl-C.
    #[command(after_long_help = "Examples:\n  rethread watch\n  rethread watch --every 5m")]
    Watch(WatchArgs),
    /// Erase sessions or text permanently.
    ///
    /// Deletes the sessions and everything derived from them from the store, the search index and Rethread's logs. Later
    /// syncs do not bring them back. Your agents' transcripts are not touched. A Rethread thread
    /// that matches is deleted as a whole, because Rethread holds the only copy.
    ///
    /// Shows what it would erase and asks first. Afterwards it verifies the result, and exits with 3 if anything is left.
    #[command(
        after_long_help = "Examples:\n  rethread forget 01KHX --dry-run\n  rethread forget --matching 'jane@example.org'\n  rethread forget --before 'last year'"
    )]
    Forget(ForgetArgs),
    /// Rebuild the store from transcripts.
    ///
    /// Use it when `rethread debug verify` finds damage, or after a change of `intake` settings. Sessions whose transcripts
    /// are gone are kept.
    #[command(after_long_help = "Examples:\n  rethread rebuild\n  rethread rebuild --index-only")]
    Rebuild(RebuildArgs),
    /// Copy a store to another place.
    ///
    /// Use it to move from one machine to a server that a team shares, from one server to another, or to keep a copy.
    #[command(
        subcommand,
        arg_required_else_help = true,
        after_long_help = "Examples:\n  rethread store copy ~/.rethread 'postgres://me@db.example.org/memory?space=acme'"
    )]
    Store(StoreCommand),
    /// Inspect injections and check the store.
    ///
    /// Use it when an agent gets unexpected context, or results look wrong.
    #[command(
        subcommand,
        arg_required_else_help = true,
        after_long_help = "Examples:\n  rethread debug inject --session 01KHX --explain\n  rethread debug verify"
    )]
    Debug(DebugCommand),
    /// The flat spellings of `session …`, such as `rethread name`. Hidden, but supported.
    #[command(flatten)]
    FlatSession(SessionCommand),
    /// The flat spellings of `debug …`, such as `rethread inject`. Hidden, but supported.
    #[command(flatten)]
    FlatDebug(DebugCommand),
}

impl Command {
    /// Whether its results are only read, so that long ones go through a pager.
    pub(crate) fn is_paged(&self) -> bool {
        match self {
            Command::Sessions(_)
            | Command::Show(_)
            | Command::Search(_)
            | Command::Timeline(_)
            | Command::Fix(_)
            | Command::Decisions(_)
            | Command::Workflows(_)
            | Command::Files(_)
            | Command::Facts(_)
            | Command::Usage(_)
            | Command::Handoff(_)
            | Command::Status(_)
            | Command::Doctor(_)
            | Command::Config(ConfigCommand::Show { .. })
            | Command::Debug(_)
            | Command::FlatDebug(_) => true,
            Command::Session(command) | Command::FlatSession(command) => matches!(command, SessionCommand::Card(_)),
            _ => false,
        }
    }

    /// Whether `--json` was given.
    pub(crate) fn wants_json(&self) -> bool {
        match self {
            Command::Sync(SyncArgs { json, .. })
            | Command::Install(InstallArgs { json, .. })
            | Command::Uninstall(UninstallArgs { json, .. })
            | Command::Forget(ForgetArgs { json, .. })
            | Command::Sessions(SessionsArgs { json, .. })
            | Command::Show(ShowArgs { json, .. })
            | Command::Resume(ResumeArgs { json, .. })
            | Command::Import(ImportArgs { json, .. })
            | Command::Search(SearchArgs { json, .. })
            | Command::Timeline(TimelineArgs { json, .. })
            | Command::Fix(FixArgs { json, .. })
            | Command::Decisions(DecisionsArgs { json, .. })
            | Command::Workflows(WorkflowsArgs { json, .. })
            | Command::Files(FilesArgs { json, .. })
            | Command::Facts(FactsArgs { json, .. })
            | Command::Usage(UsageArgs { json, .. })
            | Command::Ask(AskArgs { json, .. })
            | Command::Handoff(HandoffArgs { json, .. })
            | Command::Enrich(EnrichArgs { json, .. })
            | Command::Serve(ServeArgs { json, .. })
            | Command::Open(OpenArgs { json, .. })
            | Command::Token(TokenArgs { json, .. })
            | Command::Status(json)
            | Command::Doctor(json)
            | Command::Config(ConfigCommand::Show { json, .. }) => json.json,
            Command::Session(command) | Command::FlatSession(command) => command.wants_json(),
            Command::Debug(command) | Command::FlatDebug(command) => command.wants_json(),
            Command::Thread(command) => command.wants_json(),
            Command::Admin(command) => command.wants_json(),
            Command::Store(command) => command.wants_json(),
            _ => false,
        }
    }
}

/// How a list is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TableFormat {
    /// Columns for people
    #[default]
    Table,
    /// Comma-separated values with a heading
    Csv,
    /// Tab-separated values with a heading
    Tsv,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct JsonArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which projects a verb reads. Without a flag: the project of the current directory, or all if it has no sessions.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ScopeArgs {
    /// Use the project at PATH instead of the current one
    #[arg(long, value_name = "PATH", value_hint = ValueHint::DirPath)]
    pub(crate) project: Option<PathBuf>,
    /// Include all projects; the default if the current one has no sessions
    #[arg(long, conflicts_with = "project")]
    pub(crate) all_projects: bool,
}
