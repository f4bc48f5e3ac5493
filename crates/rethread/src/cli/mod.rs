//! The command line: one definition gives parsing, help, completions, the man page and the reference in `docs`.

pub(crate) mod ask;
pub(crate) mod card;
pub(crate) mod enrich;
pub(crate) mod facts;
pub(crate) mod forget;
pub(crate) mod install;
pub(crate) mod life;
pub(crate) mod serve;
pub(crate) mod thread;
pub(crate) mod usage;
pub(crate) mod values;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueHint};
use clap_complete::Shell;
use rethread_engine::{Kind, Profile};
use rethread_model::{Agent, State};

use self::ask::{Ask, Handoff, Resolve};
use self::card::Card;
use self::enrich::Enrich;
use self::facts::{Decisions, Facts, Files, Fix, Workflows};
use self::forget::Forget;
use self::install::{Install, Uninstall};
use self::life::{Activity, Hook, Inject, Named, Resume, Said};
use self::serve::{Mcp, Open, Serve, Token};
use self::thread::Thread;
use self::usage::Usage;

/// What can be typed into a search. Four blanks make it a table in the terminal and in the reference.
const SEARCH: &str = "\
Find what was said and done, best first.

The words need not all occur: the more of them, and the rarer, the better the hit. A query may hold:

    deadlock pool        words, in any form: fix finds fixed and fixing
    \"borrow checker\"     these words in this order
    -windows             not with this word
    file:src/parser.rs   in exchanges that touched this file; a name or the end of a path will do
    tool:bash            in exchanges that used this tool
    agent:pi             only what this agent recorded
    kind:error,prompt    only prompt, answer, tool, error, summary, reasoning or note
    after:2026-03-01     not before then; since: is the same
    before:yesterday     before that day; until: with all of it
    last week            said like this, a time raises what happened then and hides nothing

What is not understood is looked for as words. In a shell, quote the whole query. Each hit has a
citation that `rethread show` and `rethread timeline --around` take.";

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Also into files and pipes
    Always,
    /// Not at all
    Never,
}

