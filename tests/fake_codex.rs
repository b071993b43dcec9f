//! `fake-codex` does what its steps say.

use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getsid};
use serde_json::{Value, json};

use crate::harness::filter::{Filter, filter};
use crate::harness::ran::Ran;
use crate::harness::running::Running;
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, F, M, S, Script, T};
use crate::harness::sweep::is_alive;
use crate::harness::wait::{SOON, wait_until};

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

#[test]
fn without_a_script_it_is_a_small_good_run() {
    let scratch = Scratch::new();
    let ran = filter("fake-codex").args(["exec", "-o"]).arg(scratch.path("answer")).stdin("do it").run();
    ran.exits(0).stdout_is([T, S, M, C, ""].join("\n")).stderr_lines().is_empty();
    assert_eq!(scratch.text("answer"), "ok");

    let ran = filter("fake-codex").args(["exec", "-s", "read-only", "--json", "resume", "t9", "-"]).run();
    ran.exits(0).stdout_is([&T.replace("t1", "t9"), S, M, C, ""].join("\n"));
}

#[test]
fn lines_go_out_as_they_stand() {
    let odd = r#" {"b":1.10,"a":123456789012345678901,"a":"\u0041","s":"\/"}  "#;
    run(&Script::new().line(odd).line("").line("junk").line(b"\xa4\xff"))
        .exits(0)
        .stdout_is([odd.as_bytes(), b"\n\njunk\n\xa4\xff\n"].concat());
}

#[test]
fn words_of_the_builder_are_events() {
    let script =
        Script::new().thread("t\"2").message("a\nb").turn_completed(1, 2, 3).turn_failed("x").error("y");
    run(&script).stdout_is(
        r#"{"type":"thread.started","thread_id":"t\"2"}
{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"a\nb"}}
{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":2,"output_tokens":3}}
{"type":"turn.failed","error":{"message":"x"}}
{"type":"error","message":"y"}
"#,
    );
}

