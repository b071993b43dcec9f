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
}

impl Kind {
    /// Those that mean something to a side: the shell has no watcher.
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
        ];
        all.into_iter().filter(|kind| side == Side::Filters || *kind != Watches).collect()
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
            _ if kind == Kind::FullDisk => Form::File,
            _ => *[Form::File, Form::File, Form::Tee].choose(random).expect("a form"),
        };
        let scratch = Scratch::git();
        let end = match random.random_range(0..10) {
            0..6 => End::Good,
            6 | 7 => End::Exit(random.random_range(1..4)),
            _ => End::Timeout,
        };
        let script = script(random, &scratch, side, end);
        // A run that comes to its end by itself has all the time that a busy machine may need.
        let limit = if end == End::Timeout { random.random_range(0.1..0.4) } else { 50.0 };
        let grace = random.random_range(0.1..0.4);
        let extras = ["--stderr-file=run/e", "--session-file=run/s"];
        let extra = extras.choose(random).filter(|_| random.random_bool(0.5)).copied();
        let moment = Duration::from_micros(random.random_range(0..120_000));
        Plan { side, scratch, script, end, limit, grace, extra, form, fault, moment }
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
            Fault::FullDisk | Fault::SizeLimit(_) | Fault::Clock(_) => None,
        }
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
    }
}

/// What Codex does: it says who it is, leaves descendants, prints lines of any length and takes its time.
fn script(random: &mut StdRng, scratch: &Scratch, side: Side, end: End) -> Script {
    // As the first one says where it is, the fault can hit it.
    let mut script = descendant(random, Script::new(), Some(scratch));
    script = script.portrait(&scratch.path("portrait")).lines([T, S]);
    for n in 0..random.random_range(2..14) {
        script = match random.random_range(0..10) {
            0..5 => script.message(&"x".repeat(random.random_range(0..6000))),
            5..8 => script.delay_ms(random.random_range(0..25)),
            8 if n < 6 => descendant(random, script, None),
            // A script that would keep noise out of its progress file is none that people write.
            _ if side == Side::Filters => script.stderr("some words\n").line("noise"),
            _ => script.stderr("some words\n"),
        };
    }
    match end {
        End::Good => script.message("ok").line(C),
        End::Exit(status) => script.exit(status),
        End::Timeout => script.hang(),
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