/// Session memory for AI coding agents.
///
/// Reads the transcripts that coding agents write anyway, keeps what was said and done without secrets and bulk, and
/// gives it back when it is needed. Nothing leaves this machine unless you configure a model.
#[derive(Debug, Parser)]
#[command(
    name = "rethread",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_long_help = "Example:\n  rethread init && rethread sessions\n\nExit codes: 0 done or found, 1 nothing found, 2 a mistake in the command, a reference or the\nconfiguration, 3 the store, the disk, a permission or a model, 70 a mistake in rethread itself, 130 stopped."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command understands.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Keep Rethread's files here instead of in `RETHREAD_HOME` or ~/.rethread
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) home: Option<PathBuf>,
    /// Change a setting for this run; may be given several times
    #[arg(short = 'c', long = "config", global = true, value_name = "KEY=VALUE", value_parser = values::setting)]
    pub(crate) settings: Vec<(String, String)>,
    /// Only answers and errors: no progress, warnings or hints
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Say more: -v every warning, -vv also where things are and how long they take
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// When to use colour
    #[arg(
        long = "color",
        global = true,
        value_name = "WHEN",
        value_enum,
        default_value_t,
        hide_possible_values = true,
        help = "Use colour: auto, always or never"
    )]
    pub(crate) colour: Colour,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find agents, show what would change, and read their transcripts for the first time
    #[command(after_long_help = "Example:\n  rethread init --yes --agents claude-code")]
    Init(Init),
    /// Show a scene with two agents in a temporary home; changes nothing else
    #[command(after_long_help = "Example:\n  rethread demo")]
    Demo(Demo),
    /// Let an agent call Rethread: add hooks or an extension, and show what changes
    #[command(after_long_help = "Example:\n  rethread install pi --print")]
    Install(Install),
    /// Take out what `install` added, and leave everything as it was
    #[command(after_long_help = "Example:\n  rethread uninstall claude-code")]
    Uninstall(Uninstall),
    /// Read what is new in the agents' transcripts
    #[command(after_long_help = "Example:\n  rethread sync --agent pi --since 30d")]
    Sync(Sync),
    /// Keep reading as transcripts grow; Ctrl-C ends it
    #[command(after_long_help = "Example:\n  rethread watch --every 5m")]
    Watch(Watch),
    /// Serve programs by HTTP and people by a web page, and keep reading; Ctrl-C ends it.
    ///
    /// Whoever asks must show the token (`rethread token`); the page is opened by a link that works once. It listens on
    /// this machine only, unless you give it an address, a certificate and its key.
    #[command(after_long_help = "Example:\n  rethread serve --listen 127.0.0.1:7717")]
    Serve(Serve),
    /// Give models the memory as MCP tools, on standard input and output.
    ///
    /// An agent starts it in the directory it works in, and the project of that directory is looked at unless the model
    /// asks for everything. What is new in transcripts is read meanwhile, and it ends when its input does. `rethread serve`
    /// speaks the same at /mcp.
    #[command(after_long_help = "Example:\n  claude mcp add --scope user rethread -- rethread mcp")]
    Mcp(Mcp),
    /// Open the page of the server that runs, logged in
    #[command(after_long_help = "Example:\n  rethread open --print")]
    Open(Open),
    /// Print the token that programs show to the server, or make a new one
    #[command(
        after_long_help = "Example:\n  curl -H \"Authorization: Bearer $(rethread token)\" http://127.0.0.1:7717/api/status"
    )]
    Token(Token),
    /// List sessions of this project, newest first
    #[command(after_long_help = "Example:\n  rethread sessions --all-projects --state active")]
    Sessions(Sessions),
    /// Show a session as a conversation.
    ///
    /// REF is our id, the agent's id, a unique beginning of either (4 characters or more), an alias, a name, or words of
    /// a name. A citation as `search` and `timeline` give it, REF:LINE, shows what was said around that line and marks
    /// it.
    #[command(after_long_help = "Example:\n  rethread show 'flaky parser' --lines 20")]
    Show(Show),
    /// Find what was said and done, best first
    #[command(
        long_about = SEARCH,
        after_long_help = "Example:\n  rethread search 'deadlock in the pool kind:error' --since 'last week'"
    )]
    Search(Search),
    /// Show exchanges in the order they happened, oldest first.
    ///
    /// The last ones, or those before and after the one that a citation (REF:LINE, as `search` gives it) or the id of
    /// an episode means. Around another project's exchange, that project is looked at.
    #[command(after_long_help = "Example:\n  rethread timeline --file src/parser.rs --since 'last week'")]
    Timeline(Timeline),
    /// Show what fixed an error before, and what did not.
    ///
    /// Give the line, or paste the whole output with `-`: the telling line of it is looked for, without numbers, paths and
    /// quoted values. An error that was never met is compared by its words with those that were. A fix is confirmed if
    /// the command that failed succeeded afterwards; what did not help is listed as a dead end.
    #[command(after_long_help = "Example:\n  cargo test 2>&1 | rethread fix -")]
    Fix(Fix),
    /// Show what was decided, with reasons, and what you always or never want.
    ///
    /// Decisions that hold, and proposals nobody answered yet; with --all also those that were rejected, or that something
    /// else took the place of, and when.
    #[command(after_long_help = "Example:\n  rethread decisions database --as-of 2026-03-01")]
    Decisions(Decisions),
    /// Show how work is done here: commands with how often they succeed, and sequences that come back
    #[command(after_long_help = "Example:\n  rethread workflows --limit 20")]
    Workflows(Workflows),
    /// Show who did what to a file, when, and what for.
    ///
    /// Also under the names it had before and after, with errors whose fix touched it and decisions that name it. PATH is
    /// relative to the current directory or to the project, absolute, or the end of a path.
    #[command(after_long_help = "Example:\n  rethread files src/parser.rs --since 'last week'")]
    Files(Files),
    /// Show what is known of a thing: a file, a command, an error, a choice, a rule, a commit, a branch, a package.
    ///
    /// Without ENTITY: the things most is known of. --dot and --svg draw what surrounds it.
    #[command(after_long_help = "Example:\n  rethread facts 'cargo test' --svg > facts.svg")]
    Facts(Facts),
    /// Have the configured model add facts to sessions that ended, within the budget.
    ///
    /// Off unless `facts.model` is true. Rules draw facts without a model; it may add decisions, wishes and fixes that
    /// they cannot see, each with lines that must stand in the transcript. Sessions wait for it after each sync; what
    /// fails is tried again five times, later and later.
    #[command(after_long_help = "Example:\n  rethread enrich --dry-run")]
    Enrich(Enrich),
    /// Show what the agents' tokens cost, and how much of their transcripts is kept.
    ///
    /// Costs are those the agents noted; where they noted none, those of published price lists, marked with ~. What models
    /// nobody lists cost is not guessed: a sum that lacks some is marked with +. Also shows what Rethread itself asked of
    /// models, with its budget, and by type of session how many tokens of the transcripts are kept.
    #[command(after_long_help = "Example:\n  rethread usage --by model --since 30d --all-projects")]
    Usage(Usage),
    /// Show what `@@…` in a text means, and what it would bring to an agent.
    ///
    /// A reference is `@@id`, a unique beginning of one, `@@alias`, `@@the-name-in-one-word` or `@@"the name"`; `~2` behind
    /// it adds two sessions it comes from, and `@@name: what did we decide?` asks it. References in code are passed over.
    #[command(after_long_help = "Example:\n  rethread resolve 'do it as in @@flaky-parser'")]
    Resolve(Resolve),
    /// Ask a session a question: a cited answer by a model, or the passages that fit best.
    ///
    /// With a model configured and a budget set, the session is sent to it without secrets, the most recent part of it if
    /// it is long. What the answer cites is checked against the transcript, and what does not stand there is removed. The
    /// same question to the same session is sent once.
    #[command(after_long_help = "Example:\n  rethread ask 'flaky parser' 'which fix was kept, and why?'")]
    Ask(Ask),
    /// Tell what somebody who goes on with a session's work has to know, as Markdown
    #[command(after_long_help = "Example:\n  rethread handoff 'flaky parser' > handoff.md")]
    Handoff(Handoff),
    /// Show what the other sessions of a project did since a session last looked
    #[command(after_long_help = "Example:\n  rethread activity --session 'flaky parser' --peek")]
    Activity(Activity),
    /// Show exactly what the prompt hook would add for a session; changes nothing
    #[command(after_long_help = "Example:\n  rethread inject --session 01KHX --explain")]
    Inject(Inject),
    /// Show what a session was doing, and how to go on with it
    #[command(after_long_help = "Example:\n  rethread resume 'flaky parser'")]
    Resume(Resume),
    /// Show a session's card: name, description, summary and tags.
    ///
    /// It is made by rules from what was said and done, or by a model if you configured one and let it: then --refresh
    /// has it written anew, within the budget, once enough prompts are new.
    #[command(after_long_help = "Example:\n  rethread card 'flaky parser' --json")]
    Card(Card),
    /// Say what a session is working on
    #[command(after_long_help = "Example:\n  rethread task 01KHX 'mend the rounding of discounts'")]
    Task(Said),
    /// Give a session something to remember for a day
    #[command(after_long_help = "Example:\n  rethread note 01KHX 'staging is down until noon'")]
    Note(Said),
    /// Give a session a name, instead of the one its agent gives it; an empty one takes yours back
    #[command(after_long_help = "Example:\n  rethread name 01KHX 'rounding of discounts'")]
    Name(Said),
    /// Give a session a short name of your own
    #[command(after_long_help = "Example:\n  rethread alias 01KHX discounts")]
    Alias(Said),
    /// Pause a session; its next prompt goes on
    #[command(after_long_help = "Example:\n  rethread pause discounts")]
    Pause(Named),
    /// End a session, and write what it did to the archive
    #[command(after_long_help = "Example:\n  rethread end discounts")]
    End(Named),
    /// Answer an agent's hook: JSON on standard input, JSON or nothing on standard output, always exit 0
    #[command(after_long_help = "Example:\n  rethread hook claude-code < event.json")]
    Hook(Hook),
    /// Keep conversations of your own: append, build contexts, compact, talk to a model
    #[command(
        subcommand,
        arg_required_else_help = true,
        after_long_help = "Example:\n  rethread thread new --name 'release notes'"
    )]
    Thread(Thread),
    /// Show sizes, counts, and how much was left out
    #[command(after_long_help = "Example:\n  rethread status --json")]
    Status(Json),
    /// Look at sources, hooks, store and configuration, and say how to mend what is not well
    #[command(after_long_help = "Example:\n  rethread doctor || echo 'something needs mending'")]
    Doctor(Json),
    /// Check that what is stored agrees with itself
    #[command(after_long_help = "Example:\n  rethread verify --json")]
    Verify(Json),
    /// Forget sessions, or every exchange with a text in it, for good.
    ///
    /// Removes what was stored, derived, noted and told of them, from the search index and from our logs, and keeps them
    /// from coming back. The agents' own transcripts are never touched; threads of ours go with their logs. What is left
    /// is read back afterwards: exit 3 if anything is.
    #[command(after_long_help = "Example:\n  rethread forget --matching 'jane@example.org' --dry-run")]
    Forget(Forget),
    /// Derive everything again from the transcripts
    #[command(after_long_help = "Example:\n  rethread rebuild --index-only")]
    Rebuild(Rebuild),
    /// Show or change settings
    #[command(
        subcommand,
        arg_required_else_help = true,
        after_long_help = "Example:\n  rethread config set intake.mode batch"
    )]
    Config(Config),
    /// Print a completion script for a shell
    #[command(after_long_help = "Example:\n  rethread completions zsh > ~/.zfunc/_rethread")]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page
    #[command(after_long_help = "Example:\n  rethread man > rethread.1 && man ./rethread.1")]
    Man,
}

