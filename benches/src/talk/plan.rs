//! Decides which sessions there are, when each started and how many episodes it has. Writes nothing.

use std::path::{Path, PathBuf};

use super::shared_content::TalkContent;
use crate::ids;
use crate::plan::claude_folder;
use crate::random::Random;
use crate::time;

const DAYS: u64 = 730;

/// Size of the home to generate.
#[derive(Debug, Clone, Copy)]
pub struct TalkSpec {
    /// Total episodes of all sessions.
    pub episodes: usize,
    /// Number of sessions.
    pub sessions: usize,
    /// Random seed; determines everything else.
    pub seed: u64,
}

/// One session to write.
#[derive(Debug)]
pub struct TalkSessionPlan {
    /// Path relative to the home.
    pub path: PathBuf,
    /// Session id.
    pub id: String,
    /// Seed of its own random numbers.
    pub seed: u64,
    /// Start time in ms since 1970.
    pub started: u64,
    /// Number of episodes, at least 1.
    pub episodes: usize,
    /// Index into [`TalkContent::projects`](super::shared_content::TalkContent::projects).
    pub project: usize,
}

/// Plans all sessions. There are at most as many sessions as episodes, and each has at least one.
#[must_use]
pub fn plan_sessions(spec: TalkSpec, content: &TalkContent) -> Vec<TalkSessionPlan> {
    let mut random = Random::new(spec.seed);
    let counts = random_shares(&mut random, spec.episodes, spec.sessions.clamp(1, spec.episodes.max(1)));
    let plan = |episodes| {
        let project = random.index(content.projects.len());
        let id = ids::uuid(&mut random);
        let folder = claude_folder(&content.projects[project].cwd);
        let path = Path::new(".claude/projects").join(folder).join(format!("{id}.jsonl"));
        let started = time::NEWEST_MS - random.below(DAYS * time::DAY_MS);
        TalkSessionPlan { path, id, seed: random.bits(), started, episodes, project }
    };
    counts.into_iter().map(plan).collect()
}

/// `count` positive numbers that sum to `total`: many small ones, a few large ones.
fn random_shares(random: &mut Random, total: usize, count: usize) -> Vec<usize> {
    let weights: Vec<u128> = (0..count).map(|_| 1 + random.size(10_000, 0.9) as u128).collect();
    let (sum, rest) = (weights.iter().sum::<u128>().max(1), (total - count.min(total)) as u128);
    let (mut passed, mut given) = (0, 0);
    let share = |weight: u128| {
        passed += weight;
        // The running total is rounded instead of each share, so that rounding errors do not add up.
        let due = usize::try_from(rest * passed / sum).unwrap_or(usize::MAX);
        let share = 1 + due - given;
        given = due;
        share
    };
    weights.into_iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::{TalkSpec, plan_sessions};
    use crate::talk::shared_content::TalkContent;

    #[test]
    fn a_plan_has_the_requested_sessions_and_episodes() {
        let content = TalkContent::new(3, 80);
        let plans = plan_sessions(TalkSpec { episodes: 2_000, sessions: 80, seed: 3 }, &content);
        assert_eq!((plans.len(), plans.iter().map(|plan| plan.episodes).sum::<usize>()), (80, 2_000));
        assert!(plans.iter().all(|plan| plan.episodes > 0));
        let few = plan_sessions(TalkSpec { episodes: 3, sessions: 80, seed: 3 }, &content);
        assert_eq!(few.iter().map(|plan| plan.episodes).collect::<Vec<_>>(), [1, 1, 1]);
    }
}
