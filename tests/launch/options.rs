//! The options of the launcher as arguments of Codex.

use super::{bare, launch};
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, Script, T};

/// The arguments of Codex, without its name, in a good run with these options of the launcher.
fn argv(options: &[&str]) -> Vec<String> {
    let scratch = Scratch::git();
    scratch.write("schema", "{}");
    scratch.write("image one", "");
    scratch.write("image two", "");
    let script = Script::new().portrait(&scratch.path("portrait")).lines([T, S]).message("{}").line(C);
    launch(&scratch, &script).args(options).run().exits(0);
    let argv: Vec<String> =
        serde_json::from_value(scratch.json("portrait")["argv"].clone()).expect("arguments");
    argv[1..].to_vec()
}

/// Whether `argv` has an option, by either of its names, with this value.
fn states(argv: &[String], names: [&str; 2], value: &str) -> bool {
    let pair = |pair: &[String]| names.contains(&pair[0].as_str()) && pair[1] == value;
    let joined = |word: &String| names.iter().any(|name| *word == format!("{name}={value}"));
    argv.windows(2).any(pair) || argv.iter().any(joined)
}

#[track_caller]
fn assert_states(argv: &[String], names: [&str; 2], value: &str) {
    assert!(states(argv, names, value), "{names:?} {value} in {argv:?}");
}

fn has(argv: &[String], word: &str) -> bool {
    argv.iter().any(|arg| arg == word)
}

const CONFIG: [&str; 2] = ["-c", "--config"];
const SANDBOX: [&str; 2] = ["-s", "--sandbox"];

#[test]
fn what_is_always_stated() {
    let argv = argv(&[]);
    assert_eq!(argv[0], "exec");
    assert_eq!(argv.last().map(String::as_str), Some("-"));
    assert!(has(&argv, "--json"));
    assert_states(&argv, ["", "--color"], "never");
    assert_states(&argv, SANDBOX, "workspace-write");
    assert_states(&argv, CONFIG, "approval_policy=\"never\"");
    assert!(has(&argv, "-C") || has(&argv, "--cd"), "{argv:?}");
    assert!(has(&argv, "-o") || has(&argv, "--output-last-message"), "{argv:?}");
    // Left out when not given.
    assert!(!has(&argv, "-m") && !has(&argv, "--model"), "{argv:?}");
    assert!(!argv.iter().any(|word| word.contains("model_reasoning_effort")), "{argv:?}");
    assert!(!argv.iter().any(|word| word.contains("do it")), "the prompt is an argument: {argv:?}");
}

