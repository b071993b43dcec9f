//! Continuing a thread.

use super::{launch, progress, seconds};
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
fn l14_an_empty_id_is_wrong_usage() {
    let scratch = Scratch::git();
    launch(&scratch, &Script::good()).args(["--resume", ""]).run().exits(64);
    assert_eq!(scratch.names(), [".git", "script"]);
}

#[test]
fn l14_another_thread_is_stopped_at_once() {
    let scratch = Scratch::git();
    let script = Script::new().thread("t2").lines([S, M, C]).hang();
    let ran = launch(&scratch, &script).args(["--resume", "t1"]).run();
    ran.exits(125).took(seconds(0), seconds(30));
    progress(&scratch).failed(125, "wrong-thread");
    assert!(!scratch.has("r"));
}

#[test]
fn l14_another_thread_is_no_success_however_well_it_ends() {
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
