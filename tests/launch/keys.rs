//! Keys that are removed from the environment cannot be read back out of the launcher's processes.

use super::{compile, launch};
use crate::harness::mounts::is_root;
use crate::harness::scratch::Scratch;
use crate::harness::script::{M, S, Script, T};

const SECRET: &str = "a-secret";

/// Writes down the environment of each ancestor that was started with the mark of the run, as far as it may be read: the
/// launcher's processes, and what stands between them and the command.
const LOOK_UP: &str = r#"
    pid=$$
    while [ "$pid" -gt 1 ]; do
        echo "of $(sed -n 's/^Name:\t//p' /proc/$pid/status)" >> seen
        tr '\0' '\n' < /proc/$pid/environ >> seen 2> /dev/null
        pid=$(sed -n 's/^PPid:\t//p' /proc/$pid/status)
    done
    echo > done"#;

#[test]
fn no_ancestor_has_them() {
    // The second one consists of three processes, since a shell with a child became the launcher.
    for (words, processes) in [(&[][..], 2), (&["sh", "-c", r#"sleep 300 & exec "$0" "$@""#], 3)] {
        let scratch = Scratch::git();
        let keys = ["CODEX_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_THREAD_ID"];
        let script = Script::new().lines([T, S]).sh(&format!("{LOOK_UP}; printf '%s\\n' '{M}'"));
        let launcher = keys.iter().fold(launch(&scratch, &script), |launcher, key| launcher.env(key, SECRET));
        let running = launcher.env("OF_MINE", "kept").under(words).start();
        scratch.wait_for("done");
        for child in crate::harness::sweep::children(running.pid()) {
            if child.command == "sleep 300" {
                nix::sys::signal::kill(child.pid, nix::sys::signal::SIGKILL).expect("a process of this test");
            }
        }
        running.end().exits(70);
        let seen = scratch.text("seen");
        assert_eq!(seen.matches("\nof codex-launch\n").count(), processes, "{seen}");
        // Root reads them all, and finds what was not removed.
        let kept = seen.matches("OF_MINE=kept").count();
        assert!(kept >= 1 && (!is_root() || kept > processes), "{seen}");
        assert!(!seen.contains(SECRET), "{seen}");
    }
}

#[test]
fn a_key_given_twice_is_gone_twice() {
    // execve(2) takes an environment as it is; a program made here gives one that no shell would.
    let scratch = Scratch::git();
    scratch.write(
        "twice.c",
        r#"
        #include <unistd.h>
        extern char **environ;
        int main(int count, char **words) {
            char *both[1000] = {"CODEX_API_KEY=a-secret", "CODEX_API_KEY=a-secret", "OF_MINE=kept"};
            for (int n = 0; environ[n] && n < 900; n++) both[n + 3] = environ[n];
            (void)count;
            execve(words[1], words + 1, both);
            return 1;
        }"#,
    );
    compile(&scratch, "twice");
    let twice = scratch.path("twice");
    let script = Script::new().lines([T, S]).sh(&format!("env > own; {LOOK_UP}"));
    launch(&scratch, &script).under(&[twice.to_str().expect("a path")]).run().exits(70);
    let (seen, own) = (scratch.text("seen"), scratch.text("own"));
    assert!(seen.contains("of codex-launch") && own.contains("OF_MINE=kept"), "{seen}\n{own}");
    assert!(!seen.contains(SECRET) && !own.contains(SECRET), "{seen}\n{own}");
}
