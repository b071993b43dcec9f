//! What is asked of Codex before the launch, and when it is not.

use super::{bare, launch, progress};
use crate::harness::filter::Filter;
use crate::harness::scratch::Scratch;
use crate::harness::script::Script;

/// The calls of Codex in a good run, by their first two words.
fn calls(prepare: impl FnOnce(Filter) -> Filter) -> Vec<String> {
    let scratch = Scratch::git();
    scratch.write("schema", "{}");
    let launcher =
        bare(&scratch, &Script::good().answer("{}")).env("FAKE_CODEX_CALLS", scratch.path("calls"));
    prepare(launcher).run().exits(0);
    let call = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
        ["exec", .., "--help"] => "help".to_owned(),
        ["exec", ..] => "run".to_owned(),
        _ => line.to_owned(),
    };
    scratch.text("calls").lines().map(call).collect()
}

#[test]
fn the_login_is_asked_about_once() {
    assert_eq!(calls(|launcher| launcher), ["login status", "run"]);
}

#[test]
fn the_login_is_not_asked_about_when_it_does_not_count() {
    assert_eq!(calls(|launcher| launcher.arg("--skip-auth-check")), ["run"]);
    let key = |launcher: Filter| launcher.args(["--keep-env", "CODEX_API_KEY"]).env("CODEX_API_KEY", "a-key");
    assert_eq!(calls(key), ["run"]);
    for setting in ["model_provider=loopback", "model_provider=\"loopback\"", "model_provider = 'loopback'"] {
        assert_eq!(calls(|launcher| launcher.args(["-c", setting])), ["run"], "{setting}");
    }
    assert_eq!(calls(|launcher| launcher.args(["-c", "model_provider_x=1"])), ["login status", "run"]);
}

#[test]
fn a_kept_variable_that_is_not_set_is_no_key() {
    assert_eq!(calls(|launcher| launcher.args(["--keep-env", "CODEX_API_KEY"])), ["login status", "run"]);
}

#[test]
fn options_are_looked_up_only_when_one_needs_it() {
    for args in
        [&["--ephemeral"][..], &["--ignore-rules"], &["--ignore-user-config"], &["--output-schema", "schema"]]
    {
        let mut calls = calls(|launcher| launcher.args(args));
        // The two probes run side by side.
        calls.sort();
        assert_eq!(calls, ["help", "login status", "run"], "{args:?}");
    }
    assert_eq!(
        calls(|launcher| launcher.args(["--model", "m", "--effort", "e", "--read-only"])),
        ["login status", "run"]
    );
}

#[test]
fn rules_are_not_ignored_where_codex_cannot_and_one_line_says_so() {
    let scratch = Scratch::git();
    let script = Script::new().portrait(&scratch.path("portrait"));
    let script = script.append(&Script::good());
    let argv = |scratch: &Scratch| scratch.json("portrait")["argv"].to_string();
    launch(&scratch, &script).arg("--ignore-rules").run().exits(0).stderr_lacks("--ignore-rules");
    assert!(argv(&scratch).contains("\"--ignore-rules\""));

    let launcher = launch(&scratch, &script).args(["--force", "--ignore-rules"]);
    let ran = launcher.env("FAKE_CODEX_HELP_WITHOUT", "--ignore-rules").run();
    ran.exits(0);
    let said = ran.stderr_lines().iter().filter(|line| line.contains("--ignore-rules")).count();
    assert_eq!(said, 1, "{ran}");
    assert!(!argv(&scratch).contains("--ignore-rules"));
    progress(&scratch).completed();
}

#[test]
fn a_sign_in_is_verified_by_a_small_run() {
    let scratch = Scratch::new();
    let portrait = Script::new().save_prompt(&scratch.path("prompt")).portrait(&scratch.path("portrait"));
    let script = portrait.append(&Script::good());
    let ran = bare(&scratch, &script).arg("--verify-sign-in").run();
    ran.exits(0);
    assert!(!ran.stdout.is_empty() || !ran.stderr.is_empty(), "{ran}");
    assert_eq!(scratch.text("prompt"), "Reply with the single word: ok");
    let argv = scratch.json("portrait")["argv"].to_string();
    assert!(argv.contains("read-only") && argv.contains("--ignore-user-config"), "{argv}");

    let verify = |script: &Script| bare(&scratch, script).arg("--verify-sign-in");
    verify(&Script::good()).env("FAKE_CODEX_LOGIN", "fail").run().exits(69);
    let unauthorized = "unexpected status 401 Unauthorized: Missing bearer";
    verify(&Script::new().error(unauthorized).turn_failed(unauthorized).exit(1)).run().exits(69);
    verify(&Script::new().turn_failed("x").exit(1)).run().exits(1);
}

#[test]
fn a_refusal_leaves_no_question_behind() {
    // That nothing is left is asserted at each end. A question that was killed and not waited for is seen on a busy
    // machine only.
    let refused = || {
        let scratch = Scratch::git();
        let launcher = launch(&scratch, &Script::good()).stdin("").env("FAKE_CODEX_LOGIN", "hang");
        launcher.arg("--ephemeral").run().exits(64);
    };
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..20).for_each(|_| refused()));
        }
    });
}
