//! The manifest: agents that can be, as many as there are lines, or the number of the first line that names none. That
//! no agent is there twice is seen to elsewhere: the command line may name more of them.
#![no_main]

#[path = "../../../bins/wave-watch/manifest.rs"]
mod manifest;

use common::face::args::seconds;
use libfuzzer_sys::fuzz_target;
use manifest::Agent;
use serde_json::json;
use std::time::Duration;

fuzz_target!(|data: &[u8]| {
    if !data.contains(&b'\r') {
        let with_cr = data.split(|byte| *byte == b'\n').collect::<Vec<_>>().join(&b"\r\n"[..]);
        assert_eq!(manifest::agents(&with_cr, seconds), manifest::agents(data, seconds));
    }
    let text = data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data);
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    match manifest::agents(data, seconds) {
        Ok(agents) => {
            assert_eq!(agents.len(), lines.iter().filter(|line| !line.trim_ascii().is_empty()).count());
            assert!(agents.iter().all(can_be));
            same(&agents, agents.iter().map(as_object));
            let plain: Vec<Agent> = agents.into_iter().filter(fits_in_tabs).collect();
            same(&plain, plain.iter().map(as_triple));
        }
        Err(why) => {
            let (number, why) =
                why.strip_prefix("line ").and_then(|rest| rest.split_once(':')).expect("a line");
            let number: usize = number.parse().expect("its number");
            assert!(read(&lines[..number - 1]).is_ok(), "a line before {number} names none: {why}");
            assert_eq!(read(&lines[number - 1..number]), Err(format!("line 2:{why}")));
        }
    }
});

/// Reads lines that are not the first, so that a BOM is nothing special.
fn read(lines: &[&[u8]]) -> Result<Vec<Agent>, String> {
    manifest::agents(&[b"\n", lines.join(&b'\n').as_slice()].concat(), seconds)
}

fn can_be(agent: &Agent) -> bool {
    !agent.id.is_empty()
        && !agent.id.contains(['\0', '\n', '\r'])
        && !agent.file.as_os_str().is_empty()
        && agent.budget > Duration::ZERO
}

fn as_object(agent: &Agent) -> String {
    json!({"agentId": agent.id, "budgetSeconds": budget(agent), "progressFile": agent.file}).to_string()
}

fn as_triple(agent: &Agent) -> String {
    format!("{}\t{}\t{}", agent.id, budget(agent), agent.file.display())
}

fn budget(agent: &Agent) -> String {
    format!("{}.{:09}", agent.budget.as_secs(), agent.budget.subsec_nanos())
}

fn fits_in_tabs(agent: &Agent) -> bool {
    let file = agent.file.to_str().expect("a path in UTF-8");
    let cells = [agent.id.as_str(), file];
    !cells.iter().any(|cell| cell.contains(['\t', '\n', '\r'])) && !agent.id.trim_start().starts_with('{')
}

/// Asserts that `lines` name these agents again.
fn same(agents: &[Agent], lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.collect();
    let lines: Vec<&[u8]> = lines.iter().map(String::as_bytes).collect();
    let again = read(&lines).expect("agents");
    assert_eq!(again.len(), agents.len());
    for (agent, again) in agents.iter().zip(again) {
        assert_eq!((&again.id, &again.file), (&agent.id, &agent.file));
        // The way through a floating-point number costs that much at most.
        assert!(again.budget.abs_diff(agent.budget) < Duration::from_micros(1), "{agent:?} {again:?}");
    }
}
