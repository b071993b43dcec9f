//! What the real Codex does, seen while it does it.
//!
//! Facts: "The event stream" in common/CODEX.md.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::harness::codex::{RealCodex, with_codex};
use crate::harness::filter::{filter, program};
use crate::harness::pipes::pipe;
use crate::harness::wait::{SOON, wait_until};

/// What tells of an event in the file, and how it is shown.
const EVENTS: [(&str, &str); 4] = [
    (r#""type":"reasoning""#, "Thinking: **Looking** around\n"),
    (r#""item.started","item":{"id":"item_"#, "Using shell — "),
    (r#""agent_message""#, "\nDone.\n"),
    (r#""turn.completed""#, "Tokens: in 200 (cached 80), out 40\n"),
];

fn each_event_is_shown_within_a_tenth_of_a_second(version: &str) {
    let world = RealCodex::version(version).world(&json!({"answers": [
        [{"reasoning": "**Looking** around"}, {"command": "sleep 0.3"}],
        {"message": "Done."},
    ]}));
    let ((tee_in, codex_out), (render_in, tee_out)) = (pipe(), pipe());
    let options = ["exec", "--json", "--sandbox", "danger-full-access", "-"];
    let codex =
        world.around(program(world.program()).args(options)).stdin("Do it.").stdout_to(codex_out).start();
    let file = world.path("f");
    let tee = filter("jsonl-tee").arg(&file).stdin_from(tee_in).stdout_to(tee_out).start();
    let render = filter("codex-render").stdin_from(render_in).start();
    let mut late = Vec::new();
    for (event, shown) in EVENTS {
        let there = || std::fs::read_to_string(&file).is_ok_and(|text| text.contains(event));
        wait_until(&format!("the file has {event}"), SOON, there);
        let since = Instant::now();
        wait_until(&format!("{shown:?} is shown"), SOON, || {
            String::from_utf8_lossy(&render.stdout()).contains(shown)
        });
        late.push(since.elapsed());
    }
    codex.end().exits(0);
    tee.end().exits(0);
    render.end().exits(0);
    assert!(late.iter().all(|time| *time < Duration::from_millis(100)), "{late:?}");
}

with_codex! { [v0_156_1 v0_171_0] each_event_is_shown_within_a_tenth_of_a_second }
