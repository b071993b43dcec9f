//! Reads the prompt and its parts, and joins them.

use crate::prepare::args::Prompt;
use crate::prepare::check::{Refusal, refuse, refuse_path};
use crate::prepare::transcript;
use common::edge::reader::BlockingReader;
use common::face::exit::Status;
use common::face::say::why;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The most characters that newer versions take (0.156.1 and 0.171.0; 0.98.0 takes any number).
pub const MOST_CHARACTERS: usize = 1 << 20;

/// How many characters `prompt` has.
pub fn characters(prompt: &[u8]) -> usize {
    // All bytes but the continuation bytes of a character.
    prompt.iter().filter(|&&byte| byte & 0xc0 != 0x80).count()
}

/// The source of the prompt, in words for a message.
pub fn source(prompt: &Prompt) -> String {
    let files = match prompt {
        Prompt::Given(_) => Vec::new(),
        Prompt::Read { file, system, transcript } => {
            let path = |file: &Option<PathBuf>| file.as_ref().map(|path| path.display().to_string());
            let last = path(file).unwrap_or_else(|| "stdin".to_owned());
            [path(system), path(transcript), Some(last)].into_iter().flatten().collect()
        }
    };
    format!("the prompt, from {}", files.join(", "))
}

/// Reads the whole prompt. It is passed on byte for byte: nothing is decoded, trimmed or ended.
pub fn read(prompt: &Prompt) -> Result<Vec<u8>, Refusal> {
    let (file, system, earlier) = match prompt {
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
    if system.is_none() && earlier.is_none() {
        // Not copied: it can be hundreds of megabytes.
        return Ok(last_turn);
    }
    let mut whole = Vec::new();
    if let Some(path) = system {
        whole.extend(read_file("--system-file", path)?);
        transcript::end_paragraph(&mut whole);
    }
    match earlier {
        None => whole.extend(last_turn),
        Some(path) => {
            whole.extend(turns(path, &read_file("--transcript", path)?)?);
            whole.extend(transcript::heading("user"));
            whole.extend(last_turn);
        }
    }
    Ok(whole)
}

fn read_stdin() -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::new();
    let result = BlockingReader::stdin().and_then(|mut stdin| stdin.read_to_end(&mut bytes));
    result.map_err(|error| refuse(Status::NO_INPUT, "stdin", why(&error)))?;
    Ok(bytes)
}

fn read_file(option: &str, path: &Path) -> Result<Vec<u8>, Refusal> {
    fs::read(path).map_err(|error| refuse_path(option, path, &error))
}

/// The turns of a transcript as text, each under its role.
fn turns(path: &Path, transcript: &[u8]) -> Result<Vec<u8>, Refusal> {
    transcript::rendered(transcript).map_err(|(line, why)| {
        refuse(Status::DATA, &format!("--transcript {}: line {line}", path.display()), why)
    })
}
