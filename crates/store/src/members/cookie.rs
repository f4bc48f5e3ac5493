//! Cookies that keep a browser signed in: `<space>.<id>.<until>.<signature>`.
//!
//! The key is the stored hash of the token, which only the database and its nodes know. So every node can check a
//! cookie, no node has to remember one, and a cookie ends with its token.

use hmac::{Hmac, Mac};
use rethread_model::{Space, Timestamp};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use super::InvalidToken;

/// Domain separation: no other use of the hash as a key gives a valid cookie.
const PURPOSE: &[u8] = b"rethread member cookie ";

/// A cookie as a browser sent it. Proves nothing until its signature is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberCookie {
    space: Space,
    id: String,
    until: Timestamp,
    signature: String,
}

impl MemberCookie {
    /// Parses the value of a cookie.
    pub fn parse(text: &str) -> Result<Self, InvalidToken> {
        let mut parts = text.split('.');
        let (Some(space), Some(id), Some(until), Some(signature), None) =
            (parts.next(), parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(InvalidToken);
        };
        let space = space.parse().map_err(|_| InvalidToken)?;
        let until = Timestamp::from_millis(until.parse().map_err(|_| InvalidToken)?);
        Ok(Self { space, id: id.to_owned(), until, signature: signature.to_owned() })
    }

    /// The space that the cookie claims to belong to.
    pub fn space(&self) -> &Space {
        &self.space
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn until(&self) -> Timestamp {
        self.until
    }

    /// A cookie for the token with that id and hash.
    pub(super) fn new(space: Space, id: &str, until: Timestamp, hash: &[u8]) -> Option<Self> {
        let signature = sign(&space, id, until, hash)?;
        Some(Self { space, id: id.to_owned(), until, signature })
    }

    /// Takes the same time whether the first or the last character differs.
    pub(super) fn is_signed_with(&self, hash: &[u8]) -> bool {
        let expected = sign(&self.space, &self.id, self.until, hash);
        expected.is_some_and(|expected| expected.as_bytes().ct_eq(self.signature.as_bytes()).into())
    }

    /// The value to send to the browser.
    pub(super) fn value(&self) -> String {
        format!("{}.{}.{}.{}", self.space, self.id, self.until.as_millis(), self.signature)
    }
}

fn sign(space: &Space, id: &str, until: Timestamp, hash: &[u8]) -> Option<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(hash).ok()?;
    mac.update(PURPOSE);
    mac.update(format!("{space} {id} {}", until.as_millis()).as_bytes());
    Some(format!("{:x}", mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_holds_for_its_token_and_time_only() {
        // T6
        let (until, hash) = (Timestamp::from_millis(1_000), [7; 32]);
        let cookie = MemberCookie::new("acme".parse().unwrap(), "0123456789ab", until, &hash).unwrap();
        let shown = cookie.value();
        assert_eq!(MemberCookie::parse(&shown), Ok(cookie.clone()));
        assert!(cookie.is_signed_with(&hash) && !cookie.is_signed_with(&[8; 32]) && !cookie.is_signed_with(&[]));
        for (from, to) in [("acme", "other"), ("0123456789ab", "0123456789ac"), (".1000.", ".1001.")] {
            let changed = MemberCookie::parse(&shown.replace(from, to)).unwrap();
            assert!(!changed.is_signed_with(&hash), "{from}");
        }
        for wrong in ["", "...", "acme.id.soon.00", "acme.id.1", "No!.id.1.00", "acme.id.1.00.x"] {
            assert!(MemberCookie::parse(wrong).is_err(), "{wrong}");
        }
    }
}
