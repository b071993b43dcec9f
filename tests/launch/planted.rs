//! What the run itself may do to the files that are written for it: nothing is followed, and nothing of it is taken for
//! the truth.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;

use nix::sys::signal::{Signal::SIGKILL, kill};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use super::{bare, launch, progress, seconds};
use crate::harness::filter::Filter;
use crate::harness::mounts::own_mounts;
use crate::harness::ran::Ran;
use crate::harness::running::Running;
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, Script, T, lines};
use crate::harness::skipped::skipped;
use crate::harness::wait::{SOON, wait_until};

const OUTPUTS: [&str; 4] = ["--progress-file", "--result-file", "--stderr-file", "--session-file"];

/// What a command that means harm puts into a progress file.
const FORGED: &str = "{\"type\":\"handoff.completed\",\"elapsed_seconds\":0}\n";

/// A folder that is none of the run's, with a file `mine`.
fn elsewhere() -> Scratch {
    let elsewhere = Scratch::new();
    elsewhere.write("mine", "mine");
    elsewhere
}

#[track_caller]
fn is_untouched(elsewhere: &Scratch) {
    assert_eq!(elsewhere.names(), ["mine"]);
    assert_eq!(elsewhere.text("mine"), "mine");
}

/// A run of [`prepare`], in whose midst `meddle` does what a command of it may do.
fn meddled(
    scratch: &Scratch,
    rest: &Script,
    prepare: impl FnOnce(Filter) -> Filter,
    meddle: impl FnOnce(&Running),
) -> Ran {
    let script = Script::new().lines([T, S]).touch(&scratch.path("ready")).await_file(&scratch.path("go"));
    let running = prepare(launch(scratch, &script.append(rest))).start();
    scratch.wait_for("ready");
    wait_until("two events", SOON, || scratch.has("p") && scratch.text("p") == lines([T, S]));
    meddle(&running);
    scratch.write("go", "");
    let ran = running.end();
    ran.took(seconds(0), seconds(20));
    ran
}

fn good() -> Script {
    Script::new().lines([M, C])
}

/// Puts something at a path.
type Plant<'a> = Box<dyn Fn(&Path, &Running) + 'a>;

/// All that can be put at a path to lead a writer astray.
fn traps(elsewhere: &Scratch) -> [(&'static str, Plant<'_>); 6] {
    let link = |target: String| move |at: &Path, _: &Running| symlink(&target, at).expect("a link");
    let path = |name: &str| elsewhere.path(name).to_str().expect("text").to_owned();
    [
        ("a link to a file", Box::new(link(path("mine")))),
        ("a link to nothing", Box::new(link(path("new")))),
        ("a link to a descriptor", Box::new(link("/proc/self/fd/1".into()))),
        (
            "a link to the launcher's descriptor",
            Box::new(|at, running| {
                symlink(format!("/proc/{}/fd/2", running.runner()), at).expect("a link");
            }),
        ),
        ("a named pipe", Box::new(|at, _| mkfifo(at, Mode::S_IRWXU).expect("a named pipe"))),
        ("a file", Box::new(|at, _| fs::write(at, "forged").expect("a file"))),
    ]
}

#[test]
fn what_is_planted_at_the_result_is_replaced_and_not_followed() {
    for trap in 0..6 {
        let (scratch, elsewhere) = (Scratch::git(), elsewhere());
        let (name, plant) = &traps(&elsewhere)[trap];
        let ran =
            meddled(&scratch, &good(), |launcher| launcher, |running| plant(&scratch.path("r"), running));
        ran.exits(0).stdout_is("");
        assert!(scratch.path("r").symlink_metadata().expect("the result").is_file(), "{name}");
        assert_eq!(scratch.text("r"), "ok", "{name}");
        is_untouched(&elsewhere);
        progress(&scratch).completed();
    }
}

#[test]
fn what_is_planted_at_the_session_file_is_replaced_and_not_followed() {
    for trap in 0..6 {
        let (scratch, elsewhere) = (Scratch::git(), elsewhere());
        let script = Script::new().touch(&scratch.path("ready")).await_file(&scratch.path("go"));
        let launcher = launch(&scratch, &script.append(&Script::good())).args(["--session-file", "s"]);
        let running = launcher.start();
        scratch.wait_for("ready");
        let (name, plant) = &traps(&elsewhere)[trap];
        plant(&scratch.path("s"), &running);
        scratch.write("go", "");
        running.end().exits(0).took(seconds(0), seconds(20));
        assert!(scratch.path("s").symlink_metadata().expect("the session").is_file(), "{name}");
        assert_eq!(scratch.text("s"), "t1\n", "{name}");
        is_untouched(&elsewhere);
    }
}

