//! Whether the promises were kept.

use std::fs;
use std::path::Path;

use nix::sys::signal::Signal;
use serde_json::Value;

use super::agent;
use super::case::Ended;
use super::plan::{Fault, Form, Plan, Side, Victim, WORK};
use super::record::Record;

/// What can be wrong with a case, in the order of importance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wrong {
    NoSentinel,
    TwoSentinels,
    TornLine,
    Survivor,
    TemporaryFile,
    Harm,
    Status,
}

impl Wrong {
    /// All, as the table names them.
    pub(super) const NAMES: [(Wrong, &'static str); 7] = [
        (Wrong::NoSentinel, "no sentinel"),
        (Wrong::TwoSentinels, "two"),
        (Wrong::TornLine, "torn line"),
        (Wrong::Survivor, "survivors"),
        (Wrong::TemporaryFile, "temp. files"),
        (Wrong::Harm, "harm"),
        (Wrong::Status, "wrong status"),
    ];
}

/// The findings of one case.
pub(super) type Findings = Vec<(Wrong, String)>;

/// All that is wrong with a case.
pub(super) fn check(plan: &Plan, ended: &Ended) -> Findings {
    let mut checks = Check { plan, ended, findings: vec![] };
    let sealed = checks.files();
    if !ended.survivors.is_empty() {
        checks.wrong(Wrong::Survivor, format!("{:?}", ended.survivors));
    }
    checks.temporary_files();
    if !agent::is_precious_unharmed(plan) {
        checks.wrong(Wrong::Harm, "a file of the user has changed".to_owned());
    }
    match plan.side {
        Side::Filters => {
            checks.launcher(sealed.as_ref());
            checks.tee();
            checks.watcher();
        }
        Side::Shell => checks.script(sealed.as_ref()),
    }
    checks.findings
}

struct Check<'a> {
    plan: &'a Plan,
    ended: &'a Ended,
    findings: Findings,
}

