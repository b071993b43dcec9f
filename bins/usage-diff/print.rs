//! What is printed to stdout: records, a table, or bare numbers.

use crate::args::Form;
use crate::entry::Entry;
use crate::ledger::Ledger;
use crate::table::Table;
use crate::{NAME, records};
use common::edge::output::Output;
use common::face::printed::Printed;
use common::face::terminal::Target;
use std::io;

/// Prints each run as soon as it is counted, and the sums at the end. A table is printed at the end as a whole.
#[derive(Debug)]
pub struct Printer {
    stdout: Output,
    target: Target,
    form: Form,
    table: Table,
    files: u64,
}

impl Printer {
    /// A printer to stdout.
    pub fn new(form: Form) -> Result<Printer, Printed> {
        let stdout = Output::stdout().map_err(|error| failed(&error))?;
        let target = Target::of(&stdout);
        Ok(Printer { stdout, target, form, table: Table::default(), files: 0 })
    }

    /// Whether a table is printed. It has the remarks about each run in it.
    pub fn is_table(&self) -> bool {
        matches!(self.form, Form::Table)
    }

    /// The name of the field that is printed alone.
    pub fn field(&self) -> Option<&str> {
        match &self.form {
            Form::Field(name) => Some(name),
            Form::Records | Form::Table => None,
        }
    }

    /// Prints a file.
    pub fn entry(&mut self, entry: &Entry<'_>) -> Result<(), Printed> {
        self.files += 1;
        let text = match &self.form {
            Form::Records => {
                let record = records::run(entry.file, entry.usage.thread_id.as_deref(), entry.run);
                self.target.records(&record).into_owned()
            }
            Form::Field(name) => {
                let value = entry.run.and_then(|run| run.usage.as_ref()?.get(name));
                value.map_or("unknown\n".to_owned(), |value| format!("{value}\n"))
            }
            Form::Table => {
                self.table.add(entry);
                return Ok(());
            }
        };
        self.write(&text)
    }

    /// Prints the sums.
    pub fn end(mut self, ledger: &Ledger) -> Result<(), Printed> {
        let text = match &self.form {
            Form::Records => {
                let threads: String = ledger.threads().map(|(id, sum)| records::thread(id, sum)).collect();
                let all = threads + &records::total(self.files, ledger.threads().count(), &ledger.total());
                self.target.records(&all).into_owned()
            }
            Form::Field(_) => return Ok(()),
            Form::Table => self.target.text(&self.table.text(ledger)).into_owned(),
        };
        self.write(&text)
    }

    fn write(&mut self, text: &str) -> Result<(), Printed> {
        self.stdout.bytes(text.as_bytes()).map_err(|error| failed(&error))
    }
}

fn failed(error: &io::Error) -> Printed {
    Printed::stdout_failure(NAME, error)
}
