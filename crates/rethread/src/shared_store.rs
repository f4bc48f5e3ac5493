//! Finds the store on a server that `--store` names.
//!
//! Its password comes from a file or the environment, never from the command line, which other users can read.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rethread_engine::{AuthorizedSpace, InvalidStoreUrl, SharedStore, StoreLocation};
use rethread_model::Space;

use crate::failure::{Failure, FailureKind};

/// The password of the store, and a file that holds it.
const PASSWORD: &str = "RETHREAD_STORE_PASSWORD";
const PASSWORD_FILE: &str = "RETHREAD_STORE_PASSWORD_FILE";
/// The password variable of PostgreSQL's own tools.
const POSTGRES_PASSWORD: &str = "PGPASSWORD";

/// The store at an address from the command line.
pub(crate) fn from_flag(url: &str) -> Result<SharedStore, Failure> {
    if StoreLocation::has_password(url) {
        let failure = Failure::new(FailureKind::Usage, "other users can read a password on the command line");
        return Err(failure.hint(format!("leave it out of --store and set {PASSWORD} or {PASSWORD_FILE}")));
    }
    open(url, None, None)
}

/// The store at an address. Who knows the password of the database may use every space in it.
pub(crate) fn open(
    url: &str,
    password_file: Option<&Path>,
    connections: Option<usize>,
) -> Result<SharedStore, Failure> {
    let (url, space) = without_space(url)?;
    let location = StoreLocation::at_url(&url, password(password_file)?.as_deref(), connections)
        .map_err(|error| invalid(&error))?;
    Ok(SharedStore { location, space: AuthorizedSpace::operator(space) })
}

fn invalid(error: &InvalidStoreUrl) -> Failure {
    let hint = match &error {
        InvalidStoreUrl::Malformed(_) => "use postgres://USER@HOST/DATABASE?space=NAME",
        InvalidStoreUrl::Insecure { .. } => "leave sslmode out, and name a private authority with sslrootcert=FILE",
        InvalidStoreUrl::Certificates { .. } => "sslrootcert names a PEM file with the certificates of the authority",
    };
    Failure::new(FailureKind::Usage, error.to_string()).hint(hint)
}

/// Splits `space=NAME` off the parameters of an address.
fn without_space(url: &str) -> Result<(String, Space), Failure> {
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let (mut space, mut rest) = (Space::local(), Vec::new());
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.strip_prefix("space=") {
            Some(name) => {
                space = name.parse().map_err(|_| {
                    let failure = Failure::new(FailureKind::Usage, format!("invalid space name {name:?}"));
                    failure.hint("use 1 to 64 lower-case letters, digits and dashes")
                })?;
            }
            None => rest.push(pair),
        }
    }
    let url = if rest.is_empty() { base.to_owned() } else { format!("{base}?{}", rest.join("&")) };
    Ok((url, space))
}

fn password(file: Option<&Path>) -> Result<Option<String>, Failure> {
    let variable = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
    let named = variable(PASSWORD_FILE);
    match file.or(named.as_deref().map(Path::new)) {
        Some(file) => read_password(file).map(Some),
        None => Ok(variable(PASSWORD).or_else(|| variable(POSTGRES_PASSWORD))),
    }
}

fn read_password(file: &Path) -> Result<String, Failure> {
    let failed = |reason: &dyn std::fmt::Display| {
        let message = format!("cannot use {} for the password of the store: {reason}", file.display());
        Failure::new(FailureKind::ConfigFile, message)
    };
    let data = std::fs::metadata(file).map_err(|error| failed(&error))?;
    if data.permissions().mode() & 0o007 != 0 {
        return Err(failed(&"all users can read it").hint(format!("run `chmod 600 {}`", file.display())));
    }
    let text = std::fs::read_to_string(file).map_err(|error| failed(&error))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_space_is_part_of_the_address() {
        let (url, space) = without_space("postgres://a@h/d?x=1&space=acme&y=2").unwrap_or_else(|_| unreachable!());
        assert_eq!((url.as_str(), space.as_str()), ("postgres://a@h/d?x=1&y=2", "acme"));
        assert!(without_space("postgres://a@h/d?space=No!").is_err());
    }

    #[test]
    fn a_password_on_the_command_line_is_refused() {
        // T6
        let refused = from_flag("postgres://a:s3cret@localhost/d").err().map(|failure| failure.source.to_string());
        assert!(refused.is_some_and(|message| !message.contains("s3cret")));
    }
}
