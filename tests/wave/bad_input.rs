//! Wrong usage: one line that names it, status 64, and nothing on stdout.

use std::os::unix::fs::symlink;

use crate::harness::filter::filter;
use crate::harness::scratch::Scratch;

#[track_caller]
fn refused(scratch: &Scratch, args: &[&str], says: &str) {
    let ran = filter("wave-watch").dir(scratch.dir()).args(args).run();
    ran.exits(64).stdout_is("");
    assert_eq!(ran.stderr_lines(), [format!("wave-watch: usage: {says}")]);
}

#[test]
fn agents_that_cannot_be() {
    let scratch = Scratch::new();
    let short = "3 values required for '--agent <ID> <BUDGET_SECONDS> <FILE>' but";
    let see = "(see wave-watch --help)";
    refused(&scratch, &["--agent", "A1", "1200"], &format!("{short} 2 were provided {see}"));
    refused(
        &scratch,
        &["--agent", "A1", "--poll-seconds", "1"],
        "--agent A1: budget: '--poll-seconds' is not a time in seconds above zero",
    );
    refused(&scratch, &[], &format!("no agent: --agent or --manifest is needed {see}"));
    for budget in ["0", "-1", "x", "", "NaN", "inf", "1e999", "5s"] {
        refused(
            &scratch,
            &["--agent", "A1", budget, "f"],
            &format!("--agent A1: budget: '{budget}' is not a time in seconds above zero"),
        );
    }
    refused(&scratch, &["--agent", "", "5", "f"], "--agent : the id is empty");
    for id in ["A\n1", "\n", "A\r"] {
        let ran = filter("wave-watch").dir(scratch.dir()).args(["--agent", id, "5", "f"]).run();
        ran.exits(64).stdout_is("").stderr_has(": the id has a NUL or a line end");
        assert_eq!(ran.stderr_lines().len(), 1, "{ran}");
    }
    refused(&scratch, &["--agent", "A1", "5", ""], "--agent A1: the path of the progress file is empty");
    refused(
        &scratch,
        &["--agent", "A1", "5", "f", "--agent", "A1", "5", "g"],
        "agent A1: the id is there twice",
    );
}

#[test]
fn one_file_for_two_agents_however_it_is_spelled() {
    let scratch = Scratch::new();
    scratch.write("there", "");
    std::fs::create_dir(scratch.path("dir")).expect("a folder");
    symlink("there", scratch.path("link")).expect("a link");
    symlink("dir", scratch.path("way")).expect("a link");
    let full = scratch.path("late").display().to_string();
    for (one, other) in [
        ("there", "there"),
        ("there", "./dir/../there"),
        ("there", "link"),
        ("late", "./late"),
        ("late", full.as_str()),
        ("dir/late", "way/late"),
        ("new/late", "./new/deep/../late"),
    ] {
        refused(
            &scratch,
            &["--agent", "A1", "5", one, "--agent", "A2", "5", other],
            &format!("agent A2: {other} is the file of A1 too"),
        );
    }
}

#[test]
fn manifests_that_name_no_wave() {
    let scratch = Scratch::new();
    for (text, says) in [
        ("", "no agent in it"),
        ("\n \r\n", "no agent in it"),
        (
            "A1\t5\tf\nA2 5 g\n",
            "line 2: neither a JSON object nor ID, BUDGET_SECONDS and FILE with tabs between",
        ),
        ("{\"agentId\":\"A1\",", "line 1: not a JSON object: column 16"),
        ("{\"agentId\":\"A1\",\"budgetSeconds\":5}", "line 1: progressFile: missing"),
        ("A1\t-3\tf", "line 1: budget: '-3' is not a time in seconds above zero"),
        ("\t3\tf", "line 1: the id is empty"),
        ("A\0\t3\tf", "line 1: the id has a NUL or a line end"),
        (
            "{\"agentId\":\"A\\u0000\",\"budgetSeconds\":5,\"file\":\"f\"}",
            "line 1: the id has a NUL or a line end",
        ),
        (
            "{\"agentId\":\"A\",\"budgetSeconds\":5,\"file\":\"f\\u0000\"}",
            "line 1: the path of the progress file has a NUL",
        ),
    ] {
        scratch.write("m", text);
        refused(&scratch, &["--manifest", "m"], &format!("m: {says}"));
    }
    scratch.write("m", "A1\t5\tf\nA1\t5\tg\n");
    refused(&scratch, &["--manifest", "m"], "agent A1: the id is there twice");
    let missing = filter("wave-watch").dir(scratch.dir()).args(["--manifest", "none"]).run();
    missing.exits(66).stdout_is("");
    assert_eq!(missing.stderr_lines(), ["wave-watch: none: read: no such file or directory"]);
}

#[test]
fn options_that_cannot_be() {
    let scratch = Scratch::new();
    for option in
        ["--digest-seconds", "--poll-seconds", "--no-sentinel-grace-seconds", "--start-seconds", "--ui"]
    {
        let ran =
            filter("wave-watch").dir(scratch.dir()).args(["--agent", "A1", "5", "f", option, "x"]).run();
        ran.exits(64).stdout_is("");
        assert_eq!(ran.stderr_lines().len(), 1, "{ran}");
        ran.stderr_has(option);
    }
}
