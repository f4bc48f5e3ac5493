//! The permission to open a store in one space. Everything that opens a store needs one, so no caller can name a space
//! that it did not sign in to.

use rethread_model::Space;

/// A space that the caller may use. Its field is private: it comes from one of the constructors here or from a sign-in
/// by token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizedSpace(Space);

impl AuthorizedSpace {
    /// The space of a single machine, for the owner of the local file.
    pub fn local() -> Self {
        Self(Space::local())
    }

    /// Any space, for those who could read its rows anyway: they have the password of the database, or own its file.
    /// Never for a name that comes from a request.
    pub fn operator(space: Space) -> Self {
        Self(space)
    }

    /// The space itself.
    pub fn space(&self) -> &Space {
        &self.0
    }

    pub(crate) fn into_space(self) -> Space {
        self.0
    }
}
