//! The work of a server beside its requests.
//!
//! Stores audit events, publishes changes, closes unused spaces, and forgets what is older than its space keeps it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rethread_engine::{AuthorizedSpace, ConfigReload, Engine, ThreadCatchUp};
use rethread_model::Space;

use super::node::ServerNode;
use super::{SharedState, state};
use crate::commands::watch::invalid_settings;

/// How often audit events are stored and unused spaces are looked for.
const ROUND: Duration = Duration::from_secs(1);
/// How often the stop flag is checked.
const STOP_POLL: Duration = Duration::from_millis(50);
/// A space without requests for this long is closed.
const IDLE_MILLIS: i64 = 10 * 60_000;
/// The index of a space that was not open on this node for this long is removed from its disk.
const KEEP_FILES: Duration = Duration::from_hours(7 * 24);
/// How often old sessions, old audit events and unused files are looked for.
const RETENTION_ROUND: Duration = Duration::from_hours(1);
/// After the start, so that a node that restarts again and again does not forget each time.
const FIRST_RETENTION: Duration = Duration::from_mins(1);

/// Works until the server stops, and stores what is left.
pub(super) fn run(node: &ServerNode, stop: &Arc<AtomicBool>) {
    let (mut publishing, mut catch_ups) = (HashSet::new(), HashMap::new());
    let mut next_retention = Instant::now() + FIRST_RETENTION;
    while !stop.load(Ordering::Relaxed) {
        node.reload_config();
        node.start_publishing(&mut publishing, stop);
        node.sync_threads(&mut catch_ups);
        node.spaces.close_unused(IDLE_MILLIS);
        node.measure();
        if Instant::now() >= next_retention {
            node.apply_retention(stop);
            next_retention = Instant::now() + RETENTION_ROUND;
        }
        wait(stop);
    }
}

/// Stores audit events until the server stops. Apart from other work, which may take long.
pub(super) fn run_audit(node: &ServerNode, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        node.store_audit();
        wait(stop);
    }
}

/// Waits for the next round, or the end of the server.
fn wait(stop: &AtomicBool) {
    let start = Instant::now();
    while start.elapsed() < ROUND && !stop.load(Ordering::Relaxed) {
        std::thread::sleep(STOP_POLL);
    }
}

/// Publishes an event whenever something was stored or renamed in a space, while there are listeners.
fn publish_changes(app: &SharedState, stop: &AtomicBool) {
    let mut watcher = app.engine.server().change_watcher();
    while !stop.load(Ordering::Relaxed) && (!app.server.is_shared || app.events.listener_count() > 0) {
        if let Some(changes) = watcher.poll() {
            app.events.publish_changed(changes.sessions.as_deref());
            for (session, name) in changes.renamed {
                app.events.publish_to_session(session, crate::json::FrameEventJson::SessionRenamed { name });
            }
        }
        std::thread::sleep(state::CHANGE_POLL);
    }
}

impl ServerNode {
    /// Stores the audit events of all spaces.
    pub(super) fn store_audit(&self) {
        for space in self.spaces.all() {
            if let Err(error) = space.app.audit.store(&space.app.engine) {
                self.context.metrics.count_failed_audit();
                space.app.engine.journal().error("audit", &error);
            }
        }
    }

    /// Syncs threads of open spaces that another node appended to but could not sync.
    fn sync_threads(&self, catch_ups: &mut HashMap<Space, ThreadCatchUp>) {
        if !self.context.is_shared {
            return;
        }
        catch_ups.retain(|space, _| self.spaces.is_open(space));
        for space in self.spaces.all() {
            let engine = &space.app.engine;
            if let Err(error) = catch_ups.entry(engine.space().clone()).or_default().run_if_due(engine) {
                engine.journal().error("thread sync", &error);
            }
        }
    }

    fn reload_config(&self) {
        for space in self.spaces.all() {
            if let ConfigReload::Rejected(reason) = space.app.engine.reload_config() {
                self.context.printer.warn(&invalid_settings(&reason));
            }
        }
    }

    /// Starts a thread for each space with listeners that has none.
    fn start_publishing(&self, publishing: &mut HashSet<Space>, stop: &Arc<AtomicBool>) {
        publishing.retain(|space| self.spaces.is_open(space));
        for space in self.spaces.all() {
            let name = space.app.engine.space().clone();
            let is_wanted = !self.context.is_shared || space.app.events.listener_count() > 0;
            if !is_wanted {
                // Its thread ends by itself.
                publishing.remove(&name);
            } else if publishing.insert(name) {
                let (app, stop) = (Arc::clone(&space.app), Arc::clone(stop));
                std::thread::spawn(move || publish_changes(&app, &stop));
            }
        }
    }

    fn measure(&self) {
        if !self.context.is_shared {
            return;
        }
        let open = self.spaces.all();
        let lags = open.iter().filter_map(|space| space.app.engine.server().index_lag().ok());
        self.context.metrics.set_spaces(open.len(), lags.max().unwrap_or(0));
    }

    /// Of all spaces of the database, also those that are not open on any node.
    fn apply_retention(&self, stop: &AtomicBool) {
        if !self.context.is_shared {
            return;
        }
        let own = &self.spaces.own().engine;
        let spaces = match own.members().spaces() {
            Ok(spaces) => spaces,
            Err(error) => return own.journal().error("retention", &error),
        };
        for row in spaces {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            let Ok(engine) = Engine::open(own.environment().clone()) else { return };
            let engine = engine.with_space(AuthorizedSpace::operator(row.space));
            if let Err(error) = engine.members().apply_retention() {
                engine.journal().error("retention", &error);
            }
        }
        own.server().remove_unused_spaces(KEEP_FILES, &|space| self.spaces.is_open(space));
    }
}
