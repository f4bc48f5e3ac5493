//! Current activity of all sessions, for a reader that is not itself a session.

use rethread_model::{Agent, Timestamp};
use rethread_recall::{ActivityBlock, ActivityReader, activity_block};
use rethread_store::{ReadStore, SessionFilter, SessionKey, SessionScope};

use super::other_sessions::ACTIVE_WINDOW_MILLIS;
use crate::awareness::AwarenessService;
use crate::{EngineError, ListedSession};

/// A reader without watermarks that matches no session.
const NO_READER: SessionKey<'static> = SessionKey { agent: Agent::Native, external_id: "" };
/// Number of newest sessions searched for active projects when no project is given.
const MAX_SESSIONS_SCANNED: u64 = 200;

/// Sessions with activity in the last hour.
#[derive(Clone, Debug, Default)]
pub struct LiveActivity {
    /// What they did; `None` if there are none.
    pub activity: Option<ActivityBlock>,
    /// The sessions, most recently active first.
    pub sessions: Vec<ListedSession>,
}

impl AwarenessService<'_> {
    /// What sessions did in the last hour. Reads new transcript lines; moves no watermark.
    pub fn live_activity(self, scope: &SessionScope) -> Result<LiveActivity, EngineError> {
        let Some(mut store) = self.engine.syncing_reader()? else { return Ok(LiveActivity::default()) };
        let now = self.engine.now();
        let (mut others, mut sessions) = (Vec::new(), Vec::new());
        for project in active_projects(&store, scope, now)? {
            // Without write access, show what was stored before.
            if let Some(store) = store.writer()
                && let Err(error) = self.catch_up(store, &project, None, now)
            {
                self.engine.journal().error("activity", &error);
            }
            let found = self.other_sessions(&store, NO_READER, &project, now)?;
            for number in &found.numbers {
                let session = store.session_by_number(*number)?;
                sessions.extend(session.map(|session| self.engine.sessions().listed(&store, session)).transpose()?);
            }
            others.extend(found.sessions);
        }
        sessions.sort_by_key(|listed: &ListedSession| std::cmp::Reverse(listed.session.last_activity_at));
        Ok(LiveActivity { activity: activity_block(&others, ActivityReader::default(), now), sessions })
    }
}

/// The given project, or all projects with recent activity.
fn active_projects(store: &ReadStore, scope: &SessionScope, now: Timestamp) -> Result<Vec<String>, EngineError> {
    if let SessionScope::Project(project) = scope {
        return Ok(vec![project.clone()]);
    }
    let filter = SessionFilter { limit: Some(MAX_SESSIONS_SCANNED), ..SessionFilter::default() };
    let lately = |at: Timestamp| now.millis_since(at) <= ACTIVE_WINDOW_MILLIS;
    let sessions = store.sessions(&filter)?;
    let live = sessions.into_iter().filter(|session| session.last_activity_at.is_some_and(lately));
    let mut projects: Vec<String> = live.filter_map(|session| session.project).collect();
    projects.sort();
    projects.dedup();
    Ok(projects)
}
