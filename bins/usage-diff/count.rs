//! All runs, one after the other.

use crate::args::{Config, Source};
use crate::print::Printer;
use crate::read::{self, Unread};
use crate::{NAME, names, words};
use common::edge::paths::{self, Identity};
use common::face::exit::Status;
use common::face::say;
use common::flow::usage::{Baseline, Basis, Evidence, Ledger, Run, Said};
use std::collections::HashSet;
use std::io;

/// A file and what it told.
#[derive(Debug)]
pub struct Entry<'a> {
    /// Its name, as it was given.
    pub file: &'a str,
    /// What it said; nothing when it could not be read, or was counted before.
    pub said: &'a Said,
    /// Its run; `None` when it tells of none.
    pub run: Option<&'a Run>,
}

/// What ends the counting before its time.
enum Stop {
    /// The list of names cannot be read.
    List(io::Error),
    /// What is printed cannot be written.
    Print(io::Error),
}

/// Counts the runs and prints what they used. Whatever is wrong with one file, the others are counted.
pub fn run(config: Config) -> Status {
    let mut files = Files { seen: HashSet::new(), worst: Status::DONE };
    let list = config.files.list().unwrap_or_default();
    match count(config, &mut files) {
        Err(Stop::List(error)) => {
            files.wrong(Status::NO_INPUT, &format!("--files-from {list}: {}", say::why(&error)));
        }
        Err(Stop::Print(error)) => return say::lost_stdout(NAME, &error),
        Ok(()) => {}
    }
    files.worst
}

fn count(config: Config, files: &mut Files) -> Result<(), Stop> {
    let parent = config.parent.map(|parent| files.parent(&parent));
    let mut ledger = Ledger::new(parent);
    let mut printer = Printer::new(config.form).map_err(Stop::Print)?;
    let mut by_process = config.by_process;
    let mut assumed = 0;
    for source in names::sources(config.files).map_err(Stop::List)? {
        let source = source.map_err(Stop::List)?;
        let file = source.name();
        let said = files.said(&source, &file).unwrap_or_default();
        let by_process = by_process.remove(source.path());
        let basis = if by_process { Some(Basis::Process) } else { config.basis };
        let run = (said.objects > 0).then(|| ledger.enter(&said, basis));
        if let Some(run) = &run {
            assumed += u64::from(is_guess(run));
            if by_process && run.evidence == Evidence::Stream {
                say::line(NAME, &words::of_recent(&file));
            }
        }
        let entry = Entry { file: &file, said: &said, run: run.as_ref() };
        printer.run(&entry).map_err(Stop::Print)?;
    }
    if ledger.has_parent_left() {
        say::line(NAME, "--parent: no thread but its own was given: nothing is subtracted for it");
    }
    printer.end(&ledger).map_err(Stop::Print)?;
    for path in by_process {
        files.wrong(Status::NO_INPUT, &format!("--process {}: not one of the files given", path.display()));
    }
    words::of_assumed(assumed).iter().for_each(|words| say::line(NAME, words));
    Ok(())
}

/// Whether another basis, which nothing rules out, would have given another usage.
fn is_guess(run: &Run) -> bool {
    run.evidence == Evidence::Assumed && run.usage.is_some() && run.baseline == Some(Baseline::PreviousRun)
}

/// The files that are read.
struct Files {
    /// Which of them were read already.
    seen: HashSet<Identity>,
    /// What is worst about them.
    worst: Status,
}

impl Files {
    /// What a file said, unless there is something wrong with it.
    fn said(&mut self, source: &Source, file: &str) -> Option<Said> {
        if let Source::File(path) = source
            && let Some(identity @ Identity::File(..)) = paths::identity(path)
            && !self.seen.insert(identity)
        {
            say::line(NAME, &format!("{file}: given twice: counted once"));
            return None;
        }
        self.read(source, file)
    }

    /// What the parent said; nothing when there is something wrong with it.
    fn parent(&mut self, source: &Source) -> Said {
        let file = format!("--parent {}", source.name());
        let said = self.read(source, &file).unwrap_or_default();
        if said.objects > 0 && said.total.is_none() {
            self.wrong(Status::DATA, &format!("{file}: no usage in it"));
        }
        said
    }

    fn read(&mut self, source: &Source, file: &str) -> Option<Said> {
        match read::account(source) {
            Ok(said) if said.objects > 0 => {
                words::of_file(file, &said).iter().for_each(|words| say::line(NAME, words));
                return Some(said);
            }
            Ok(said) => self.wrong(Status::DATA, &words::of_no_stream(file, &said)),
            Err(Unread { status, why }) => self.wrong(status, &format!("{file}: read: {why}")),
        }
        None
    }

    fn wrong(&mut self, status: Status, words: &str) {
        say::line(NAME, words);
        self.worst = worse(self.worst, status);
    }
}

/// The status that says more: that an output or input failed, then that one was missing, then that one is odd.
fn worse(one: Status, other: Status) -> Status {
    let rank =
        |status| [Status::DATA, Status::NO_INPUT, Status::IO].iter().position(|known| *known == status);
    if rank(other) > rank(one) { other } else { one }
}
