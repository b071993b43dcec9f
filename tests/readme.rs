//! The documents say what the programs do: their tables are compared with the programs, and their examples are run.

use crate::harness::filter::{binary, filter};
use crate::harness::progress::Progress;
use crate::harness::scratch::Scratch;
use crate::harness::script::{S, Script, T};
use common::face::exit;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::LazyLock;

mod facts;
mod links;

/// The page that a newcomer reads first.
static README: LazyLock<String> = LazyLock::new(|| {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("the README")
});

/// The manual of a filter.
#[track_caller]
fn manual(filter: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("bins").join(filter).join("README.md");
    fs::read_to_string(path).expect("a manual")
}

/// The text of the section of `document` with this heading, up to the next section.
#[track_caller]
fn section<'a>(document: &'a str, heading: &str) -> &'a str {
    let (_, after) = document.split_once(&format!("\n## {heading}\n")).expect("a section");
    after.split_once("\n## ").map_or(after, |(section, _)| section)
}

/// The rows of the tables of a section whose first column has this title, without their heads.
#[track_caller]
fn table<'a>(document: &'a str, heading: &str, column: &str) -> Vec<Vec<&'a str>> {
    let mut rows = Vec::new();
    let mut is_wanted = false;
    for line in section(document, heading).lines().filter(|line| !line.starts_with("|---")) {
        // A bar that belongs to a cell is escaped.
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        match line.starts_with('|') {
            true if cells[0] == column => is_wanted = true,
            true if is_wanted => rows.push(cells),
            true => {}
            false => is_wanted = false,
        }
    }
    assert!(!rows.is_empty(), "{heading}: no table of {column}");
    rows
}

/// The options that the manual of a filter lists: those in its section `Options`, or `Options of JOB`.
fn options(filter_and_job: &[&str]) -> Vec<String> {
    let document = manual(filter_and_job[0]);
    let heading = match filter_and_job {
        [_, job] => format!("Options of {job}"),
        _ => "Options".to_owned(),
    };
    table(&document, &heading, "option").iter().map(|row| row[0].to_owned()).collect()
}

/// The long options that a text speaks of.
fn long_options(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !(c == '-' || c.is_ascii_lowercase()));
    words.filter(|word| word.len() > 3 && word.starts_with("--")).collect()
}

#[test]
fn the_exit_table_is_the_one_in_the_code() {
    let rows = table(&README, "Exit status", "status");
    let rows: Vec<(&str, &str)> = rows.iter().map(|row| (row[0], row[1])).collect();
    assert_eq!(rows, exit::TABLE);
}

#[test]
fn the_readme_is_one_page() {
    assert!(README.lines().count() <= 200, "{} lines", README.lines().count());
}

/// The filters whose options the documents list, with their jobs where they have several.
const FILTERS: [&[&str]; 6] = [
    &["codex-launch"],
    &["jsonl-tee"],
    &["jsonl-sentinel", "wait"],
    &["codex-render"],
    &["usage-diff"],
    &["wave-watch"],
];

fn help(filter_and_job: &[&str]) -> String {
    filter(filter_and_job[0]).args(&filter_and_job[1..]).arg("--help").run().exits(0).stdout_text()
}

#[test]
fn every_option_is_in_the_table_and_every_option_in_the_table_exists() {
    for words in FILTERS {
        let help = help(words);
        // An option's own line; below it stand the values that it takes, each after one dash.
        let is_option =
            |line: &&str| line.starts_with("--") || line.starts_with('-') && !line.starts_with("- ");
        let listed = help.lines().map(str::trim_start).filter(is_option);
        let mut help: BTreeSet<&str> = listed.flat_map(long_options).collect();
        assert!(help.remove("--help"));
        // A job is of its filter's version.
        assert_eq!(help.remove("--version"), words.len() == 1);
        let name = words.join(" ");
        let options = options(words);
        let documented: BTreeSet<&str> = options.iter().flat_map(|cell| long_options(cell)).collect();
        assert_eq!(documented, help, "{name}");
    }
}

#[test]
fn the_help_ends_with_the_exit_table() {
    for words in FILTERS {
        let help = help(words);
        assert!(help.trim_end().ends_with(exit::help().trim_end()), "{help}");
    }
}

