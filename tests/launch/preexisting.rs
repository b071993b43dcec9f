//! Processes of the shell that became the launcher: none of the run's, and never signalled.

use std::fs;

use nix::sys::signal::Signal::{SIGKILL, SIGTERM};
use nix::sys::signal::kill;
use nix::unistd::Pid;
use serde_json::json;

use super::stopping::writes_down;
use super::{launch, progress, seconds};
use crate::harness::running::Running;
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, Script, T, lines};
use crate::harness::sweep::{children, is_alive, name};
use crate::harness::wait::{SOON, wait_until};

/// A shell that has a child, `job`, and becomes the launcher. When there is a file `ready` the job starts a `server` in a
/// session of its own and ends. Neither has the mark of the run, because nobody is to end them.
const SHELL: &str = r#"
    unset_mark="env -u CODEX_FILTERS_TEST_ID"
    $unset_mark sh -c '
        echo -n $$ > job.part; mv job.part job
        while [ ! -e ready ]; do sleep 0.01; done
        setsid sh -c "echo -n \$\$ > server.part; mv server.part server; exec sleep 300" &
        while [ ! -e server ]; do sleep 0.01; done
    ' < /dev/null > /dev/null 2>&1 &
    $unset_mark sh -c 'echo -n $$ > logger.part; mv logger.part logger; exec sleep 300' < /dev/null > /dev/null 2>&1 &
    while [ ! -e job ] || [ ! -e logger ]; do sleep 0.01; done
    exec "$0" "$@""#;

/// The launcher that a shell with children has become, and those children.
struct Company {
    scratch: Scratch,
    running: Running,
}

impl Company {
    fn start(scratch: Scratch, script: &Script) -> Company {
        let launcher = launch(&scratch, script).args(["--kill-grace", "1"]).linger(seconds(30));
        let running = launcher.under(&["sh", "-c", SHELL]).start();
        scratch.wait_for("server");
        let (job, pid) = (scratch.pid("job"), running.pid());
        wait_until("the job has ended", SOON, || children(pid).iter().all(|child| child.pid != job));
        Company { scratch, running }
    }

    fn strangers(&self) -> [Pid; 2] {
        [self.scratch.pid("server"), self.scratch.pid("logger")]
    }

    /// The guardian and the runner.
    fn processes(&self) -> [Pid; 2] {
        let guardian = self.running.runner();
        let mut runner = None;
        wait_until("there is a runner", SOON, || {
            let found = children(guardian).into_iter().map(|child| child.pid);
            runner = found.into_iter().find(|pid| name(*pid).as_deref() == Some("codex-launch"));
            runner.is_some()
        });
        [guardian, runner.expect("a process")]
    }

    /// Waits for the sentinel and for the end of the run's processes, and asserts that those of the shell live.
    fn end(self, status: i32) -> Scratch {
        let strangers = self.strangers();
        let Company { scratch, running } = self;
        wait_until("the sentinel is there", SOON, || scratch.text("p").contains("handoff."));
        let survived = strangers.map(is_alive);
        strangers.iter().for_each(|pid| _ = kill(*pid, SIGKILL));
        running.end().exits(status);
        assert_eq!(survived, [true, true], "a stranger was ended");
        scratch
    }
}

#[test]
fn they_and_what_they_start_outlive_a_good_run() {
    let scratch = Scratch::git();
    let (ready, go) = (scratch.path("ready"), scratch.path("go"));
    let script = Script::new()
        .lines([T, S])
        .spawn(json!({"session": "own", "orphan": true, "life": "sleep", "seconds": 300}))
        .touch(&ready)
        .await_file(&go)
        .lines([M, C]);
    let company = Company::start(scratch, &script);
    let server = company.strangers()[0];
    let ours = [company.running.pid()].into_iter().chain(company.processes());
    let adopted: Vec<Pid> = ours.flat_map(children).map(|child| child.pid).collect();
    assert!(!adopted.contains(&server), "the launcher has adopted a stranger");
    company.scratch.write("go", "");
    let scratch = company.end(0);
    progress(&scratch).completed().events_are([T, S, M, C]);
    assert_eq!(scratch.text("r"), "ok");
}

#[test]
fn whichever_process_is_killed_they_live_and_nothing_of_the_run_does() {
    // A process that starts its successor in a new session and ends, over and over, as long as there is this folder.
    let next = r#"[ -e generations ] && echo x >> generations && setsid sh -c "$F" &"#;
    let relay = r#"echo x > generations; sh -c "$F"; while [ $(wc -l < generations) -lt 20 ]; do sleep 0.01; done
        echo > ready; while :; do sleep 300; done"#;
    for (victim, status) in [(0, 137), (1, 137), (2, 125)] {
        let scratch = Scratch::git();
        let script = Script::new().lines([T, S]).sh(&format!("F='{next}'; export F; {relay}"));
        let company = Company::start(scratch, &script);
        wait_until("the events are there", SOON, || company.scratch.text("p") == lines([T, S]));
        let [guardian, runner] = company.processes();
        kill([company.running.pid(), guardian, runner][victim], SIGKILL).expect("killing a process");
        let scratch = company.end(status);
        progress(&scratch).failed(status, "lost").events_are([T, S]);
        assert!(!scratch.has("r"));
        let generations = fs::read(scratch.path("generations")).expect("the generations").len();
        for _ in 0..20 {
            std::thread::yield_now();
            assert_eq!(scratch.read("generations").len(), generations);
        }
    }
}

#[test]
fn a_signal_ends_the_run_by_its_steps_and_the_status_is_passed_on() {
    let scratch = Scratch::git();
    let script = writes_down(&scratch);
    let company = Company::start(scratch, &script);
    company.running.signal(SIGTERM);
    let scratch = company.end(143);
    progress(&scratch).failed_by("cancelled").events_are([T, S]);
    assert_eq!(scratch.text("got"), "INT\nTERM\n");
}
