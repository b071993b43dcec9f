//! `wait`: from before the files are there until each has its sentinel.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use super::{COMPLETED, FAILED, sentinel};
use crate::harness::filter::Filter;
use crate::harness::pipes::pipe;
use crate::harness::running::Running;
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, T, lines};
use crate::harness::wait::{SOON, wait_until};

/// How late a limit may end a wait, in ms, on a machine that has other tests to run. Alone it is 70.
const LATE: u64 = 2000;

fn wait(scratch: &Scratch) -> Filter {
    sentinel(scratch, "wait")
}

/// The same without notices of the kernel.
fn polling(scratch: &Scratch) -> Filter {
    wait(scratch).env("CODEX_FILTERS_PORTABLE", "1")
}

fn append(path: &Path, text: &str) {
    let mut file = File::options().create(true).append(true).open(path).expect("a file");
    file.write_all(text.as_bytes()).expect("writing");
}

/// Returns when this many lines were printed.
#[track_caller]
fn printed(running: &Running, count: usize) {
    let lines = || running.stdout().iter().filter(|&&byte| byte == b'\n').count();
    wait_until("the sentinels are printed", SOON, || lines() >= count);
    assert_eq!(lines(), count);
}

#[test]
fn sentinels_that_are_there_are_printed_at_once() {
    let scratch = Scratch::new();
    scratch.write("a", lines([T, S, M, C, COMPLETED]));
    scratch.write("b", lines([FAILED]));
    wait(&scratch).arg("a").run().exits(0).stdout_is(lines([COMPLETED]));
    wait(&scratch).arg("b").run().exits(1).stdout_is(lines([FAILED]));
    let both = format!("a\t{COMPLETED}\nb\t{FAILED}\n");
    wait(&scratch).args(["a", "b"]).run().exits(1).stdout_is(&both);
    let twice = format!("a\t{COMPLETED}\n").repeat(2);
    wait(&scratch).args(["a", "a"]).run().exits(0).stdout_is(twice);
}

#[test]
fn any_returns_at_the_first() {
    let scratch = Scratch::new();
    scratch.write("b", lines([T, COMPLETED]));
    scratch.write("c", lines([FAILED]));
    wait(&scratch).args(["--any", "missing", "b", "c"]).run().exits(0).stdout_is(format!("b\t{COMPLETED}\n"));
    let running = wait(&scratch).args(["--any", "d", "e"]).start();
    scratch.write("e", lines([FAILED]));
    running.end().exits(1).stdout_is(format!("e\t{FAILED}\n"));
}

#[test]
fn the_limit_ends_it() {
    let scratch = Scratch::new();
    scratch.write("a", lines([COMPLETED]));
    scratch.write("b", lines([T, S]));
    let args = ["--timeout-seconds", "0.3", "a", "b", "c"];
    let ran = wait(&scratch).args(args).run();
    ran.exits(124).stdout_is(format!("a\t{COMPLETED}\n")).took(Duration::from_millis(300), SOON);
    assert_eq!(ran.stderr_lines(), ["jsonl-sentinel: timed out: found no sentinel in b and 1 more"]);
}

#[test]
fn a_file_that_is_finished_is_seen_within_any_limit() {
    let scratch = Scratch::new();
    scratch.write("f", lines([T, S, M, C, COMPLETED]));
    for filter in [wait, polling] {
        for limit in ["0.0001", "0.000000001"] {
            let ran = filter(&scratch).args(["--timeout-seconds", limit, "f", "f"]).run();
            ran.exits(0).stdout_is(format!("f\t{COMPLETED}\n").repeat(2));
        }
    }
}

