//! `scripts/watch-codex-wave.sh`, the name that users of the shell watcher type.

use std::os::unix::fs::symlink;
use std::path::Path;

use super::{DONE, FAILED, records, settled};
use crate::harness::filter::{binary, program};
use crate::harness::scratch::Scratch;
use crate::harness::script::lines;

fn script() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/watch-codex-wave.sh")
}

#[test]
fn the_script_takes_the_same_options_and_ends_with_the_same_status() {
    let scratch = Scratch::new();
    scratch.write("A1.progress.jsonl", lines([DONE]));
    scratch.write("A2.progress.jsonl", lines([FAILED]));
    symlink(binary("wave-watch"), scratch.path("wave-watch")).expect("a link");
    let path = format!("{}:{}", scratch.dir().display(), std::env::var("PATH").expect("a PATH"));
    let ran = program(&script())
        .args(["--agent", "A1", "1200", "A1.progress.jsonl", "--agent", "A2", "1200", "A2.progress.jsonl"])
        .args(["--digest-seconds", "300", "--no-sentinel-grace-seconds", "120", "--poll-seconds", "1"])
        .env("PATH", path)
        .dir(scratch.dir())
        .run();
    let expected = [settled("A1", 0, DONE, 1, 2), settled("A2", 0, FAILED, 2, 2)].concat();
    assert_eq!(records(&ran.exits(1).stdout), expected);
}

#[test]
fn without_the_program_it_says_so() {
    let scratch = Scratch::new();
    symlink("/bin/sh", scratch.path("sh")).expect("a link");
    let ran = program(Path::new("/bin/sh")).arg(script()).env("PATH", scratch.dir()).run();
    ran.exits(127).stdout_is("");
    let says =
        "watch-codex-wave.sh: wave-watch: not found; scripts/install puts it where cargo puts programs";
    assert_eq!(ran.stderr_lines(), [says]);
}
