//! The agents of a wave: all that were named, each once.

use crate::NAME;
use crate::args::Config;
use crate::manifest::{self, Agent};
use common::edge::paths;
use common::edge::reader::BlockingReader;
use common::face::args;
use common::face::exit::Status;
use common::face::say::{self, why};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, Read};
use std::path::Path;

/// The agents that `config` names. The error is the status, and has been said.
pub fn agents(config: &mut Config) -> Result<Vec<Agent>, Status> {
    let mut agents = std::mem::take(&mut config.agents);
    if let Some(path) = &config.manifest {
        let text = read(path).map_err(|error| {
            say::line(NAME, &format!("{}: read: {}", path.display(), why(&error)));
            Status::NO_INPUT
        })?;
        let more = manifest::agents(&text, args::seconds).and_then(|more| match more.is_empty() {
            true => Err("no agent in it".into()),
            false => Ok(more),
        });
        agents.extend(more.map_err(|what| refused(&format!("{}: {what}", path.display())))?);
    }
    match repeated(&agents) {
        Some(what) => Err(refused(&what)),
        None => Ok(agents),
    }
}

fn refused(what: &str) -> Status {
    say::line(NAME, &format!("usage: {what}"));
    Status::USAGE
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    if path == "-" {
        let mut text = Vec::new();
        return BlockingReader::stdin()?.read_to_end(&mut text).map(|_| text);
    }
    fs::read(path)
}

/// What is there twice, if something is.
fn repeated(agents: &[Agent]) -> Option<String> {
    let mut ids = HashSet::new();
    if let Some(agent) = agents.iter().find(|agent| !ids.insert(&agent.id)) {
        return Some(format!("agent {}: the id is there twice", agent.id));
    }
    let mut places = paths::Places::default();
    let mut files = HashMap::new();
    agents.iter().find_map(|agent| {
        let other = files.insert(places.identity(&agent.file)?, &agent.id)?;
        Some(format!("agent {}: {} is the file of {other} too", agent.id, agent.file.display()))
    })
}
