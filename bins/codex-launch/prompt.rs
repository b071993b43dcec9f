//! The prompt: what is read, and what it becomes.

use crate::args::Prompt;
use crate::check::{Refusal, refuse, refuse_path};
use common::face::exit::Status;
use common::face::say::why;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

/// Reads the whole prompt. It is passed on byte for byte: nothing is decoded, trimmed or ended.
pub fn read(prompt: &Prompt) -> Result<Vec<u8>, Refusal> {
    let (file, system, transcript) = match prompt {
        Prompt::Given(text) => return Ok(text.as_bytes().to_vec()),
        Prompt::Read { file, system, transcript } => (file, system, transcript),
    };
    let last_turn = match file {
        Some(path) => read_file("--prompt-file", path)?,
        None => read_stdin()?,
    };
    // Codex itself refuses a prompt of white space, with status 1, after it has started.
    if last_turn.trim_ascii().is_empty() {
        return Err(refuse(
            Status::USAGE,
            "prompt",
            "is empty; it is read from stdin, or from --prompt-file",
        ));
    }
    let mut whole = Vec::new();
    if let Some(path) = system {
        whole.extend(read_file("--system-file", path)?);
        end_paragraph(&mut whole);
    }
    match transcript {
        None => whole.extend(last_turn),
        Some(path) => {
            whole.extend(turns(path, &read_file("--transcript", path)?)?);
            whole.extend(heading("user"));
            whole.extend(last_turn);
        }
    }
    Ok(whole)
}

fn read_stdin() -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::new();
    let result = io::stdin().lock().read_to_end(&mut bytes);
    result.map_err(|error| refuse(Status::NO_INPUT, "stdin", why(&error)))?;
    Ok(bytes)
}

fn read_file(option: &str, path: &Path) -> Result<Vec<u8>, Refusal> {
    fs::read(path).map_err(|error| refuse_path(option, path, &error))
}

/// The turns of a transcript as text, each under its role.
fn turns(path: &Path, transcript: &[u8]) -> Result<Vec<u8>, Refusal> {
    let mut text = Vec::new();
    for (number, line) in transcript.split(|&byte| byte == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let (role, words) = turn(line).map_err(|why| {
            let what = format!("--transcript {}: line {}", path.display(), number + 1);
            refuse(Status::DATA, &what, why)
        })?;
        text.extend(heading(&role));
        text.extend(words.into_bytes());
        end_paragraph(&mut text);
    }
    Ok(text)
}

fn turn(line: &[u8]) -> Result<(String, String), &'static str> {
    let value: serde_json::Value = serde_json::from_slice(line).map_err(|_| "is not JSON")?;
    let word = |key: &str| value.get(key).and_then(|value| value.as_str()).map(str::to_owned);
    match (word("role"), word("text")) {
        (Some(role), Some(text)) => Ok((role, text)),
        _ => Err("is not an object with the strings role and text"),
    }
}

fn heading(role: &str) -> Vec<u8> {
    format!("[{role}]\n").into_bytes()
}

/// Ends `text` in exactly one blank line more than it has.
fn end_paragraph(text: &mut Vec<u8>) {
    while text.last() == Some(&b'\n') {
        text.pop();
    }
    text.extend(b"\n\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_becomes_turns_under_their_roles() {
        let transcript =
            b"{\"role\":\"user\",\"text\":\"Hi\"}\n\n{\"role\":\"assistant\",\"text\":\"Hello\\n\"}\n";
        let text = turns(Path::new("t"), transcript).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "[user]\nHi\n\n[assistant]\nHello\n\n");
    }

    #[test]
    fn a_bad_turn_is_named_by_its_line() {
        for (line, why) in
            [("{", "is not JSON"), ("{\"role\":1}", "is not an object with the strings role and text")]
        {
            let transcript = format!("{{\"role\":\"user\",\"text\":\"Hi\"}}\n{line}\n");
            match turns(Path::new("t"), transcript.as_bytes()) {
                Err(Refusal::Because(status, message)) => {
                    assert_eq!((status, message), (Status::DATA, format!("--transcript t: line 2: {why}")));
                }
                other => panic!("{other:?}"),
            }
        }
    }
}
