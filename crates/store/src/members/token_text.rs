//! Tokens as clients send them: `rt_<space>_<id>_<secret>`.
//!
//! The space says in which rows to look, the id in which one; only the secret proves anything. It has 256 random bits, so
//! a plain SHA-256 protects it: there is nothing to guess that a slow hash would make harder.

use std::fmt;

use rethread_model::Space;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

const PREFIX: &str = "rt";
const ID_BYTES: usize = 6;
const SECRET_BYTES: usize = 32;

/// A token with its secret. Never stored; its debug form hides the secret.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenText {
    space: Space,
    id: String,
    secret: String,
}

/// The text is not a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid token")]
pub struct InvalidToken;

impl TokenText {
    /// Parses what a client sent.
    pub fn parse(text: &str) -> Result<Self, InvalidToken> {
        let mut parts = text.split('_');
        let (Some(PREFIX), Some(space), Some(id), Some(secret), None) =
            (parts.next(), parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(InvalidToken);
        };
        if !is_hex(id, ID_BYTES) || !is_hex(secret, SECRET_BYTES) {
            return Err(InvalidToken);
        }
        let space = space.parse().map_err(|_| InvalidToken)?;
        Ok(Self { space, id: id.to_owned(), secret: secret.to_owned() })
    }

    /// The space that the token claims to belong to. Proves nothing.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// The id, which is not secret: it names the token in lists and logs.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The whole token, to be shown once.
    pub fn reveal(&self) -> String {
        format!("{PREFIX}_{}_{}_{}", self.space, self.id, self.secret)
    }

    pub(super) fn generate(space: Space) -> std::io::Result<Self> {
        Ok(Self { space, id: random_hex::<ID_BYTES>()?, secret: random_hex::<SECRET_BYTES>()? })
    }

    /// What is stored of it. Covers space and id, so that a hash copied to another row matches nothing.
    pub(super) fn hash(&self) -> Vec<u8> {
        Sha256::digest(self.reveal()).to_vec()
    }

    /// Takes the same time whether the first or the last byte differs.
    pub(super) fn matches(&self, hash: &[u8]) -> bool {
        self.hash().ct_eq(hash).into()
    }
}

impl fmt::Debug for TokenText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}_{}_{}_…", self.space, self.id)
    }
}

fn is_hex(text: &str, bytes: usize) -> bool {
    text.len() == 2 * bytes && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn random_hex<const BYTES: usize>() -> std::io::Result<String> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    Ok(digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_parsed_as_it_is_shown() {
        let token = TokenText::generate("acme-2".parse().unwrap()).unwrap();
        let shown = token.reveal();
        assert_eq!(TokenText::parse(&shown), Ok(token.clone()));
        assert!(shown.starts_with("rt_acme-2_") && shown.len() == "rt_acme-2_".len() + 12 + 1 + 64, "{shown}");
        assert!(!format!("{token:?}").contains(&token.secret), "the debug form hides the secret");
        assert!(token.matches(&token.hash()));
        let other = TokenText::generate("acme-2".parse().unwrap()).unwrap();
        assert!(!other.matches(&token.hash()) && !token.matches(&[]) && !token.matches(&[0; 32]));
    }

    #[test]
    fn other_texts_are_rejected() {
        let shown = TokenText::generate(Space::local()).unwrap().reveal();
        let shorter = &shown[..shown.len() - 1];
        let upper = shown.to_uppercase();
        let longer = format!("{shown}_0");
        let no_space = shown.replace("local", "");
        let odd_space = shown.replace("local", "../x");
        for wrong in ["", "rt", "rt___", "____", shorter, &upper, &longer, &no_space, &odd_space, "ä_ö_ü_ß"] {
            assert_eq!(TokenText::parse(wrong), Err(InvalidToken), "{wrong}");
        }
    }
}
