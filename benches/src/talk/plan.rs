//! Decides which sessions there are, when each was and how many exchanges it has. Writes nothing.

use std::path::{Path, PathBuf};

use super::world::World;
use crate::ids;
use crate::plan::claude_folder;
use crate::random::Random;
use crate::time;

const DAYS: u64 = 730;

/// What was asked for.
#[derive(Debug, Clone, Copy)]
pub struct Wish {
    /// Exchanges in all sessions together.
    pub episodes: usize,
    /// Number of sessions.
    pub sessions: usize,
    /// Decides everything else.
    pub seed: u64,
}

/// One session to write.
#[derive(Debug)]
pub struct Plan {
    /// Where, below the home.
    pub path: PathBuf,
    /// The agent's id of it.
    pub id: String,
    /// For its own stream of random numbers.
    pub seed: u64,
    /// When it began, in ms since 1970.
    pub started: u64,
    /// Exchanges.
    pub episodes: usize,
    /// The project, by its place in the world.
    pub project: usize,
}

/// All sessions: never more than exchanges, and each with at least one.
#[must_use]
pub fn sessions(wish: Wish, world: &World) -> Vec<Plan> {
    let mut random = Random::new(wish.seed);
    let counts = shares(&mut random, wish.episodes, wish.sessions.clamp(1, wish.episodes.max(1)));
    let plan = |episodes| {
        let project = random.index(world.projects.len());
        let id = ids::uuid(&mut random);
        let folder = claude_folder(&world.projects[project].cwd);
        let path = Path::new(".claude/projects").join(folder).join(format!("{id}.jsonl"));
        let started = time::NEWEST - random.below(DAYS * time::DAY);
        Plan { path, id, seed: random.bits(), started, episodes, project }
    };
    counts.into_iter().map(plan).collect()
}

/// `count` numbers from 1 that sum to `total`: many small ones, a few large ones.
fn shares(random: &mut Random, total: usize, count: usize) -> Vec<usize> {
    let weights: Vec<u128> = (0..count).map(|_| 1 + random.size(10_000, 0.9) as u128).collect();
    let (sum, rest) = (weights.iter().sum::<u128>().max(1), (total - count.min(total)) as u128);
    let (mut passed, mut given) = (0, 0);
    let share = |weight: u128| {
        passed += weight;
        // What all up to here get together is rounded, not what one gets: so nothing is lost in the sum.
        let due = usize::try_from(rest * passed / sum).unwrap_or(usize::MAX);
        let share = 1 + due - given;
        given = due;
        share
    };
    weights.into_iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::{Wish, sessions};
    use crate::talk::world::World;

    #[test]
    fn a_plan_has_the_sessions_and_exchanges_wished_for() {
        let world = World::new(3, 80);
        let plans = sessions(Wish { episodes: 2_000, sessions: 80, seed: 3 }, &world);
        assert_eq!((plans.len(), plans.iter().map(|plan| plan.episodes).sum::<usize>()), (80, 2_000));
        assert!(plans.iter().all(|plan| plan.episodes > 0));
        let few = sessions(Wish { episodes: 3, sessions: 80, seed: 3 }, &world);
        assert_eq!(few.iter().map(|plan| plan.episodes).collect::<Vec<_>>(), [1, 1, 1]);
    }
}
