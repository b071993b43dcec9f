//! What is printed: records, a table, or bare numbers.

use crate::args::Form;
use crate::count::Entry;
use crate::table::Table;
use crate::{NAME, words};
use common::edge::output::Output;
use common::face::say;
use common::face::terminal::Target;
use common::flow::record::usage;
use common::flow::usage::Ledger;
use std::io;

/// Prints each run when it is known, and the sums at the end; a table is known at the end as a whole.
#[derive(Debug)]
pub struct Printer {
    stdout: Output,
    target: Target,
    form: Form,
    table: Table,
    files: u64,
}

impl Printer {
    /// A printer that has printed nothing.
    pub fn new(form: Form) -> io::Result<Printer> {
        let stdout = Output::stdout()?;
        let target = Target::of(&stdout);
        Ok(Printer { stdout, target, form, table: Table::default(), files: 0 })
    }

    /// Takes a file.
    pub fn run(&mut self, entry: &Entry<'_>) -> io::Result<()> {
        self.files += 1;
        if !matches!(self.form, Form::Table) {
            words::of_run(entry).iter().for_each(|words| say::line(NAME, words));
        }
        match &self.form {
            Form::Records => {
                let thread = entry.said.thread.as_deref();
                let record = usage::run(entry.file, thread, entry.run);
                self.stdout.bytes(self.target.records(&record).as_bytes())
            }
            Form::Field(name) => {
                let value = entry.run.and_then(|run| run.usage.as_ref()?.get(name));
                let line = value.map_or("unknown\n".to_owned(), |value| format!("{value}\n"));
                self.stdout.bytes(line.as_bytes())
            }
            Form::Table => {
                self.table.run(entry);
                Ok(())
            }
        }
    }

    /// Prints the sums.
    pub fn end(mut self, ledger: &Ledger) -> io::Result<()> {
        let text = match &self.form {
            Form::Records => {
                let threads: String = ledger.threads().map(|(id, sum)| usage::thread(id, sum)).collect();
                let all = threads + &usage::total(self.files, ledger.threads().count(), &ledger.total());
                self.target.records(&all).into_owned()
            }
            Form::Field(name) => {
                words::of_field(name, ledger).iter().for_each(|words| say::line(NAME, words));
                String::new()
            }
            Form::Table => self.target.text(&self.table.text(ledger)).into_owned(),
        };
        self.stdout.bytes(text.as_bytes())
    }
}
