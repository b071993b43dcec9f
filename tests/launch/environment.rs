//! What Codex gets from the launcher besides its arguments and its prompt.

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::launch;
use crate::harness::filter::Filter;
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, Script, T};

const REMOVED: [&str; 7] = [
    "CODEX_API_KEY",
    "CODEX_ACCESS_TOKEN",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "CODEX_THREAD_ID",
    "CODEX_SESSION_ID",
    "CODEX_TOOL_CALL_ID",
];

/// What the child sees of itself in a good run.
fn portrait(prepare: impl FnOnce(Filter) -> Filter) -> Value {
    let scratch = Scratch::git();
    let script = Script::new().portrait(&scratch.path("portrait")).lines([T, S, M, C]);
    prepare(launch(&scratch, &script)).run().exits(0);
    scratch.json("portrait")
}

#[test]
fn keys_and_thread_are_removed_even_when_empty() {
    for value in ["a-secret", ""] {
        let env =
            portrait(|launcher| REMOVED.iter().fold(launcher, |launcher, name| launcher.env(name, value)));
        let env = env["env"].as_object().expect("the environment");
        let present: Vec<_> = REMOVED.iter().filter(|name| env.contains_key(**name)).collect();
        assert!(present.is_empty(), "{present:?}");
    }
}

#[test]
fn what_is_no_key_stays_in_the_environment() {
    let kept = [
        ("HOME", "/the/home"),
        ("CODEX_HOME", "/the/codex/home"),
        ("LANG", "de_DE.UTF-8"),
        ("HTTPS_PROXY", "http://proxy:1"),
        ("https_proxy", "http://proxy:2"),
        ("NO_PROXY", "localhost"),
        ("OPENAI_ORGANIZATION", "mine"),
        ("CODEX_SANDBOX", "seatbelt"),
        ("EMPTY", ""),
    ];
    let env =
        portrait(|launcher| kept.iter().fold(launcher, |launcher, (name, value)| launcher.env(name, value)));
    for (name, value) in kept {
        assert_eq!(env["env"][name], value, "{name}");
    }
    assert_eq!(env["env"]["PATH"], std::env::var("PATH").expect("a PATH"));
}

#[test]
fn a_variable_can_be_kept() {
    for kept in REMOVED {
        let portrait = portrait(|launcher| {
            REMOVED
                .iter()
                .fold(launcher, |launcher, name| launcher.env(name, "a-value"))
                .args(["--keep-env", kept])
        });
        let env = portrait["env"].as_object().expect("the environment");
        let present: Vec<_> = REMOVED.into_iter().filter(|name| env.contains_key(*name)).collect();
        assert_eq!(present, [kept]);
    }
}

#[test]
fn no_value_of_the_environment_is_ever_shown() {
    let scratch = Scratch::git();
    let script = Script::new().lines([T, S]).exit(1);
    let launcher =
        launch(&scratch, &script).env("CODEX_API_KEY", "a-secret").args(["--keep-env", "CODEX_API_KEY"]);
    launcher.run().exits(1).stderr_lacks("a-secret");
    let launcher = launch(&scratch, &script).env("CODEX_API_KEY", "a-secret");
    launcher.args(["--force", "--dry-run"]).run().exits(0).stdout_lacks("a-secret").stderr_lacks("a-secret");
}

#[test]
fn the_child_leads_a_session_and_sees_three_descriptors() {
    let portrait = portrait(|launcher| launcher);
    assert_eq!((&portrait["session"], &portrait["group"]), (&portrait["pid"], &portrait["pid"]));
    let fds: Vec<&String> = portrait["fds"].as_object().expect("descriptors").keys().collect();
    // What the test runner itself was given without CLOEXEC is handed down by every program in between.
    let handed_down = |fd: &&&String| std::fs::read_link(format!("/proc/self/fd/{fd}")).is_ok();
    let own: Vec<_> =
        fds.iter().filter(|fd| !handed_down(fd) || ["0", "1", "2"].contains(&fd.as_str())).collect();
    assert_eq!(own, [&&"0".to_owned(), &&"1".to_owned(), &&"2".to_owned()], "{}", portrait["fds"]);
}

#[test]
fn the_child_takes_signals_as_any_program_does() {
    // Rust ignores SIGPIPE in the launcher; fake-codex ignores it itself, so a shell is asked.
    let scratch = Scratch::git();
    let file = scratch.path("status");
    let script = Script::good().no_answer().sh(&format!("cat /proc/self/status > {}", file.display()));
    launch(&scratch, &script).run().exits(0);
    let text = scratch.text("status");
    let mask = |field: &str| {
        let mask = text.lines().find_map(|line| line.strip_prefix(field)).expect("a field");
        u64::from_str_radix(mask.trim(), 16).expect("a mask")
    };
    for signal in
        [Signal::SIGPIPE, Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT, Signal::SIGXFSZ]
    {
        assert_eq!(mask("SigIgn:") >> (signal as i32 - 1) & 1, 0, "{signal} is ignored");
    }
    assert_eq!(mask("SigBlk:"), 0);
}

#[test]
fn the_child_works_where_it_is_told() {
    let scratch = Scratch::git();
    std::fs::create_dir(scratch.path("sub")).expect("a folder");
    let script = Script::new().portrait(&scratch.path("portrait")).lines([T, S, M, C]);
    launch(&scratch, &script).args(["--cd", "sub"]).run().exits(0);
    let argv = scratch.json("portrait")["argv"].clone();
    let argv: Vec<&str> =
        argv.as_array().expect("arguments").iter().map(|arg| arg.as_str().expect("text")).collect();
    let at = argv.iter().position(|arg| ["-C", "--cd"].contains(arg)).expect("a directory is stated");
    let told = scratch.dir().join(argv[at + 1]).canonicalize().expect("a folder");
    assert_eq!(json!(told), json!(scratch.path("sub").canonicalize().expect("a folder")));
}