impl Command {
    /// Whether a program reads the answer.
    pub(crate) fn wants_json(&self) -> bool {
        match self {
            Command::Sync(Sync { json, .. })
            | Command::Forget(Forget { json, .. })
            | Command::Sessions(Sessions { json, .. })
            | Command::Show(Show { json, .. })
            | Command::Search(Search { json, .. })
            | Command::Timeline(Timeline { json, .. })
            | Command::Fix(Fix { json, .. })
            | Command::Decisions(Decisions { json, .. })
            | Command::Workflows(Workflows { json, .. })
            | Command::Files(Files { json, .. })
            | Command::Facts(Facts { json, .. })
            | Command::Usage(Usage { json, .. })
            | Command::Resolve(Resolve { json, .. })
            | Command::Ask(Ask { json, .. })
            | Command::Handoff(Handoff { json, .. })
            | Command::Activity(Activity { json, .. })
            | Command::Inject(Inject { json, .. })
            | Command::Card(Card { json, .. })
            | Command::Enrich(Enrich { json, .. })
            | Command::Serve(Serve { json, .. })
            | Command::Open(Open { json, .. })
            | Command::Token(Token { json, .. })
            | Command::Status(json)
            | Command::Doctor(json)
            | Command::Verify(json)
            | Command::Config(Config::Show { json, .. }) => json.json,
            Command::Thread(thread) => thread.wants_json(),
            _ => false,
        }
    }
}

