//! Replaces a damaged or outdated store by a new one, keeps the old file and carries over what can still be read.
//!
//! The old file is moved at once, with the tombstones carried over, so that a hook can go on. The rest follows with the
//! next sync, because it takes long.

use std::path::{Path, PathBuf};

use rethread_store::{CarriedOver, Store, StoreError, StoreLocation};
use serde_json::json;

use crate::sync::reread_kind;
use crate::{EngineError, MaintenanceService, home};

/// Directory of the old stores, one directory each.
const FOLDER: &str = "set-aside";
/// Written beside an old store once it is carried over.
const REPORT: &str = "carried-over.json";
const LOCK: &str = "set-aside.lock";

/// What was carried over from one old store.
#[derive(Clone, Debug)]
pub struct CarryOverReport {
    /// The old store.
    pub path: PathBuf,
    /// What could be read.
    pub carried: CarriedOver,
}

/// An old store that was set aside.
#[derive(Clone, Debug)]
pub(crate) struct SetAsideStore {
    pub(crate) location: StoreLocation,
    pub(crate) is_carried_over: bool,
}

impl EngineError {
    /// Whether the store has to be replaced: its file is proven to be damaged, or of an older version. Never true for
    /// a lock, a full disk or a failing one.
    pub fn is_store_unusable(&self) -> bool {
        matches!(self, EngineError::Store(error) if error.is_unusable())
    }
}

impl MaintenanceService<'_> {
    /// Runs `work` on the store. If that proves the store to be damaged or outdated, replaces it and tries once more.
    pub(crate) fn with_usable_store<T>(
        self,
        work: &mut dyn FnMut() -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        match work() {
            Err(error) if error.is_store_unusable() => {
                self.replace_store(&crate::reports::with_cause(&error))?;
                work()
            }
            result => result,
        }
    }

    /// Moves the store away and begins a new one with its tombstones. Does nothing if another process just did that.
    pub(crate) fn replace_store(self, reason: &str) -> Result<(), EngineError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |cause| EngineError::Folder { path, cause }
        };
        let lock = self.engine.folder.join(LOCK);
        let Some(_lock) = home::try_lock_file(&lock)? else { return Ok(()) };
        let folder = self.engine.folder.join(FOLDER);
        // Another process that met the same damage was faster.
        if self.set_aside_stores().iter().any(|old| self.is_newer_than_engine(&old.location))
            && self.engine.writer().is_ok()
        {
            return Ok(());
        }
        let stamp: String = self.engine.now().to_string().chars().filter(char::is_ascii_alphanumeric).collect();
        let mut named = folder.join(&stamp);
        let mut copy = 1;
        while named.exists() {
            copy += 1;
            named = folder.join(format!("{stamp}-{copy}"));
        }
        let old = self.engine.location().move_aside(&named).map_err(failed(&named))?;
        let carried = self.engine.writer()?.carry_over_tombstones(&old)?;
        let fields =
            [("path", old.to_string().into()), ("why", reason.into()), ("tombstones", carried.tombstones.into())];
        self.engine.journal().event("store_set_aside", None, &fields);
        Ok(())
    }

    /// Carries over the stores that were set aside and not carried over yet.
    pub(crate) fn carry_over_stores(self, store: &mut Store) -> Result<Vec<CarryOverReport>, EngineError> {
        let waiting: Vec<SetAsideStore> =
            self.set_aside_stores().into_iter().filter(|old| !old.is_carried_over).collect();
        if waiting.is_empty() {
            return Ok(Vec::new());
        }
        let Some(_lock) = home::try_lock_file(&self.engine.folder.join(LOCK))? else { return Ok(Vec::new()) };
        let mut reports = Vec::new();
        for SetAsideStore { location, .. } in waiting {
            let carried = store.carry_over(&location, &reread_kind)?;
            let text = json!({
                "sessions": carried.sessions,
                "entries": carried.entries,
                "tombstones": carried.tombstones,
                "ownRows": carried.own_rows,
                "damagedTables": carried.damaged_tables,
                "rejectedRows": carried.rejected_rows,
            });
            let report = location.path().with_file_name(REPORT);
            home::write_atomic(&report, &format!("{text:#}\n"))
                .map_err(|cause| EngineError::Folder { path: report, cause })?;
            reports.push(CarryOverReport { path: location.path().to_owned(), carried });
        }
        Ok(reports)
    }

    /// The stores that were set aside, oldest first.
    pub(crate) fn set_aside_stores(self) -> Vec<SetAsideStore> {
        let folders = std::fs::read_dir(self.engine.folder.join(FOLDER)).into_iter().flatten().flatten();
        let stores = folders.filter_map(|folder| {
            let location = StoreLocation::in_folder(&folder.path());
            let is_carried_over = folder.path().join(REPORT).exists();
            location.exists().then_some(SetAsideStore { location, is_carried_over })
        });
        let mut stores: Vec<SetAsideStore> = stores.collect();
        stores.sort_by(|a, b| a.location.path().cmp(b.location.path()));
        stores
    }

    /// The directory of stores that were set aside, if there are any. Forgetting does not reach them.
    pub fn set_aside_folder(self) -> Option<PathBuf> {
        (!self.set_aside_stores().is_empty()).then(|| self.engine.folder.join(FOLDER))
    }

    /// Whether a store was ever set aside here.
    pub(crate) fn has_set_aside_folder(self) -> bool {
        self.engine.folder.join(FOLDER).is_dir()
    }

    fn is_newer_than_engine(self, location: &StoreLocation) -> bool {
        let folder = location.path().parent().unwrap_or(&self.engine.folder);
        std::fs::metadata(folder).and_then(|data| data.modified()).is_ok_and(|at| at > self.engine.opened_at)
    }

    /// For hooks: replaces an unusable store, starts a sync that carries the rest over, and returns a notice for the
    /// user. `None` if the error has another cause.
    pub(crate) fn replace_store_in_hook(self, error: &EngineError) -> Option<String> {
        if !error.is_store_unusable() {
            return None;
        }
        if let Err(failure) = self.replace_store(&crate::reports::with_cause(error)) {
            self.engine.journal().error("replace_store", &failure);
            return None;
        }
        let is_started = self.engine.start_detached(&["sync"]);
        let next = if is_started {
            "Its content is being carried over in the background; `rethread doctor` shows the result."
        } else {
            "Run `rethread sync` to carry its content over."
        };
        let what = if matches!(error, EngineError::Store(StoreError::Outdated { .. })) {
            "was made by an older version"
        } else {
            "is damaged"
        };
        Some(format!("Rethread: the store {what}. It was set aside and a new one was begun. {next}"))
    }
}
