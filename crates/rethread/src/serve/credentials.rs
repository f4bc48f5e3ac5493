//! Checks credentials: the token, cookies derived from it, and one-time login links.

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

/// How long a login link is valid.
const LINK_LIFETIME: Duration = Duration::from_mins(10);
/// How long a browser stays signed in.
pub(super) const COOKIE_LIFETIME: Duration = Duration::from_hours(30 * 24);
/// Most unused login links; the oldest is dropped first.
const MAX_LINKS: usize = 16;
/// Domain separation: no other use of the token as an HMAC key yields a valid cookie.
const COOKIE_PURPOSE: &[u8] = b"rethread cookie until ";

/// Validates tokens, cookies and links. Follows the token file: a rotated token is invalid at once.
#[derive(Debug)]
pub(crate) struct Credentials {
    path: PathBuf,
    cookie_name: String,
    cached_token: Mutex<CachedToken>,
    links: Mutex<Vec<LoginLink>>,
}

#[derive(Debug)]
struct CachedToken {
    stamp: Option<TokenFileStamp>,
    hash: Option<[u8; 32]>,
    token: String,
}

/// Inode, modification time in seconds and its nanoseconds: changes with every write of the file.
type TokenFileStamp = (u64, i64, i64);

#[derive(Debug)]
struct LoginLink {
    hash: [u8; 32],
    /// Hash of the token at the time the link was created.
    token_hash: [u8; 32],
    created_at: Instant,
}

impl Credentials {
    /// The credentials of this engine's home. Creates the token if there is none.
    pub(super) fn new(engine: &Engine) -> Result<Self, Failure> {
        let token = engine.server().token()?;
        let path = engine.server().token_path();
        let known = CachedToken { stamp: token_file_stamp(&path), hash: Some(hash(token.as_bytes())), token };
        // Browsers send cookies to all ports of a host: two servers need different cookie names.
        let cookie_name = format!("rethread-{}", &format!("{:x}", Sha256::digest(path.as_os_str().as_bytes()))[..8]);
        Ok(Self { path, cookie_name, cached_token: Mutex::new(known), links: Mutex::default() })
    }

    pub(super) fn is_valid_token(&self, engine: &Engine, shown: &str) -> bool {
        let known = self.current_token(engine);
        known.is_some_and(|(expected, _)| bool::from(expected.ct_eq(&hash(shown.as_bytes()))))
    }

    /// Changes when the token is rotated. Long-lived connections compare it to notice that.
    pub(super) fn token_hash(&self, engine: &Engine) -> Option<[u8; 32]> {
        self.current_token(engine).map(|(hash, _)| hash)
    }

    pub(super) fn cookie_name(&self) -> &str {
        &self.cookie_name
    }

    /// A new cookie value, valid for [`COOKIE_LIFETIME`].
    pub(super) fn new_cookie(&self, engine: &Engine) -> Option<String> {
        let until = seconds_now() + COOKIE_LIFETIME.as_secs();
        let (_, token) = self.current_token(engine)?;
        Some(format!("{until}.{}", cookie_signature(&token, until)?))
    }

    /// Whether the cookie is authentic and has not expired.
    pub(super) fn is_valid_cookie(&self, engine: &Engine, shown: &str) -> bool {
        let Some((until, given)) = shown.split_once('.') else { return false };
        let Ok(until) = until.parse::<u64>() else { return false };
        let Some((_, token)) = self.current_token(engine) else { return false };
        let Some(expected) = cookie_signature(&token, until) else { return false };
        until > seconds_now() && bool::from(expected.as_bytes().ct_eq(given.as_bytes()))
    }

    /// A one-time code that signs a browser in.
    pub(super) fn new_link(&self, engine: &Engine) -> std::io::Result<String> {
        let code = rethread_engine::random_secret()?;
        let no_token = || std::io::Error::other("cannot read the token");
        let seal = self.token_hash(engine).ok_or_else(no_token)?;
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        links.retain(|link| link.created_at.elapsed() < LINK_LIFETIME);
        if links.len() >= MAX_LINKS {
            links.remove(0);
        }
        links.push(LoginLink { hash: hash(code.as_bytes()), token_hash: seal, created_at: Instant::now() });
        Ok(code)
    }

    /// Whether the code is valid under the current token. Consumes it.
    pub(super) fn redeem_link(&self, engine: &Engine, code: &str) -> bool {
        let (shown, seal) = (hash(code.as_bytes()), self.token_hash(engine));
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        links.retain(|link| link.created_at.elapsed() < LINK_LIFETIME && Some(link.token_hash) == seal);
        let found = links.iter().position(|link| bool::from(link.hash.ct_eq(&shown)));
        found.map(|at| links.remove(at)).is_some()
    }

    /// The token and its hash, as the file has them now. `None` if the file is missing or unreadable.
    fn current_token(&self, engine: &Engine) -> Option<([u8; 32], String)> {
        let mut known = self.cached_token.lock().unwrap_or_else(PoisonError::into_inner);
        let now = token_file_stamp(&self.path);
        if now.is_none() || now != known.stamp {
            // A deleted token file locks everything out until the server restarts.
            let token = now.and_then(|_| engine.server().token().ok());
            *known = CachedToken {
                stamp: now,
                hash: token.as_ref().map(|token| hash(token.as_bytes())),
                token: token.unwrap_or_default(),
            };
        }
        Some((known.hash?, known.token.clone()))
    }
}

fn token_file_stamp(path: &std::path::Path) -> Option<TokenFileStamp> {
    let data = fs::symlink_metadata(path).ok()?;
    Some((data.ino(), data.mtime(), data.mtime_nsec()))
}

/// HMAC of the expiry under the token.
fn cookie_signature(token: &str, until: u64) -> Option<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(token.as_bytes()).ok()?;
    mac.update(COOKIE_PURPOSE);
    mac.update(until.to_string().as_bytes());
    Some(format!("{:x}", mac.finalize().into_bytes()))
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
    fn rotating_the_token_invalidates_old_tokens_and_cookies() {
        // T6
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path());
        let keys = Credentials::new(&engine).unwrap();
        let (old, cookie) = (engine.server().token().unwrap(), keys.new_cookie(&engine).unwrap());
        assert!(keys.is_valid_token(&engine, &old) && keys.is_valid_cookie(&engine, &cookie));
        let new = engine.server().rotate_token().unwrap();
        assert!(!keys.is_valid_token(&engine, &old) && !keys.is_valid_cookie(&engine, &cookie));
        assert!(keys.is_valid_token(&engine, &new));
        std::fs::remove_file(engine.server().token_path()).unwrap();
        assert!(!keys.is_valid_token(&engine, &new) && !keys.is_valid_token(&engine, ""));
    }

    #[test]
    fn cookies_cannot_be_extended_and_links_work_once() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path());
        let keys = Credentials::new(&engine).unwrap();
        let cookie = keys.new_cookie(&engine).unwrap();
        let (until, proof) = cookie.split_once('.').unwrap();
        let later = format!("{}.{proof}", until.parse::<u64>().unwrap() + 1);
        assert!(
            !keys.is_valid_cookie(&engine, &later)
                && !keys.is_valid_cookie(&engine, "")
                && !keys.is_valid_cookie(&engine, "1.")
        );
        let code = keys.new_link(&engine).unwrap();
        let is_used = |code: &str| keys.redeem_link(&engine, code);
        assert!(!is_used("") && is_used(&code) && !is_used(&code));
        let code = keys.new_link(&engine).unwrap();
        engine.server().rotate_token().unwrap();
        assert!(!is_used(&code), "links expire when the token is rotated");
    }
}
