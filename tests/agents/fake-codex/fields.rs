//! The fields of a step. A script is part of a test: what is wrong in it panics.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::{Map, Value};

use crate::descendant::{Descendant, Life};
use crate::step::{Shape, Stream};

/// The fields of a step that were not asked for yet, and the line for messages.
pub(crate) struct Fields {
    fields: Map<String, Value>,
    text: String,
}

impl Fields {
    /// The fields in a line of a script.
    pub(crate) fn of(line: &[u8]) -> Fields {
        let text = String::from_utf8_lossy(line).into_owned();
        let fields = serde_json::from_slice(line).unwrap_or_else(|error| panic!("{text}: {error}"));
        Fields { fields, text }
    }

    /// All fields were asked for.
    pub(crate) fn are_used_up(&self) {
        assert!(self.fields.is_empty(), "{}: unknown field", self.text);
    }

    /// Ends the run because of this field.
    fn fault(&self, name: &str) -> ! {
        panic!("{}: the field {name:?} is missing or not what it should be", self.text)
    }

    /// A text, if there is one.
    pub(crate) fn maybe_string(&mut self, name: &str) -> Option<String> {
        match self.fields.remove(name)? {
            Value::String(text) => Some(text),
            _ => self.fault(name),
        }
    }

    /// A text.
    pub(crate) fn string(&mut self, name: &str) -> String {
        self.maybe_string(name).unwrap_or_else(|| self.fault(name))
    }

    /// A whole number, if there is one.
    pub(crate) fn maybe_number(&mut self, name: &str) -> Option<u64> {
        self.fields.remove(name).map(|value| value.as_u64().unwrap_or_else(|| self.fault(name)))
    }

    /// A whole number.
    pub(crate) fn number(&mut self, name: &str) -> u64 {
        self.maybe_number(name).unwrap_or_else(|| self.fault(name))
    }

    /// A path, if there is one.
    pub(crate) fn maybe_path(&mut self, name: &str) -> Option<PathBuf> {
        self.maybe_string(name).map(PathBuf::from)
    }

    /// A path.
    pub(crate) fn path(&mut self, name: &str) -> PathBuf {
        self.string(name).into()
    }

    /// A list of texts, empty when there is none.
    pub(crate) fn strings(&mut self, name: &str) -> Vec<String> {
        let string = |value: &Value| value.as_str().map(str::to_owned);
        let value = self.fields.remove(name).unwrap_or(Value::Array(vec![]));
        match value.as_array().and_then(|list| list.iter().map(string).collect()) {
            Some(list) => list,
            None => self.fault(name),
        }
    }

    /// A signal: `KILL` is SIGKILL.
    pub(crate) fn signal(&mut self, name: &str) -> Signal {
        signal(&self.string(name))
    }

    /// A list of signals, empty when there is none.
    pub(crate) fn signals(&mut self, name: &str) -> Vec<Signal> {
        self.strings(name).iter().map(|name| signal(name)).collect()
    }

    /// `true` or `false`; when missing, `false`.
    fn flag(&mut self, name: &str) -> bool {
        match self.fields.remove(name) {
            None => false,
            Some(Value::Bool(flag)) => flag,
            Some(_) => self.fault(name),
        }
    }

    /// Whether the field says `word`, which is the only thing that it can say.
    fn says(&mut self, name: &str, word: &str) -> bool {
        match self.maybe_string(name) {
            None => false,
            Some(said) if said == word => true,
            Some(_) => self.fault(name),
        }
    }

    /// `stdout` or `stderr`.
    pub(crate) fn stream(&mut self, name: &str) -> Stream {
        match self.string(name).as_str() {
            "stdout" => Stream::Stdout,
            "stderr" => Stream::Stderr,
            _ => self.fault(name),
        }
    }

    /// A text with one character for each byte.
    pub(crate) fn bytes(&mut self) -> Vec<u8> {
        let byte = |letter| u8::try_from(letter).unwrap_or_else(|_| self.fault("bytes"));
        match self.fields.get("bytes") {
            Some(Value::String(text)) => {
                let bytes = text.chars().map(byte).collect();
                self.fields.remove("bytes");
                bytes
            }
            _ => self.fault("bytes"),
        }
    }

    /// `lines`, `one-line` or `no-lf`.
    pub(crate) fn shape(&mut self) -> Shape {
        match self.string("as").as_str() {
            "lines" => Shape::Lines,
            "one-line" => Shape::OneLine,
            "no-lf" => Shape::NoLf,
            _ => self.fault("as"),
        }
    }

    /// All that describes a descendant.
    pub(crate) fn descendant(&mut self) -> Descendant {
        Descendant {
            own_session: self.says("session", "own"),
            orphan: self.flag("orphan"),
            ignores: self.signals("ignore"),
            holds_pipes: self.says("pipes", "hold"),
            no_environment: self.says("env", "none"),
            life: match self.string("life").as_str() {
                "sleep" => Life::Sleep,
                "chatter" => Life::Chatter,
                _ => self.fault("life"),
            },
            lasts: Duration::from_secs(self.number("seconds")),
            pid_file: self.maybe_path("pid"),
            step: self.text.clone(),
        }
    }
}

fn signal(name: &str) -> Signal {
    Signal::from_str(&format!("SIG{name}")).unwrap_or_else(|_| panic!("no signal is called {name:?}"))
}
