//! From the write of a sentinel to the record on stdout.

use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use crate::watcher::{Kind, Wave, settle};

/// A round: so many watchers at once, each of so many agents, of which so many settle within this time.
struct Round {
    agents: usize,
    watchers: usize,
    each: usize,
    spread: Duration,
}

impl Round {
    /// The sizes of the table. Those that poll see fewer sentinels over a longer time, so that all phases of their
    /// second are met.
    fn of(kind: Kind, agents: usize) -> Round {
        let polls = matches!(kind, Kind::Polling | Kind::Shell);
        let (watchers, each) = match (agents, polls) {
            (1, true) => (50, 1),
            (1, false) => (100, 1),
            (100, true) => (2, 50),
            (100, false) => (5, 80),
            (_, true) => (1, 100),
            (_, false) => (1, 400),
        };
        Round { agents, watchers, each, spread: Duration::from_secs(if polls { 4 } else { 3 }) }
    }

    /// All agents of one wave settle at once, as when they share a budget.
    fn at_once(agents: usize) -> Round {
        Round { agents, watchers: 1, each: agents, spread: Duration::ZERO }
    }

    fn run(&self, kind: Kind) -> Vec<Duration> {
        let mut dice = StdRng::seed_from_u64(4);
        let waves: Vec<Wave> = (0..self.watchers).map(|_| Wave::start(kind, self.agents)).collect();
        let chosen: Vec<Vec<usize>> = (0..self.watchers)
            .map(|_| {
                let mut all: Vec<usize> = (0..self.agents).collect();
                all.shuffle(&mut dice);
                all.truncate(self.each);
                all
            })
            .collect();
        let mut writes: Vec<(Duration, usize, usize)> = (0..self.watchers)
            .flat_map(|wave| (0..self.each).map(move |place| (wave, place)))
            .map(|(wave, place)| (self.spread.mul_f64(dice.random()), wave, place))
            .collect();
        writes.sort_unstable();
        let start = Instant::now();
        let mut written = vec![vec![start; self.each]; self.watchers];
        for (at, wave, place) in writes {
            let mut file = waves[wave].open(chosen[wave][place]);
            std::thread::sleep((start + at).saturating_duration_since(Instant::now()));
            written[wave][place] = Instant::now();
            settle(&mut file);
        }
        let told = waves.iter().zip(&chosen).flat_map(|(wave, chosen)| wave.told(chosen));
        told.zip(written.into_iter().flatten()).map(|(told, written)| told - written).collect()
    }
}

pub(crate) fn print() {
    head("agents");
    for agents in [1, 100, 10_000] {
        compare(agents, |kind| Round::of(kind, agents).run(kind));
    }
}

pub(crate) fn print_at_once() {
    head("agents, all at once");
    for (agents, rounds) in [(100, 10), (10_000, 2)] {
        compare(agents, |kind| (0..rounds).flat_map(|_| Round::at_once(agents).run(kind)).collect());
    }
}

fn head(agents: &str) {
    println!(
        "\n| who watches | {agents} | p50 | p99 | p50 to tail's | p99 to tail's |\n|---|---|---|---|---|---|"
    );
}

/// Prints how each watcher does, and against `tail`; `times` gives how long each sentinel took.
fn compare(agents: usize, times: impl Fn(Kind) -> Vec<Duration>) {
    let mut tail = None;
    for kind in [Kind::Tail, Kind::Shell, Kind::Inotify, Kind::WaveWatch, Kind::Polling] {
        let mut times = times(kind);
        times.sort_unstable();
        let (p50, p99) = (part(&times, 50), part(&times, 99));
        let (of_tail, far_of_tail) = *tail.get_or_insert((p50, p99));
        println!(
            "| {} | {agents} | {p50:.2} ms | {p99:.2} ms | {:.2} | {:.2} |",
            kind.name(),
            p50 / of_tail,
            p99 / far_of_tail
        );
    }
}

/// The time under which this percentage of `sorted` lies, in milliseconds.
fn part(sorted: &[Duration], percentage: usize) -> f64 {
    let place = (sorted.len() * percentage).div_ceil(100).max(1) - 1;
    sorted[place].as_secs_f64() * 1e3
}
