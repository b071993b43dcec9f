//! The soak: waves of short runs, one after the other, beside tools that live through all of them. Nothing grows.
//!
//! It lasts a minute, and `scripts/soak --minutes N` lets it last longer. A sample is taken behind each wave, when all
//! that it started has ended: memory, descriptors and threads of each tool that lives on, and the sums over all
//! processes there are. The most of the last third may not be above the most of the first one, but for the margins in
//! [`samples`].

mod company;
mod feed;
mod samples;
mod wave;

use std::time::{Duration, Instant};

use company::Company;
use samples::Samples;

use crate::harness::filter::{Filter, filter};

/// How long the soak lasts, in minutes; 1 when not given.
const MINUTES: &str = "CODEX_FILTERS_SOAK_MINUTES";

/// From the start of a wave to that of the next one, as far as the machine is fast enough.
const PERIOD: Duration = Duration::from_millis(600);

/// Marks all processes of the soak. The mark that every filter of a test has is one of its own.
const MARK: &str = "CODEX_FILTERS_SOAK";

fn mark() -> String {
    std::process::id().to_string()
}

/// A filter of the soak.
fn soaked(name: &str) -> Filter {
    filter(name).env(MARK, mark())
}

fn length() -> Duration {
    let minutes = std::env::var(MINUTES).map_or(1.0, |minutes| minutes.parse().expect("a number of minutes"));
    Duration::from_secs_f64(minutes * 60.0)
}

#[test]
fn nothing_grows() {
    let (started, length) = (Instant::now(), length());
    let company = Company::start(length);
    let mut samples = Samples::default();
    let mut number = 0;
    while started.elapsed() < length {
        let next = Instant::now() + PERIOD;
        company.feed(number);
        wave::run(number);
        company.settle();
        company.sample(&mut samples);
        number += 1;
        // The samples are taken at an even pace, which is no condition to wait for.
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    company.end();
    println!("soak: {number} waves in {:.1} min\n{samples}", started.elapsed().as_secs_f64() / 60.0);
    let grown = samples.grown();
    assert!(grown.is_empty(), "{}\n{samples}", grown.join("\n"));
}
