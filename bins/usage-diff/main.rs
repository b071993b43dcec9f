//! `usage-diff`: how many tokens each run of a thread used.
//!
//! A usage takes this way: [`read`] gives each line of a file to an [`account::Account`], which makes a
//! [`account::StreamUsage`] of the file. The [`ledger::Ledger`] subtracts what the runs before it used, which makes a
//! [`run::Run`]. [`mod@print`] prints that, as a record ([`records`]), a line of the table ([`table`]) or a number.
#![forbid(unsafe_code)]

mod account;
mod args;
mod count;
mod difference;
mod entry;
mod file_list;
mod ledger;
mod messages;
mod print;
mod read;
mod records;
mod run;
mod table;
mod thread;

use common::face::printed::exit_code;
use std::process::ExitCode;

/// The name in front of each message.
const NAME: &str = "usage-diff";

fn main() -> ExitCode {
    exit_code(args::parse().and_then(count::count))
}
