//! The argument vector of `codex exec`.
//!
//! Sandbox, approval and directory are always stated, and stand before the word `resume`: a resumed thread inherits
//! none of them (0.144.6 reopened a read-only session with write access), and `exec resume` does not take them.

use crate::prepare::args::{Config, Extra, Rights, Sandbox};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// What is known about a run beyond its config.
#[derive(Debug)]
pub struct Known<'a> {
    /// The directory that Codex works in.
    pub directory: &'a Path,
    /// The file that Codex writes its last message to.
    pub last_message: &'a Path,
    /// The thread to continue.
    pub thread: Option<&'a str>,
    /// The thread to fork.
    pub fork: Option<&'a str>,
}

/// The arguments, without the program's name.
pub fn arguments(config: &Config, known: &Known<'_>) -> Vec<OsString> {
    let mut args = Arguments(vec!["exec".into(), "--json".into()]);
    args.pair("--color", "never");
    args.pair("--cd", known.directory);
    match config.rights {
        Rights::Bypass => args.word("--dangerously-bypass-approvals-and-sandbox"),
        Rights::Sandbox(sandbox) => {
            args.pair("--sandbox", word(sandbox));
            args.pair("-c", "approval_policy=\"never\"");
        }
    }
    if let Some(model) = &config.model {
        args.pair("-m", model);
    }
    if let Some(effort) = &config.effort {
        args.pair("-c", format!("model_reasoning_effort={}", toml_string(effort)));
    }
    for setting in &config.settings {
        args.pair("-c", setting);
    }
    extra(&mut args, &config.extra);
    if config.skip_git_repo_check {
        args.word("--skip-git-repo-check");
    }
    if config.is_review() {
        // `exec review` of 0.98.0 has no such option, and refuses a prompt beside what it is to review.
        args.pair("--output-last-message", known.last_message);
        args.0.extend(config.arguments.iter().cloned());
        return args.0;
    }
    args.0.extend(config.arguments.iter().cloned());
    // An option that ends: --image before it takes every word that follows as one more image.
    args.pair("--output-last-message", known.last_message);
    for (command, thread) in [("resume", known.thread), ("fork", known.fork)] {
        if let Some(thread) = thread {
            args.pair(command, thread);
        }
    }
    args.word("-");
    args.0
}

fn extra(args: &mut Arguments, extra: &Extra) {
    for folder in &extra.add_dirs {
        args.pair("--add-dir", absolute(folder));
    }
    for image in &extra.images {
        args.pair("--image", absolute(image));
    }
    if let Some(schema) = &extra.output_schema {
        args.pair("--output-schema", absolute(schema));
    }
    for (wanted, option) in [
        (extra.ephemeral, "--ephemeral"),
        (extra.ignore_user_config, "--ignore-user-config"),
        (extra.ignore_rules, "--ignore-rules"),
    ] {
        if wanted {
            args.word(option);
        }
    }
}

struct Arguments(Vec<OsString>);

impl Arguments {
    fn word(&mut self, word: &str) {
        self.0.push(word.into());
    }

    fn pair(&mut self, option: &str, value: impl Into<OsString>) {
        let value = value.into();
        if value.as_encoded_bytes().starts_with(b"-") {
            // As a word of its own it would be taken for an option.
            self.0.push([option.as_ref(), OsStr::new("="), &value].into_iter().collect());
        } else {
            self.0.extend([option.into(), value]);
        }
    }
}

fn word(sandbox: Sandbox) -> &'static str {
    match sandbox {
        Sandbox::ReadOnly => "read-only",
        Sandbox::WorkspaceWrite => "workspace-write",
        Sandbox::DangerFullAccess => "danger-full-access",
    }
}

/// Codex would take a relative path from its own directory.
fn absolute(path: &Path) -> OsString {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).into()
}

/// `text` as a TOML basic string; JSON escapes are a part of TOML's.
fn toml_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
