//! Where an input is cut: its first bytes say so.

/// How many bytes say where the others are cut.
const HEAD: usize = 4;

/// The lengths of the parts, over and over, and the bytes that are to be cut.
pub(crate) fn split(data: &[u8]) -> Option<([usize; HEAD], &[u8])> {
    let (head, bytes) = data.split_first_chunk::<HEAD>()?;
    Some((head.map(usize::from), bytes))
}

/// `bytes` in parts of these lengths, over and over. A part may be empty.
pub(crate) fn parts(lengths: [usize; HEAD], mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    for length in lengths.into_iter().cycle().take_while(|_| lengths != [0; HEAD]) {
        if bytes.len() <= length {
            break;
        }
        let (part, rest) = bytes.split_at(length);
        parts.push(part);
        bytes = rest;
    }
    parts.push(bytes);
    parts
}
