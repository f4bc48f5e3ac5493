//! TLS to the server: certificates are always verified, and so is the name of the host.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::InvalidStoreUrl;

/// A connector that trusts only the authorities in the file, or the public ones without a file.
pub(super) fn connector(root_certificates: Option<&Path>) -> Result<MakeRustlsConnect, InvalidStoreUrl> {
    let roots = match root_certificates {
        Some(path) => read_roots(path)?,
        None => webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect(),
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| InvalidStoreUrl::Malformed(error.to_string()))?;
    Ok(MakeRustlsConnect::new(builder.with_root_certificates(roots).with_no_client_auth()))
}

fn read_roots(path: &Path) -> Result<RootCertStore, InvalidStoreUrl> {
    let failed = |reason: String| InvalidStoreUrl::Certificates { path: path.to_owned(), reason };
    let mut roots = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(path).map_err(|error| failed(error.to_string()))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| failed(error.to_string()))?;
        roots.add(certificate).map_err(|error| failed(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(failed("it has no certificate".to_owned()));
    }
    Ok(roots)
}
