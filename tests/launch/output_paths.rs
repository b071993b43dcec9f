//! What can stand where a file of the run should be, and what can be in it.

use std::fs::OpenOptions;
use std::os::unix::fs::symlink;
use std::path::Path;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::json;

use super::bad_input::refused;
use super::{FILES, bare, launch, progress, seconds};
use crate::harness::mounts::own_mounts;
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, Script, T, lines};
use crate::harness::skipped::skipped;
use crate::harness::wait::{SOON, wait_until};

/// A good run in whose midst `place` puts something at the path that Codex is to write its answer to.
#[track_caller]
fn with_something_at_the_answer(place: impl FnOnce(&Path)) {
    let scratch = Scratch::git();
    let script = Script::new().portrait(&scratch.path("portrait")).lines([T, S, M, C]).no_answer();
    let running = launch(&scratch, &script.await_file(&scratch.path("go"))).start();
    scratch.wait_for("portrait");
    let argv: Vec<String> =
        serde_json::from_value(scratch.json("portrait")["argv"].clone()).expect("arguments");
    let at = argv.iter().position(|word| word == "-o" || word == "--output-last-message").expect("-o");
    place(Path::new(&argv[at + 1]));
    scratch.write("go", "");
    running.end().exits(0).took(seconds(0), seconds(30)).peak_under_mib(16);
    progress(&scratch).completed().events_are([T, S, M, C]);
    assert_eq!(scratch.text("r"), "ok");
}

#[test]
fn an_answer_that_is_a_pipe_is_none() {
    with_something_at_the_answer(|path| mkfifo(path, Mode::S_IRWXU).expect("a named pipe"));
}

#[test]
fn an_answer_that_never_ends_is_none() {
    with_something_at_the_answer(|path| symlink("/dev/zero", path).expect("a link"));
}

#[test]
fn a_result_that_is_a_name_of_stdout_goes_there() {
    for (name, before) in [("out", ""), ("log", "earlier\n")] {
        for stdout in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
            let scratch = Scratch::git();
            let out = scratch.write(name, before);
            let out = OpenOptions::new().append(true).open(out).expect("a file");
            let launcher =
                bare(&scratch, &Script::good()).args(["--progress-file", "p", "--result-file", stdout]);
            launcher.stdout_to(out).run().exits(0);
            assert_eq!(scratch.text(name), format!("{before}ok"));
            progress(&scratch).completed();
        }
    }
}

