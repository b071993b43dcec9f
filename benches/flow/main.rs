//! Framer and scanner against the libraries that could stand in their place.
//!
//! Every opponent has to give the right counts, and refuse what is not JSON, before it is timed.
#![allow(clippy::print_stderr, clippy::print_stdout)]

mod corpus;
mod opponents;

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};

use opponents::{Counts, TYPES};

type Opponent = (&'static str, fn(&[u8]) -> Counts);

const OPPONENTS: [Opponent; 8] = [
    (OURS, opponents::ours),
    (CARELESS, opponents::serde_bytes),
    ("simdutf8 + serde_json borrowed", opponents::serde_str),
    ("serde_json Value", opponents::serde_value),
    ("simd-json tape", opponents::simd_tape),
    ("simd-json tape, padded and reused", opponents::simd_tape_again),
    ("sonic-rs borrowed", opponents::sonic),
    (LIMIT, opponents::limit),
];

/// This project's scanner, or a build of it without one of the parts that are there for speed alone.
const OURS: &str = if cfg!(scan_without = "fast_path") {
    "codex-filters without the fast path"
} else if cfg!(scan_without = "prefix") {
    "codex-filters without the prefix"
} else if cfg!(scan_without = "key_table") {
    "codex-filters without the key table"
} else if cfg!(scan_without = "escape_blocks") {
    "codex-filters without escape blocks"
} else {
    "codex-filters"
};

/// Not an opponent but the limit.
const LIMIT: &str = "memchr + simdutf8 alone";

/// It does not look at the bytes of a string that it ignores, so it takes what is not UTF-8.
const CARELESS: &str = "serde_json borrowed, bytes";

/// Lines that no validating reader takes; the fault is in a part that nobody asks for.
const MALFORMED: [&[u8]; 5] = [
    b"{\"type\":\"error\",\"x\":\"\x01\"}\n",
    b"{\"type\":\"error\",\"x\":\"\\q\"}\n",
    b"{\"type\":\"error\",\"x\":[1,{\"y\":01}]}\n",
    b"{\"type\":\"error\",\"x\":nul}\n",
    b"{\"type\":\"error\"}}\n",
];

/// And one that is not UTF-8.
const NOT_UTF8: &[u8] = b"{\"type\":\"error\",\"x\":\"\xe6\x87\"}\n";

/// The right answer, from the beginnings of the lines.
fn expected(stream: &str) -> Counts {
    let mut counts = Counts::default();
    for line in stream.lines() {
        let of = |name: &&str| line.starts_with(&format!("{{\"type\":\"{name}\""));
        counts[TYPES.iter().position(of).expect("the corpus has known types only")] += 1;
    }
    counts
}

/// Stops the bench when `count` is wrong about the stream or takes what it must refuse.
fn check(opponent: &str, count: fn(&[u8]) -> Counts, stream: &str) {
    let (counts, expected) = (count(stream.as_bytes()), expected(stream));
    if opponent == LIMIT {
        assert_eq!(counts.iter().sum::<usize>(), expected.iter().sum::<usize>(), "{opponent}");
        return;
    }
    assert_eq!(counts, expected, "{opponent}");
    let refused = |line| count(line)[opponents::MALFORMED] == 1;
    for line in MALFORMED {
        assert!(refused(line), "{opponent} takes {}", line.escape_ascii());
    }
    assert_eq!(refused(NOT_UTF8), opponent != CARELESS, "{opponent}");
}

fn flow(criterion: &mut Criterion) {
    for (name, stream) in [("chatty", corpus::chatty(8 << 20)), ("bulky", corpus::bulky(32 << 20))] {
        let (lines, escapes) = (stream.matches('\n').count(), stream.matches('\\').count());
        println!(
            "{name}: {} bytes, {lines} lines, a backslash every {} bytes",
            stream.len(),
            stream.len() / escapes
        );
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Bytes(stream.len() as u64));
        group.sampling_mode(SamplingMode::Flat).sample_size(40).measurement_time(Duration::from_secs(4));
        for (opponent, count) in OPPONENTS {
            check(opponent, count, &stream);
            group.bench_function(BenchmarkId::from_parameter(opponent), |bencher| {
                bencher.iter(|| count(black_box(stream.as_bytes())));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, flow);
criterion_main!(benches);
