//! Files that come, go, shrink and are replaced while they are watched.

use std::fs;
use std::os::unix::fs::symlink;

use nix::sys::signal::Signal;

use super::{DONE, NO_NOTICES, append, failed, records, settled, told, watch};
use crate::harness::filter::{Filter, filter};
use crate::harness::running::Running;
use crate::harness::scratch::Scratch;
use crate::harness::script::{M, S, T, lines};

/// With the kernel's notices, and without.
fn both_ways(scratch: &Scratch, files: &[&str]) -> [Filter; 2] {
    let polling = watch(scratch, files).env(NO_NOTICES.0, NO_NOTICES.1).args(["--poll-seconds", "0.02"]);
    [watch(scratch, files), polling]
}

/// Digests often enough to see by them what the watcher has read.
const DIGESTS: [&str; 2] = ["--digest-seconds", "0.05"];

/// Returns when so many events of the only agent have been read.
#[track_caller]
fn has_read(running: &Running, events: u64) {
    told(running, &format!("\"eventCount\":{events},"));
}

/// What was told, without digests.
fn without_digests(stdout: &[u8]) -> Vec<String> {
    records(stdout).into_iter().filter(|record| !record.contains("watcher.digest")).collect()
}

#[test]
fn late_files_late_folders_and_files_that_are_complete_all_settle() {
    let files = ["before", "first", "late", "new/deep/later"];
    for way in 0..2 {
        let scratch = Scratch::new();
        scratch.write("before", lines([T, DONE]));
        let [one, other] = both_ways(&scratch, &files);
        let running = if way == 0 { one } else { other }.args(DIGESTS).start();
        append(scratch.path("first"), lines([DONE]));
        told(&running, "watcher.digest");
        append(scratch.path("late"), lines([S, DONE]));
        fs::create_dir_all(scratch.path("new/deep")).expect("a folder");
        append(scratch.path("new/deep/later"), lines([T, S, M, DONE]));
        let ran = running.end();
        let told = without_digests(&ran.exits(0).stdout);
        assert_eq!(told.len(), 8);
        for (file, events) in files.into_iter().zip([1, 0, 1, 3]) {
            assert!(told.contains(&settled(file, events, DONE, 0, 1)[0]), "{file}\n{ran}");
        }
    }
}

/// `change` happens to a file of two lines that have been read, and the watcher says so.
#[track_caller]
fn truncates(change: impl Fn(&Scratch)) {
    for way in 0..2 {
        let scratch = Scratch::new();
        scratch.write("A1", lines([T, S]));
        let [one, other] = both_ways(&scratch, &["A1"]);
        let running = if way == 0 { one } else { other }.args(DIGESTS).start();
        has_read(&running, 2);
        change(&scratch);
        let ran = running.end();
        assert_eq!(without_digests(&ran.exits(65).stdout), [failed("A1", "truncated-progress", None)]);
    }
}

#[test]
fn a_file_that_shrinks_or_is_replaced_is_truncated() {
    truncates(|scratch| drop(scratch.write("A1", "")));
    truncates(|scratch| drop(scratch.write("A1", lines([T]))));
    truncates(|scratch| drop(scratch.write("A1", lines([M, M, M, DONE]))));
    // In place, to exactly the old length.
    truncates(|scratch| {
        let length = lines([T, S]).len();
        let mut file = fs::File::options().write(true).open(scratch.path("A1")).expect("the file");
        let done = r#"{"type":"handoff.completed"}"#;
        let text = format!("{done}{}\n", " ".repeat(length - done.len() - 1));
        std::io::Write::write_all(&mut file, text.as_bytes()).expect("writing");
    });
    truncates(|scratch| {
        fs::remove_file(scratch.path("A1")).expect("removing");
        scratch.write("A1", lines([T, S, M, DONE]));
    });
    truncates(|scratch| {
        scratch.write("other", lines([T, S, M, DONE]));
        fs::rename(scratch.path("other"), scratch.path("A1")).expect("renaming");
    });
}

#[test]
fn a_file_of_which_nothing_was_read_may_be_another() {
    for way in 0..2 {
        let scratch = Scratch::new();
        scratch.write("A1", "");
        let [one, other] = both_ways(&scratch, &["A1"]);
        let running = if way == 0 { one } else { other }.args(DIGESTS).start();
        told(&running, "\"progressFileExists\":true");
        fs::remove_file(scratch.path("A1")).expect("removing");
        told(&running, "\"progressFileExists\":false");
        append(scratch.path("A1"), lines([T, DONE]));
        let ran = running.end();
        assert_eq!(without_digests(&ran.exits(0).stdout), settled("A1", 1, DONE, 1, 1));
    }
}

#[test]
fn a_file_that_is_gone_is_waited_for() {
    let scratch = Scratch::new();
    scratch.write("A1", lines([T]));
    let running = watch(&scratch, &["A1"]).args(DIGESTS).start();
    has_read(&running, 1);
    fs::rename(scratch.path("A1"), scratch.path("away")).expect("renaming");
    told(&running, "\"progressFileExists\":false");
    append(scratch.path("away"), lines([DONE]));
    fs::rename(scratch.path("away"), scratch.path("A1")).expect("renaming");
    let ran = running.end();
    assert_eq!(without_digests(&ran.exits(0).stdout), settled("A1", 1, DONE, 1, 1));
}

