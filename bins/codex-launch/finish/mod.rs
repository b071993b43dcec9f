//! When Codex has ended: what came of the run, and how it is delivered and told.

pub mod answer;
pub mod ending;
pub mod left;
pub mod lost;
pub mod mount_points;
pub mod patience;
pub mod refusal_seal;
pub mod report;
pub mod temp_folder;
pub mod traces;
