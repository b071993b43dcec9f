//! loopback-model: its scenarios and its answers to plain requests.

mod answers;
mod scenarios;
