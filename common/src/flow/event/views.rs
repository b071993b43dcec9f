//! The views of a stream: which values each reader wants, and what it makes of a line.

use super::super::scan::{Scan, Want};
use super::super::stream::{LINE_CAP, Line, View};
use super::keys::{ITEM_TYPE, RETRY_AT, USAGE_INPUT_TOKENS, WANTS};
use super::{Event, UsageEvent};

/// For readers of everything: each event, and its line for the values that no view can name beforehand (see
/// [`super::changes`], [`super::steps`], [`super::usage_numbers`]).
#[derive(Debug)]
pub struct EventLines;

impl View for EventLines {
    const WANTS: &'static [Want] = &WANTS;
    const KEEP: usize = LINE_CAP;
    type Of<'a> = (Event<'a>, Line<'a>);

    fn of(line: Line<'_>) -> Self::Of<'_> {
        (Event::of(line.scan), line)
    }
}

/// For readers that decide whether a run completed: the event as [`Event::of_turns`] reads it, and the line for
/// [`super::super::sentinel::Position::after`].
#[derive(Debug)]
pub struct TurnLines;

impl View for TurnLines {
    const WANTS: &'static [Want] = WANTS.split_at(USAGE_INPUT_TOKENS + 1).0;
    type Of<'a> = (Event<'a>, Scan<'a>);

    fn of(line: Line<'_>) -> Self::Of<'_> {
        (Event::of_turns(line.scan), line.scan)
    }
}

/// For usage: the values that [`UsageEvent`] and [`super::super::sentinel::ReadSentinel::of`] read, and the line for the numbers,
/// whose names are not known beforehand.
#[derive(Debug)]
pub struct UsageLines;

impl View for UsageLines {
    const WANTS: &'static [Want] = WANTS.split_at(ITEM_TYPE + 1).0;
    const KEEP: usize = LINE_CAP;
    type Of<'a> = UsageEvent<'a>;

    fn of(line: Line<'_>) -> UsageEvent<'_> {
        UsageEvent::of(line)
    }
}

/// For readers that only look for sentinels: the values that [`super::super::sentinel::ReadSentinel::of`] reads.
#[derive(Debug)]
pub struct Sentinels;

impl View for Sentinels {
    const WANTS: &'static [Want] = WANTS.split_at(RETRY_AT + 1).0;
    type Of<'a> = Scan<'a>;

    fn of(line: Line<'_>) -> Scan<'_> {
        line.scan
    }
}
