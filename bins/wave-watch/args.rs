//! What was typed, made into what is needed. No file is opened here.

use crate::NAME;
use crate::manifest::Agent;
use clap::{Parser, ValueEnum};
use common::face::args;
use common::face::exit;
use common::face::printed::Printed;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// One watch.
#[derive(Debug)]
pub struct Config {
    /// The agents that were named one by one.
    pub agents: Vec<Agent>,
    /// A file with more of them.
    pub manifest: Option<PathBuf>,
    /// When what is told.
    pub rules: Rules,
    /// How often a file that the kernel tells nothing of is looked at.
    pub poll: Duration,
    /// Whether there is a live table on stderr.
    pub ui: Ui,
}

/// When what is told.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// From one digest to the next.
    pub digest: Duration,
    /// How long after its budget an agent settles without a sentinel.
    pub grace: Duration,
    /// From when on an agent whose file has not appeared settles as one that was not started; never when not given.
    pub start: Option<Duration>,
    /// Whether the others are watched on when a file breaks the rules.
    pub keep_going: bool,
}

/// Whether there is a live table on stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Ui {
    /// When stderr is a terminal and stdout is not; where both are, a message says how to get it.
    Auto,
    /// In any case.
    Always,
    /// In no case.
    Never,
}

/// Watches the progress files of a wave of agents and tells as JSONL on stdout how each is doing, how each ended, and
/// when all have; never what they say.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_help = exit::help())]
struct Typed {
    /// An agent: what to call it, how long it may take, its progress file, which may come later; may be repeated
    #[arg(long, num_args = 3, value_names = ["ID", "BUDGET_SECONDS", "FILE"], allow_hyphen_values = true)]
    agent: Vec<OsString>,
    /// More agents, one a line: a JSON object of agentId, budgetSeconds and progressFile, or these three with tabs
    /// between; - is stdin
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// From one digest to the next
    #[arg(long, value_name = "N", default_value = "300", allow_negative_numbers = true, value_parser = args::seconds)]
    digest_seconds: Duration,
    /// How long after its budget an agent settles as failed without a sentinel
    #[arg(long, value_name = "N", default_value = "120", allow_negative_numbers = true, value_parser = args::seconds_or_zero)]
    no_sentinel_grace_seconds: Duration,
    /// An agent whose file has not appeared by then settles as failed, reason not-started [default: never]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = args::seconds)]
    start_seconds: Option<Duration>,
    /// How often a file is looked at where the kernel gives no notice of changes
    #[arg(long, value_name = "N", default_value = "1", allow_negative_numbers = true, value_parser = args::seconds)]
    poll_seconds: Duration,
    /// A file that breaks the rules takes only its own agent out of the wave
    #[arg(long)]
    keep_going: bool,
    /// A live table on stderr; auto is when stderr is a terminal and stdout is not
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    ui: Ui,
}

/// Reads the command line.
pub fn parse() -> Result<Config, Printed> {
    let typed: Typed = args::parse(NAME)?;
    let agents = agents(&typed.agent).map_err(|what| args::wrong_usage(NAME, &format!("--agent {what}")))?;
    if agents.is_empty() && typed.manifest.is_none() {
        return Err(args::wrong_usage(
            NAME,
            "no agent: --agent or --manifest is needed (see wave-watch --help)",
        ));
    }
    Ok(Config {
        agents,
        manifest: typed.manifest,
        rules: Rules {
            digest: typed.digest_seconds,
            grace: typed.no_sentinel_grace_seconds,
            start: typed.start_seconds,
            keep_going: typed.keep_going,
        },
        poll: typed.poll_seconds,
        ui: typed.ui,
    })
}

fn agents(triples: &[OsString]) -> Result<Vec<Agent>, String> {
    triples
        .chunks(3)
        .map(|triple| {
            let [id, budget, file] = triple else { return Err("ID BUDGET_SECONDS FILE: cut short".into()) };
            let id = id.to_str().ok_or_else(|| format!("{}: the id is not UTF-8", id.display()))?;
            let budget =
                args::seconds(&budget.to_string_lossy()).map_err(|what| format!("{id}: budget: {what}"))?;
            Agent::new(id, budget, file.into()).map_err(|what| format!("{id}: {what}"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_flags_fit_together() {
        Typed::command().debug_assert();
    }
}
