//! `scripts/run-codex-handoff.sh`, the name and options of the shell runner that it takes the place of.

use std::os::unix::fs::symlink;
use std::path::Path;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::harness::filter::{Filter, binary, program};
use crate::harness::handoff::{RESULT, SCHEMA, SCRIPT};
use crate::harness::progress::Progress;
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, S, Script, T};

/// The script, with links to these programs in front of PATH.
fn script(scratch: &Scratch, programs: &[(&str, &Path)]) -> Filter {
    for (name, of) in programs {
        if !scratch.has(name) {
            symlink(of, scratch.path(name)).expect("a link");
        }
    }
    let path = format!("{}:{}", scratch.dir().display(), std::env::var("PATH").expect("a PATH"));
    program(Path::new(SCRIPT)).env("PATH", path).dir(scratch.dir())
}

/// The script in a git worktree, over a Codex that does this. It has no progress file and no result file.
fn bare(scratch: &Scratch, steps: &Script) -> Filter {
    let steps = Script::new().portrait(&scratch.path("portrait")).append(steps);
    script(scratch, &[("codex-launch", binary("codex-launch")), ("codex", binary("fake-codex"))])
        .env("FAKE_CODEX_SCRIPT", steps.write_to(scratch))
        .stdin("do it")
}

/// [`bare`] with the files `p` and `r`.
fn over(scratch: &Scratch, steps: &Script) -> Filter {
    bare(scratch, steps).args(["--progress-file", "p", "--result-file", "r"])
}

/// [`over`] a Codex that gives this answer.
fn handoff(scratch: &Scratch, answer: &str) -> Filter {
    over(scratch, &answers(answer))
}

fn answers(answer: &str) -> Script {
    Script::new().lines([T, S]).message(answer).line(C)
}

/// The arguments that Codex had.
fn argv(scratch: &Scratch) -> Vec<String> {
    serde_json::from_value(scratch.json("portrait")["argv"].clone()).expect("arguments")
}

/// The arguments that Codex has when the script has these.
#[track_caller]
fn argv_with(options: &[&str]) -> Vec<String> {
    let scratch = Scratch::git();
    handoff(&scratch, RESULT).args(options).run().exits(0);
    argv(&scratch)
}

fn has(argv: &[String], words: &[&str]) -> bool {
    argv.windows(words.len()).any(|window| window == words)
}

#[track_caller]
fn assert_has(argv: &[String], words: &[&str]) {
    assert!(has(argv, words), "{words:?} in {argv:?}");
}

#[track_caller]
fn assert_lacks(argv: &[String], words: &[&str]) {
    assert!(!has(argv, words), "{words:?} in {argv:?}");
}

/// Where Codex was told to work.
#[track_caller]
fn works_in(argv: &[String], folder: &Path) {
    let folder = folder.canonicalize().expect("the folder");
    assert_has(argv, &["--cd", folder.to_str().expect("a path in UTF-8")]);
    assert_eq!(argv.iter().filter(|word| *word == "--cd").count(), 1, "{argv:?}");
}

const BYPASS: [&str; 1] = ["--dangerously-bypass-approvals-and-sandbox"];

#[test]
fn it_takes_the_options_of_the_shell_runner() {
    let scratch = Scratch::git();
    let options = ["--model", "m", "--effort", "high", "--timeout-seconds", "60", "--resume", "t1"];
    handoff(&scratch, RESULT).args(options).run().exits(0);
    Progress::read(scratch.path("p")).completed();
    assert_eq!(scratch.text("r"), RESULT);
    let argv = argv(&scratch);
    for words in [&["-m", "m"], &["resume", "t1"], &["-c", "model_reasoning_effort=\"high\""]] {
        assert_has(&argv, words);
    }
}

#[test]
fn a_new_run_has_the_defaults_of_the_shell_runner() {
    let argv = argv_with(&[]);
    assert_eq!(argv[1], "exec");
    for words in [
        &BYPASS[..],
        &["--json"],
        &["--output-schema", SCHEMA],
        &["-c", "notify=[]"],
        &["-c", "service_tier=\"default\""],
    ] {
        assert_has(&argv, words);
    }
    for word in ["resume", "-m", "--model", "--skip-git-repo-check"] {
        assert_lacks(&argv, &[word]);
    }
    assert!(!argv.iter().any(|word| word.contains("model_reasoning_effort")), "{argv:?}");
    assert_eq!(argv.last().map(String::as_str), Some("-"));
}

