//! The band for the user: messages, help, exit statuses, text on a terminal.

pub mod args;
pub mod exit;
pub mod lossy_utf8;
pub mod printed;
pub mod safe;
pub mod say;
pub mod terminal;