/// Runs each line of the shell blocks of a section that begins with one of `commands` at the top of the repository,
/// and asserts that what comes out is what the text blocks say. `name` is the filter that they run.
#[track_caller]
fn goes_as_written(document: &str, heading: &str, name: &str, commands: &[&str]) {
    let blocks = |kind: &str| {
        let fence = format!("```{kind}\n");
        let blocks = section(document, heading).split(&fence).skip(1);
        blocks.map(|block| block.split("```").next().expect("its end")).collect::<String>()
    };
    let script: String = blocks("sh")
        .lines()
        .filter(|line| commands.iter().any(|command| line.trim_start().starts_with(command)))
        .map(|line| format!("{line}\n"))
        .collect();
    let bin = binary(name).parent().expect("the folder of the binaries").display();
    let path = format!("{bin}:{}", std::env::var("PATH").expect("a PATH"));
    let shell = filter(name).under(&["bash", "-uc", &script]).env("PATH", path);
    shell.dir(env!("CARGO_MANIFEST_DIR")).run().exits(0).stdout_is(blocks("text"));
}

#[test]
fn a_run_is_read_as_it_is_written() {
    let commands = ["codex-render tests/", "codex-render --answer tests/"];
    goes_as_written(&manual("codex-render"), "Examples", "codex-render", &commands);
}

#[test]
fn a_run_costs_what_is_written() {
    goes_as_written(&manual("usage-diff"), "Examples", "usage-diff", &["(", "cd ", "usage-diff ", ")"]);
}

#[test]
fn a_copy_goes_as_it_is_written() {
    goes_as_written(&manual("jsonl-tee"), "Examples", "jsonl-tee", &["printf "]);
}

#[test]
fn a_stream_is_sealed_as_it_is_written() {
    let document = manual("jsonl-sentinel");
    let (_scratch, stdout) = runs_at_home(&document, &["Examples"]);
    assert_eq!(without_numbers(&stdout), without_numbers(&outputs(&document, "Examples").concat()));
}

#[test]
fn a_wave_is_watched_as_it_is_written() {
    let document = manual("wave-watch");
    let scratch = Scratch::git();
    fs::create_dir(scratch.path("bin")).expect("a folder");
    for (name, program) in
        [("codex-launch", "codex-launch"), ("wave-watch", "wave-watch"), ("codex", "fake-codex")]
    {
        symlink(binary(program), scratch.path("bin").join(name)).expect("a link");
    }
    let blocks = section(&document, "Examples").split("```sh\n").skip(1);
    let script: String = blocks.map(|block| block.split("```").next().expect("its end")).collect();
    let path = format!("{}:{}", scratch.path("bin").display(), std::env::var("PATH").expect("a PATH"));
    let ran =
        filter("wave-watch").under(&["bash", "-euc", &script]).env("PATH", path).dir(scratch.dir()).run();
    let stdout = ran.exits(0).stdout_text();
    let types: Vec<&str> = stdout.lines().filter_map(|line| line.split(',').next()).collect();
    let pair = ["{\"type\":\"watcher.sentinel\"", "{\"type\":\"watcher.settlement\""];
    assert_eq!(types, [pair[0], pair[1], pair[0], pair[1], "status 0", pair[1]]);
    assert!(stdout.ends_with("\"settledPercentage\":100,\"bar\":\"██████████\"}\n"), "{stdout}");
}

#[test]
fn the_launches_of_a_wave_are_cancelled_as_the_jobs_of_the_shell() {
    let document = manual("wave-watch");
    let scratch = Scratch::git();
    fs::create_dir(scratch.path("bin")).expect("a folder");
    for (name, program) in [("codex-launch", "codex-launch"), ("codex", "fake-codex")] {
        symlink(binary(program), scratch.path("bin").join(name)).expect("a link");
    }
    let (_, block) = section(&document, "Examples").split_once("```sh\n").expect("a block");
    let (launches, _) = block.split_once("\nwave-watch ").expect("the watcher");
    let script = format!(
        "{launches}\nuntil [ -s A1.progress.jsonl ] && [ -s A2.progress.jsonl ]; do sleep 0.02; done\n\
         kill $(jobs -p)\nwait"
    );
    let path = format!("{}:{}", scratch.path("bin").display(), std::env::var("PATH").expect("a PATH"));
    let hangs = Script::new().lines([T, S]).hang();
    let ran = filter("wave-watch")
        .under(&["bash", "-euc", &script])
        .env("PATH", &path)
        .env("FAKE_CODEX_SCRIPT", hangs.write_to(&scratch))
        .dir(scratch.dir())
        .run();
    ran.exits(0);
    for name in ["A1", "A2"] {
        let progress = Progress::read(scratch.path(&format!("{name}.progress.jsonl")));
        assert!(progress.sentinel.contains("\"reason\":\"cancelled\""), "{}", progress.sentinel);
    }
}

