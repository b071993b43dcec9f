//! One file has one writer: not two outputs of one launch, not two launches, however the file is named.

use std::fs;
use std::path::Path;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::json;

use super::{bare, launch, progress};
use crate::harness::ran::Ran;
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, Script, T};
use crate::harness::skipped::skipped;
use crate::harness::wait::{SOON, wait_until};

/// A launch with these arguments and redirections.
fn redirected(scratch: &Scratch, args: &[&str], redirections: &str) -> Ran {
    let launcher = bare(scratch, &Script::good()).args(args).env("FAKE_CODEX_CALLS", scratch.path("calls"));
    launcher.under(&["sh", "-c", &format!(r#"exec "$0" "$@" {redirections}"#)]).run()
}

#[test]
fn outputs_that_are_one_file_are_refused_however_they_are_named() {
    for (args, redirections) in [
        (&["--progress-file", "-", "--result-file", "/dev/stdout"][..], ""),
        (&["--progress-file", "-", "--result-file", "/dev/fd/1"], ""),
        (&["--progress-file", "-", "--result-file", "r", "--stderr-file", "/dev/stdout"], ""),
        (&["--progress-file", "-", "--result-file", "f"], "> f"),
        (&["--progress-file", "-", "--result-file", "./f"], ">> f"),
        (&["--progress-file", "f"], "> f"),
        (&["--stderr-file", "f"], "> f"),
        (&["--session-file", "f"], "> f"),
        (&["--progress-file", "f", "--result-file", "r"], "2> f"),
        (&["--stderr-file", "f"], "2> f"),
        (&["--stderr-file", "f"], "2>> f"),
        (&["--result-file", "f"], "2> f"),
        (&["--progress-file", "-", "--result-file", "r"], "> f 2>&1"),
        (&["--progress-file", "/dev/fd/3", "--result-file", "f"], "3> f"),
        (&["--progress-file", "/dev/fd/3", "--result-file", "/dev/fd/4"], "3> f 4>> f"),
        (&["--result-file", "prompt"], "< prompt"),
    ] {
        let scratch = Scratch::git();
        scratch.write("prompt", "do it");
        let ran = redirected(&scratch, args, redirections);
        ran.exits(66);
        assert!(!scratch.has("calls"), "{args:?} {redirections}");
        let log = if scratch.has("f") { scratch.text("f") } else { String::new() };
        let said = ran.stderr_text().to_owned() + &log;
        assert!(said.contains("the same file as"), "{args:?} {redirections}: {said}");
    }
}

#[test]
fn what_may_be_shared_is_shared() {
    for (args, redirections) in [
        (&[][..], "> f 2>&1"),
        (&["--stderr-file", "/dev/stderr"], "2> f"),
        (&["--result-file", "/dev/stdout"], "> f"),
        (&["--progress-file", "/dev/null", "--stderr-file", "/dev/null", "--session-file", "/dev/null"], ""),
        (&["--progress-file", "/dev/null"], "> /dev/null 2>&1"),
    ] {
        redirected(&Scratch::git(), args, redirections).exits(0);
    }
}

#[test]
fn a_file_of_one_launch_is_none_of_another() {
    for (first, second) in [
        ("--result-file f", "--result-file f"),
        ("--result-file f", "--result-file .git/../f"),
        ("--session-file f", "--session-file f"),
        ("--stderr-file f", "--stderr-file f"),
        ("--result-file f", "--session-file f"),
        ("--result-file f", "--progress-file f"),
        ("--progress-file - --result-file r >> f", "--progress-file - --result-file r2 >> f"),
        ("--progress-file - --result-file r >> f", "--progress-file f --force"),
        ("--progress-file f", "--progress-file /dev/fd/3 --result-file r2 3>> f"),
        ("--stderr-file /dev/fd/3 3>> f", "--result-file /dev/fd/3 3>> f"),
    ] {
        let scratch = Scratch::git();
        let script =
            Script::new().lines([T, S]).touch(&scratch.path("ready")).await_file(&scratch.path("go"));
        let shell = |words: &str| format!(r#"exec "$0" "$@" {words}"#);
        let launcher = bare(&scratch, &script.lines([M, C]));
        let running = launcher.under(&["sh", "-c", &shell(first)]).start();
        scratch.wait_for("ready");
        let other = Scratch::git();
        let calls = other.path("calls");
        let launcher = bare(&other, &Script::good()).dir(scratch.dir()).env("FAKE_CODEX_CALLS", calls);
        let ran = launcher.under(&["sh", "-c", &shell(second)]).run();
        ran.exits(66).stderr_has("another launch is writing it");
        assert!(!other.has("calls"), "{first} / {second}");
        scratch.write("go", "");
        running.end().exits(0);
        // Nothing is left of the lock.
        let names = [".git", "f", "go", "r", "ready", "script"];
        assert!(scratch.names().iter().all(|name| names.contains(&name.as_str())), "{:?}", scratch.names());
    }
}

#[test]
fn a_file_is_free_again_when_its_launch_is_over() {
    for words in ["--result-file f", "--progress-file - --result-file r > f"] {
        let scratch = Scratch::git();
        for _ in 0..2 {
            let launcher = bare(&scratch, &Script::good());
            launcher.under(&["sh", "-c", &format!(r#"exec "$0" "$@" {words}"#)]).run().exits(0);
        }
    }
    // Also for two in one redirection.
    let scratch = Scratch::git();
    let twice = r#"{ "$0" "$@" && "$0" "$@"; } > f"#;
    scratch.write("prompt", "do it");
    let launcher = bare(&scratch, &Script::good()).args(["--progress-file", "-", "--result-file", "r"]);
    launcher.args(["--prompt-file", "prompt"]).under(&["sh", "-c", twice]).run().exits(0);
    assert_eq!(scratch.text("f").matches("handoff.completed").count(), 2);
}

fn threads_of(pid: nix::unistd::Pid) -> usize {
    fs::read_dir(Path::new("/proc").join(pid.to_string()).join("task")).expect("its threads").count()
}

#[test]
fn ids_that_nobody_reads_cost_no_thread_each() {
    let scratch = Scratch::git();
    mkfifo(&scratch.path("pipe"), Mode::S_IRWXU).expect("a named pipe");
    let started = |n: u32| json!({"type": "thread.started", "thread_id": format!("t{n}")}).to_string();
    let ids: Vec<String> = (0..2000).map(started).collect();
    let script = Script::new().lines(ids.iter().map(String::as_str)).lines([S, M]);
    let script = script.await_file(&scratch.path("go")).line(C);
    let running = launch(&scratch, &script).args(["--session-file", "pipe"]).start();
    wait_until("all ids are read", SOON, || scratch.has("p") && scratch.text("p").contains("agent_message"));
    let threads = threads_of(running.runner());
    assert!(threads < 20, "{threads} threads");
    scratch.write("go", "");
    running.end().exits(74).stderr_has("session file: write: its reader takes nothing");
    progress(&scratch).failed(74, "io");
}

#[test]
fn the_null_device_is_not_needed() {
    let Some(own_mounts) = crate::harness::mounts::own_mounts() else {
        skipped("no mounts may be made here");
        return;
    };
    let scratch = Scratch::git();
    fs::create_dir(scratch.path("dev")).expect("a folder");
    let command = r#"mount -t tmpfs none /dev && mkdir /dev/shm && exec "$0" "$@""#;
    launch(&scratch, &Script::good()).under(&[own_mounts, &["sh", "-c", command]].concat()).run().exits(0);
    progress(&scratch).completed();
}
