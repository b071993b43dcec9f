//! What was typed, made into what is needed. No file is opened here.

use crate::NAME;
use clap::{Parser, ValueEnum};
use common::face::exit::{self, Status};
use common::face::{args, say};
use common::flow::usage::Basis;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What to do.
#[derive(Debug)]
pub struct Config {
    /// Where the names of the files are.
    pub files: Files,
    /// What a total begins at where the stream does not show it, as far as that was said.
    pub basis: Option<Basis>,
    /// The files whose totals begin at their process.
    pub by_process: BTreeSet<PathBuf>,
    /// The run that the first thread was forked from.
    pub parent: Option<Source>,
    /// What to print.
    pub form: Form,
}

/// Where the names of the files are.
#[derive(Debug)]
pub enum Files {
    /// These are they.
    Given(Vec<Source>),
    /// A line each, in this.
    Listed(Source),
}

/// Something that is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
}

impl Source {
    /// What a path means: `-` is standard input.
    pub fn named(path: PathBuf) -> Source {
        if path.as_os_str() == "-" { Source::Stdin } else { Source::File(path) }
    }

    /// The path that means it.
    pub fn path(&self) -> &Path {
        match self {
            Source::Stdin => Path::new("-"),
            Source::File(path) => path,
        }
    }

    /// What people call it.
    pub fn name(&self) -> String {
        self.path().display().to_string()
    }
}

impl Files {
    /// The name of the list, if there is one.
    pub fn list(&self) -> Option<String> {
        match self {
            Files::Given(_) => None,
            Files::Listed(list) => Some(list.name()),
        }
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

/// What each run of a thread used: its total less the one before it. Prints a usage.run record for each file, a
/// usage.thread for each thread, and a usage.total, as JSONL.
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
    /// Print this number alone, a line for each file, or the word unknown; total_tokens is input and output
    #[arg(long, value_name = "NAME")]
    field: Option<String>,
    /// What totals begin at in streams that do not show it; thread when not given. Those of Codex 0.125 and later do
    #[arg(long, value_enum)]
    basis: Option<TypedBasis>,
    /// The totals of FILE, one of those given, begin at its process: Codex 0.77 and earlier; repeatable
    #[arg(long, value_name = "FILE")]
    process: Vec<PathBuf>,
    /// The last run before a fork: what it had used is not the fork's. The fork is the first thread given, but for
    /// FILE's own
    #[arg(long, value_name = "FILE")]
    parent: Option<PathBuf>,
}

/// Reads the command line.
pub fn parse() -> Result<Config, Status> {
    let typed: Typed = args::parse(NAME)?;
    if let Some(message) = typed.wrong() {
        say::line(NAME, &format!("usage: {message}"));
        return Err(Status::USAGE);
    }
    Ok(typed.config())
}

impl Typed {
    /// What is wrong beyond what the parser sees.
    fn wrong(&self) -> Option<&'static str> {
        let inputs = self.files.iter().chain(&self.files_from).chain(&self.parent);
        if inputs.filter(|path| path.as_os_str() == "-").count() > 1 {
            return Some("-: stdin can be read only once");
        }
        if self.files_from.is_none() && self.process.iter().any(|file| !self.files.contains(file)) {
            return Some("--process: not one of the files given");
        }
        None
    }

    fn config(self) -> Config {
        Config {
            files: match self.files_from {
                Some(list) => Files::Listed(Source::named(list)),
                None => Files::Given(self.files.into_iter().map(Source::named).collect()),
            },
            basis: self.basis.map(|basis| match basis {
                TypedBasis::Thread => Basis::Thread,
                TypedBasis::Process => Basis::Process,
            }),
            by_process: self.process.into_iter().collect(),
            parent: self.parent.map(Source::named),
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
