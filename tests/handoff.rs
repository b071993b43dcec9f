//! `scripts/run-codex-handoff.sh`, the name and options of the shell runner that it takes the place of.

use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::filter::{Filter, binary, program};
use crate::harness::progress::Progress;
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, S, Script, T};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/run-codex-handoff.sh");
const SCHEMA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/codex-handoff-result.schema.json");

const RESULT: &str = r#"{"status":"completed","summary":"done","files":[],"checks":[],"open_items":[]}"#;

/// The script in a git worktree, over a Codex that gives this answer.
fn handoff(scratch: &Scratch, answer: &str) -> Filter {
    for (name, of) in [("codex-launch", "codex-launch"), ("codex", "fake-codex")] {
        if !scratch.has(name) {
            symlink(binary(of), scratch.path(name)).expect("a link");
        }
    }
    let script = Script::new().portrait(&scratch.path("portrait")).lines([T, S]).message(answer).line(C);
    let path = format!("{}:{}", scratch.dir().display(), std::env::var("PATH").expect("a PATH"));
    program(Path::new(SCRIPT))
        .args(["--progress-file", "p", "--result-file", "r"])
        .env("PATH", path)
        .env("FAKE_CODEX_SCRIPT", script.write_to(scratch))
        .dir(scratch.dir())
        .stdin("do it")
}

/// The arguments that Codex had.
fn argv(scratch: &Scratch) -> Vec<String> {
    serde_json::from_value(scratch.json("portrait")["argv"].clone()).expect("arguments")
}

fn has(argv: &[String], words: &[&str]) -> bool {
    argv.windows(words.len()).any(|window| window == words)
}

const BYPASS: [&str; 1] = ["--dangerously-bypass-approvals-and-sandbox"];

#[test]
fn it_takes_the_options_of_the_shell_runner() {
    let scratch = Scratch::git();
    scratch.write("p", "an old run\n");
    let options = ["--model", "m", "--effort", "high", "--timeout-seconds", "60", "--resume", "t1"];
    handoff(&scratch, RESULT).args(options).run().exits(0);
    Progress::read(scratch.path("p")).completed();
    assert_eq!(scratch.text("r"), RESULT);
    let argv = argv(&scratch);
    for words in [&BYPASS[..], &["-m", "m"], &["resume", "t1"], &["--output-schema", SCHEMA]] {
        assert!(has(&argv, words), "{words:?} in {argv:?}");
    }
    assert!(argv.iter().any(|word| word.contains("high")), "{argv:?}");
}

#[test]
fn rights_that_are_asked_for_are_those_it_has() {
    for (options, sandbox) in
        [(&["--read-only"][..], "read-only"), (&["--sandbox", "workspace-write"], "workspace-write")]
    {
        let scratch = Scratch::git();
        handoff(&scratch, RESULT).args(options).run().exits(0);
        let argv = argv(&scratch);
        assert!(has(&argv, &["--sandbox", sandbox]) || has(&argv, &["-s", sandbox]), "{argv:?}");
        assert!(!has(&argv, &BYPASS), "{argv:?}");
    }
}

#[test]
fn the_result_has_to_be_json() {
    let scratch = Scratch::git();
    handoff(&scratch, "All done.").run().exits(70);
    Progress::read(scratch.path("p")).failed(70, "no-result");
    assert!(!scratch.has("r"));
}

#[test]
fn the_schema_is_one_that_structured_outputs_take() {
    // Every object says what it has, and needs all of it.
    fn check(schema: &Value) {
        if schema["type"] == "object" {
            let properties = schema["properties"].as_object().expect("properties");
            let names: Vec<&String> = properties.keys().collect();
            let mut required: Vec<&str> =
                schema["required"].as_array().expect("required").iter().filter_map(Value::as_str).collect();
            required.sort_unstable();
            assert_eq!(names, required);
            assert_eq!(schema["additionalProperties"], json!(false));
            properties.values().for_each(check);
        }
        if schema["type"] == "array" {
            check(&schema["items"]);
        }
    }
    let text = std::fs::read_to_string(SCHEMA).expect("the schema");
    let schema: Value = serde_json::from_str(&text).expect("JSON");
    check(&schema);
    let result: Value = serde_json::from_str(RESULT).expect("JSON");
    let names = |value: &Value| value.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&result), names(&schema["properties"]));
}

#[test]
fn its_help_is_its_own() {
    let scratch = Scratch::new();
    let ran = program(Path::new(SCRIPT)).arg("--help").dir(scratch.dir()).run();
    ran.exits(0);
    let text = ran.stdout_text();
    assert!(text.starts_with("run-codex-handoff.sh OPTIONS < PROMPT: "), "{text}");
    assert!(text.ends_with("The exit status is codex-launch's.\n"), "{text}");
}

#[test]
fn without_a_launcher_it_says_what_to_do() {
    let scratch = Scratch::git();
    for tool in ["bash", "env", "dirname", "readlink"] {
        let out = std::process::Command::new("sh").args(["-c", &format!("command -v {tool}")]).output();
        let path = String::from_utf8(out.expect("sh").stdout).expect("a path");
        symlink(path.trim(), scratch.path(tool)).expect("a link");
    }
    let ran = program(Path::new(SCRIPT)).env("PATH", scratch.dir()).run();
    ran.exits(69).stderr_has("codex-launch: not found; install it with ");
    assert_eq!(ran.stderr_lines().len(), 1);
}
