//! The log of a thread, page by page. Reading it changes nothing.

use rethread_model::SessionId;
use rethread_model::thread::{ThreadId, ThreadRecord};
use rethread_store::ThreadLineProblem;

use crate::threads::ThreadService;
use crate::{EngineError, ListPage, PageRequest};

/// A page of a thread's log.
#[derive(Clone, Debug)]
pub struct ThreadLogPage {
    /// The thread the log belongs to.
    pub id: ThreadId,
    /// The records of the page, by number.
    pub records: ListPage<ThreadRecord>,
    /// Lines of the whole log that could not be read.
    pub problems: Vec<ThreadLineProblem>,
}

impl ThreadService<'_> {
    /// A page of a thread's log: all numbered records, or only messages. Settings are part of the metadata.
    pub fn records(self, id: SessionId, only_messages: bool, page: PageRequest) -> Result<ThreadLogPage, EngineError> {
        let id = self.engine.conversations().require_thread(id)?;
        let logged = self.engine.thread_store().read(id)?;
        let mut number = 0;
        let records = logged.records.into_iter().filter(|record| !matches!(record, ThreadRecord::Settings(_)));
        let numbered = records.map(|record| {
            // A record written by another program without a number gets the number of the one before it.
            number = record.seq().unwrap_or(number).max(number);
            (number, record)
        });
        let numbered = numbered.filter(|(_, record)| !only_messages || record.message().is_some()).collect();
        let paged = page.apply(numbered, |(number, _)| *number, |(_, record)| record.to_line().len());
        let records = ListPage {
            items: paged.items.into_iter().map(|(_, record)| record).collect(),
            previous: paged.previous,
            next: paged.next,
        };
        Ok(ThreadLogPage { id, records, problems: logged.problems })
    }
}
