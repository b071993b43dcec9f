//! Framer and scanner, judged by simpler code: `split(b'\n')` and serde_json.

mod cuts;
mod generated;
mod lines;
mod oracle;
mod rules;
mod samples;
