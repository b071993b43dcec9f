//! `fake-codex` does what its steps say.

mod calls;
mod descendants;
mod ends;
mod streams;

use nix::unistd::Pid;

use crate::harness::filter::{Filter, filter};
use crate::harness::ran::Ran;
use crate::harness::scratch::Scratch;
use crate::harness::script::Script;

fn exec(scratch: &Scratch, script: &Script) -> Filter {
    let script = script.write_to(scratch);
    filter("fake-codex")
        .args(["exec", "--json", "-o"])
        .arg(scratch.path("answer"))
        .arg("-")
        .env("FAKE_CODEX_SCRIPT", script)
}

fn run(script: &Script) -> Ran {
    exec(&Scratch::new(), script).run()
}

/// A field of /proc/PID/status.
fn field(pid: Pid, name: &str) -> String {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a status");
    status.lines().find_map(|line| line.strip_prefix(name)).expect("a field").trim().to_owned()
}
