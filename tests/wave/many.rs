//! Waves of many agents.

use std::fmt::Write;
use std::fs;

use nix::unistd::Pid;

use super::{DONE, append, told};
use crate::harness::filter::{Filter, filter};
use crate::harness::scratch::Scratch;
use crate::harness::script::lines;

/// A watcher of so many agents by manifest, with digests after this time.
fn wave(scratch: &Scratch, agents: usize, digest_seconds: &str) -> Filter {
    let mut manifest = String::new();
    for agent in 0..agents {
        writeln!(manifest, "A{agent}\t1200\tA{agent}.jsonl").expect("a string");
    }
    scratch.write("manifest", manifest);
    let watcher = filter("wave-watch").dir(scratch.dir());
    watcher.args(["--manifest", "manifest", "--digest-seconds", digest_seconds])
}

fn settle(scratch: &Scratch, agents: usize) {
    (0..agents).for_each(|agent| append(scratch.path(&format!("A{agent}.jsonl")), lines([DONE])));
}

/// The time that a process has had on a processor, in ticks of 10 ms.
fn ticks(pid: Pid) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("a living process");
    let (_, after) = stat.rsplit_once(") ").expect("a name in brackets");
    after.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<u64>().expect("a number")).sum()
}

#[test]
fn a_thousand_and_ten_thousand_agents_settle() {
    for agents in [1000, 10_000] {
        let scratch = Scratch::new();
        let running = wave(&scratch, agents, "300").start();
        settle(&scratch, agents);
        let ran = running.end();
        ran.peak_under_mib(48);
        let text = ran.exits(0).stdout_text();
        assert_eq!(text.matches("watcher.sentinel").count(), agents);
        let last = text.lines().last().expect("a record");
        let end = format!(
            "\"settled\":{agents},\"total\":{agents},\"settledPercentage\":100,\"bar\":\"██████████\"}}"
        );
        assert!(last.ends_with(&end), "{last}");
    }
}

#[test]
fn a_wave_needs_few_descriptors() {
    let scratch = Scratch::new();
    let few = ["sh", "-c", "ulimit -n 64; exec \"$0\" \"$@\""];
    let running = wave(&scratch, 200, "0.2").under(&few).start();
    told(&running, "\"agentId\":\"A199\"");
    let open = fs::read_dir(format!("/proc/{}/fd", running.pid())).expect("its descriptors").count();
    assert!(open < 20, "{open} descriptors");
    settle(&scratch, 200);
    let text = running.end().exits(0).stdout_text();
    assert_eq!(text.matches("watcher.sentinel").count(), 200);
}

#[test]
fn waiting_costs_next_to_nothing() {
    let scratch = Scratch::new();
    let running = wave(&scratch, 1000, "1").start();
    told(&running, "\"agentId\":\"A999\",\"elapsedSeconds\":1");
    let before = ticks(running.pid());
    told(&running, "\"agentId\":\"A999\",\"elapsedSeconds\":3");
    let spent = ticks(running.pid()) - before;
    // Two thousand digests are in it.
    assert!(spent <= 20, "{spent} ticks in two seconds");
    settle(&scratch, 1000);
    running.end().exits(0);
}

#[test]
fn agents_in_folders_of_their_own_settle() {
    let scratch = Scratch::new();
    let running = {
        let watcher = filter("wave-watch").dir(scratch.dir());
        let agents = (0..300).fold(watcher, |watcher, n| {
            watcher.args(["--agent", &format!("A{n}"), "1200", &format!("runs/{n}/p.jsonl")])
        });
        agents.args(["--digest-seconds", "0.2"]).start()
    };
    told(&running, "\"agentId\":\"A299\"");
    for n in 0..300 {
        fs::create_dir_all(scratch.path(&format!("runs/{n}"))).expect("a folder");
        append(scratch.path(&format!("runs/{n}/p.jsonl")), lines([DONE]));
    }
    let text = running.end().exits(0).stdout_text();
    assert_eq!(text.matches("watcher.sentinel").count(), 300);
}