#[test]
fn a_file_that_is_moved_away_for_good_settles_by_its_budget_alone() {
    let scratch = Scratch::new();
    scratch.write("A1", lines([T, S]));
    let watcher = filter("wave-watch").dir(scratch.dir()).args(["--agent", "A1", "2", "A1"]).args(DIGESTS);
    let start = ["--no-sentinel-grace-seconds", "0.5", "--start-seconds", "1"];
    let running = watcher.args(start).start();
    has_read(&running, 2);
    fs::rename(scratch.path("A1"), scratch.path("away")).expect("renaming");
    told(&running, "\"progressFileExists\":false");
    // Its writer goes on under the other name, which nobody has told the watcher.
    append(scratch.path("away"), lines([M, DONE]));
    let ran = running.end();
    let told = without_digests(&ran.exits(1).stdout);
    assert!(
        told[0].contains(r#""reason":"no-sentinel","#) && told[0].contains(r#""eventCount":2,"#),
        "{ran}"
    );
}

#[test]
fn what_touches_a_file_and_changes_nothing_in_it_is_no_fault() {
    for way in 0..2 {
        let scratch = Scratch::new();
        scratch.write("A1", lines([T, S]));
        let [one, other] = both_ways(&scratch, &["A1"]);
        let running = if way == 0 { one } else { other }.args(DIGESTS).start();
        has_read(&running, 2);
        let file = fs::File::options().append(true).open(scratch.path("A1")).expect("the file");
        file.set_modified(std::time::SystemTime::UNIX_EPOCH).expect("a time");
        fs::hard_link(scratch.path("A1"), scratch.path("other name")).expect("a link");
        let mut file = fs::File::options().write(true).open(scratch.path("A1")).expect("the file");
        std::io::Write::write_all(&mut file, lines([T, S]).as_bytes()).expect("writing the same once more");
        append(scratch.path("A1"), lines([M, DONE]));
        let ran = running.end();
        assert_eq!(without_digests(&ran.exits(0).stdout), settled("A1", 3, DONE, 1, 1));
    }
}

#[test]
fn a_half_line_that_is_taken_back_is_forgotten() {
    let scratch = Scratch::new();
    let half = r#"{"type":"handoff.comp"#;
    scratch.write("A1", lines([T]) + half);
    let running = watch(&scratch, &["A1"]).args(DIGESTS).start();
    has_read(&running, 1);
    let file = fs::File::options().write(true).open(scratch.path("A1")).expect("the file");
    file.set_len(lines([T]).len() as u64).expect("cutting");
    append(scratch.path("A1"), lines([S, M, DONE]));
    let ran = running.end();
    assert_eq!(without_digests(&ran.exits(0).stdout), settled("A1", 3, DONE, 1, 1));
}

#[test]
fn notices_that_overflow_cost_no_sentinel() {
    let scratch = Scratch::new();
    let names: Vec<String> = (0..100).map(|n| format!("A{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for name in &names {
        scratch.write(name, lines([T]));
    }
    let running = watch(&scratch, &names).args(["--poll-seconds", "100"]).args(DIGESTS).start();
    told(&running, "\"agentId\":\"A99\"");
    running.signal(Signal::SIGSTOP);
    let mut files: Vec<fs::File> = names
        .iter()
        .map(|name| fs::File::options().append(true).open(scratch.path(name)).expect("the file"))
        .collect();
    for _ in 0..500 {
        for file in &mut files {
            std::io::Write::write_all(file, lines([S]).as_bytes()).expect("writing");
        }
    }
    for name in &names {
        append(scratch.path(name), lines([DONE]));
    }
    running.signal(Signal::SIGCONT);
    let ran = running.end();
    let told = without_digests(&ran.exits(0).stdout);
    assert_eq!(told.len(), 200);
    for name in names {
        assert!(told.contains(&settled(name, 501, DONE, 0, 1)[0]), "{name}\n{ran}");
    }
}

#[test]
fn bytes_without_a_line_are_life() {
    let scratch = Scratch::new();
    let running = watch(&scratch, &["A1"]).args(DIGESTS).start();
    append(scratch.path("A1"), r#"{"type":"item.completed","item":{"type":"reasoning","text":""#);
    for round in 1..=5 {
        append(scratch.path("A1"), "x".repeat(1_000_000));
        // Within two digests of what has just come, one finds the agent quiet for no longer than its interval.
        let alive = |stdout: &[u8]| {
            let text = String::from_utf8_lossy(stdout).into_owned();
            let digests = text.lines().filter_map(|line| super::without_time(line, "\"quietSeconds\":"));
            digests
                .filter(|(line, quiet)| line.contains("\"progressFileExists\":true") && *quiet < 0.1)
                .count()
        };
        crate::harness::wait::wait_until("it is alive", crate::harness::wait::SOON, || {
            append(scratch.path("A1"), "y");
            alive(&running.stdout()) >= round
        });
    }
    append(scratch.path("A1"), "\"}}\n");
    told(&running, "\"lastActivity\":{\"type\":\"reasoning\"}");
    append(scratch.path("A1"), lines([DONE]));
    let ran = running.end();
    assert_eq!(without_digests(&ran.exits(0).stdout), settled("A1", 1, DONE, 1, 1));
}

#[test]
fn what_a_link_leads_to_is_polled() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("far")).expect("a folder");
    scratch.write("far/there", "");
    symlink("far/there", scratch.path("A1")).expect("a link");
    symlink("far/late", scratch.path("A2")).expect("a link");
    let polls = ["--poll-seconds", "0.05"];
    let running = watch(&scratch, &["A1", "A2"]).args(polls).args(["--digest-seconds", "0.3"]).start();
    told(&running, "watcher.digest");
    append(scratch.path("far/there"), lines([DONE]));
    append(scratch.path("far/late"), lines([T, DONE]));
    let ran = running.end();
    let told = without_digests(&ran.exits(0).stdout);
    assert!(told.contains(&settled("A1", 0, DONE, 0, 1)[0]), "{ran}");
    assert!(told.contains(&settled("A2", 1, DONE, 0, 1)[0]), "{ran}");
}
