//! What happens in a case: the run, the fault and its moment, all drawn.

use std::fmt;
use std::time::Duration;

use nix::sys::signal::Signal;
use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use serde_json::json;

use crate::harness::scratch::Scratch;
use crate::harness::script::{C, S, Script, T};

/// The file that Codex waits for where the fault has to come before its end.
pub(super) const GATE: &str = "gate";

/// The file that a leftover makes when it has finished.
pub(super) const WORK: &str = "work";

/// Who runs Codex in a case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    /// The filters.
    Filters,
    /// `pipeline.sh`.
    Shell,
}

/// The kinds of faults.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Kind {
    KillLauncher,
    Kill,
    Stop,
    Term,
    FullDisk,
    SizeLimit,
    WriteError,
    ShortWrite,
    Descriptors,
    Processes,
    Watches,
    Clock,
    Reader,
    Tamper,
    Link,
    Freeze,
    FullTemp,
    Linger,
    Leftover,
    DeadMount,
}

impl Kind {
    /// Those that mean something to a side: the shell has no watcher, no second half and no grace, and promises nothing
    /// about an agent that means harm.
    pub(super) fn of(side: Side) -> Vec<Kind> {
        use Kind::*;
        let all = [
            KillLauncher,
            Kill,
            Stop,
            Term,
            FullDisk,
            SizeLimit,
            WriteError,
            ShortWrite,
            Descriptors,
            Processes,
            Watches,
            Clock,
            Reader,
            Tamper,
            Link,
            Freeze,
            FullTemp,
            Linger,
            Leftover,
            DeadMount,
        ];
        let of_filters = [Watches, Tamper, Link, Freeze, FullTemp, Linger, Leftover, DeadMount];
        all.into_iter().filter(|kind| side == Side::Filters || !of_filters.contains(kind)).collect()
    }

    /// What the table calls it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::KillLauncher => "KILL, launcher",
            Kind::Kill => "KILL, others",
            Kind::Stop => "STOP, CONT",
            Kind::Term => "TERM",
            Kind::FullDisk => "full disk",
            Kind::SizeLimit => "file size limit",
            Kind::WriteError => "EIO",
            Kind::ShortWrite => "short write",
            Kind::Descriptors => "no descriptors",
            Kind::Processes => "no processes",
            Kind::Watches => "no watches",
            Kind::Clock => "clock step",
            Kind::Reader => "reader dies",
            Kind::Tamper => "tampering",
            Kind::Link => "planted link",
            Kind::Freeze => "frozen halves",
            Kind::FullTemp => "full TMPDIR",
            Kind::Linger => "lingering Codex",
            Kind::Leftover => "leftover's grace",
            Kind::DeadMount => "dead mount",
        }
    }
}

/// A process of the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Victim {
    /// What the caller started: the launcher's guardian, or the shell script.
    Launcher,
    /// The launcher's other half.
    Runner,
    Codex,
    Descendant,
    Tee,
    Watcher,
}

/// Where events go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// `codex-launch --progress-file p`
    File,
    /// `codex-launch --progress-file - | jsonl-tee copy | cat > out`
    Tee,
    /// `codex-launch --progress-file - | cat > copy`
    Pipe,
}

/// What goes wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// A signal.
    Signal(Victim, Signal),
    /// STOP, and CONT so much later.
    Stop(Victim, Duration),
    /// The file system of the run's files fills up.
    FullDisk,
    /// No file that the launcher or the tee writes may grow beyond so many units of 512 bytes.
    SizeLimit(u32),
    /// This write to a regular file gives EIO.
    WriteError(Victim, u32),
    /// This write to a regular file takes half of what it is given.
    ShortWrite(Victim, u32),
    /// So many descriptors at the most.
    Descriptors(Victim, u32),
    /// From the start on so many processes and threads at the most, or no more than there are at the moment.
    Processes(Option<u32>),
    /// This limit of the kernel on inotify is 0.
    Watches(&'static str),
    /// The clock of all is set by so many seconds.
    Clock(i32),
    /// The reader of its stdout is killed.
    Reader(Victim),
    /// The agent does this to the progress file.
    Tamper(Tampering),
    /// The agent plants a link to a file of the user under the name of this output.
    Link(&'static str),
    /// STOP to these halves of the launcher, and CONT to each so much later.
    Freeze(&'static [Victim], Duration),
    /// The folder for temporary files fills up, but for so many pages of 4 KiB.
    FullTemp(u32),
    /// Codex does not end after its last turn, and is waited for so long.
    Linger(Duration),
    /// What Codex leaves needs so long to finish its work.
    Leftover(Duration),
    /// A file system that answers no more holds somebody who executes a program of it.
    DeadMount(Held),
}

/// Whom a file system holds that answers no more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Held {
    /// Somebody who has nothing to do with the run.
    Stranger,
    /// A process that Codex has started.
    Descendant,
}

/// What an agent can do to a progress file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tampering {
    /// Adds half a line.
    Append,
    /// Adds a sentinel.
    Forge,
    /// Empties it.
    Truncate,
    /// Gives it another name.
    Move,
    /// Removes it.
    Remove,
    /// Puts another file in its place.
    Replace,
    /// Puts a link to a file of the user in its place.
    Link,
}

