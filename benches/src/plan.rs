//! Decides which transcripts a home has, where they lie and how large each is. Writes nothing.

use std::path::{Path, PathBuf};

use crate::ids;
use crate::random::Random;
use crate::time;
use crate::words::Words;

/// Share of the bytes, and of the files, that is pi's.
const PI_PERCENT: u64 = 15;
const FILES_PER_PROJECT: usize = 12;
const FILES_PER_AGENT: usize = 9;
const DAYS: u64 = 90;
/// A prompt and an answer take about this many bytes.
const LEAST: u64 = 3_000;

/// What was asked for.
#[derive(Debug, Clone, Copy)]
pub struct Wish {
    /// Bytes of all transcripts together.
    pub bytes: u64,
    /// Number of transcripts.
    pub files: usize,
    /// Decides everything else.
    pub seed: u64,
}

/// One transcript to write.
#[derive(Debug)]
pub struct Transcript {
    /// Where, below the home.
    pub path: PathBuf,
    /// About how many bytes.
    pub bytes: usize,
    /// For its own stream of random numbers.
    pub seed: u64,
    /// Where the session worked.
    pub cwd: String,
    /// The agent's id of the session; for a sub-agent its parent's.
    pub session: String,
    /// When it began, in ms since 1970.
    pub started: u64,
    /// Whose shape.
    pub kind: Kind,
}

/// The shape of a transcript.
#[derive(Debug)]
pub enum Kind {
    /// A main session of Claude Code, with the sub-agents it starts.
    Claude(Vec<SubAgent>),
    /// A sub-agent of Claude Code.
    ClaudeAgent(SubAgent),
    /// A session of pi.
    Pi,
}

/// A sub-agent and the tool call that started it.
#[derive(Debug, Clone)]
pub struct SubAgent {
    /// Its id, 7 hexadecimal digits.
    pub id: String,
    /// The `tool_use` id in its parent.
    pub call: String,
}

/// All transcripts of a home.
#[must_use]
pub fn transcripts(wish: Wish, words: &Words) -> Vec<Transcript> {
    let mut random = Random::new(wish.seed);
    let projects = projects(&mut random, words, wish.files.div_ceil(FILES_PER_PROJECT));
    let pi_files = usize::try_from(wish.files as u64 * PI_PERCENT / 100).unwrap_or(0);
    let pi_bytes = if pi_files > 0 { wish.bytes * PI_PERCENT / 100 } else { 0 };
    let claude = sizes(&mut random, wish.bytes - pi_bytes, wish.files - pi_files);
    let pi = sizes(&mut random, pi_bytes, pi_files);

    let mut all: Vec<Transcript> = Vec::with_capacity(wish.files);
    for (at, bytes) in claude.into_iter().enumerate() {
        let transcript = if at % FILES_PER_AGENT == FILES_PER_AGENT - 1 {
            sub_agent(&mut random, &mut all, bytes)
        } else {
            session(&mut random, &projects, bytes, Kind::Claude(Vec::new()))
        };
        all.push(transcript);
    }
    all.extend(pi.into_iter().map(|bytes| session(&mut random, &projects, bytes, Kind::Pi)));
    all
}

/// `cwd` as Claude Code names the folder of its sessions.
#[must_use]
pub fn claude_folder(cwd: &str) -> String {
    cwd.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// `cwd` as pi names the folder of its sessions.
#[must_use]
pub fn pi_folder(cwd: &str) -> String {
    format!("--{}--", cwd.trim_start_matches('/').replace(['/', '\\', ':'], "-"))
}

fn session(random: &mut Random, projects: &[String], bytes: usize, kind: Kind) -> Transcript {
    let (cwd, session) = (random.pick(projects).clone(), ids::uuid(random));
    let started = time::NEWEST - random.below(DAYS * time::DAY);
    let path = if matches!(kind, Kind::Pi) {
        let stamp = time::iso(started).replace([':', '.'], "-");
        Path::new(".pi/agent/sessions").join(pi_folder(&cwd)).join(format!("{stamp}_{session}.jsonl"))
    } else {
        Path::new(".claude/projects").join(claude_folder(&cwd)).join(format!("{session}.jsonl"))
    };
    Transcript { path, bytes, seed: random.bits(), cwd, session, started, kind }
}

/// A sub-agent of the session planned last, which learns of it.
fn sub_agent(random: &mut Random, all: &mut [Transcript], bytes: usize) -> Transcript {
    let agent = SubAgent { id: ids::hex(random, 7), call: ids::api_id(random, "toolu_") };
    let parent = all.len() - 1;
    let parent = &mut all[parent];
    if let Kind::Claude(agents) = &mut parent.kind {
        agents.push(agent.clone());
    }
    Transcript {
        path: parent.path.with_extension("").join(format!("subagents/agent-{}.jsonl", agent.id)),
        bytes,
        seed: random.bits(),
        cwd: parent.cwd.clone(),
        session: parent.session.clone(),
        started: parent.started + 60_000,
        kind: Kind::ClaudeAgent(agent),
    }
}

fn projects(random: &mut Random, words: &Words, count: usize) -> Vec<String> {
    let name = |random: &mut Random| {
        let join = random.pick(&["-", "_", "."]);
        format!("{}{join}{}", words.name(random), words.name(random))
    };
    (0..count.max(1)).map(|_| format!("/home/dev/{}/{}", words.name(random), name(random))).collect()
}

/// `count` sizes that sum to `total`: many small ones, a few very large ones.
fn sizes(random: &mut Random, total: u64, count: usize) -> Vec<usize> {
    let least = LEAST.min(total / count.max(1) as u64);
    let shared = u128::from(total - least * count as u64);
    let weights: Vec<u128> = (0..count).map(|_| 1 + random.size(100_000, 1.4) as u128).collect();
    let sum = weights.iter().sum::<u128>().max(1);
    let size = |weight: &u128| usize::try_from(u128::from(least) + shared * weight / sum);
    weights.iter().map(|weight| size(weight).unwrap_or(usize::MAX)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Kind, Wish, claude_folder, pi_folder, transcripts};
    use crate::words::Words;

    #[test]
    fn folders_are_named_as_the_agents_name_them() {
        assert_eq!(claude_folder("/home/u/my_app.v2"), "-home-u-my-app-v2");
        assert_eq!(pi_folder("/home/u/my_app.v2"), "--home-u-my_app.v2--");
    }

    #[test]
    fn a_plan_has_the_files_and_bytes_wished_for() {
        let wish = Wish { bytes: 50_000_000, files: 300, seed: 4 };
        let all = transcripts(wish, &Words::new(4));
        let bytes: usize = all.iter().map(|t| t.bytes).sum();
        let pi: usize = all.iter().filter(|t| matches!(t.kind, Kind::Pi)).map(|t| t.bytes).sum();
        assert_eq!(all.len(), 300);
        assert!((49_990_000..=50_000_000).contains(&bytes), "{bytes}");
        assert!((7_400_000..=7_500_000).contains(&pi), "{pi}");
        assert_eq!(transcripts(Wish { files: 1, ..wish }, &Words::new(4)).len(), 1);
    }
}
