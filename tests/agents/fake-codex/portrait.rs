//! What a process sees of itself, as one JSON object.
//!
//! | key | value |
//! |---|---|
//! | `argv` | all arguments, the program's name first |
//! | `env` | names and values |
//! | `cwd` | the working directory |
//! | `pid`, `parent`, `group`, `session` | numbers |
//! | `fds` | open descriptors and what they are, as in /proc/self/fd |
//! | `blocked`, `ignored` | numbers of the signals that are |

use std::collections::BTreeMap;
use std::fs;

use nix::unistd::{getpgrp, getpid, getppid, getsid};
use serde_json::{Value, json};

/// Describes this process.
pub(crate) fn portrait() -> Value {
    let text = |value: std::ffi::OsString| value.to_string_lossy().into_owned();
    let env: BTreeMap<String, String> =
        std::env::vars_os().map(|(name, value)| (text(name), text(value))).collect();
    let status = fs::read_to_string("/proc/self/status").expect("/proc/self/status");
    json!({
        "argv": std::env::args_os().map(text).collect::<Vec<_>>(),
        "env": env,
        "cwd": std::env::current_dir().expect("a working directory"),
        "pid": getpid().as_raw(),
        "parent": getppid().as_raw(),
        "group": getpgrp().as_raw(),
        "session": getsid(None).expect("a session").as_raw(),
        "fds": descriptors(),
        "blocked": signals(&status, "SigBlk:"),
        "ignored": signals(&status, "SigIgn:"),
    })
}

fn descriptors() -> BTreeMap<String, String> {
    let entries = fs::read_dir("/proc/self/fd").expect("/proc/self/fd");
    entries
        .map(|entry| entry.expect("an entry of /proc/self/fd"))
        // The descriptor of this very listing is closed again when the others are looked at.
        .filter_map(|entry| Some((entry.file_name(), fs::read_link(entry.path()).ok()?)))
        .map(|(fd, what)| (fd.to_string_lossy().into_owned(), what.to_string_lossy().into_owned()))
        .filter(|(_, what)| !what.ends_with("/fd"))
        .collect()
}

fn signals(status: &str, field: &str) -> Vec<u32> {
    let mask =
        status.lines().find_map(|line| line.strip_prefix(field)).expect("a field of /proc/self/status");
    let mask = u64::from_str_radix(mask.trim(), 16).expect("a mask in hexadecimal");
    (1..=64).filter(|signal| mask >> (signal - 1) & 1 == 1).collect()
}
