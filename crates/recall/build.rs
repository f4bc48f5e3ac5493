//! Packs the list of word pieces, so that it needs no parsing at run time.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

#[path = "src/word_vectors/packing.rs"]
mod packing;
#[path = "src/word_vectors/piece_hash.rs"]
mod piece_hash;

fn main() -> io::Result<()> {
    let folder = Path::new("src/word_vectors");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    fs::write(out.join("word_pieces.bin"), packing::pack(&fs::read_to_string(folder.join("pieces.txt"))?))?;
    println!("cargo::rerun-if-changed=build.rs");
    for file in ["pieces.txt", "packing.rs", "piece_hash.rs"] {
        println!("cargo::rerun-if-changed={}", folder.join(file).display());
    }
    Ok(())
}
