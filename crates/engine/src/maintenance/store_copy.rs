//! Copies a store into another one, wherever each of them is.

use rethread_store::{CopiedTable, CopyEnd, CopyError, CopyReport, OWNER_ONLY_FOLDER, copy_store, create_folders};

use crate::{EngineError, MaintenanceService};

/// Which store to copy, and where to.
#[derive(Clone, Debug)]
pub struct StoreCopyRequest {
    /// The source, which is only read.
    pub from: CopyEnd,
    /// The target, which must be empty.
    pub to: CopyEnd,
    /// Whether to create or migrate the schema of a target on a server.
    pub migrates: bool,
}

impl MaintenanceService<'_> {
    /// Copies a store, or one space of it, and compares both sides before the copy becomes visible. The index of the
    /// target is built when it is searched. `progress` is called with each table.
    pub fn copy_store(
        self,
        request: &StoreCopyRequest,
        progress: &mut dyn FnMut(&CopiedTable),
    ) -> Result<CopyReport, EngineError> {
        let to = &request.to.location;
        if !request.from.location.exists() {
            // Otherwise the target would be created.
            return Err(CopyError::NoStore(request.from.location.path().to_owned()).into());
        }
        if to.is_on_server() {
            if request.migrates {
                to.migrate()?;
            }
        } else if let Some(folder) = to.path().parent().filter(|folder| !folder.exists()) {
            let failed = |cause| EngineError::Folder { path: folder.to_owned(), cause };
            create_folders(folder, OWNER_ONLY_FOLDER).map_err(failed)?;
        }
        Ok(copy_store(&request.from, &request.to, progress)?)
    }
}
