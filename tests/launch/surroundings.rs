//! Odd surroundings to be started in.

use std::fs::File;
use std::io::Write;
use std::thread::{sleep, spawn};
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::json;

use super::{FILES, launch, over, progress, seconds};
use crate::harness::filter::{binary, filter};
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, Script, T};

#[test]
fn ends_of_children_are_seen_where_they_were_ignored() {
    // With SIGCHLD ignored the kernel buries children itself, and their status is lost.
    for (script, status) in
        [(Script::good(), 0), (Script::good().exit(3), 3), (Script::good().die("KILL"), 137)]
    {
        let scratch = Scratch::git();
        launch(&scratch, &script).under(&["sh", "-c", r#"trap '' CHLD; exec "$0" "$@""#]).run().exits(status);
        assert_eq!(scratch.has("r"), status == 0);
    }
}

#[test]
fn signals_work_where_they_were_blocked() {
    let scratch = Scratch::git();
    let outer = Scratch::new();
    let script = Script::new().lines([T, S]).touch(&scratch.path("ready")).hang().write_to(&scratch);
    let launcher =
        [binary("codex-launch"), "--codex".as_ref(), binary("fake-codex"), "--prompt-file".as_ref()];
    let mut argv = vec!["env".to_owned(), format!("FAKE_CODEX_SCRIPT={}", script.display())];
    argv.extend(launcher.map(|word| word.display().to_string()));
    argv.push(scratch.write("prompt", "do it").display().to_string());
    argv.extend(FILES.map(str::to_owned));
    // The kill grace is long, so the signals have to work in Codex too.
    argv.extend(["--kill-grace", "40"].map(str::to_owned));
    let blocked = ["INT", "TERM", "CHLD", "HUP", "QUIT"];
    let starter = Script::new().ignore(&blocked).step("exec", json!({"argv": argv})).write_to(&outer);
    let starter =
        filter("fake-codex").args(["exec", "-"]).env("FAKE_CODEX_SCRIPT", starter).dir(scratch.dir());
    let running = starter.start();
    scratch.wait_for("ready");
    running.signal(Signal::SIGTERM);
    running.end().exits(143).took(seconds(0), seconds(19));
    progress(&scratch).failed_by("cancelled").events_are([T, S]);
}

#[test]
fn without_a_folder_for_temporary_files_nothing_is_started() {
    let scratch = Scratch::git();
    let launcher = launch(&scratch, &Script::good()).env("TMPDIR", "/no/such/folder");
    let ran = launcher.env("FAKE_CODEX_CALLS", scratch.path("calls")).run();
    ran.exits(125).stderr_has("temporary folder");
    assert_eq!(ran.stderr_lines().len(), 1, "{ran}");
    assert!(!scratch.has("p") && !scratch.has("r"));
    assert!(!scratch.has("calls"));
}

#[test]
fn an_empty_tmpdir_is_one_that_is_not_set() {
    let scratch = Scratch::git();
    launch(&scratch, &Script::good()).env("TMPDIR", "").run().exits(0);
    progress(&scratch).completed();
    let dry = launch(&scratch, &Script::good()).env("TMPDIR", "").arg("--dry-run").run();
    let line = dry.exits(0).stdout_text();
    assert!(line.contains("\"/tmp/codex-launch-XXXXXX/last-message\""), "{line}");
}

#[test]
fn a_stdin_that_cannot_be_read_is_66() {
    let scratch = Scratch::git();
    let folder = File::open(scratch.dir()).expect("the folder");
    launch(&scratch, &Script::good()).stdin_from(folder).run().exits(66);
    assert!(!scratch.has("p"));
}

#[test]
fn the_limit_counts_from_the_start_of_codex() {
    let scratch = Scratch::git();
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    let launcher = launch(&scratch, &Script::good()).args(["--timeout-seconds", "1"]).stdin_from(reader);
    // Somebody who types for longer than the run may take.
    let typing = spawn(move || {
        sleep(Duration::from_millis(1500));
        writer.write_all(b"do it").expect("the prompt is read");
    });
    launcher.run().exits(0).took(Duration::from_millis(1500), seconds(30));
    typing.join().expect("the prompt");
    assert_eq!(progress(&scratch).completed().elapsed_seconds(), 0);
}

#[test]
fn what_needs_no_prompt_reads_none() {
    for option in ["--dry-run", "--verify-sign-in", "--help", "--version"] {
        let scratch = Scratch::git();
        let (reader, writer) = std::io::pipe().expect("a pipe");
        let launcher = over(binary("fake-codex"), &scratch, &Script::good()).arg(option);
        launcher.stdin_from(reader).run().exits(0);
        drop(writer);
    }
}

#[test]
fn an_almost_empty_environment_is_enough() {
    let scratch = Scratch::git();
    let script = Script::new().lines([T, S, M, C]);
    let launcher =
        launch(&scratch, &script).under(&["env", "-u", "HOME", "-u", "PATH", "-u", "LANG", "-u", "TMPDIR"]);
    launcher.run().exits(0);
    assert_eq!(scratch.text("r"), "ok");
}
