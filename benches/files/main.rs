//! Large files: `usage-diff` and `codex-render` against `jq` programs that do the same job, and `cat` as the limit of
//! what the page cache gives.
//!
//! `cargo bench --bench files` prints the table of `benches/README.md`. The answers on the first block of the file are
//! compared byte by byte before anything is timed. The file has 2 GB; FILES_BENCH_BYTES asks for less.
#![allow(clippy::print_stderr, clippy::print_stdout)]

#[path = "../flow/corpus.rs"]
mod corpus;
mod jq;

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const USAGE: &str = env!("CARGO_BIN_EXE_usage-diff");
const RENDER: &str = env!("CARGO_BIN_EXE_codex-render");

/// What the whole file is made of, again and again: as many bytes of short lines as of long ones.
const HALF_BLOCK: usize = 16 << 20;

/// How often a filter runs, between whose runs `jq` has its turns.
const ROUNDS: usize = 3;

/// A program and its arguments, but for the file, which comes last.
struct Competitor {
    name: &'static str,
    words: &'static [&'static str],
    rounds: usize,
    times: Vec<Duration>,
    peak_kib: u64,
}

impl Competitor {
    fn new(name: &'static str, words: &'static [&'static str], rounds: usize) -> Competitor {
        Competitor { name, words, rounds, times: Vec::new(), peak_kib: 0 }
    }

    fn command(&self, file: &Path) -> Command {
        let mut command = Command::new(self.words[0]);
        command.args(&self.words[1..]).arg(file).stdin(Stdio::null());
        command
    }

    /// What it prints of a small file.
    fn answer(&self, file: &Path) -> Vec<u8> {
        let output = self.command(file).stderr(Stdio::inherit()).output().expect("it starts");
        assert!(output.status.success(), "{}: {}", self.name, output.status);
        output.stdout
    }

    fn race(&mut self, file: &Path) {
        let start = Instant::now();
        let mut command = self.command(file);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        let status = loop {
            // What wait4 tells at the end is the peak before exec, too.
            self.peak_kib = self.peak_kib.max(high_water(child.id()));
            if let Some(status) = child.try_wait().expect("a child") {
                break status;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        self.times.push(start.elapsed());
        assert!(status.success(), "{}: {status}", self.name);
    }

    fn best(&self) -> Duration {
        self.times.iter().min().copied().expect("a time")
    }
}

fn main() {
    let bytes =
        std::env::var("FILES_BENCH_BYTES").map_or(2_000_000_000, |bytes| bytes.parse().expect("bytes"));
    let folder = TempDir::new().expect("a temporary folder");
    let (block, whole) = (folder.path().join("block.jsonl"), folder.path().join("whole.jsonl"));
    let size = make(&block, &whole, bytes);
    println!(
        "a file of {size} bytes\n\n| what runs | time | MB/s | times as fast as jq | peak memory |\n|---|---|---|---|---|"
    );
    let jobs = [
        [
            Competitor::new("`usage-diff --field total_tokens`", &[USAGE, "--field", "total_tokens"], ROUNDS),
            Competitor::new("`jq`, usage", jq::USAGE, 1),
            Competitor::new("`jq`, usage, up to the first bad line", jq::USAGE_STRICT, 1),
        ],
        [
            Competitor::new("`codex-render`", &[RENDER], ROUNDS),
            Competitor::new("`jq`, text", jq::RENDER, 1),
            Competitor::new("`jq`, text, up to the first bad line", jq::RENDER_STRICT, 1),
        ],
    ];
    for mut competitors in jobs {
        let answers: Vec<Vec<u8>> = competitors.iter().map(|competitor| competitor.answer(&block)).collect();
        assert!(
            !answers[0].is_empty() && answers.iter().all(|answer| *answer == answers[0]),
            "the answers differ"
        );
        for round in 0..ROUNDS {
            competitors.iter_mut().filter(|one| round < one.rounds).for_each(|one| one.race(&whole));
        }
        let jq = competitors[1].best();
        competitors.iter().for_each(|competitor| print(competitor, size, Some(jq)));
    }
    let mut cat = Competitor::new("`cat`", &["cat"], ROUNDS);
    cat.race(&whole);
    print(&cat, size, None);
}

fn print(competitor: &Competitor, size: u64, jq: Option<Duration>) {
    let time = competitor.best().as_secs_f64();
    let rate = size as f64 / time / 1e6;
    let ratio = jq.map_or(String::new(), |jq| format!("{:.1}", jq.as_secs_f64() / time));
    let peak = competitor.peak_kib as f64 / 1024.0;
    println!("| {} | {time:.2} s | {rate:.0} | {ratio} | {peak:.1} MiB |", competitor.name);
}

/// Makes the files and gives the size of the whole one.
fn make(block: &Path, whole: &Path, bytes: u64) -> u64 {
    let lines = corpus::chatty(HALF_BLOCK) + &corpus::bulky(HALF_BLOCK);
    fs::write(block, &lines).expect("writing the block");
    let mut file = File::create(whole).expect("the file");
    let mut size = 0;
    while size < bytes {
        file.write_all(lines.as_bytes()).expect("writing the file");
        size += lines.len() as u64;
    }
    size
}

/// VmHWM of process `pid` in KiB (proc(5)), or 0 when it has ended.
fn high_water(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
