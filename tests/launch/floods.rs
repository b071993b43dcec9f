//! Streams and lines that are longer than memory.

use super::{launch, progress};
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, Script, T, lines};

#[test]
fn stderr_of_70_kb_without_lf_is_kept_whole() {
    let scratch = Scratch::git();
    let script = Script::new().lines([T, S]).flood("stderr", 70_000, "no-lf").lines([M, C]);
    launch(&scratch, &script).args(["--stderr-file", "e"]).run().exits(0);
    assert!(scratch.read("e") == vec![b'x'; 70_000]);

    let script = script.stderr("and the end of it").exit(1);
    let ran = launch(&scratch, &script).args(["--force", "--stderr-file", "e2"]).run();
    ran.exits(1).stderr_has(&("x".repeat(3000) + "and the end of it"));
    assert!(ran.stderr.len() < 6000, "{ran}");
}

#[test]
fn stderr_of_500_mb_without_lf_takes_little_memory() {
    let scratch = Scratch::git();
    let script = Script::new().lines([T, S]).flood("stderr", 500_000_000, "no-lf").lines([M, C]).exit(1);
    let ran = launch(&scratch, &script).run();
    ran.exits(1).peak_under_mib(16).stderr_has(&"x".repeat(3000));
    assert!(ran.stderr.len() < 6000, "{ran}");
    progress(&scratch).failed(1, "").events_are([T, S, M, C]);
}

#[test]
fn a_line_longer_than_memory_passes_and_is_judged() {
    let scratch = Scratch::git();
    let script = Script::new().lines([T, S]).flood("stdout", 64_000_000, "one-line").lines([M, C]);
    launch(&scratch, &script).run().exits(0).peak_under_mib(16);
    let progress = progress(&scratch);
    progress.completed();
    assert_eq!(progress.events.iter().map(String::len).collect::<Vec<_>>()[2..3], [63_999_999]);
    assert_eq!(progress.events.len(), 5);
}

#[test]
fn a_line_longer_than_memory_that_is_no_json_is_kept_out() {
    let scratch = Scratch::git();
    // It begins as an event and is broken at its very end.
    let script =
        Script::new().lines([T, S]).raw(r#"{"type":"x","text":""#).flood("stdout", 64_000_000, "no-lf");
    let ran = launch(&scratch, &script.line("\"").lines([M, C])).run();
    ran.exits(0).peak_under_mib(16);
    progress(&scratch).completed().events_are([T, S, M, C]);
}

#[test]
fn a_line_that_cannot_be_held_back_is_a_failure_when_it_is_an_event_alone() {
    for (end, status) in [("\"}", 74), ("\"", 0)] {
        let scratch = Scratch::git();
        std::fs::create_dir(scratch.path("tmp")).expect("a folder");
        scratch.write("end", lines([end, M, C]));
        // Without that folder there is no temporary file.
        let flood =
            r#"mv tmp moved; printf '{"type":"x","text":"'; yes xx | tr -d '\n' | head -c 3000000; cat end"#;
        let script = Script::new().no_answer().lines([T, S]).sh(flood);
        let ran = launch(&scratch, &script).env("TMPDIR", scratch.path("tmp")).run();
        ran.exits(status);
        let progress = progress(&scratch);
        match status {
            0 => progress.completed().events_are([T, S, M, C]),
            _ => progress.failed(74, "io").events_are([T, S]),
        };
    }
}
