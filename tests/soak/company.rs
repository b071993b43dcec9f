//! The tools that live through the whole soak, and what they read.

use std::fs::File;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use nix::unistd::{Pid, mkfifo};

use super::feed::Feed;
use super::samples::Samples;
use super::{MARK, mark, soaked};
use crate::harness::filter::{Filter, binary};
use crate::harness::pipes::pipe;
use crate::harness::progress::Progress;
use crate::harness::running::Running;
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, Script, T, lines};
use crate::harness::sweep;
use crate::harness::wait::{SOON, wait_until};

/// Far longer than the tools take to end.
const TO_END: Duration = Duration::from_secs(120);

/// Every how many waves there is a line of 2 MiB, more than is kept of one in memory.
const LONG_EVERY: usize = 4;

/// The tools, those that feed them, and their files.
pub(super) struct Company {
    /// Each with its name in the table, and the processes that it consists of.
    tools: Vec<(&'static str, Running, Vec<Pid>)>,
    /// What feeds tools that write files: little, 100 MB an hour.
    little: Vec<Feed>,
    /// What feeds tools whose output goes nowhere.
    much: Vec<Feed>,
    scratch: Scratch,
    limit: Duration,
}

impl Company {
    /// Starts them all, for a soak of this length.
    pub(super) fn start(length: Duration) -> Company {
        let (tools, little, much) = (vec![], vec![], vec![]);
        let mut company = Company { tools, little, much, scratch: Scratch::git(), limit: length + TO_END };
        company.start_writers();
        company.start_followers();
        let thread: Arc<[u8]> = lines([T]).into_bytes().into();
        company.little.iter().chain(&company.much).for_each(|feed| feed.push(&thread));
        company
    }

    /// Those that are fed.
    fn start_writers(&mut self) {
        let (tee, feed) = fed(self.filter("jsonl-tee").arg("teed"));
        self.little.push(feed);
        self.add("jsonl-tee", tee);
        let options = ["--only-json", "--stamp", "--detach-stdout", "/dev/null"];
        let (tee, feed) = fed(self.filter("jsonl-tee").args(options));
        self.much.push(feed);
        self.add("jsonl-tee --stamp", tee);
        let (seal, feed) = fed(self.filter("jsonl-sentinel").arg("seal"));
        self.much.push(feed);
        self.add("jsonl-sentinel seal", seal);
        let (render, feed) = fed(self.filter("codex-render"));
        self.much.push(feed);
        self.add("codex-render", render);
        let (launch, feed) = self.launch("run", "run");
        self.little.push(feed);
        self.add("codex-launch", launch);
        let (launch, feed) = self.launch("piped", "-");
        self.much.push(feed);
        self.add("codex-launch to stdout", launch);
    }

    /// Those that follow files: two that grow, and one that never comes.
    fn start_followers(&mut self) {
        self.add("codex-render --follow", self.filter("codex-render").args(["--follow", "run"]));
        self.add("jsonl-sentinel wait", self.filter("jsonl-sentinel").args(["wait", "run"]));
        for (name, variable) in [("wave-watch", "0"), ("wave-watch, polling", "1")] {
            let mut watch =
                self.filter("wave-watch").args(["--digest-seconds", "1", "--poll-seconds", "0.2"]);
            for agent in ["run", "teed", "late"] {
                watch = watch.args(["--agent", agent, "1e6", agent]);
            }
            let watch = if variable == "1" { watch.env("CODEX_FILTERS_PORTABLE", variable) } else { watch };
            self.add(name, watch);
        }
    }

    /// The launcher, with this progress file, over a Codex that prints what the feed says.
    fn launch(&self, name: &str, progress: &str) -> (Filter, Feed) {
        let fifo = self.scratch.path(&format!("{name}.fifo"));
        mkfifo(&fifo, Mode::S_IRWXU).expect("a FIFO");
        let script = Script::new().sh(&format!("exec cat '{}'", fifo.display())).to_string();
        let launch = self
            .filter("codex-launch")
            .arg("--codex")
            .arg(binary("fake-codex"))
            .env("FAKE_CODEX_SCRIPT", self.scratch.write(&format!("{name}.script"), script))
            .args(["--progress-file", progress, "--result-file", &format!("{name}.answer")])
            .args(["--timeout-seconds", &self.limit.as_secs().to_string()])
            // Between two waves of a busy machine nothing comes for long, behind a completed turn.
            .args(["--linger-seconds", &self.limit.as_secs().to_string()])
            .stdin("do it");
        (launch, Feed::new(move || File::options().write(true).open(fifo).expect("the FIFO")))
    }

    fn filter(&self, name: &str) -> Filter {
        soaked(name).limit(self.limit).dir(self.scratch.dir()).stdout_to(Stdio::null())
    }

    fn add(&mut self, name: &'static str, filter: Filter) {
        let tool = filter.start();
        let mut pids = vec![tool.pid()];
        if name.starts_with("codex-launch") {
            pids.push(tool.runner());
        }
        self.tools.push((name, tool, pids));
    }

    /// Gives each of those that are fed a turn more.
    pub(super) fn feed(&self, number: usize) {
        let little = turn(8);
        self.little.iter().for_each(|feed| feed.push(&little));
        let mut much = turn(100);
        if number.is_multiple_of(LONG_EVERY) {
            much = [long_line().as_bytes(), &much].concat().into();
        }
        self.much.iter().for_each(|feed| feed.push(&much));
    }

    /// Returns when all of it was taken.
    pub(super) fn settle(&self) {
        let feeds = || self.little.iter().chain(&self.much);
        wait_until("the tools have taken what they were fed", SOON, || feeds().all(Feed::is_taken));
    }

    /// Takes a sample of each, and of all processes there are.
    pub(super) fn sample(&self, samples: &mut Samples) {
        self.tools.iter().for_each(|(name, _, pids)| samples.take(name, pids));
        samples.take_all(sweep::with_variable(MARK, &mark()).iter().map(|process| process.pid));
    }

    /// Ends them all, and asserts that each ends well.
    pub(super) fn end(self) {
        drop((self.little, self.much));
        for (name, tool, _) in self.tools {
            let watches = name.starts_with("wave-watch");
            if watches {
                tool.signal(Signal::SIGTERM);
            }
            tool.end().exits(if watches { 143 } else { 0 });
        }
        Progress::read(self.scratch.path("run")).completed();
    }
}

/// `filter` with a feed.
fn fed(filter: Filter) -> (Filter, Feed) {
    let (reader, writer) = pipe();
    (filter.stdin_from(reader), Feed::new(move || writer))
}

/// A turn with so many kilobytes of commands, and a message.
fn turn(kilobytes: usize) -> Arc<[u8]> {
    let output = "a line of output\\n".repeat(50);
    let command = format!(
        r#"{{"type":"item.completed","item":{{"id":"item_1","type":"command_execution","command":"bash -lc ls","aggregated_output":"{output}","exit_code":0,"status":"completed"}}}}"#
    );
    let turn = [S].into_iter().chain(std::iter::repeat_n(command.as_str(), kilobytes)).chain([M, C]);
    lines(turn).into_bytes().into()
}

fn long_line() -> String {
    lines([M.replace("\"ok\"", &format!("\"{}\"", "long ".repeat((2 << 20) / 5)))])
}
