//! A case carried out: the processes are started, the fault comes, all is waited for.

use std::fs::File;
use std::io::PipeReader;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::agent;
use super::part::{Part, Words};
use super::plan::{Fault, Form, GATE, Held, Plan, Side, Victim};
use super::record::Record;
use super::world::{self, Cgroup, Mount};
use crate::harness::filter::binary;
use crate::harness::pipes::pipe;
use crate::harness::sweep::{Process, TestId, catches, children};
use crate::harness::wait::{SOON, wait_until};

/// How long after its end what the shell script started may live on. The launcher leaves nothing.
const LINGER: Duration = Duration::from_secs(1);

/// How long one half of the launcher may take when the other was killed: a grace and a second, and more on a busy
/// machine.
const FINISHING: Duration = Duration::from_secs(15);

/// A case that goes on.
pub(super) struct Case<'a> {
    plan: &'a Plan,
    disk: Option<Mount>,
    /// The mark of the launcher and of all that it starts,
    run: TestId,
    /// and that of the others.
    others: TestId,
    launcher: Part,
    tee: Option<Part>,
    /// Who reads stdout of the launcher or of the tee.
    reader: Option<Part>,
    watcher: Option<Part>,
    /// Who reads stdout of the watcher.
    audience: Option<Part>,
    // Goes after those who are in it.
    cgroup: Option<Cgroup>,
}

/// How all ended: statuses as a shell sees them, `None` for what hangs or is not there.
pub(super) struct Ended {
    pub(super) launcher: Option<i32>,
    pub(super) tee: Option<i32>,
    pub(super) watcher: Option<i32>,
    /// What the launcher left.
    pub(super) survivors: Vec<Process>,
    /// Where the files are now.
    pub(super) dir: PathBuf,
    /// It has the file system of the files, if they have one of their own.
    pub(super) _disk: Option<Mount>,
}

/// Carries it out.
pub(super) fn carry_out(plan: &Plan) -> Ended {
    let mut case = Case::start(plan);
    case.inject();
    case.end()
}

