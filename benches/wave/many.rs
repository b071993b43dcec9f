//! Ten thousand agents by manifest.

use std::fs;
use std::time::{Duration, Instant};

use crate::watcher::{Kind, Wave, settle};

const AGENTS: usize = 10_000;

/// Two of the slow looks that are the net under lost notices.
const IDLE: Duration = Duration::from_secs(20);

pub(crate) fn print() {
    let mut wave = Wave::start(Kind::WaveWatch, AGENTS);
    let ready = wave.ready;
    let pid = wave.child.id();
    let before = on_a_processor(pid);
    std::thread::sleep(IDLE);
    let idle = (on_a_processor(pid) - before).as_secs_f64() / IDLE.as_secs_f64();

    let agents: Vec<usize> = (0..AGENTS).collect();
    let start = Instant::now();
    agents.iter().for_each(|&agent| settle(&mut wave.open(agent)));
    let written = start.elapsed();
    // The watcher's last state is of no use when it has ended, so its memory is read before the last is told.
    let memory = peak_kib(pid);
    let told = wave.told(&agents);
    let last = told.into_iter().max().expect("agents") - start;
    assert!(wave.child.wait().expect("its end").success());

    println!("\n| {AGENTS} agents by manifest | |\n|---|---|");
    println!(
        "| from the start to the record of an agent that was complete, the last | {:.0} ms |",
        millis(ready)
    );
    println!("| peak resident memory | {:.1} MiB |", memory as f64 / 1024.0);
    println!("| processor while nothing happens | {:.2} % of a core |", idle * 100.0);
    println!("| all sentinels written within | {:.0} ms |", millis(written));
    println!("| all told after | {:.0} ms |", millis(last));
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The time that a process has had on a processor, of all its threads: it has one.
fn on_a_processor(pid: u32) -> Duration {
    let text = fs::read_to_string(format!("/proc/{pid}/schedstat")).expect("a living process");
    Duration::from_nanos(text.split(' ').next().expect("a number").parse().expect("nanoseconds"))
}

fn peak_kib(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).expect("a living process");
    let field = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("its peak");
    field.trim().trim_end_matches(" kB").parse().expect("KiB")
}
