//! How wide a text is on a terminal, and texts that are cut to a width.

use console::{measure_text_width, truncate_str};

/// `text` as wide as a column, or cut to that.
pub(super) fn cell(text: &str, width: usize) -> String {
    let text = truncate_str(text, width, "…");
    let rest = width.saturating_sub(measure_text_width(&text));
    format!("{text}{}", " ".repeat(rest))
}

/// `text`, or as much of its beginning and an ellipsis as no terminal draws wider than `width` cells.
pub(super) fn cut(text: &str, width: usize) -> String {
    let whole = prefix(text, width);
    if whole.len() == text.len() {
        return whole.to_owned();
    }
    let ellipsis = prefix("…", width);
    format!("{}{ellipsis}", prefix(text, width.saturating_sub(ellipsis.chars().map(most_cells).sum())))
}

/// The beginning of `text` that no terminal draws wider than `width` cells.
fn prefix(text: &str, width: usize) -> &str {
    let mut left = width;
    let end = text.char_indices().find(|(_, c)| match left.checked_sub(most_cells(*c)) {
        Some(rest) => {
            left = rest;
            false
        }
        None => true,
    });
    &text[..end.map_or(text.len(), |(at, _)| at)]
}

/// How many cells a character takes at most. ASCII takes one in all terminals; no character takes more than two in any.
fn most_cells(c: char) -> usize {
    if c.is_ascii() { 1 } else { 2 }
}