#[test]
fn bytes_go_out_without_lf() {
    let all: Vec<u8> = (0..=255).collect();
    let ran = run(&Script::new().raw(r#"{"type":"item.compl"#).stderr(&all).raw(&all));
    ran.exits(0).stdout_is([br#"{"type":"item.compl"#, all.as_slice()].concat());
    assert_eq!(ran.stderr, all);
}

#[test]
fn floods_have_exactly_the_bytes() {
    for to in ["stdout", "stderr"] {
        let of = |ran: Ran| if to == "stdout" { ran.stdout } else { ran.stderr };
        let lines = of(run(&Script::new().flood(to, 1_234_567, "lines")));
        assert_eq!(lines.len(), 1_234_567);
        let lines = String::from_utf8(lines).expect("text");
        assert_eq!(lines.lines().count(), 1234);
        assert!(
            lines.ends_with('\n') && lines.lines().all(|line| serde_json::from_str::<Value>(line).is_ok())
        );

        let line = of(run(&Script::new().flood(to, 300_000, "one-line")));
        assert_eq!((line.len(), line.iter().position(|byte| *byte == b'\n')), (300_000, Some(299_999)));
        assert!(serde_json::from_slice::<Value>(&line).is_ok());

        assert_eq!(of(run(&Script::new().flood(to, 70_000, "no-lf"))), vec![b'x'; 70_000]);
    }
}

#[test]
fn the_prompt_is_read_at_the_start_at_a_step_in_part_or_never() {
    let scratch = Scratch::new();
    let prompt = vec![b'p'; 3 << 20];
    let save = scratch.path("prompt");
    exec(&scratch, &Script::new().save_prompt(&save)).stdin(prompt.clone()).run().exits(0);
    assert!(scratch.read("prompt") == prompt);

    let in_part = Script::new().step("prompt", json!({"up-to": 10, "save": save}));
    exec(&scratch, &in_part).stdin(prompt.clone()).run().exits(0);
    assert_eq!(scratch.text("prompt"), "pppppppppp");

    // With a writer that never closes the pipe only the one that leaves the prompt comes to an end.
    let (reader, writer) = std::io::pipe().expect("a pipe");
    exec(&scratch, &Script::new().leave_prompt().exit(4)).stdin_from(reader).run().exits(4);
    let (reader, other) = std::io::pipe().expect("a pipe");
    let running = exec(&scratch, &Script::new().line(T)).stdin_from(reader).start();
    drop(other);
    running.end().exits(0).stdout_is(format!("{T}\n"));
    drop(writer);
}

#[test]
fn the_answer_is_the_last_message_of_a_good_run() {
    let scratch = Scratch::new();
    exec(&scratch, &Script::good().message("two\n")).run().exits(0);
    assert_eq!(scratch.text("answer"), "two\n");

    exec(&scratch, &Script::new().lines([T, S, C])).run().exits(0);
    assert_eq!(scratch.text("answer"), "");
}

#[test]
fn the_answer_can_be_another_or_missing() {
    for script in [Script::good().exit(1), Script::good().no_answer(), Script::good().die("KILL")] {
        let scratch = Scratch::new();
        exec(&scratch, &script).run();
        assert_eq!(scratch.names(), ["script"]);
    }
    let scratch = Scratch::new();
    exec(&scratch, &Script::good().answer("other").exit(1)).run().exits(1);
    assert_eq!(scratch.text("answer"), "other");

    let now = Script::new().answer("now").await_file(&scratch.path("go"));
    let running = exec(&scratch, &now).start();
    wait_until("the answer is there", SOON, || scratch.has("answer") && scratch.text("answer") == "now");
    scratch.write("go", "");
    running.end().exits(0);
    assert_eq!(scratch.text("answer"), "now");
}

#[test]
fn it_describes_itself() {
    let scratch = Scratch::new();
    let script = Script::new().ignore(&["TERM"]).portrait(&scratch.path("portrait"));
    let running = exec(&scratch, &script).env("A_NAME", "a value").dir(scratch.dir()).start();
    let pid = running.pid().as_raw();
    running.end().exits(0);
    let portrait = scratch.json("portrait");
    assert_eq!(portrait["argv"].as_array().expect("arguments")[1..3], [json!("exec"), json!("--json")]);
    assert_eq!(portrait["env"]["A_NAME"], "a value");
    assert_eq!(portrait["cwd"], json!(scratch.dir().canonicalize().expect("the folder")));
    assert_eq!((&portrait["pid"], &portrait["group"]), (&json!(pid), &json!(pid)));
    assert_eq!(portrait["parent"], std::process::id());
    assert_eq!(portrait["session"], getsid(None).expect("a session").as_raw());
    assert_eq!(portrait["fds"]["0"], "/dev/null");
    assert_eq!(portrait["blocked"], json!([Signal::SIGTERM as i32]));
    // What the surroundings ignore is handed down; SIGPIPE is ignored in every program in Rust.
    assert!(portrait["ignored"].as_array().expect("signals").contains(&json!(Signal::SIGPIPE as i32)));
}

#[test]
fn it_delays_touches_and_awaits() {
    let scratch = Scratch::new();
    let script =
        Script::new().delay_ms(100).touch(&scratch.path("ready")).await_file(&scratch.path("go")).exit(5);
    let running = exec(&scratch, &script).start();
    scratch.wait_for("ready");
    scratch.write("go", "");
    running.end().exits(5).took(Duration::from_millis(100), SOON);
}

#[test]
fn it_ends_by_a_signal() {
    for (name, number) in [("KILL", 9), ("TERM", 15), ("SEGV", 11), ("INT", 2)] {
        let ran = run(&Script::new().line(T).die(name));
        assert_eq!(ran.exits(128 + number).stdout_is(format!("{T}\n")).status.code(), None);
    }
}

#[test]
fn it_ignores_signals() {
    let scratch = Scratch::new();
    let go = scratch.path("go");
    let script = Script::new().ignore(&["INT", "TERM"]).touch(&scratch.path("ready")).await_file(&go).exit(6);
    let running = exec(&scratch, &script).start();
    scratch.wait_for("ready");
    running.signal(Signal::SIGINT);
    running.signal(Signal::SIGTERM);
    scratch.write("go", "");
    running.end().exits(6);
}

#[test]
fn it_hangs_and_stops_until_it_is_killed() {
    for (step, state) in [("hang", "S (sleeping)"), ("stop", "T (stopped)")] {
        let scratch = Scratch::new();
        let script = Script::new().touch(&scratch.path("ready")).step(step, json!({}));
        let running = exec(&scratch, &script).start();
        scratch.wait_for("ready");
        wait_until("it is in that state", SOON, || field(running.pid(), "State:") == state);
        running.signal(Signal::SIGKILL);
        running.end().exits(137);
    }
}

#[test]
fn it_asks_for_a_terminal() {
    let scratch = Scratch::new();
    exec(&scratch, &Script::new().step("tty", json!({"save": scratch.path("tty")})))
        .under(&["setsid", "--wait"])
        .run();
    assert_eq!(scratch.text("tty"), "No such device or address (os error 6)");
}

#[test]
fn it_lets_go_of_a_stream() {
    run(&Script::new().line(T).step("close", json!({"which": "stdout"})).line(S))
        .exits(0)
        .stdout_is(format!("{T}\n"));
    let ran = run(&Script::new().stderr("a").step("close", json!({"which": "stderr"})).stderr("b"));
    assert_eq!(ran.exits(0).stderr_text(), "a");
}

#[test]
fn it_becomes_another_program() {
    run(&Script::new().line(T).sh("echo then; exit 7")).exits(7).stdout_is(format!("{T}\nthen\n"));
}

#[test]
fn it_ends_with_101_when_nobody_reads() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    exec(&Scratch::new(), &Script::good()).stdout_to(writer).run().exits(101).stderr_has("failed printing");
}

/// Runs a script that leaves a descendant, and looks at it while the run waits; then lets both end.
fn descendant(fields: Value, look: impl FnOnce(&Scratch, &Running)) -> Ran {
    let scratch = Scratch::new();
    let mut all = json!({"pid": scratch.path("pid"), "life": "sleep", "seconds": 300});
    let given = fields.as_object().expect("fields").clone();
    all.as_object_mut().expect("fields").extend(given);
    let script = Script::new().spawn(all).touch(&scratch.path("ready")).await_file(&scratch.path("go"));
    let running = exec(&scratch, &script).start();
    scratch.wait_for("ready");
    look(&scratch, &running);
    kill(scratch.pid("pid"), Signal::SIGKILL).expect("ending the descendant");
    wait_until("the descendant is gone", SOON, || !is_alive(scratch.pid("pid")));
    scratch.write("go", "");
    running.end()
}

/// A field of /proc/PID/status.
fn field(pid: Pid, name: &str) -> String {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a status");
    status.lines().find_map(|line| line.strip_prefix(name)).expect("a field").trim().to_owned()
}

#[test]
fn a_descendant_is_a_child_in_the_session_of_the_run() {
    descendant(json!({}), |scratch, running| {
        let pid = scratch.pid("pid");
        assert_eq!(field(pid, "PPid:"), running.pid().to_string());
        assert_eq!(getsid(Some(pid)), getsid(Some(running.pid())));
        assert_eq!(field(pid, "SigBlk:"), "0000000000000000");
        for fd in 0..=2 {
            let to = std::fs::read_link(format!("/proc/{pid}/fd/{fd}")).expect("a descriptor");
            assert_eq!(to.to_str(), Some("/dev/null"));
        }
    });
}

#[test]
fn a_descendant_leads_a_session_ignores_signals_and_holds_pipes() {
    descendant(json!({"session": "own", "ignore": ["INT", "TERM"], "pipes": "hold"}), |scratch, running| {
        let pid = scratch.pid("pid");
        assert_eq!(getsid(Some(pid)), Ok(pid));
        assert_eq!(field(pid, "SigBlk:"), "0000000000004002");
        for fd in 1..=2 {
            let link = |pid| std::fs::read_link(format!("/proc/{pid}/fd/{fd}")).expect("a descriptor");
            assert_eq!(link(pid), link(running.pid()));
        }
    });
}

#[test]
fn a_descendant_is_an_orphan_with_an_empty_environment() {
    descendant(json!({"orphan": true, "env": "none"}), |scratch, running| {
        let pid = scratch.pid("pid");
        assert_ne!(field(pid, "PPid:"), running.pid().to_string());
        assert_eq!(std::fs::read(format!("/proc/{pid}/environ")).expect("its environment"), b"");
    });
}

#[test]
fn a_descendant_chatters() {
    let ran = descendant(json!({"life": "chatter", "pipes": "hold"}), |_, running| {
        wait_until("there is much chatter", SOON, || running.stdout().len() > 100_000);
    });
    let text = ran.exits(0).stdout_text();
    assert!(text.lines().take(1000).all(|line| serde_json::from_str::<Value>(line).is_ok()));
}

#[test]
fn a_zombie_is_not_reaped() {
    let scratch = Scratch::new();
    let script =
        Script::new().step("zombie", json!({})).touch(&scratch.path("ready")).await_file(&scratch.path("go"));
    let running = exec(&scratch, &script).start();
    scratch.wait_for("ready");
    let children =
        std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", running.pid())).expect("children");
    let child = Pid::from_raw(children.trim().parse().expect("one child"));
    assert_eq!(field(child, "State:"), "Z (zombie)");
    scratch.write("go", "");
    running.end().exits(0);
}

#[test]
fn login_status_is_what_it_was_told() {
    let status = || filter("fake-codex").args(["login", "status"]);
    status().run().exits(0).stderr_has("Logged in");
    status().env("FAKE_CODEX_LOGIN", "fail").run().exits(1).stderr_has("Not logged in");
    let hanging = status().env("FAKE_CODEX_LOGIN", "hang").start();
    hanging.signal(Signal::SIGTERM);
    hanging.end().exits(143);
}

#[test]
fn help_lists_options_and_can_leave_some_out() {
    let help = |words: &[&str]| filter("fake-codex").args(words).arg("--help");
    for words in [&["exec"][..], &["exec", "resume"]] {
        let ran = help(words).run();
        assert!(ran.exits(0).stdout_text().contains("--ignore-rules"));
        let ran = help(words).env("FAKE_CODEX_HELP_WITHOUT", "--ignore-rules,--ephemeral").run();
        let text = ran.exits(0).stdout_text();
        assert!(!text.contains("--ignore-rules") && !text.contains("--ephemeral") && text.contains("--json"));
    }
    let old =
        filter("fake-codex").args(["exec", "--ephemeral", "-"]).env("FAKE_CODEX_HELP_WITHOUT", "--ephemeral");
    old.run().exits(2).stdout_is("").stderr_has("unexpected argument '--ephemeral' found");
}

#[test]
fn wrong_options_fail_as_in_codex() {
    for words in [
        &["exec", "--nope"][..],
        &["exec", "resume", "-C", "/", "t1", "-"],
        &["exec", "resume", "--color", "never", "t1", "-"],
        &["exec", "--json", "--json", "-"],
        &["exec", "-s", "anything", "-"],
        &["exec", "fork"],
    ] {
        filter("fake-codex")
            .args(words)
            .run()
            .exits(2)
            .stdout_is("")
            .stderr_has("For more information, try '--help'");
    }
}

#[test]
fn calls_are_recorded() {
    let scratch = Scratch::new();
    for words in [&["login", "status"][..], &["exec", "-"], &["exec", "--nope"]] {
        filter("fake-codex").args(words).env("FAKE_CODEX_CALLS", scratch.path("calls")).run();
    }
    assert_eq!(scratch.text("calls"), "login status\nexec -\nexec --nope\n");
}

#[test]
fn a_fault_of_the_script_is_said() {
    for script in [
        Script::new().step("nonsense", json!({})),
        Script::new().step("delay", json!({"ms": 1, "extra": 2})),
        Script::new().line(r#"{"step":"#),
    ] {
        run(&script).exits(101).stderr_has("step");
    }
    run(&Script::new().line(F).step("exit", json!({}))).exits(101).stderr_has("status").stdout_is("");
}
