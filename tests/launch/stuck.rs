//! Processes that the kernel holds: they hold the launcher up no longer than is said.

use nix::sys::signal::Signal::SIGTERM;
use nix::sys::signal::{Signal, kill};
use serde_json::json;

use super::{compile, launch, progress, seconds};
use crate::harness::filter::Filter;
use crate::harness::mounts::{is_root, own_mounts};
use crate::harness::scratch::Scratch;
use crate::harness::script::{S, Script, T};

/// Has the launcher started by `shell` in a file system tree of its own, where that is allowed.
fn in_own_mounts(launcher: Filter, shell: &str) -> Option<Filter> {
    let Some(words) = own_mounts() else {
        eprintln!("skipped: nothing may be mounted here");
        return None;
    };
    let words: Vec<&str> = words.iter().copied().chain(["sh", "-c", shell]).collect();
    Some(launcher.under(&words))
}

#[test]
fn a_stranger_whose_files_in_proc_never_answer_holds_nobody_up() {
    // Whoever opens one of these files waits for a writer that never comes.
    let shell = r#"
        mkfifo never
        env -u CODEX_FILTERS_TEST_ID sleep 300 < /dev/null > /dev/null 2>&1 &
        echo -n $! > stranger.part; mv stranger.part stranger
        for file in stat status cmdline environ comm task/$!/stat task/$!/children; do
            mount --bind never /proc/$!/$file || exit 99
        done
        exec "$0" "$@""#;
    let orphan = json!({"session": "own", "orphan": true, "life": "sleep", "seconds": 300});
    let cases = [(Script::good(), 0), (Script::new().lines([T, S]).hang(), 124)];
    for (script, status) in cases {
        let scratch = Scratch::git();
        let script = Script::new().spawn(orphan.clone()).append(&script);
        let launcher = launch(&scratch, &script).args(["--timeout-seconds", "1", "--kill-grace", "1"]);
        let Some(launcher) = in_own_mounts(launcher, shell) else { return };
        let ran = launcher.run();
        kill(scratch.pid("stranger"), Signal::SIGKILL).expect("a stranger");
        ran.exits(status).took(seconds(0), seconds(20)).stderr_lacks("leftovers");
    }
}

/// A file system with one program, `file`, of which the first page can be read and nothing else ever: whoever executes
/// it is held in the midst of that. The arguments are the mount point and a program to take the page from.
const DEAD: &str = r#"
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
static char in[1 << 20], out[1 << 20];
static struct fuse_attr about(unsigned long node, unsigned long size) {
    struct fuse_attr attr = {.ino = node, .size = size, .nlink = 1, .blksize = 4096};
    attr.mode = node == 1 ? S_IFDIR | 0755 : S_IFREG | 0755;
    return attr;
}
int main(int count, char **words) {
    int device = open("/dev/fuse", O_RDWR), program = count == 3 ? open(words[2], O_RDONLY) : -1, served = 0;
    char options[128];
    struct stat stat;
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", device);
    if (device < 0 || fstat(program, &stat) || mount("dead", words[1], "fuse", 0, options)) return 1;
    close(open("mounted", O_CREAT | O_WRONLY, 0600));
    alarm(120);
    for (;;) {
        struct fuse_in_header *asked = (void *)in;
        struct fuse_out_header *answer = (void *)out;
        void *body = out + sizeof *answer, *given = in + sizeof *asked;
        size_t length = 0;
        if (read(device, in, sizeof in) < 0) { if (errno == EINTR || errno == ENOENT) continue; return 1; }
        memset(out, 0, 4096);
        answer->unique = asked->unique;
        switch (asked->opcode) {
        case FUSE_INIT: {
            struct fuse_init_out *init = body;
            init->major = 7, init->minor = 31, init->max_write = 4096, length = sizeof *init;
            break;
        }
        case FUSE_LOOKUP: {
            struct fuse_entry_out *entry = body;
            if (strcmp(given, "file")) { answer->error = -ENOENT; break; }
            entry->nodeid = 2, entry->entry_valid = entry->attr_valid = 1000, entry->attr = about(2, stat.st_size);
            length = sizeof *entry;
            break;
        }
        case FUSE_GETATTR: {
            struct fuse_attr_out *attr = body;
            attr->attr_valid = 1000, attr->attr = about(asked->nodeid, stat.st_size), length = sizeof *attr;
            break;
        }
        case FUSE_OPEN: case FUSE_OPENDIR: length = sizeof(struct fuse_open_out); break;
        case FUSE_READ: {
            struct fuse_read_in *part = given;
            if (served++) { close(open("held", O_CREAT | O_WRONLY, 0600)); for (;;) pause(); }
            length = pread(program, body, part->size, part->offset);
            break;
        }
        case FUSE_FORGET: case FUSE_BATCH_FORGET: continue;
        case FUSE_RELEASE: case FUSE_FLUSH: break;
        default: answer->error = -ENOSYS;
        }
        answer->len = sizeof *answer + length;
        if (write(device, out, answer->len) < 0) return 1;
    }
}
"#;

#[test]
fn a_process_that_a_dead_file_system_holds_is_named_in_time() {
    if !is_root() || !std::fs::exists("/dev/fuse").unwrap_or(false) {
        eprintln!("skipped: no file system of a program may be mounted here");
        return;
    }
    let shell = r#"
        mkdir dead.mount
        env -u CODEX_FILTERS_TEST_ID ./dead dead.mount /bin/sleep < /dev/null > /dev/null 2>&1 &
        echo -n $! > server.part; mv server.part server
        while [ ! -e mounted ]; do kill -0 $! || exit 99; sleep 0.01; done
        exec "$0" "$@""#;
    let command = "env -u CODEX_FILTERS_TEST_ID setsid dead.mount/file 300 & while [ ! -e held ]; do sleep 0.01; done; sleep 300";
    for (is_cancelled, status) in [(false, 124), (true, 143)] {
        let scratch = Scratch::git();
        scratch.write("dead.c", DEAD);
        compile(&scratch, "dead");
        let limit = if is_cancelled { "100" } else { "1" };
        let launcher = launch(&scratch, &Script::new().lines([T, S]).sh(command));
        let launcher = launcher.args(["--timeout-seconds", limit, "--kill-grace", "1"]);
        let Some(launcher) = in_own_mounts(launcher, shell) else { return };
        let running = launcher.start();
        scratch.wait_for("held");
        if is_cancelled {
            running.signal(SIGTERM);
        }
        let ran = running.end();
        kill(scratch.pid("server"), Signal::SIGKILL).expect("the server");
        // One that does not die of KILL is waited for 10 s.
        ran.exits(status).took(seconds(0), seconds(25)).stderr_has("(file) did not die of KILL");
        progress(&scratch).failed_by(if is_cancelled { "cancelled" } else { "timeout" }).events_are([T, S]);
    }
}
