//! What opens the door: the token, the cookie made from it, and links that open it once.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::failure::Failure;
use rethread_engine::Engine;

/// How long a link can be used.
const LINK_LIVES: Duration = Duration::from_mins(10);
/// How long a browser stays logged in.
pub(super) const COOKIE_LIVES: Duration = Duration::from_hours(30 * 24);
/// Links that wait to be used; the oldest goes first.
const MOST_LINKS: usize = 16;
/// Before what a cookie proves, so that no other use of the token gives one.
const COOKIE_PURPOSE: &[u8] = b"rethread cookie until ";

/// Knows who may come in. It follows the file: a token that was rotated is worth nothing at once.
#[derive(Debug)]
pub(crate) struct Keys {
    path: PathBuf,
    cookie_name: String,
    known: Mutex<Known>,
    links: Mutex<Vec<Link>>,
}

#[derive(Debug)]
struct Known {
    stamp: Option<Stamp>,
    hash: Option<[u8; 32]>,
    token: String,
}

/// Tells one version of the file from the next.
type Stamp = (u64, i64, i64);

#[derive(Debug)]
struct Link {
    hash: [u8; 32],
    /// That of the token it was made under.
    seal: [u8; 32],
    since: Instant,
}

impl Keys {
    /// The keys to this engine's home; the token is made if there is none.
    pub(super) fn new(engine: &Engine) -> Result<Self, Failure> {
        let token = engine.token()?;
        let path = engine.token_path();
        let known = Known { stamp: stamp(&path), hash: Some(hash(token.as_bytes())), token };
        // Browsers send cookies to all ports of a host: two servers must not take each other's place.
        let cookie_name = format!("rethread-{}", &format!("{:x}", Sha256::digest(path.as_os_str().as_bytes()))[..8]);
        Ok(Self { path, cookie_name, known: Mutex::new(known), links: Mutex::default() })
    }

    /// Whether that is the token.
    pub(super) fn is_token(&self, engine: &Engine, shown: &str) -> bool {
        let known = self.known(engine);
        known.is_some_and(|(expected, _)| bool::from(expected.ct_eq(&hash(shown.as_bytes()))))
    }

    /// What stays the same as long as the token does, for whoever stays inside for long.
    pub(super) fn seal(&self, engine: &Engine) -> Option<[u8; 32]> {
        self.known(engine).map(|(hash, _)| hash)
    }

    /// What the cookie of this home is called.
    pub(super) fn cookie_name(&self) -> &str {
        &self.cookie_name
    }

    /// A cookie that opens the door for a while.
    pub(super) fn cookie(&self, engine: &Engine) -> Option<String> {
        let until = seconds_now() + COOKIE_LIVES.as_secs();
        let (_, token) = self.known(engine)?;
        Some(format!("{until}.{}", proof(&token, until)?))
    }

    /// Whether that is a cookie of ours that still holds.
    pub(super) fn is_cookie(&self, engine: &Engine, shown: &str) -> bool {
        let Some((until, given)) = shown.split_once('.') else { return false };
        let Ok(until) = until.parse::<u64>() else { return false };
        let Some((_, token)) = self.known(engine) else { return false };
        let Some(expected) = proof(&token, until) else { return false };
        until > seconds_now() && bool::from(expected.as_bytes().ct_eq(given.as_bytes()))
    }

    /// A code that logs a browser in, once.
    pub(super) fn new_link(&self, engine: &Engine) -> std::io::Result<String> {
        let code = rethread_engine::secret()?;
        let no_token = || std::io::Error::other("the token cannot be used");
        let seal = self.seal(engine).ok_or_else(no_token)?;
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        links.retain(|link| link.since.elapsed() < LINK_LIVES);
        if links.len() >= MOST_LINKS {
            links.remove(0);
        }
        links.push(Link { hash: hash(code.as_bytes()), seal, since: Instant::now() });
        Ok(code)
    }

    /// Whether that code was given out under the token of now and not used; from now on it is used.
    pub(super) fn use_link(&self, engine: &Engine, code: &str) -> bool {
        let (shown, seal) = (hash(code.as_bytes()), self.seal(engine));
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        links.retain(|link| link.since.elapsed() < LINK_LIVES && Some(link.seal) == seal);
        let found = links.iter().position(|link| bool::from(link.hash.ct_eq(&shown)));
        found.map(|at| links.remove(at)).is_some()
    }

    /// The hash of the token and the token, as the file has it now. Nothing if it cannot be used.
    fn known(&self, engine: &Engine) -> Option<([u8; 32], String)> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let now = stamp(&self.path);
        if now.is_none() || now != known.stamp {
            // Whoever deletes the file wants nobody in until the server starts again.
            let token = now.and_then(|_| engine.token().ok());
            *known = Known {
                stamp: now,
                hash: token.as_ref().map(|token| hash(token.as_bytes())),
                token: token.unwrap_or_default(),
            };
        }
        Some((known.hash?, known.token.clone()))
    }
}

fn stamp(path: &std::path::Path) -> Option<Stamp> {
    let data = fs::symlink_metadata(path).ok()?;
    Some((data.ino(), data.mtime(), data.mtime_nsec()))
}

/// What proves that a cookie was made by somebody who has the token.
fn proof(token: &str, until: u64) -> Option<String> {
    let mut made = Hmac::<Sha256>::new_from_slice(token.as_bytes()).ok()?;
    made.update(COOKIE_PURPOSE);
    made.update(until.to_string().as_bytes());
    Some(format!("{:x}", made.finalize().into_bytes()))
}

fn hash(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

fn seconds_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use rethread_engine::Environment;

    use super::*;

    fn engine(folder: &std::path::Path) -> Engine {
        Engine::open(Environment::for_home(folder)).unwrap_or_else(|_| unreachable!("a new home has no settings"))
    }

    #[test]
    fn t6_a_rotated_token_is_worth_nothing_and_neither_are_its_cookies() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path());
        let keys = Keys::new(&engine).unwrap();
        let (old, cookie) = (engine.token().unwrap(), keys.cookie(&engine).unwrap());
        assert!(keys.is_token(&engine, &old) && keys.is_cookie(&engine, &cookie));
        let new = engine.rotate_token().unwrap();
        assert!(!keys.is_token(&engine, &old) && !keys.is_cookie(&engine, &cookie));
        assert!(keys.is_token(&engine, &new));
        std::fs::remove_file(engine.token_path()).unwrap();
        assert!(!keys.is_token(&engine, &new) && !keys.is_token(&engine, ""));
    }

    #[test]
    fn a_cookie_cannot_be_made_longer_lived_and_a_link_opens_once() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path());
        let keys = Keys::new(&engine).unwrap();
        let cookie = keys.cookie(&engine).unwrap();
        let (until, proof) = cookie.split_once('.').unwrap();
        let later = format!("{}.{proof}", until.parse::<u64>().unwrap() + 1);
        assert!(!keys.is_cookie(&engine, &later) && !keys.is_cookie(&engine, "") && !keys.is_cookie(&engine, "1."));
        let code = keys.new_link(&engine).unwrap();
        let is_used = |code: &str| keys.use_link(&engine, code);
        assert!(!is_used("") && is_used(&code) && !is_used(&code));
        let code = keys.new_link(&engine).unwrap();
        engine.rotate_token().unwrap();
        assert!(!is_used(&code), "a link ends with the token it was made under");
    }
}
