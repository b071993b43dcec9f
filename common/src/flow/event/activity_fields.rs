//! The fields that tell what an agent does, without the texts that it or the user writes.

use super::super::scan::{Found, Want};
use super::keys::{ITEM_COMMAND, ITEM_SERVER, ITEM_STATUS, ITEM_TOOL, ITEM_TYPE, TYPE, WANTS, text};

/// The fields of an event that tell what the agent does. Each is `None` where the line does not have it as a text. There
/// is no field for a message, a query, an argument or a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActivityFields<'a> {
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

impl<'a> ActivityFields<'a> {
    /// The values that a view needs for [`ActivityFields::of`] and [`super::super::sentinel::ReadSentinel::of`].
    pub const WANTS: &'static [Want] = WANTS.split_at(ITEM_TOOL + 1).0;

    /// Reads the fields from an object that a view of [`ActivityFields::WANTS`] has scanned.
    pub fn of(found: Found<'a>) -> ActivityFields<'a> {
        ActivityFields {
            kind: text(found, TYPE).unwrap_or_default(),
            item: text(found, ITEM_TYPE),
            status: text(found, ITEM_STATUS),
            command: text(found, ITEM_COMMAND),
            server: text(found, ITEM_SERVER),
            tool: text(found, ITEM_TOOL),
        }
    }
}
