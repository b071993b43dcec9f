//! As much HTTP/1.1 as it takes: one request per connection, read whole; answers that end with the connection.
//!
//! A framework would hide the socket, and the scenarios are about what a socket can do: stay silent, close early.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// How long the head of a request may be, bytes.
const HEAD_LIMIT: usize = 64 * 1024;

/// How many header fields a request may have.
const FIELD_LIMIT: usize = 64;

/// How long the other side may take to close after it got its answer.
const CLOSE_LIMIT: Duration = Duration::from_secs(2);

/// A request.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// The target without its query.
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
}

/// What came over a connection.
#[derive(Debug)]
pub(crate) enum Received {
    Request(Request),
    /// The other side left before a whole request had come.
    Nothing,
    /// Not a request that this server reads: the status and the reason for the answer.
    Odd(u16, &'static str),
}

/// Reads one request.
pub(crate) fn read(stream: &mut TcpStream) -> io::Result<Received> {
    let mut bytes = Vec::new();
    let (method, path, body_at, body_length) = loop {
        let mut fields = [httparse::EMPTY_HEADER; FIELD_LIMIT];
        let mut head = httparse::Request::new(&mut fields);
        match head.parse(&bytes) {
            Ok(httparse::Status::Complete(length)) => {
                let target = head.path.unwrap_or_default();
                let path = target.split_once('?').map_or(target, |(path, _)| path);
                let Some(body) = body_length(head.headers) else {
                    return Ok(Received::Odd(411, "a body needs a content-length"));
                };
                break (head.method.unwrap_or_default().to_string(), path.to_string(), length, body);
            }
            Ok(httparse::Status::Partial) if bytes.len() > HEAD_LIMIT => {
                return Ok(Received::Odd(431, "the head is too long"));
            }
            Ok(httparse::Status::Partial) => {}
            Err(_) => return Ok(Received::Odd(400, "not HTTP")),
        }
        let mut more = [0; 8192];
        match stream.read(&mut more)? {
            0 => return Ok(Received::Nothing),
            length => bytes.extend_from_slice(&more[..length]),
        }
    };
    let mut body = bytes.split_off(body_at);
    let missing = body_length.saturating_sub(body.len() as u64);
    if (stream.take(missing).read_to_end(&mut body)? as u64) < missing {
        return Ok(Received::Nothing);
    }
    Ok(Received::Request(Request { method, path, body }))
}

/// The length of the body, 0 when none is announced; `None` when it cannot be told beforehand.
fn body_length(fields: &[httparse::Header<'_>]) -> Option<u64> {
    let field = |name: &str| fields.iter().find(|field| field.name.eq_ignore_ascii_case(name));
    if field("transfer-encoding").is_some() {
        return None;
    }
    match field("content-length") {
        Some(length) => std::str::from_utf8(length.value).ok()?.trim().parse().ok(),
        None => Some(0),
    }
}

/// Sends a whole answer. Clients go by the number alone, so there is no reason phrase.
pub(crate) fn send(stream: &mut TcpStream, status: u16, kind: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status} \r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n");
    stream.write_all(format!("{head}connection: close\r\n\r\n{body}").as_bytes())
}

/// Sends the head of a stream of events, which ends when the connection is closed.
pub(crate) fn send_event_head(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 \r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
}

/// Waits until the other side has closed the connection.
pub(crate) fn until_closed(stream: &mut TcpStream) -> io::Result<()> {
    io::copy(stream, &mut io::sink()).map(|_| ())
}

/// Closes the connection so that what was sent arrives: closing with bytes unread would reset it.
pub(crate) fn close(stream: &mut TcpStream) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    stream.set_read_timeout(Some(CLOSE_LIMIT))?;
    until_closed(stream)
}
