//! The steps of a script, and how a line becomes one.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::{Map, Value};

use crate::descendant::{Descendant, Life};

/// One of the two streams that a run writes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

/// What a flood is made of.
pub(crate) enum Shape {
    /// Valid lines of about a kilobyte.
    Lines,
    /// One valid line.
    OneLine,
    /// No LF at all, and no JSON.
    NoLf,
}

/// One step. The line that asks for it stands beside each; where a path may be left out, so is what it is for.
pub(crate) enum Step {
    /// Any line that does not begin with `{"step":`. Goes to stdout with its LF; an empty line too.
    Line(Vec<u8>),
    /// `{"step":"write","to":"stdout","bytes":"{\"type\":\"item.compl"}`: just these bytes, no LF added. Each
    /// character stands for one byte, so `\u00a4` is the byte A4; characters above U+00FF are refused.
    Write(Stream, Vec<u8>),
    /// `{"step":"flood","to":"stderr","bytes":70000,"as":"no-lf"}`, or `"lines"`, or `"one-line"`: exactly so
    /// many bytes.
    Flood(Stream, u64, Shape),
    /// `{"step":"close","which":"stdout"}`: as if it had closed that stream.
    Close(Stream),
    /// `{"step":"prompt","up-to":10,"save":"FILE"}`: reads the prompt here instead of at the start, to its end or
    /// only so many bytes, and writes what was read to FILE.
    Prompt(Option<u64>, Option<PathBuf>),
    /// `{"step":"leave-prompt"}`: the prompt is not read, neither here nor at the start.
    LeavePrompt,
    /// `{"step":"answer","text":"ok"}`: writes the `-o` file now; the end of the run leaves it alone.
    Answer(String),
    /// `{"step":"no-answer"}`: the end of the run writes no `-o` file.
    NoAnswer,
    /// `{"step":"portrait","save":"FILE"}`: see [`crate::portrait`].
    Portrait(PathBuf),
    /// `{"step":"tty","save":"FILE"}`: opens /dev/tty and reads from it. FILE gets why it cannot be opened; else
    /// `opened`, before the read.
    Tty(PathBuf),
    /// `{"step":"delay","ms":50}`
    Delay(Duration),
    /// `{"step":"touch","file":"FILE"}`: makes an empty file, to say that the script came this far.
    Touch(PathBuf),
    /// `{"step":"await","file":"FILE"}`: goes on when there is such a file.
    Await(PathBuf),
    /// `{"step":"ignore","signals":["INT","TERM"]}`
    Ignore(Vec<Signal>),
    /// `{"step":"spawn","session":"own","orphan":true,"ignore":["TERM"],"pipes":"hold","env":"none",
    /// "life":"chatter","seconds":300,"pid":"FILE"}`: see [`Descendant`]; all fields but `life` and `seconds` may
    /// be left out.
    Spawn(Descendant),
    /// `{"step":"zombie"}`: a child that has ended and is never waited for.
    Zombie,
    /// `{"step":"exec","argv":["sh","-c","..."]}`: becomes another program.
    Exec(Vec<String>),
    /// `{"step":"exit","status":1}`. The end of the script is status 0.
    Exit(i32),
    /// `{"step":"die","signal":"KILL"}`
    Die(Signal),
    /// `{"step":"stop"}`: stops itself, as with SIGSTOP.
    Stop,
    /// `{"step":"hang"}`: does nothing, for ever.
    Hang,
}

