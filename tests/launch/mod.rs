//! `codex-launch`, by what it is asked to get right.

mod answer;
mod bad_input;
mod company;
mod ending;
mod environment;
mod files;
mod floods;
mod guardian;
mod keys;
mod leftovers;
mod lines;
mod lingering;
mod noise;
mod options;
mod others;
mod output_errors;
mod output_paths;
mod planted;
mod portable;
mod preexisting;
mod probes;
mod prompt;
mod random;
mod resume;
mod sharing;
mod start;
mod stopping;
mod stuck;
mod surroundings;
mod terminal;
mod tree;
mod unread;

use std::ffi::OsStr;
use std::process::Command;

use crate::harness::filter::{Filter, binary, filter};
use crate::harness::progress::Progress;
use crate::harness::ran::Ran;
use crate::harness::scratch::Scratch;
use crate::harness::script::Script;
use crate::harness::wait::seconds;

/// What stands on stdin where a test says nothing else.
const PROMPT: &str = "do it";

/// The files that most tests ask for.
const FILES: [&str; 4] = ["--progress-file", "p", "--result-file", "r"];

/// The launcher in `scratch`, a git worktree, over `fake-codex` with `script`; no file is asked for.
fn bare(scratch: &Scratch, script: &Script) -> Filter {
    over(binary("fake-codex"), scratch, script)
}

/// [`bare`], over another program.
fn over(codex: impl AsRef<OsStr>, scratch: &Scratch, script: &Script) -> Filter {
    filter("codex-launch")
        .arg("--codex")
        .arg(codex)
        .env("FAKE_CODEX_SCRIPT", script.write_to(scratch))
        .dir(scratch.dir())
        .stdin(PROMPT)
}

/// [`bare`], with [`FILES`].
fn launch(scratch: &Scratch, script: &Script) -> Filter {
    bare(scratch, script).args(FILES)
}

/// How a run of `script` ended: what the launcher said, and the progress file.
#[track_caller]
fn run(script: &Script) -> (Ran, Progress) {
    let scratch = Scratch::git();
    let ran = launch(&scratch, script).run();
    (ran, progress(&scratch))
}

/// The finished progress file `p`.
#[track_caller]
fn progress(scratch: &Scratch) -> Progress {
    Progress::read(scratch.path("p"))
}

/// Makes the program `name` of `name.c`, both in `scratch`.
#[track_caller]
fn compile(scratch: &Scratch, name: &str) {
    let args = ["-pthread", "-o", name, &format!("{name}.c")];
    let made = Command::new("cc").args(args).current_dir(scratch.dir()).status().expect("a C compiler");
    assert!(made.success());
}
