//! Where a platform tells nothing of descendants, the process group is what is ended: the same tests on any platform,
//! by forcing the way without.

use nix::libc;
use nix::sys::signal::{Signal, kill};
use serde_json::{Value, json};
use std::ops::RangeInclusive;

use super::{compile, launch, progress, seconds};
use crate::harness::filter::Filter;
use crate::harness::mounts::own_mounts;
use crate::harness::ran::Ran;
use crate::harness::scratch::Scratch;
use crate::harness::script::{M, S, Script, T};
use crate::harness::skipped::skipped;
use crate::harness::sweep::is_alive;
use crate::harness::wait::{SOON, wait_until};

fn portable(scratch: &Scratch, script: &Script) -> Filter {
    launch(scratch, script).env("CODEX_FILTERS_PORTABLE", "1")
}

/// A script that leaves a descendant with these fields, which ignores what it can and holds Codex's pipes open, and
/// then goes on as `rest`.
fn leaving(scratch: &Scratch, mut descendant: Value, rest: &Script) -> Script {
    descendant["life"] = "sleep".into();
    descendant["seconds"] = 300.into();
    descendant["ignore"] = json!(["INT", "TERM"]);
    descendant["pipes"] = "hold".into();
    descendant["pid"] = json!(scratch.path("pid"));
    Script::new().spawn(descendant).append(rest)
}

#[test]
fn the_group_is_ended_whatever_the_ending() {
    let hanging = Script::new().lines([T, S, M]).hang();
    let crash = Script::new().lines([T, S]).die("KILL");
    for (rest, status) in [(Script::good(), 0), (crash, 137), (hanging, 124)] {
        let scratch = Scratch::git();
        let script = leaving(&scratch, json!({}), &rest);
        let limits = ["--timeout-seconds", "2", "--kill-grace", "1"];
        portable(&scratch, &script).args(limits).run().exits(status).took(seconds(0), seconds(20));
        assert!(!is_alive(scratch.pid("pid")), "status {status}");
        assert_eq!(progress(&scratch).sentinel.contains("handoff.completed"), status == 0);
    }
}

#[test]
fn a_session_of_its_own_is_out_of_reach_and_holds_nothing_up() {
    let scratch = Scratch::git();
    let running = portable(&scratch, &leaving(&scratch, json!({"session": "own"}), &Script::good())).start();
    wait_until("a sentinel", SOON, || scratch.has("p") && scratch.text("p").contains("handoff."));
    // It shows that the way without is the one that was taken; and it holds Codex's pipes open to the end.
    assert!(is_alive(scratch.pid("pid")));
    kill(scratch.pid("pid"), Signal::SIGKILL).expect("a process");
    wait_until("it is gone", SOON, || !is_alive(scratch.pid("pid")));
    running.end().exits(0).took(seconds(0), seconds(20));
    progress(&scratch).completed();
}

/// Asserts that the run said before its start that the group is all that it can end, and why, and at its end that
/// something may be left.
#[track_caller]
fn says_so(ran: &Ran, why: &str) {
    let lines = ran.stderr_lines();
    let first = format!("codex-launch: processes: only the process group of codex can be ended: {why}");
    assert_eq!(lines.first(), Some(&first), "{ran}");
    let last = "codex-launch: leftovers: a process that left the process group of codex may be alive: nobody looked for it";
    assert_eq!(lines.iter().filter(|line| *line == last).count(), 1, "{ran}");
    assert!(lines.last().expect("a line").starts_with("codex-launch: elapsed="), "{ran}");
}

#[test]
fn it_is_said_before_and_after_every_run() {
    for (script, status) in [(Script::good(), 0), (Script::new().lines([T, S]).exit(3), 3)] {
        let scratch = Scratch::git();
        let ran = portable(&scratch, &script).run();
        says_so(ran.exits(status), "this platform does not list descendants");
        assert_eq!(progress(&scratch).sentinel.contains("handoff.completed"), status == 0);
    }
}