#[test]
fn the_prompt_goes_to_codex_byte_for_byte() {
    let scratch = Scratch::git();
    let steps = Script::new().save_prompt(&scratch.path("prompt")).append(&answers(RESULT));
    let prompt = "two\nlines, no end of line: ü \"$HOME\" `x`";
    over(&scratch, &steps).stdin(prompt).run().exits(0);
    assert_eq!(scratch.text("prompt"), prompt);
    over(&scratch, &steps).stdin("").run().exits(64);
}

#[test]
fn an_old_progress_file_is_started_anew() {
    let scratch = Scratch::git();
    scratch.write("p", "an old run\n");
    scratch.write("r", "an old result");
    handoff(&scratch, RESULT).run().exits(0);
    Progress::read(scratch.path("p")).completed();
    assert_eq!(scratch.text("r"), RESULT);
}

#[test]
fn without_a_result_file_the_answer_goes_to_stdout_and_the_elapsed_seconds_to_stderr() {
    let scratch = Scratch::git();
    let ran = bare(&scratch, &answers(RESULT)).args(["--progress-file", "p"]).run();
    ran.exits(0).stdout_is(format!("{RESULT}\n"));
    assert!(ran.stderr_lines().last().is_some_and(|line| line == "codex-launch: elapsed=0s"), "{ran}");
}

#[test]
fn events_may_go_to_stdout() {
    let scratch = Scratch::git();
    let ran = bare(&scratch, &answers(RESULT)).args(["--progress-file", "-", "--result-file", "r"]).run();
    ran.exits(0);
    Progress::parse(&ran.stdout).completed();
    assert_eq!(scratch.text("r"), RESULT);
}

#[test]
fn rights_that_are_asked_for_are_those_it_has() {
    for (options, sandbox) in [
        (&["--read-only"][..], "read-only"),
        (&["--sandbox", "workspace-write"], "workspace-write"),
        (&["--sandbox=danger-full-access"], "danger-full-access"),
    ] {
        let argv = argv_with(options);
        assert_has(&argv, &["--sandbox", sandbox]);
        assert_lacks(&argv, &BYPASS);
    }
    assert_has(&argv_with(&["--bypass"]), &BYPASS);
}

#[test]
fn a_resumed_run_has_the_rights_that_it_states() {
    let argv = argv_with(&["--resume", "t1", "--read-only"]);
    let place = |word: &str| argv.iter().position(|one| one == word);
    assert!(place("--sandbox").expect("a sandbox") < place("resume").expect("resume"), "{argv:?}");
    assert_has(&argv, &["--sandbox", "read-only"]);
    assert_lacks(&argv, &BYPASS);
}

#[test]
fn codex_works_at_the_top_of_the_worktree() {
    let scratch = Scratch::git();
    works_in(&argv_after(handoff(&scratch, RESULT), &scratch), scratch.dir());
    // Below it, the outputs are named from where the script was started.
    std::fs::create_dir_all(scratch.path("a b/c")).expect("folders");
    works_in(&argv_after(handoff(&scratch, RESULT).dir(scratch.path("a b/c")), &scratch), scratch.dir());
    assert_eq!(scratch.text("a b/c/r"), RESULT);
    Progress::read(scratch.path("a b/c/p")).completed();
    // An empty `.git`, as sandboxes leave it, is no worktree.
    std::fs::create_dir(scratch.path("a b/.git")).expect("a folder");
    works_in(&argv_after(handoff(&scratch, RESULT).dir(scratch.path("a b/c")), &scratch), scratch.dir());
    // A linked worktree has a file there.
    scratch.write("a b/c/.git", "gitdir: elsewhere\n");
    let nested = scratch.path("a b/c");
    works_in(&argv_after(handoff(&scratch, RESULT).dir(&nested), &scratch), &nested);
}

