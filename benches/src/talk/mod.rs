//! Generates many short Claude Code episodes, for measuring search over years of history.
//!
//! In the order data passes through them: [`shared_content`] holds the vocabulary and the projects, [`plan`] decides
//! which sessions there are, [`session`] generates their episodes, [`transcript`] writes them in the format of Claude
//! Code, and [`queries`] generates searches for them. The lines are smaller than those of [`crate::claude`]: content
//! that a sync skips (copies of results, progress, hooks) is left out, so that 200,000 episodes fit into a few hundred
//! megabytes.

pub mod plan;
pub mod queries;
pub mod session;
pub mod shared_content;
pub mod transcript;
