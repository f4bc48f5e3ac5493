//! Decides which transcripts a home has, their paths and their sizes. Writes nothing.

use std::path::{Path, PathBuf};

use crate::ids;
use crate::random::Random;
use crate::time;
use crate::vocabulary::Vocabulary;

/// Share of the bytes and of the files that are pi transcripts.
const PI_PERCENT: u64 = 15;
const FILES_PER_PROJECT: usize = 12;
const FILES_PER_AGENT: usize = 9;
const DAYS: u64 = 90;
/// Minimum bytes of a transcript: about a prompt and an answer.
const MIN_TRANSCRIPT_BYTES: u64 = 3_000;

/// Size of the home to generate.
#[derive(Debug, Clone, Copy)]
pub struct HomeSpec {
    /// Total bytes of all transcripts.
    pub bytes: u64,
    /// Number of transcripts.
    pub files: usize,
    /// Random seed; determines everything else.
    pub seed: u64,
}

/// One transcript to write.
#[derive(Debug)]
pub struct TranscriptPlan {
    /// Path relative to the home.
    pub path: PathBuf,
    /// Approximate size in bytes.
    pub bytes: usize,
    /// Seed of its own random numbers.
    pub seed: u64,
    /// Working directory of the session.
    pub cwd: String,
    /// Session id; for a subagent, that of its parent.
    pub session: String,
    /// Start time in ms since 1970.
    pub started: u64,
    /// Which agent's format.
    pub kind: TranscriptKind,
}

/// Format of a transcript.
#[derive(Debug)]
pub enum TranscriptKind {
    /// A main session of Claude Code, with the subagents it starts.
    Claude(Vec<SubagentPlan>),
    /// A subagent of Claude Code.
    ClaudeAgent(SubagentPlan),
    /// A session of pi.
    Pi,
}

/// A subagent and the tool call that started it.
#[derive(Debug, Clone)]
pub struct SubagentPlan {
    /// Agent id, 7 hexadecimal digits.
    pub id: String,
    /// The `tool_use` id in the parent.
    pub call: String,
}

/// Plans all transcripts of a home.
#[must_use]
pub fn plan_transcripts(spec: HomeSpec, words: &Vocabulary) -> Vec<TranscriptPlan> {
    let mut random = Random::new(spec.seed);
    let projects = projects(&mut random, words, spec.files.div_ceil(FILES_PER_PROJECT));
    let pi_files = usize::try_from(spec.files as u64 * PI_PERCENT / 100).unwrap_or(0);
    let pi_bytes = if pi_files > 0 { spec.bytes * PI_PERCENT / 100 } else { 0 };
    let claude = sizes(&mut random, spec.bytes - pi_bytes, spec.files - pi_files);
    let pi = sizes(&mut random, pi_bytes, pi_files);

    let mut all: Vec<TranscriptPlan> = Vec::with_capacity(spec.files);
    for (at, bytes) in claude.into_iter().enumerate() {
        let transcript = if at % FILES_PER_AGENT == FILES_PER_AGENT - 1 {
            plan_subagent(&mut random, &mut all, bytes)
        } else {
            plan_session(&mut random, &projects, bytes, TranscriptKind::Claude(Vec::new()))
        };
        all.push(transcript);
    }
    all.extend(pi.into_iter().map(|bytes| plan_session(&mut random, &projects, bytes, TranscriptKind::Pi)));
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

fn plan_session(random: &mut Random, projects: &[String], bytes: usize, kind: TranscriptKind) -> TranscriptPlan {
    let (cwd, session) = (random.pick(projects).clone(), ids::uuid(random));
    let started = time::NEWEST_MS - random.below(DAYS * time::DAY_MS);
    let path = if matches!(kind, TranscriptKind::Pi) {
        let stamp = time::iso(started).replace([':', '.'], "-");
        Path::new(".pi/agent/sessions").join(pi_folder(&cwd)).join(format!("{stamp}_{session}.jsonl"))
    } else {
        Path::new(".claude/projects").join(claude_folder(&cwd)).join(format!("{session}.jsonl"))
    };
    TranscriptPlan { path, bytes, seed: random.bits(), cwd, session, started, kind }
}

/// Plans a subagent of the session planned last and adds it to that session.
fn plan_subagent(random: &mut Random, all: &mut [TranscriptPlan], bytes: usize) -> TranscriptPlan {
    let agent = SubagentPlan { id: ids::hex(random, 7), call: ids::api_id(random, "toolu_") };
    let parent = all.len() - 1;
    let parent = &mut all[parent];
    if let TranscriptKind::Claude(agents) = &mut parent.kind {
        agents.push(agent.clone());
    }
    TranscriptPlan {
        path: parent.path.with_extension("").join(format!("subagents/agent-{}.jsonl", agent.id)),
        bytes,
        seed: random.bits(),
        cwd: parent.cwd.clone(),
        session: parent.session.clone(),
        started: parent.started + 60_000,
        kind: TranscriptKind::ClaudeAgent(agent),
    }
}

fn projects(random: &mut Random, words: &Vocabulary, count: usize) -> Vec<String> {
    let name = |random: &mut Random| {
        let join = random.pick(&["-", "_", "."]);
        format!("{}{join}{}", words.content_word(random), words.content_word(random))
    };
    (0..count.max(1)).map(|_| format!("/home/dev/{}/{}", words.content_word(random), name(random))).collect()
}

/// `count` sizes that sum to `total`: many small ones, a few very large ones.
fn sizes(random: &mut Random, total: u64, count: usize) -> Vec<usize> {
    let least = MIN_TRANSCRIPT_BYTES.min(total / count.max(1) as u64);
    let shared = u128::from(total - least * count as u64);
    let weights: Vec<u128> = (0..count).map(|_| 1 + random.size(100_000, 1.4) as u128).collect();
    let sum = weights.iter().sum::<u128>().max(1);
    let size = |weight: &u128| usize::try_from(u128::from(least) + shared * weight / sum);
    weights.iter().map(|weight| size(weight).unwrap_or(usize::MAX)).collect()
}

#[cfg(test)]
mod tests {
    use super::{HomeSpec, TranscriptKind, claude_folder, pi_folder, plan_transcripts};
    use crate::vocabulary::Vocabulary;

    #[test]
    fn folders_are_named_as_the_agents_name_them() {
        assert_eq!(claude_folder("/home/u/my_app.v2"), "-home-u-my-app-v2");
        assert_eq!(pi_folder("/home/u/my_app.v2"), "--home-u-my_app.v2--");
    }

    #[test]
    fn a_plan_has_the_requested_files_and_bytes() {
        let spec = HomeSpec { bytes: 50_000_000, files: 300, seed: 4 };
        let all = plan_transcripts(spec, &Vocabulary::new(4));
        let bytes: usize = all.iter().map(|t| t.bytes).sum();
        let pi: usize = all.iter().filter(|t| matches!(t.kind, TranscriptKind::Pi)).map(|t| t.bytes).sum();
        assert_eq!(all.len(), 300);
        assert!((49_990_000..=50_000_000).contains(&bytes), "{bytes}");
        assert!((7_400_000..=7_500_000).contains(&pi), "{pi}");
        assert_eq!(plan_transcripts(HomeSpec { files: 1, ..spec }, &Vocabulary::new(4)).len(), 1);
    }
}
