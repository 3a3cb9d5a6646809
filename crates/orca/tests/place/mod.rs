//! Where the project is.

use std::path::{Path, PathBuf};

/// The project's root.
pub fn root() -> PathBuf {
    // Asked when run, not when built: clones may share a target folder.
    let here = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where the crate is");
    Path::new(&here).ancestors().nth(2).expect("two folders up is the root").to_path_buf()
}