impl Case<'_> {
    fn start(plan: &Plan) -> Case<'_> {
        let scratch = &plan.scratch;
        for folder in ["run", "tmp"] {
            std::fs::create_dir(scratch.path(folder)).expect("a folder");
        }
        let disk = match plan.fault {
            Fault::FullDisk => Some(Mount::small_disk(&scratch.path("run"))),
            Fault::FullTemp(_) => Some(Mount::small_disk(&scratch.path("tmp"))),
            Fault::DeadMount(_) => Some(Mount::dead(scratch.dir()).expect("a dead mount")),
            _ => None,
        };
        let cgroup = match plan.fault {
            Fault::Processes(limit) => Some(Cgroup::new(limit)),
            _ => None,
        };
        let start = Start { plan, disk: disk.as_ref(), cgroup: cgroup.as_ref() };
        let (run, others) = (TestId::new(), TestId::new());
        if plan.fault == Fault::DeadMount(Held::Stranger) {
            start.stranger(&others);
        }
        let (watcher, audience) = match plan.side {
            Side::Filters => start.watcher(&others),
            Side::Shell => (None, None),
        };
        let (launcher, tee, reader) = match plan.side {
            Side::Filters => start.filters(&run, &others),
            Side::Shell => start.shell(&run, &others),
        };
        Case { plan, disk, run, others, launcher, tee, reader, watcher, audience, cgroup }
    }

    /// Lets the fault come, if it does not come by itself.
    fn inject(&mut self) {
        match self.plan.fault {
            Fault::Signal(victim, signal) => {
                let Some(pid) = self.at_the_moment(victim) else { return };
                self.signal(victim, pid, signal);
            }
            Fault::Stop(victim, time) => {
                let Some(pid) = self.at_the_moment(victim) else { return };
                self.signal(victim, pid, Signal::SIGSTOP);
                std::thread::sleep(time);
                self.signal(victim, pid, Signal::SIGCONT);
            }
            Fault::Freeze(halves, time) => self.freeze(halves, time),
            Fault::Tamper(_) | Fault::Link(_) => {
                let Some(_) = self.at_the_moment(Victim::Codex) else { return };
                agent::harm(self.plan);
            }
            Fault::FullDisk => {
                let Some(_) = self.at_the_moment(Victim::Codex) else { return };
                world::fill(&self.path("run/ballast"), 0);
            }
            Fault::FullTemp(pages) => {
                let Some(_) = self.at_the_moment(Victim::Codex) else { return };
                world::fill(&self.path("tmp/ballast"), pages);
                self.plan.scratch.write(GATE, "");
            }
            Fault::Processes(None) => {
                let Some(_) = self.at_the_moment(Victim::Codex) else { return };
                self.cgroup.as_ref().expect("a cgroup").close();
            }
            Fault::Reader(of) => {
                std::thread::sleep(self.plan.moment);
                let reader = if of == Victim::Watcher { &mut self.audience } else { &mut self.reader };
                let reader = reader.as_mut().expect("a reader");
                if reader.status().is_none() {
                    kill(reader.pid(), Signal::SIGKILL).expect("killing a reader");
                }
            }
            _ => {}
        }
    }

    /// Stops halves of the launcher for a time.
    fn freeze(&mut self, halves: &[Victim], time: Duration) {
        let Some(runner) = self.at_the_moment(Victim::Runner) else { return };
        for signal in [Signal::SIGSTOP, Signal::SIGCONT] {
            for half in halves {
                let pid = if *half == Victim::Runner { runner } else { self.launcher.pid() };
                self.signal(*half, pid, signal);
            }
            if signal == Signal::SIGSTOP {
                std::thread::sleep(time);
            }
        }
    }

    /// Returns when the moment has come, with the process of the victim; `None` when the run ended before there was
    /// one.
    fn at_the_moment(&mut self, victim: Victim) -> Option<Pid> {
        let pid = match victim {
            Victim::Codex => self.await_pid(|plan| {
                let portrait = plan.scratch.has("portrait").then(|| plan.scratch.json("portrait"))?;
                portrait["pid"].as_i64()
            })?,
            Victim::Descendant => self.await_pid(|plan| {
                let file = plan.scratch.has("descendant").then(|| plan.scratch.text("descendant"))?;
                file.parse().ok()
            })?,
            Victim::Tee if self.plan.side == Side::Shell => self.shell_tee()?,
            Victim::Runner => self.runner()?,
            _ => self.part(victim)?.pid(),
        };
        // Not a wait for anything: the moment is what is drawn.
        std::thread::sleep(self.plan.moment);
        Some(pid)
    }

    fn await_pid(&mut self, find: impl Fn(&Plan) -> Option<i64>) -> Option<Pid> {
        let (mut found, plan, launcher) = (None, self.plan, &mut self.launcher);
        wait_until("the victim is there", SOON, || {
            found = find(plan);
            found.is_some() || launcher.status().is_some()
        });
        found.map(|pid| Pid::from_raw(i32::try_from(pid).expect("a process id")))
    }

    /// The half of the launcher that does the work. It has its parent's name.
    fn runner(&mut self) -> Option<Pid> {
        let (mut found, guardian) = (None, self.launcher.pid());
        wait_until("the launcher has its other half", SOON, || {
            found = children(guardian).into_iter().find(|child| child.command.contains("--result-file"));
            found.is_some() || self.launcher.status().is_some()
        });
        found.map(|runner| runner.pid)
    }

    /// The tee that the script has started.
    fn shell_tee(&mut self) -> Option<Pid> {
        let mut found = None;
        wait_until("the tee of the script is there", SOON, || {
            let processes = self.run.processes();
            found = processes.iter().find(|process| process.command.starts_with("tee ")).map(|tee| tee.pid);
            found.is_some() || self.launcher.status().is_some()
        });
        found
    }

    /// The process that this case has started itself.
    fn part(&mut self, victim: Victim) -> Option<&mut Part> {
        match victim {
            Victim::Launcher => Some(&mut self.launcher),
            Victim::Tee => self.tee.as_mut(),
            Victim::Watcher => self.watcher.as_mut(),
            Victim::Runner | Victim::Codex | Victim::Descendant => None,
        }
    }

    /// Signals a process, unless it has ended: its number may be another's then.
    fn signal(&mut self, victim: Victim, pid: Pid, signal: Signal) {
        let is_there = match self.part(victim) {
            Some(part) => part.status().is_none(),
            None => self.run.is_on(pid),
        };
        if is_there {
            // It may end just now.
            let _ = kill(pid, signal);
        }
    }

    /// Waits for all, in the order in which each can end.
    fn end(mut self) -> Ended {
        let launcher = self.launcher.end();
        if matches!(self.plan.fault, Fault::DeadMount(_)) {
            // Whom it held dies now.
            self.disk = None;
        }
        let linger = match self.plan.side {
            _ if self.plan.fault == Fault::DeadMount(Held::Descendant) => LINGER,
            Side::Shell => LINGER,
            Side::Filters if self.plan.kills_launcher() => FINISHING,
            Side::Filters => Duration::ZERO,
        };
        let survivors = self.run.processes_after(linger);
        self.run.kill_all();
        let tee = self.tee.as_mut().and_then(Part::end);
        self.reader.as_mut().map(Part::end);
        if let Some(watcher) = &mut self.watcher {
            let record = Record::read(&path(self.plan, self.disk.as_ref(), self.plan.record()));
            // It would wait for the end of the budget.
            if watcher.status().is_none() && !record.is_some_and(|record| record.is_sealed()) {
                let pid = watcher.pid();
                wait_until("the watcher has its handlers", SOON, || {
                    watcher.status().is_some() || catches(pid, Signal::SIGTERM)
                });
                if watcher.status().is_none() {
                    kill(pid, Signal::SIGTERM).expect("signalling the watcher");
                }
            }
        }
        let watcher = self.watcher.as_mut().and_then(Part::end);
        self.audience.as_mut().map(Part::end);
        self.others.kill_all();
        let dir = self.path("");
        Ended { launcher, tee, watcher, survivors, dir, _disk: self.disk }
    }

    fn path(&self, name: &str) -> PathBuf {
        path(self.plan, self.disk.as_ref(), name)
    }
}

