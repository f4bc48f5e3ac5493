//! The token that whoever talks to the server must show: one line in a file that only its owner can read.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;

use crate::{Engine, EngineError, home};

/// Random bytes of a token. Nobody guesses 256 bits.
const BYTES: usize = 32;

impl Engine {
    /// Where the token is kept.
    pub fn token_path(&self) -> PathBuf {
        self.folder.join("token")
    }

    /// The token; made if there is none yet. One that others could have read is refused.
    pub fn token(&self) -> Result<String, EngineError> {
        let path = self.token_path();
        let failed = |cause| EngineError::Token { path: path.clone(), cause };
        let data = match fs::symlink_metadata(&path) {
            Ok(data) => data,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return self.new_token(),
            Err(error) => return Err(failed(error)),
        };
        if !data.is_file() {
            return Err(failed(std::io::Error::other("not a regular file")));
        }
        if data.permissions().mode() & 0o077 != 0 || data.uid() != rustix::process::geteuid().as_raw() {
            return Err(failed(std::io::Error::other("others could read it")));
        }
        let token = fs::read_to_string(&path).map_err(failed)?.trim().to_owned();
        if token.len() == 2 * BYTES && token.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(token);
        }
        Err(failed(std::io::Error::other("no token is in it")))
    }

    /// A new token; the old one is worth nothing from now on.
    pub fn rotate_token(&self) -> Result<String, EngineError> {
        let token = self.new_token()?;
        self.note("token_rotated", None, &[]);
        Ok(token)
    }

    fn new_token(&self) -> Result<String, EngineError> {
        home::prepare(&self.folder)?;
        let path = self.token_path();
        let token = secret().map_err(|cause| EngineError::Token { path: path.clone(), cause })?;
        home::write_whole(&path, &format!("{token}\n")).map_err(|cause| EngineError::Token { path, cause })?;
        Ok(token)
    }
}

/// A text that nobody can guess.
pub fn secret() -> std::io::Result<String> {
    let mut bytes = [[0; BYTES / 2]; 2];
    getrandom::fill(bytes.as_flattened_mut()).map_err(std::io::Error::other)?;
    let [one, other] = bytes.map(u128::from_ne_bytes);
    Ok(format!("{one:032x}{other:032x}"))
}
