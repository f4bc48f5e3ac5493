//! JSON of the rules in files for agents.

use rethread_engine::FileRule;
use schemars::JsonSchema;
use serde::Serialize;

/// A rule in a file for agents, such as `AGENTS.md`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileRuleJson<'a> {
    /// `prefers` or `forbids`.
    kind: &'static str,
    choice: &'a str,
    /// What to use instead.
    instead: Option<&'a str>,
    what: &'a str,
    reason: Option<&'a str>,
    /// Null for a rule of the user.
    project: Option<&'a str>,
    /// Relative to the project, or `~/` and relative to the home directory.
    file: &'a str,
    line: u64,
}

impl<'a> FileRuleJson<'a> {
    pub(super) fn new(one: &'a FileRule) -> Self {
        Self {
            kind: one.rule.predicate.as_str(),
            choice: &one.rule.subject,
            instead: one.rule.instead.as_deref(),
            what: &one.statement,
            reason: one.rule.reason.as_deref(),
            project: one.project.as_deref(),
            file: &one.path,
            line: one.line,
        }
    }
}
