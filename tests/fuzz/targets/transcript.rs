//! The transcript: what is rendered has the text of every turn under its role, in order and nothing else; or the number
//! of the first line that is no turn.
#![no_main]

#[path = "../../../bins/codex-launch/prepare/transcript.rs"]
mod transcript;

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use transcript::rendered;

fuzz_target!(|data: &[u8]| {
    let transcript = data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data);
    let lines = transcript.split(|byte| *byte == b'\n').zip(1..);
    let mut expected = String::new();
    for (line, number) in lines.filter(|(line, _)| !line.trim_ascii().is_empty()) {
        let Some((role, text)) = turn(line) else {
            assert_eq!(rendered(data).map_err(|(number, _)| number), Err(number));
            return;
        };
        expected += format!("[{role}]\n{text}").trim_end_matches('\n');
        expected += "\n\n";
    }
    assert_eq!(rendered(data), Ok(expected.into_bytes()));
});

fn turn(line: &[u8]) -> Option<(String, String)> {
    let value: Value = serde_json::from_slice(line).ok()?;
    Some((value["role"].as_str()?.to_owned(), value["text"].as_str()?.to_owned()))
}