#[test]
fn the_removed_variables_are_removed() {
    let manual = manual("codex-launch");
    let rows = table(&manual, "What is removed from the environment", "variable");
    let names: Vec<&str> = rows.iter().map(|row| row[0].trim_matches('`')).collect();
    let scratch = Scratch::git();
    let mut launch = filter("codex-launch").arg("--dry-run").dir(scratch.dir());
    for name in &names {
        launch = launch.env(name, "a secret");
    }
    let ran = launch.run();
    let record: serde_json::Value = serde_json::from_slice(&ran.exits(0).stdout).expect("one JSON object");
    assert_eq!(record["removed_variables"], serde_json::json!(names));
    assert!(!ran.stdout_text().contains("a secret"));
}

/// The words that the code can write as a cause.
fn causes() -> BTreeSet<String> {
    let code = include_str!("../common/src/flow/cause.rs");
    let arms = code.lines().filter_map(|line| line.trim().strip_prefix("Cause::")?.split_once(" => \""));
    arms.filter_map(|(_, word)| Some(word.split_once('"')?.0.to_owned())).collect()
}

#[test]
fn every_cause_of_a_failed_sentinel_is_explained() {
    let manual = manual("codex-launch");
    let rows = table(&manual, "The sentinel", "cause");
    let explained: BTreeSet<String> = rows.iter().map(|row| row[0].trim_matches('`').to_owned()).collect();
    assert_eq!(explained, causes());
}

/// What the shell blocks of `sections` of a document print, run as one script, in a home of their own that has a git
/// worktree and in which `codex` is the stand-in.
fn runs_at_home(document: &str, sections: &[&str]) -> (Scratch, String) {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.path("some/repository/.git")).expect("a repository");
    scratch.write("some/repository/.git/HEAD", "ref: refs/heads/main\n");
    fs::create_dir(scratch.path("bin")).expect("a folder");
    symlink(binary("fake-codex"), scratch.path("bin/codex")).expect("a link");
    let blocks = sections.iter().flat_map(|heading| section(document, heading).split("```sh\n").skip(1));
    let script: String = blocks.map(|block| block.split("```").next().expect("its end")).collect();
    let built = binary("codex-launch").parent().expect("the folder of the binaries");
    let usual = std::env::var("PATH").expect("a PATH");
    let path = format!("{}:{}:{usual}", scratch.path("bin").display(), built.display());
    let shell = filter("codex-launch").under(&["bash", "-euc", &script]).env("PATH", path);
    let ran = shell.env("HOME", scratch.dir()).dir(scratch.dir()).run();
    let stdout = ran.exits(0).stdout_text();
    (scratch, stdout)
}

/// Without its digits: the stand-in is as fast as no model is, and has its own number of tokens.
fn without_numbers(text: &str) -> String {
    text.replace(|c: char| c.is_ascii_digit(), "")
}

/// The text blocks of a section.
fn outputs<'a>(document: &'a str, heading: &str) -> Vec<&'a str> {
    let blocks = section(document, heading).split("```text\n").skip(1);
    blocks.map(|block| block.split("```").next().expect("its end")).collect()
}

#[test]
fn runs_of_the_launcher_go_as_they_are_written() {
    let manual = manual("codex-launch");
    let (scratch, stdout) = runs_at_home(&manual, &["Examples"]);
    let outputs = outputs(&manual, "Examples");
    let (checked, _) = outputs[1].split_once("{\"argv\"").expect("a dry run");
    let expected = without_numbers(&format!("{}{checked}", outputs[0]));
    assert!(without_numbers(&stdout).starts_with(&expected), "{stdout}");
    for name in ["A1", "A2", "B1"] {
        Progress::read(scratch.path(&format!("runs/{name}.progress.jsonl"))).completed();
        assert_eq!(scratch.text(&format!("runs/{name}.result.md")), "ok");
    }
    assert_eq!(scratch.text("runs/review.md"), "ok\n");
}

#[test]
fn a_run_a_resume_and_a_wave_go_as_the_readme_says() {
    let (scratch, stdout) = runs_at_home(&README, &["A run", "A resume", "A wave"]);
    assert!(stdout.starts_with("status 0\n{\"type\":\"handoff.completed\","), "{stdout}");
    assert!(stdout.contains("\"settledPercentage\":100,"), "{stdout}");
    assert!(stdout.ends_with("\nstatus 0\n"), "{stdout}");
    for name in ["A1", "A2", "B1", "B2"] {
        Progress::read(scratch.path(&format!("runs/{name}.progress.jsonl"))).completed();
        assert_eq!(scratch.text(&format!("runs/{name}.result.md")), "ok");
    }
}
