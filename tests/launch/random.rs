//! Three hundred runs that go, end and are ended at random.
//!
//! Whatever happens, the progress file is whole lines of JSON objects with exactly one sentinel at its end, the
//! sentinel says what the status says, there is a result exactly when the run completed, and no process is left.
//! Each run has a generator of its own, made from the seed and the run's number: `CODEX_FILTERS_SEED` replays all.

use std::cell::RefCell;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use nix::sys::signal::Signal;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use serde_json::json;

use super::{launch, progress};
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, F, M, S, Script, T};

const RUNS: u64 = 300;

/// How many go on at a time. Most of their time they wait.
const AT_A_TIME: usize = 6;

#[test]
fn every_run_ends_in_one_sentinel_and_leaves_nothing() {
    let seed = match std::env::var("CODEX_FILTERS_SEED") {
        Ok(seed) => seed.parse().expect("a seed is a number"),
        Err(_) => {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a time after 1970");
            u64::from(now.subsec_nanos())
        }
    };
    println!("CODEX_FILTERS_SEED={seed}");
    let next = AtomicU64::new(0);
    let work = || {
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        for number in numbers.take_while(|number| *number < RUNS) {
            Plan::draw(&mut StdRng::seed_from_u64(seed.wrapping_add(number << 32))).carry_out(seed, number);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(work);
        }
    });
}

/// One run.
struct Plan {
    scratch: Scratch,
    script: Script,
    /// More arguments: the limit, the grace and at most one other.
    args: Vec<String>,
    /// Signals to the launcher, and how long after its start or after the signal before.
    signals: Vec<(Signal, Duration)>,
}

impl Plan {
    fn draw(random: &mut StdRng) -> Plan {
        let scratch = Scratch::git();
        let mut script = Script::new();
        if random.random_bool(0.2) {
            script = script.leave_prompt();
        }
        if random.random_bool(0.2) {
            script = script.ignore(&["INT", "TERM"]);
        }
        for _ in 0..random.random_range(0..12) {
            script = something(random, script);
        }
        let script = ending(random, script);
        // A run that hangs ends by its limit unless a signal comes first.
        let [limit, grace] = [random.random_range(0.02..0.4), random.random_range(0.0..0.2)];
        let mut args = vec![format!("--timeout-seconds={limit}"), format!("--kill-grace={grace}")];
        args.push(format!("--leftover-grace={grace}"));
        let others = ["--stderr-file=e", "--session-file=s", "--resume=t1", "--decide=stream", "--ephemeral"];
        args.extend(others.choose(random).filter(|_| random.random_bool(0.5)).map(|&other| other.to_owned()));
        let signals = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT];
        let mut signal = |moment: u64| {
            let moment = Duration::from_micros(random.random_range(0..moment));
            (*signals.choose(random).expect("a signal"), moment)
        };
        let first = signal(60_000);
        let second = signal(20_000);
        let signals = match random.random_range(0..10) {
            0..4 => vec![],
            4..8 => vec![first],
            _ => vec![first, second],
        };
        Plan { scratch, script, args, signals }
    }

    fn carry_out(&self, seed: u64, number: u64) {
        let told = Told(RefCell::new(format!(
            "run {number} of CODEX_FILTERS_SEED={seed}: {:?}, {:?}\n{}",
            self.signals, self.args, self.script
        )));
        let running = launch(&self.scratch, &self.script).args(&self.args).start();
        for (signal, moment) in &self.signals {
            // Not a wait for anything: the moment is what is drawn.
            std::thread::sleep(*moment);
            running.signal(*signal);
        }
        // Nothing left is asserted here.
        let ran = running.end();
        write!(told.0.borrow_mut(), "{ran}").expect("a string takes all");
        let cancelled: Vec<i32> = self.signals.iter().map(|(signal, _)| 128 + *signal as i32).collect();
        // A launcher that was signalled before it launched says nothing; and it may not have had its handlers yet.
        let Some(status) = ran.status.code() else {
            assert!(!cancelled.is_empty() && !self.scratch.has("p") && !self.scratch.has("r"), "{ran}");
            return;
        };
        if !self.scratch.has("p") {
            assert!(cancelled.contains(&status) && !self.scratch.has("r"), "{ran}");
            return;
        }
        let progress = progress(&self.scratch);
        match status {
            0 => progress.completed(),
            124 => progress.failed_by("timeout"),
            _ if cancelled.contains(&status) && progress.sentinel.contains("cancelled") => &progress,
            _ => progress.failed_with(status),
        };
        assert_eq!(self.scratch.has("r"), status == 0, "{ran}");
        let last = ran.stderr_lines().pop().expect("a line on stderr");
        assert!(last.starts_with("codex-launch: elapsed="), "{ran}");
    }
}

/// One more thing that a run does.
fn something(random: &mut StdRng, script: Script) -> Script {
    match random.random_range(0..12) {
        0..4 => script.line(*[T, S, M, C, F].choose(random).expect("a line")),
        4 => script.delay_ms(random.random_range(0..10)),
        5 => script.error("Reconnecting... 1/5"),
        6 => script.line(r#"{"type":"handoff.completed","elapsed_seconds":0}"#),
        7 => script.raw(&M[..random.random_range(0..M.len())]),
        8 => script.stderr("some words\n").line("noise"),
        9 => script.flood("stdout", random.random_range(1000..300_000), "lines"),
        10 => script.flood("stderr", random.random_range(1000..300_000), "no-lf"),
        _ => descendant(random, script),
    }
}

fn descendant(random: &mut StdRng, script: Script) -> Script {
    let mut fields = json!({"seconds": 300, "orphan": random.random_bool(0.5)});
    let mut sometimes = |name: &str, value: serde_json::Value| {
        if random.random_bool(0.5) {
            fields[name] = value;
        }
    };
    sometimes("session", json!("own"));
    sometimes("pipes", json!("hold"));
    sometimes("ignore", json!(["INT", "TERM", "HUP"]));
    fields["life"] = json!(if random.random_bool(0.2) { "chatter" } else { "sleep" });
    script.spawn(fields)
}

/// How a run ends if nobody ends it.
fn ending(random: &mut StdRng, script: Script) -> Script {
    match random.random_range(0..10) {
        0..4 => script.line("").lines([S, M, C]),
        4 => script.exit(random.random_range(1..4)),
        5 => script.die("KILL"),
        6 => script.die("TERM"),
        7 => script.step("stop", json!({})),
        8 => script.step("close", json!({"which": "stdout"})).hang(),
        _ => script.hang(),
    }
}

/// What is told when a run fails a test.
struct Told(RefCell<String>);

impl Drop for Told {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.0.borrow());
        }
    }
}
