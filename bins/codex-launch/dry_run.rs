//! `--dry-run`: prints what would be run.

use crate::finish::temp_files::TempFiles;
use crate::guardian::RunnerEnd;
use crate::launcher::Launcher;
use crate::prepare;
use crate::prepare::args::Config;
use crate::prepare::check::{self, Refusal, refuse};
use crate::prepare::command::{self, Known};
use crate::prepare::probe;
use common::edge::output::Output;
use common::edge::paths;
use common::face::exit::Status;
use common::face::say::why;
use common::face::terminal::Target;
use common::flow::record;

/// Prints the record of the command line that a run would start.
pub fn run(mut config: Config, temp_files: &TempFiles, link: RunnerEnd) -> Result<Status, Refusal> {
    let launcher = Launcher::new(temp_files, link)?;
    let notices = &launcher.notices;
    let _folder = temp_files.make_folder()?;
    let checked = config.clone();
    let directory = prepare::bounded("--cd", notices, move || check::existing_directory(&checked))??;
    config.extra.images = check::images(&config.extra.images)?;
    let (thread, fork) = prepare::threads(&config, notices)?;
    let heeded = prepare::heed_options(&mut config, &temp_files.folder(), notices);
    // A question to Codex may have started processes and left them.
    launcher.tree.kill_descendants();
    heeded?;
    let last_message = paths::temp_dir().join("codex-launch-XXXXXX/last-message");
    let known = Known {
        directory: &directory,
        last_message: &last_message,
        thread: thread.as_deref(),
        fork: fork.as_deref(),
    };
    let mut argv = vec![config.codex.to_string_lossy().into_owned()];
    argv.extend(command::arguments(&config, &known).iter().map(|arg| arg.to_string_lossy().into_owned()));
    let record = record::dry_run(&argv, &directory.to_string_lossy(), &probe::variables_to_remove(&config));
    let shown = Target::stdout().records(&record);
    let written = Output::stdout().and_then(|mut stdout| stdout.bytes(shown.as_bytes()));
    written.map_err(|error| refuse(Status::IO, "stdout", why(&error)))?;
    Ok(Status::DONE)
}