#[test]
fn reading_a_large_file_ends_at_the_limit() {
    let scratch = Scratch::new();
    let file = File::create(scratch.path("f")).expect("a file");
    // A hole takes no room, and as long to read as anything else.
    file.set_len(30 << 30).expect("a length");
    append(&scratch.path("f"), &lines(["", COMPLETED]));
    scratch.write("g", lines([COMPLETED]));
    for filter in [wait, polling] {
        let ran = filter(&scratch).args(["--timeout-seconds", "0.3", "f", "g"]).run();
        ran.exits(124).stdout_is(format!("g\t{COMPLETED}\n"));
        // The filter's clock begins a moment before the test's.
        ran.took(Duration::from_millis(250), Duration::from_millis(300 + LATE));
    }
}

#[test]
fn a_file_rewritten_in_place_to_its_old_length_is_seen() {
    let pad = |line: &str, length: usize| format!("{line}{}\n", " ".repeat(length - line.len()));
    for filter in [wait, polling] {
        let scratch = Scratch::new();
        let length = COMPLETED.len();
        append(&scratch.path("f"), &pad(T, length));
        let running = filter(&scratch).args(["f", "seen"]).start();
        scratch.write("seen", lines([COMPLETED]));
        printed(&running, 1);
        // As an editor that saves in place does it, and no length tells.
        let mut file = File::options().write(true).open(scratch.path("f")).expect("the file");
        file.write_all(pad(COMPLETED, length).as_bytes()).expect("writing");
        running.end().exits(0).stdout_is(format!("seen\t{COMPLETED}\nf\t{COMPLETED}\n"));
    }
}

#[test]
fn files_and_folders_may_be_late() {
    for filter in [wait, polling] {
        let scratch = Scratch::new();
        fs::create_dir(scratch.path("d")).expect("a folder");
        let running = filter(&scratch).args(["now", "d/f", "late/er/f", "late/g"]).start();
        scratch.write("now", lines([T, COMPLETED]));
        printed(&running, 1);
        append(&scratch.path("d/f"), &lines([T]));
        append(&scratch.path("d/f"), &lines([COMPLETED]));
        printed(&running, 2);
        fs::create_dir_all(scratch.path("late/er")).expect("a folder");
        scratch.write("late/er/f", lines([COMPLETED]));
        printed(&running, 3);
        // A whole file that is moved there.
        scratch.write("beside", lines([FAILED]));
        fs::rename(scratch.path("beside"), scratch.path("late/g")).expect("moving");
        let ran = running.end();
        let names: Vec<String> = ran
            .exits(1)
            .stdout_text()
            .lines()
            .map(|line| line.split('\t').next().unwrap_or_default().into())
            .collect();
        assert_eq!(names, ["now", "d/f", "late/er/f", "late/g"]);
    }
}

#[test]
fn a_folder_may_be_replaced() {
    for filter in [wait, polling] {
        let scratch = Scratch::new();
        fs::create_dir_all(scratch.path("a/b")).expect("a folder");
        append(&scratch.path("a/b/f"), &lines([T, S]));
        let running = filter(&scratch).args(["a/b/f", "seen"]).start();
        scratch.write("seen", lines([COMPLETED]));
        printed(&running, 1);
        fs::rename(scratch.path("a"), scratch.path("old")).expect("moving");
        fs::create_dir_all(scratch.path("a/b")).expect("a folder");
        append(&scratch.path("old/b/f"), &lines([FAILED]));
        append(&scratch.path("a/b/f"), &lines([T, COMPLETED]));
        running.end().exits(0).stdout_is(format!("seen\t{COMPLETED}\na/b/f\t{COMPLETED}\n"));
    }
}

