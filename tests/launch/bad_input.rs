//! What is refused before anything is started: one line on stderr, and no file made.

use std::ffi::OsStr;
use std::fs::{create_dir, hard_link};
use std::os::unix::fs::symlink;

use super::{FILES, bare, over};
use crate::harness::filter::{Filter, binary};
use crate::harness::progress::Progress;
use crate::harness::ran::Ran;
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, Script, T};

/// Asserts that a launch in `scratch` is refused with `status`.
#[track_caller]
pub(super) fn refused(scratch: &Scratch, status: i32, prepare: impl FnOnce(Filter) -> Filter) -> Ran {
    refused_over(binary("fake-codex"), scratch, status, prepare)
}

/// [`refused`], over another program.
#[track_caller]
fn refused_over(
    codex: impl AsRef<OsStr>,
    scratch: &Scratch,
    status: i32,
    prepare: impl FnOnce(Filter) -> Filter,
) -> Ran {
    let other = Scratch::new();
    let launcher = over(codex, scratch, &Script::good());
    let launcher = launcher.env("FAKE_CODEX_CALLS", other.path("calls")).env("TMPDIR", other.dir());
    let before = scratch.names();
    let ran = prepare(launcher).run();
    ran.exits(status).stdout_is("");
    let lines = ran.stderr_lines();
    assert!(lines.len() == 1 && lines[0].starts_with("codex-launch: "), "{ran}");
    assert_eq!(scratch.names(), before, "{ran}");
    let calls = if other.has("calls") { other.text("calls") } else { String::new() };
    assert!(calls.lines().all(|call| call == "login status" || call.ends_with("--help")), "{calls}");
    assert!(other.names().iter().all(|name| name == "calls"), "{:?}", other.names());
    ran
}

/// [`refused`], in a git worktree, for these arguments.
#[track_caller]
fn refused_args(status: i32, args: &[&str]) -> Ran {
    refused(&Scratch::git(), status, |launcher| launcher.args(args))
}

#[test]
fn wrong_usage_is_64() {
    for args in [
        &["--nope"][..],
        &["stray"],
        &["--timeout-seconds", "0"],
        &["--timeout-seconds", "-1"],
        &["--timeout-seconds", "soon"],
        &["--timeout-seconds", "nan"],
        &["--timeout-seconds"],
        &["--kill-grace", "-1"],
        &["--sandbox", "none"],
        &["--decide", "luck"],
        &["--resume", ""],
        &["--resume", "t1", "--resume-from", "f"],
        &["--progress-file", "-"],
        &["--progress-file", ""],
        &["--result-file", ""],
        &["--stderr-file", ""],
        &["--bypass", "--read-only"],
    ] {
        refused_args(64, args);
    }
}

#[test]
fn a_negative_time_is_no_unknown_option() {
    let scratch = Scratch::git();
    let ran = bare(&scratch, &Script::good()).args(["--timeout-seconds", "-1"]).run();
    ran.exits(64).stderr_has("above zero");
}

#[test]
fn the_nearest_right_thing_is_named() {
    for (args, instead) in [
        (&["prompt.md"][..], "the prompt is read from stdin, or from --prompt-file prompt.md"),
        (&["--progres-file", "p"], "did you mean '--progress-file'?"),
        (&["-m", "gpt-5.4"], "did you mean '--model'?"),
        (&["--yolo"], "did you mean '--bypass'?"),
    ] {
        refused_args(64, args).stderr_has(instead);
    }
}

#[test]
fn what_a_sign_in_run_cannot_honour_is_64() {
    for args in [
        &["--progress-file", "p"][..],
        &["--result-file", "r"],
        &["--output-schema", "s"],
        &["--image", "i"],
        &["--add-dir", "."],
        &["--prompt-file", "f"],
        &["--sandbox", "workspace-write"],
        &["--fork", "f"],
        &["--force"],
        &["--decide", "stream"],
    ] {
        refused_args(64, &[args, &["--verify-sign-in"]].concat());
    }
}

#[test]
fn an_image_that_codex_would_take_for_two_is_64() {
    let scratch = Scratch::git();
    scratch.write("a,b.png", "");
    let ran = refused(&scratch, 64, |launcher| launcher.args(["--image", "a,b.png"]));
    ran.stderr_has("--image a,b.png: codex takes the comma");
    // As for Codex, two names are two images; each has to be there.
    scratch.write("c.png", "");
    refused(&scratch, 66, |launcher| launcher.args(["--image", "c.png,d.png"])).stderr_has("--image d.png");
    scratch.write("d.png", "");
    bare(&scratch, &Script::good()).args(["--image", "c.png,d.png"]).run().exits(0);
}

