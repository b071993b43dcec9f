//! When Codex has ended: what came of the run, and how it is delivered and told.

pub mod answer;
pub mod drain_deadline;
pub mod ending;
pub mod left;
pub mod mount_points;
pub mod output_errors;
pub mod refusal_seal;
pub mod report;
pub mod temp_files;
pub mod temp_folder;
