//! Which agents there are: on the command line and in a manifest.

use super::{DONE, FAILED, records, settled, watch};
use crate::harness::filter::filter;
use crate::harness::scratch::Scratch;
use crate::harness::script::lines;

#[test]
fn a_manifest_has_objects_and_triples_and_goes_with_agents_of_the_command_line() {
    let scratch = Scratch::new();
    for (file, sentinel) in [("A1", DONE), ("a 2", FAILED), ("A3", DONE)] {
        scratch.write(file, lines([sentinel]));
    }
    scratch.write(
        "manifest",
        "{\"agentId\":\"A2\",\"budgetSeconds\":1200,\"progressFile\":\"a 2\"}\n\nA3\t1200\tA3\r\n",
    );
    let ran = watch(&scratch, &["A1"]).args(["--manifest", "manifest"]).run();
    let expected =
        [settled("A1", 0, DONE, 1, 3), settled("A2", 0, FAILED, 2, 3), settled("A3", 0, DONE, 3, 3)].concat();
    assert_eq!(records(&ran.exits(1).stdout), expected);
}

#[test]
fn a_manifest_can_come_on_stdin() {
    let scratch = Scratch::new();
    scratch.write("A1", lines([DONE]));
    let watcher = filter("wave-watch").dir(scratch.dir()).args(["--manifest", "-"]);
    let ran = watcher.stdin("A1\t1200\tA1").run();
    assert_eq!(records(&ran.exits(0).stdout), settled("A1", 0, DONE, 1, 1));
}

#[test]
fn an_id_is_any_text_on_one_line() {
    let scratch = Scratch::new();
    for (id, in_json) in [
        ("agent \"1\"\u{1b}\u{2028}", "agent \\\"1\\\"\\u001b\u{2028}"),
        ("-x", "-x"),
        ("--agent", "--agent"),
        ("-1", "-1"),
    ] {
        scratch.write("f", lines([DONE]));
        let watcher = filter("wave-watch").dir(scratch.dir());
        let ran = watcher.args(["--agent", id, "0.5", "f", "--ui", "never"]).run();
        let text = ran.exits(0).stdout_text();
        assert!(text.contains(&format!("\"agentId\":\"{in_json}\",")), "{ran}");
        assert!(text.contains("\"budgetSeconds\":0.5,"), "{ran}");
    }
}
