//! The real binary in a home of its own: exit code, stdout and stderr, as snapshots.

#[cfg(test)]
#[path = "cli/ask.rs"]
mod ask;
#[cfg(test)]
#[path = "cli/awareness.rs"]
mod awareness;
#[cfg(test)]
#[path = "cli/card.rs"]
mod card;
#[cfg(test)]
#[path = "cli/docs.rs"]
mod docs;
#[cfg(test)]
#[path = "cli/empty.rs"]
mod empty;
#[cfg(test)]
#[path = "cli/enrich.rs"]
mod enrich;
#[cfg(test)]
#[path = "cli/facts.rs"]
mod facts;
#[path = "cli/forget.rs"]
mod forget;
#[cfg(test)]
#[path = "cli/harmless.rs"]
mod harmless;
#[cfg(test)]
#[path = "cli/install.rs"]
mod install;
#[cfg(test)]
#[path = "cli/install_files.rs"]
mod install_files;
#[cfg(test)]
#[path = "cli/mistakes.rs"]
mod mistakes;
#[cfg(test)]
#[path = "cli/reading.rs"]
mod reading;
#[cfg(test)]
#[path = "cli/search.rs"]
mod search;
#[cfg(test)]
#[path = "cli/setup.rs"]
mod setup;
#[cfg(test)]
#[path = "cli/streams.rs"]
mod streams;
#[cfg(test)]
#[path = "cli/threads.rs"]
mod threads;
#[cfg(test)]
#[path = "cli/transcripts.rs"]
mod transcripts;
#[cfg(test)]
#[path = "cli/usage.rs"]
mod usage;
#[cfg(test)]
#[path = "cli/world.rs"]
mod world;
