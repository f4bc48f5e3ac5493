//! Scenarios through the engine: what happens to transcripts, and what the engine then returns.

mod ask;
mod awareness;
mod board;
mod cards;
mod counting;
mod counting_edge_cases;
mod embeddings;
mod enrichment;
mod fact_extraction;
mod facts;
mod filters;
mod forget;
mod injections;
mod lifecycle;
mod notes;
mod pi_hook;
mod references;
mod search;
mod session_helpers;
mod sessions_by_id;
mod sync;
mod threads;
mod turn_queue;
mod turns;
mod usage;
mod watch;
