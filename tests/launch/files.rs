//! The files of a run: where they go, who may read them, what becomes of old ones.

use std::fs::File;
use std::os::unix::fs::PermissionsExt;

use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use super::{bare, launch, progress};
use crate::harness::progress::Progress;
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, Script, T};
use crate::harness::wait::{SOON, wait_until};

#[test]
fn files_are_private() {
    let scratch = Scratch::git();
    let launcher =
        launch(&scratch, &Script::good().stderr("e")).args(["--stderr-file", "e", "--session-file", "s"]);
    launcher.under(&["sh", "-c", r#"umask 0; exec "$0" "$@""#]).run().exits(0);
    for name in ["p", "r", "e", "s"] {
        let mode = scratch.path(name).metadata().expect("a file").permissions().mode();
        assert_eq!(mode & 0o7777, 0o600, "{name}");
    }
    assert_eq!(scratch.text("s").trim_end(), "t1");
}

#[test]
fn the_thread_is_known_while_the_run_goes_on() {
    let scratch = Scratch::git();
    let script = Script::new().thread("t-7").await_file(&scratch.path("go")).lines([S, M, C]);
    let running = launch(&scratch, &script).args(["--session-file", "s"]).start();
    wait_until("the thread is in the file", SOON, || {
        scratch.has("s") && scratch.text("s").trim_end() == "t-7"
    });
    scratch.write("go", "");
    running.end().exits(0);
}

#[test]
fn the_progress_can_go_to_stdout() {
    let scratch = Scratch::git();
    let ran = bare(&scratch, &Script::good()).args(["--progress-file", "-", "--result-file", "r"]).run();
    Progress::parse(&ran.exits(0).stdout).completed().events_are([T, S, M, C]);
    assert_eq!(scratch.names(), [".git", "r", "script"]);

    let (reader, writer) = std::io::pipe().expect("a pipe");
    let launcher =
        bare(&scratch, &Script::good()).args(["--progress-file", "/dev/fd/1", "--result-file", "r"]);
    launcher.stdout_to(writer).run().exits(0);
    Progress::parse(std::io::read_to_string(reader).expect("the progress").as_bytes()).completed();
}

#[test]
fn without_a_progress_file_events_are_judged() {
    let scratch = Scratch::git();
    bare(&scratch, &Script::good()).run().exits(0).stdout_is("ok\n");
    bare(&scratch, &Script::new().lines([T, S])).run().exits(70).stdout_is("");
    assert_eq!(scratch.names(), [".git", "script"]);
}

#[test]
fn an_empty_progress_file_is_taken_and_a_full_one_only_by_force() {
    let scratch = Scratch::git();
    scratch.write("p", "");
    launch(&scratch, &Script::good()).run().exits(0);
    let first = scratch.text("p");
    launch(&scratch, &Script::good()).run().exits(66);
    assert_eq!(scratch.text("p"), first);
    launch(&scratch, &Script::new().line(T).exit(1)).arg("--force").run().exits(1);
    progress(&scratch).failed(1, "").events_are([T]);
}

#[test]
fn a_named_pipe_is_written_as_it_stands() {
    let scratch = Scratch::git();
    mkfifo(&scratch.path("pipe"), Mode::S_IRWXU).expect("a named pipe");
    let launcher = bare(&scratch, &Script::good()).args(["--progress-file", "pipe", "--result-file", "r"]);
    let running = launcher.start();
    // To open it for reading waits for the launcher to open it for writing.
    let content =
        std::io::read_to_string(File::open(scratch.path("pipe")).expect("the pipe")).expect("its content");
    running.end().exits(0);
    Progress::parse(content.as_bytes()).completed().events_are([T, S, M, C]);
}

#[test]
fn a_named_pipe_that_nobody_reads_can_be_given_up() {
    let scratch = Scratch::git();
    mkfifo(&scratch.path("pipe"), Mode::S_IRWXU).expect("a named pipe");
    let calls = scratch.path("calls");
    let launcher = bare(&scratch, &Script::good()).args(["--progress-file", "pipe", "--result-file", "r"]);
    let running = launcher.env("FAKE_CODEX_CALLS", calls).start();
    scratch.wait_for("calls");
    running.signal(Signal::SIGTERM);
    running.end().exits(143);
    assert!(!scratch.has("r"));
}

#[test]
fn paths_are_those_of_the_launcher_and_not_of_codex() {
    let scratch = Scratch::git();
    std::fs::create_dir(scratch.path("sub")).expect("a folder");
    let launcher =
        launch(&scratch, &Script::good()).args(["--cd", "sub", "--stderr-file", "e", "--session-file", "s"]);
    launcher.run().exits(0);
    assert_eq!(scratch.names(), [".git", "e", "p", "r", "s", "script", "sub"]);
}

#[test]
fn the_answer_of_codex_passes_through_a_private_folder() {
    let scratch = Scratch::git();
    let script = Script::new().portrait(&scratch.path("portrait")).lines([T, S, M, C]);
    let running = launch(&scratch, &script.await_file(&scratch.path("go"))).start();
    scratch.wait_for("portrait");
    let argv: Vec<String> =
        serde_json::from_value(scratch.json("portrait")["argv"].clone()).expect("arguments");
    let at = argv.iter().position(|word| word == "-o" || word == "--output-last-message").expect("-o");
    let file = std::path::Path::new(&argv[at + 1]);
    assert!(file.is_absolute() && !file.exists(), "{}", file.display());
    let folder = file.parent().expect("a folder").metadata().expect("a folder");
    assert_eq!(folder.permissions().mode() & 0o7777, 0o700);
    scratch.write("go", "");
    running.end().exits(0);
    assert!(!file.parent().expect("a folder").exists());
}
