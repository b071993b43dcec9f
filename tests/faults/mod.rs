//! Real runs, and one fault in each: whatever goes wrong, the promises hold.
//!
//! A run is Codex's stand-in under `codex-launch`, with descendants, its events in a file or through `jsonl-tee`, and
//! `wave-watch` watching. One fault of one kind hits it at a random moment. Afterwards the progress file has exactly
//! one sentinel, as its last line, and whole lines before it; no process and no temporary file is left; and each status
//! is one that the fault allows. The same faults then hit `pipeline.sh`, a shell script for the same job, and what comes
//! of it is only counted.
//!
//! Each case has a generator of its own, made from the seed and its number.
//!
//! | variable | effect |
//! |---|---|
//! | `CODEX_FILTERS_SEED` | the seed, to replay all |
//! | `CODEX_FILTERS_FAULTS` | how many cases there are; for the shell script it is a tenth of them |
//! | `CODEX_FILTERS_CASE` | only the case of this number |

mod agent;
mod bomb;
mod case;
mod check;
mod part;
mod plan;
mod record;
mod tally;
mod world;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use rand::SeedableRng;
use rand::rngs::StdRng;

use check::{Findings, check};
use plan::{Kind, Plan, Side};
use tally::Tally;

/// How many cases go on at a time. Most of their time they wait.
const AT_A_TIME: usize = 6;

/// A variable that is a number.
fn number(variable: &str) -> Option<u64> {
    let value = std::env::var(variable).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{variable} is not a number: {value}")))
}

fn seed() -> u64 {
    number("CODEX_FILTERS_SEED").unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a time after 1970");
        u64::from(now.subsec_nanos())
    })
}

#[test]
fn every_fault_leaves_one_sentinel_and_nothing_else() {
    let seed = seed();
    println!("CODEX_FILTERS_SEED={seed}");
    let count = number("CODEX_FILTERS_FAULTS").unwrap_or(500);
    let filters = run(seed, Side::Filters, count);
    let for_shell = count / 10;
    let shell = run(seed, Side::Shell, for_shell);
    println!("{}", tally::table(&filters, &shell));
    println!("{}", filters.examples());
    if number("CODEX_FILTERS_CASE").is_some() {
        println!("the same with the shell script\n{}", shell.examples());
    } else {
        assert_eq!(
            (filters.cases() + filters.skipped(), shell.cases() + shell.skipped()),
            (count, for_shell)
        );
    }
    assert_eq!(filters.wrong(), 0, "cases in which something was wrong");
}

/// Carries out so many cases, spread evenly over the kinds.
fn run(seed: u64, side: Side, count: u64) -> Tally {
    let kinds = Kind::of(side);
    let only = number("CODEX_FILTERS_CASE");
    let tally = Mutex::new(Tally::new(&kinds));
    let next = AtomicU64::new(0);
    let work = || {
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let numbers = numbers.take_while(|number| *number < count);
        for number in numbers.filter(|number| only.is_none_or(|only| only == *number)) {
            let kind = kinds[usize::try_from(number).expect("a small number") % kinds.len()];
            let findings = world::can_have(kind).then(|| one(seed, side, kind, number));
            let mut tally = tally.lock().expect("the tally");
            tally.note(kind, number, findings);
            if tally.cases().is_multiple_of(500) {
                eprintln!("{} cases, {} wrong", tally.cases(), tally.wrong());
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(work);
        }
    });
    tally.into_inner().expect("the tally")
}

/// One case.
fn one(seed: u64, side: Side, kind: Kind, number: u64) -> Findings {
    let plan = Plan::draw(&mut StdRng::seed_from_u64(seed.wrapping_add(number << 32)), side, kind);
    plan.script.write_to(&plan.scratch);
    let ended = case::carry_out(&plan);
    let mut findings = check(&plan, &ended);
    if let Some((_, why)) = findings.first_mut() {
        why.push_str(&format!("\n{plan}"));
    }
    findings
}
