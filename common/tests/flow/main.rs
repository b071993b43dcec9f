//! Framer and scanner, judged by simpler code: `split(b'\n')` and serde_json.

mod cuts;
mod generated;
mod lines;
mod oracle;
mod rules;
mod samples;

use proptest::prelude::ProptestConfig;

/// So many cases of a property. A case that fails is shown; it is not kept, because the folder for it would be in the
/// source tree.
fn cases(count: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(count) }
}