/// The sentinel that a launch leaves in `p` which is refused with `status`.
#[track_caller]
fn sealed(scratch: &Scratch, status: i32, prepare: impl FnOnce(Filter) -> Filter) {
    let launcher = bare(scratch, &Script::good()).args(["--seal-refusal", "--progress-file", "p"]);
    prepare(launcher).run().exits(status);
    let progress = Progress::read(scratch.path("p"));
    progress.failed(status, "refused").events_are([]);
    assert_eq!(progress.elapsed_seconds(), 0);
}

#[test]
fn a_refused_launch_leaves_a_sentinel_where_it_is_asked_to() {
    sealed(&Scratch::git(), 69, |launcher| launcher.env("FAKE_CODEX_LOGIN", "fail"));
    sealed(&Scratch::git(), 69, |launcher| {
        launcher.args(["--ephemeral"]).env("FAKE_CODEX_HELP_WITHOUT", "--ephemeral")
    });
    sealed(&Scratch::git(), 66, |launcher| launcher.args(["--cd", "/"]));
    sealed(&Scratch::git(), 66, |launcher| launcher.args(["--result-file", "no-such-folder/r"]));
    sealed(&Scratch::git(), 64, |launcher| launcher.stdin(""));
    sealed(&Scratch::git(), 64, |launcher| launcher.args(["--resume", ""]));
    let scratch = Scratch::git();
    scratch.write("p", "{}\n");
    sealed(&scratch, 64, |launcher| launcher.arg("--force").stdin(""));
    let scratch = Scratch::git();
    bare(&scratch, &Script::good()).args(["--seal-refusal", "--progress-file", "p"]).run().exits(0);
    Progress::read(scratch.path("p")).completed();
}

#[test]
fn a_refused_launch_leaves_its_sentinel_in_a_pipe_too() {
    for progress in ["-", "/dev/fd/1"] {
        let scratch = Scratch::git();
        let launcher = bare(&scratch, &Script::good()).args(["--seal-refusal", "--progress-file", progress]);
        let ran = launcher.args(["--result-file", "r"]).env("FAKE_CODEX_LOGIN", "fail").run();
        ran.exits(69).stdout_is(
            "{\"type\":\"handoff.failed\",\"reason\":\"error\",\"rc\":69,\"elapsed_seconds\":0,\"cause\":\"refused\"}\n",
        );
    }
}

#[test]
fn a_refusal_is_not_written_over_what_is_there() {
    let scratch = Scratch::git();
    scratch.write("p", "{}\n");
    let launcher = || bare(&scratch, &Script::good()).args(["--seal-refusal", "--progress-file", "p"]);
    launcher().run().exits(66);
    assert_eq!(scratch.text("p"), "{}\n");
    // One that is an input as well is not started anew.
    launcher().args(["--force", "--prompt-file", "p"]).run().exits(64);
    assert_eq!(scratch.text("p"), "{}\n");
}

#[test]
fn a_refusal_is_not_written_while_another_launch_has_the_file() {
    let scratch = Scratch::git();
    let script = Script::new()
        .lines([T, S])
        .touch(&scratch.path("runs"))
        .await_file(&scratch.path("go"))
        .lines([M, C]);
    let running = bare(&scratch, &script).args(["--progress-file", "p"]).start();
    scratch.wait_for("runs");
    let second = bare(&scratch, &script).args(["--seal-refusal", "--progress-file", "p", "--force"]);
    second.run().exits(66).stderr_has("another launch is writing it");
    scratch.write("go", "");
    running.end().exits(0);
    Progress::read(scratch.path("p")).completed().events_are([T, S, M, C]);
}

#[test]
fn an_empty_prompt_is_64() {
    for prompt in [&b""[..], b"\n", b" \t\r\n\n"] {
        refused(&Scratch::git(), 64, |launcher| {
            launcher.args(["--progress-file", "p", "--result-file", "r", "--stderr-file", "e"]).stdin(prompt)
        });
    }
    let scratch = Scratch::git();
    scratch.write("empty", "");
    refused(&scratch, 64, |launcher| launcher.args(["--prompt-file", "empty"]));
}

#[test]
fn the_same_path_twice_is_64() {
    for args in [
        ["--progress-file", "x", "--result-file", "x"],
        ["--progress-file", "x", "--stderr-file", "x"],
        ["--result-file", "x", "--stderr-file", "x"],
        ["--progress-file", "x", "--session-file", "x"],
        ["--progress-file", "x", "--result-file", "./x"],
        ["--progress-file", "x", "--result-file", ".git/../x"],
    ] {
        refused_args(64, &args);
    }
}

#[test]
fn the_same_file_by_two_names_is_64() {
    let scratch = Scratch::git();
    scratch.write("a", "");
    hard_link(scratch.path("a"), scratch.path("b")).expect("a link");
    refused(&scratch, 64, |launcher| launcher.args(["--progress-file", "a", "--stderr-file", "b"]));
    symlink(".", scratch.path("here")).expect("a link");
    refused(&scratch, 64, |launcher| launcher.args(["--progress-file", "new", "--result-file", "here/new"]));
}

