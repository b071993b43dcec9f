//! What loopback-model answers to plain requests, Codex or not.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::harness::codex::Loopback;
use crate::harness::wait::{SOON, wait_until};

/// Opens a connection and sends `bytes`.
fn send(model: &Loopback, bytes: &[u8]) -> TcpStream {
    let address =
        model.url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/v1")).expect("its form");
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(SOON)).expect("a deadline");
    stream.write_all(bytes).expect("sending a request");
    stream
}

/// The answer on a connection: status and body. Status 0 when the server closed without one.
fn answer(mut stream: TcpStream) -> (u16, String) {
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    let status = text.get(9..12).map_or(0, |status| status.parse().expect("a status"));
    (status, text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
}

fn post(model: &Loopback, body: &Value) -> TcpStream {
    let body = body.to_string();
    let head = format!("POST /v1/responses HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", body.len());
    send(model, format!("{head}{body}").as_bytes())
}

/// The events of the answer to a request with this body.
fn events(model: &Loopback, body: &Value) -> Vec<Value> {
    let (status, text) = answer(post(model, body));
    assert_eq!(status, 200, "{text}");
    events_in(&text)
}

fn events_in(text: &str) -> Vec<Value> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).expect("an event")).collect()
}

/// The only item of the answer to a request that offers `tools`.
fn item(step: Value, tools: Value) -> Value {
    let model = Loopback::start(&json!({"answers": [step]}));
    let events =
        events(&model, &json!({"tools": tools, "input": [{"type": "message"}, {"type": "message"}]}));
    let [created, done, completed] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(created["type"], "response.created");
    assert_eq!(completed["type"], "response.completed");
    assert_eq!(done["type"], "response.output_item.done");
    done["item"].clone()
}

