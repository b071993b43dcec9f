//! `jsonl-sentinel`, by what it is asked to get right.

mod check;
mod seal;
mod wait;

use crate::harness::filter::{Filter, filter};
use crate::harness::scratch::Scratch;

/// The sentinels of launchers.
const COMPLETED: &str = r#"{"type":"handoff.completed","elapsed_seconds":9,"output_tokens":1}"#;
const FAILED: &str = r#"{"type":"handoff.failed","reason":"timeout","elapsed_seconds":9}"#;

/// `jsonl-sentinel JOB` in `scratch`.
fn sentinel(scratch: &Scratch, job: &str) -> Filter {
    filter("jsonl-sentinel").arg(job).dir(scratch.dir())
}

#[test]
fn help_ends_with_the_exit_statuses() {
    let scratch = Scratch::new();
    for job in ["seal", "wait", "check", "help"] {
        let filter = sentinel(&scratch, job);
        let ran = if job == "help" { filter.run() } else { filter.arg("--help").run() };
        assert!(ran.exits(0).stdout_text().trim_end().ends_with("128+n  ended by signal n"), "{ran}");
    }
}

#[test]
fn wrong_usage_is_one_line() {
    let scratch = Scratch::new();
    for args in
        [&["wait"][..], &["check"], &["seal", "f"], &["wait", "--timeout-seconds", "0", "f"], &["open"]]
    {
        let ran = sentinel(&scratch, args[0]).args(&args[1..]).run();
        ran.exits(64).stdout_is("");
        assert_eq!(ran.stderr_lines().len(), 1, "{ran}");
    }
    filter("jsonl-sentinel").run().exits(64);
}

#[test]
fn a_file_that_is_not_named_is_said() {
    let scratch = Scratch::new();
    for job in ["wait", "check"] {
        for args in [&[""][..], &["f", ""], &["--", ""]] {
            let ran = sentinel(&scratch, job).args(args).run();
            ran.exits(64).stdout_is("");
            let says = "jsonl-sentinel: usage: FILE is empty: give the path of a progress file";
            assert_eq!(ran.stderr_lines(), [says], "{job} {args:?}");
        }
        let none = sentinel(&scratch, job).arg("--").run();
        none.exits(64).stdout_is("").stderr_has("required arguments were not provided: <FILE>...");
        // Behind -- a dash begins a name.
        scratch.write("-x", COMPLETED.to_owned() + "\n");
        sentinel(&scratch, job).args(["--", "-x"]).run().exits(0);
    }
}