#[test]
fn a_descriptor_is_written_where_it_stands() {
    let scratch = Scratch::git();
    scratch.write("log", "earlier\n");
    let script = Script::new().stderr("said\n").append(&Script::good());
    let launcher = launch(&scratch, &script).args(["--stderr-file", "/dev/fd/3"]);
    launcher.under(&["sh", "-c", r#"exec "$0" "$@" 3>> log"#]).run().exits(0);
    assert_eq!(scratch.text("log"), "earlier\nsaid\n");
}

#[test]
fn a_descriptor_that_the_caller_has_not_opened_is_66() {
    for option in ["--progress-file", "--result-file", "--stderr-file", "--session-file"] {
        for number in 3..9 {
            let scratch = Scratch::git();
            let launcher = bare(&scratch, &Script::good()).args([option, &format!("/dev/fd/{number}")]);
            let closed = format!(r#"exec "$0" "$@" {number}<&-"#);
            let ran = launcher.under(&["bash", "-c", &closed]).run();
            ran.exits(66).stderr_has("bad file descriptor");
        }
    }
}

#[test]
fn a_descriptor_that_can_only_be_read_is_66() {
    for option in ["--progress-file", "--result-file", "--stderr-file", "--session-file"] {
        let scratch = Scratch::git();
        let launcher = bare(&scratch, &Script::good()).args([option, "/dev/fd/3"]);
        let ran = launcher.under(&["sh", "-c", r#"exec "$0" "$@" 3< script"#]).run();
        ran.exits(66).stderr_has("bad file descriptor");
    }
}

/// A good run of so many short lines that at no limit is there room for a sentinel, which is longer than any of them.
fn of_short_lines(scratch: &Scratch) -> (Script, String) {
    let short = lines((0..9000).map(|n| json!({"type": "x", "n": n}).to_string()));
    let script = Script::new().lines([T, S]).raw(&short).lines([M, C]).touch(&scratch.path("done"));
    (script, lines([T, S]) + &short)
}

/// The progress file `p`, which could not grow beyond `size`, is the beginning of `stream`, as far as there was room,
/// and then the sentinel, with at most `spare` bytes behind it; and the run went on to its answer.
#[track_caller]
fn is_full(scratch: &Scratch, size: usize, spare: usize, stream: &str) {
    let progress = progress(scratch);
    progress.failed(74, "io");
    let written = scratch.text("p");
    let events = written.strip_suffix(&(progress.sentinel.clone() + "\n")).expect("the sentinel");
    assert!(stream.starts_with(events), "not the beginning of the stream");
    assert!(written.len() <= size && written.len() > size - spare, "{} bytes", written.len());
    assert!(scratch.has("done"), "the run was not left in peace");
    assert_eq!(scratch.text("r"), "ok");
}

#[test]
fn a_full_file_system_has_room_for_the_sentinel() {
    let Some(own_mounts) = own_mounts() else {
        skipped("no file system can be mounted here");
        return;
    };
    let scratch = Scratch::git();
    std::fs::create_dir(scratch.path("small")).expect("a folder");
    let command =
        r#"mount -t tmpfs -o size=64k none small && { "$0" "$@"; status=$?; cp small/p p; exit $status; }"#;
    let (script, stream) = of_short_lines(&scratch);
    let launcher = bare(&scratch, &script).args(["--progress-file", "small/p", "--result-file", "r"]);
    let ran = launcher.under(&[own_mounts, &["sh", "-c", command]].concat()).run();
    ran.exits(74);
    assert_eq!(ran.stderr_text().matches("no space left on device").count(), 1, "{ran}");
    // What was kept for the last line is a little more than it needs.
    is_full(&scratch, 64 << 10, 600, &stream);
}

#[test]
fn a_file_at_its_limit_has_room_for_the_sentinel() {
    let scratch = Scratch::git();
    let (script, stream) = of_short_lines(&scratch);
    // The unit is 512 bytes.
    let command = r#"set -o posix; ulimit -f 8; exec "$0" "$@""#;
    let ran = launch(&scratch, &script).under(&["bash", "-c", command]).run();
    ran.exits(74);
    assert_eq!(ran.stderr_text().matches("file too large").count(), 1, "{ran}");
    is_full(&scratch, 8 * 512, 100, &stream);
}

#[test]
fn a_run_whose_last_event_is_given_up_for_the_sentinel_did_not_complete() {
    let scratch = Scratch::git();
    let limit = 2 * 512;
    let pad = |length: usize| format!(r#"{{"type":"{}"}}"#, "x".repeat(length));
    // All events fit, and ten bytes more.
    let rest = limit - 10 - lines([T, S, M, C, &pad(0)]).len();
    let script = Script::new().lines([T, S, &pad(rest), M, C]);
    let command = r#"set -o posix; ulimit -f 2; exec "$0" "$@""#;
    let ran = launch(&scratch, &script).under(&["bash", "-c", command]).run();
    ran.exits(74);
    assert_eq!(ran.stderr_text().matches("file too large").count(), 1, "{ran}");
    progress(&scratch).failed(74, "io").events_are([T, S, &pad(rest), M]);
    assert_eq!(scratch.text("r"), "ok");
}

#[test]
fn a_file_that_is_named_like_a_folder_is_66() {
    for option in ["--progress-file", "--result-file", "--stderr-file", "--session-file"] {
        refused(&Scratch::git(), 66, |launcher| launcher.args([option, "out/"]));
    }
    let scratch = Scratch::git();
    scratch.write("old", "an old answer");
    let args = ["--stderr-file", "e", "--result-file", "old", "--progress-file", "new/"];
    refused(&scratch, 66, |launcher| launcher.args(args));
    assert_eq!(scratch.text("old"), "an old answer");
}

#[test]
fn two_launchers_do_not_share_a_progress_file() {
    // Whether the first has written something yet or not, the second keeps its hands off, and of its own files.
    for (before, force) in [(&[][..], false), (&[], true), (&[T, S], true)] {
        let scratch = Scratch::git();
        let script = Script::new().lines(before.iter().copied()).touch(&scratch.path("ready"));
        let rest = [T, S, M, C].into_iter().skip(before.len());
        let running = launch(&scratch, &script.await_file(&scratch.path("go")).lines(rest)).start();
        scratch.wait_for("ready");
        let written = lines(before);
        wait_until("what was printed is there", SOON, || scratch.text("p") == written);

        scratch.write("r2", "an old answer");
        let other = Scratch::git();
        let second = bare(&other, &Script::good()).dir(scratch.dir()).args(["--progress-file", "p"]);
        let second = second.args(["--result-file", "r2", "--stderr-file", "e2"]);
        let ran = second.args(force.then_some("--force")).run();
        ran.exits(66).stderr_has("another launch is writing it");
        assert_eq!(ran.stderr_lines().len(), 1, "{ran}");
        assert!(!scratch.has("e2"));
        assert_eq!(scratch.text("r2"), "an old answer");
        assert_eq!(scratch.text("p"), written);

        scratch.write("go", "");
        running.end().exits(0);
        progress(&scratch).completed().events_are([T, S, M, C]);
        assert_eq!(scratch.text("r"), "ok");
    }
}

#[test]
fn an_earlier_file_with_an_id_that_is_none_is_65() {
    for id in ["", " ", "-", "--last", "a\0b"] {
        let scratch = Scratch::git();
        let started = json!({"type": "thread.started", "thread_id": id}).to_string();
        scratch.write("earlier", lines([started.as_str(), S]));
        refused(&scratch, 65, |launcher| launcher.args(FILES).args(["--resume-from", "earlier"]));
    }
}

#[test]
fn an_input_is_not_overwritten() {
    for option in ["--image", "--output-schema", "--prompt-file", "--system-file", "--resume-from"] {
        let scratch = Scratch::git();
        scratch.write("x", "{}");
        symlink("x", scratch.path("link")).expect("a link");
        for name in ["x", "./x", "link"] {
            refused(&scratch, 64, |launcher| launcher.args([option, "x", "--result-file", name]));
        }
        assert_eq!(scratch.text("x"), "{}");
    }
}

#[test]
fn an_answer_may_be_any_json_value() {
    // None of these is one for a reader that wants to hold the value.
    let deep = "[".repeat(1000) + &"]".repeat(1000);
    for answer in [r#"{"a":"\ud83d"}"#, r#"["\udc00\ud800"]"#, "1e400", "-1e999999", &deep] {
        let scratch = Scratch::git();
        scratch.write("schema", "{}");
        let script = Script::new().lines([T, S]).message(answer).line(C);
        launch(&scratch, &script).args(["--output-schema", "schema"]).run().exits(0);
        progress(&scratch).completed();
        assert_eq!(scratch.text("r"), answer);
    }
    let scratch = Scratch::git();
    refused(&scratch, 66, |launcher| launcher.args(["--output-schema", ".git"]));
}
