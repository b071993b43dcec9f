//! Inserts a first member into each JSON object.

use memchr::memchr;

/// Inserts a stamp into JSON objects, one a line, which come in pieces of any size.
#[derive(Debug)]
pub struct Stamper {
    position: Position,
}

/// The position of the next byte in its line.
#[derive(Debug, Clone, Copy)]
enum Position {
    /// Before the brace of the object, where a BOM and white space may be.
    Before,
    /// Behind the brace. Whether a comma is needed, because the object is not empty, is not known yet.
    Opened,
    /// Behind the stamp and its comma.
    Within,
}

impl Stamper {
    /// A stamper at the beginning of a line.
    pub fn new() -> Stamper {
        Stamper { position: Position::Before }
    }

    /// Appends `objects`, the next piece, to `out`, with `stamp` as the first member of each. `stamp` is a key and its value.
    pub fn push(&mut self, objects: &[u8], stamp: &str, out: &mut Vec<u8>) {
        let mut rest = objects;
        while !rest.is_empty() {
            let length = match self.position {
                Position::Before => memchr(b'{', rest).map(|at| at + 1),
                Position::Opened => rest.iter().position(|byte| !byte.is_ascii_whitespace()),
                Position::Within => memchr(b'\n', rest).map(|at| at + 1),
            };
            let (bytes, behind) = rest.split_at(length.unwrap_or(rest.len()));
            let found = length.is_some();
            self.position = match self.position {
                Position::Before if found => {
                    out.extend_from_slice(bytes);
                    out.extend_from_slice(stamp.as_bytes());
                    Position::Opened
                }
                Position::Opened if found => {
                    if behind.first() != Some(&b'}') {
                        out.push(b',');
                    }
                    out.extend_from_slice(bytes);
                    Position::Within
                }
                position => {
                    out.extend_from_slice(bytes);
                    if found { Position::Before } else { position }
                }
            };
            rest = behind;
        }
    }
}

impl Default for Stamper {
    fn default() -> Stamper {
        Stamper::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: &str = r#""at":"now""#;

    fn stamped(objects: &str, piece: usize) -> String {
        let (mut stamper, mut out) = (Stamper::new(), Vec::new());
        objects.as_bytes().chunks(piece).for_each(|bytes| stamper.push(bytes, STAMP, &mut out));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_stamp_is_the_first_member_and_nothing_else_changes() {
        let objects = "{\"a\":{\"b\":[{}]}}\n\u{feff} {}\r\n{ } \n {\t\"a\":\"{\"}\n{}";
        let expected = "{\"at\":\"now\",\"a\":{\"b\":[{}]}}\n\u{feff} {\"at\":\"now\"}\r\n{\"at\":\"now\" } \n {\"at\":\"now\",\t\"a\":\"{\"}\n{\"at\":\"now\"}";
        assert_eq!(stamped(objects, 1000), expected);
    }

    #[test]
    fn the_pieces_make_no_difference_but_in_white_space_behind_the_brace() {
        let objects = "{\"a\":1}\n{}\n {\"b\":{}}\r\n{}";
        for piece in 1..objects.len() {
            assert_eq!(stamped(objects, piece), stamped(objects, 1000));
        }
        assert_eq!(stamped("{ \"a\":1}\n", 1), "{\"at\":\"now\" ,\"a\":1}\n");
    }
}
