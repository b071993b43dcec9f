//! The words that tests speak, put to the test themselves.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use nix::sys::signal::Signal;
use nix::unistd::Pid;
use serde_json::json;

use crate::harness::filter::{Filter, filter, program};
use crate::harness::progress::Progress;
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, Script, T};
use crate::harness::sweep::is_alive;
use crate::harness::wait::{SOON, wait_until};

fn fake(scratch: &Scratch, script: &Script) -> Filter {
    filter("fake-codex").args(["exec", "-"]).env("FAKE_CODEX_SCRIPT", script.write_to(scratch))
}

/// The message of the panic that `act` ends in.
fn panic_of(act: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(act)).expect_err("a panic");
    payload.downcast_ref::<String>().expect("a message").clone()
}

#[test]
fn the_sweep_finds_and_kills_a_sleep_in_a_session_of_its_own() {
    let scratch = Scratch::new();
    let ready = scratch.path("pid");
    let command =
        format!("setsid sh -c 'echo -n $$ > {0}.part; mv {0}.part {0}; exec sleep 333' &", ready.display());
    // The shell may end before the other one has said who it is.
    let command = format!("{command} while [ ! -e {} ]; do sleep 0.01; done", ready.display());
    let message = panic_of(|| drop(fake(&scratch, &Script::new().sh(&command)).run()));
    let pid = scratch.pid("pid");
    // It may not have become the sleep yet.
    assert!(message.contains(&format!("\n    {pid}: ")), "{message}");
    assert!(!is_alive(pid));
}

#[test]
fn the_sweep_finds_an_orphan_that_holds_the_pipes() {
    let scratch = Scratch::new();
    let orphan = json!({"session": "own", "orphan": true, "pipes": "hold", "ignore": ["TERM"], "life": "sleep",
        "seconds": 300, "pid": scratch.path("pid")});
    let message = panic_of(|| drop(fake(&scratch, &Script::new().spawn(orphan)).run()));
    assert!(message.contains("a-descendant"), "{message}");
    assert!(!is_alive(scratch.pid("pid")));
}

#[test]
fn a_zombie_is_not_left_over() {
    let scratch = Scratch::new();
    fake(&scratch, &Script::new().step("zombie", json!({})).exit(3)).run().exits(3);
}

#[test]
fn the_limit_kills_all_and_tells_what_was_printed() {
    let scratch = Scratch::new();
    let child = json!({"life": "sleep", "seconds": 300, "pid": scratch.path("pid")});
    let script = Script::new().line(T).stderr("so far").spawn(child).hang();
    let message = panic_of(|| drop(fake(&scratch, &script).limit(Duration::from_secs(1)).run()));
    for part in ["not ended within 1s", T, "so far", "a-descendant"] {
        assert!(message.contains(part), "{part} in {message}");
    }
    assert!(!is_alive(scratch.pid("pid")));
}

#[test]
fn a_running_filter_takes_signals_and_shows_what_it_printed() {
    let scratch = Scratch::new();
    let script = Script::new().line(T).stderr("a word").touch(&scratch.path("ready")).hang();
    let running = fake(&scratch, &script).start();
    scratch.wait_for("ready");
    wait_until("both streams arrive", SOON, || {
        running.stdout() == format!("{T}\n").as_bytes() && running.stderr() == "a word"
    });
    running.signal(Signal::SIGTERM);
    let ran = running.end();
    assert_eq!(ran.exits(143).status.code(), None);
}

#[test]
fn a_filter_that_is_not_waited_for_is_killed() {
    let scratch = Scratch::new();
    let script = Script::new().portrait(&scratch.path("portrait")).hang();
    let message = panic_of(|| {
        let running = fake(&scratch, &script).start();
        scratch.wait_for("portrait");
        assert_eq!(scratch.json("portrait")["pid"], running.pid().as_raw());
        panic!("{}", "an assertion that fails");
    });
    assert_eq!(message, "an assertion that fails");
    let pid = scratch.json("portrait")["pid"].as_i64().expect("a process id");
    assert!(!is_alive(Pid::from_raw(i32::try_from(pid).expect("a process id"))));
}

