//! How it is called.

use nix::sys::signal::Signal;
use serde_json::json;

use super::run;
use crate::harness::filter::filter;
use crate::harness::scratch::Scratch;
use crate::harness::script::{F, Script};

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

#[test]
fn an_image_takes_the_words_behind_it() {
    let codex = || filter("fake-codex").args(["exec", "--image", "a.png"]);
    codex().arg("-").run().exits(1).stdout_is("").stderr_has("there is no image -");
    codex().args(["--json", "-"]).run().exits(0);
}
