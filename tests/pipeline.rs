//! Filters one behind the other, as people use them.

use std::fs::File;
use std::io::Write;
use std::time::{Duration, Instant};

use crate::harness::filter::filter;
use crate::harness::pipes::pipe;
use crate::harness::progress::Progress;
use crate::harness::running::Running;
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, Script, T};
use crate::harness::wait::{SOON, wait_until};

/// `jsonl-tee f | jsonl-sentinel seal`, and where it is fed.
fn tee_and_seal(scratch: &Scratch) -> (Running, Running, std::io::PipeWriter) {
    let ((input, source), (between, output)) = (pipe(), pipe());
    let tee = filter("jsonl-tee").arg("f").dir(scratch.dir()).stdin_from(input).stdout_to(output).start();
    let seal = filter("jsonl-sentinel").arg("seal").stdin_from(between).start();
    (tee, seal, source)
}

#[test]
fn a_line_is_seen_at_every_stage_while_the_source_goes_on() {
    let scratch = Scratch::new();
    let (tee, seal, mut source) = tee_and_seal(&scratch);
    let mut late: Vec<Duration> = Vec::new();
    let mut all = String::new();
    for n in 0..50 {
        let line = format!("{{\"type\":\"turn.started\",\"n\":{n}}}\n");
        let written = Instant::now();
        source.write_all(line.as_bytes()).expect("feeding");
        all += &line;
        wait_until("the line is there", SOON, || {
            seal.stdout() == all.as_bytes() && scratch.has("f") && scratch.text("f") == all
        });
        late.push(written.elapsed());
    }
    late.sort();
    // The look for it takes a millisecond or two, and other tests run beside it.
    assert!(late[25] < Duration::from_millis(20) && late[45] < Duration::from_millis(100), "{late:?}");
    drop(source);
    tee.end().exits(0);
    Progress::parse(&seal.end().exits(1).stdout).failed(70, "incomplete");
    assert_eq!(scratch.text("f"), all);
}

#[test]
fn a_recorded_run_is_sealed_checked_and_waited_for() {
    let scratch = Scratch::new();
    let script = Script::new().lines([T, S, M, C]).write_to(&scratch);
    let launch = filter("fake-codex").args(["exec", "--json", "-"]).env("FAKE_CODEX_SCRIPT", script).run();
    let (tee, seal, mut source) = tee_and_seal(&scratch);
    let waiting = filter("jsonl-sentinel").args(["wait", "run.jsonl"]).dir(scratch.dir()).start();
    source.write_all(&launch.exits(0).stdout).expect("feeding");
    drop(source);
    tee.end().exits(0);
    let sealed = seal.end();
    File::create(scratch.path("run.jsonl"))
        .and_then(|mut file| file.write_all(&sealed.stdout))
        .expect("writing");
    let progress = Progress::read(scratch.path("run.jsonl"));
    progress.completed().events_are([T, S, M, C]);
    waiting.end().exits(0).stdout_is(format!("{}\n", progress.sentinel));
    let check = filter("jsonl-sentinel").args(["check", "run.jsonl"]).dir(scratch.dir()).run();
    check.exits(0).stdout_is("run.jsonl: completed\n");
    let status = filter("jsonl-tee").arg("--status").stdin(&*sealed.stdout).run();
    status.exits(0).stdout_is(&sealed.stdout);
}
