//! The real binary in a temporary home: exit code, stdout and stderr, as snapshots.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

mod admin;
mod ask;
mod awareness;
mod card;
mod docs;
mod empty_home;
mod enrich;
mod errors;
mod events;
mod facts;
mod forget;
mod hostile_imports;
mod install;
mod install_files;
mod install_hosts;
mod lists;
mod originals;
mod own_files;
mod pi_extension;
mod resume;
mod scope;
mod search;
mod setup;
mod store;
mod streams;
mod sync_and_show;
mod terminal_safety;
mod threads;
mod transcripts;
mod transfer;
mod tui;
mod usage;