impl Step {
    /// Reads one line of a script. A script is part of a test: what is wrong in it panics.
    pub(crate) fn parse(line: &[u8]) -> Step {
        if !line.starts_with(br#"{"step":"#) {
            return Step::Line(line.to_vec());
        }
        let text = String::from_utf8_lossy(line).into_owned();
        let fields = serde_json::from_slice(line).unwrap_or_else(|error| panic!("{text}: {error}"));
        let mut fields = Fields { fields, text };
        let step = match fields.string("step").as_str() {
            "write" => Step::Write(fields.stream("to"), fields.bytes()),
            "flood" => Step::Flood(fields.stream("to"), fields.number("bytes"), fields.shape()),
            "close" => Step::Close(fields.stream("which")),
            "prompt" => Step::Prompt(fields.maybe_number("up-to"), fields.maybe_path("save")),
            "leave-prompt" => Step::LeavePrompt,
            "answer" => Step::Answer(fields.string("text")),
            "no-answer" => Step::NoAnswer,
            "portrait" => Step::Portrait(fields.path("save")),
            "tty" => Step::Tty(fields.path("save")),
            "delay" => Step::Delay(Duration::from_millis(fields.number("ms"))),
            "touch" => Step::Touch(fields.path("file")),
            "await" => Step::Await(fields.path("file")),
            "ignore" => Step::Ignore(fields.signals("signals")),
            "spawn" => Step::Spawn(fields.descendant()),
            "zombie" => Step::Zombie,
            "exec" => Step::Exec(fields.strings("argv")),
            "exit" => Step::Exit(i32::try_from(fields.number("status")).expect("a status")),
            "die" => Step::Die(signal(&fields.string("signal"))),
            "stop" => Step::Stop,
            "hang" => Step::Hang,
            other => panic!("no step is called {other:?}"),
        };
        assert!(fields.fields.is_empty(), "{}: unknown field", fields.text);
        step
    }
}

/// `KILL` is SIGKILL.
fn signal(name: &str) -> Signal {
    Signal::from_str(&format!("SIG{name}")).unwrap_or_else(|_| panic!("no signal is called {name:?}"))
}

/// The fields of a step that were not asked for yet, and the line for messages.
struct Fields {
    fields: Map<String, Value>,
    text: String,
}

impl Fields {
    fn fault(&self, name: &str) -> ! {
        panic!("{}: the field {name:?} is missing or not what it should be", self.text)
    }

    fn maybe_string(&mut self, name: &str) -> Option<String> {
        match self.fields.remove(name)? {
            Value::String(text) => Some(text),
            _ => self.fault(name),
        }
    }

    fn string(&mut self, name: &str) -> String {
        self.maybe_string(name).unwrap_or_else(|| self.fault(name))
    }

    fn maybe_number(&mut self, name: &str) -> Option<u64> {
        self.fields.remove(name).map(|value| value.as_u64().unwrap_or_else(|| self.fault(name)))
    }

    fn number(&mut self, name: &str) -> u64 {
        self.maybe_number(name).unwrap_or_else(|| self.fault(name))
    }

    fn maybe_path(&mut self, name: &str) -> Option<PathBuf> {
        self.maybe_string(name).map(PathBuf::from)
    }

    fn path(&mut self, name: &str) -> PathBuf {
        self.string(name).into()
    }

    fn strings(&mut self, name: &str) -> Vec<String> {
        let string = |value: &Value| value.as_str().map(str::to_owned);
        let value = self.fields.remove(name).unwrap_or(Value::Array(vec![]));
        match value.as_array().and_then(|list| list.iter().map(string).collect()) {
            Some(list) => list,
            None => self.fault(name),
        }
    }

    fn signals(&mut self, name: &str) -> Vec<Signal> {
        self.strings(name).iter().map(|name| signal(name)).collect()
    }

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

    fn stream(&mut self, name: &str) -> Stream {
        match self.string(name).as_str() {
            "stdout" => Stream::Stdout,
            "stderr" => Stream::Stderr,
            _ => self.fault(name),
        }
    }

    fn bytes(&mut self) -> Vec<u8> {
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

    fn shape(&mut self) -> Shape {
        match self.string("as").as_str() {
            "lines" => Shape::Lines,
            "one-line" => Shape::OneLine,
            "no-lf" => Shape::NoLf,
            _ => self.fault("as"),
        }
    }

    fn descendant(&mut self) -> Descendant {
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