impl Tampering {
    const ALL: [Tampering; 7] = [
        Tampering::Append,
        Tampering::Forge,
        Tampering::Truncate,
        Tampering::Move,
        Tampering::Remove,
        Tampering::Replace,
        Tampering::Link,
    ];
}

/// How the run ends when nothing goes wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    Good,
    Exit(i32),
    Timeout,
}

impl End {
    /// The launcher's status.
    pub(super) fn status(self) -> i32 {
        match self {
            End::Good => 0,
            End::Exit(status) => status,
            End::Timeout => 124,
        }
    }
}

/// A case, before it is carried out.
pub(super) struct Plan {
    pub(super) side: Side,
    pub(super) scratch: Scratch,
    pub(super) script: Script,
    /// The answer of a good run.
    pub(super) answer: String,
    pub(super) end: End,
    /// The arguments of the limit and the grace.
    pub(super) limit: f64,
    pub(super) grace: f64,
    /// One of the other outputs.
    pub(super) extra: Option<&'static str>,
    pub(super) form: Form,
    pub(super) fault: Fault,
    /// Counted from the start of the victim, of Codex where that is somebody of the run.
    pub(super) moment: Duration,
}

impl Plan {
    pub(super) fn draw(random: &mut StdRng, side: Side, kind: Kind) -> Plan {
        let fault = fault(random, side, kind);
        let form = match fault {
            Fault::Reader(_) if side == Side::Shell => Form::Tee,
            _ if side == Side::Shell => *[Form::File, Form::Tee].choose(random).expect("a form"),
            Fault::Reader(Victim::Launcher) => Form::Pipe,
            _ if fault.victim() == Some(Victim::Tee) => Form::Tee,
            _ if [Kind::FullDisk, Kind::Tamper].contains(&kind) => Form::File,
            _ => *[Form::File, Form::File, Form::Tee].choose(random).expect("a form"),
        };
        let scratch = Scratch::git();
        let end = match random.random_range(0..10) {
            _ if fault.needs_good_run() => End::Good,
            0..6 => End::Good,
            6 | 7 => End::Exit(random.random_range(1..4)),
            // A limit could end the run before the fault has come.
            _ if fault.is_waited_for() => End::Good,
            _ => End::Timeout,
        };
        let answer = if kind == Kind::FullTemp { "answer. ".repeat(5000) } else { "ok".to_owned() };
        let script = script(random, &scratch, side, fault, end, &answer);
        // A run that comes to its end by itself has all the time that a busy machine may need.
        let limit = if end == End::Timeout { random.random_range(0.1..0.4) } else { 50.0 };
        let grace = random.random_range(0.1..0.4);
        let extras = ["--stderr-file=run/e", "--session-file=run/s"];
        let extra = match fault {
            Fault::Link("s") => Some(extras[1]),
            Fault::Link("e") => Some(extras[0]),
            _ => extras.choose(random).filter(|_| random.random_bool(0.5)).copied(),
        };
        let moment = Duration::from_micros(random.random_range(0..120_000));
        Plan { side, scratch, script, answer, end, limit, grace, extra, form, fault, moment }
    }

