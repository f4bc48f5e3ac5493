//! JSON of `uninstall --all --purge`.

use rethread_engine::PurgeReport;
use serde::Serialize;

use super::SCHEMA;

/// What was deleted.
#[derive(Serialize)]
pub(crate) struct PurgeReportJson {
    schema: u8,
    folder: String,
    sessions: u64,
    threads: u64,
    removed: Vec<PurgedItemJson>,
    /// What was not created by Rethread.
    kept: Vec<String>,
    /// What could not be removed.
    failed: Vec<String>,
}

#[derive(Serialize)]
struct PurgedItemJson {
    name: String,
    files: u64,
    bytes: u64,
}

impl PurgeReportJson {
    pub(crate) fn new(report: &PurgeReport) -> Self {
        let removed = report.removed.iter();
        let item = |item: &rethread_engine::PurgedItem| PurgedItemJson {
            name: item.name.clone(),
            files: item.files,
            bytes: item.bytes,
        };
        Self {
            schema: SCHEMA,
            folder: report.folder.display().to_string(),
            sessions: report.sessions,
            threads: report.threads,
            removed: removed.map(item).collect(),
            kept: report.kept.iter().map(|path| path.display().to_string()).collect(),
            failed: report.failed.iter().map(|(path, _)| path.display().to_string()).collect(),
        }
    }
}