#[test]
fn a_command_is_a_call_of_the_shell_tool_on_offer() {
    let older = item(json!({"command": "ls"}), json!([{"type": "function", "name": "shell_command"}]));
    let arguments = r#"{"command":"ls"}"#;
    assert_eq!(
        older,
        json!({"type": "function_call", "id": "model_2_0", "call_id": "model_2_0", "name": "shell_command", "arguments": arguments})
    );
    let newer = item(json!({"command": "ls"}), json!([{"type": "function", "name": "exec_command"}]));
    assert_eq!((&newer["name"], &newer["arguments"]), (&json!("exec_command"), &json!(r#"{"cmd":"ls"}"#)));
}

#[test]
fn a_patch_is_a_call_of_the_patch_tool_else_a_shell_command() {
    let patch = "*** Begin Patch\n*** Add File: x\n+x\n*** End Patch";
    let custom = item(json!({"patch": patch}), json!([{"type": "custom", "name": "apply_patch"}]));
    assert_eq!((&custom["type"], &custom["input"]), (&json!("custom_tool_call"), &json!(patch)));
    let shell = item(json!({"patch": patch}), json!([{"type": "function", "name": "exec_command"}]));
    let command = format!("apply_patch <<'EOF'\n{patch}\nEOF\n");
    assert_eq!(shell["arguments"], json!({"cmd": command}).to_string());
}

#[test]
fn an_mcp_call_has_the_form_of_the_offer() {
    let step = json!({"mcp": {"server": "s", "tool": "t", "arguments": {"a": 1}}});
    let flat = item(step.clone(), json!([{"type": "function", "name": "mcp__s__t"}]));
    assert_eq!((&flat["name"], &flat["namespace"]), (&json!("mcp__s__t"), &Value::Null));
    let spaced = item(step, json!([{"type": "namespace", "name": "mcp__s"}]));
    assert_eq!((&spaced["name"], &spaced["namespace"]), (&json!("t"), &json!("mcp__s")));
    assert_eq!(spaced["arguments"], r#"{"a":1}"#);
}

#[test]
fn an_agent_is_spawned_in_the_form_of_the_offer() {
    let step = json!({"spawn_agent": {"message": "x"}});
    let flat = item(step.clone(), json!([{"type": "function", "name": "spawn_agent"}]));
    assert_eq!((&flat["name"], &flat["namespace"]), (&json!("spawn_agent"), &Value::Null));
    let spaced = item(step, json!([]));
    assert_eq!((&spaced["name"], &spaced["namespace"]), (&json!("spawn_agent"), &json!("multi_agent_v1")));
}

#[test]
fn an_item_of_ones_own_passes_as_it_stands() {
    let own = json!({"type": "of_tomorrow", "n": [1, null]});
    assert_eq!(item(json!({"item": own}), json!([])), own);
}

#[test]
fn items_are_numbered_and_the_numbers_are_those_of_the_scenario() {
    let usage = json!({"usage": {"input": 7, "output": 3}});
    let model = Loopback::start(
        &json!({"answers": [[{"message": "a"}, {"reasoning": "b"}, usage], {"usage": null}]}),
    );
    let first = events(&model, &json!({}));
    assert_eq!([&first[1]["output_index"], &first[2]["output_index"]], [0, 1]);
    assert_ne!(first[1]["item"]["id"], first[2]["item"]["id"]);
    assert_eq!(
        first[3]["response"]["usage"],
        json!({"input_tokens": 7, "input_tokens_details": {"cached_tokens": 40}, "output_tokens": 3,
            "output_tokens_details": {"reasoning_tokens": 5}, "total_tokens": 10})
    );
    assert_eq!(events(&model, &json!({}))[1]["response"]["usage"], Value::Null);
}

#[test]
fn a_failure_is_an_event_of_its_own() {
    let model =
        Loopback::start(&json!({"answers": [[{"message": "a"}, {"fail": {"code": "c", "message": "m"}}]]}));
    let events = events(&model, &json!({}));
    assert_eq!(events[2]["type"], "response.failed");
    assert_eq!(events[2]["response"]["error"], json!({"code": "c", "message": "m"}));
}

#[test]
fn an_http_error_has_its_status_and_body() {
    let model = Loopback::start(&json!({"answers": [
        {"http": {"status": 429, "body": {"error": {"type": "usage_limit_reached"}}}},
        [{"wait_ms": 1}, {"http": {"status": 503, "body": "busy"}}],
        {"http": {"status": 500}},
    ]}));
    assert_eq!(
        answer(post(&model, &json!({}))),
        (429, r#"{"error":{"type":"usage_limit_reached"}}"#.to_owned())
    );
    assert_eq!(answer(post(&model, &json!({}))), (503, "busy".to_owned()));
    assert_eq!(answer(post(&model, &json!({}))), (500, String::new()));
}

#[test]
fn a_cut_comes_where_it_is_written() {
    let model = Loopback::start(&json!({"answers": ["cut", ["start", "cut"], [{"message": "a"}, "cut"]]}));
    assert_eq!(answer(post(&model, &json!({}))), (0, String::new()));
    assert_eq!(events(&model, &json!({})).len(), 1);
    assert_eq!(events(&model, &json!({})).len(), 2);
}

#[test]
fn a_used_up_scenario_is_500_unless_it_repeats() {
    let texts = |repeat: &[(&str, &str)], count: usize| {
        let mut scenario = json!({"answers": [{"message": "a"}, {"message": "b"}]});
        for (key, value) in repeat {
            scenario[*key] = json!(value);
        }
        let model = Loopback::start(&scenario);
        (0..count).map(|_| answer(post(&model, &json!({})))).collect::<Vec<_>>()
    };
    let plain = texts(&[], 3);
    assert_eq!(plain[2].0, 500);
    assert!(plain[2].1.contains("the scenario is used up: request 3, but 2 answers"), "{}", plain[2].1);
    let said = |answers: Vec<(u16, String)>| {
        let texts =
            answers.into_iter().map(|(_, text)| events_in(&text)[1]["item"]["content"][0]["text"].clone());
        texts.collect::<Vec<_>>()
    };
    assert_eq!(said(texts(&[("repeat", "last")], 4)), ["a", "b", "b", "b"]);
    assert_eq!(said(texts(&[("repeat", "all")], 5)), ["a", "b", "a", "b", "a"]);
}

#[test]
fn a_hanging_answer_holds_up_no_other() {
    let model = Loopback::start(&json!({"answers": ["hang", ["start", "hang"], {"message": "a"}]}));
    let mut silent = post(&model, &json!({}));
    // Each connection has a thread of its own; the order of the answers is that of the log.
    wait_until("the first request has arrived", SOON, || model.requests().len() == 1);
    let mut started = post(&model, &json!({}));
    let mut head = [0; 15];
    started.read_exact(&mut head).expect("the head");
    assert_eq!(&head, b"HTTP/1.1 200 \r\n");
    assert_eq!(events(&model, &json!({})).len(), 3);
    silent.set_nonblocking(true).expect("a socket");
    assert_eq!(silent.read(&mut head).expect_err("no byte").kind(), ErrorKind::WouldBlock);
}

#[test]
fn many_at_once_get_one_answer_each() {
    let answers: Vec<Value> = (0..40).map(|n| json!({"message": n.to_string()})).collect();
    let model = Loopback::start(&json!({"answers": answers}));
    let open: Vec<TcpStream> = (0..40).map(|_| post(&model, &json!({}))).collect();
    let texts =
        open.into_iter().map(|stream| events_in(&answer(stream).1)[1]["item"]["content"][0]["text"].clone());
    let mut texts: Vec<Value> = texts.collect();
    let mut expected: Vec<Value> = answers.iter().map(|answer| answer["message"].clone()).collect();
    texts.sort_by_key(Value::to_string);
    expected.sort_by_key(Value::to_string);
    assert_eq!(texts, expected);
}

#[test]
fn odd_requests_get_a_sensible_answer_and_use_up_none() {
    let model = Loopback::start(&json!({"answers": [{"message": "a"}]}));
    for (request, status) in [
        ("GET /v1/models?client_version=0.98.0 HTTP/1.1\r\n\r\n", 200),
        ("GET / HTTP/1.1\r\n\r\n", 404),
        ("GET /v1/responses HTTP/1.1\r\n\r\n", 405),
        ("POST /v1/responses HTTP/1.1\r\ncontent-length: 1\r\n\r\n{", 400),
        ("POST /v1/responses HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n", 411),
        ("POST /v1/responses HTTP/1.1\r\ncontent-length: -1\r\n\r\n", 411),
        ("\0\r\n\r\n", 400),
    ] {
        assert_eq!(answer(send(&model, request.as_bytes())).0, status, "{request:?}");
    }
    // One leaves in the middle of its request, one sends a head that never ends.
    drop(send(&model, b"POST /v1/responses HTTP/1.1\r\ncontent-length: 9\r\n\r\n{"));
    assert_eq!(answer(send(&model, format!("GET /{}", "x".repeat(70_000)).as_bytes())).0, 431);
    assert_eq!(events(&model, &json!({})).len(), 3);
}

#[test]
fn the_log_tells_what_was_asked() {
    let model = Loopback::start(&json!({"answers": [[]]}));
    answer(send(&model, b"GET /v1/models HTTP/1.1\r\n\r\n"));
    answer(post(
        &model,
        &json!({
            "model": "m",
            "reasoning": {"effort": "high"},
            "text": {"format": {"type": "json_schema"}},
            "tools": [{"type": "function", "name": "exec_command"}, {"type": "web_search"}],
            "input": [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}, {"type": "input_image"}]},
                {"type": "function_call", "name": "exec_command"},
                {"type": "function_call_output", "output": "done\n"},
            ],
        }),
    ));
    assert_eq!(
        model.requests(),
        [
            json!({"count": 1, "method": "GET", "path": "/v1/models"}),
            json!({
                "count": 2, "method": "POST", "path": "/v1/responses", "model": "m", "effort": "high",
                "format": "json_schema", "tools": ["exec_command", "web_search"], "user": "hi", "output": "done\n",
                "input": ["message user input_text input_image", "function_call exec_command", "function_call_output"],
            }),
        ]
    );
}
