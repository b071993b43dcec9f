//! The steps of a script, and how a line becomes one.

use std::path::PathBuf;
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::descendant::Descendant;
use crate::fields::Fields;

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
        let mut fields = Fields::of(line);
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
            "die" => Step::Die(fields.signal("signal")),
            "stop" => Step::Stop,
            "hang" => Step::Hang,
            other => panic!("no step is called {other:?}"),
        };
        fields.are_used_up();
        step
    }
}
