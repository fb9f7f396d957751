//! farweb-tun: puts a farweb TCP endpoint behind a TUN device, to talk with a real kernel.
//!
//! `farweb-tun TALK.json` attaches to a TUN device and brings it up, says `ready` on its output, and talks until its
//! input ends and every connection is over. Then it prints a report as JSON. Between the endpoint and the kernel lie the
//! simulator's links, in real time: delay, rate, queue, losses. Linux only, as TUN devices of this kind are.
//!
//! The endpoint is [`farweb::tcp::Connection`], the same one that simulations run: nothing here knows a rule of TCP.

mod application;
mod capture;
mod clock;
mod codec;
mod content;
mod description;
mod endpoint;
mod host;
mod path;
mod talk;
mod tun;

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            // No caller is left to report it.
            let _ = writeln!(io::stderr(), "farweb-tun: {problem}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("name the JSON file that describes the talk")?;
    let text = fs::read_to_string(&path).map_err(|problem| format!("{}: {problem}", path.display()))?;
    let description =
        serde_json::from_str(&text).map_err(|problem| format!("{}: {problem}", path.display()))?;
    let mut output = io::stdout().lock();
    let report = talk::run(&description, io::stdin().lock(), || {
        writeln!(output, "ready")?;
        output.flush()
    })?;
    serde_json::to_writer(&mut output, &report)?;
    writeln!(output)?;
    Ok(())
}