#[test]
fn the_id_in_the_session_file_is_that_of_the_run() {
    for trap in 0..6 {
        let (scratch, elsewhere) = (Scratch::git(), elsewhere());
        let (name, plant) = &traps(&elsewhere)[trap];
        let ran = meddled(
            &scratch,
            &good(),
            |launcher| launcher.args(["--session-file", "s"]),
            |running| {
                fs::remove_file(scratch.path("s")).expect("to remove it");
                plant(&scratch.path("s"), running);
            },
        );
        ran.exits(0);
        assert_eq!(scratch.text("s"), "t1\n", "{name}");
        is_untouched(&elsewhere);
    }
}

#[test]
fn without_a_completed_run_nothing_stays_at_the_result() {
    let failed = Script::new().exit(3);
    let hangs = Script::new().hang();
    for (rest, status) in [(&failed, 3), (&hangs, 124)] {
        for trap in 0..6 {
            let (scratch, elsewhere) = (Scratch::git(), elsewhere());
            let (name, plant) = &traps(&elsewhere)[trap];
            let limits = ["--timeout-seconds", "1", "--kill-grace", "0.2"];
            let ran = meddled(
                &scratch,
                rest,
                |launcher| if status == 124 { launcher.args(limits) } else { launcher },
                |running| plant(&scratch.path("r"), running),
            );
            ran.exits(status);
            assert!(scratch.path("r").symlink_metadata().is_err(), "{name}");
            is_untouched(&elsewhere);
        }
    }
}

#[test]
fn a_killed_launcher_follows_nothing_either() {
    for trap in [0, 1, 5] {
        let (scratch, elsewhere) = (Scratch::git(), elsewhere());
        let (name, plant) = &traps(&elsewhere)[trap];
        let ran = meddled(
            &scratch,
            &Script::new().hang(),
            |launcher| launcher.args(["--kill-grace", "0.2"]),
            |running| {
                plant(&scratch.path("r"), running);
                kill(running.runner(), SIGKILL).expect("killing the runner");
            },
        );
        ran.exits(125);
        assert!(scratch.path("r").symlink_metadata().is_err(), "{name}");
        is_untouched(&elsewhere);
        progress(&scratch).failed(125, "lost").events_are([T, S]);
    }
}

#[test]
fn a_sentinel_that_was_forged_before_the_launcher_was_killed_is_none() {
    let scratch = Scratch::git();
    let ran = meddled(
        &scratch,
        &Script::new().hang(),
        |launcher| launcher.args(["--kill-grace", "0.2"]),
        |running| {
            append(&scratch.path("p"), FORGED);
            append(&scratch.path("p"), FORGED);
            kill(running.runner(), SIGKILL).expect("killing the runner");
        },
    );
    ran.exits(125);
    progress(&scratch).failed(125, "lost").events_are([T, S]);
}

#[test]
fn a_folder_at_the_result_is_said() {
    let scratch = Scratch::git();
    let ran = meddled(
        &scratch,
        &good(),
        |launcher| launcher,
        |_| {
            fs::create_dir(scratch.path("r")).expect("a folder");
        },
    );
    ran.exits(74).stderr_has("codex-launch: failed: answer: write: is a directory (io)");
    progress(&scratch).failed(74, "io");
    assert_eq!(fs::read_dir(scratch.path("r")).expect("the folder").count(), 0);
}