#[track_caller]
fn argv_after(filter: Filter, scratch: &Scratch) -> Vec<String> {
    filter.run().exits(0);
    argv(scratch)
}

#[test]
fn a_directory_that_is_named_is_where_it_works() {
    let scratch = Scratch::git();
    std::fs::create_dir(scratch.path("sub")).expect("a folder");
    for options in [&["--cd", "sub"][..], &["--cd=sub"]] {
        works_in(&argv_after(handoff(&scratch, RESULT).args(options), &scratch), &scratch.path("sub"));
    }
}

#[test]
fn outside_a_worktree_it_is_refused_unless_the_check_is_skipped() {
    let scratch = Scratch::new();
    let ran = handoff(&scratch, RESULT).run();
    ran.exits(66).stderr_has("not in a git worktree, where --bypass could not be undone");
    assert!(!scratch.has("p") && !scratch.has("portrait"));
    let argv = argv_after(handoff(&scratch, RESULT).arg("--skip-git-repo-check"), &scratch);
    works_in(&argv, scratch.dir());
}

#[test]
fn settings_of_the_user_replace_its_own() {
    let argv = argv_with(&["-c", "service_tier=\"flex\"", "-c", "notify=[\"x\"]"]);
    for (own, users) in
        [("service_tier=\"default\"", "service_tier=\"flex\""), ("notify=[]", "notify=[\"x\"]")]
    {
        let place = |setting: &str| argv.iter().position(|word| word == setting).expect("the setting");
        // The last one counts for Codex.
        assert!(place(own) < place(users), "{argv:?}");
    }
}

#[test]
fn another_schema_takes_the_place_of_its_own() {
    for spelled in [&["--output-schema", "other.json"][..], &["--output-schema=other.json"]] {
        let scratch = Scratch::git();
        scratch.write("other.json", "{}");
        let argv = argv_after(handoff(&scratch, "{}").args(spelled), &scratch);
        assert_lacks(&argv, &[SCHEMA]);
        assert_eq!(argv.iter().filter(|word| *word == "--output-schema").count(), 1, "{argv:?}");
    }
}

