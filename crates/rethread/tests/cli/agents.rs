//! Writes `docs/agents.md` from the table of agents.

use std::fmt::Write;

use rethread_engine::{AgentCommand, AgentFormat, HOSTS, INSTALLERS, Reads, Retention, SourceConfig, format_of};
use rethread_model::Agent;

const ABOUT: &str = "# Agents

Rethread reads what these agents write anyway. Nothing has to be turned on, except for the agents marked *opt-in*: their
sessions also contain private conversations, so they are read only if `intake.agents` names them, as in
`rethread config set intake.agents +hermes,+openclaw`. `rethread doctor` says which agents were found on your machine;
`sources.<agent>` adds a directory, and variables that move an agent's files are honored.

Of every agent we read the human's prompts, apart from text that programs add to them, the model's answers, the
directory and the title. The column *also read* says what else its files contain: tool calls with their outcome, exit
codes of commands, tokens, the cost as the agent calculated it, and the sessions of sub-agents. Without a recorded cost,
`rethread usage` calculates it from the tokens where the price of the model is known.

Aider, gptme and OpenHands write local times without a zone; they are read as UTC. The entries of Continue and Zed have
no times of their own. Aider and Crush store sessions inside projects, so a cloned repository can bring sessions along:
they are read like your own, and like all transcripts they are quoted as data, never as instructions.

What an agent deletes stays in Rethread, once it was read. *Deleted by the agent* says when that happens;
*never* means that we know of no such rule.
";

const STARTABLE_ABOUT: &str = "
`rethread resume REF` starts the command of the column *continue a session* in the directory of the session.
`rethread resume REF --in AGENT` starts another agent there, with the handoff note of the session as its first prompt:
";

const COMMANDS_TRIED: &str = "
Both commands were tried in a terminal, with the real clients and a model on loopback (`scripts/e2e-clients --only
'resume-*'`), for Claude Code, pi, Cline, Codex, Continue, Copilot CLI, Gemini CLI, Kilo, OpenCode and Qwen Code, and the
first one for Hermes and Kimi Code. gptme was started by hand. Of Factory Droid only the options were compared with its
help, because its terminal interface needs a login. The others follow the documentation of their makers.
";

const UNREADABLE: &str = "
## Not readable

| agent | why |
|---|---|
| Windsurf (Devin Desktop) | Its conversations are encrypted on disk, and only a cache of what its server has. |
| Amp | Its threads are on its server; the local files are empty or missing. |

Both can still use the memory through MCP.
";

const HOSTS_ABOUT: &str = "
## Where memory gets in

`rethread install AGENT` lets these agents call Rethread, and `--mcp` adds its tools in the same step. The columns say
when text from the memory reaches the model. *With the result*, *with the next prompt*: the agent ignores what is
answered at that moment, so the text comes with the next event that it does pass on, once. VS Code Copilot Chat and
Cursor also run the hooks of Claude Code; Rethread recognizes them and answers a prompt only once.

| agent | session start | prompt | before a tool | after a failed command | after a compaction | MCP tools | verified with |
|---|---|---|---|---|---|---|---|
";

/// The whole page.
pub(super) fn reference(how: &str) -> String {
    let mut out = format!("{how}\n\n{ABOUT}\n");
    out += "| agent | name | also read | continue a session | deleted by the agent |\n|---|---|---|---|---|\n";
    for agent in Agent::EXTERNAL {
        let format = format_of(agent);
        let opt_in = if agent.is_opt_in() { " (opt-in)" } else { "" };
        let resume = format.resume.map_or("–".to_owned(), |command| format!("`{}`", command.replace("{id}", "ID")));
        let (reads, deleted) = (also_read(format), deletion(format));
        writeln!(out, "| {}{opt_in} | `{agent}` | {reads} | {resume} | {deleted} |", agent.label()).unwrap();
    }
    let startable: Vec<String> = AgentCommand::startable_agents().map(|agent| format!("`{agent}`")).collect();
    writeln!(out, "{STARTABLE_ABOUT}{}.", startable.join(", ")).unwrap();
    out += COMMANDS_TRIED;
    out += HOSTS_ABOUT;
    for host in HOSTS {
        let (label, notes) = (host.agent.label(), host.delivery);
        let events = [notes.session_start, notes.prompt, notes.before_tool, notes.after_failure, notes.compaction];
        writeln!(out, "| {label} | {} | {} | {} |", events.join(" | "), notes.mcp, notes.verified).unwrap();
    }
    for host in INSTALLERS.into_iter().filter(|host| !host.has_hooks()) {
        writeln!(out, "| {} | – | – | – | – | – | yes | by documentation |", host.agent.label()).unwrap();
    }
    out += "\n## Where, which versions, and how it was verified\n\n";
    out += "| agent | location | versions | verified with |\n|---|---|---|---|\n";
    for agent in Agent::EXTERNAL {
        let format = format_of(agent);
        let place = |location: &str| if location.contains('`') { location.to_owned() } else { format!("`{location}`") };
        let places: Vec<String> = format.layouts.iter().map(|layout| place(layout.location)).collect();
        let notes = format.notes;
        let places = places.join("<br>");
        writeln!(out, "| {} | {places} | {} | {} |", agent.label(), notes.versions, notes.verified).unwrap();
    }
    out + UNREADABLE
}

fn also_read(format: &AgentFormat) -> String {
    let name = |reads: &Reads| match reads {
        Reads::Tools => "tools",
        Reads::ExitCodes => "exit codes",
        Reads::Tokens => "tokens",
        Reads::Cost => "cost",
        Reads::Subagents => "sub-agents",
    };
    let names: Vec<&str> = format.notes.reads.iter().map(name).collect();
    if names.is_empty() { "–".to_owned() } else { names.join(", ") }
}

fn deletion(format: &AgentFormat) -> String {
    match format.retention {
        Retention::Kept => "never".to_owned(),
        Retention::Days(days) => match days(&SourceConfig::default()) {
            Some(days) => format!("after {days} days"),
            None => "if you set it so".to_owned(),
        },
        Retention::Newest(count) => format!("all but the newest {count}"),
    }
}
