//! A run: one step after the other.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, exit};
use std::thread::sleep;
use std::time::Duration;

use nix::sys::signal::{SigSet, Signal, raise};
use nix::unistd::{dup2_stderr, dup2_stdout, pause};
use serde_json::Value;

use crate::flood::flood;
use crate::options::Run;
use crate::step::{Step, Stream};
use crate::{descendant, portrait};

/// Plays the script of this run and ends the process.
pub(crate) fn play(run: Run) {
    let steps = script(&run);
    let mut player = Player { run, prompt: vec![], message: String::new(), answer_at_end: true };
    if !steps.iter().any(|step| matches!(step, Step::Prompt(..) | Step::LeavePrompt)) {
        player.read_prompt(None);
    }
    for step in steps {
        player.take(step).unwrap_or_else(|error| given_up(&error));
    }
    player.end(0)
}

/// The steps in `FAKE_CODEX_SCRIPT`, or a small good run.
fn script(run: &Run) -> Vec<Step> {
    let lines = match std::env::var_os("FAKE_CODEX_SCRIPT") {
        Some(file) => fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display())),
        None => format!(
            r#"{{"type":"thread.started","thread_id":"{}"}}
{{"type":"turn.started"}}
{{"type":"item.completed","item":{{"id":"item_0","type":"agent_message","text":"ok"}}}}
{{"type":"turn.completed","usage":{{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}}}
"#,
            run.thread.as_deref().unwrap_or("t1")
        )
        .into_bytes(),
    };
    let lines = lines.strip_suffix(b"\n").unwrap_or(&lines);
    if lines.is_empty() { vec![] } else { lines.split(|byte| *byte == b'\n').map(Step::parse).collect() }
}

/// Ends the process when a stream cannot be written. Codex panics when the reader of its stdout leaves.
fn given_up(error: &io::Error) -> ! {
    // There may be no reader for this either.
    let _ = writeln!(io::stderr(), "failed printing: {error}");
    exit(101)
}

struct Player {
    run: Run,
    /// What was read of it.
    prompt: Vec<u8>,
    /// The text of the last `agent_message`.
    message: String,
    /// Whether the end of the run writes the `-o` file.
    answer_at_end: bool,
}

impl Player {
    fn take(&mut self, step: Step) -> io::Result<()> {
        match step {
            Step::Line(mut line) => {
                self.listen(&line);
                line.push(b'\n');
                write(Stream::Stdout, &line)?;
            }
            Step::Write(to, bytes) => write(to, &bytes)?,
            Step::Flood(Stream::Stdout, bytes, shape) => flood(io::stdout().lock(), bytes, &shape)?,
            Step::Flood(Stream::Stderr, bytes, shape) => flood(io::stderr().lock(), bytes, &shape)?,
            Step::Close(stream) => close(stream),
            Step::Prompt(up_to, save_to) => {
                self.read_prompt(up_to);
                if let Some(file) = save_to {
                    save(&file, &self.prompt);
                }
            }
            Step::LeavePrompt => {}
            Step::Answer(text) => {
                self.answer_at_end = false;
                self.write_answer(&text);
            }
            Step::NoAnswer => self.answer_at_end = false,
            Step::Portrait(file) => save(&file, portrait::portrait().to_string().as_bytes()),
            Step::Tty(file) => ask_terminal(&file),
            Step::Delay(time) => sleep(time),
            Step::Touch(file) => save(&file, b""),
            Step::Await(file) => {
                while !file.exists() {
                    sleep(Duration::from_millis(1));
                }
            }
            Step::Ignore(signals) => descendant::ignore(&signals),
            Step::Spawn(descendant) => descendant::spawn(&descendant),
            Step::Zombie => descendant::spawn_zombie(),
            Step::Exec(argv) => panic!("{argv:?}: {}", Command::new(&argv[0]).args(&argv[1..]).exec()),
            Step::Exit(status) => self.end(status),
            Step::Die(signal) => die(signal),
            Step::Stop => raise(Signal::SIGSTOP).expect("stopping"),
            Step::Hang => loop {
                pause();
            },
        }
        Ok(())
    }

    fn read_prompt(&mut self, up_to: Option<u64>) {
        let mut stdin = io::stdin().lock().take(up_to.unwrap_or(u64::MAX));
        stdin.read_to_end(&mut self.prompt).expect("reading the prompt");
    }

    /// Takes note of a line that may be the last message. Others are not parsed: floods have to be fast.
    fn listen(&mut self, line: &[u8]) {
        if std::str::from_utf8(line).is_ok_and(|line| line.contains(r#""agent_message""#))
            && let Ok(event) = serde_json::from_slice::<Value>(line)
            && event["item"]["type"] == "agent_message"
            && let Some(text) = event["item"]["text"].as_str()
        {
            self.message = text.to_owned();
        }
    }

    /// Writes the `-o` file; a failure is said and is none of the run, as with Codex (0.98.0 to 0.171.0).
    fn write_answer(&self, text: &str) {
        if let Some(file) = &self.run.answer_file
            && let Err(error) = fs::write(file, text)
        {
            eprintln!("Failed to write last message file {file:?}: {error}");
        }
    }

    fn end(&self, status: i32) -> ! {
        if status == 0 && self.answer_at_end {
            self.write_answer(&self.message);
        }
        exit(status)
    }
}

/// One write for one line, as Codex does it.
fn write(to: Stream, bytes: &[u8]) -> io::Result<()> {
    match to {
        Stream::Stdout => {
            let mut stdout = io::stdout().lock();
            stdout.write_all(bytes)?;
            // Without its LF a line would stay in the buffer.
            stdout.flush()
        }
        Stream::Stderr => io::stderr().write_all(bytes),
    }
}

fn close(stream: Stream) {
    let null = File::options().write(true).open("/dev/null").expect("/dev/null");
    match stream {
        Stream::Stdout => dup2_stdout(null),
        Stream::Stderr => dup2_stderr(null),
    }
    .expect("letting go of a stream");
}

/// Writes a file so that whoever sees it sees all of it.
fn save(file: &Path, content: &[u8]) {
    let part = file.with_added_extension("part");
    let written = fs::write(&part, content).and_then(|()| fs::rename(&part, file));
    written.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
}

fn ask_terminal(file: &Path) {
    match File::options().read(true).write(true).open("/dev/tty") {
        Err(error) => save(file, error.to_string().as_bytes()),
        Ok(mut terminal) => {
            save(file, b"opened");
            match terminal.read(&mut [0]) {
                Err(error) if error.kind() != ErrorKind::Interrupted => panic!("/dev/tty: {error}"),
                _ => {}
            }
        }
    }
}

fn die(signal: Signal) -> ! {
    // A launcher may have handed down a mask; and the handler that Rust has for SIGSEGV and SIGBUS only takes
    // itself away the first time.
    SigSet::from(signal).thread_unblock().expect("unblocking a signal");
    for _ in 0..2 {
        raise(signal).expect("raising a signal");
    }
    panic!("{signal} is ignored here")
}