#[test]
fn a_folder_that_was_moved_gets_no_answer_and_the_one_in_its_place_neither() {
    let (scratch, elsewhere) = (Scratch::git(), elsewhere());
    fs::create_dir(scratch.path("out")).expect("a folder");
    let ran = meddled(
        &scratch,
        &good(),
        |launcher| launcher.args(["--session-file", "out/s"]),
        |_| {
            fs::rename(scratch.path("out"), scratch.path("moved")).expect("to move it");
            symlink(elsewhere.dir(), scratch.path("out")).expect("a link");
        },
    );
    ran.exits(0);
    is_untouched(&elsewhere);

    let scratch = Scratch::git();
    fs::create_dir(scratch.path("out")).expect("a folder");
    let script = Script::new().lines([T, S]).touch(&scratch.path("ready")).await_file(&scratch.path("go"));
    let launcher = bare(&scratch, &script.append(&good()));
    let running = launcher.args(["--progress-file", "p", "--result-file", "out/mine"]).start();
    scratch.wait_for("ready");
    fs::rename(scratch.path("out"), scratch.path("moved")).expect("to move it");
    symlink(elsewhere.dir(), scratch.path("out")).expect("a link");
    scratch.write("go", "");
    running.end().exits(74).stderr_has("its folder was moved or replaced while the run went on");
    is_untouched(&elsewhere);
    assert_eq!(fs::read_dir(scratch.path("moved")).expect("the folder").count(), 0);
    progress(&scratch).failed(74, "io");
}

#[test]
fn a_link_at_an_output_is_refused_and_its_target_named() {
    for option in OUTPUTS {
        for target in ["mine", "new"] {
            let (scratch, elsewhere) = (Scratch::git(), elsewhere());
            let target = elsewhere.path(target);
            symlink(&target, scratch.path("x")).expect("a link");
            let launcher = bare(&scratch, &Script::good()).args([option, "x", "--force"]);
            let ran = launcher.env("FAKE_CODEX_CALLS", scratch.path("calls")).run();
            ran.exits(66).stderr_has(&format!("{option} x: is a link to {}", target.display()));
            assert!(scratch.path("x").is_symlink() && !scratch.has("calls"));
            is_untouched(&elsewhere);
        }
    }
}

#[test]
fn a_hard_link_at_an_output_is_refused_or_replaced_and_never_written() {
    for option in OUTPUTS {
        let (scratch, elsewhere) = (Scratch::git(), elsewhere());
        fs::hard_link(elsewhere.path("mine"), scratch.path("x")).expect("a link");
        let launcher = bare(&scratch, &Script::good()).args([option, "x", "--force"]);
        let ran = launcher.env("FAKE_CODEX_CALLS", scratch.path("calls")).run();
        if ["--progress-file", "--stderr-file"].contains(&option) {
            ran.exits(66).stderr_has(&format!("{option} x: has another name too (a hard link)"));
            assert!(!scratch.has("calls"), "{option}");
        } else {
            ran.exits(0);
        }
        is_untouched(&elsewhere);
    }
}

#[test]
fn what_is_mounted_in_the_temporary_folder_stays_and_is_named() {
    let Some(own_mounts) = own_mounts() else {
        eprintln!("skipped: nothing may be mounted here");
        return;
    };
    for place in ["m", "a/m", "a/b/m"] {
        let (scratch, elsewhere) = (Scratch::git(), elsewhere());
        fs::create_dir(scratch.path("tmp")).expect("a folder");
        let mode = fs::metadata(elsewhere.dir()).expect("the folder").mode();
        let mount = format!(
            "cd tmp/codex-launch-* && mkdir -p {place} && mount --bind {} {place} || echo no mount >&2",
            elsewhere.dir().display()
        );
        let launcher = launch(&scratch, &Script::new().lines([T, S, M, C]).sh(&mount));
        let ran = launcher.env("TMPDIR", scratch.path("tmp")).under(own_mounts).run();
        ran.exits(0).stderr_has("something is mounted in it").stderr_lacks("no mount");
        is_untouched(&elsewhere);
        assert_eq!(fs::metadata(elsewhere.dir()).expect("the folder").mode(), mode);
        progress(&scratch).completed();
    }
}

