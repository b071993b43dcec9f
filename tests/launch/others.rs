//! Processes of other users, and what an ordinary user's run cannot do to the launcher of that user.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use nix::sys::signal::Signal::SIGKILL;
use nix::sys::signal::kill;
use nix::unistd::Pid;

use super::{compile, launch, progress, seconds};
use crate::harness::filter::{Filter, binary};
use crate::harness::mounts::is_root;
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, Script, T};
use crate::harness::skipped::skipped;
use crate::harness::sweep::{children, is_alive};

/// The words that make a command one of an ordinary user.
const USER: [&str; 4] = ["setpriv", "--reuid=64999", "--regid=64999", "--clear-groups"];

/// A folder of such a user, and the launcher as that user; none where that cannot be.
fn as_user(scratch: &Scratch, script: &Script) -> Option<Filter> {
    let run = || Command::new(USER[0]).args(&USER[1..]).arg(binary("fake-codex")).arg("--version").output();
    if !is_root() || !run().is_ok_and(|output| output.status.success()) {
        skipped("a test as another user needs root, setpriv and a target folder for all");
        return None;
    }
    for folder in [scratch.path(".git"), scratch.dir().to_owned()] {
        std::os::unix::fs::chown(folder, Some(64999), Some(64999)).expect("to give it away");
    }
    Some(launch(scratch, script).env("HOME", scratch.dir()).under(&USER))
}

/// Becomes root's altogether, as what sudo starts, and says so.
const ROOT: &str = r#"
#include <stdio.h>
#include <unistd.h>
int main(void) {
    if (setuid(0) || setsid() < 0) return 1;
    FILE *file = fopen("pid.part", "w");
    fprintf(file, "%d", (int)getpid());
    fclose(file);
    rename("pid.part", "pid");
    sleep(120);
    return 0;
}
"#;

#[test]
fn one_that_may_not_be_signalled_is_named_with_the_reason() {
    let scratch = Scratch::git();
    scratch.write("root.c", ROOT);
    compile(&scratch, "root");
    fs::set_permissions(scratch.path("root"), Permissions::from_mode(0o4755)).expect("a mode");
    let command = "env -u CODEX_FILTERS_TEST_ID ./root < /dev/null > /dev/null 2>&1 & while [ ! -e pid ]; do sleep 0.01; done";
    let Some(launcher) = as_user(&scratch, &Script::good().sh(command)) else { return };
    let ran = launcher.run();
    let pid = scratch.pid("pid");
    kill(pid, SIGKILL).expect("it lives");
    let line = format!("leftovers: process {pid} (root) belongs to another user and may not be signalled");
    ran.took(seconds(10), seconds(30)).stderr_has(&line);
    progress(&scratch);
}

/// Tries to trace each process with a number given as argument, and to open what it keeps to itself.
const TRACER: &str = r#"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
int main(int count, char **words) {
    for (int n = 1; n < count; n++) {
        const char *files[] = {"mem", "environ", "fd/0", "maps"};
        char path[64];
        if (ptrace(PTRACE_SEIZE, atoi(words[n]), 0, 0) == 0) puts("traced");
        for (int file = 0; file < 4; file++) {
            snprintf(path, sizeof path, "/proc/%s/%s", words[n], files[file]);
            if (open(path, O_RDONLY) >= 0) puts(path);
        }
        puts("tried");
    }
    return 0;
}
"#;

#[test]
fn no_command_can_trace_the_launcher_or_look_into_it() {
    let scratch = Scratch::git();
    scratch.write("tracer.c", TRACER);
    compile(&scratch, "tracer");
    let command = format!(
        "runner=$PPID; guardian=$(sed -n 's/^PPid:\\t//p' /proc/$runner/status); ./tracer $runner $guardian > seen; \
         printf '%s\\n' '{M}' '{C}'"
    );
    let script = Script::new().lines([T, S]).answer("ok").sh(&command);
    // Its own descriptors are still its own.
    let Some(launcher) = as_user(&scratch, &script) else { return };
    launcher.args(["--stderr-file", "/dev/fd/2"]).run().exits(0);
    progress(&scratch).completed();
    assert_eq!(scratch.text("seen"), "tried\ntried\n");
    assert_eq!(scratch.text("r"), "ok");
}

/// Becomes a command in a pid namespace that was there before the run. The words in front of it are `namespace`, the
/// number of a process in it.
fn in_namespace(command: &str) -> String {
    format!("nsenter --target $(cat namespace) --pid sh -c '{command}'")
}

#[test]
fn one_that_enters_a_namespace_that_was_there_before_is_ended() {
    if !is_root() {
        skipped("only root may enter a pid namespace");
        return;
    }
    let scratch = Scratch::git();
    let mut init = Command::new("unshare")
        .args(["--pid", "--fork", "--kill-child", "sh", "-c", "echo ready > init; sleep 300 & wait"])
        .current_dir(scratch.dir())
        .spawn()
        .expect("unshare");
    scratch.wait_for("init");
    let inside = children(Pid::from_raw(init.id().cast_signed()))[0].pid;
    scratch.write("namespace", inside.to_string());
    // The first ignores what it can. The second one's parent, which is outside, has ended.
    let entered = in_namespace("trap \"\" TERM INT; echo > first; while :; do sleep 1; done");
    let orphan = in_namespace("echo > second; exec sleep 300");
    let command =
        format!("{entered} & (setsid {orphan} &) & while ! [ -e first -a -e second ]; do sleep 0.01; done");
    let ran = launch(&scratch, &Script::good().no_answer().sh(&command)).run();
    let survived = is_alive(inside);
    kill(inside, SIGKILL).expect("it lives");
    init.wait().expect("unshare");
    ran.exits(0).took(seconds(0), seconds(20)).stderr_lacks("leftovers");
    progress(&scratch).completed();
    assert!(survived, "the namespace's own first process was ended");
}
