//! Modules stand in layers: a `use` points to a module that stands before its own in the list of `lib.rs`.

use std::fs;
use std::path::{Path, PathBuf};

/// Modules, lowest first, as the documentation of the crate and `docs/architecture.md` list them.
const LAYERS: [&str; 24] = [
    "units", "id", "rng", "schema", "engine", "net", "tcp", "http", "workload", "cache", "record", "session",
    "conn", "observe", "context", "client", "pool", "node", "scenario", "sweep", "explain", "load", "world",
    "page",
];

/// The source files at `path` without tests, which may use anything.
fn sources(path: PathBuf) -> Vec<PathBuf> {
    let is_test = path.file_stem().is_some_and(|name| name.to_string_lossy().ends_with("tests"));
    match fs::read_dir(&path) {
        _ if is_test => Vec::new(),
        Ok(entries) => entries.flat_map(|entry| sources(entry.expect("an entry").path())).collect(),
        Err(_) => vec![path],
    }
}

/// The modules that a source file names, unit tests left out.
fn used(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).expect("a source file");
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let module = |part: &str| part.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
    code.split("crate::").skip(1).map(module).collect()
}

#[test]
fn a_use_points_to_a_lower_module() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut seen = 0;
    for (layer, module) in LAYERS.iter().enumerate() {
        let folder = root.join(module);
        let place = if folder.is_dir() { folder } else { folder.with_extension("rs") };
        for file in sources(place) {
            for other in used(&file) {
                let Some(other_layer) = LAYERS.iter().position(|known| *known == other) else {
                    continue;
                };
                seen += 1;
                assert!(other_layer <= layer, "{} uses {other}, which stands above {module}", file.display());
                let builds = *module != "world" || file.ends_with("build.rs");
                assert!(builds || other != "scenario", "{} names the scenario", file.display());
            }
        }
    }
    assert!(seen > 300, "only {seen} uses were found");
}
