//! TLS, for addresses that other machines can reach.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rethread_engine::ServeSettings;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::cli::serve::ServeArgs;
use crate::failure::{Failure, FailureKind};

/// Performs the TLS handshake.
pub(super) type Tls = TlsAcceptor;

/// TLS from flags or settings; `None` if neither configures it.
pub(super) fn from_settings(settings: &ServeSettings, request: &ServeArgs) -> Result<Option<Tls>, Failure> {
    let named = |flag: &Option<PathBuf>, setting: &str| {
        flag.clone().or_else(|| Some(setting).filter(|path| !path.is_empty()).map(PathBuf::from))
    };
    let certificate = named(&request.tls_cert, &settings.tls_cert);
    let key = named(&request.tls_key, &settings.tls_key);
    match (certificate, key) {
        (None, None) => Ok(None),
        (Some(certificate), Some(key)) => acceptor(&certificate, &key).map(Some),
        _ => Err(Failure::new(FailureKind::Usage, "TLS needs a certificate and its key")
            .hint("pass --tls-cert and --tls-key")),
    }
}

fn acceptor(certificate: &Path, key: &Path) -> Result<Tls, Failure> {
    let bad = |path: &Path, why: &dyn std::fmt::Display| {
        let failure = Failure::new(FailureKind::Serve, format!("cannot use {} for TLS: {why}", path.display()));
        failure.hint("certificate and key must be PEM files that this user can read")
    };
    let chain = CertificateDer::pem_file_iter(certificate).map_err(|error| bad(certificate, &error))?;
    let chain: Vec<_> = chain.collect::<Result<_, _>>().map_err(|error| bad(certificate, &error))?;
    refuse_public_key_file(key)?;
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| bad(key, &error))?;
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| bad(certificate, &error))?.with_no_client_auth();
    let config = builder.with_single_cert(chain, secret).map_err(|error| bad(certificate, &error))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// A user who can read the key can pose as this server. A group may share it, as certificate tools arrange.
fn refuse_public_key_file(key: &Path) -> Result<(), Failure> {
    let Ok(about) = std::fs::metadata(key) else { return Ok(()) };
    let mode = about.permissions().mode() & 0o777;
    let is_public = [0o004, 0o002].iter().any(|bit| mode & bit != 0);
    if !is_public {
        return Ok(());
    }
    let message = format!("all users can read the TLS key {} (mode {mode:04o})", key.display());
    Err(Failure::new(FailureKind::Serve, message).hint(format!("run: chmod 600 {}", key.display())))
}
