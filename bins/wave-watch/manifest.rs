//! A manifest: the agents of a wave that no command line holds, one a line.

use serde_json::{Map, Value};
use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

/// The keys of an agent: as the records call it, or as the options do.
const ID: [&str; 4] = ["agentId", "agent_id", "agent", "id"];
const BUDGET: [&str; 3] = ["budgetSeconds", "budget_seconds", "budget"];
const FILE: [&str; 4] = ["progressFile", "progress_file", "file", "path"];

/// An agent to watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// What the user calls it; never empty, and on one line.
    pub id: String,
    /// How long it may take, counted from the watcher's start.
    pub budget: Duration,
    /// Its progress file; a path that can be one: not empty, without NUL.
    pub file: PathBuf,
}

impl Agent {
    /// An agent, if it can be one.
    pub fn new(id: &str, budget: Duration, file: PathBuf) -> Result<Agent, &'static str> {
        if id.is_empty() {
            return Err("the id is empty");
        }
        if id.contains(['\0', '\n', '\r']) {
            return Err("the id has a NUL or a line end");
        }
        if file.as_os_str().is_empty() {
            return Err("the path of the progress file is empty");
        }
        if file.as_os_str().as_encoded_bytes().contains(&0) {
            return Err("the path of the progress file has a NUL");
        }
        Ok(Agent { id: id.to_owned(), budget, file })
    }
}

/// The agents that `text` names, with budgets as `seconds` reads them. A line is a JSON object or a triple with tabs
/// between; blank lines are none. That no agent is there twice is not seen to: others may be named elsewhere.
///
/// The error says which line does not parse, and why.
pub fn agents<E: Display>(
    text: &[u8],
    seconds: impl Fn(&str) -> Result<Duration, E>,
) -> Result<Vec<Agent>, String> {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    let lines = text.split(|&byte| byte == b'\n').zip(1_usize..);
    let lines = lines.filter(|(line, _)| !line.trim_ascii().is_empty());
    lines.map(|(line, number)| agent(line, &seconds).map_err(|why| format!("line {number}: {why}"))).collect()
}

fn agent<E: Display>(line: &[u8], seconds: impl Fn(&str) -> Result<Duration, E>) -> Result<Agent, String> {
    let line = std::str::from_utf8(line).map_err(|_| "not UTF-8")?;
    let line = line.strip_suffix('\r').unwrap_or(line);
    let [id, budget, file] =
        if line.trim_start().starts_with('{') { of_object(line)? } else { of_tabs(line)? };
    let budget = seconds(&budget).map_err(|what| format!("budget: {what}"))?;
    Ok(Agent::new(&id, budget, file.into())?)
}

fn of_tabs(line: &str) -> Result<[String; 3], String> {
    let cells: Vec<String> = line.split('\t').map(str::to_owned).collect();
    cells
        .try_into()
        .map_err(|_| "neither a JSON object nor ID, BUDGET_SECONDS and FILE with tabs between".into())
}

fn of_object(line: &str) -> Result<[String; 3], String> {
    let object: Map<String, Value> = serde_json::from_str(line)
        .map_err(|error| format!("not a JSON object: column {}", error.column()))?;
    Ok([text(&object, &ID)?, text(&object, &BUDGET)?, text(&object, &FILE)?])
}

/// The value of the first of `keys` that the object has: a text, or a number as it is written.
fn text(object: &Map<String, Value>, keys: &[&str]) -> Result<String, String> {
    match keys.iter().find_map(|key| object.get(*key)) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Number(number)) => Ok(number.to_string()),
        Some(_) => Err(format!("{}: neither a text nor a number", keys[0])),
        None => Err(format!("{}: missing", keys[0])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Result<Duration, String> {
        match text.parse() {
            Ok(number) if number > 0.0 => Ok(Duration::from_secs_f64(number)),
            _ => Err(format!("'{text}' is no time")),
        }
    }

    #[test]
    fn objects_and_triples_may_be_mixed() {
        let text = "\u{feff}{\"agentId\":\"A1\",\"budgetSeconds\":0.5,\"progressFile\":\"a b\",\"x\":[]}\r\n\n\
                    A 2\t1200\tdir/a2\n  {\"id\":\"A3\",\"budget_seconds\":\"7\",\"file\":\"\\t\"}";
        let agent = |id, millis, file| Agent::new(id, Duration::from_millis(millis), file).unwrap();
        assert_eq!(
            agents(text.as_bytes(), seconds),
            Ok(vec![
                agent("A1", 500, "a b".into()),
                agent("A 2", 1_200_000, "dir/a2".into()),
                agent("A3", 7000, "\t".into())
            ])
        );
        assert_eq!(agents(b"\n \r\n", seconds), Ok(vec![]));
    }

    #[test]
    fn a_line_that_does_not_parse_is_named() {
        for (line, why) in [
            ("A1\t5", "neither a JSON object nor ID, BUDGET_SECONDS and FILE with tabs between"),
            ("A1\t5\tx\ty", "neither a JSON object nor ID, BUDGET_SECONDS and FILE with tabs between"),
            ("[]", "neither a JSON object nor ID, BUDGET_SECONDS and FILE with tabs between"),
            ("{\"agentId\":", "not a JSON object: column 11"),
            ("{\"agentId\":\"A1\",\"budgetSeconds\":5}", "progressFile: missing"),
            ("{\"agentId\":[1],\"budgetSeconds\":5,\"file\":\"x\"}", "agentId: neither a text nor a number"),
            ("A1\t0\tx", "budget: '0' is no time"),
            ("A1\tsoon\tx", "budget: 'soon' is no time"),
            ("\t5\tx", "the id is empty"),
            ("A1\t5\t", "the path of the progress file is empty"),
            ("A\0\t5\tx", "the id has a NUL or a line end"),
            ("{\"id\":\"A\\n1\",\"budget\":5,\"file\":\"x\"}", "the id has a NUL or a line end"),
            ("{\"id\":\"A1\",\"budget\":5,\"file\":\"x\\u0000\"}", "the path of the progress file has a NUL"),
        ] {
            assert_eq!(agents(format!("\n{line}\n").as_bytes(), seconds), Err(format!("line 2: {why}")));
        }
        assert_eq!(agents(b"A1\t5\t\xff\n", seconds), Err("line 1: not UTF-8".into()));
    }
}
