//! Writes sessions to files in the current directory, each on a thread of its own.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;

use jiff::tz::TimeZone;
use rethread_engine::Engine;
use rethread_model::Session;

use super::request::WorkerAnswer;
use super::worker::spawn;
use crate::cli::transfer::ExportFormat;
use crate::export::{ExportFile, export_file_name, export_sessions};
use crate::failure::{Failure, FailureKind};
use crate::render::redaction_summary;

/// The exports that were started.
#[derive(Debug)]
pub(super) struct Exports {
    engine: Arc<Engine>,
    zone: TimeZone,
    sender: Sender<WorkerAnswer>,
    running: Vec<JoinHandle<()>>,
}

impl Exports {
    pub(super) fn new(engine: &Arc<Engine>, zone: &TimeZone, sender: &Sender<WorkerAnswer>) -> Self {
        Self { engine: Arc::clone(engine), zone: zone.clone(), sender: sender.clone(), running: Vec::new() }
    }

    /// Starts an export. Its outcome is sent as an answer.
    pub(super) fn start(&mut self, session: Session, format: ExportFormat, folder: &Path) -> std::io::Result<()> {
        let (engine, zone, folder) = (Arc::clone(&self.engine), self.zone.clone(), folder.to_path_buf());
        let export = move |sender: &Sender<WorkerAnswer>| {
            let written = export(&engine, &zone, &session, format, &folder);
            // Once the interface was left, the answer is not read.
            let _ = sender.send(WorkerAnswer::Exported(written.map_err(|failure| failure.source.to_string())));
        };
        self.running.retain(|thread| !thread.is_finished());
        self.running.push(spawn(self.sender.clone(), export)?);
        Ok(())
    }

    /// Waits for exports, so that none leaves half a file.
    pub(super) fn finish(&mut self) {
        for thread in self.running.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Writes a session to a file with a name of its own, and says where it is.
fn export(
    engine: &Engine,
    zone: &TimeZone,
    session: &Session,
    format: ExportFormat,
    folder: &Path,
) -> Result<String, Failure> {
    let mut file = ExportFile::create(folder.join(export_file_name(session, format)))?;
    let exported = export_sessions(engine, zone, &[session.id], format, &mut |text| file.write(text))?;
    if exported.sessions == 0 {
        let message = format!("threads are exported with `rethread thread export {}`", session.id);
        return Err(Failure::new(FailureKind::Usage, message));
    }
    let path = file.keep_existing()?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Ok(format!("exported to {name}. {}", redaction_summary(&exported.redactions)))
}