#[test]
fn a_file_may_be_emptied_replaced_or_made_again() {
    let tamper: [fn(&Path); 4] = [
        |path| fs::write(path, lines([S, COMPLETED])).expect("writing"),
        |path| {
            let beside = path.with_extension("new");
            fs::write(&beside, lines([T, T, T, T, COMPLETED])).expect("writing");
            fs::rename(beside, path).expect("moving");
        },
        |path| {
            fs::remove_file(path).expect("removing");
            fs::write(path, lines([S, S, S, S, COMPLETED])).expect("writing");
        },
        // The unfinished line is taken back, as a launcher does on a full disk.
        |path| {
            let file = File::options().write(true).open(path).expect("the file");
            file.set_len(lines([T, S]).len() as u64).expect("cutting");
            append(path, &lines([COMPLETED]));
        },
    ];
    for filter in [wait, polling] {
        for tamper in tamper {
            let scratch = Scratch::new();
            // Half of a line that would make a sentinel of the other half of another.
            let half = r#"{"type":"handoff.failed","x":""#;
            scratch.write("f", format!("{}{half}", lines([T, S])));
            let running = filter(&scratch).args(["f", "seen"]).start();
            scratch.write("seen", lines([COMPLETED]));
            printed(&running, 1);
            tamper(&scratch.path("f"));
            running.end().exits(0).stdout_is(format!("seen\t{COMPLETED}\nf\t{COMPLETED}\n"));
        }
    }
}

#[test]
fn a_link_is_followed() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("d")).expect("a folder");
    symlink("d/f", scratch.path("f")).expect("a link");
    let running = wait(&scratch).arg("f").start();
    append(&scratch.path("d/f"), &lines([T, S]));
    append(&scratch.path("d/f"), &lines([COMPLETED]));
    running.end().exits(0).stdout_is(lines([COMPLETED]));
}

#[test]
fn a_link_that_leads_nowhere_yet_is_waited_for() {
    for filter in [wait, polling] {
        let scratch = Scratch::new();
        symlink("far/f", scratch.path("to-a-file")).expect("a link");
        symlink("far/g", scratch.path("to-a-link")).expect("a link");
        symlink("far", scratch.path("folder")).expect("a link");
        let running = filter(&scratch).args(["seen", "to-a-file", "to-a-link", "folder/h", "later"]).start();
        scratch.write("seen", lines([COMPLETED]));
        printed(&running, 1);
        fs::create_dir(scratch.path("far")).expect("a folder");
        symlink("far/f", scratch.path("later")).expect("a link");
        symlink("i", scratch.path("far/g")).expect("a link");
        for name in ["f", "i", "h"] {
            scratch.write(&format!("far/{name}"), lines([T]));
            append(&scratch.path(&format!("far/{name}")), &lines([COMPLETED]));
        }
        let ran = running.end();
        assert_eq!(ran.exits(0).stdout_text().matches(COMPLETED).count(), 5, "{ran}");
    }
}

#[test]
fn what_is_there_and_cannot_be_followed_ends_it() {
    let scratch = Scratch::new();
    mkfifo(&scratch.path("fifo"), Mode::S_IRWXU).expect("a FIFO");
    for name in [".", "fifo", "/dev/null"] {
        let ran = wait(&scratch).args(["missing", name]).run();
        ran.exits(66).stdout_is("");
        assert_eq!(ran.stderr_lines(), [format!("jsonl-sentinel: {name}: read: not a regular file")]);
    }
}

