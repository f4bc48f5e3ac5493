//! The log of a thread, piece by piece. Reading it changes nothing.

use rethread_model::SessionId;
use rethread_model::thread::{Record, ThreadId};
use rethread_store::LineProblem;

use crate::{Engine, EngineError, Page, Paged};

/// A piece of a thread's log.
#[derive(Clone, Debug)]
pub struct ThreadPage {
    /// The thread.
    pub id: ThreadId,
    /// Its records, by number.
    pub records: Paged<Record>,
    /// Lines of the whole log that could not be read.
    pub problems: Vec<LineProblem>,
}

impl Engine {
    /// A piece of a thread's log: every kind of record, or only messages.
    pub fn thread_records(&self, id: SessionId, only_messages: bool, page: Page) -> Result<ThreadPage, EngineError> {
        let id = self.only_thread(id)?;
        let logged = self.threads().read(id)?;
        let mut number = 0;
        let numbered = logged.records.into_iter().map(|record| {
            // A record that somebody wrote without a number belongs to the one before it.
            number = record.seq().unwrap_or(number).max(number);
            (number, record)
        });
        let numbered = numbered.filter(|(_, record)| !only_messages || record.message().is_some()).collect();
        let paged = page.of(numbered, |(number, _)| *number, |(_, record)| record.to_line().len());
        let records = Paged {
            items: paged.items.into_iter().map(|(_, record)| record).collect(),
            previous: paged.previous,
            next: paged.next,
        };
        Ok(ThreadPage { id, records, problems: logged.problems })
    }
}
