//! A transcript: the earlier turns of a conversation, one a line, as the text that stands in a prompt.

use serde_json::Value;

/// The turns of `transcript` as text, each under its role. Blank lines are none.
///
/// The error says which line is no turn, and why.
pub fn rendered(transcript: &[u8]) -> Result<Vec<u8>, (usize, &'static str)> {
    let transcript = transcript.strip_prefix("\u{feff}".as_bytes()).unwrap_or(transcript);
    let mut text = Vec::new();
    for (line, number) in transcript.split(|&byte| byte == b'\n').zip(1_usize..) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let (role, words) = turn(line).map_err(|why| (number, why))?;
        text.extend(heading(&role));
        text.extend(words.into_bytes());
        end_paragraph(&mut text);
    }
    Ok(text)
}

fn turn(line: &[u8]) -> Result<(String, String), &'static str> {
    let value: Value = serde_json::from_slice(line).map_err(|_| "is not JSON")?;
    let word = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    match (word("role"), word("text")) {
        (Some(role), Some(text)) => Ok((role, text)),
        _ => Err("is not an object with the strings role and text"),
    }
}

/// What stands above a turn.
pub fn heading(role: &str) -> Vec<u8> {
    format!("[{role}]\n").into_bytes()
}

/// Ends `text` in exactly one blank line more than it has.
pub fn end_paragraph(text: &mut Vec<u8>) {
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
        let text = rendered(transcript).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "[user]\nHi\n\n[assistant]\nHello\n\n");
    }

    #[test]
    fn a_bom_a_cr_and_blank_lines_are_tolerated() {
        let transcript = "\u{feff}{\"role\":\"user\",\"text\":\"Hi\"}\r\n \t\r\n";
        assert_eq!(rendered(transcript.as_bytes()), Ok(b"[user]\nHi\n\n".to_vec()));
    }

    #[test]
    fn a_bad_turn_is_named_by_its_line() {
        for (line, why) in
            [("{", "is not JSON"), ("{\"role\":1}", "is not an object with the strings role and text")]
        {
            let transcript = format!("{{\"role\":\"user\",\"text\":\"Hi\"}}\n{line}\n");
            assert_eq!(rendered(transcript.as_bytes()), Err((2, why)));
        }
    }
}
