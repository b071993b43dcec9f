//! The states of the scanner between two bytes of a line.

use super::number::Number;

/// What the next byte may be.
#[derive(Debug, Clone, Copy)]
pub(super) enum State {
    /// The first byte of the line's value, or the end of a blank line.
    Start,
    /// The first byte of a value, after a colon or after a comma in an array.
    Value,
    /// The first byte of a value or the closing bracket, after the bracket that opens an array.
    FirstValue,
    /// The opening quote of a key, after a comma in an object.
    Key,
    /// The opening quote of a key or the closing brace, after the brace that opens an object.
    FirstKey,
    /// The colon after a key.
    Colon,
    /// A comma or the end of the container, after a value.
    Next,
    /// The rest of a key or of a string value.
    Text(TextUse, TextState),
    /// The rest of a number.
    Number(Number),
    /// The rest of `null`, `true` or `false`; the number says how many bytes of it have been read.
    Literal(Kind, u8),
    /// White space, after the value of the line.
    Done,
    /// Anything: the line is malformed.
    Malformed,
}

/// What a string is used for.
#[derive(Debug, Clone, Copy)]
pub(super) enum TextUse {
    /// A key of an object that has wanted keys.
    Key,
    /// A key of any other object.
    OtherKey,
    /// A value.
    Value,
}

/// The position inside a string.
#[derive(Debug, Clone, Copy)]
pub(super) enum TextState {
    /// Outside any escape.
    Plain,
    /// After a backslash.
    Escape,
    /// After `\u` and some of its digits: `left` are missing, `unit` is the value of the others.
    Hex { left: u8, unit: u16 },
}

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    Number,
    Text,
    Object,
    Array,
}

/// The verdict on a line that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Blank,
    Object,
    NotObject,
    Malformed,
}
