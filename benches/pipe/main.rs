//! Whole filters through real pipes: `jsonl-tee` against GNU tee, `jsonl-sentinel seal` against `jq -c .type`, `cat`
//! as the limit of what the pipes allow; and the time that one line takes through `jsonl-tee | jsonl-sentinel seal`.
//!
//! `cargo bench --bench pipe` prints the tables of `benches/README.md`; with `-- copying`, `-- reading` or `-- latency`
//! only one part of them. The output of a first run of each competitor
//! is compared byte by byte; in the others its bytes are counted. The runs take turns, so that a busy moment hits all
//! alike.
#![allow(clippy::print_stderr, clippy::print_stdout)]

#[path = "../flow/corpus.rs"]
mod corpus;

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const TEE: &str = env!("CARGO_BIN_EXE_jsonl-tee");
const SENTINEL: &str = env!("CARGO_BIN_EXE_jsonl-sentinel");

/// How often each competitor runs, and on how much.
const ROUNDS: usize = 9;
const FAN_OUT: usize = 256 << 20;
/// Less, for jq takes its time.
const READING: usize = 24 << 20;
/// How many lines are timed one by one.
const LINES: usize = 2000;

fn main() {
    // Cargo adds --bench.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|word| word == name);
    if is_wanted("copying") {
        copying();
    }
    if is_wanted("reading") {
        reading();
    }
    if is_wanted("latency") {
        latency();
    }
}

/// Everything is copied into a file.
fn copying() {
    let chatty = corpus::chatty(FAN_OUT).into_bytes();
    let bulky = corpus::bulky(FAN_OUT).into_bytes();
    let (memory, disk) = (folder("/dev/shm"), folder(env!("CARGO_TARGET_TMPDIR")));
    for (title, input, folder) in [
        ("chatty lines, tmpfs", &chatty, &memory),
        ("chatty lines, disk", &chatty, &disk),
        ("bulky lines, tmpfs", &bulky, &memory),
        ("bulky lines, disk", &bulky, &disk),
    ] {
        let copy = folder.path().join("copy");
        let tee = |name, words: &[&str]| Competitor::new(name, words, Expected::Same).with_file(&copy);
        let mut competitors = vec![
            tee("GNU tee", &["tee"]),
            tee("`jsonl-tee`", &[TEE]),
            tee("`jsonl-tee --only-json`", &[TEE, "--only-json"]),
            Competitor::new("`cat`, no file", &["cat"], Expected::Same),
        ];
        race(&format!("Into a file and a reader: {title}"), input, &mut competitors);
    }
}

/// Every line is read.
fn reading() {
    let input = &corpus::chatty(READING).into_bytes()[..];
    let mut competitors = vec![
        Competitor::new("`jsonl-sentinel seal`", &[SENTINEL, "seal"], Expected::Sealed),
        Competitor::new("`cat`", &["cat"], Expected::Same),
    ];
    match Command::new("jq").arg("--version").output() {
        Ok(version) => {
            println!("\n{}", String::from_utf8_lossy(&version.stdout).trim());
            competitors.insert(
                0,
                Competitor::new("`jq -c .type`", &["jq", "-c", ".type"], Expected::Other(types(input))),
            );
        }
        Err(_) => println!("\njq: not found; install it to compare `jsonl-sentinel seal` with it"),
    }
    race("Every line read: chatty lines", input, &mut competitors);
}

/// What `jq -c .type` prints.
fn types(input: &[u8]) -> Vec<u8> {
    let lines = input.split_inclusive(|&byte| byte == b'\n');
    lines.flat_map(|line| format!("{}\n", json(line)["type"]).into_bytes()).collect()
}

fn json(line: &[u8]) -> serde_json::Value {
    serde_json::from_slice(line).expect("a line of JSON")
}

fn folder(inside: &str) -> TempDir {
    tempfile::tempdir_in(inside).unwrap_or_else(|error| panic!("{inside}: {error}"))
}

/// A program that takes part in a race.
struct Competitor {
    name: &'static str,
    words: Vec<String>,
    expected: Expected,
    /// Where it puts a copy of its input.
    copy: Option<PathBuf>,
    times: Vec<Duration>,
}

/// What a program must print.
enum Expected {
    /// Its input.
    Same,
    /// Its input and a sentinel.
    Sealed,
    /// This.
    Other(Vec<u8>),
}

impl Competitor {
    fn new(name: &'static str, words: &[&str], expected: Expected) -> Competitor {
        let words = words.iter().map(|&word| word.to_owned()).collect();
        Competitor { name, words, expected, copy: None, times: Vec::new() }
    }

    fn with_file(mut self, copy: &Path) -> Competitor {
        self.words.push(copy.to_str().expect("a path in UTF-8").to_owned());
        self.copy = Some(copy.to_owned());
        self
    }