#[test]
fn the_peak_is_that_of_the_filter() {
    let scratch = Scratch::new();
    // It reads the prompt into memory, and is still there when it is measured.
    let prompt = vec![b'x'; 40 << 20];
    let ran = fake(&scratch, &Script::new().delay_ms(50)).stdin(prompt).run();
    assert!((40 << 10..120 << 10).contains(&ran.peak_kib), "{ran}");
    fake(&scratch, &Script::new().delay_ms(50)).run().peak_under_mib(16);
}

#[test]
fn a_filter_sees_little_of_the_surroundings() {
    let scratch = Scratch::new();
    fake(&scratch, &Script::new().portrait(&scratch.path("portrait"))).run().exits(0);
    let portrait = scratch.json("portrait");
    let names: Vec<&String> = portrait["env"].as_object().expect("the environment").keys().collect();
    let known =
        ["CODEX_FILTERS_TEST_ID", "FAKE_CODEX_SCRIPT", "HOME", "LANG", "LLVM_PROFILE_FILE", "PATH", "TMPDIR"];
    assert!(names.iter().all(|name| known.contains(&name.as_str())), "{names:?}");
}

#[test]
fn a_filter_starts_with_no_signal_ignored() {
    let scratch = Scratch::new();
    fake(&scratch, &Script::new().portrait(&scratch.path("portrait"))).run().exits(0);
    let ignored: Vec<i32> =
        serde_json::from_value(scratch.json("portrait")["ignored"].clone()).expect("numbers");
    // PIPE it ignores itself, as every program in Rust; from 32 on they are the C library's.
    let ignored: Vec<i32> = ignored.into_iter().filter(|signal| *signal < 32).collect();
    assert_eq!(ignored, [Signal::SIGPIPE as i32]);
}

#[test]
fn a_filter_starts_so_when_the_tests_have_signals_ignored() {
    let ignoring = ["sh", "-c", r#"trap '' HUP INT QUIT TERM USR1 USR2 ALRM XFSZ; exec "$0" "$@""#];
    let tests = std::env::current_exe().expect("the test runner");
    let test = ["--exact", "harness_itself::a_filter_starts_with_no_signal_ignored"];
    let ran = program(&tests).args(test).under(&ignoring).run();
    ran.exits(0);
    assert!(ran.stdout_text().contains("1 passed"), "{ran}");
}

#[test]
fn a_progress_file_has_one_sentinel_at_its_end() {
    let completed = r#"{"type":"handoff.completed","elapsed_seconds":2,"output_tokens":1}"#;
    let progress = Progress::parse(format!("{T}\n{S}\n{M}\n{C}\n{completed}\n").as_bytes());
    progress.completed().events_are([T, S, M, C]);
    assert_eq!((progress.elapsed_seconds(), progress.output_tokens()), (2, Some(1)));
    assert_eq!(progress.sentinel, completed);

    let parse = |text: &str| Progress::parse(text.as_bytes());
    parse("{\"type\":\"handoff.failed\",\"reason\":\"timeout\",\"elapsed_seconds\":0}\n")
        .failed_by("timeout");
    let failed = "{\"type\":\"handoff.failed\",\"reason\":\"error\",\"rc\":70,\"elapsed_seconds\":0,\"cause\":\"no-result\"}\n";
    parse(failed).failed(70, "no-result");
    for (bad, why) in [
        (format!("{T}\n{completed}"), "the last line has no LF"),
        (format!("{T}\n"), "the last line is no sentinel"),
        (format!("{completed}\n{completed}\n"), "a sentinel that is not the last line"),
        (format!("{{\n{completed}\n"), "EOF while parsing"),
        (format!("[]\n{completed}\n"), "not an object"),
        (failed.replace("\"rc\":70,\"elapsed_seconds\":0", "\"elapsed_seconds\":0,\"rc\":70"), "the form"),
        (failed.replace("no-result", "bad luck"), "no cause that there is"),
        (failed.replace(":0,", ":0.5,"), "no whole seconds"),
    ] {
        let message = panic_of(|| drop(parse(&bad)));
        assert!(message.contains(why), "{message}");
    }
}
