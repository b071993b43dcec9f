//! The answer: where it comes from, where it goes, and when there is none.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use nix::pty::openpty;
use nix::sys::signal::Signal;
use serde_json::json;

use super::{bare, launch, over, progress, seconds};
use crate::harness::mounts::own_mounts;
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, Script, T, lines};
use crate::harness::skipped::skipped;
use crate::harness::wait::{SOON, wait_until};

#[test]
fn the_answer_is_what_codex_wrote_to_its_file() {
    let scratch = Scratch::git();
    launch(&scratch, &Script::good().answer("from the file")).run().exits(0).stdout_is("");
    assert_eq!(scratch.text("r"), "from the file");
    assert_eq!(scratch.path("r").metadata().expect("the result").permissions().mode() & 0o7777, 0o600);
}

#[test]
fn without_that_file_it_is_the_last_message() {
    for script in [Script::good().no_answer(), Script::good().answer("")] {
        let scratch = Scratch::git();
        launch(&scratch, &script).run().exits(0);
        assert_eq!(scratch.text("r"), "ok");
    }
    let scratch = Scratch::git();
    let script =
        Script::new().lines([T, S, M]).message("the second\nhas \"two\" lines ✓").line(C).no_answer();
    launch(&scratch, &script).run().exits(0);
    assert_eq!(scratch.text("r"), "the second\nhas \"two\" lines ✓");
}

#[test]
fn a_part_of_the_last_message_is_not_the_answer() {
    let whole = "the first half, and the second half";
    for part in ["the first half", "t", "the first half, and the second hal"] {
        let scratch = Scratch::git();
        let script = Script::new().lines([T, S, M]).message(whole).line(C).answer(part);
        launch(&scratch, &script).run().exits(0).stdout_is("");
        assert_eq!(scratch.text("r"), whole);
    }
    // What is no beginning of it is what Codex wrote.
    let scratch = Scratch::git();
    launch(&scratch, &Script::new().lines([T, S]).message(whole).line(C).answer("half")).run().exits(0);
    assert_eq!(scratch.text("r"), "half");
}

#[test]
fn a_part_of_a_message_that_memory_does_not_hold_is_a_failure() {
    let text = "0123456789".repeat(150_000);
    for (length, status) in [(1 << 20, 74), (10, 74), (text.len(), 0)] {
        let scratch = Scratch::git();
        let script = Script::new().lines([T, S]).message(&text).line(C).answer(&text[..length]);
        let ran = launch(&scratch, &script).run();
        ran.exits(status);
        if status == 0 {
            assert!(scratch.text("r") == text);
        } else {
            progress(&scratch).failed(74, "io");
            ran.stderr_has("the answer file is not whole");
            assert!(!scratch.has("r"));
        }
    }
}

