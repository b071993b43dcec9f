//! A Codex that does not start, or ends at once.

use std::os::unix::fs::symlink;
use std::process::Command;

use super::{FILES, PROMPT, launch, over, progress, seconds};
use crate::harness::filter::{binary, filter};
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, Script, T};

#[test]
fn an_unknown_option_is_shown_at_once() {
    let scratch = Scratch::git();
    let ran = launch(&scratch, &Script::good()).args(["--", "--nope"]).run();
    ran.exits(2).took(seconds(0), seconds(20)).stderr_has("unexpected argument '--nope' found");
    progress(&scratch).failed(2, "").events_are([]);
}

#[test]
fn a_program_that_is_not_executable_is_status_126() {
    let scratch = Scratch::git();
    let codex = scratch.write("codex", "#!/bin/sh\n");
    for codex in [codex.to_str().expect("text"), "./codex", "."] {
        let ran = over(codex, &scratch, &Script::good()).args(FILES).run();
        ran.exits(126);
        assert_eq!(ran.stderr_lines().len(), 1, "{ran}");
        assert!(!scratch.has("p"));
    }
}

#[test]
fn a_program_that_does_not_exist_is_status_69() {
    let scratch = Scratch::git();
    for codex in ["/no/such/codex", "./codex", "no-such-codex"] {
        let ran = over(codex, &scratch, &Script::good()).args(FILES).run();
        ran.exits(69).stderr_has(codex);
        assert_eq!(ran.stderr_lines().len(), 1, "{ran}");
        assert!(!scratch.has("p"));
    }
}

#[test]
fn a_program_that_fails_to_start_is_a_spawn() {
    // Executable, but its interpreter is missing. Another process writes it: while this one has it open for
    // writing, a child of another test could hold that descriptor, and the kernel would refuse to execute it.
    let scratch = Scratch::git();
    let command = "printf '#!/no/such/interpreter\\n' > codex; chmod 755 codex";
    let made = Command::new("sh").args(["-c", command]).current_dir(scratch.dir()).status().expect("a shell");
    assert!(made.success());
    let ran = over("./codex", &scratch, &Script::good()).args(FILES).arg("--skip-auth-check").run();
    ran.exits(126);
    progress(&scratch).failed(126, "spawn").events_are([]);
    assert!(!scratch.has("r"));
}

#[test]
fn codex_is_taken_from_the_path() {
    let scratch = Scratch::git();
    std::fs::create_dir(scratch.path("bin")).expect("a folder");
    symlink(binary("fake-codex"), scratch.path("bin/codex")).expect("a link");
    let path = format!("{}:{}", scratch.path("bin").display(), std::env::var("PATH").expect("a PATH"));
    let launcher = filter("codex-launch").env("PATH", path).dir(scratch.dir()).stdin(PROMPT);
    launcher.run().exits(0).stdout_is("ok\n");
}

#[test]
fn a_relative_program_is_found_from_where_the_launcher_is() {
    let scratch = Scratch::git();
    symlink(binary("fake-codex"), scratch.path("codex")).expect("a link");
    std::fs::create_dir(scratch.path("sub")).expect("a folder");
    let script = Script::new().lines([T, S, M, C]);
    over("./codex", &scratch, &script).args(["--cd", "sub"]).run().exits(0);
}
