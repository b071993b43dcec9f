//! A case as people see it at a shell: what was typed, what came out.
//!
//! A case is a folder in `tests/golden` with a file `transcript` and the inputs that it names. In the transcript
//! a line `$ COMMAND` is run by bash in that folder, with the filters on its PATH and the sample streams in `$SAMPLES`;
//! what follows is its stdout, then its stderr with `! ` before each line, then `= STATUS`. With the variable BLESS
//! set, what comes out is written instead of compared: to be read by eye before it is kept.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::filter::{binary, program};
use super::scratch::Scratch;

const FILTERS: [&str; 2] = ["codex-render", "usage-diff"];

/// Runs the case in `tests/golden/CASE`, and asserts that everything is as its transcript says.
#[track_caller]
pub(crate) fn transcript(case: &str) {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden")).join(case);
    let file = folder.join("transcript");
    let expected = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let bin = Scratch::new();
    for name in FILTERS {
        symlink(binary(name), bin.path(name)).expect("a link");
    }
    let commands = expected.lines().filter_map(|line| line.strip_prefix("$ "));
    let came_out: String = commands.map(|command| session(&folder, bin.dir(), command)).collect();
    if std::env::var_os("BLESS").is_some() {
        fs::write(&file, came_out).expect("writing a transcript");
    } else {
        assert!(
            came_out == expected,
            "{case} is not as its transcript says:\n{}",
            difference(&expected, &came_out)
        );
    }
}

/// The commands of the case in `tests/golden/CASE`.
pub(crate) fn commands(case: &str) -> Vec<String> {
    let file = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden")).join(case).join("transcript");
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    text.lines().filter_map(|line| line.strip_prefix("$ ")).map(str::to_owned).collect()
}

fn session(folder: &Path, bin: &Path, command: &str) -> String {
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").expect("a PATH"));
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/samples");
    let bash = program(Path::new("bash")).args(["-c", command]).env("PATH", path).env("SAMPLES", samples);
    let ran = bash.dir(folder).run();
    let mut text = format!("$ {command}\n{}", ran.stdout_text());
    if !text.ends_with('\n') {
        text += "\\ no end of line\n";
    }
    for line in ran.stderr_lines() {
        text += &format!("! {line}\n");
    }
    text + &format!("= {}\n", ran.status.code().map_or("none".to_owned(), |status| status.to_string()))
}

/// The first lines that differ, and those before them.
fn difference(expected: &str, came_out: &str) -> String {
    let same = expected.lines().zip(came_out.lines()).take_while(|(one, other)| one == other).count();
    let from = |text: &str| text.lines().skip(same.saturating_sub(3)).take(8).collect::<Vec<_>>().join("\n");
    format!("expected\n{}\ncame out\n{}", from(expected), from(came_out))
}
