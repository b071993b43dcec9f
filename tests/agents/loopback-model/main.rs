//! A scripted model on a loopback port, for running the real Codex CLI with no account and no network.
//!
//! ```text
//! loopback-model --scenario FILE [--port N] [--log FILE] [--until-eof]
//! ```
//!
//! It speaks the part of the Responses API that Codex uses, answers each `POST /v1/responses` with the next answer
//! of the scenario, and prints one line when it listens:
//!
//! ```text
//! ready http://127.0.0.1:PORT/v1
//! ```
//!
//! That address is what `base_url` of a `[model_providers.NAME]` in Codex's `config.toml` has to be. A scenario is
//! a JSON file of `answers`, one per request that Codex sends (a call of a tool is followed by one more request,
//! which carries the tool's output; a retry is a request as well):
//!
//! ```json
//! {
//!   "answers": [
//!     [{ "reasoning": "**Looking** around" }, { "command": "ls" }],
//!     [{ "message": "half of an" }, "cut"],
//!     { "http": { "status": 429, "body": { "error": { "message": "slow down" } } } },
//!     [{ "wait_ms": 50 }, { "message": "Two files." }, { "usage": { "input": 900, "output": 7 } }]
//!   ]
//! }
//! ```
//!
//! An answer is a list of steps, done from left to right; a single step may stand without its list. Steps that
//! send an item to Codex:
//!
//! | step | what Codex gets |
//! |---|---|
//! | `{"message": "TEXT"}` | a message of the assistant |
//! | `{"reasoning": "TEXT"}` | a reasoning summary |
//! | `{"command": "ls"}` | a shell command, as the shell tool that the request offers |
//! | `{"patch": "*** Begin Patch\n..."}` | a patch, as the patch tool that the request offers, else through the shell |
//! | `{"plan": [{"step": "Read", "status": "completed"}]}` | a plan |
//! | `{"search": "QUERY"}` | a finished web search, which no further request follows |
//! | `{"mcp": {"server": "S", "tool": "T", "arguments": {}}}` | a call of an MCP tool |
//! | `{"spawn_agent": {"message": "TEXT", "model": "M"}}` | a call of `spawn_agent` with these arguments |
//! | `{"item": {"type": "..."}}` | this very item |
//!
//! Steps about time and numbers:
//!
//! | step | what happens |
//! |---|---|
//! | `{"wait_ms": N}` | nothing for N ms |
//! | `"start"` | the HTTP head and `response.created` go out now, not with the first item |
//! | `{"usage": {"input": 100, "cached": 40, "output": 20, "reasoning": 5}}` | the numbers of this answer; these are the defaults, of each one left out too |
//! | `{"usage": null}` | this answer ends with no numbers |
//!
//! Steps that end an answer otherwise than well, and so come last:
//!
//! | step | what happens |
//! |---|---|
//! | `"cut"` | the connection is closed; before any item: with no byte of an answer |
//! | `"hang"` | nothing more, until Codex closes the connection |
//! | `{"fail": {"code": "context_length_exceeded", "message": "TEXT"}}` | `response.failed` |
//! | `{"http": {"status": 401, "body": {...}}}` | that status with that body (text or JSON, or none), after nothing but `wait_ms` |
//!
//! A request beyond the last answer gets HTTP 500 that says so. With `"repeat": "last"` beside `answers` the last
//! answer is given again and again, with `"repeat": "all"` the script starts over.
//!
//! `--log FILE` appends one JSON line per request, before it is answered, so that it is there once Codex has ended;
//! see the module `request` for its fields. `--until-eof` ends the server when its standard input ends, so that a
//! test that dies takes it along.
//!
//! | status | meaning |
//! |---|---|
//! | 0 | standard input ended |
//! | 64 | wrong usage |
//! | 65 | the scenario breaks the rules above |
//! | 66 | the scenario cannot be read, the log cannot be created |
//! | 74 | the port cannot be had, writing failed later on |
#![allow(clippy::print_stderr, clippy::print_stdout)]

mod answer;
mod http;
mod request;
mod scenario;
mod server;

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

/// Answers the real Codex CLI from a script, on a loopback port.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// The answers, a JSON file
    #[arg(long, value_name = "FILE")]
    scenario: PathBuf,
    /// The port to listen on; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// Append one JSON line per request to FILE
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// End when standard input ends
    #[arg(long)]
    until_eof: bool,
}

/// Why the server ended: the exit status and the line to say.
struct Fault(u8, String);

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Help and version are answers, not faults, though clap hands them over the same way.
            let status = if error.use_stderr() { 64 } else { 0 };
            return error.print().map_or(ExitCode::from(74), |()| ExitCode::from(status));
        }
    };
    match run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Fault(status, why)) => {
            eprintln!("loopback-model: {why}");
            ExitCode::from(status)
        }
    }
}

/// Serves until standard input ends, or for ever.
fn run(args: Args) -> Result<(), Fault> {
    let name = args.scenario.display();
    let text = std::fs::read(&args.scenario).map_err(|error| Fault(66, format!("{name}: {error}")))?;
    let scenario = scenario::parse(&text).map_err(|error| Fault(65, format!("{name}: {error}")))?;
    let log = args.log.map(|path| {
        let log = std::fs::File::options().create(true).append(true).open(&path);
        log.map_err(|error| Fault(66, format!("{}: {error}", path.display())))
    });
    let log = log.transpose()?;

    let cannot_listen = |error| Fault(74, format!("127.0.0.1:{}: {error}", args.port));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).map_err(cannot_listen)?;
    let address = listener.local_addr().map_err(cannot_listen)?;
    writeln!(io::stdout(), "ready http://{address}/v1")
        .map_err(|error| Fault(74, format!("stdout: {error}")))?;

    let (ended, end) = std::sync::mpsc::channel();
    if args.until_eof {
        let ended = ended.clone();
        std::thread::spawn(move || {
            let mut stdin = io::stdin().lock();
            let mut junk = [0; 256];
            while matches!(stdin.read(&mut junk), Ok(1..)) {}
            // The receiver lives as long as the process, which is about to end.
            let _ = ended.send(Ok(()));
        });
    }
    server::Server::new(scenario, log).start(listener, ended);
    // `start` keeps a sender in its accepting thread, so this waits for one of the two ends.
    let ending = end.recv().unwrap_or(Ok(()));
    ending.map_err(|error: io::Error| Fault(74, error.to_string()))
}