#[test]
fn words_behind_two_hyphens_are_for_codex() {
    let argv = argv_with(&["--", "--enable", "x", "--sandbox", "read-only"]);
    for words in [&BYPASS[..], &["--output-schema", SCHEMA], &["--enable", "x", "--sandbox", "read-only"]] {
        assert_has(&argv, words);
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
fn the_status_is_the_launchers() {
    let ended = |steps: &Script, options: &[&str], status: i32| {
        let scratch = Scratch::git();
        scratch.write("r", "an old result");
        over(&scratch, steps).args(options).run().exits(status);
        assert!(!scratch.has("r"), "{status}");
        Progress::read(scratch.path("p"))
    };
    ended(&Script::new().lines([T, S]).turn_failed("x").exit(1), &[], 1).failed_with(1);
    ended(&Script::new().lines([T, S]).exit(7), &[], 7).failed_with(7);
    ended(&Script::new().lines([T, S]).exit(0), &[], 70).failed(70, "incomplete");
    ended(&Script::new().lines([T, S]).die("KILL"), &[], 137).failed(137, "killed");
    ended(&Script::new().lines([T, S]).hang(), &["--timeout-seconds", "0.3"], 124).failed_by("timeout");
    ended(&Script::new().thread("t2").hang(), &["--resume", "t1"], 125).failed(125, "wrong-thread");
}

#[test]
fn a_signal_cancels_the_run() {
    let scratch = Scratch::git();
    let running = over(&scratch, &Script::new().lines([T, S]).touch(&scratch.path("on")).hang()).start();
    scratch.wait_for("on");
    // It reaches the launcher, because the script has become the launcher.
    running.signal(Signal::SIGTERM);
    running.end().exits(143);
    Progress::read(scratch.path("p")).failed_by("cancelled");
    assert!(!scratch.has("r"));
}

#[test]
fn wrong_usage_starts_nothing() {
    for options in [
        &["--timeout-seconds", "0"][..],
        &["--timeout-seconds", "x"],
        &["--no-such-option"],
        &["--model"],
        &["--read-only", "--sandbox", "workspace-write"],
        &["--read-only", "--bypass"],
        &["a-word"],
    ] {
        let scratch = Scratch::git();
        handoff(&scratch, RESULT).args(options).run().exits(64);
        assert!(!scratch.has("p") && !scratch.has("portrait"), "{options:?}");
    }
}

#[test]
fn a_codex_without_what_a_run_needs_is_refused() {
    for (missing, options, status) in [
        ("--json", &[][..], 69),
        ("--output-schema", &[], 69),
        ("--dangerously-bypass-approvals-and-sandbox", &[], 69),
        ("--sandbox", &["--read-only"], 69),
        ("--sandbox", &["--sandbox", "workspace-write"], 69),
        ("--json", &["--read-only"], 69),
        // What is not needed is not missed.
        ("--sandbox", &[], 0),
        ("--dangerously-bypass-approvals-and-sandbox", &["--read-only"], 0),
        ("--ephemeral", &[], 0),
    ] {
        let scratch = Scratch::git();
        let ran = handoff(&scratch, RESULT).args(options).env("FAKE_CODEX_HELP_WITHOUT", missing).run();
        ran.exits(status);
        assert_eq!(scratch.has("p"), status == 0, "{missing} {options:?}");
        if status == 69 {
            ran.stderr_has(&format!("codex-launch: {missing}: this codex does not know it"));
        }
    }
}

#[test]
fn a_codex_that_is_missing_or_not_signed_in_is_refused() {
    let scratch = Scratch::git();
    handoff(&scratch, RESULT).env("FAKE_CODEX_LOGIN", "fail").run().exits(69).stderr_has("Not logged in");
    handoff(&scratch, RESULT).args(["--codex", "no-such-program"]).run().exits(69).stderr_has("not found");
    assert!(!scratch.has("p") && !scratch.has("portrait"));
}

#[test]
fn a_sign_in_is_verified_with_nothing_of_its_own_added() {
    let scratch = Scratch::git();
    bare(&scratch, &answers("ok")).arg("--verify-sign-in").run().exits(0);
    let argv = argv(&scratch);
    for words in [&BYPASS[..], &["--output-schema"], &["notify=[]"]] {
        assert_lacks(&argv, words);
    }
    assert_has(&argv, &["--sandbox", "read-only"]);
}

#[test]
fn a_dry_run_says_what_would_be_run() {
    let scratch = Scratch::git();
    let ran = bare(&scratch, &answers(RESULT)).arg("--dry-run").run();
    ran.exits(0);
    let told: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    let argv: Vec<String> = serde_json::from_value(told["argv"].clone()).expect("arguments");
    assert_has(&argv, &["--output-schema", SCHEMA]);
    works_in(&argv, scratch.dir());
    assert!(!scratch.has("portrait"));
}

#[test]
fn the_script_works_through_a_link() {
    let scratch = Scratch::git();
    symlink(SCRIPT, scratch.path("handoff")).expect("a link");
    let filter = handoff(&scratch, RESULT).under(&["bash", "-c", r#"shift; exec ./handoff "$@""#, "bash"]);
    assert_has(&argv_after(filter, &scratch), &["--output-schema", SCHEMA]);
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
    for word in ["--force", "--bypass", "--cd TOP", "notify=[]", "service_tier=\"default\"", "residual_risks"]
    {
        assert!(text.contains(word), "{word} in {text}");
    }
}

#[test]
fn without_a_launcher_it_says_what_to_do() {
    let scratch = Scratch::git();
    for tool in ["bash", "env", "dirname", "readlink"] {
        let out = std::process::Command::new("sh").args(["-c", &format!("command -v {tool}")]).output();
        let path = String::from_utf8(out.expect("sh").stdout).expect("a path");
        symlink(path.trim(), scratch.path(tool)).expect("a link");
    }
    let ran = program(Path::new(SCRIPT)).env("PATH", scratch.dir()).dir(scratch.dir()).run();
    ran.exits(69).stderr_has("codex-launch: not found; install it with ");
    assert_eq!(ran.stderr_lines().len(), 1);
}
