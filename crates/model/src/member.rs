//! Members of a space: their names, their roles, and what a token may do.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::id::is_dashed_name;

/// The name of a member, unique in its space. The same characters as in names of spaces.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MemberName(String);

/// The text is not a valid name of a member.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid member name {0:?}")]
pub struct InvalidMemberName(pub String);

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Reads sessions, searches and asks.
    Read,
    /// Adds sessions, notes and threads, and forgets the member's own.
    Write,
    /// Manages members and retention, reads the audit and forgets sessions of others.
    Admin,
}

/// What a member may do at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Only reads.
    Reader,
    /// Reads and writes.
    Member,
    /// Everything.
    Admin,
    /// Only writes: for CI, which pushes sessions and must not see those of others.
    Service,
}

/// A set of accesses: what a role allows, or what a token is limited to. Never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AccessScope(u8);

/// The text is not a role.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid role {0:?}")]
pub struct InvalidRole(pub String);

/// The text is not a list of accesses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid scope {0:?}")]
pub struct InvalidScope(pub String);

impl MemberName {
    /// The name as stored.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for MemberName {
    type Err = InvalidMemberName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if is_dashed_name(text) { Ok(Self(text.to_owned())) } else { Err(InvalidMemberName(text.to_owned())) }
    }
}

impl TryFrom<String> for MemberName {
    type Error = InvalidMemberName;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<MemberName> for String {
    fn from(name: MemberName) -> Self {
        name.0
    }
}

impl fmt::Display for MemberName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Access {
    /// All accesses, in the order in which scopes are written.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Admin];

    /// The name as stored and typed.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }
}

impl FromStr for Access {
    type Err = InvalidScope;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|access| access.as_str() == text).ok_or_else(|| InvalidScope(text.to_owned()))
    }
}

impl Role {
    /// All roles, from the least to the most powerful, and `service`.
    pub const ALL: [Self; 4] = [Self::Reader, Self::Member, Self::Admin, Self::Service];

    /// The name as stored and typed.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reader => "reader",
            Self::Member => "member",
            Self::Admin => "admin",
            Self::Service => "service",
        }
    }

    /// Everything the role allows.
    pub const fn scope(self) -> AccessScope {
        const READ: u8 = AccessScope::bit(Access::Read);
        const WRITE: u8 = AccessScope::bit(Access::Write);
        AccessScope(match self {
            Self::Reader => READ,
            Self::Member => READ | WRITE,
            Self::Admin => READ | WRITE | AccessScope::bit(Access::Admin),
            Self::Service => WRITE,
        })
    }

    /// Whether the role allows an access.
    pub const fn allows(self, access: Access) -> bool {
        self.scope().contains(access)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Role {
    type Err = InvalidRole;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|role| role.as_str() == text).ok_or_else(|| InvalidRole(text.to_owned()))
    }
}

impl AccessScope {
    /// The scope with these accesses. `None` if there are none: such a token could do nothing.
    pub fn new(accesses: impl IntoIterator<Item = Access>) -> Option<Self> {
        let bits = accesses.into_iter().fold(0, |bits, access| bits | Self::bit(access));
        (bits != 0).then_some(Self(bits))
    }

    /// Whether the access is in it.
    pub const fn contains(self, access: Access) -> bool {
        self.0 & Self::bit(access) != 0
    }

    /// Whether all of `other` is in it.
    pub const fn includes(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// What is in both. `None` if nothing is.
    pub const fn intersection(self, other: Self) -> Option<Self> {
        match self.0 & other.0 {
            0 => None,
            bits => Some(Self(bits)),
        }
    }

    /// The accesses in it, in order.
    pub fn accesses(self) -> impl Iterator<Item = Access> {
        Access::ALL.into_iter().filter(move |access| self.contains(*access))
    }

    const fn bit(access: Access) -> u8 {
        1 << access as u8
    }
}

impl fmt::Display for AccessScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.accesses().map(Access::as_str).collect();
        f.write_str(&names.join(","))
    }
}

impl FromStr for AccessScope {
    type Err = InvalidScope;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || InvalidScope(text.to_owned());
        let accesses =
            text.split(',').map(|name| name.trim().parse().map_err(|_| bad())).collect::<Result<Vec<_>, _>>();
        Self::new(accesses?).ok_or_else(bad)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_allow_what_they_say() {
        let table = Role::ALL.map(|role| (role.as_str(), role.scope().to_string()));
        let expect =
            [("reader", "read"), ("member", "read,write"), ("admin", "read,write,admin"), ("service", "write")];
        assert_eq!(table, expect.map(|(role, scope)| (role, scope.to_owned())));
        assert!(!Role::Service.allows(Access::Read) && !Role::Member.allows(Access::Admin));
    }

    #[test]
    fn scopes_are_written_in_one_order() {
        let scope: AccessScope = "write, read".parse().unwrap();
        assert_eq!(scope.to_string(), "read,write");
        assert!(Role::Admin.scope().includes(scope) && !Role::Reader.scope().includes(scope));
        assert_eq!(scope.intersection(Role::Service.scope()), AccessScope::new([Access::Write]));
        assert_eq!(Role::Service.scope().intersection(Role::Reader.scope()), None);
        for wrong in ["", "all", "read,", "Read"] {
            assert_eq!(wrong.parse::<AccessScope>(), Err(InvalidScope(wrong.to_owned())));
        }
    }

    #[test]
    fn names_of_members_are_like_names_of_spaces() {
        assert_eq!("alice-2".parse::<MemberName>().unwrap().as_str(), "alice-2");
        for wrong in ["", "Alice", "a_b", "-a", "a@b"] {
            assert_eq!(wrong.parse::<MemberName>(), Err(InvalidMemberName(wrong.to_owned())));
        }
    }
}
