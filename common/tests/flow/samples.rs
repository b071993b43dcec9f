//! The scanner over every line that a real Codex printed.

use std::fs;
use std::path::PathBuf;

use common::flow::scan::Scanner;

use crate::oracle::{Answer, WANTS, judged, scanned, taken};

/// Every sample stream, with its path.
fn streams() -> Vec<(PathBuf, Vec<u8>)> {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/samples"));
    let releases =
        fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let files =
        releases.flat_map(|release| fs::read_dir(release).unwrap()).map(|entry| entry.unwrap().path());
    files.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

#[test]
fn every_line_is_read_as_serde_json_reads_it() {
    let streams = streams();
    assert_eq!(streams.len(), 74);
    for (path, bytes) in streams {
        // One size that holds whole lines, one that holds none, one in between.
        for size in [1 << 16, 100, 7] {
            let mut scanner = Scanner::new(WANTS);
            let mut answers = taken(&mut scanner, bytes.chunks(size));
            assert_eq!(answers.pop(), Some(Answer::Blank), "every line has its LF");
            let lines = bytes.strip_suffix(b"\n").unwrap().split(|byte| *byte == b'\n');
            let judged: Vec<_> = lines.map(judged).collect();
            assert!(judged.iter().all(|answer| matches!(answer, Answer::Object(_))), "{}", path.display());
            assert_eq!(answers, judged, "{} in chunks of {size}", path.display());
        }
    }
}

#[test]
fn every_short_line_is_read_under_every_cut() {
    let mut scanner = Scanner::new(WANTS);
    for (path, bytes) in streams() {
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| line.len() < 2_000) {
            let judged = judged(line);
            for at in 0..=line.len() {
                let (left, right) = line.split_at(at);
                assert_eq!(scanned(&mut scanner, [left, right]), judged, "{} cut at {at}", path.display());
            }
        }
    }
}
