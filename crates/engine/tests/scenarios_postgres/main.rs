//! The scenarios of `tests/scenarios` on PostgreSQL: the same files, in a binary whose name selects the store.
//!
//! Tests about the files of a local store are in `replaced_store`, which is not listed here, or say why they are skipped.

#[path = "../scenarios/activity.rs"]
mod activity;
#[path = "../scenarios/agent_databases.rs"]
mod agent_databases;
#[path = "../scenarios/agent_fixtures.rs"]
mod agent_fixtures;
#[path = "../scenarios/agents_found.rs"]
mod agents_found;
#[path = "../scenarios/aliases.rs"]
mod aliases;
#[path = "../scenarios/ask.rs"]
mod ask;
#[path = "../scenarios/ask_exchanges.rs"]
mod ask_exchanges;
#[path = "../scenarios/ask_project.rs"]
mod ask_project;
#[path = "../scenarios/ask_wordings.rs"]
mod ask_wordings;
#[path = "../scenarios/asking_session.rs"]
mod asking_session;
#[path = "../scenarios/awareness.rs"]
mod awareness;
#[path = "../scenarios/board.rs"]
mod board;
#[path = "../scenarios/cards.rs"]
mod cards;
#[path = "../scenarios/collisions.rs"]
mod collisions;
#[path = "../scenarios/config_reload.rs"]
mod config_reload;
#[path = "../scenarios/counting.rs"]
mod counting;
#[path = "../scenarios/counting_edge_cases.rs"]
mod counting_edge_cases;
#[path = "../scenarios/embeddings.rs"]
mod embeddings;
#[path = "../scenarios/enrichment.rs"]
mod enrichment;
#[path = "../scenarios/fact_extraction.rs"]
mod fact_extraction;
#[path = "../scenarios/facts.rs"]
mod facts;
#[path = "../scenarios/filters.rs"]
mod filters;
#[path = "../scenarios/forget.rs"]
mod forget;
#[path = "../scenarios/forgotten_copies.rs"]
mod forgotten_copies;
#[path = "../scenarios/forks.rs"]
mod forks;
#[path = "../scenarios/host_delivery.rs"]
mod host_delivery;
#[path = "../scenarios/injections.rs"]
mod injections;
#[path = "../scenarios/kept_history.rs"]
mod kept_history;
#[path = "../scenarios/known_fix_probes.rs"]
mod known_fix_probes;
#[path = "../scenarios/last_session.rs"]
mod last_session;
#[path = "../scenarios/lifecycle.rs"]
mod lifecycle;
#[path = "../scenarios/machine_text.rs"]
mod machine_text;
#[path = "../scenarios/members.rs"]
mod members;
#[path = "../scenarios/names.rs"]
mod names;
#[path = "../scenarios/notes.rs"]
mod notes;
#[path = "../scenarios/originals.rs"]
mod originals;
#[path = "../scenarios/pi_hook.rs"]
mod pi_hook;
#[path = "../scenarios/project_sessions.rs"]
mod project_sessions;
#[path = "../scenarios/prompt_questions.rs"]
mod prompt_questions;
#[path = "../scenarios/query_times.rs"]
mod query_times;
#[path = "../scenarios/references.rs"]
mod references;
#[path = "../scenarios/returning.rs"]
mod returning;
#[path = "../scenarios/rule_files.rs"]
mod rule_files;
#[path = "../scenarios/ruled_out.rs"]
mod ruled_out;
#[path = "../scenarios/search.rs"]
mod search;
#[path = "../scenarios/session_events.rs"]
mod session_events;
#[path = "../scenarios/session_helpers.rs"]
mod session_helpers;
#[path = "../scenarios/session_injection.rs"]
mod session_injection;
#[path = "../scenarios/session_ranking.rs"]
mod session_ranking;
#[path = "../scenarios/sessions_by_id.rs"]
mod sessions_by_id;
#[path = "../scenarios/shared_threads.rs"]
mod shared_threads;
#[path = "../scenarios/spool.rs"]
mod spool;
#[path = "../scenarios/stores_changed_in_place.rs"]
mod stores_changed_in_place;
#[path = "../scenarios/sync.rs"]
mod sync;
#[path = "../scenarios/thread_injection.rs"]
mod thread_injection;
#[path = "../scenarios/threads.rs"]
mod threads;
#[path = "../scenarios/turn_queue.rs"]
mod turn_queue;
#[path = "../scenarios/turns.rs"]
mod turns;
#[path = "../scenarios/usage.rs"]
mod usage;
#[path = "../scenarios/watch.rs"]
mod watch;

use rethread_testing::{TestHome, uses_server_store};

#[test]
fn homes_have_their_store_on_a_server() {
    let home = TestHome::new();
    assert!(uses_server_store() && home.engine().location().is_on_server());
}