/// A folder of 16 KiB for temporary files, and a Codex that writes into it what fits.
#[test]
fn an_answer_that_the_temporary_folder_has_no_room_for_is_whole() {
    let Some(own_mounts) = own_mounts() else {
        skipped("no mounts may be made here");
        return;
    };
    let scratch = Scratch::git();
    let text = "0123456789".repeat(4_000);
    let write = "for word; do last=$before; before=$word; [ \"$last\" != -o ] || file=$word; done";
    scratch.write(
        "codex",
        format!("#!/bin/sh\n{write}\ncat > /dev/null\ncat stream\ncat answer > \"$file\"\nexit 0\n"),
    );
    scratch.write("answer", &text);
    let message = M.replace(r#""ok""#, &json!(text).to_string());
    scratch.write("stream", lines([T, S, &message, C]));
    let temporary = Scratch::new();
    let mount =
        format!("mount -t tmpfs -o size=16k none {} && exec \"$0\" \"$@\"", temporary.dir().display());
    let words = [own_mounts, &["sh", "-c", &mount]].concat();
    std::fs::set_permissions(scratch.path("codex"), std::fs::Permissions::from_mode(0o755))
        .expect("a program");
    let launcher = over("./codex", &scratch, &Script::new()).args(super::FILES).arg("--skip-auth-check");
    launcher.env("TMPDIR", temporary.dir()).under(&words).run().exits(0);
    assert!(scratch.text("r") == text, "{} bytes", scratch.text("r").len());
}

#[test]
fn without_a_result_file_it_goes_to_stdout_ending_in_lf() {
    let scratch = Scratch::git();
    bare(&scratch, &Script::good()).run().exits(0).stdout_is("ok\n");
    bare(&scratch, &Script::good().answer("has its LF\n")).run().exits(0).stdout_is("has its LF\n");
    let exact = "\u{1b}[2J\r\u{202e}exact";
    bare(&scratch, &Script::good().answer(exact)).run().exits(0).stdout_is(format!("{exact}\n"));
    bare(&scratch, &Script::new().lines([T, S, C])).run().exits(70).stdout_is("");
    bare(&scratch, &Script::good().exit(1)).run().exits(1).stdout_is("");
}

#[test]
fn on_a_terminal_it_drives_nothing() {
    let scratch = Scratch::git();
    let pty = openpty(None, None).expect("a terminal");
    let stdout = pty.slave.try_clone().expect("a descriptor");
    let answer = "\u{1b}]52;c;eA==\u{7}\u{9b}2J\u{202e}two\nlines";
    bare(&scratch, &Script::good().answer(answer)).stdout_to(stdout).run().exits(0);
    drop(pty.slave);
    let mut shown = Vec::new();
    // A terminal that nobody has open any more ends in an error (EIO).
    let _ = File::from(pty.master).read_to_end(&mut shown);
    let shown = String::from_utf8_lossy(&shown);
    assert_eq!(shown, "\\u{1b}]52;c;eA==\\u{7}\\u{9b}2J\\u{202e}two\r\nlines\r\n");
}

#[test]
fn an_answer_longer_than_memory_holds_is_whole() {
    let scratch = Scratch::git();
    let text = "0123456789".repeat(300_000);
    let script = Script::new().lines([T, S]).message(&text).line(C);
    launch(&scratch, &script).run().exits(0).peak_under_mib(16);
    assert!(scratch.text("r") == text);
}

#[test]
fn what_the_run_leaves_behind_does_not_delay_the_answer() {
    let scratch = Scratch::git();
    let left = json!({"pipes": "hold", "life": "sleep", "seconds": 600});
    launch(&scratch, &Script::good().spawn(left)).run().exits(0).took(seconds(0), seconds(20));
    progress(&scratch).completed();
    assert_eq!(scratch.text("r"), "ok");
}

#[test]
fn an_old_answer_does_not_pass_for_one_of_this_run() {
    for script in [
        Script::good().exit(1),
        Script::good().die("KILL"),
        Script::new().lines([T, S, C]),
        Script::new().lines([T, S, M]),
    ] {
        let scratch = Scratch::git();
        scratch.write("r", "an old answer");
        assert_ne!(launch(&scratch, &script).run().status.code(), Some(0));
        assert!(!scratch.has("r"));
    }
}

#[test]
fn an_old_answer_is_gone_while_the_run_goes_on() {
    let scratch = Scratch::git();
    scratch.write("r", "an old answer");
    let running = launch(&scratch, &Script::good().touch(&scratch.path("ready")).hang()).start();
    scratch.wait_for("ready");
    assert!(!scratch.has("r"));
    running.signal(Signal::SIGTERM);
    running.end().exits(143);
    assert!(!scratch.has("r"));
}

#[test]
fn a_good_answer_takes_the_place_of_an_old_one() {
    let scratch = Scratch::git();
    scratch.write("r", "an old answer that is longer than the new one");
    let old = scratch.path("r").metadata().expect("the old answer").ino();
    // Held open, so that its number cannot come back.
    let held = std::fs::File::open(scratch.path("r")).expect("the old answer");
    launch(&scratch, &Script::good()).run().exits(0);
    assert_eq!(scratch.text("r"), "ok");
    assert_ne!(scratch.path("r").metadata().expect("the new answer").ino(), old);
    drop(held);
}

#[test]
fn a_run_leaves_no_other_file() {
    let scratch = Scratch::git();
    let temporary = Scratch::new();
    launch(&scratch, &Script::good()).env("TMPDIR", temporary.dir()).run().exits(0);
    assert_eq!(scratch.names(), [".git", "p", "r", "script"]);
    assert!(temporary.names().is_empty(), "{:?}", temporary.names());

    launch(&scratch, &Script::good().hang())
        .env("TMPDIR", temporary.dir())
        .args(["--force", "--timeout-seconds", "0.3"])
        .run()
        .exits(124);
    assert_eq!(scratch.names(), [".git", "p", "script"]);
    assert!(temporary.names().is_empty(), "{:?}", temporary.names());
}

#[test]
fn the_answer_is_in_place_before_the_sentinel() {
    // Whoever follows the progress file may read the result as soon as the sentinel is there.
    for _ in 0..20 {
        let scratch = Scratch::git();
        let running = launch(&scratch, &Script::good()).start();
        wait_until("the sentinel is there", SOON, || {
            scratch.has("p") && scratch.text("p").contains("handoff.completed")
        });
        assert_eq!(scratch.text("r"), "ok");
        running.end().exits(0);
    }
}

#[test]
fn a_result_that_is_a_pipe_or_a_device_is_written_as_it_stands() {
    let scratch = Scratch::git();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let launcher = bare(&scratch, &Script::good()).args(["--result-file", "/dev/fd/1"]);
    launcher.stdout_to(writer).run().exits(0);
    assert_eq!(std::io::read_to_string(reader).expect("the answer"), "ok");

    bare(&scratch, &Script::good()).args(["--result-file", "/dev/null"]).run().exits(0).stdout_is("");
}

#[test]
fn with_a_schema_the_answer_has_to_be_one_json_value() {
    let scratch = Scratch::git();
    scratch.write("schema", "{}");
    for (answer, status) in [
        (r#"{"a":[1,2]}"#, 0),
        (" 42\n", 0),
        ("\"x\"", 0),
        ("ok", 70),
        ("{}{}", 70),
        ("{\"a\":", 70),
        ("```json\n{}\n```", 70),
    ] {
        let script = Script::new().lines([T, S]).message(answer).line(C);
        launch(&scratch, &script).args(["--force", "--output-schema", "schema"]).run().exits(status);
        if status == 0 {
            progress(&scratch).completed();
            assert_eq!(scratch.text("r"), answer);
        } else {
            progress(&scratch).failed(70, "no-result");
            assert!(!scratch.has("r"));
        }
    }
}

#[test]
fn decided_by_the_stream_the_status_plays_no_part() {
    for (script, status) in [
        (Script::good().exit(1), 0),
        (Script::new().lines([T, S, M]), 0),
        (Script::new().lines([T, S, M]).die("KILL"), 0),
        (Script::new().lines([T, S, M]).error("Reconnecting... 1/5").exit(1), 0),
        (Script::new().lines([T, S]).turn_failed("x").lines([S, M, C]), 0),
    ] {
        let scratch = Scratch::git();
        launch(&scratch, &script).args(["--decide", "stream"]).run().exits(status);
        progress(&scratch).completed();
        assert_eq!(scratch.text("r"), "ok");
    }
}

#[test]
fn decided_by_the_stream_a_failed_turn_as_last_word_fails() {
    let scratch = Scratch::git();
    let script = Script::new().lines([T, S, M]).turn_failed("x");
    let ran = launch(&scratch, &script).args(["--decide", "stream"]).run();
    assert_ne!(ran.status.code(), Some(0), "{ran}");
    assert!(!scratch.has("r"));

    let ran = launch(&scratch, &Script::new().lines([T, S, C])).args(["--force", "--decide", "stream"]).run();
    ran.exits(70);
    progress(&scratch).failed(70, "no-result");
}

#[test]
fn decided_by_the_stream_the_limit_and_a_cancel_still_come_first() {
    let scratch = Scratch::git();
    let script = Script::new().lines([T, S, M]).hang();
    launch(&scratch, &script).args(["--decide", "stream", "--timeout-seconds", "0.3"]).run().exits(124);
    progress(&scratch).failed_by("timeout");
    assert!(!scratch.has("r"));

    let script = Script::good().touch(&scratch.path("ready")).hang();
    let running = launch(&scratch, &script).args(["--force", "--decide", "stream"]).start();
    scratch.wait_for("ready");
    running.signal(Signal::SIGINT);
    running.end().exits(130);
    progress(&scratch).failed_by("cancelled");
    assert!(!scratch.has("r"));
}
