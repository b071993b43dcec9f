//! What touches the person: messages, help, exit statuses.

pub mod args;
pub mod exit;
pub mod safe;
pub mod say;
