//! What a run leaves alive, in words: each process by its number and its program.

use crate::run::supervise::{Descendant, Tree};

/// How many processes are named.
const NAMED: usize = 10;

/// The lines that tell it. `is_left` is whether something did not die of KILL.
pub fn lines(tree: &Tree, is_left: bool) -> Vec<String> {
    if tree.why_group_alone().is_some() {
        let line =
            "leftovers: a process that left the process group of codex may be alive: nobody looked for it";
        return vec![line.to_owned()];
    }
    if !is_left {
        return Vec::new();
    }
    let descendants = tree.descendants();
    let mut lines: Vec<String> = descendants.iter().take(NAMED).map(line).collect();
    match descendants.len() {
        0 => lines.push("leftovers: a process of the run did not die of KILL".to_owned()),
        count if count > NAMED => lines.push(format!("leftovers: and {} more", count - NAMED)),
        _ => {}
    }
    lines
}

fn line(process: &Descendant) -> String {
    let why = if process.may_be_signalled {
        "did not die of KILL: the kernel holds it"
    } else {
        "belongs to another user and may not be signalled: end it as that user, or as root"
    };
    format!("leftovers: process {} ({}) {why}", process.pid, process.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_process_is_named_with_what_keeps_it() {
        let process = |may_be_signalled| Descendant { pid: 7, name: "sleep".to_owned(), may_be_signalled };
        assert_eq!(
            line(&process(true)),
            "leftovers: process 7 (sleep) did not die of KILL: the kernel holds it"
        );
        assert!(
            line(&process(false)).starts_with("leftovers: process 7 (sleep) belongs to another user and may")
        );
    }
}
