//! What `fake-codex` is to do; its module says what the steps are.

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::scratch::Scratch;

/// `thread.started` of thread t1.
pub(crate) const T: &str = r#"{"type":"thread.started","thread_id":"t1"}"#;
/// `turn.started`
pub(crate) const S: &str = r#"{"type":"turn.started"}"#;
/// An `agent_message` with the text `ok`.
pub(crate) const M: &str =
    r#"{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"ok"}}"#;
/// `turn.completed` with 1 output token.
pub(crate) const C: &str =
    r#"{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}"#;
/// `turn.failed` with the message `x`.
pub(crate) const F: &str = r#"{"type":"turn.failed","error":{"message":"x"}}"#;

/// These lines, each with its LF.
pub(crate) fn lines<A: AsRef<str>>(lines: impl IntoIterator<Item = A>) -> String {
    lines.into_iter().map(|line| line.as_ref().to_owned() + "\n").collect()
}

/// A script under construction. It is shown as it is written.
#[derive(Clone, Default)]
pub(crate) struct Script {
    text: Vec<u8>,
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.text))
    }
}

impl Script {
    /// One that does nothing and ends with status 0.
    pub(crate) fn new() -> Script {
        Script::default()
    }

    /// T S M C: a good run.
    pub(crate) fn good() -> Script {
        Script::new().lines([T, S, M, C])
    }

    /// Writes it to a file, for `FAKE_CODEX_SCRIPT`.
    pub(crate) fn write_to(&self, scratch: &Scratch) -> PathBuf {
        scratch.write("script", &self.text)
    }

    /// A line on stdout, as it stands.
    pub(crate) fn line(mut self, line: impl AsRef<[u8]>) -> Script {
        self.text.extend_from_slice(line.as_ref());
        self.text.push(b'\n');
        self
    }

    /// Lines on stdout.
    pub(crate) fn lines<'a>(self, lines: impl IntoIterator<Item = &'a str>) -> Script {
        lines.into_iter().fold(self, Script::line)
    }

    /// All of another script.
    pub(crate) fn append(mut self, other: &Script) -> Script {
        self.text.extend_from_slice(&other.text);
        self
    }

    /// `thread.started`
    pub(crate) fn thread(self, id: &str) -> Script {
        self.line(format!(r#"{{"type":"thread.started","thread_id":{}}}"#, json!(id)))
    }

    /// An `agent_message`.
    pub(crate) fn message(self, text: &str) -> Script {
        self.line(M.replace(r#""ok""#, &json!(text).to_string()))
    }

    /// `turn.completed` with these tokens: input, cached input, output.
    pub(crate) fn turn_completed(self, input: u64, cached: u64, output: u64) -> Script {
        let usage =
            format!(r#"{{"input_tokens":{input},"cached_input_tokens":{cached},"output_tokens":{output}}}"#);
        self.line(format!(r#"{{"type":"turn.completed","usage":{usage}}}"#))
    }

    /// `turn.failed`
    pub(crate) fn turn_failed(self, message: &str) -> Script {
        self.line(format!(r#"{{"type":"turn.failed","error":{{"message":{}}}}}"#, json!(message)))
    }

    /// A top-level `error`.
    pub(crate) fn error(self, message: &str) -> Script {
        self.line(format!(r#"{{"type":"error","message":{}}}"#, json!(message)))
    }

    /// Any step, by its name and its other fields.
    pub(crate) fn step(self, name: &str, fields: Value) -> Script {
        // Put together as text, because `step` has to come first.
        let fields = fields.to_string();
        let comma = if fields == "{}" { "" } else { "," };
        self.line(format!(r#"{{"step":"{name}"{comma}{}"#, &fields[1..]))
    }

    fn write_step(self, to: &str, bytes: &[u8]) -> Script {
        let bytes: String = bytes.iter().copied().map(char::from).collect();
        self.step("write", json!({"to": to, "bytes": bytes}))
    }

    /// Just these bytes on stdout.
    pub(crate) fn raw(self, bytes: impl AsRef<[u8]>) -> Script {
        self.write_step("stdout", bytes.as_ref())
    }

    /// Just these bytes on stderr.
    pub(crate) fn stderr(self, bytes: impl AsRef<[u8]>) -> Script {
        self.write_step("stderr", bytes.as_ref())
    }

    /// So many bytes, `as` lines, one-line or no-lf.
    pub(crate) fn flood(self, to: &str, bytes: u64, shape: &str) -> Script {
        self.step("flood", json!({"to": to, "bytes": bytes, "as": shape}))
    }

    /// Reads the prompt here and writes it to a file.
    pub(crate) fn save_prompt(self, file: &Path) -> Script {
        self.step("prompt", json!({"save": file}))
    }

    /// The prompt is never read.
    pub(crate) fn leave_prompt(self) -> Script {
        self.step("leave-prompt", json!({}))
    }

    /// Writes the `-o` file now.
    pub(crate) fn answer(self, text: &str) -> Script {
        self.step("answer", json!({"text": text}))
    }

    /// There is no `-o` file at the end.
    pub(crate) fn no_answer(self) -> Script {
        self.step("no-answer", json!({}))
    }

    /// Writes what the process sees of itself to a file.
    pub(crate) fn portrait(self, file: &Path) -> Script {
        self.step("portrait", json!({"save": file}))
    }

    /// Waits a while, as the work of a run takes a while.
    pub(crate) fn delay_ms(self, ms: u64) -> Script {
        self.step("delay", json!({"ms": ms}))
    }

    /// Makes a file.
    pub(crate) fn touch(self, file: &Path) -> Script {
        self.step("touch", json!({"file": file}))
    }

    /// Waits until there is a file.
    pub(crate) fn await_file(self, file: &Path) -> Script {
        self.step("await", json!({"file": file}))
    }

    /// Ignores signals, as in `["INT", "TERM"]`.
    pub(crate) fn ignore(self, signals: &[&str]) -> Script {
        self.step("ignore", json!({"signals": signals}))
    }

    /// Leaves a descendant.
    pub(crate) fn spawn(self, fields: Value) -> Script {
        self.step("spawn", fields)
    }

    /// Becomes `sh -c COMMAND`.
    pub(crate) fn sh(self, command: &str) -> Script {
        self.step("exec", json!({"argv": ["sh", "-c", command]}))
    }

    /// Ends with a status.
    pub(crate) fn exit(self, status: i32) -> Script {
        self.step("exit", json!({"status": status}))
    }

    /// Ends by a signal, as in `KILL`.
    pub(crate) fn die(self, signal: &str) -> Script {
        self.step("die", json!({"signal": signal}))
    }

    /// Does nothing, for ever.
    pub(crate) fn hang(self) -> Script {
        self.step("hang", json!({}))
    }
}
