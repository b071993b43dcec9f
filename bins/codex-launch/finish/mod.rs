//! When Codex has ended: how the run ended, the delivery of its outputs, the sentinel and the report.

pub mod answer;
pub mod delivered;
pub mod drain_deadline;
pub mod ended;
pub mod ending;
pub mod judged;
pub mod left;
pub mod mount_points;
pub mod not_started;
pub mod outcome;
pub mod output_errors;
pub mod refusal_seal;
pub mod report;
pub mod seal;
pub mod temp_files;
pub mod temp_folder;
