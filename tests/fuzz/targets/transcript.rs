//! The transcript: what is rendered has the text of every turn under its role, in order and nothing else, and no line of
//! a text passes for the heading of a turn; or the number of the first line that is no turn.
#![no_main]

#[path = "../../../bins/codex-launch/prepare/transcript.rs"]
mod transcript;

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use transcript::rendered;

fuzz_target!(|data: &[u8]| {
    let found = rendered(data);
    let transcript = data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data);
    let lines = transcript.split(|byte| *byte == b'\n').zip(1..);
    let (mut expected, mut turns) = (String::new(), 0);
    for (line, number) in lines.filter(|(line, _)| !line.trim_ascii().is_empty()) {
        let Some((role, text)) = turn(line) else {
            // serde_json refuses half a surrogate pair, which the transcript replaces.
            if !has_surrogate(line) {
                assert_eq!(found.map_err(|(number, _)| number), Err(number));
            }
            return;
        };
        turns += 1;
        expected += format!("[{role}]\n{text}").trim_end_matches('\n');
        expected += "\n\n";
    }
    let found = String::from_utf8(found.expect("turns alone")).expect("text");
    // A line that looks like a heading has a backslash more, and nothing else differs.
    assert_eq!(found.replace('\\', ""), expected.replace('\\', ""));
    assert!(found.split('\n').filter(|line| is_heading(line)).count() <= turns);
});

fn turn(line: &[u8]) -> Option<(String, String)> {
    let value: Value = serde_json::from_slice(line).ok()?;
    let (role, text) = (value["role"].as_str()?.to_owned(), value["text"].as_str()?.to_owned());
    let one_line = |c: char| !c.is_control() && c != '\u{2028}' && c != '\u{2029}';
    (!role.trim().is_empty() && role.chars().all(one_line)).then_some((role, text))
}

fn has_surrogate(line: &[u8]) -> bool {
    line.windows(4).any(|part| {
        part.eq_ignore_ascii_case(b"\\ud8") || (part[..3].eq_ignore_ascii_case(b"\\ud") && part[3] > b'8')
    })
}

fn is_heading(line: &str) -> bool {
    let role = line.trim().strip_prefix('[').and_then(|line| line.strip_suffix(']'));
    role.is_some_and(|role| role.starts_with(char::is_alphabetic) && !role.contains(['[', ']']))
}
