//! How loopback-model starts, refuses to start, and ends.

use serde_json::{Value, json};

use crate::harness::filter::filter;
use crate::harness::ran::Ran;
use crate::harness::scratch::Scratch;
use crate::harness::wait::{SOON, wait_until};

/// Starts it with this text as scenario and an empty stdin that ends it.
fn serve(text: &str) -> Ran {
    let scratch = Scratch::new();
    let scenario = scratch.write("s.json", text);
    filter("loopback-model").arg("--until-eof").arg("--scenario").arg(scenario).run()
}

#[test]
fn it_says_where_it_listens_and_ends_with_its_stdin() {
    let ran = serve(r#"{"answers": [[]]}"#);
    let said = ran.exits(0).stdout_text();
    let port = said.strip_prefix("ready http://127.0.0.1:").and_then(|rest| rest.strip_suffix("/v1\n"));
    assert!(port.is_some_and(|port| port.parse::<u16>().is_ok_and(|port| port > 0)), "{said}");
    assert_eq!(ran.stderr_text(), "");
}

#[test]
fn without_until_eof_it_serves_on() {
    let scratch = Scratch::new();
    let scenario = scratch.write("s.json", r#"{"answers": [[]]}"#);
    let running = filter("loopback-model").arg("--scenario").arg(scenario).start();
    wait_until("it is ready", SOON, || running.stdout().ends_with(b"/v1\n"));
    running.signal(nix::sys::signal::Signal::SIGTERM);
    running.end().exits(128 + 15);
}

#[test]
fn a_wrong_scenario_is_one_line_that_says_where() {
    for (scenario, complaint) in [
        (json!([]), "the scenario must be an object"),
        (json!({"answers": []}), r#""answers" must be a list of at least one answer"#),
        (json!({"answer": []}), r#"the scenario has no "answer"; it has answers, repeat"#),
        (json!({"answers": [[]], "repeat": "first"}), r#""repeat" must be "last" or "all""#),
        (
            json!({"answers": [[], "cutt"]}),
            r#"answers[1]: "cutt" is not a step (a text is {"message": "TEXT"})"#,
        ),
        (json!({"answers": [[{"mesage": "x"}]]}), r#"answers[0][0]: "mesage" is not a step"#),
        (json!({"answers": [{"message": 1}]}), r#"answers[0]: "message" must be a text"#),
        (
            json!({"answers": [{"message": "x", "cut": 1}]}),
            "answers[0]: a step is a word or an object with one key",
        ),
        (
            json!({"answers": [["cut", "hang"]]}),
            "answers[0][1]: nothing can follow a step that ends the answer",
        ),
        (
            json!({"answers": [["start", {"http": {"status": 500}}]]}),
            r#"answers[0][1]: only "wait_ms" can stand before "http""#,
        ),
        (
            json!({"answers": [{"http": {"status": 99}}]}),
            r#"answers[0]: "http": "status" must be a number from 200 to 599"#,
        ),
        (
            json!({"answers": [[{"usage": null}, "cut"]]}),
            r#"answers[0][1]: an answer that ends like this has no "usage""#,
        ),
        (json!({"answers": [[{"usage": {}}, {"usage": {}}]]}), r#"answers[0][1]: a second "usage""#),
        (
            json!({"answers": [{"usage": {"input": -1}}]}),
            r#"answers[0]: "usage": "input" must be a whole number, 0 or more"#,
        ),
        (json!({"answers": [{"mcp": {"server": "s"}}]}), r#"answers[0]: "mcp": "tool" must be a text"#),
        (json!({"answers": [{"plan": {}}]}), r#"answers[0]: "plan" must be a list of steps"#),
    ] {
        refuses(&scenario, complaint);
    }
    let ran = serve("{");
    let said = ran.exits(65).stderr_text();
    assert!(said.contains("s.json: not JSON: ") && said.lines().count() == 1, "{said}");
}

#[track_caller]
fn refuses(scenario: &Value, complaint: &str) {
    let ran = serve(&scenario.to_string());
    let said = ran.exits(65).stdout_is("").stderr_text();
    let complaint = format!("s.json: {complaint}\n");
    assert!(said.starts_with("loopback-model: ") && said.ends_with(&complaint), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn a_missing_scenario_is_66_and_wrong_usage_64() {
    filter("loopback-model")
        .args(["--scenario", "/nowhere/s.json"])
        .run()
        .exits(66)
        .stderr_has("/nowhere/s.json: ");
    filter("loopback-model").run().exits(64).stderr_has("--scenario");
    filter("loopback-model").arg("--help").run().exits(0).stderr_lacks("error");
}