    /// Runs it once and hands what it prints to `each`; gives the time from before its start to after its end.
    fn run(&self, input: &[u8], mut each: impl FnMut(&[u8])) -> Duration {
        if let Some(copy) = &self.copy {
            let _ = fs::remove_file(copy);
        }
        let mut chunk = vec![0; 1 << 16];
        let start = Instant::now();
        let mut child = Command::new(&self.words[0])
            .args(&self.words[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", self.name));
        let (mut stdin, mut stdout) =
            (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        thread::scope(|scope| {
            scope.spawn(move || {
                input.chunks(1 << 16).for_each(|chunk| stdin.write_all(chunk).expect("feeding"));
            });
            loop {
                match stdout.read(&mut chunk).expect("reading") {
                    0 => break,
                    count => each(&chunk[..count]),
                }
            }
        });
        child.wait().expect("a child");
        start.elapsed()
    }

    /// Runs it once and asserts what it printed.
    fn prove(&self, input: &[u8]) {
        let expected = match &self.expected {
            Expected::Same | Expected::Sealed => input,
            Expected::Other(bytes) => bytes,
        };
        let (mut at, mut rest) = (0, Vec::new());
        self.run(input, |bytes| {
            let (known, new) = bytes.split_at(bytes.len().min(expected.len() - at));
            assert!(known == &expected[at..at + known.len()], "{}: another output", self.name);
            at += known.len();
            rest.extend_from_slice(new);
        });
        assert_eq!(at, expected.len(), "{}: a part is missing", self.name);
        match self.expected {
            Expected::Sealed => {
                assert!(json(&rest)["type"].as_str().is_some_and(|kind| kind.starts_with("handoff.")))
            }
            _ => assert!(rest.is_empty(), "{}: more than expected", self.name),
        }
        if let Some(copy) = &self.copy {
            assert!(fs::read(copy).expect("the copy") == input, "{}: another copy", self.name);
        }
    }

    fn time(&mut self, input: &[u8]) {
        let mut total = 0;
        let time = self.run(input, |bytes| total += bytes.len());
        let expected = match &self.expected {
            Expected::Same | Expected::Sealed => input.len(),
            Expected::Other(bytes) => bytes.len(),
        };
        assert!(total >= expected, "{}: a part is missing", self.name);
        self.times.push(time);
    }
}

/// Lets `competitors` run in turns and prints how they did, against the first of them.
fn race(title: &str, input: &[u8], competitors: &mut [Competitor]) {
    competitors.iter().for_each(|competitor| competitor.prove(input));
    // What others have written, as the compiler has just before, is not to be written back beside this.
    nix::unistd::sync();
    for round in 0..ROUNDS {
        // There and back, so that none always comes after the same one: who does so after much was written to a disk is
        // slower for that.
        let mut order: Vec<&mut Competitor> = competitors.iter_mut().collect();
        if round % 2 == 1 {
            order.reverse();
        }
        order.into_iter().for_each(|competitor| competitor.time(input));
    }
    let first = median(&competitors[0].times);
    println!(
        "\n{title}, {} MB\n\n| filter | median | speed | against {} |\n|---|---|---|---|",
        input.len() / 1_000_000,
        competitors[0].name
    );
    for competitor in competitors {
        let time = median(&competitor.times);
        let speed = input.len() as f64 / 1e6 / time.as_secs_f64();
        let ratio = first.as_secs_f64() / time.as_secs_f64();
        println!(
            "| {} | {:.0} ms | {speed:.0} MB/s | {ratio:.2}x |",
            competitor.name,
            time.as_secs_f64() * 1e3
        );
    }
}

fn median(times: &[Duration]) -> Duration {
    quantile(times, 50)
}

fn quantile(times: &[Duration], percent: usize) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted[(sorted.len() - 1) * percent / 100]
}

/// The time from the write of one line to when it can be read behind both filters, the next one being written then.
fn latency() {
    let scratch = folder(env!("CARGO_TARGET_TMPDIR"));
    let mut tee = Command::new(TEE)
        .arg(scratch.path().join("copy"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("jsonl-tee starts");
    let mut seal = Command::new(SENTINEL)
        .arg("seal")
        .stdin(tee.stdout.take().expect("a pipe"))
        .stdout(Stdio::piped())
        .spawn()
        .expect("jsonl-sentinel starts");
    let (mut source, mut sink) = (tee.stdin.take().expect("a pipe"), seal.stdout.take().expect("a pipe"));
    let mut times = Vec::new();
    for n in 0..LINES {
        let line = format!("{{\"type\":\"item.started\",\"item\":{{\"id\":\"item_{n}\"}}}}\n");
        let mut seen = vec![0; line.len()];
        let start = Instant::now();
        source.write_all(line.as_bytes()).expect("feeding");
        sink.read_exact(&mut seen).expect("reading");
        times.push(start.elapsed());
        assert_eq!(seen, line.as_bytes());
    }
    drop(source);
    tee.wait().expect("a child");
    seal.wait().expect("a child");
    let micros = |percent| quantile(&times, percent).as_secs_f64() * 1e6;
    println!(
        "\nOne line through `jsonl-tee copy | jsonl-sentinel seal`: median {:.0} µs, p99 {:.0} µs, slowest of {LINES} {:.0} µs",
        micros(50),
        micros(99),
        micros(100)
    );
}
