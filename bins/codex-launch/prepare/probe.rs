//! What Codex is asked before a launch: whether it is signed in, and which options it has.

use crate::prepare::args::{Config, KEY_VARIABLES, REMOVED_VARIABLES, Rights, SIGN_IN_VARIABLES};
use crate::prepare::check::{Refusal, refuse};
use crate::prepare::environment;
use crate::prepare::program::{Answer, Question};
use common::face::exit::Status;
use common::face::say::why;
use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::path::Path;

/// A question to Codex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    /// Is it signed in?
    SignIn,
    /// Which options does it have?
    Options,
}

impl Probe {
    fn args(self) -> &'static [&'static str] {
        match self {
            Probe::SignIn => &["login", "status"],
            Probe::Options => &["exec", "--help"],
        }
    }

    /// Asks it. What it leaves among its temporary files (0.80.0 and older leave a folder) is in `folder`.
    pub fn ask(self, codex: &Path, config: &Config, folder: &Path) -> Result<Question, Refusal> {
        Question::ask(codex, self.args(), &variables(config, folder)).map_err(|error| {
            refuse(
                Status::CANNOT_EXECUTE,
                &codex.display().to_string(),
                format!("cannot be executed: {}", why(&error)),
            )
        })
    }

    /// The words of it, for messages.
    pub fn words(self) -> String {
        format!("codex {}", self.args().join(" "))
    }
}

/// The variables of a question: no key, and nothing that colours, folds, translates or pages an answer.
/// `CLICOLOR_FORCE=1` colours the help of 0.98.0, 0.156.1 and 0.171.0 even in a pipe.
fn variables(config: &Config, folder: &Path) -> Vec<(OsString, Option<OsString>)> {
    let removed = config.removed_variables.iter().chain(&[
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "FORCE_COLOR",
        "NO_COLOR",
        "LANGUAGE",
        "PAGER",
    ]);
    let removed = removed.map(|name| (OsString::from(name), None));
    let set = [("TERM", "dumb"), ("COLUMNS", "200"), ("LC_ALL", "C.UTF-8"), ("GIT_PAGER", "cat")];
    let set = set.map(|(name, value)| (name.into(), Some(value.into())));
    removed.chain(set).chain([("TMPDIR".into(), Some(folder.into()))]).collect()
}

/// The questions that a launch with `config` needs an answer to.
pub fn needed(config: &Config) -> Vec<Probe> {
    let sign_in = !config.skip_auth_check && !keeps_a_key(config) && !names_a_provider(config);
    let options = !wanted_options(config).is_empty();
    [(sign_in, Probe::SignIn), (options, Probe::Options)]
        .into_iter()
        .filter_map(|(need, p)| need.then_some(p))
        .collect()
}

/// A key that is kept is used instead of a login, and `login status` does not see it.
fn keeps_a_key(config: &Config) -> bool {
    let kept = |name: &&str| !config.removed_variables.contains(name) && environment::was_set(name);
    KEY_VARIABLES.iter().any(kept)
}

/// A provider of the user's own has its own key, and `login status` says "Not logged in" for it.
fn names_a_provider(config: &Config) -> bool {
    config.settings.iter().any(|setting| {
        let setting = setting.to_string_lossy();
        setting.split_once('=').is_some_and(|(key, _)| key.trim() == "model_provider")
    })
}

/// The options to look up, as Codex spells them. `--image` and `--add-dir` are old enough for every Codex that has
/// `--json`, and are looked up all the same: the answer names the fault before a run does.
fn wanted_options(config: &Config) -> Vec<&'static str> {
    let extra = &config.extra;
    [
        (extra.output_schema.is_some(), "--output-schema"),
        (!extra.add_dirs.is_empty(), "--add-dir"),
        (!extra.images.is_empty(), "--image"),
        (extra.ephemeral, "--ephemeral"),
        (extra.ignore_user_config, "--ignore-user-config"),
        (extra.ignore_rules, "--ignore-rules"),
        (config.rights == Rights::Bypass, "--dangerously-bypass-approvals-and-sandbox"),
        (config.fork.is_some(), "fork"),
    ]
    .into_iter()
    .filter_map(|(wanted, option)| wanted.then_some(option))
    .collect()
}

