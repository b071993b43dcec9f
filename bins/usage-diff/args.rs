//! The command line, made into a configuration. No file is opened here.

use crate::NAME;
use crate::run::Basis;
use clap::{Parser, ValueEnum};
use common::face::printed::Printed;
use common::face::{args, exit};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The configuration.
#[derive(Debug)]
pub struct UsageConfig {
    /// The names of the files.
    pub files: FileNames,
    /// What totals begin at in streams that do not show it; `None` when no option says it.
    pub basis: Option<Basis>,
    /// The files whose totals begin at their process.
    pub by_process: BTreeSet<PathBuf>,
    /// The run that the first thread was forked from.
    pub parent: Option<RunFile>,
    /// What to print.
    pub form: Form,
}

/// The names of the files.
#[derive(Debug)]
pub enum FileNames {
    /// On the command line.
    Given(Vec<RunFile>),
    /// In this list, a line each.
    Listed(RunFile),
}

/// A file to read: the stream of a run, or a list of names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunFile {
    /// Standard input.
    Stdin,
    /// The file at this path.
    Path(PathBuf),
}

impl RunFile {
    /// The file with this name on the command line or in a list: `-` is standard input.
    pub fn named(path: PathBuf) -> RunFile {
        if path.as_os_str() == "-" { RunFile::Stdin } else { RunFile::Path(path) }
    }

    /// Its name as a path.
    pub fn path(&self) -> &Path {
        match self {
            RunFile::Stdin => Path::new("-"),
            RunFile::Path(path) => path,
        }
    }

    /// Its name as text.
    pub fn name(&self) -> String {
        self.path().display().to_string()
    }
}

/// What to print.
#[derive(Debug)]
pub enum Form {
    /// Records, as JSONL.
    Records,
    /// A table for people.
    Table,
    /// The value of this field, a line a file.
    Field(String),
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum TypedBasis {
    /// The thread's beginning: Codex 0.79 and later
    Thread,
    /// The process's beginning: Codex 0.77 and earlier
    Process,
}

/// How many tokens each run of a thread used: its total minus the total of the run before it. Prints a usage.run record
/// for each file, a usage.thread for each thread, and a usage.total, as JSONL.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_help = exit::help())]
struct Typed {
    /// Streams or progress files of runs, those of a thread oldest first; - is stdin
    #[arg(value_name = "FILE", required_unless_present = "files_from")]
    files: Vec<PathBuf>,
    /// Read the names of the files from LIST, a line each; - is stdin
    #[arg(long, value_name = "LIST", conflicts_with = "files")]
    files_from: Option<PathBuf>,
    /// Print a table for people
    #[arg(long, conflicts_with = "field")]
    table: bool,
    /// Print this number alone, a line for each file, or the word unknown; total_tokens is input plus output
    #[arg(long, value_name = "NAME")]
    field: Option<String>,
    /// What totals begin at in streams that do not show it; thread when not given. Those of Codex 0.125 and later do
    #[arg(long, value_enum)]
    basis: Option<TypedBasis>,
    /// The totals of FILE, one of those given, begin at its process: Codex 0.77 and earlier; repeatable
    #[arg(long, value_name = "FILE")]
    process: Vec<PathBuf>,
    /// The last run before a fork, whose total is subtracted from the fork's. The fork is the first thread given that is
    /// not FILE's own
    #[arg(long, value_name = "FILE")]
    parent: Option<PathBuf>,
}

/// Reads the command line.
pub fn parse() -> Result<UsageConfig, Printed> {
    let typed: Typed = args::parse(NAME)?;
    match typed.fault() {
        Some(fault) => Err(args::wrong_usage(NAME, fault)),
        None => Ok(typed.config()),
    }
}

impl Typed {
    /// What is wrong that the parser cannot see.
    fn fault(&self) -> Option<&'static str> {
        let inputs = self.files.iter().chain(&self.files_from).chain(&self.parent);
        if inputs.filter(|path| path.as_os_str() == "-").count() > 1 {
            return Some("-: stdin can be read only once");
        }
        if self.files_from.is_none() && self.process.iter().any(|file| !self.files.contains(file)) {
            return Some("--process: not one of the files given");
        }
        None
    }

    fn config(self) -> UsageConfig {
        UsageConfig {
            files: match self.files_from {
                Some(list) => FileNames::Listed(RunFile::named(list)),
                None => FileNames::Given(self.files.into_iter().map(RunFile::named).collect()),
            },
            basis: self.basis.map(|basis| match basis {
                TypedBasis::Thread => Basis::Thread,
                TypedBasis::Process => Basis::Process,
            }),
            by_process: self.process.into_iter().collect(),
            parent: self.parent.map(RunFile::named),
            form: match self.field {
                Some(name) => Form::Field(name),
                None if self.table => Form::Table,
                None => Form::Records,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_flags_fit_together() {
        Typed::command().debug_assert();
    }
}
