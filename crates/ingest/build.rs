//! Packs the trained weights of the sentence models, so that they need no parsing at run time.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

#[path = "src/facts/sentence_model/packing.rs"]
mod packing;

fn main() -> io::Result<()> {
    let folder = Path::new("src/facts/sentence_model");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    for name in ["kinds", "spans"] {
        let trained = folder.join(name).with_extension("tsv");
        println!("cargo::rerun-if-changed={}", trained.display());
        fs::write(out.join(name).with_extension("bin"), packing::pack(&fs::read_to_string(trained)?))?;
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", folder.join("packing.rs").display());
    Ok(())
}
