//! Many short exchanges between people and Claude Code, for measuring a search through years of them.
//!
//! In the order data meets them: [`world`] holds the language and the projects, [`plan`] decides which sessions there
//! are, [`session`] invents what is said and done in them, [`transcript`] writes that down as Claude Code does, and
//! [`queries`] asks for it again. The lines are leaner than those of [`crate::claude`]: what a sync leaves out anyway
//! (copies of results, progress, hooks) is not there, so that 200,000 exchanges fit into a few hundred megabytes.

pub mod plan;
pub mod queries;
pub mod session;
pub mod transcript;
pub mod world;
