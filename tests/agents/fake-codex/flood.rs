//! Many bytes, as cheaply as they can be made.

use std::io::{self, BufWriter, Write};

use crate::step::Shape;

const HEAD: &[u8] =
    br#"{"type":"item.updated","item":{"id":"item_8","type":"command_execution","aggregated_output":""#;
const TAIL: &[u8] = b"\"}}\n";
static FILL: [u8; 65536] = [b'x'; 65536];

/// A line of [`Shape::Lines`].
const LINE: u64 = 1000;

/// Writes exactly `bytes` bytes.
pub(crate) fn flood(to: impl Write, bytes: u64, shape: &Shape) -> io::Result<()> {
    let mut to = BufWriter::with_capacity(FILL.len(), to);
    match shape {
        Shape::NoLf => fill(&mut to, bytes)?,
        Shape::OneLine => line(&mut to, bytes)?,
        Shape::Lines => {
            let mut left = bytes;
            // The last line takes what is over, so that none is too short to be an event.
            while left >= 2 * LINE {
                line(&mut to, LINE)?;
                left -= LINE;
            }
            line(&mut to, left)?;
        }
    }
    to.flush()
}

/// A valid line of `bytes` bytes, its LF counted.
fn line(to: &mut impl Write, bytes: u64) -> io::Result<()> {
    let frame = (HEAD.len() + TAIL.len()) as u64;
    assert!(bytes >= frame, "a line has at least {frame} bytes");
    to.write_all(HEAD)?;
    fill(to, bytes - frame)?;
    to.write_all(TAIL)
}

fn fill(to: &mut impl Write, mut bytes: u64) -> io::Result<()> {
    while bytes > 0 {
        let piece = usize::try_from(bytes).unwrap_or(usize::MAX).min(FILL.len());
        to.write_all(&FILL[..piece])?;
        bytes -= piece as u64;
    }
    Ok(())
}
