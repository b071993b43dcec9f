//! What the tools take, and whether it grows.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;

use nix::unistd::Pid;

/// What is measured, and by how much the most of the last third may be above the most of the first one: allocators
/// and the pages of a program come and go, and a descriptor may be open for the moment of a look. Memory has two
/// mebibytes: a line of up to 1 MiB is kept where it waits to be judged and as the last message, and the pages of these
/// buffers are touched when the first such line happens to come in pieces, which can be late.
const MEASURES: [(&str, u64); 4] =
    [("RSS in KiB", 2048), ("descriptors", 1), ("threads", 0), ("processes", 0)];

/// The sums over all processes differ by more, for each of them may.
const RSS_OF_ALL: u64 = 4096;

/// The tool that stands for all.
const ALL: &str = "all";

/// How many tenths of the samples are left out at the beginning, while everything grows to its size.
const WARM_UP_TENTHS: usize = 1;

/// The measures of one tool at one time.
type Sample = [u64; MEASURES.len()];

/// All samples of each tool.
#[derive(Default)]
pub(super) struct Samples {
    tools: BTreeMap<&'static str, Vec<Sample>>,
}

impl Samples {
    /// Takes one of the tool whose processes these are.
    pub(super) fn take(&mut self, tool: &'static str, pids: &[Pid]) {
        let samples = pids.iter().map(|pid| sample(*pid).unwrap_or_else(|| panic!("{tool} has ended")));
        self.tools.entry(tool).or_default().push(sum(samples));
    }

    /// Takes one of all processes of the soak.
    pub(super) fn take_all(&mut self, pids: impl Iterator<Item = Pid>) {
        self.tools.entry(ALL).or_default().push(sum(pids.filter_map(sample)));
    }

    /// What grew, a line each.
    pub(super) fn grown(&self) -> Vec<String> {
        let mut grown = vec![];
        for (tool, samples) in &self.tools {
            let (first, last) = thirds(samples);
            for (at, (measure, margin)) in MEASURES.into_iter().enumerate() {
                let margin = if *tool == ALL && at == 0 { RSS_OF_ALL } else { margin };
                let (before, after) = (most(first, at), most(last, at));
                if after > before + margin {
                    grown.push(format!("{tool}: {measure}: at most {before} at first, then {after}"));
                }
            }
        }
        grown
    }
}

/// The first and the last third behind the warm-up.
fn thirds(samples: &[Sample]) -> (&[Sample], &[Sample]) {
    let samples = &samples[samples.len() * WARM_UP_TENTHS / 10..];
    let third = samples.len().div_ceil(3);
    (&samples[..third], &samples[samples.len() - third..])
}

fn most(samples: &[Sample], at: usize) -> u64 {
    samples.iter().map(|sample| sample[at]).max().expect("a sample")
}

fn sum(samples: impl Iterator<Item = Sample>) -> Sample {
    samples.fold(Sample::default(), |sum, sample| std::array::from_fn(|at| sum[at] + sample[at]))
}

/// Nothing when the process has ended.
fn sample(pid: Pid) -> Option<Sample> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let field = |name: &str| {
        let value = status.lines().find_map(|line| line.strip_prefix(name))?;
        value.trim().trim_end_matches(" kB").parse().ok()
    };
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count();
    Some([field("VmRSS:")?, descriptors as u64, field("Threads:")?, 1])
}

impl fmt::Display for Samples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = ["tool", "samples", "RSS first", "last", "max", "descriptors", "threads", "processes"];
        writeln!(f, "{}", row(head.map(str::to_owned)))?;
        for (tool, samples) in &self.tools {
            let (first, last) = (samples[0], samples[samples.len() - 1]);
            let mut cells = vec![(*tool).to_owned(), samples.len().to_string()];
            cells.extend([first[0], last[0], most(samples, 0)].map(|kib| format!("{kib} KiB")));
            cells.extend((1..MEASURES.len()).map(|at| format!("{} → {}", first[at], last[at])));
            writeln!(f, "{}", row(cells.try_into().expect("as many cells as the head has")))?;
        }
        Ok(())
    }
}

fn row(cells: [String; 8]) -> String {
    let [tool, numbers @ ..] = cells;
    numbers.iter().fold(format!("{tool:<28}"), |row, number| format!("{row} {number:>11}"))
}

#[test]
fn growth_is_seen() {
    let of = |sample: &dyn Fn(u64) -> Sample| {
        let tools = BTreeMap::from([("tool", (0..100).map(sample).collect())]);
        Samples { tools }.grown()
    };
    assert_eq!(of(&|at| [4000 + at % 30, 9 + at % 2, 3, 1]), <[&str; 0]>::default());
    assert_eq!(of(&|at| [4000 + at.min(9) * 900, 9, 3, 1]), <[&str; 0]>::default());
    assert_eq!(of(&|at| [4000 + at * 50, 9, 3, 1]), ["tool: RSS in KiB: at most 5950 at first, then 8950"]);
    assert_eq!(
        of(&|at| [4000, 9 + at / 20, 3, 1 + at / 95]),
        ["tool: descriptors: at most 10 at first, then 13", "tool: processes: at most 1 at first, then 2"]
    );
}