/// For whom the answer is.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Json {
    /// Answer with one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where to look.
#[derive(Clone, Debug, Args)]
pub(crate) struct Place {
    /// Look at the project at this path, not at that of the current directory
    #[arg(long, value_name = "PATH", value_hint = ValueHint::DirPath)]
    pub(crate) project: Option<PathBuf>,
    /// Look at all projects
    #[arg(long, conflicts_with = "project")]
    pub(crate) all_projects: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Write the scene into this empty folder instead, as a home to look at with other commands
    #[arg(long, value_name = "DIR", hide = true)]
    pub(crate) into: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Do it without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Read only these agents, now and later
    #[arg(long, value_name = "AGENT,…", value_delimiter = ',', value_parser = values::other_agent())]
    pub(crate) agents: Vec<Agent>,
    /// Do not touch the agents' settings
    #[arg(long)]
    pub(crate) no_hooks: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Sync {
    /// Only transcripts of this agent
    #[arg(long, value_parser = values::agent())]
    pub(crate) agent: Option<Agent>,
    /// Only this transcript or directory, wherever it lies; may be given several times
    #[arg(long = "path", value_name = "PATH", value_hint = ValueHint::AnyPath, num_args = 1..)]
    pub(crate) paths: Vec<PathBuf>,
    /// Only transcripts written since then: 30d, 12h, 2026-02-20
    #[arg(long, value_name = "WHEN", value_parser = values::since)]
    pub(crate) since: Option<values::Since>,
    /// Show what would be read; write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) json: Json,
}

#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// Read so often instead of at every change: 90s, 5m, 1h
    #[arg(long, visible_alias = "interval", value_name = "SPAN", value_parser = values::span)]
    pub(crate) every: Option<std::time::Duration>,
    /// Look for changes every few seconds, where the system does not report them
    #[arg(long, conflicts_with = "every")]
    pub(crate) poll: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Sessions {
    /// Only sessions in this state
    #[arg(long, value_parser = values::state())]
    pub(crate) state: Option<State>,
    /// Only sessions of this agent
    #[arg(long, value_parser = values::agent())]
    pub(crate) agent: Option<Agent>,
    /// At most so many
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// Also sessions in which nothing happened
    #[arg(long)]
    pub(crate) include_empty: bool,
    /// Also sessions of sub-agents
    #[arg(long)]
    pub(crate) children: bool,
    /// For pickers: id, age, agent and name, separated by tabs
    #[arg(long, conflicts_with = "json")]
    pub(crate) for_ref: bool,
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) json: Json,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The session: an id, the beginning of one, an alias, a name, or words of a name; or a citation REF:LINE
    #[arg(value_name = "REF")]
    pub(crate) reference: String,
    /// Show the last N entries [default: 50]
    #[arg(long, value_name = "N", conflicts_with = "full")]
    pub(crate) lines: Option<u64>,
    /// Show all entries
    #[arg(long)]
    pub(crate) full: bool,
    /// How much of each: what was said, also what was done, or everything that is stored
    #[arg(long, value_parser = values::profile(), default_value = "structure")]
    pub(crate) profile: Profile,
    /// Show the session exchange by exchange, as plain text
    #[arg(long, conflicts_with_all = ["lines", "full", "profile", "bytes"])]
    pub(crate) episodes: bool,
    /// Show the last N bytes of text, in whole entries
    #[arg(long, value_name = "N")]
    pub(crate) bytes: Option<u64>,
    #[command(flatten)]
    pub(crate) json: Json,
}

