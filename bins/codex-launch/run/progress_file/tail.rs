//! The end of a file of lines, read and cut without reading the rest.

use common::edge::pump::CHUNK;
use memchr::memrchr;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// The longest last line that is looked at. A sentinel is far shorter.
const LAST_LINE: u64 = 4096;

/// Where the line begins that the byte before `end` belongs to. It is looked for in windows, so that a line of any
/// length costs no memory.
fn start_of_line(file: &File, end: u64) -> io::Result<u64> {
    let mut window = vec![0; CHUNK];
    let mut at = end;
    while at > 0 {
        let start = at.saturating_sub(CHUNK as u64);
        let wide = usize::try_from(at - start).unwrap_or(0);
        file.read_exact_at(&mut window[..wide], start)?;
        if let Some(lf) = memrchr(b'\n', &window[..wide]) {
            return Ok(start + lf as u64 + 1);
        }
        at = start;
    }
    Ok(0)
}

/// Where the last whole line ends.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn end_of_lines(file: &File) -> io::Result<u64> {
    start_of_line(file, file.metadata()?.len())
}

/// The last line without its LF; nothing when it is longer than any sentinel, or there is none.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn last_line(file: &File) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    let seen = length.min(LAST_LINE);
    let mut window = vec![0; usize::try_from(seen).unwrap_or(0)];
    file.read_exact_at(&mut window, length - seen)?;
    let text = window.strip_suffix(b"\n").unwrap_or(&window);
    match memrchr(b'\n', text) {
        Some(lf) => Ok(text[lf + 1..].to_vec()),
        None if length <= LAST_LINE => Ok(text.to_vec()),
        None => Ok(Vec::new()),
    }
}

/// Where the file ends in whole lines when at least `room` bytes are cut off; `None` when it has not as many.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn end_without(file: &File, room: u64) -> io::Result<Option<u64>> {
    let length = file.metadata()?.len();
    length.checked_sub(room).map(|end| start_of_line(file, end)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, OpenOptions};

    fn file(content: &[u8]) -> (tempfile::TempDir, File) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        fs::write(&path, content).unwrap();
        (folder, OpenOptions::new().read(true).append(true).open(path).unwrap())
    }

    #[test]
    fn a_torn_line_of_any_length_is_no_whole_line() {
        let long = [&b"{}\n"[..], &vec![b'x'; 3 * CHUNK]].concat();
        for (content, left) in [(&b"{}\n[]\n"[..], 6), (b"{}\n[", 3), (b"{", 0), (b"", 0), (&long, 3)] {
            let (_folder, file) = file(content);
            assert_eq!(end_of_lines(&file).unwrap(), left);
        }
    }

    #[test]
    fn the_last_line_is_read() {
        let long = [&b"{}\n"[..], &vec![b'x'; 5000], b"\n"].concat();
        for (content, line) in
            [(&b"{}\n[1]\n"[..], &b"[1]"[..]), (b"{}\n", b"{}"), (b"", b""), (&long, b""), (b"{}\n\n", b"")]
        {
            let (_folder, file) = file(content);
            assert_eq!(last_line(&file).unwrap(), line);
        }
    }

    #[test]
    fn room_is_made_of_whole_lines() {
        let (_folder, file) = file(b"one\ntwo\nthree\n");
        assert_eq!(end_without(&file, 7).unwrap(), Some(4));
        assert_eq!(end_without(&file, 1).unwrap(), Some(8));
        assert_eq!(end_without(&file, 14).unwrap(), Some(0));
        assert_eq!(end_without(&file, 15).unwrap(), None);
    }
}
