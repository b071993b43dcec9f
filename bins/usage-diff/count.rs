//! All files, one after the other. Only this module prints to stderr what concerns a run, and only [`crate::print`] to
//! stdout.

use crate::account::StreamUsage;
use crate::args::{RunFile, UsageConfig};
use crate::entry::Entry;
use crate::ledger::Ledger;
use crate::print::Printer;
use crate::run::{Baseline, Basis, Evidence, Run};
use crate::{NAME, file_list, messages, read};
use common::edge::paths::{self, Identity};
use common::face::exit::Status;
use common::face::printed::Printed;
use common::face::say;
use std::collections::HashSet;

/// Counts the runs and prints what they used. When something is wrong with one file, the others are counted all the
/// same.
///
/// # Errors
/// The worst of what was wrong, once all files are counted.
pub fn count(config: UsageConfig) -> Result<Status, Printed> {
    let mut files = Files::default();
    if let Err(printed) = count_all(config, &mut files) {
        files.add_fault(printed);
    }
    files.worst.map_or(Ok(Status::DONE), Err)
}

/// Counts all files. The error is one that ends the counting: the list of names cannot be read, or stdout be written.
fn count_all(config: UsageConfig, files: &mut Files) -> Result<(), Printed> {
    let parent = config.parent.map(|parent| files.parent(&parent));
    let mut ledger = Ledger::new(parent);
    let mut printer = Printer::new(config.form)?;
    let mut by_process = config.by_process;
    let mut assumed = 0;
    for file in file_list::files(config.files)? {
        let file = file?;
        let name = file.name();
        let usage = files.usage(&file, &name).unwrap_or_default();
        let by_process = by_process.remove(file.path());
        let basis = if by_process { Some(Basis::Process) } else { config.basis };
        let run = (usage.objects > 0).then(|| ledger.enter(&usage, basis));
        if let Some(run) = &run {
            assumed += u64::from(has_assumed_usage(run));
            if by_process && run.evidence == Evidence::Stream {
                print(messages::of_needless_process(&name));
            }
        }
        let entry = Entry { file: &name, usage: &usage, run: run.as_ref() };
        if !printer.is_table() {
            messages::of_run(&entry).into_iter().for_each(print);
        }
        printer.entry(&entry)?;
    }
    if ledger.has_unused_parent() {
        print("--parent: no thread but its own was given: nothing is subtracted for it".to_owned());
    }
    printer.field().and_then(|name| messages::of_field(name, &ledger)).into_iter().for_each(print);
    printer.end(&ledger)?;
    for path in by_process {
        let message = format!("--process {}: not one of the files given", path.display());
        files.add_fault(Printed::message(NAME, Status::NO_INPUT, &message));
    }
    messages::of_assumed(assumed).into_iter().for_each(print);
    Ok(())
}

fn print(message: String) {
    say::line(NAME, &message);
}

/// Whether another basis, which nothing rules out, would have given another usage.
fn has_assumed_usage(run: &Run) -> bool {
    run.evidence == Evidence::Assumed && run.usage.is_some() && run.baseline == Some(Baseline::PreviousRun)
}

/// The files that are read.
#[derive(Debug, Default)]
struct Files {
    /// The files that were read already.
    seen: HashSet<Identity>,
    /// The worst of what was wrong with them.
    worst: Option<Printed>,
}

impl Files {
    /// What a file reports; `None` when there is something wrong with it, or it was counted before.
    fn usage(&mut self, file: &RunFile, name: &str) -> Option<StreamUsage> {
        if let RunFile::Path(path) = file
            && let Some(identity @ Identity::File(..)) = paths::identity(path)
            && !self.seen.insert(identity)
        {
            print(format!("{name}: given twice: counted once"));
            return None;
        }
        self.read(file, name)
    }

    /// What the parent reports; nothing when there is something wrong with it.
    fn parent(&mut self, file: &RunFile) -> StreamUsage {
        let name = format!("--parent {}", file.name());
        let usage = self.read(file, &name).unwrap_or_default();
        if usage.objects > 0 && usage.total.is_none() {
            self.add_fault(Printed::message(NAME, Status::DATA, &format!("{name}: no usage in it")));
        }
        usage
    }

    fn read(&mut self, file: &RunFile, name: &str) -> Option<StreamUsage> {
        let usage = read::stream_usage(file, name).and_then(|usage| match usage.objects {
            0 => Err(Printed::message(NAME, Status::DATA, &messages::of_no_stream(name, &usage))),
            _ => Ok(usage),
        });
        match usage {
            Ok(usage) => {
                messages::of_stream(name, &usage).into_iter().for_each(print);
                Some(usage)
            }
            Err(printed) => {
                self.add_fault(printed);
                None
            }
        }
    }

    fn add_fault(&mut self, fault: Printed) {
        self.worst = Some(self.worst.map_or(fault, |worst| worse(worst, fault)));
    }
}

/// The worse of two faults. Odd data is the least, then come a missing input, a failed input or output, and at last a
/// stdout whose reader has left.
fn worse(one: Printed, other: Printed) -> Printed {
    const RANKS: [Status; 3] = [Status::DATA, Status::NO_INPUT, Status::IO];
    let rank =
        |printed: Printed| RANKS.iter().position(|status| *status == printed.status()).unwrap_or(RANKS.len());
    if rank(other) > rank(one) { other } else { one }
}
