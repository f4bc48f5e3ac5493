//! The address of a PostgreSQL server: parsed, checked, and shown without its password.

use std::path::{Path, PathBuf};
use std::time::Duration;

use postgres::Config;
use postgres::config::{Host, TargetSessionAttrs};

/// How long a connection attempt may take for each host.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// A silent server is asked whether it still lives after this long, so that a dead link does not hang a request.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(15);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVE_RETRIES: u32 = 3;
/// How long sent data may stay unacknowledged.
const USER_TIMEOUT: Duration = Duration::from_secs(20);
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// The address cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidStoreUrl {
    /// Not an address of a PostgreSQL server.
    #[error("invalid store address: {0}")]
    Malformed(String),
    /// Text on the way to another machine must be encrypted, and the machine must prove who it is.
    #[error("the store on {host:?} needs an encrypted connection with a verified certificate, not sslmode={mode:?}")]
    Insecure {
        /// The host of the address.
        host: String,
        /// The mode of the address.
        mode: String,
    },
    /// The file with certificate authorities cannot be used.
    #[error("cannot read the certificates in {}: {reason}", path.display())]
    Certificates {
        /// The file of `sslrootcert`.
        path: PathBuf,
        /// Why it cannot be used.
        reason: String,
    },
}

/// How a connection is protected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Protection {
    /// A Unix socket or loopback.
    None,
    /// TLS with a verified certificate; `Some` has the only authorities that are trusted.
    VerifiedTls(Option<PathBuf>),
}

/// A parsed address.
#[derive(Clone, Debug)]
pub(crate) struct ServerAddress {
    pub(crate) config: Config,
    pub(crate) protection: Protection,
    /// Without the password.
    pub(crate) shown: String,
}

impl ServerAddress {
    /// Parses `postgres://user@host:port/database?sslrootcert=…`. A password in the address is used, but never shown.
    pub(crate) fn parse(url: &str, password: Option<&str>) -> Result<Self, InvalidStoreUrl> {
        if !is_server_url(url) {
            return Err(InvalidStoreUrl::Malformed("expected postgres://USER@HOST/DATABASE".to_owned()));
        }
        let (plain, mode, root_certificates) = without_tls_parameters(url);
        // The parser's messages name parameters and hosts, never the password.
        let mut config: Config = plain.parse().map_err(|error: postgres::Error| {
            InvalidStoreUrl::Malformed(
                std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string),
            )
        })?;
        if let Some(password) = password {
            config.password(password);
        }
        if config.get_dbname().is_none() {
            return Err(InvalidStoreUrl::Malformed("the name of the database is missing".to_owned()));
        }
        if config.get_application_name().is_none() {
            config.application_name("rethread");
        }
        config.connect_timeout(CONNECT_TIMEOUT).tcp_user_timeout(USER_TIMEOUT);
        config.keepalives_idle(KEEPALIVE_IDLE).keepalives_interval(KEEPALIVE_INTERVAL);
        config.keepalives_retries(KEEPALIVE_RETRIES);
        // After a failover only one of several hosts accepts writes.
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        let protection = protection(&config, mode.as_deref(), root_certificates)?;
        let mode = if protection == Protection::None {
            postgres::config::SslMode::Disable
        } else {
            postgres::config::SslMode::Require
        };
        config.ssl_mode(mode);
        Ok(Self { config, protection, shown: without_password(url) })
    }
}

/// Whether a text is meant as the address of a server, not as a file.
pub(crate) fn is_server_url(text: &str) -> bool {
    SCHEMES.iter().any(|scheme| text.starts_with(scheme))
}

/// Whether an address contains a password.
pub(crate) fn has_password(url: &str) -> bool {
    without_password(url) != url
}

