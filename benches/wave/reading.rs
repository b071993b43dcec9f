//! How fast progress that is there is read.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::corpus;

const FILES: usize = 100;
const ROUNDS: usize = 3;

pub(crate) fn print() {
    let megabytes =
        std::env::var("CODEX_FILTERS_BENCH_MB").ok().map_or(2000, |text| text.parse().expect("a number"));
    for (title, make) in [("chatty", corpus::chatty as fn(usize) -> String), ("bulky", corpus::bulky)] {
        race(title, megabytes, make);
    }
}

/// Reads so much of one kind.
fn race(title: &str, megabytes: usize, make: fn(usize) -> String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let events = make((megabytes << 20) / FILES);
    let lines = events.matches('\n').count();
    let text = events + "{\"type\":\"handoff.completed\",\"elapsed_seconds\":1}\n";
    let size = text.len() * FILES;
    let names: Vec<String> = (0..FILES).map(|agent| format!("agent-{agent:06}")).collect();
    let mut manifest = String::new();
    for name in &names {
        fs::write(folder.path().join(name), &text).expect("a file");
        manifest += &format!("{name}\t3600\t{name}\n");
    }
    fs::write(folder.path().join("manifest"), manifest).expect("a file");

    let ours = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wave-watch"));
        let (time, out) = time(command.current_dir(&folder).args(["--manifest", "manifest"]));
        assert_eq!(out.matches(&format!("\"eventCount\":{lines},")).count(), FILES);
        time
    };
    let jq = || {
        // It prints a line a line; what it prints is counted, and is no burden on it.
        let script = format!("jq -c .type {} | wc -l", names.join(" "));
        let (time, out) = time(Command::new("sh").current_dir(&folder).args(["-c", &script]));
        assert_eq!(out.trim(), ((lines + 1) * FILES).to_string());
        time
    };
    let ours = (0..ROUNDS).map(|_| ours()).min().expect("a round");
    println!(
        "\n| {title} progress, {} MB in {FILES} files | time | MB/s | |\n|---|---|---|---|",
        size / 1_000_000
    );
    let row = |name: &str, time: Duration, jq: Duration| {
        let speed = size as f64 / 1e6 / time.as_secs_f64();
        println!(
            "| {name} | {:.2} s | {speed:.0} | {:.1}x |",
            time.as_secs_f64(),
            jq.as_secs_f64() / time.as_secs_f64()
        );
    };
    if Command::new("jq").arg("--version").output().is_err() {
        println!("jq: not found; install it to compare `wave-watch` with it");
        return row("`wave-watch`", ours, ours);
    }
    let jq = jq();
    row("`jq -c .type`", jq, jq);
    row("`wave-watch`", ours, jq);
}

/// How long a command takes, and what it prints. It must end well.
fn time(command: &mut Command) -> (Duration, String) {
    let start = Instant::now();
    let output = command.stdin(Stdio::null()).output().expect("it starts");
    let time = start.elapsed();
    assert!(output.status.success(), "{command:?}: {}", output.status);
    (time, String::from_utf8_lossy(&output.stdout).into_owned())
}