#[derive(Debug, Args)]
pub(crate) struct Search {
    /// What to look for; a query that begins with a dash comes after `--`
    #[arg(value_name = "QUERY", allow_negative_numbers = true)]
    pub(crate) query: Vec<String>,
    /// Only entries of these kinds
    #[arg(long = "kind", value_name = "KIND,…", value_delimiter = ',', ignore_case = true, value_parser = values::kind())]
    pub(crate) kinds: Vec<Kind>,
    /// Only what this agent recorded
    #[arg(long, value_parser = values::agent())]
    pub(crate) agent: Option<Agent>,
    /// Only exchanges that touched this file: a path, the end of one, or a name; may be given several times
    #[arg(long = "file", value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub(crate) files: Vec<String>,
    /// Only exchanges that used this tool; may be given several times
    #[arg(long = "tool", value_name = "TOOL")]
    pub(crate) tools: Vec<String>,
    #[command(flatten)]
    pub(crate) time: Time,
    /// Only in this session, wherever it is
    #[arg(long, value_name = "REF")]
    pub(crate) session: Option<String>,
    /// At most so many hits
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) limit: u16,
    /// Put the hits of a session together
    #[arg(long, conflicts_with = "json")]
    pub(crate) group: bool,
    /// Show whole texts, not only the piece that fits
    #[arg(long)]
    pub(crate) full: bool,
    /// Also show what was asked and what was answered
    #[arg(long)]
    pub(crate) exchange: bool,
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) json: Json,
}

#[derive(Debug, Args)]
pub(crate) struct Timeline {
    /// The exchanges before and after this one: a citation REF:LINE, or the id of an episode
    #[arg(long, value_name = "ID")]
    pub(crate) around: Option<String>,
    /// Only exchanges that touched this file: a path, the end of one, or a name
    #[arg(long, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub(crate) file: Option<String>,
    /// Only in this session, wherever it is
    #[arg(long, value_name = "REF")]
    pub(crate) session: Option<String>,
    #[command(flatten)]
    pub(crate) time: Time,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) limit: u16,
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) json: Json,
}

/// From when to when.
#[derive(Clone, Debug, Args)]
pub(crate) struct Time {
    /// Not before: 7d, yesterday, 'last week', 2026-03, 2026-03-14T12:00
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<String>,
    /// Not after; a day or a week counts to its end
    #[arg(long, value_name = "WHEN")]
    pub(crate) until: Option<String>,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Rebuild {
    /// Only the search index, from what is stored
    #[arg(long)]
    pub(crate) index_only: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Show all settings
    #[command(after_long_help = "Example:\n  rethread config show --origin")]
    Show {
        /// Also where each value comes from
        #[arg(long)]
        origin: bool,
        #[command(flatten)]
        json: Json,
    },
    /// Show the value of one setting
    #[command(after_long_help = "Example:\n  rethread config get intake.agents")]
    Get {
        /// The setting
        key: String,
    },
    /// Change a setting in the user's file
    #[command(after_long_help = "Example:\n  rethread config set intake.exclude '~/private,*.secret'")]
    Set {
        /// The setting
        key: String,
        /// Its new value; lists are separated by commas
        value: String,
    },
    /// Show where the user's file is
    #[command(after_long_help = "Example:\n  $EDITOR \"$(rethread config path)\"")]
    Path,
}
