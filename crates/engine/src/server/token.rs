//! The API token of the server: one line in a file that only its owner can read.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;

use super::ServerService;
use crate::{EngineError, home};

/// Random bytes of a token. 256 bits cannot be guessed.
const TOKEN_BYTES: usize = 32;

impl ServerService<'_> {
    /// The file that holds the token.
    pub fn token_path(self) -> PathBuf {
        self.engine.server_folder().join("token")
    }

    /// The API token. Created if there is none yet. A file that other users can read is rejected.
    pub fn token(self) -> Result<String, EngineError> {
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
            return Err(failed(std::io::Error::other("other users can read it")));
        }
        let token = fs::read_to_string(&path).map_err(failed)?.trim().to_owned();
        if is_token(&token) {
            return Ok(token);
        }
        Err(failed(std::io::Error::other("it does not contain a token")))
    }

    /// Creates a new token. The old one becomes invalid at once.
    pub fn rotate_token(self) -> Result<String, EngineError> {
        let token = self.new_token()?;
        self.engine.journal().event("token_rotated", None, &[]);
        Ok(token)
    }

    fn new_token(self) -> Result<String, EngineError> {
        self.engine.ensure_home()?;
        let path = self.token_path();
        let token = random_secret().map_err(|cause| EngineError::Token { path: path.clone(), cause })?;
        home::write_atomic(&path, &format!("{token}\n")).map_err(|cause| EngineError::Token { path, cause })?;
        Ok(token)
    }
}

/// Whether a text has the form of a token.
pub(crate) fn is_token(text: &str) -> bool {
    text.len() == 2 * TOKEN_BYTES && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A random text of 64 hexadecimal digits.
pub fn random_secret() -> std::io::Result<String> {
    let mut bytes = [[0; TOKEN_BYTES / 2]; 2];
    getrandom::fill(bytes.as_flattened_mut()).map_err(std::io::Error::other)?;
    let [one, other] = bytes.map(u128::from_ne_bytes);
    Ok(format!("{one:032x}{other:032x}"))
}
