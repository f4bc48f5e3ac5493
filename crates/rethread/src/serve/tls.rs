//! TLS, for listening where others could listen in.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rethread_engine::Config;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::cli::serve::Serve;
use crate::failure::{Failure, Kind};

/// Turns a connection into one that nobody else can read.
pub(super) type Tls = TlsAcceptor;

/// TLS as flags or settings want it; nothing if they do not.
pub(super) fn wanted(config: &Config, request: &Serve) -> Result<Option<Tls>, Failure> {
    let named = |flag: &Option<PathBuf>, key| {
        flag.clone().or_else(|| Some(config.text(key)).filter(|path| !path.is_empty()).map(PathBuf::from))
    };
    let certificate = named(&request.tls_cert, "serve.tls_cert");
    let key = named(&request.tls_key, "serve.tls_key");
    match (certificate, key) {
        (None, None) => Ok(None),
        (Some(certificate), Some(key)) => acceptor(&certificate, &key).map(Some),
        _ => {
            Err(Failure::new(Kind::Usage, "TLS needs a certificate and its key").hint("give --tls-cert and --tls-key"))
        }
    }
}

fn acceptor(certificate: &Path, key: &Path) -> Result<Tls, Failure> {
    let bad = |path: &Path, why: &dyn std::fmt::Display| {
        let failure = Failure::new(Kind::Serve, format!("{} cannot be used for TLS: {why}", path.display()));
        failure.hint("both must be PEM files that this user can read")
    };
    let chain = CertificateDer::pem_file_iter(certificate).map_err(|error| bad(certificate, &error))?;
    let chain: Vec<_> = chain.collect::<Result<_, _>>().map_err(|error| bad(certificate, &error))?;
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| bad(key, &error))?;
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| bad(certificate, &error))?.with_no_client_auth();
    let config = builder.with_single_cert(chain, secret).map_err(|error| bad(certificate, &error))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