#[test]
fn outside_a_git_worktree_is_66() {
    // The root is surely outside. A temporary folder may not be: a Codex that is cancelled can leave a `.git` there.
    let scratch = Scratch::git();
    refused(&scratch, 66, |launcher| launcher.args(["--cd", "/", "--progress-file", "p"]));
    refused(&scratch, 66, |launcher| launcher.args(["--cd", "/", "--bypass", "--progress-file", "p"]));
    refused(&scratch, 66, |launcher| launcher.args(["--cd", "no-such-folder"]));
}

#[test]
fn a_git_worktree_is_seen_from_within_or_not_asked_for() {
    let scratch = Scratch::git();
    create_dir(scratch.path("sub")).expect("a folder");
    bare(&scratch, &Script::good()).args(["--cd", "sub"]).run().exits(0);
    bare(&scratch, &Script::good()).dir(scratch.path("sub")).run().exits(0);
    // In a linked worktree or a submodule `.git` is a file.
    let linked = Scratch::new();
    linked.write(".git", "gitdir: /elsewhere\n");
    bare(&linked, &Script::good()).run().exits(0);
    let outside = Scratch::new();
    bare(&outside, &Script::good()).arg("--skip-git-repo-check").run().exits(0);
    bare(&outside, &Script::good()).args(["--bypass", "--skip-git-repo-check"]).run().exits(0);
}

#[test]
fn an_output_that_cannot_be_created_is_66() {
    for option in ["--progress-file", "--result-file", "--stderr-file", "--session-file"] {
        refused_args(66, &[option, "no-such-folder/x"]);
        refused_args(66, &[option, ".git"]);
        refused_args(66, &[option, "script/x"]);
    }
    // One that can be created is not, when another cannot be.
    refused_args(66, &["--progress-file", "p", "--result-file", "r", "--stderr-file", "no-such-folder/x"]);
}

#[test]
fn a_progress_file_that_is_not_empty_is_66() {
    let scratch = Scratch::git();
    scratch.write("p", "{}\n");
    scratch.write("r", "an old answer");
    refused(&scratch, 66, |launcher| launcher.args(FILES));
    assert_eq!((scratch.text("p"), scratch.text("r")), ("{}\n".to_owned(), "an old answer".to_owned()));
}

#[test]
fn an_input_that_cannot_be_read_is_66() {
    for option in ["--prompt-file", "--system-file", "--transcript", "--resume-from"] {
        refused_args(66, &[option, "no-such-file"]);
    }
}

#[test]
fn a_transcript_that_breaks_its_rules_is_65() {
    let scratch = Scratch::git();
    scratch.write("turns", "{\"role\":\"user\",\"text\":\"Hi\"}\n{\n");
    let ran = refused(&scratch, 65, |launcher| launcher.args(["--transcript", "turns"]));
    ran.stderr_has("--transcript turns: line 2: is not JSON");
}

#[test]
fn a_missing_codex_is_69() {
    let missing = "/no/such/codex";
    refused_over(missing, &Scratch::git(), 69, |launcher| launcher.args(FILES)).stderr_has(missing);
    let no_path = |launcher: Filter| launcher.args(FILES).env("PATH", "/no/such/folder");
    refused_over("codex", &Scratch::git(), 69, no_path);
}

#[test]
fn a_codex_that_is_not_signed_in_is_69() {
    let scratch = Scratch::git();
    let ran = refused(&scratch, 69, |launcher| launcher.args(FILES).env("FAKE_CODEX_LOGIN", "fail"));
    ran.stderr_has("login");
}

#[test]
fn a_codex_that_is_too_old_is_69() {
    let scratch = Scratch::git();
    scratch.write("schema", "{}");
    scratch.write("image", "");
    for args in [
        &["--ephemeral"][..],
        &["--ignore-user-config"],
        &["--output-schema", "schema"],
        &["--image", "image"],
        &["--add-dir", "."],
    ] {
        let ran = refused(&scratch, 69, |launcher| {
            launcher.args(args).args(["--progress-file", "p"]).env("FAKE_CODEX_HELP_WITHOUT", args[0])
        });
        ran.stderr_has(args[0]);
    }
}

#[test]
fn a_codex_that_cannot_be_executed_is_126() {
    let scratch = Scratch::git();
    scratch.write("codex", "#!/bin/sh\n");
    refused_over("./codex", &scratch, 126, |launcher| launcher.args(FILES));
}

#[test]
fn messages_cannot_drive_a_terminal() {
    let ran = refused_args(66, &["--progress-file", "no\u{1b}[2J\u{202e}/x"]);
    assert!(!ran.stderr_text().contains(['\u{1b}', '\u{202e}']), "{ran}");
}
