//! Finds the store on a server that `--store` or the setting `store.url` names.
//!
//! Its password comes from a file or the environment, never from the command line, which other users can read.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rethread_engine::{AuthorizedSpace, Config, CopyEnd, Environment, InvalidStoreUrl, SharedStore, StoreLocation};
use rethread_model::Space;

use crate::cli::Command;
use crate::failure::{Failure, FailureKind};

/// The password of the store, and a file that holds it.
const PASSWORD: &str = "RETHREAD_STORE_PASSWORD";
const PASSWORD_FILE: &str = "RETHREAD_STORE_PASSWORD_FILE";
/// The password variable of PostgreSQL's own tools.
const POSTGRES_PASSWORD: &str = "PGPASSWORD";

/// The store that the command line names, or else the setting; `None` for the local one.
pub(crate) fn find(
    flag: Option<&str>,
    command: Option<&Command>,
    environment: &Environment,
) -> Result<Option<SharedStore>, Failure> {
    if let Some(url) = flag {
        refuse_password(url)?;
        return open(url, None, None).map(Some);
    }
    if !command.is_some_and(is_of_operator) {
        return Ok(None);
    }
    let Some(url) = Config::store_url(environment)? else { return Ok(None) };
    open(&url, None, None).map(Some).map_err(|failure| failure.hint("the address is that of the setting store.url"))
}

/// Whether a command uses the store of the setting. Everything else must name it: what a user does on this machine, and
/// what agents start, is about the local store.
fn is_of_operator(command: &Command) -> bool {
    matches!(command, Command::Serve(_) | Command::Admin(_) | Command::Token(_))
}

/// The source or the target of a copy: the address of a server or a path, with or without `?space=NAME`.
pub(crate) fn copy_end(text: &str, password_file: Option<&Path>) -> Result<CopyEnd, Failure> {
    let (place, space) = split_space(text)?;
    if !StoreLocation::is_url(text) {
        let path = if space.is_some() { &place } else { text };
        let path = std::path::absolute(path).map_err(|_| Failure::new(FailureKind::Usage, "invalid path \"\""))?;
        return Ok(CopyEnd::at_path(&path, space));
    }
    refuse_password(text)?;
    let password = password(password_file)?;
    let location = StoreLocation::at_url(&place, password.as_deref(), None).map_err(|error| invalid(&error))?;
    Ok(CopyEnd::on_server(location, space))
}

fn refuse_password(url: &str) -> Result<(), Failure> {
    if !StoreLocation::has_password(url) {
        return Ok(());
    }
    let failure = Failure::new(FailureKind::Usage, "other users can read a password on the command line");
    Err(failure.hint(format!("leave it out of the address and set {PASSWORD} or {PASSWORD_FILE}")))
}

/// The store at an address. Who knows the password of the database may use every space in it.
pub(crate) fn open(
    url: &str,
    password_file: Option<&Path>,
    connections: Option<usize>,
) -> Result<SharedStore, Failure> {
    let (url, space) = split_space(url)?;
    let space = space.unwrap_or_else(Space::local);
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
fn split_space(url: &str) -> Result<(String, Option<Space>), Failure> {
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let (mut space, mut rest) = (None, Vec::new());
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.strip_prefix("space=") {
            Some(name) => {
                space = Some(name.parse().map_err(|_| {
                    let failure = Failure::new(FailureKind::Usage, format!("invalid space name {name:?}"));
                    failure.hint("use 1 to 64 lower-case letters, digits and dashes")
                })?);
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
        let (url, space) = split_space("postgres://a@h/d?x=1&space=acme&y=2").unwrap_or_else(|_| unreachable!());
        assert_eq!((url.as_str(), space), ("postgres://a@h/d?x=1&y=2", "acme".parse().ok()));
        assert!(split_space("postgres://a@h/d?space=No!").is_err());
    }

    #[test]
    fn a_path_may_name_a_space_too() {
        let path = |text| copy_end(text, None).ok().map(|end| (end.location.to_string(), end.space));
        assert_eq!(path("/a/home"), Some(("/a/home/memory.db".into(), None)));
        assert_eq!(path("/a/other.db?space=acme"), Some(("/a/other.db".into(), "acme".parse().ok())));
        assert_eq!(path("/a/what?"), Some(("/a/what?/memory.db".into(), None)));
        assert!(copy_end("postgres://a:s3cret@localhost/d", None).is_err());
    }

    #[test]
    fn a_password_on_the_command_line_is_refused() {
        // T6
        let environment = Environment::for_home(Path::new("/nowhere"));
        let refused = find(Some("postgres://a:s3cret@localhost/d"), None, &environment).err();
        assert!(refused.is_some_and(|failure| !failure.source.to_string().contains("s3cret")));
    }
}
