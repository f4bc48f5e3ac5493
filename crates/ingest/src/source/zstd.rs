//! Unpacks what agents store compressed.

use std::io::{self, Read};

/// Unpacks one or more zstd frames; more than `max_bytes` are an error.
pub(crate) fn unzstd(mut packed: &[u8], max_bytes: u64) -> io::Result<Vec<u8>> {
    let mut unpacked = Vec::new();
    while !packed.is_empty() {
        unpack_frame(&mut packed, &mut unpacked, max_bytes)?;
    }
    Ok(unpacked)
}

/// Unpacks the frames of a file to which frames are appended: if the last one is torn, as much of it as is there.
pub(crate) fn unzstd_appended(mut packed: &[u8], max_bytes: u64) -> io::Result<Vec<u8>> {
    let mut unpacked = Vec::new();
    while !packed.is_empty() {
        match unpack_frame(&mut packed, &mut unpacked, max_bytes) {
            Err(error) if unpacked.is_empty() || unpacked.len() as u64 > max_bytes => return Err(error),
            Err(_) => break,
            Ok(()) => {}
        }
    }
    Ok(unpacked)
}

fn unpack_frame(packed: &mut &[u8], unpacked: &mut Vec<u8>, max_bytes: u64) -> io::Result<()> {
    let frame = ruzstd::decoding::StreamingDecoder::new(packed).map_err(io::Error::other)?;
    frame.take(max_bytes + 1 - unpacked.len() as u64).read_to_end(unpacked)?;
    if unpacked.len() as u64 > max_bytes {
        return Err(io::Error::other(format!("more than {} MB when unpacked", max_bytes >> 20)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(text: &str) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Uncompressed)
    }

    #[test]
    fn frames_before_a_torn_one_are_unpacked() {
        let torn = [frame("one\n"), frame("two\n")].concat();
        let torn = &torn[..torn.len() - 3];
        assert!(unzstd(torn, 100).is_err());
        assert!(unzstd_appended(torn, 100).unwrap().starts_with(b"one\n"));
        assert!(unzstd_appended(b"no frame", 100).is_err());
        assert!(unzstd_appended(&frame("too long"), 3).is_err());
    }
}
