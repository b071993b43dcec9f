//! `wave-watch` against what people watch files with: the time from the write of a sentinel to the record on stdout,
//! next to a shell loop that polls every second, `tail -n0 -F` and a bare inotify loop; ten thousand agents; and how
//! fast progress is read, next to `jq -c .type`.
//!
//! `cargo bench --bench wave` prints the tables of `benches/README.md`; with `-- latency`, `-- at-once`, `-- many` or
//! `-- reading` only one of them. CODEX_FILTERS_BENCH_MB is how much is read, 2000 when not given.
#![allow(clippy::print_stderr, clippy::print_stdout)]

#[path = "../flow/corpus.rs"]
mod corpus;
mod latency;
mod many;
mod reading;
mod watcher;

fn main() {
    if let Some(folder) = std::env::var_os(watcher::INOTIFY) {
        return watcher::inotify_loop(folder.as_ref());
    }
    // Cargo adds --bench.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|word| word == name);
    if is_wanted("latency") {
        latency::print();
    }
    if is_wanted("at-once") {
        latency::print_at_once();
    }
    if is_wanted("many") {
        many::print();
    }
    if is_wanted("reading") {
        reading::print();
    }
}
