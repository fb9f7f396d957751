//! Hands the examples, the studies and, where it is built, the studio to maturin, which puts them into the wheel beside the
//! Python modules.
//!
//! maturin puts files of a build script's folder wherever `pyproject.toml` says, and files of the source tree only where
//! they are in that tree: outside the package. Pictures stay behind, and what Python has compiled. `make build` sets
//! `FARWEB_IN_TREE`: the package lies beside these folders then, and needs no copies.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    println!("cargo::rerun-if-env-changed=FARWEB_IN_TREE");
    let in_tree = env::var_os("FARWEB_IN_TREE").is_some();
    for name in ["examples", "papers", "studio/dist"] {
        let copy = out.join(name);
        if copy.exists() {
            fs::remove_dir_all(&copy)?;
        }
        let folder = Path::new("../..").join(name);
        println!("cargo::rerun-if-changed={}", folder.display());
        if !in_tree && folder.exists() {
            copy_folder(&folder, &copy)?;
        }
    }
    Ok(())
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let copy = to.join(path.file_name().expect("an entry has a name"));
        let left_out =
            path.ends_with("__pycache__") || path.extension().is_some_and(|ending| ending == "png");
        if path.is_dir() && !left_out {
            copy_folder(&path, &copy)?;
        } else if !left_out {
            fs::copy(&path, &copy)?;
        }
    }
    Ok(())
}
