//! Generates synthetic agent homes for the benchmarks. Contains no real text.
//!
//! Modules in the order data passes through them: [`generator`] runs a program; [`plan`] decides which files there are
//! and how large each is; [`vocabulary`], [`text_generator`] and [`actions`] generate prompts, answers and tool calls;
//! [`claude`] and [`pi`] write them in the formats of those agents. [`talk`] generates another kind of home: many short
//! episodes, and queries about them. The same seed gives the same bytes.

pub mod generator;
pub mod plan;

pub mod actions;
pub mod ids;
pub mod random;
pub mod text_generator;
pub mod vocabulary;
pub mod workspace;

pub mod json;
pub mod time;

pub mod claude;
pub mod pi;

pub mod talk;

pub mod parallel;

#[cfg(test)]
mod testing;
