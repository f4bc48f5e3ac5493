//! Unpacks what agents store compressed.

use std::io::{self, Read};

/// Unpacks one or more zstd frames; more than `max_bytes` are an error.
pub(crate) fn unzstd(mut packed: &[u8], max_bytes: u64) -> io::Result<Vec<u8>> {
    let mut unpacked = Vec::new();
    while !packed.is_empty() {
        let frame = ruzstd::decoding::StreamingDecoder::new(&mut packed).map_err(io::Error::other)?;
        frame.take(max_bytes + 1 - unpacked.len() as u64).read_to_end(&mut unpacked)?;
        if unpacked.len() as u64 > max_bytes {
            return Err(io::Error::other(format!("more than {} MB when unpacked", max_bytes >> 20)));
        }
    }
    Ok(unpacked)
}
