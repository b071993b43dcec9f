//! What runs cost: totals of tokens, and what lies between them.
//!
//! Codex tells the total of a thread so far (0.79 and later) or of one process (0.77 and earlier), so what a run
//! itself used is a difference. [`Account`] observes the lines of one run, [`Ledger`] sets the accounts of runs side
//! by side. What neither can know is `None`, never 0.

mod account;
mod counts;
mod ledger;

pub use account::{Account, Odd, Said, Subagents, told};
pub use counts::{Counts, FIELDS_CAP, TOTAL};
pub use ledger::{Baseline, Basis, Evidence, Ledger, Remark, Run, Status, Sum};
