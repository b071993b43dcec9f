//! Cases whose every byte of output is known.

use crate::harness::transcript::{commands, transcript};

const RELEASES: [&str; 3] = ["0.98.0", "0.156.1", "0.171.0"];

#[test]
fn every_sample_of_every_release_is_as_the_table_says() {
    for release in RELEASES {
        transcript(&format!("codex-render/samples-{release}"));
    }
}

#[test]
fn no_sample_is_left_out() {
    for release in RELEASES {
        let samples = format!("{}/tests/data/samples/codex-{release}", env!("CARGO_MANIFEST_DIR"));
        let commands = commands(&format!("codex-render/samples-{release}"));
        for sample in std::fs::read_dir(samples).expect("samples") {
            let name = sample.expect("a sample").file_name().into_string().expect("a name");
            let ending = format!(" {name}");
            assert!(commands.iter().any(|command| command.ends_with(&ending)), "{release}/{name}");
        }
    }
}

#[test]
fn every_item_has_its_line() {
    transcript("codex-render/items");
}

#[test]
fn failures_are_told_from_warnings_and_sign_in_problems_are_marked() {
    transcript("codex-render/failures");
}
