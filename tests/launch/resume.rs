//! Continuing a thread.

use super::{bare, launch, progress, seconds};
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, Script, T};

/// The arguments of the child in a good run with these options.
fn argv(options: &[&str]) -> Vec<String> {
    let scratch = Scratch::git();
    scratch.write("earlier", format!("{T}\n{S}\n"));
    let script = Script::new().portrait(&scratch.path("portrait")).lines([T, S, M, C]);
    launch(&scratch, &script).args(options).run().exits(0);
    serde_json::from_value(scratch.json("portrait")["argv"].clone()).expect("arguments")
}

#[test]
fn a_thread_is_continued_by_its_id_or_by_an_earlier_file() {
    for options in [["--resume", "t1"], ["--resume-from", "earlier"]] {
        let argv = argv(&options);
        let resume = argv.iter().position(|word| word == "resume").expect("the word resume");
        assert_eq!(argv[resume..resume + 2], ["resume", "t1"]);
        assert_eq!(argv.last().map(String::as_str), Some("-"));
    }
}

#[test]
fn rights_and_directory_are_stated_before_the_word_resume() {
    let argv = argv(&["--resume", "t1", "--read-only", "--add-dir", "/tmp", "--model", "m", "--ephemeral"]);
    let resume = argv.iter().position(|word| word == "resume").expect("the word resume");
    let before = &argv[..resume];
    let has = |long: &str, short: &str| before.iter().any(|word| word == long || word == short);
    assert!(has("--sandbox", "-s") && has("--cd", "-C") && has("--json", ""), "{argv:?}");
    assert!(before.iter().any(|word| word == "read-only"), "{argv:?}");
    assert!(before.iter().any(|word| word.starts_with("approval_policy=")), "{argv:?}");
}

#[test]
fn an_empty_id_is_wrong_usage() {
    let scratch = Scratch::git();
    launch(&scratch, &Script::good()).args(["--resume", ""]).run().exits(64);
    assert_eq!(scratch.names(), [".git", "script"]);
}

#[test]
fn another_thread_is_stopped_at_once() {
    let scratch = Scratch::git();
    let script = Script::new().thread("t2").lines([S, M, C]).hang();
    let ran = launch(&scratch, &script).args(["--resume", "t1"]).run();
    ran.exits(125).took(seconds(0), seconds(30));
    progress(&scratch).failed(125, "wrong-thread");
    assert!(!scratch.has("r"));
}

#[test]
fn another_thread_is_no_success_however_well_it_ends() {
    // 0.98.0 starts a new thread where it does not know the id, as if all were well. Such a run can be over before
    // the launcher has read its first line, on a busy machine most of all.
    let run = |options: &[&str]| {
        let scratch = Scratch::git();
        launch(&scratch, &Script::new().thread("t2").lines([S, M, C])).args(options).run().exits(125);
        progress(&scratch).failed(125, "wrong-thread");
        assert!(!scratch.has("r"));
    };
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                for _ in 0..10 {
                    run(&["--resume", "t1"]);
                    run(&["--resume", "t1", "--decide", "stream"]);
                }
            });
        }
    });
}

#[test]
fn an_earlier_file_has_to_name_a_thread() {
    let scratch = Scratch::git();
    scratch.write("nothing", "");
    scratch.write("no thread", format!("{S}\n"));
    for (file, status) in [("missing", 66), (".", 66), ("nothing", 65), ("no thread", 65)] {
        let ran = launch(&scratch, &Script::good()).args(["--resume-from", file]).run();
        ran.exits(status);
        assert_eq!(ran.stderr_lines().len(), 1, "{ran}");
        assert!(!scratch.has("p"));
    }
}

/// The id of a thread of 2026, in the one spelling that every Codex takes.
const ID: &str = "019f0000-ba96-7d60-bf1d-199067abcfe6";