#[test]
fn a_temporary_name_cannot_be_guessed_from_the_arguments() {
    let scratch = Scratch::git();
    let script = Script::new().portrait(&scratch.path("portrait")).await_file(&scratch.path("go"));
    let running = launch(&scratch, &script.append(&Script::good())).args(["--session-file", "s"]).start();
    scratch.wait_for("portrait");
    let argv: Vec<String> =
        serde_json::from_value(scratch.json("portrait")["argv"].clone()).expect("arguments");
    let at = argv.iter().position(|word| word == "-o" || word == "--output-last-message").expect("-o");
    let folder = Path::new(&argv[at + 1]).parent().expect("a folder").file_name().expect("a name");
    let number = folder.to_str().expect("text").trim_start_matches("codex-launch-").to_owned();
    // What it was once, and what one might make of it.
    for name in [format!(".codex-launch-{number}"), format!(".codex-launch-{number}-{number}"), number] {
        fs::create_dir(scratch.path(&name)).expect("a folder");
    }
    scratch.write("go", "");
    running.end().exits(0);
    assert_eq!((scratch.text("r"), scratch.text("s")), ("ok".to_owned(), "t1\n".to_owned()));
}

#[test]
fn a_private_folder_full_of_traps_is_removed() {
    let elsewhere = elsewhere();
    let scratch = Scratch::git();
    fs::create_dir(scratch.path("tmp")).expect("a folder");
    let command = format!(
        "cd tmp/codex-launch-* && ln -s {} link && mkdir -p closed/inner && echo > closed/file && chmod 0 closed/inner closed",
        elsewhere.dir().display()
    );
    let script = Script::new().lines([T, S]).sh(&command);
    launch(&scratch, &script).env("TMPDIR", scratch.path("tmp")).run().exits(70);
    assert_eq!(fs::read_dir(scratch.path("tmp")).expect("the folder").count(), 0);
    is_untouched(&elsewhere);
}

#[test]
fn a_private_folder_put_in_the_place_of_the_first_one_gives_no_answer() {
    for plant in ["mkdir $name; echo forged > $name/last-message", "ln -s ../forged $name"] {
        let scratch = Scratch::git();
        for folder in ["tmp", "forged"] {
            fs::create_dir(scratch.path(folder)).expect("a folder");
        }
        scratch.write("forged/last-message", "forged");
        scratch.write("end", lines([C]));
        let command = format!("cd tmp; name=$(echo codex-launch-*); mv $name moved; {plant}; cat ../end");
        let script = Script::new().no_answer().lines([T, S, M]).sh(&command);
        launch(&scratch, &script).env("TMPDIR", scratch.path("tmp")).run().exits(0);
        assert_eq!(scratch.text("r"), "ok", "{plant}");
        assert_eq!(scratch.text("forged/last-message"), "forged");
    }
}

fn append(path: &Path, text: &str) {
    let mut file = OpenOptions::new().append(true).open(path).expect("the progress file");
    file.write_all(text.as_bytes()).expect("more");
}

fn resize(path: &Path, change: i64) {
    let file = OpenOptions::new().write(true).open(path).expect("the progress file");
    let length = file.metadata().expect("the progress file").len();
    file.set_len(length.checked_add_signed(change).expect("a length")).expect("to resize it");
}

#[test]
fn a_progress_file_that_another_program_changed_has_one_true_sentinel_and_says_so() {
    let changed = |path: &Path| fs::write(path, fs::read_to_string(path).expect("it").replace("t1", "t2"));
    let all = &[T, S, M, C][..];
    for (what, meddle, left) in [
        ("a sentinel", &(|path: &Path| append(path, FORGED)) as &dyn Fn(&Path), all),
        ("half a line", &|path| append(path, "{\"type\":\"x"), all),
        ("an x", &|path| append(path, "x"), all),
        ("a line", &|path| append(path, "{\"type\":\"x\"}\n"), all),
        ("a hole", &|path| resize(path, 1000), all),
        ("emptied", &|path| fs::write(path, "").expect("to empty it"), &[M, C]),
        ("cut", &|path| resize(path, -1), &[M, C]),
        ("another content", &|path| fs::write(path, FORGED.repeat(9)).expect("to write it"), &[]),
        ("changed in place", &|path| changed(path).expect("to change it"), &[]),
        ("removed", &|path| fs::remove_file(path).expect("to remove it"), all),
        ("moved", &|path| fs::rename(path, path.with_extension("old")).expect("to move it"), all),
        (
            "replaced",
            &|path| {
                fs::rename(path, path.with_extension("old")).expect("to move it");
                fs::write(path, FORGED).expect("another");
            },
            all,
        ),
        (
            "replaced by a link",
            &|path| {
                fs::rename(path, path.with_extension("old")).expect("to move it");
                symlink("p.old", path).expect("a link");
            },
            all,
        ),
    ] {
        let scratch = Scratch::git();
        let ran = meddled(&scratch, &good(), |launcher| launcher, |_| meddle(&scratch.path("p")));
        ran.exits(74).stderr_has("codex-launch: failed: progress file: another program ");
        let said = ran.stderr_lines().iter().filter(|line| line.contains("another program")).count();
        assert_eq!(said, 1, "{what}\n{ran}");
        assert!(scratch.path("p").symlink_metadata().expect("the progress file").is_file(), "{what}");
        progress(&scratch).failed(74, "tampered").events_are(left.iter().copied());
        assert_eq!(scratch.text("r"), "ok", "{what}");
    }
}

