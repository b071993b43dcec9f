//! How agents settle, what is told meanwhile, and how the wave ends.

use nix::sys::signal::Signal;

use super::{DONE, FAILED, append, records, settled, settlement, told, watch};
use crate::harness::filter::{binary, filter};
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, T, lines};

/// The digest of an agent with a budget of 1200 s.
fn digest(agent: &str, events: u64, activity: &str, idle: bool, exists: bool) -> String {
    format!(
        r#"{{"type":"watcher.digest","agentId":"{agent}","elapsedSeconds":T,"budgetSeconds":1200,"eventCount":{events},"lastActivity":{activity},"noRecentActivity":{idle},"progressFileExists":{exists},"quietSeconds":T,"writerAlive":null}}"#
    )
}

#[test]
fn two_agents_come_late_and_settle_one_after_the_other() {
    let scratch = Scratch::new();
    let running = watch(&scratch, &["A1", "A2"]).args(["--digest-seconds", "0.2"]).start();
    told(&running, "A2");
    append(scratch.path("A1"), lines([T, S, M]));
    told(&running, r#""agentId":"A1","elapsedSeconds":0.2"#);
    told(&running, r#""lastActivity":{"type":"agent_message"},"noRecentActivity":false"#);
    append(scratch.path("A1"), lines([C, DONE]));
    told(&running, "watcher.settlement");
    append(scratch.path("A2"), lines([T, DONE]));
    let ran = running.end();
    ran.exits(0);
    assert_eq!(ran.stderr_text(), "");
    let all = records(&ran.stdout);
    assert_eq!(
        all[..2],
        [digest("A1", 0, "null", true, false), digest("A2", 0, "null", true, false)],
        "a digest before anything came"
    );
    let message = r#"{"type":"agent_message"}"#;
    assert!(all.contains(&digest("A1", 3, message, false, true)), "{all:#?}");
    let others: Vec<&String> = all.iter().filter(|record| !record.contains("watcher.digest")).collect();
    let expected = [settled("A1", 4, DONE, 1, 2), settled("A2", 1, DONE, 2, 2)].concat();
    assert_eq!(others, expected.iter().collect::<Vec<_>>());
    assert!(expected[1].ends_with(r#""settledPercentage":50,"bar":"█████░░░░░"}"#));
    assert!(expected[3].ends_with(r#""settledPercentage":100,"bar":"██████████"}"#));
}

#[test]
fn an_error_and_a_cancel_settle_and_are_failures() {
    let scratch = Scratch::new();
    let cancelled = r#"{"type":"handoff.failed","reason":"cancelled","elapsed_seconds":7}"#;
    scratch.write("A1", lines([T, S, FAILED]));
    scratch.write("A2", lines([T, cancelled]));
    scratch.write("A3", lines([DONE]));
    let ran = watch(&scratch, &["A1", "A2", "A3"]).run();
    let expected =
        [settled("A1", 2, FAILED, 1, 3), settled("A2", 1, cancelled, 2, 3), settled("A3", 0, DONE, 3, 3)];
    assert_eq!(records(&ran.exits(1).stdout), expected.concat());
}

#[test]
fn budget_and_grace_settle_without_a_sentinel_and_what_comes_later_is_ignored() {
    let scratch = Scratch::new();
    let grace = ["--no-sentinel-grace-seconds", "0.02"];
    let late = filter("wave-watch").dir(scratch.dir()).args(["--agent", "late", "0.03", "late"]).args(grace);
    let running = late.args(["--agent", "other", "1200", "other"]).start();
    let record = told(&running, "no-sentinel");
    let elapsed: serde_json::Value = serde_json::from_str(&record).expect("a record");
    assert!(elapsed["elapsedSeconds"].as_f64().is_some_and(|elapsed| elapsed >= 0.05), "{record}");
    append(scratch.path("late"), lines([DONE]));
    append(scratch.path("late"), "not JSON\n");
    append(scratch.path("other"), lines([S, DONE]));
    let ran = running.end();
    let missing = r#"{"type":"watcher.sentinel","agentId":"late","status":"failed","reason":"no-sentinel","elapsedSeconds":T,"budgetSeconds":0.03,"eventCount":0,"sentinel":{"type":"handoff.failed","reason":"no-sentinel"}}"#;
    let mut expected = vec![missing.to_owned(), settlement(1, 2)];
    expected.extend(settled("other", 1, DONE, 2, 2));
    assert_eq!(records(&ran.exits(1).stdout), expected);
}

#[test]
fn a_sentinel_is_told_with_all_that_launchers_write() {
    let scratch = Scratch::new();
    let of = |cause: &str| {
        format!(
            r#"{{"type":"handoff.failed","reason":"error","rc":1,"elapsed_seconds":3,"cause":"{cause}"}}"#
        )
    };
    let mut sentinels = vec![
        r#"{"type":"handoff.completed","elapsed_seconds":9,"output_tokens":1,"lingered":true}"#.to_owned(),
        r#"{"type":"handoff.failed","reason":"error","rc":1,"elapsed_seconds":3,"cause":"usage-limit","retry":"later","retry_at":"2026-01-31T09:05:00Z"}"#.to_owned(),
    ];
    sentinels.extend(
        ["capacity", "policy", "config", "no-thread", "thread-busy", "refused", "tampered", "of-tomorrow"]
            .map(of),
    );
    let names: Vec<String> = (0..sentinels.len()).map(|n| format!("A{n}")).collect();
    for (name, sentinel) in names.iter().zip(&sentinels) {
        scratch.write(name, lines([sentinel]));
    }
    let files: Vec<&str> = names.iter().map(String::as_str).collect();
    let ran = watch(&scratch, &files).run();
    let expected: Vec<String> = names
        .iter()
        .zip(&sentinels)
        .zip(1..)
        .flat_map(|((name, sentinel), count)| settled(name, 0, sentinel, count, names.len()))
        .collect();
    assert_eq!(records(&ran.exits(1).stdout), expected);
}

#[test]
fn a_wave_whose_launches_were_refused_is_over_soon() {
    let scratch = Scratch::git();
    let watcher = watch(&scratch, &["A1", "A2"]).args(["--start-seconds", "2", "--ui", "always"]).start();
    for file in ["A1", "A2"] {
        let launch =
            filter("codex-launch").arg("--codex").arg(binary("fake-codex")).env("FAKE_CODEX_LOGIN", "fail");
        let launch = launch.args(["--progress-file", file, "--result-file", &format!("{file}.result")]);
        launch.dir(scratch.dir()).stdin("do it").run().exits(69);
    }
    let ran = watcher.end();
    assert_eq!(ran.exits(1).stdout_text().matches(r#""reason":"not-started""#).count(), 4, "{ran}");
    let table = ran.stderr_text();
    let last: Vec<&str> = table.lines().rev().take(3).collect();
    assert_eq!(last[0], "██████████ 100% 2 of 2 settled, 2 failed");
    for (row, agent) in last[1..].iter().zip(["A2 failed ", "A1 failed "]) {
        assert!(row.contains(agent) && row.ends_with(" not-started"), "{table}");
    }
}

#[test]
fn agents_whose_files_do_not_appear_settle_as_not_started() {
    let scratch = Scratch::new();
    std::os::unix::fs::symlink("nowhere", scratch.path("link")).expect("a link");
    let start = ["--start-seconds", "0.5", "--digest-seconds", "0.1"];
    let running = watch(&scratch, &["never", "empty", "link", "removed", "no/folder"]).args(start).start();
    scratch.write("removed", "");
    told(&running, r#""progressFileExists":true"#);
    std::fs::remove_file(scratch.path("removed")).expect("removing");
    scratch.write("empty", "");
    let record = told(&running, r#""agentId":"no/folder","status""#);
    let elapsed: serde_json::Value = serde_json::from_str(&record).expect("a record");
    assert!(elapsed["elapsedSeconds"].as_f64().is_some_and(|elapsed| elapsed >= 0.5), "{record}");
    // What was there once has started, and what comes later is ignored.
    append(scratch.path("never"), lines([DONE]));
    append(scratch.path("empty"), lines([DONE]));
    append(scratch.path("removed"), lines([DONE]));
    let ran = running.end();
    let all = records(&ran.exits(1).stdout);
    let settled: Vec<&String> = all.iter().filter(|record| record.contains("watcher.sentinel")).collect();
    let none = |agent| {
        format!(
            r#"{{"type":"watcher.sentinel","agentId":"{agent}","status":"failed","reason":"not-started","elapsedSeconds":T,"budgetSeconds":1200,"eventCount":0,"sentinel":{{"type":"handoff.failed","reason":"not-started"}}}}"#
        )
    };
    assert_eq!(settled.len(), 5);
    assert_eq!(settled[..3], [&none("never"), &none("link"), &none("no/folder")]);
    assert!(settled[3..].iter().all(|record| record.contains(r#""status":"completed""#)), "{settled:#?}");
}

#[test]
fn reading_much_holds_up_no_deadline() {
    let scratch = Scratch::new();
    let file = std::fs::File::create(scratch.path("large")).expect("a file");
    // A hole takes no room, and as long to read as anything else.
    file.set_len(30 << 30).expect("a length");
    append(scratch.path("large"), lines(["", DONE]));
    let watcher = filter("wave-watch").dir(scratch.dir()).args(["--agent", "large", "0.3", "large"]);
    let watcher = watcher.args(["--agent", "small", "0.3", "small", "--no-sentinel-grace-seconds", "0"]);
    let ran = watcher.args(["--digest-seconds", "0.1"]).run();
    let text = ran.exits(1).stdout_text();
    let at = |kind: &str| -> Vec<f64> {
        let records =
            text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("a record"));
        records
            .filter(|record| record["type"] == kind)
            .filter_map(|record| record["elapsedSeconds"].as_f64())
            .collect()
    };
    // Alone it is late by 0.07 s, more where other tests run beside; to read all of it takes many seconds.
    let in_time = |times: &[f64]| times.iter().all(|time| (0.3..2.3).contains(time));
    assert!(at("watcher.sentinel").len() == 2 && in_time(&at("watcher.sentinel")), "{text}");
    assert!(at("watcher.digest").first().is_some_and(|time| *time < 2.0), "{text}");
}

#[test]
fn a_sentinel_that_came_while_the_watcher_slept_beyond_the_deadline_counts() {
    let scratch = Scratch::new();
    let watcher = filter("wave-watch").dir(scratch.dir()).args(["--agent", "A1", "0.2", "A1"]);
    let running = watcher
        .args(["--no-sentinel-grace-seconds", "0.2", "--digest-seconds", "0.05"])
        .env(super::NO_NOTICES.0, super::NO_NOTICES.1)
        .args(["--poll-seconds", "100"])
        .start();
    told(&running, "watcher.digest");
    running.signal(Signal::SIGSTOP);
    append(scratch.path("A1"), lines([DONE]));
    running.signal(Signal::SIGCONT);
    let ran = running.end();
    assert!(ran.exits(0).stdout_text().contains(r#""sentinel":{"type":"handoff.completed""#), "{ran}");
}

#[test]
fn a_killed_run_settles_by_its_budget_alone() {
    for sample in ["killed-int", "killed-term", "killed-kill"] {
        let path = format!("{}/tests/data/samples/codex-0.156.1/{sample}.jsonl", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read(path).expect("the sample");
        let events = text.iter().filter(|&&byte| byte == b'\n').count();
        let scratch = Scratch::new();
        scratch.write("A1", &text);
        let watcher = filter("wave-watch").dir(scratch.dir()).args(["--agent", "A1", "0.1", "A1"]);
        let ran = watcher.args(["--no-sentinel-grace-seconds", "0.1"]).run();
        let missing = format!(
            r#"{{"type":"watcher.sentinel","agentId":"A1","status":"failed","reason":"no-sentinel","elapsedSeconds":T,"budgetSeconds":0.1,"eventCount":{events},"sentinel":{{"type":"handoff.failed","reason":"no-sentinel"}}}}"#
        );
        assert_eq!(records(&ran.exits(1).stdout), [missing, settlement(1, 1)], "{sample}");
    }
}

#[test]
fn a_watcher_that_a_script_put_in_the_background_can_be_interrupted() {
    let scratch = Scratch::new();
    scratch.write("A1", lines([DONE]));
    // Without job control the shell has it ignore INT.
    let script = "\"$0\" \"$@\" & wait $! ; exit $?";
    let running = watch(&scratch, &["A1", "A2"]).under(&["sh", "-c", script]).start();
    told(&running, "watcher.settlement");
    let watchers = crate::harness::sweep::children(running.pid());
    assert_eq!(watchers.len(), 1);
    nix::sys::signal::kill(watchers[0].pid, Signal::SIGINT).expect("signalling it");
    let ran = running.end();
    assert!(ran.exits(130).stdout_text().contains("watcher.cancelled"), "{ran}");
}

#[test]
fn an_ignored_hangup_stays_ignored() {
    let scratch = Scratch::new();
    scratch.write("A1", lines([DONE]));
    let script = "trap '' HUP; exec \"$0\" \"$@\"";
    let running = watch(&scratch, &["A1", "A2"]).under(&["sh", "-c", script]).start();
    told(&running, "watcher.settlement");
    running.signal(Signal::SIGHUP);
    append(scratch.path("A2"), lines([DONE]));
    running.end().exits(0);
}

#[test]
fn signals_cancel_the_watch() {
    for (signal, status) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143), (Signal::SIGHUP, 129)] {
        let scratch = Scratch::new();
        scratch.write("A1", lines([DONE]));
        let running = watch(&scratch, &["A1", "A2", "A3"]).start();
        told(&running, "watcher.settlement");
        running.signal(signal);
        let ran = running.end();
        let mut expected = settled("A1", 0, DONE, 1, 3).to_vec();
        expected.push(r#"{"type":"watcher.cancelled","elapsedSeconds":T,"settled":1,"total":3}"#.into());
        assert_eq!(records(&ran.exits(status).stdout), expected);
        assert_eq!(ran.stderr_text(), "");
    }
}