#[test]
fn one_id_may_be_spelled_in_several_ways() {
    for spelling in [ID.to_uppercase(), ID.replace('-', ""), format!("{{{ID}}}"), format!("urn:uuid:{ID}")] {
        let scratch = Scratch::git();
        let script = Script::new().portrait(&scratch.path("portrait")).thread(ID).lines([S, M, C]);
        launch(&scratch, &script).args(["--resume", &spelling]).run().exits(0);
        assert!(scratch.json("portrait")["argv"].to_string().contains(&format!("\"resume\",\"{ID}\"")));
        progress(&scratch).completed();
    }
}

#[test]
fn a_name_is_that_of_a_thread_that_was_there_before() {
    let scratch = Scratch::git();
    launch(&scratch, &Script::new().thread(ID).lines([S, M, C]))
        .args(["--resume", "my-thread"])
        .run()
        .exits(0);
    progress(&scratch).completed();
    // Codex begins a new thread where it does not know the name.
    let new = Script::new().thread("ffff0000-ba96-7d60-bf1d-199067abcfe6").lines([S, M, C]).hang();
    launch(&scratch, &new).args(["--force", "--resume", "my-thread"]).run().exits(125);
    progress(&scratch).failed(125, "wrong-thread");
}

#[test]
fn the_last_thread_of_an_earlier_file_is_the_one() {
    let scratch = Scratch::git();
    let two = Script::new().thread("t1").lines([S, M, C]).thread("t2").lines([S, M, C]);
    scratch.write("earlier", format!("{two}"));
    let script = Script::new().thread("t2").lines([S, M, C]);
    launch(&scratch, &script).args(["--resume-from", "earlier", "--session-file", "s"]).run().exits(0);
    assert_eq!(scratch.text("s"), "t2\n");
}

#[test]
fn a_thread_is_forked_by_its_id_or_by_an_earlier_file() {
    for (fork, id) in [("earlier", "t1"), (&*ID.to_uppercase(), ID)] {
        let scratch = Scratch::git();
        scratch.write("earlier", format!("{T}\n{S}\n"));
        let script = Script::new().portrait(&scratch.path("portrait")).thread("t2").lines([S, M, C]);
        launch(&scratch, &script).args(["--fork", fork, "--session-file", "s"]).run().exits(0);
        let argv: Vec<String> =
            serde_json::from_value(scratch.json("portrait")["argv"].clone()).expect("arguments");
        assert_eq!(argv[argv.len() - 3..], ["fork", id, "-"]);
        // The fork is a thread of its own.
        assert_eq!(scratch.text("s"), "t2\n");
        progress(&scratch).completed();
    }
}

#[test]
fn a_codex_without_fork_is_refused() {
    let scratch = Scratch::git();
    let launcher = launch(&scratch, &Script::good()).args(["--fork", ID]);
    launcher
        .env("FAKE_CODEX_HELP_WITHOUT", "fork")
        .run()
        .exits(69)
        .stderr_has("fork: this codex does not know");
    assert!(!scratch.has("p"));
}

#[test]
fn a_review_needs_no_prompt_and_is_given_none() {
    let scratch = Scratch::git();
    let script = Script::new().save_prompt(&scratch.path("prompt")).portrait(&scratch.path("portrait"));
    let script = script.append(&Script::good());
    bare(&scratch, &script)
        .stdin("")
        .args(["--", "review", "--uncommitted"])
        .run()
        .exits(0)
        .stdout_is("ok\n");
    let argv: Vec<String> =
        serde_json::from_value(scratch.json("portrait")["argv"].clone()).expect("arguments");
    assert_eq!(argv[argv.len() - 2..], ["review", "--uncommitted"]);
    assert_eq!(scratch.text("prompt"), "");
    // What to look for can be said instead.
    bare(&scratch, &script).stdin("for typos").args(["--", "review", "-"]).run().exits(0);
    assert_eq!(scratch.text("prompt"), "for typos");
    for options in
        [&["--prompt-file", "script", "--", "review", "--base", "x"][..], &["--resume", "t1", "--", "review"]]
    {
        bare(&scratch, &script).args(options).run().exits(64);
    }
}