#[test]
fn a_missing_proc_and_a_strange_one_are_named() {
    let shells = [
        // In a container one /proc may stand on another.
        (
            r#"while umount -l /proc 2> /dev/null; do :; done; exec "$0" "$@""#,
            "/proc cannot be read: no such file or directory",
        ),
        (r#"exec unshare --pid --fork "$0" "$@""#, "/proc is of another pid namespace"),
    ];
    for (shell, why) in shells {
        let scratch = Scratch::git();
        let Some(mounts) = own_mounts() else {
            skipped("nothing may be mounted here");
            return;
        };
        let words: Vec<&str> = mounts.iter().copied().chain(["sh", "-c", shell]).collect();
        let ran = launch(&scratch, &Script::good()).under(&words).run();
        says_so(ran.exits(0), why);
        progress(&scratch).completed();
    }
}

/// Becomes the program given as arguments, for which one system call fails with an error where one argument of it is in a
/// range: by a filter of system calls, as a container has one.
const REFUSE: &str = r#"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(int count, char **words) {
    if (count < 7) return 99;
    unsigned call = atoi(words[1]), argument = atoi(words[2]), first = atoi(words[3]), last = atoi(words[4]);
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 8 * argument),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first, 0, 2),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, last, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | atoi(words[5])),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 99;
    execvp(words[6], words + 6);
    return 99;
}
"#;

/// The launcher, for which the system call `call` fails with `error` where its argument `argument` is in `range`.
fn refused(
    scratch: &Scratch,
    script: &Script,
    (call, argument): (i64, u32),
    range: RangeInclusive<i32>,
    error: i32,
) -> Filter {
    scratch.write("refuse.c", REFUSE);
    compile(scratch, "refuse");
    let path = scratch.path("refuse");
    let numbers = [call, argument.into(), (*range.start()).into(), (*range.end()).into(), error.into()];
    let numbers = numbers.map(|number: i64| number.to_string());
    let words: Vec<&str> =
        [path.to_str().expect("a path")].into_iter().chain(numbers.iter().map(String::as_str)).collect();
    launch(scratch, script).under(&words)
}

#[test]
fn a_subreaper_that_a_filter_refuses_is_named() {
    let scratch = Scratch::git();
    let subreaper = libc::PR_SET_CHILD_SUBREAPER;
    let call = (libc::SYS_prctl, 0);
    let ran = refused(&scratch, &Script::good(), call, subreaper..=subreaper, libc::EPERM).run();
    says_so(ran.exits(0), "orphans cannot be adopted: operation not permitted");
    progress(&scratch).completed();
}

#[test]
fn locks_that_are_refused_are_named_once_with_the_reason() {
    for (error, why) in [(libc::EACCES, "permission denied"), (libc::ENOLCK, "no locks available")] {
        let scratch = Scratch::git();
        let range = libc::F_OFD_GETLK..=libc::F_OFD_SETLKW;
        let ran = refused(&scratch, &Script::good(), (libc::SYS_fcntl, 1), range, error).run();
        let line = format!(
            "codex-launch: --progress-file p: cannot be locked: {why}; a second launch on it is not refused"
        );
        let said: Vec<String> = ran.exits(0).stderr_lines();
        let said: Vec<&String> = said.iter().filter(|line| line.contains("locked")).collect();
        assert_eq!(said, [&line], "{ran}");
        progress(&scratch).completed();
    }
}

#[test]
fn a_run_whose_pipes_cannot_be_asked_how_full_they_are_is_complete() {
    let scratch = Scratch::git();
    let bytes = i32::try_from(libc::FIONREAD).expect("a small number");
    // Somebody holds the pipes open, so how much is left in them has to be known.
    let script = leaving(&scratch, json!({"session": "own"}), &Script::good());
    let ran = refused(&scratch, &script, (libc::SYS_ioctl, 1), bytes..=bytes, libc::EPERM);
    ran.args(["--leftover-grace", "0"]).run().exits(0).took(seconds(0), seconds(20));
    progress(&scratch).completed();
}