#[test]
fn model_and_effort_take_any_value() {
    let given = argv(&["--model", "gpt-9 (beta)", "--effort", "high"]);
    assert_states(&given, ["-m", "--model"], "gpt-9 (beta)");
    assert_states(&given, CONFIG, "model_reasoning_effort=\"high\"");
    // The value is a TOML string.
    assert_states(&argv(&["--effort", r#"a"b\c"#]), CONFIG, r#"model_reasoning_effort="a\"b\\c""#);
    assert_states(&argv(&["--model=-x"]), ["-m", "--model"], "-x");
}

#[test]
fn sandboxes() {
    for sandbox in ["read-only", "workspace-write", "danger-full-access"] {
        let argv = argv(&["--sandbox", sandbox]);
        assert_states(&argv, SANDBOX, sandbox);
        assert_states(&argv, CONFIG, "approval_policy=\"never\"");
    }
    assert_states(&argv(&["--read-only"]), SANDBOX, "read-only");
    let argv = argv(&["--bypass"]);
    assert!(has(&argv, "--dangerously-bypass-approvals-and-sandbox"), "{argv:?}");
    assert!(!states(&argv, SANDBOX, "workspace-write"), "{argv:?}");
}

#[test]
fn what_is_passed_on() {
    let argv = argv(&[
        "--add-dir",
        "/tmp",
        "--add-dir",
        "/var",
        "--image",
        "image one",
        "--image",
        "image two",
        "-c",
        "a.b=\"c\"",
        "-c",
        "d=1",
        "--ephemeral",
        "--ignore-user-config",
        "--ignore-rules",
        "--skip-git-repo-check",
        "--output-schema",
        "schema",
        "--",
        "--enable",
        "something",
    ]);
    assert_states(&argv, ["", "--add-dir"], "/tmp");
    assert_states(&argv, ["", "--add-dir"], "/var");
    let image = |name: &str| argv.iter().any(|word| word.ends_with(name));
    assert!(image("image one") && image("image two"), "{argv:?}");
    assert_states(&argv, CONFIG, "a.b=\"c\"");
    assert_states(&argv, CONFIG, "d=1");
    for flag in ["--ephemeral", "--ignore-user-config", "--ignore-rules", "--skip-git-repo-check"] {
        assert!(has(&argv, flag), "{flag} in {argv:?}");
    }
    assert!(argv.iter().any(|word| word.ends_with("schema")), "{argv:?}");
    assert_states(&argv, ["", "--enable"], "something");
    assert_eq!(argv.last().map(String::as_str), Some("-"));
}

#[test]
fn images_of_a_resumed_thread_do_not_swallow_its_id() {
    let argv = argv(&["--resume", "t1", "--image", "image one"]);
    let resume = argv.iter().position(|word| word == "resume").expect("the word resume");
    let rest = &argv[resume..];
    assert!(has(rest, "t1") && has(rest, "-"), "{argv:?}");
}

#[test]
fn a_dry_run_says_what_would_be_run_and_runs_nothing() {
    let scratch = Scratch::git();
    let options = ["--model", "m", "--read-only", "--resume", "t1", "--", "--enable", "x"];
    let launcher =
        bare(&scratch, &Script::good()).args(["--progress-file", "p", "--result-file", "r", "--dry-run"]);
    let launcher = launcher.args(options).env("FAKE_CODEX_CALLS", scratch.path("calls"));
    let ran = launcher.env("OPENAI_API_KEY", "a-secret").run();
    let said: serde_json::Value = serde_json::from_slice(&ran.exits(0).stdout).expect("one JSON object");
    let text = said.to_string();
    assert!(!text.contains("a-secret") && text.contains("OPENAI_API_KEY"), "{text}");
    assert!(text.contains(&scratch.dir().display().to_string()), "{text}");
    let has_run = scratch.has("calls") && scratch.text("calls").lines().any(|call| call.contains("--json"));
    assert!(!has_run && !scratch.has("p") && !scratch.has("r"));

    // But for the name of the answer's file these are the arguments of the run.
    let planned = said.as_object().expect("an object").values().find_map(|value| {
        let words: Vec<String> = serde_json::from_value(value.clone()).ok()?;
        words.contains(&"exec".to_owned()).then_some(words)
    });
    let planned = planned.expect("the argument vector");
    let script = Script::new().portrait(&scratch.path("portrait")).lines([T, S, M, C]);
    launch(&scratch, &script).args(options).run().exits(0);
    let argv: Vec<String> =
        serde_json::from_value(scratch.json("portrait")["argv"].clone()).expect("arguments");
    let at = argv.iter().position(|word| word == "-o" || word == "--output-last-message").expect("-o");
    let differing: Vec<usize> = (0..argv.len()).filter(|n| planned.get(*n) != argv.get(*n)).collect();
    assert!(planned.len() == argv.len() && differing.iter().all(|n| *n == at + 1), "{planned:?}\n{argv:?}");
}

#[test]
fn help_has_all_options_and_all_statuses() {
    let scratch = Scratch::new();
    let text = bare(&scratch, &Script::good()).arg("--help").run().exits(0).stdout_text();
    for option in [
        "--model",
        "--effort",
        "--timeout-seconds",
        "--progress-file",
        "--result-file",
        "--stderr-file",
        "--session-file",
        "--resume",
        "--resume-from",
        "--sandbox",
        "--read-only",
        "--bypass",
        "--output-schema",
        "--cd",
        "--add-dir",
        "--image",
        "-c",
        "--ephemeral",
        "--ignore-user-config",
        "--skip-git-repo-check",
        "--ignore-rules",
        "--skip-auth-check",
        "--system-file",
        "--transcript",
        "--keep-env",
        "--decide",
        "--kill-grace",
        "--fork",
        "--seal-refusal",
        "--force",
        "--verify-sign-in",
        "--dry-run",
        "--codex",
    ] {
        assert!(text.contains(option), "{option}");
    }
    for status in ["0", "1", "64", "66", "69", "70", "74", "124", "125", "126", "128+n"] {
        assert!(
            text.contains(&format!("  {status} ")) || text.contains(&format!("; {status} ")),
            "{status} in {text}"
        );
    }
}
