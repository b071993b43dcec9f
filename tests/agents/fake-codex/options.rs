//! The command lines that Codex takes: those of 0.171.0, less what `FAKE_CODEX_HELP_WITHOUT` names.
//!
//! Two traps of the real ones are kept, because a launcher can fall into them: `exec --image` takes all words
//! that follow it, a lone `-` too, and most options may not stand after the word `resume`.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command};

/// What a call asks for.
pub(crate) enum Asked {
    /// `codex exec ...`
    Run(Run),
    /// `codex login status`
    Login,
}

/// What a run has to know of its options.
pub(crate) struct Run {
    /// The thread to continue or to fork.
    pub(crate) thread: Option<String>,
    /// `-o`
    pub(crate) answer_file: Option<PathBuf>,
}

/// How many values an option takes.
#[derive(Clone, Copy)]
enum Takes {
    Nothing,
    One,
    OneOf(&'static [&'static str]),
    OneEach,
    Many,
}
use Takes::{Many, Nothing, One, OneEach, OneOf};

/// One option: its letter, its name, its values, and whether it may also stand after `resume ID` or `fork ID`.
type Row = (Option<char>, &'static str, Takes, bool);

const ROWS: &[Row] = &[
    (Some('c'), "config", OneEach, true),
    (None, "enable", OneEach, true),
    (None, "disable", OneEach, true),
    (None, "remote", One, true),
    (None, "remote-auth-token-env", One, true),
    (None, "strict-config", Nothing, true),
    (Some('i'), "image", Many, false),
    (Some('m'), "model", One, true),
    (None, "oss", Nothing, false),
    (None, "local-provider", One, false),
    (Some('p'), "profile", One, false),
    (Some('s'), "sandbox", OneOf(&["read-only", "workspace-write", "danger-full-access"]), false),
    (None, "approve-for-me", Nothing, false),
    (None, "dangerously-bypass-approvals-and-sandbox", Nothing, true),
    (None, "dangerously-bypass-hook-trust", Nothing, true),
    (Some('C'), "cd", One, false),
    (None, "worktree", Nothing, true),
    (None, "add-dir", OneEach, false),
    (None, "thread-source", One, true),
    (None, "cyber-access-program", OneOf(&["standard", "daybreak_blue", "daybreak_red"]), true),
    (None, "skip-git-repo-check", Nothing, true),
    (None, "trust", Nothing, true),
    (None, "ephemeral", Nothing, true),
    (None, "ignore-user-config", Nothing, true),
    (None, "ignore-rules", Nothing, true),
    (None, "output-schema", One, true),
    (None, "color", OneOf(&["always", "never", "auto"]), false),
    (None, "json", Nothing, true),
    (Some('o'), "output-last-message", One, true),
];

fn arg(&(short, name, takes, after_the_word): &Row) -> Arg {
    let arg = Arg::new(name).long(name).short(short).global(after_the_word).help("As in Codex");
    match takes {
        Nothing => arg.action(ArgAction::SetTrue),
        One => arg.action(ArgAction::Set),
        OneOf(values) => arg.action(ArgAction::Set).value_parser(values.to_vec()),
        OneEach => arg.action(ArgAction::Append),
        Many => arg.action(ArgAction::Append).num_args(1..),
    }
}

fn codex() -> Command {
    let without = std::env::var("FAKE_CODEX_HELP_WITHOUT").unwrap_or_default();
    let left_out = |name: &str| without.split(',').any(|option| option.trim_start_matches('-') == name);
    let prompt = Arg::new("prompt").value_name("PROMPT");
    let thread = Arg::new("thread").value_name("SESSION_ID");
    let image = Arg::new("image").long("image").short('i').action(ArgAction::Append);
    let review = Command::new("review")
        .about("Run a code review against the current repository")
        .arg(Arg::new("uncommitted").long("uncommitted").action(ArgAction::SetTrue).conflicts_with("prompt"))
        .arg(Arg::new("base").long("base").conflicts_with("prompt"))
        .arg(Arg::new("commit").long("commit").conflicts_with("prompt"))
        .arg(&prompt);
    let fork = Command::new("fork").about("Fork a previous session by id into a new session").args([
        &image,
        &thread.clone().required(true),
        &prompt,
    ]);
    let exec = Command::new("exec")
        .about("Run Codex non-interactively")
        .next_line_help(true)
        .args(ROWS.iter().filter(|row| !left_out(row.1)).map(arg))
        .arg(&prompt)
        .subcommand(
            Command::new("resume")
                .about("Resume a previous session by id")
                .arg(Arg::new("last").long("last").action(ArgAction::SetTrue))
                .arg(Arg::new("all").long("all").action(ArgAction::SetTrue))
                .args([&image, &thread, &prompt]),
        )
        .subcommand(review)
        .subcommands(Some(fork).filter(|_| !left_out("fork")));
    let status = Command::new("status").arg(arg(&ROWS[0]));
    Command::new("codex")
        .bin_name("codex")
        .version("0.171.0")
        .subcommand_required(true)
        .subcommand(exec)
        .subcommand(Command::new("login").subcommand_required(true).subcommand(status))
}

/// Reads the arguments of this process. Help, the version and wrong usage end it here, as in Codex.
pub(crate) fn parse() -> Asked {
    match codex().get_matches().subcommand() {
        Some(("exec", exec)) => Asked::Run(run(exec)),
        _ => Asked::Login,
    }
}

fn run(exec: &ArgMatches) -> Run {
    if exec.get_many::<String>("image").is_some_and(|mut images| images.any(|image| image == "-")) {
        eprintln!("Error: there is no image -");
        std::process::exit(1);
    }
    let of = |matches: &ArgMatches, name| matches.get_one::<String>(name).cloned();
    Run {
        thread: exec
            .subcommand()
            .filter(|(name, _)| *name != "review")
            .and_then(|(_, of_it)| of(of_it, "thread")),
        answer_file: of(exec, "output-last-message").map(PathBuf::from),
    }
}