/// What the answer to `probe` means for a launch with `config`; an option that may be left out is taken from it, and
/// a line that says so is returned.
pub fn heed(probe: Probe, answer: io::Result<Answer>, config: &mut Config) -> Result<Vec<String>, Refusal> {
    let answer = answer.map_err(|error| refuse(Status::UNAVAILABLE, &probe.words(), why(&error)))?;
    match probe {
        Probe::SignIn if answer.well => Ok(Vec::new()),
        Probe::SignIn => Err(not_signed_in(&answer, config)),
        Probe::Options => heed_options(&answer, config),
    }
}

fn not_signed_in(answer: &Answer, config: &Config) -> Refusal {
    // Warnings may stand before it; the last line is the answer (0.98.0 to 0.171.0).
    let said = answer.text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no answer");
    let said = said.trim().trim_end_matches('.');
    let removed = variables_to_remove(config);
    let removed = removed.iter().filter(|name| SIGN_IN_VARIABLES.contains(&name.as_str()));
    let kept: String = removed.map(|name| format!("; {name} was removed: --keep-env {name}")).collect();
    refuse(
        Status::UNAVAILABLE,
        "codex login status",
        format!("{said}{kept}; sign in with `codex login`, or go without asking with --skip-auth-check"),
    )
}

/// What every run needs. Nothing is asked for their sake: only a Codex of the distant past lacks one.
fn common_options(config: &Config) -> impl Iterator<Item = &'static str> {
    let sandbox = matches!(config.rights, Rights::Sandbox(_)).then_some("--sandbox");
    ["--json"].into_iter().chain(sandbox)
}

fn heed_options(answer: &Answer, config: &mut Config) -> Result<Vec<String>, Refusal> {
    let listed = listed(&answer.text);
    // Up to 0.42 --experimental-json is the stream of today, and --json an older one, of which no answer is known.
    if listed.contains("--experimental-json") {
        return Err(refuse(Status::UNAVAILABLE, "codex", "is older than 0.44: its --json is another stream"));
    }
    let mut said = Vec::new();
    let wanted = common_options(config).chain(wanted_options(config));
    for option in wanted.filter(|option| !listed.contains(option)).collect::<Vec<_>>() {
        if !config.may_leave_out.contains(&option) {
            return Err(refuse(Status::UNAVAILABLE, option, "this codex does not know it; a newer one may"));
        }
        match option {
            "--ignore-rules" => config.extra.ignore_rules = false,
            _ => config.extra.ignore_user_config = false,
        }
        said.push(format!("{option}: left out: this codex does not know it"));
    }
    Ok(said)
}

/// The long options and the commands that a help text lists: the words of the lines that begin with an option, and the
/// first words of the lines below "Commands:".
fn listed(help: &str) -> HashSet<&str> {
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let words = lines.flat_map(|line| line.split([' ', ',', '=']));
    let options = words.filter(|word| word.starts_with("--"));
    let commands = help.lines().skip_while(|line| line.trim() != "Commands:").skip(1);
    let commands = commands.take_while(|line| !line.trim().is_empty());
    options.chain(commands.filter_map(|line| line.split_whitespace().next())).collect()
}

/// The names of the variables that are set and that Codex will not see.
pub fn variables_to_remove(config: &Config) -> Vec<String> {
    let set = |name: &&&str| config.removed_variables.contains(*name) && environment::was_set(name);
    REMOVED_VARIABLES.iter().filter(set).map(|name| (*name).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_from_the_lines_that_list_them() {
        let help = "Run --not-this\n\nCommands:\n  resume  Go on\n  fork    Fork\n\nOptions:\n  -c, --config <key=value>\n          Use --nor-this to\n  \
                    -i, --image <FILE>...\n      --ignore-rules\n          Do not\n";
        let mut listed: Vec<&str> = listed(help).into_iter().collect();
        listed.sort_unstable();
        assert_eq!(listed, ["--config", "--ignore-rules", "--image", "fork", "resume"]);
    }
}
