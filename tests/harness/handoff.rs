//! `scripts/run-codex-handoff.sh` and its answers.

/// The script.
pub(crate) const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/run-codex-handoff.sh");
/// The schema that its answers follow.
pub(crate) const SCHEMA: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/codex-handoff-result.schema.json");

/// An answer that follows it.
pub(crate) const RESULT: &str = r#"{"status":"completed","summary":"done","changed_files":[],"verification":[],"residual_risks":[],"blockers":[]}"#;
