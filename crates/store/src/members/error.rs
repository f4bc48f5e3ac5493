//! Why a change of spaces, members or tokens was refused.

use rethread_model::{AccessScope, MemberName, Role, Space};

use crate::StoreError;

/// A change that was refused. Nothing was stored.
#[derive(Debug, thiserror::Error)]
pub enum MemberError {
    /// No operator created the space.
    #[error("no space is named \"{0}\"")]
    UnknownSpace(Space),
    /// The space was created before.
    #[error("the space \"{0}\" already exists")]
    SpaceExists(Space),
    /// The space has no such member, or it was revoked.
    #[error("no member is named \"{0}\"")]
    UnknownMember(MemberName),
    /// The space has an active member of that name.
    #[error("the member \"{0}\" already exists")]
    MemberExists(MemberName),
    /// Without another admin, members could only be managed with the password of the database.
    #[error("\"{0}\" is the last admin of the space")]
    LastAdmin(MemberName),
    /// The space has no such token, or it is no longer valid.
    #[error("no valid token has the id {0:?}")]
    UnknownToken(String),
    /// A token may do at most what its member may do.
    #[error("the scope \"{scope}\" is more than the role \"{role}\" allows")]
    ScopeExceedsRole {
        /// What the token was to be allowed.
        scope: AccessScope,
        /// The role of its member.
        role: Role,
    },
    /// The operating system gave no random bytes for a token.
    #[error("cannot create a token")]
    Random(#[source] std::io::Error),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