    /// How many events Codex prints when nobody ends it.
    pub(super) fn events(&self) -> usize {
        let is_event = |line: &&str| line.starts_with(r#"{"type""#);
        self.script.to_string().lines().filter(is_event).count()
    }

    /// Whether a half of the launcher is killed.
    pub(super) fn kills_launcher(&self) -> bool {
        matches!(self.fault, Fault::Signal(Victim::Launcher | Victim::Runner, Signal::SIGKILL))
    }

    /// The program in the part of a victim.
    pub(super) fn program(&self, victim: Victim) -> &'static str {
        match (self.side, victim) {
            (Side::Filters, Victim::Launcher | Victim::Runner) => "codex-launch",
            (Side::Filters, Victim::Tee) => "jsonl-tee",
            (Side::Filters, Victim::Watcher) => "wave-watch",
            (Side::Shell, Victim::Tee) => "tee",
            (Side::Shell, Victim::Launcher) => "bash",
            _ => "fake-codex",
        }
    }

    /// Whom this case starts itself so that `victim` runs: the script starts its tee.
    pub(super) fn carrier(&self, victim: Victim) -> Victim {
        if self.side == Side::Shell { Victim::Launcher } else { victim }
    }

    /// The file that events go to in the end; the watcher watches it.
    pub(super) fn record(&self) -> &'static str {
        if self.form == Form::File || self.side == Side::Shell { "run/p" } else { "run/copy" }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Plan { form, fault, moment, end, limit, grace, extra, script, .. } = self;
        let script: Vec<String> =
            script.to_string().lines().map(|line| line.chars().take(160).collect()).collect();
        write!(
            f,
            "{form:?}, {fault:?} at {moment:?}, {end:?}, limit {limit}, grace {grace}, {extra:?}\n{}",
            script.join("\n")
        )
    }
}

impl Fault {
    /// Whom it hits, if it is one process.
    pub(super) fn victim(self) -> Option<Victim> {
        match self {
            Fault::Signal(victim, _)
            | Fault::Stop(victim, _)
            | Fault::WriteError(victim, _)
            | Fault::ShortWrite(victim, _)
            | Fault::Descriptors(victim, _)
            | Fault::Reader(victim) => Some(victim),
            Fault::Processes(_) => Some(Victim::Launcher),
            Fault::Watches(_) => Some(Victim::Watcher),
            Fault::FullDisk
            | Fault::SizeLimit(_)
            | Fault::Clock(_)
            | Fault::Tamper(_)
            | Fault::Link(_)
            | Fault::Freeze(..)
            | Fault::FullTemp(_)
            | Fault::Linger(_)
            | Fault::Leftover(_)
            | Fault::DeadMount(_) => None,
        }
    }

    /// Whether the run waits until it has come: it is something that a command of the agent does, or it has to come
    /// before the answer.
    fn is_waited_for(self) -> bool {
        matches!(self, Fault::Tamper(_) | Fault::Link(_) | Fault::FullTemp(_))
    }

    /// Whether it is about how a good run ends.
    fn needs_good_run(self) -> bool {
        matches!(self, Fault::FullTemp(_) | Fault::Linger(_) | Fault::Leftover(_))
    }
}

fn fault(random: &mut StdRng, side: Side, kind: Kind) -> Fault {
    use Victim::{Codex, Descendant, Launcher, Runner, Tee, Watcher};
    let mut one_of = |filters: &[Victim], shell: &[Victim]| {
        *if side == Side::Filters { filters } else { shell }.choose(random).expect("a victim")
    };
    let all = [Runner, Launcher, Codex, Descendant, Tee, Watcher];
    match kind {
        Kind::KillLauncher => Fault::Signal(one_of(&all[..2], &[Launcher]), Signal::SIGKILL),
        Kind::Kill => Fault::Signal(one_of(&all[2..], &all[2..5]), Signal::SIGKILL),
        Kind::Term => Fault::Signal(one_of(&all, &all[1..5]), Signal::SIGTERM),
        Kind::Stop => {
            let victim = one_of(&all, &all[1..5]);
            Fault::Stop(victim, Duration::from_micros(random.random_range(0..100_000)))
        }
        Kind::FullDisk => Fault::FullDisk,
        Kind::SizeLimit => Fault::SizeLimit(random.random_range(12..36)),
        Kind::WriteError => {
            Fault::WriteError(one_of(&[Launcher, Tee, Watcher], &[Tee]), random.random_range(1..10))
        }
        Kind::ShortWrite => {
            Fault::ShortWrite(one_of(&[Launcher, Tee, Watcher], &[Tee]), random.random_range(1..10))
        }
        Kind::Descriptors => {
            let victim = one_of(&[Launcher, Tee, Watcher], &[Launcher]);
            Fault::Descriptors(victim, random.random_range(6..30))
        }
        Kind::Processes => Fault::Processes(random.random_bool(0.5).then(|| random.random_range(2..16))),
        Kind::Watches => {
            let limits = ["max_inotify_instances", "max_inotify_watches"];
            Fault::Watches(limits.choose(random).expect("a limit"))
        }
        Kind::Clock => Fault::Clock(*[-86_400, -30, 30, 86_400].choose(random).expect("a step")),
        Kind::Reader => Fault::Reader(one_of(&[Launcher, Tee, Watcher], &[Launcher])),
        Kind::Tamper => Fault::Tamper(*Tampering::ALL.choose(random).expect("a way")),
        Kind::Link => Fault::Link(["r", "s", "e"].choose(random).expect("an output")),
        Kind::Freeze => {
            let halves: [&[Victim]; 4] = [&[Runner], &[Launcher], &[Runner, Launcher], &[Launcher, Runner]];
            let time = Duration::from_millis(random.random_range(0..1500));
            Fault::Freeze(halves.choose(random).expect("a half"), time)
        }
        Kind::FullTemp => Fault::FullTemp(random.random_range(0..9)),
        Kind::Linger => Fault::Linger(Duration::from_millis(random.random_range(20..400))),
        // One of the run costs the ten seconds that it is waited for.
        Kind::DeadMount => Fault::DeadMount(match random.random_bool(0.2) {
            true => Held::Descendant,
            false => Held::Stranger,
        }),
        Kind::Leftover => Fault::Leftover(Duration::from_millis(random.random_range(0..400))),
    }
}

