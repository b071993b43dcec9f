//! What a line tells of an agent's doings, and nothing that anybody says in it.

use super::super::scan::{Found, Value};
use super::{ITEM_COMMAND, ITEM_SERVER, ITEM_STATUS, ITEM_TOOL, ITEM_TYPE, RETRY_AT, TYPE, WANTS, text};

/// The words of an object by which its kind is known. Each is there where the line has it as a text; a line's own
/// texts have no place here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outline<'a> {
    /// `type`
    pub kind: &'a str,
    /// `item.type`
    pub item: Option<&'a str>,
    /// `item.status`
    pub status: Option<&'a str>,
    /// `item.command`, up to 4,096 bytes.
    pub command: Option<&'a str>,
    /// `item.server`
    pub server: Option<&'a str>,
    /// `item.tool`
    pub tool: Option<&'a str>,
}

/// A value of a launcher's line, as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalar<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// The digits of a number.
    Number(&'a str),
    /// A string, decoded.
    Text(&'a str),
}

impl<'a> Outline<'a> {
    /// Reads it from an object that an [`outline_scanner`](super::outline_scanner) has scanned.
    pub fn of(found: Found<'a>) -> Outline<'a> {
        Outline {
            kind: text(found, TYPE).unwrap_or_default(),
            item: text(found, ITEM_TYPE),
            status: text(found, ITEM_STATUS),
            command: text(found, ITEM_COMMAND),
            server: text(found, ITEM_SERVER),
            tool: text(found, ITEM_TOOL),
        }
    }
}

/// The fields beside `type` that a launcher's line is known to have, those that are there and short, in the order in
/// which launchers write them.
pub(in super::super) fn launcher_fields<'a>(
    found: Found<'a>,
) -> impl Iterator<Item = (&'static str, Scalar<'a>)> {
    (TYPE + 1..=RETRY_AT).filter_map(move |want| {
        let value = match found.get(want)? {
            Value::Null => Scalar::Null,
            Value::Bool(yes) => Scalar::Bool(yes),
            Value::Number(Some(digits)) => Scalar::Number(digits),
            Value::Text { text, whole: true } => Scalar::Text(text),
            _ => return None,
        };
        Some((WANTS[want].path[0], value))
    })
}