#[test]
fn a_sentinel_of_any_length_is_printed_as_it_was_read() {
    let scratch = Scratch::new();
    let long = format!(r#"{{"x":"{}","type" : "handoff.failed","a":1.0,"a":1.00}}"#, "é".repeat(200_000));
    scratch.write("f", lines([T, &long]));
    wait(&scratch).arg("f").run().exits(1).stdout_is(lines([&long])).peak_under_mib(16);
}

#[test]
fn signals_end_it_as_usual() {
    let scratch = Scratch::new();
    let running = wait(&scratch).args(["f", "seen"]).start();
    scratch.write("seen", lines([COMPLETED]));
    printed(&running, 1);
    running.signal(Signal::SIGTERM);
    let ran = running.end();
    assert_eq!(ran.exits(143).stderr_text(), "");
}

#[test]
fn a_reader_that_leaves_and_closed_descriptors_are_quiet() {
    let scratch = Scratch::new();
    scratch.write("f", lines([T, COMPLETED]));
    let (reader, writer) = pipe();
    drop(reader);
    let ran = wait(&scratch).args(["f", "missing"]).stdout_to(writer).run();
    assert_eq!(ran.exits(128 + Signal::SIGPIPE as i32).stderr_text(), "");
    for closed in [">&-", "2>&-", "<&- >&- 2>&-"] {
        let script = format!(r#"exec "$0" "$@" {closed}"#);
        let ran = wait(&scratch).arg("f").under(&["sh", "-c", &script]).run();
        assert_eq!(ran.exits(0).stderr_text(), "", "{closed}");
    }
}

/// Fifty files that appear, grow and finish in an order that `seed` gives. Gives the time from each sentinel's write
/// to its line on stdout, and the processor time that all of it took.
fn fifty(filter: Filter, scratch: &Scratch, seed: u64) -> (Vec<Duration>, Duration) {
    const FILES: usize = 50;
    let names: Vec<String> = (0..FILES).map(|n| format!("d{}/f{n}", n % 7)).collect();
    let running = filter.args(&names).start();
    let mut random = StdRng::seed_from_u64(seed);
    let mut order: Vec<usize> = (0..FILES).flat_map(|n| [n; 4]).collect();
    order.shuffle(&mut random);
    let (mut steps, mut late, mut settled) = (vec![0; FILES], Vec::new(), 0);
    for n in order {
        steps[n] += 1;
        let path = scratch.path(&names[n]);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        if steps[n] < 4 {
            append(&path, &lines([T, S, M]).repeat(random.random_range(1..200)));
            continue;
        }
        append(&path, &lines([if n % 3 == 0 { FAILED } else { COMPLETED }]));
        let written = Instant::now();
        settled += 1;
        printed(&running, settled);
        late.push(written.elapsed());
    }
    let busy = processor_time(&running);
    let ran = running.end();
    let mut seen: Vec<String> = ran
        .exits(1)
        .stdout_text()
        .lines()
        .map(|line| line.split('\t').next().unwrap_or_default().into())
        .collect();
    seen.sort();
    let mut expected = names;
    expected.sort();
    assert_eq!(seen, expected);
    late.sort();
    (late, busy)
}

/// The processor time that a filter has taken, while it runs or before it is buried, in steps of 10 ms.
fn processor_time(running: &Running) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{}/stat", running.pid())).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |field: usize| fields.get(field).and_then(|ticks| ticks.parse().ok()).unwrap_or(0);
    Duration::from_millis(10 * (ticks(11) + ticks(12)))
}

#[test]
fn fifty_files_in_any_order_each_wake_it_at_once() {
    for seed in 0..3 {
        let scratch = Scratch::new();
        let (late, busy) = fifty(wait(&scratch), &scratch, seed);
        // A machine that is busy with other tests may be late now and then; a poll would be late half of the time.
        assert!(late[late.len() * 9 / 10] < Duration::from_millis(50), "{late:?}");
        assert!(busy < Duration::from_secs(1), "{busy:?}");
    }
}

#[test]
fn fifty_files_are_seen_by_polling_alone() {
    let scratch = Scratch::new();
    let (late, _) = fifty(polling(&scratch), &scratch, 3);
    assert!(late[late.len() / 2] < Duration::from_millis(500), "{late:?}");
}

#[test]
fn waiting_costs_no_processor_time() {
    for filter in [wait, polling] {
        let scratch = Scratch::new();
        let names: Vec<String> = (0..50).map(|n| format!("f{n}")).collect();
        names.iter().for_each(|name| drop(scratch.write(name, lines([T, S]))));
        let running = filter(&scratch).args(["--timeout-seconds", "2"]).args(&names).start();
        let mut busy = Duration::ZERO;
        wait_until("the time is over", SOON, || {
            busy = busy.max(processor_time(&running));
            !running.stderr().is_empty()
        });
        running.end().exits(124);
        assert!(busy <= Duration::from_millis(40), "{busy:?}");
    }
}
