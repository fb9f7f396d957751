//! Browser binding of farweb: thin, no model of its own. `studio/` is the page that asks it.
//!
//! Trees go over as JSON text, columns of results as arrays of doubles. A problem of a scenario is part of an answer. An error
//! of a request table is thrown. A panic is a bug of the core: its message goes to `farwebPanicked`, which the page defines, and
//! the instance is dead then.

pub mod run;
pub mod scenario;
pub mod tables;

use std::panic;

use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = farwebPanicked)]
    fn panicked(message: &str);
}

#[wasm_bindgen(start)]
fn start() {
    panic::set_hook(Box::new(|info| panicked(&info.to_string())));
}

/// Version of farweb.
#[wasm_bindgen]
#[must_use]
pub fn version() -> String {
    farweb::VERSION.to_owned()
}