/// Where a file of the case is.
fn path(plan: &Plan, disk: Option<&Mount>, name: &str) -> PathBuf {
    let path = plan.scratch.path(name);
    disk.map_or(path.clone(), |disk| disk.outside(&path))
}

/// What starts the processes of a case.
struct Start<'a> {
    plan: &'a Plan,
    disk: Option<&'a Mount>,
    cgroup: Option<&'a Cgroup>,
}

impl Start<'_> {
    /// Starts a program as the fault wants it.
    fn part(
        &self,
        who: Victim,
        words: Words,
        mark: &TestId,
        stdin: impl Into<Stdio>,
        stdout: impl Into<Stdio>,
    ) -> Part {
        let plan = self.plan;
        let mut words = self.dressed(who, words).env("TMPDIR", plan.scratch.path("tmp"));
        if let Some(disk) = self.disk {
            words = disk.enter(plan.scratch.dir(), words);
        }
        let mut command = words.command(mark, plan.scratch.dir());
        command.stdin(stdin).stdout(stdout).stderr(self.file(&format!("{who:?}.err").to_lowercase()));
        Part::start(command)
    }

    /// The words, and in front of them and in their environment what makes the fault.
    fn dressed(&self, who: Victim, words: Words) -> Words {
        let plan = self.plan;
        let writer = if plan.form == Form::Tee { Victim::Tee } else { Victim::Launcher };
        let bash = |words: Words, limit: String| {
            words.under(["bash", "-c", &format!(r#"set -o posix; ulimit {limit}; exec "$0" "$@""#)])
        };
        let shim = |words: Words, fault: String| {
            let words = words.env("LD_PRELOAD", world::shim()).env("CODEX_FILTERS_FAULT", fault);
            words.env("CODEX_FILTERS_FAULT_SEEN", plan.scratch.path("seen"))
        };
        match plan.fault {
            Fault::SizeLimit(units) if who == plan.carrier(writer) => bash(words, format!("-f {units}")),
            Fault::Descriptors(victim, most) if who == victim => bash(words, format!("-n {most}")),
            Fault::WriteError(victim, nth) if who == plan.carrier(victim) => {
                shim(words, format!("eio {} {nth}", plan.program(victim)))
            }
            Fault::ShortWrite(victim, nth) if who == plan.carrier(victim) => {
                shim(words, format!("short {} {nth}", plan.program(victim)))
            }
            Fault::Clock(seconds) => shim(words, format!("clock {} {seconds}", plan.moment.as_millis())),
            Fault::Watches(limit) if who == Victim::Watcher => words.under(world::without(limit)),
            Fault::Processes(_) if who == Victim::Launcher => self.cgroup.expect("a cgroup").enter(words),
            _ => words,
        }
    }

    /// Somebody whom the dead mount holds. Who holds it ends it.
    fn stranger(&self, others: &TestId) {
        let plan = self.plan;
        let words = Words::of("dead/file").args(["300"]);
        let words = self.disk.expect("a mount").enter(plan.scratch.dir(), words);
        let mut command = words.command(others, plan.scratch.dir());
        let mut stranger = command.spawn().expect("a stranger");
        plan.scratch.wait_for("held");
        std::thread::spawn(move || stranger.wait());
    }

    /// The launcher, the tee and the reader.
    fn filters(&self, run: &TestId, others: &TestId) -> (Part, Option<Part>, Option<Part>) {
        let plan = self.plan;
        let progress = if plan.form == Form::File { "run/p" } else { "-" };
        // Far longer than it takes, where it is not to decide.
        let leftover_grace = if let Fault::Leftover(_) = plan.fault { 20.0 } else { plan.grace };
        let linger = if let Fault::Linger(time) = plan.fault { time.as_secs_f64() } else { 90.0 };
        let launcher = Words::of(binary("codex-launch"))
            .args(["--codex".as_ref(), binary("fake-codex").as_os_str()])
            .args([format!("--timeout-seconds={}", plan.limit), format!("--kill-grace={}", plan.grace)])
            .args([&format!("--progress-file={progress}"), "--result-file=run/r"])
            .args([format!("--leftover-grace={leftover_grace}"), format!("--linger-seconds={linger}")])
            .args(plan.extra)
            .env("FAKE_CODEX_SCRIPT", plan.scratch.path("script"));
        let launch = |stdout: Stdio| self.part(Victim::Launcher, launcher, run, self.prompt(), stdout);
        match plan.form {
            Form::File => (launch(Stdio::null()), None, None),
            Form::Pipe => {
                let (reader, writer) = pipe();
                let cat = self.cat(others, reader, "run/copy");
                (launch(writer.into()), None, Some(cat))
            }
            Form::Tee => {
                let (events, writer) = pipe();
                let (lines, copies) = pipe();
                let cat = self.cat(others, lines, "out");
                let tee = Words::of(binary("jsonl-tee")).args(["run/copy"]);
                let tee = self.part(Victim::Tee, tee, others, events, copies);
                (launch(writer.into()), Some(tee), Some(cat))
            }
        }
    }

    /// The script and its reader.
    fn shell(&self, run: &TestId, others: &TestId) -> (Part, Option<Part>, Option<Part>) {
        let plan = self.plan;
        let script = Words::of(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/faults/pipeline.sh"))
            .args([&plan.limit.to_string(), "run/p", "run/r", "prompt"])
            .env("CODEX", binary("fake-codex"))
            .env("FAKE_CODEX_SCRIPT", plan.scratch.path("script"));
        let launch = |stdout: Stdio| self.part(Victim::Launcher, script, run, self.prompt(), stdout);
        if plan.form == Form::File {
            return (launch(Stdio::null()), None, None);
        }
        let (reader, writer) = pipe();
        let cat = self.cat(others, reader, "out");
        (launch(writer.into()), None, Some(cat))
    }

    /// The watcher, and its reader where that one is to die.
    fn watcher(&self, others: &TestId) -> (Option<Part>, Option<Part>) {
        let plan = self.plan;
        let watcher = Words::of(binary("wave-watch"))
            .args(["--agent", "A", "600", plan.record()])
            .args(["--digest-seconds=0.05", "--poll-seconds=0.05"]);
        let start = |stdout: Stdio| self.part(Victim::Watcher, watcher, others, Stdio::null(), stdout);
        if plan.fault != Fault::Reader(Victim::Watcher) {
            return (Some(start(self.file("watch").into())), None);
        }
        let (reader, writer) = pipe();
        let cat = self.cat(others, reader, "watch");
        (Some(start(writer.into())), Some(cat))
    }

    /// A reader that keeps what it reads.
    fn cat(&self, mark: &TestId, stdin: PipeReader, name: &str) -> Part {
        let words = Words::of("cat");
        let mut command = words.command(mark, self.plan.scratch.dir());
        command.stdin(stdin).stdout(self.file(name));
        Part::start(command)
    }

    fn prompt(&self) -> File {
        File::open(self.plan.scratch.write("prompt", "do it")).expect("the prompt")
    }

    fn file(&self, name: &str) -> File {
        File::create(self.plan.scratch.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}
