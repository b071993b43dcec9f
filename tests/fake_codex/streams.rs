//! What goes in and what comes out.

use nix::sys::signal::Signal;
use nix::unistd::getsid;
use serde_json::{Value, json};

use super::{exec, run};
use crate::harness::filter::filter;
use crate::harness::ran::Ran;
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, Script, T};
use crate::harness::wait::{SOON, wait_until};

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
fn it_lets_go_of_a_stream() {
    run(&Script::new().line(T).step("close", json!({"which": "stdout"})).line(S))
        .exits(0)
        .stdout_is(format!("{T}\n"));
    let ran = run(&Script::new().stderr("a").step("close", json!({"which": "stderr"})).stderr("b"));
    assert_eq!(ran.exits(0).stderr_text(), "a");
}

#[test]
fn it_ends_with_101_when_nobody_reads() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    exec(&Scratch::new(), &Script::good()).stdout_to(writer).run().exits(101).stderr_has("failed printing");
}