impl Check<'_> {
    fn wrong(&mut self, what: Wrong, why: String) {
        self.findings.push((what, why));
    }

    fn read(&self, name: &str) -> Option<Record> {
        Record::read(&self.ended.dir.join(name))
    }

    /// The files that events went to; the sentinel.
    fn files(&mut self) -> Option<Value> {
        let promised = self.promised();
        let mut names = vec![self.plan.record()];
        names.extend(promised.filter(|name| *name != self.plan.record()));
        for name in names {
            // What went into a pipe cannot be taken back: the line that a killed launcher was writing stays torn.
            let allowed = usize::from(self.plan.kills_launcher() && self.plan.form == Form::Tee);
            for line in
                self.read(name).map(|record| record.broken).unwrap_or_default().into_iter().skip(allowed)
            {
                self.wrong(Wrong::TornLine, format!("{name}: {line:?}"));
            }
        }
        let name = promised?;
        let record = self.read(name);
        match &record {
            None if self.may_be_refused() => {}
            // The tee makes its file whatever comes.
            Some(record) if record.is_empty() && self.plan.form == Form::Tee && self.may_be_refused() => {}
            Some(record) if record.is_sealed() => {}
            Some(record) if record.sentinels.len() == 1 => {
                self.wrong(Wrong::TornLine, format!("{name}: a line behind the sentinel"));
            }
            Some(record) if record.sentinels.len() > 1 => {
                self.wrong(Wrong::TwoSentinels, format!("{name}: {:?}", record.sentinels));
            }
            None | Some(_) => self.wrong(Wrong::NoSentinel, name.to_owned()),
        }
        let record = record?;
        let sentinel = record.sentinel()?;
        let all = self.plan.events();
        if sentinel["type"] == "handoff.completed" && self.plan.side == Side::Filters && record.events != all
        {
            self.wrong(Wrong::TornLine, format!("{name}: {} of {all} events", record.events));
        }
        Some(sentinel.clone())
    }

    /// The file that has to end in a sentinel: a tee that dies, or that cannot write, cannot end its file in one, and
    /// what it read goes to its stdout all the same.
    fn promised(&self) -> Option<&'static str> {
        let plan = self.plan;
        if plan.side == Side::Shell || plan.form == Form::File {
            return Some("run/p");
        }
        match plan.fault {
            Fault::Signal(Victim::Tee, _) | Fault::Reader(Victim::Launcher) => None,
            Fault::WriteError(Victim::Tee, _) | Fault::SizeLimit(_) => Some("out"),
            // It may not even have got there.
            Fault::Descriptors(Victim::Tee, _) => self.ended.tee.filter(|status| *status == 0).map(|_| "out"),
            _ => Some("run/copy"),
        }
    }

    /// Whether the launcher may have found before the launch that it cannot run.
    fn may_be_refused(&self) -> bool {
        let may_be = match self.plan.fault {
            Fault::Descriptors(Victim::Launcher, _) | Fault::Processes(_) => {
                [66, 69, 125, 126, 127].contains(&self.ended.launcher.unwrap_or_default())
            }
            Fault::Signal(Victim::Launcher | Victim::Runner, _) => {
                [125, 137, 143].contains(&self.ended.launcher.unwrap_or_default())
            }
            _ => false,
        };
        may_be && !self.ended.dir.join("run/r").exists()
    }

    fn temporary_files(&mut self) {
        // The last one is the agent's.
        let known = [".git", "p", "r", "e", "s", "copy", "ballast", "moved"];
        let mut left = names(&self.ended.dir.join("tmp"));
        left.retain(|name| name != "ballast");
        left.extend(names(&self.ended.dir.join("run")).into_iter().filter(|name| !known.contains(&&**name)));
        if !left.is_empty() {
            self.wrong(Wrong::TemporaryFile, format!("{left:?}"));
        }
    }

    fn status(&mut self, who: Victim, status: Option<i32>, legal: &[i32]) {
        if !status.is_some_and(|status| legal.contains(&status)) {
            let program = self.plan.program(who);
            let said = fs::read_to_string(self.plan.scratch.path(&format!("{who:?}.err").to_lowercase()));
            let said = said.unwrap_or_default();
            self.wrong(Wrong::Status, format!("{program}: {status:?}, not one of {legal:?}\n{said}"));
        }
    }

    /// Whether the write was reached that was to fail.
    fn hit(&self) -> bool {
        self.plan.scratch.has("seen")
    }

    fn launcher(&mut self, sentinel: Option<&Value>) {
        let natural = self.plan.end.status();
        let hit = self.hit();
        let legal = match self.plan.fault {
            Fault::Signal(Victim::Runner, Signal::SIGKILL) => vec![natural, 125],
            Fault::Signal(Victim::Launcher | Victim::Runner | Victim::Codex, signal) => {
                vec![natural, 128 + signal as i32]
            }
            Fault::Signal(Victim::Tee, _) | Fault::FullDisk | Fault::SizeLimit(_) => vec![natural, 74],
            Fault::Reader(Victim::Launcher) => vec![natural, 74],
            // What was hit may have been the sentinel, which is written once more.
            Fault::WriteError(Victim::Launcher, _) if hit => vec![natural, 74],
            // Codex has no more of them either, and panics.
            Fault::Descriptors(Victim::Launcher, _) | Fault::Processes(_) => {
                vec![natural, 66, 69, 74, 101, 125, 126, 127]
            }
            Fault::Descriptors(Victim::Tee, _) if self.ended.tee != Some(0) => vec![natural, 74],
            // A run that failed has a reason of its own.
            Fault::Tamper(_) => vec![if natural == 0 { 74 } else { natural }],
            // The whole answer, or the word that it is not.
            Fault::FullTemp(_) => vec![natural, 74],
            _ => vec![natural],
        };
        self.status(Victim::Launcher, self.ended.launcher, &legal);
        let Some(mut status) = self.ended.launcher else { return };
        // Its other half ends the run, which may have been over in truth.
        let is_dead = self.plan.kills_launcher() && status == 137;
        if let Some(sentinel) = sentinel {
            if is_dead && fits(sentinel, natural) {
                status = natural;
            }
            let is_right = match self.plan.fault {
                Fault::Tamper(_) if status == 74 => sentinel["rc"] == 74 && sentinel["cause"] == "tampered",
                _ => fits(sentinel, status),
            };
            if !is_right {
                self.wrong(Wrong::Status, format!("codex-launch: {status}, and the sentinel is {sentinel}"));
            }
        }
        let path = self.ended.dir.join("run/r");
        let is_file = path.symlink_metadata().ok().map(|about| about.is_file());
        let answer =
            is_file.map(|is_file| if is_file { fs::read(&path).unwrap_or_default() } else { vec![] });
        let is_right = match status {
            0 => answer.as_deref() == Some(self.plan.answer.as_bytes()),
            74 => answer.is_none_or(|answer| answer == self.plan.answer.as_bytes()),
            _ => answer.is_none(),
        };
        if !is_right {
            self.wrong(Wrong::Status, format!("codex-launch: {status}, and the answer does not fit"));
        }
        let has_lingered = matches!(self.plan.fault, Fault::Linger(_));
        if sentinel.is_some_and(|sentinel| (sentinel["lingered"] == true) != has_lingered) {
            self.wrong(Wrong::Status, format!("codex-launch: whether it lingered: {sentinel:?}"));
        }
        if matches!(self.plan.fault, Fault::Leftover(_)) && !self.plan.scratch.has(WORK) {
            self.wrong(Wrong::Survivor, "a leftover was ended before its grace was over".to_owned());
        }
    }

    fn tee(&mut self) {
        if self.plan.form != Form::Tee {
            return;
        }
        let legal: &[i32] = match self.plan.fault {
            Fault::Signal(Victim::Tee, Signal::SIGKILL) => &[0, 137],
            Fault::Signal(Victim::Tee, _) => &[0, 143],
            Fault::WriteError(Victim::Tee, _) if self.hit() => &[74],
            Fault::Descriptors(Victim::Tee, _) => &[0, 66, 74, 127],
            Fault::SizeLimit(_) => &[0, 74],
            _ => &[0],
        };
        self.status(Victim::Tee, self.ended.tee, legal);
    }

    fn watcher(&mut self) {
        let record = self.read(self.plan.record());
        let fits = match record.as_ref().and_then(Record::sentinel) {
            None => 143,
            Some(sentinel) if sentinel["type"] == "handoff.completed" => 0,
            Some(_) => 1,
        };
        let legal = match self.plan.fault {
            Fault::Signal(Victim::Watcher, signal) => vec![fits, 128 + signal as i32],
            Fault::WriteError(Victim::Watcher, _) if self.hit() => vec![74],
            Fault::Descriptors(Victim::Watcher, _) => vec![fits, 66, 74, 127],
            Fault::Reader(Victim::Watcher) => vec![fits, 141],
            // Events that it has read can have made room for the sentinel: then the file is a truncated one.
            Fault::SizeLimit(_) => vec![fits, 65],
            // It goes by what it reads: a forged sentinel, half a line, or a file that is another one.
            Fault::Tamper(_) => vec![fits, 0, 1, 65, 66],
            _ => vec![fits],
        };
        self.status(Victim::Watcher, self.ended.watcher, &legal);
        let is_victim = self.plan.fault.victim() == Some(Victim::Watcher);
        if !is_victim && self.ended.watcher == Some(fits) && !self.has_told(fits) {
            self.wrong(Wrong::Status, format!("wave-watch: {fits}, and it did not say so"));
        }
    }

    /// Whether the watcher's records say what its status says.
    fn has_told(&self, status: i32) -> bool {
        let text = fs::read_to_string(self.plan.scratch.path("watch")).expect("the watcher's records");
        let of = |kind: &str| text.lines().filter(|line| line.contains(kind)).count();
        let completed = r#""type":"watcher.sentinel","agentId":"A","status":"completed""#;
        let failed = r#""type":"watcher.sentinel","agentId":"A","status":"failed""#;
        let told = [of("watcher.cancelled"), of(completed), of(failed), of("watcher.settlement")];
        told == match status {
            0 => [0, 1, 0, 1],
            1 => [0, 0, 1, 1],
            _ => [1, 0, 0, 0],
        }
    }

    /// All that can be asked of a script that lives: that its status says what its sentinel says.
    fn script(&mut self, sentinel: Option<&Value>) {
        let Some(status) = self.ended.launcher else {
            return self.wrong(Wrong::Status, "the script hangs".to_owned());
        };
        if let Some(sentinel) = sentinel
            && !self.plan.kills_launcher()
            && (sentinel["type"] == "handoff.completed") != (status == 0)
        {
            self.wrong(Wrong::Status, format!("{status}, and the sentinel is {sentinel}"));
        }
    }
}

/// Whether this is the sentinel of a run that ended with this status.
fn fits(sentinel: &Value, status: i32) -> bool {
    match (sentinel["type"].as_str(), sentinel["reason"].as_str()) {
        (Some("handoff.completed"), _) => status == 0,
        (_, Some("timeout")) => status == 124,
        (_, Some("cancelled")) => status == 143,
        _ => {
            let is_lost = sentinel["cause"] == "lost";
            sentinel["rc"] == status
                && (sentinel["cause"] == "io") == (status == 74)
                && (!is_lost || [125, 137].contains(&status))
        }
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}