#[test]
fn a_failed_run_keeps_its_own_reason_beside_a_changed_progress_file() {
    let scratch = Scratch::git();
    let rest = Script::new().exit(3);
    let ran = meddled(&scratch, &rest, |launcher| launcher, |_| append(&scratch.path("p"), FORGED));
    ran.exits(3).stderr_has("codex-launch: progress file: another program wrote to it");
    progress(&scratch).failed(3, "").events_are([T, S]);
}

#[test]
fn a_sentinel_that_nobody_would_find_under_its_name_is_told() {
    let sentinel =
        r#"{"type":"handoff.failed","reason":"error","rc":74,"elapsed_seconds":0,"cause":"tampered"}"#;
    let scratch = Scratch::git();
    let ran = meddled(
        &scratch,
        &good(),
        |launcher| launcher,
        |_| {
            fs::remove_file(scratch.path("p")).expect("to remove it");
            fs::create_dir(scratch.path("p")).expect("a folder");
        },
    );
    ran.exits(74);
    assert!(ran.stderr_lines().iter().any(|line| line == sentinel), "{ran}");

    let scratch = Scratch::git();
    fs::create_dir(scratch.path("out")).expect("a folder");
    let script = Script::new().lines([T, S]).touch(&scratch.path("ready")).await_file(&scratch.path("go"));
    let launcher = bare(&scratch, &script.append(&good()));
    let running = launcher.args(["--progress-file", "out/p", "--result-file", "r"]).start();
    scratch.wait_for("ready");
    fs::rename(scratch.path("out"), scratch.path("moved")).expect("to move it");
    scratch.write("go", "");
    let ran = running.end();
    ran.exits(74).stderr_has("another program moved or replaced its folder");
    assert!(ran.stderr_lines().iter().any(|line| line == sentinel), "{ran}");
    assert!(!scratch.has("out"));
}

#[test]
fn outputs_that_the_run_may_write_are_named_before_the_launch() {
    let scratch = Scratch::git();
    fs::create_dir(scratch.path("repo")).expect("a folder");
    fs::create_dir(scratch.path("tmp")).expect("a folder");
    let home = Scratch::in_memory();
    let outside = home.path("p");
    let named = |args: &[&str]| {
        let launcher = bare(&scratch, &Script::good()).args(["--cd", "repo", "--force", "--progress-file"]);
        let ran = launcher.arg(&outside).args(args).env("TMPDIR", scratch.path("tmp")).run();
        let lines = ran.exits(0).stderr_lines();
        let said: Vec<_> =
            lines.into_iter().filter(|line| line.contains("the agent may write there")).collect();
        assert!(said.len() < 2, "{said:?}");
        said.first().cloned().unwrap_or_default()
    };
    if home.dir().starts_with(std::env::temp_dir()) {
        skipped("there is no folder outside of those for temporary files");
        return;
    }
    let folder = home.dir().to_str().expect("text").to_owned();
    assert_eq!(named(&[]), "");
    assert_eq!(named(&["--read-only", "--result-file", "repo/r"]), "");
    assert!(named(&["--result-file", "repo/r"]).contains("--result-file repo/r: the agent may write there"));
    assert!(named(&["--result-file", "tmp/r"]).contains("--result-file tmp/r"));
    assert!(named(&["--add-dir", &folder]).contains("--progress-file"));
    assert!(named(&["--bypass"]).contains("--progress-file"));
    assert!(named(&["--sandbox", "danger-full-access"]).contains("--progress-file"));
    assert_eq!(named(&["--result-file", "/dev/null"]), "");
}
