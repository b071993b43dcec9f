//! The exit statuses of all filters.

use std::process::ExitCode;

/// The exit status of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status(u8);

impl Status {
    /// Done; the run or wave completed.
    pub const DONE: Status = Status(0);
    /// The run failed, or has no answer.
    pub const NO: Status = Status(1);
    /// Wrong usage.
    pub const USAGE: Status = Status(64);
    /// The stream breaks its rules.
    pub const DATA: Status = Status(65);
    /// An input cannot be read, an output cannot be created.
    pub const NO_INPUT: Status = Status(66);
    /// Codex is missing, too old for an option asked for, or not signed in.
    pub const UNAVAILABLE: Status = Status(69);
    /// Codex ended well and left no result.
    pub const NO_RESULT: Status = Status(70);
    /// Reading or writing failed later on.
    pub const IO: Status = Status(74);
    /// Timed out.
    pub const TIMEOUT: Status = Status(124);
    /// The launcher itself failed.
    pub const LAUNCHER: Status = Status(125);
    /// Codex cannot be executed.
    pub const CANNOT_EXECUTE: Status = Status(126);
    /// Ended by KILL.
    pub const KILLED: Status = Status(128 + 9);

    /// Ended by signal `n`: 128+n.
    pub fn signal(n: i32) -> Status {
        Status(u8::try_from(128 + n).unwrap_or(255))
    }

    /// The exit status `code` of a program that was run, passed on. A status is eight bits wide in the kernel.
    pub fn of_program(code: i32) -> Status {
        Status(u8::try_from(code & 0xff).unwrap_or(255))
    }

    /// The number, as a shell shows it in `$?`.
    pub fn code(self) -> u8 {
        self.0
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        ExitCode::from(status.0)
    }
}

/// The table that each `--help` ends with and the README repeats: status, meaning.
pub const TABLE: [(&str, &str); 11] = [
    ("0", "done; the run or wave completed"),
    ("1", "the answer is no: a run failed, or had no text"),
    ("64", "wrong usage"),
    ("65", "the stream breaks its rules"),
    ("66", "an input cannot be read, an output cannot be created"),
    ("69", "Codex is missing, too old for an option asked for, or not signed in"),
    ("70", "Codex ended well and left no result"),
    ("74", "reading or writing failed later on"),
    ("124", "timed out"),
    ("125", "the launcher itself failed; 126 Codex cannot be executed"),
    ("128+n", "ended by signal n"),
];

/// The table as the last part of a `--help`.
pub fn help() -> String {
    let rows = TABLE.map(|(status, meaning)| format!("  {status:<6} {meaning}\n"));
    format!("Exit status:\n{}", rows.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_constant_stands_in_the_table() {
        let constants = [
            Status::DONE,
            Status::NO,
            Status::USAGE,
            Status::DATA,
            Status::NO_INPUT,
            Status::UNAVAILABLE,
            Status::NO_RESULT,
            Status::IO,
            Status::TIMEOUT,
            Status::LAUNCHER,
        ];
        let numbers: Vec<String> = constants.iter().map(|s| s.code().to_string()).collect();
        let rows: Vec<&str> = TABLE[..10].iter().map(|(status, _)| *status).collect();
        assert_eq!(numbers, rows);
        assert!(TABLE[9].1.contains(&Status::CANNOT_EXECUTE.code().to_string()));
    }

    #[test]
    fn signals_and_programs_map_as_in_a_shell() {
        assert_eq!(Status::signal(9), Status::KILLED);
        assert_eq!(Status::signal(15).code(), 143);
        assert_eq!(Status::of_program(2).code(), 2);
        assert_eq!(Status::of_program(255).code(), 255);
    }
}
