//! Writes a compiled binding with its JavaScript and types, and packed for a page: `bindgen FILE.wasm FOLDER`.

use std::env::args;
use std::error::Error;
use std::fs::File;
use std::path::Path;
use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let Ok([_, file, folder]) = <[String; 3]>::try_from(args().collect::<Vec<_>>()) else {
        eprintln!("usage: bindgen FILE.wasm FOLDER");
        return ExitCode::from(2);
    };
    match bind(Path::new(&file), Path::new(&folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bindgen: {error}");
            ExitCode::FAILURE
        }
    }
}

fn bind(file: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(file)
        .typescript(true)
        .remove_name_section(true)
        .remove_producers_section(true)
        .web(true)?
        .generate(folder)?;
    let name = file.file_stem().and_then(|stem| stem.to_str()).ok_or("the file has no name")?;
    let bound = folder.join(format!("{name}_bg.wasm"));
    let packed = File::create(folder.join(format!("{name}_bg.wasm.gz")))?;
    zopfli::compress(zopfli::Options::default(), zopfli::Format::Gzip, File::open(bound)?, packed)?;
    Ok(())
}