fn protection(
    config: &Config,
    mode: Option<&str>,
    root_certificates: Option<PathBuf>,
) -> Result<Protection, InvalidStoreUrl> {
    let remote = config.get_hosts().iter().find_map(|host| match host {
        Host::Tcp(name) if !is_loopback(name) => Some(name.clone()),
        _ => None,
    });
    // An address given apart is connected to, whatever the name is.
    let addresses = config.get_hostaddrs().iter().find(|address| !address.is_loopback());
    let remote = remote.or_else(|| addresses.map(ToString::to_string));
    match (remote, mode) {
        (_, Some("verify-full")) | (Some(_), None) => Ok(Protection::VerifiedTls(root_certificates)),
        (Some(host), Some(mode)) => Err(InvalidStoreUrl::Insecure { host, mode: mode.to_owned() }),
        (None, None | Some("disable" | "allow" | "prefer")) => Ok(Protection::None),
        (None, Some(_)) => Ok(Protection::VerifiedTls(root_certificates)),
    }
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The address without `sslmode` and `sslrootcert`, which the client library does not know in full, and their values.
fn without_tls_parameters(url: &str) -> (String, Option<String>, Option<PathBuf>) {
    let Some((base, query)) = url.split_once('?') else { return (url.to_owned(), None, None) };
    let (mut mode, mut root, mut rest) = (None, None, Vec::new());
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some(("sslmode", value)) => mode = Some(value.to_owned()),
            Some(("sslrootcert", value)) => root = Some(Path::new(&percent_decoded(value)).to_owned()),
            _ => rest.push(pair),
        }
    }
    let plain = if rest.is_empty() { base.to_owned() } else { format!("{base}?{}", rest.join("&")) };
    (plain, mode, root)
}

fn percent_decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// The address as it may be shown: `user:password@` becomes `user@`, and a `password` parameter is left out. Takes it
/// apart as the client library does: the login ends at the first `@`, and names of parameters may be encoded.
fn without_password(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let (login, place) = rest.split_once('@').map_or((None, rest), |(login, place)| (Some(login), place));
    let user = login.map(|login| format!("{}@", login.split(':').next().unwrap_or_default())).unwrap_or_default();
    let (place, query) = place.split_once('?').unwrap_or((place, ""));
    let is_password = |pair: &&str| percent_decoded(pair.split('=').next().unwrap_or_default()) == "password";
    let kept: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty() && !is_password(pair)).collect();
    let question = if kept.is_empty() { "" } else { "?" };
    format!("{scheme}://{user}{place}{question}{}", kept.join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protection_of(url: &str) -> Result<Protection, InvalidStoreUrl> {
        ServerAddress::parse(url, None).map(|address| address.protection)
    }

    #[test]
    fn other_machines_need_a_verified_certificate() {
        // T23
        assert_eq!(protection_of("postgres://a@db.example/r"), Ok(Protection::VerifiedTls(None)));
        assert_eq!(
            protection_of("postgres://a@db.example/r?sslrootcert=/etc/my%20ca.pem"),
            Ok(Protection::VerifiedTls(Some("/etc/my ca.pem".into())))
        );
        for mode in ["disable", "allow", "prefer", "require", "verify-ca"] {
            let refused = protection_of(&format!("postgres://a@db.example/r?sslmode={mode}"));
            assert!(matches!(refused, Err(InvalidStoreUrl::Insecure { .. })), "{mode}");
        }
        let mixed = protection_of("postgres://a@localhost,db.example/r?sslmode=disable");
        assert!(matches!(mixed, Err(InvalidStoreUrl::Insecure { .. })), "one remote host is enough");
        let apart = protection_of("postgres://a@localhost/r?hostaddr=10.0.0.5&sslmode=disable");
        assert!(matches!(apart, Err(InvalidStoreUrl::Insecure { .. })), "the address counts, not the name");
    }

    #[test]
    fn this_machine_may_be_spoken_to_without_tls() {
        for place in ["localhost", "127.0.0.1:5433", "[::1]", "%2Frun%2Fpostgresql"] {
            assert_eq!(protection_of(&format!("postgres://a@{place}/r")), Ok(Protection::None), "{place}");
        }
        assert_eq!(protection_of("postgres:///r?host=/run/postgresql&user=a"), Ok(Protection::None));
        assert_eq!(protection_of("postgres://a@localhost/r?sslmode=verify-full"), Ok(Protection::VerifiedTls(None)));
    }

    #[test]
    fn a_password_is_never_shown() {
        // T6
        for url in ["postgres://a:s3cret@db.example/r?x=1", "postgres://a@db.example/r?password=s3cret&x=1"] {
            assert_eq!(without_password(url), "postgres://a@db.example/r?x=1");
            assert!(has_password(url));
        }
        assert!(!has_password("postgres://a@db.example/r?sslmode=verify-full"));
        let refused = ServerAddress::parse("postgres://a:s3cret@db.example:port/r", None).unwrap_err();
        assert!(!refused.to_string().contains("s3cret"), "{refused}");
    }
}