/// What Codex does: it says who it is, leaves descendants, prints lines of any length and takes its time.
fn script(
    random: &mut StdRng,
    scratch: &Scratch,
    side: Side,
    fault: Fault,
    end: End,
    answer: &str,
) -> Script {
    // What goes on for ever would use up the grace that a leftover is given.
    let has_descendants = !matches!(fault, Fault::Leftover(_));
    let mut script = Script::new();
    if has_descendants {
        // As the first one says where it is, the fault can hit it.
        script = descendant(random, script, Some(scratch));
    }
    script = script.portrait(&scratch.path("portrait")).lines([T, S]);
    for n in 0..random.random_range(2..14) {
        script = match random.random_range(0..10) {
            0..5 => script.message(&"x".repeat(random.random_range(0..6000))),
            5..8 => script.delay_ms(random.random_range(0..25)),
            8 if n < 6 && has_descendants => descendant(random, script, None),
            // A script that would keep noise out of its progress file is none that people write.
            _ if side == Side::Filters => script.stderr("some words\n").line("noise"),
            _ => script.stderr("some words\n"),
        };
    }
    if fault.is_waited_for() {
        script = script.await_file(&scratch.path(GATE));
    }
    if fault == Fault::DeadMount(Held::Descendant) {
        let end = match end {
            End::Good => "exit 0".to_owned(),
            End::Exit(status) => format!("exit {status}"),
            End::Timeout => "exec sleep 300".to_owned(),
        };
        let hold = "setsid dead/file 300 & while [ ! -e held ]; do sleep 0.01; done";
        return script.message(answer).line(C).sh(&format!("{hold}; {end}"));
    }
    match (end, fault) {
        (End::Good, Fault::Linger(_)) => script.message(answer).line(C).hang(),
        (End::Good, Fault::Leftover(time)) => {
            let pipes = ["", ">/dev/null 2>&1"].choose(random).expect("pipes");
            let work = format!("sleep {}; : >{WORK}", time.as_secs_f64());
            script.message(answer).line(C).sh(&format!("({work}) {pipes} & exit 0"))
        }
        (End::Good, _) => script.message(answer).line(C),
        (End::Exit(status), _) => script.exit(status),
        (End::Timeout, _) => script.hang(),
    }
}

fn descendant(random: &mut StdRng, script: Script, says_who: Option<&Scratch>) -> Script {
    let mut fields = json!({"seconds": 300, "life": "sleep", "orphan": random.random_bool(0.5)});
    let mut sometimes = |name: &str, value: serde_json::Value| {
        if random.random_bool(0.5) {
            fields[name] = value;
        }
    };
    sometimes("session", json!("own"));
    sometimes("pipes", json!("hold"));
    sometimes("ignore", json!(["INT", "TERM", "HUP"]));
    if let Some(scratch) = says_who {
        fields["pid"] = json!(scratch.path("descendant"));
    }
    script.spawn(fields)
}
