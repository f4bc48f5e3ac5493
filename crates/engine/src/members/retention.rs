//! Forgets sessions that are older than the space keeps them, and old events of the audit.

use rethread_model::Timestamp;

use super::DAY_MILLIS;
use crate::{EngineError, ForgetReport, ForgetTarget, MemberService};

/// How long events stay in the audit.
const AUDIT_DAYS: u64 = 365;

/// What was removed because it was old.
#[derive(Clone, Debug, Default)]
pub struct RetentionReport {
    /// What was forgotten of sessions; `None` if the space keeps them.
    pub forgotten: Option<ForgetReport>,
    /// Events deleted from the audit.
    pub audit_events: u64,
}

impl MemberService<'_> {
    /// Sessions without activity for this many days are forgotten; `None` keeps them.
    pub fn retention(self) -> Result<Option<u64>, EngineError> {
        Ok(self.space_to_read()?.map(|store| store.retention_days()).transpose()?.flatten())
    }

    /// Sets after how many days without activity sessions are forgotten; `None` keeps them.
    pub fn set_retention(self, days: Option<u64>) -> Result<(), EngineError> {
        Ok(self.engine.writer()?.set_retention_days(days, self.engine.now())?)
    }

    /// Forgets what is older than the space keeps it. Called now and then by servers; cheap if nothing is.
    pub fn apply_retention(self) -> Result<RetentionReport, EngineError> {
        let Some(mut store) = self.existing_space()? else { return Ok(RetentionReport::default()) };
        let audit_events = store.delete_audit_before(self.days_ago(AUDIT_DAYS))?;
        let days = store.retention_days()?;
        drop(store);
        let forgotten = days.map(|days| self.forget_older_than(days)).transpose()?;
        Ok(RetentionReport { forgotten, audit_events })
    }

    fn forget_older_than(self, days: u64) -> Result<ForgetReport, EngineError> {
        let target = ForgetTarget::Before(self.days_ago(days).to_string());
        let plan = self.engine.forget().plan(&target)?;
        if plan.sessions.is_empty() {
            return Ok(plan);
        }
        let report = self.engine.forget().run(&target)?;
        let event = self.operator_event(format!("retention of {days} days"), report.sessions.len() as u64);
        self.append_audit(&[event])?;
        Ok(report)
    }

    fn days_ago(self, days: u64) -> Timestamp {
        let millis = i64::try_from(days).unwrap_or(i64::MAX).saturating_mul(DAY_MILLIS);
        Timestamp::from_millis(self.engine.now().as_millis().saturating_sub(millis).max(0))
    }
}
