//! What is asked of Codex before the launch, and when it is not.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use super::{FILES, bare, launch, over, progress};
use crate::harness::filter::{Filter, binary};
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
    for word in ["read-only", "--ignore-user-config", "--ignore-rules"] {
        assert!(argv.contains(word), "{word}: {argv}");
    }
    ran.stderr_has("asking codex for one word, for at most 120s");

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

/// A Codex that leaves a daemon and a temporary file behind each question.
fn littering(scratch: &Scratch) -> PathBuf {
    let fake = binary("fake-codex").display().to_string();
    let program = scratch.write(
        "codex",
        format!(
            "#!/bin/sh\ncase \"$*\" in *status* | *--help*) touch \"$TMPDIR/litter\"; setsid sleep 300 \
             >/dev/null 2>&1 & touch {}/asked ;; esac\nexec {fake} \"$@\"\n",
            scratch.dir().display()
        ),
    );
    set_permissions(&program, Permissions::from_mode(0o755)).expect("a program");
    program
}

#[test]
fn questions_leave_nothing_when_nothing_is_launched() {
    // That no process is left is asserted at each end.
    let scratch = Scratch::git();
    let temporary = Scratch::new();
    let codex = littering(&scratch);
    let launcher = || over(&codex, &scratch, &Script::good()).env("TMPDIR", temporary.dir());
    launcher().args(["--dry-run", "--ephemeral"]).run().exits(0);
    launcher().env("FAKE_CODEX_LOGIN", "fail").run().exits(69);
    // As late as can be: the outputs are being opened, and one waits for its reader.
    mkfifo(&scratch.path("pipe"), Mode::from_bits_truncate(0o600)).expect("a named pipe");
    std::fs::remove_file(scratch.path("asked")).expect("a mark");
    let running = launcher().args(FILES).args(["--stderr-file", "pipe"]).start();
    scratch.wait_for("asked");
    scratch.wait_for("p");
    running.signal(Signal::SIGTERM);
    running.end().exits(143);
    assert_eq!(temporary.names(), [""; 0]);
    launcher().run().exits(0);
    assert_eq!(temporary.names(), [""; 0]);
}

#[test]
fn questions_are_asked_in_an_environment_of_their_own() {
    let scratch = Scratch::git();
    let launcher = launch(&scratch, &Script::good()).args(["--ephemeral", "--ignore-rules"]);
    let surroundings = [
        ("CLICOLOR_FORCE", "1"),
        ("FORCE_COLOR", "1"),
        ("TERM", "xterm-256color"),
        ("LANG", "C"),
        ("COLUMNS", "20"),
        ("PAGER", "false"),
    ];
    let launcher = surroundings.iter().fold(launcher, |launcher, (name, value)| launcher.env(name, value));
    launcher.run().exits(0).stderr_lacks("left out");
}

#[test]
fn a_key_that_was_removed_is_named_where_it_would_have_been_the_sign_in() {
    for name in ["CODEX_API_KEY", "CODEX_ACCESS_TOKEN"] {
        let scratch = Scratch::git();
        let launcher =
            launch(&scratch, &Script::good()).env("FAKE_CODEX_LOGIN", "fail").env(name, "a-secret");
        let ran = launcher.env("OPENAI_BASE_URL", "a-secret").run();
        ran.exits(69).stderr_has(&format!("; {name} was removed: --keep-env {name};"));
        ran.stderr_lacks("a-secret").stderr_lacks("OPENAI_BASE_URL");
    }
}

#[test]
fn a_codex_with_the_older_stream_is_refused_where_its_options_are_asked_for() {
    let scratch = Scratch::git();
    let codex = scratch.write(
        "codex",
        "#!/bin/sh\nprintf 'Options:\\n      --json\\n      --experimental-json\\n      --output-schema <FILE>\\n'\n",
    );
    set_permissions(&codex, Permissions::from_mode(0o755)).expect("a program");
    scratch.write("schema", "{}");
    let launcher = over(&codex, &scratch, &Script::good()).args(["--output-schema", "schema"]);
    launcher.run().exits(69).stderr_has("is older than 0.44");
}
