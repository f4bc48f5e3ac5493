//! Who makes a request, and what that allows.

use std::sync::Arc;

use rethread_engine::SignedIn;
use rethread_model::Access;

/// Who makes a request. Travels as an extension of the request.
#[derive(Clone, Debug)]
pub(crate) enum RequestCaller {
    /// The user whose home the server uses.
    Owner,
    /// A member of the space.
    Member(Arc<SignedIn>),
}

/// How a request was authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AuthMethod {
    Token,
    Cookie,
    SameUser,
}

impl RequestCaller {
    /// Whether the caller may make such a request.
    pub(crate) fn allows(&self, access: Access) -> bool {
        match self {
            Self::Owner => true,
            Self::Member(signed_in) => signed_in.allows(access),
        }
    }

    pub(crate) fn signed_in(&self) -> Option<&Arc<SignedIn>> {
        match self {
            Self::Owner => None,
            Self::Member(signed_in) => Some(signed_in),
        }
    }
}
