//! Scenarios told in data: what happens to transcripts, and what the engine then answers.

mod awareness;
mod cards;
mod chat_server;
mod counting;
mod enrichment;
mod facts;
mod forgetting;
mod keeping;
mod learning;
mod life;
mod live;
mod meaning;
mod model_server;
mod pi_hook;
mod questions;
mod reading;
mod references;
mod searching;
mod sessions;
mod talk;
mod telling;
mod threads;
mod traps;
mod usage;
mod watching;
mod world;
