//! The spaces that are open in this process. Each has an engine, an index and a router of its own; an idle one is closed.
//!
//! Nothing in them is lost when they are closed: the index follows the store, and events are for clients that listen.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axum::Router;
use rethread_engine::{AuthorizedSpace, Engine, EngineError, Environment};
use rethread_model::Space;

use super::{ServerContext, ServerState, SharedState, space_router};

/// With more open spaces, the one that was idle for longest is closed, unless all are in use.
const MAX_OPEN: usize = 512;

/// A space in use.
#[derive(Debug)]
pub(super) struct OpenSpace {
    pub(super) app: SharedState,
    pub(super) router: Router,
    opened_at: Instant,
    /// When the last request came, in milliseconds after it was opened.
    last_used: AtomicI64,
    /// Requests that are being answered.
    requests: AtomicUsize,
}

/// Keeps a space open while a request is answered.
#[derive(Debug)]
pub(super) struct SpaceUse(pub(super) Arc<OpenSpace>);

/// All spaces that are open.
#[derive(Debug)]
pub(super) struct OpenSpaces {
    context: Arc<ServerContext>,
    environment: Environment,
    /// That of the user of a single machine, or of the operator. Always open.
    own: Arc<OpenSpace>,
    others: Mutex<BTreeMap<Space, Arc<OpenSpace>>>,
}

impl OpenSpace {
    fn new(app: SharedState) -> Self {
        let router = space_router(&app);
        Self { app, router, opened_at: Instant::now(), last_used: AtomicI64::new(0), requests: AtomicUsize::new(0) }
    }

    pub(super) fn idle_millis(&self) -> i64 {
        self.opened_at.elapsed().as_millis() as i64 - self.last_used.load(Ordering::Relaxed)
    }

    /// Whether it can be closed without anybody noticing.
    fn is_unused(&self) -> bool {
        self.requests.load(Ordering::Relaxed) == 0
            && self.app.events.listener_count() == 0
            && self.app.turns.is_idle()
            && self.app.audit.is_empty()
    }
}

impl SpaceUse {
    fn new(space: Arc<OpenSpace>) -> Self {
        space.requests.fetch_add(1, Ordering::Relaxed);
        Self(space)
    }
}

impl Drop for SpaceUse {
    fn drop(&mut self) {
        let now = self.0.opened_at.elapsed().as_millis() as i64;
        self.0.last_used.store(now, Ordering::Relaxed);
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

impl OpenSpaces {
    /// Opens the space of the engine.
    pub(super) fn new(context: Arc<ServerContext>, engine: Engine) -> Self {
        let environment = engine.environment().clone();
        let app = Arc::new(ServerState::new(Arc::clone(&context), engine));
        Self { context, environment, own: Arc::new(OpenSpace::new(app)), others: Mutex::default() }
    }

    /// The space of the user of a single machine, or of the operator.
    pub(super) fn own(&self) -> &SharedState {
        &self.own.app
    }

    pub(super) fn use_own(&self) -> SpaceUse {
        SpaceUse::new(Arc::clone(&self.own))
    }

    /// The space of a member, opened if it is not.
    pub(super) fn use_space(&self, space: &AuthorizedSpace) -> Result<SpaceUse, EngineError> {
        if self.own.app.engine.is_in_space(space) {
            return Ok(self.use_own());
        }
        let mut others = self.lock();
        if let Some(open) = others.get(space.space()) {
            return Ok(SpaceUse::new(Arc::clone(open)));
        }
        if others.len() >= MAX_OPEN {
            close_longest_unused(&mut others);
        }
        let mut environment = self.environment.clone();
        if let Some(store) = &mut environment.store {
            store.space = space.clone();
        }
        let app = Arc::new(ServerState::new(Arc::clone(&self.context), Engine::open(environment)?));
        let open = Arc::new(OpenSpace::new(app));
        others.insert(space.space().clone(), Arc::clone(&open));
        Ok(SpaceUse::new(open))
    }

    /// All that are open.
    pub(super) fn all(&self) -> Vec<Arc<OpenSpace>> {
        std::iter::once(Arc::clone(&self.own)).chain(self.lock().values().cloned()).collect()
    }

    /// Closes those without requests for a time.
    pub(super) fn close_unused(&self, idle_millis: i64) {
        self.lock().retain(|_, open| {
            let stays = open.idle_millis() < idle_millis || !open.is_unused();
            if !stays {
                open.app.engine.server().mark_index_used();
            }
            stays
        });
    }

    pub(super) fn is_open(&self, space: &Space) -> bool {
        self.lock().contains_key(space) || self.own.app.engine.space() == space
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Space, Arc<OpenSpace>>> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn close_longest_unused(open: &mut BTreeMap<Space, Arc<OpenSpace>>) {
    let unused = open.iter().filter(|(_, space)| space.is_unused());
    let oldest = unused.max_by_key(|(_, space)| space.idle_millis()).map(|(name, _)| name.clone());
    if let Some(name) = oldest {
        open.remove(&name);
    }
}
