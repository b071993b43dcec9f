//! A launch that has passed every check, and the start of Codex.

use crate::NAME;
use crate::finish::not_started::NotStarted;
use crate::finish::temp_folder::{LAST_MESSAGE, PrivateFolder};
use crate::guardian::Phase;
use crate::launcher::{Launcher, cannot_launch};
use crate::prepare;
use crate::prepare::Prepared;
use crate::prepare::args::Config;
use crate::prepare::check::Refusal;
use crate::prepare::command::{self, Known};
use crate::prepare::resume::Wanted;
use crate::run::outputs;
use crate::run::outputs::Opened;
use crate::run::pipes::Pipes;
use crate::run::progress_file::ProgressFile;
use crate::run::session::Session;
use crate::run::started::Started;
use crate::run::stderr_sink::StderrSink;
use crate::run::stream::{Stream, Wiring};
use crate::run::supervise::{Child, Pulse, Spec};
use common::face::say;

/// A launch that has passed every check.
#[derive(Debug)]
pub struct Ready<'a> {
    /// What every step uses.
    pub launcher: &'a Launcher<'a>,
    /// What was asked for.
    pub config: Config,
    /// What the checks have found.
    pub prepared: Prepared,
    /// The private folder.
    pub folder: PrivateFolder<'a>,
    /// The threads for Codex's pipes.
    pub pipes: Pipes,
    /// The outputs.
    pub opened: Opened,
}

impl<'a> Ready<'a> {
    /// Does everything that comes before Codex is started. When the launch is refused, the processes that the checks have
    /// started and left are killed.
    pub fn prepare(launcher: &'a Launcher<'a>, config: Config) -> Result<Ready<'a>, Refusal> {
        Ready::check(launcher, config).inspect_err(|_| _ = launcher.tree.kill_descendants())
    }

    fn check(launcher: &'a Launcher<'a>, config: Config) -> Result<Ready<'a>, Refusal> {
        let folder = launcher.temp_files.make_folder()?;
        let path = launcher.temp_files.folder();
        let (config, prepared) = prepare::prepare(config, &path, &launcher.notices)?;
        let pipes = Pipes::spawn().map_err(|error| cannot_launch("threads", &error))?;
        launcher.guardian.part();
        launcher.guardian.phase(Phase::Opening);
        let opened = outputs::open(&launcher.temp_files.outputs, config.force, &launcher.notices)?;
        launcher.guardian.opened(opened.progress.as_ref().map(ProgressFile::output));
        Ok(Ready { launcher, config, prepared, folder, pipes, opened })
    }

    /// Starts Codex, and connects its pipes. Nothing else of this step can fail.
    pub fn start(self) -> Result<Started<'a>, Box<NotStarted<'a>>> {
        self.say_limits();
        let pulse = Pulse::new(self.launcher.notify.clone());
        let spec = self.spec();
        let Ready { launcher, config, prepared, folder, pipes, opened } = self;
        let Opened { stderr_sink, writer, progress } = opened;
        let stream = stream(launcher, &prepared, progress, &stderr_sink, &pulse);
        let child = match Child::start(&spec) {
            Ok(child) => child,
            Err(error) => {
                launcher.tree.kill_descendants();
                return Err(Box::new(NotStarted { launcher, error, heard: stream.end() }));
            }
        };
        launcher.guardian.started(child.pid);
        let connected = pipes.connect(child.pipes, prepared.prompt, stream, stderr_sink.clone());
        Ok(Started {
            launcher,
            config,
            folder,
            pid: child.pid,
            started: child.started,
            pulse,
            connected,
            stderr_sink,
            writer,
        })
    }

    /// Says what this run cannot do as usual.
    fn say_limits(&self) {
        if let Some(why) = self.launcher.tree.why_group_alone() {
            say::line(NAME, &format!("processes: only the process group of codex can be ended: {why}"));
        }
        let outputs = &self.launcher.temp_files.outputs;
        let in_reach = outputs.in_reach(&self.config, &self.prepared.directory);
        outputs.unlocked.iter().chain(&in_reach).for_each(|line| say::line(NAME, line));
    }

    /// The command line of Codex.
    fn spec(&self) -> Spec {
        let known = Known {
            directory: &self.prepared.directory,
            last_message: &self.launcher.temp_files.folder().join(LAST_MESSAGE),
            thread: self.prepared.thread.as_deref(),
            fork: self.prepared.fork.as_deref(),
        };
        Spec {
            program: self.prepared.codex.clone().into(),
            args: command::arguments(&self.config, &known),
            removed_variables: self.config.removed_variables.iter().map(Into::into).collect(),
        }
    }
}

/// The stream of Codex's stdout, to the outputs of this run.
fn stream(
    launcher: &Launcher<'_>,
    prepared: &Prepared,
    progress: Option<ProgressFile>,
    stderr_sink: &StderrSink,
    pulse: &Pulse,
) -> Stream {
    let session = launcher.temp_files.outputs.session.clone();
    Stream::new(Wiring {
        progress,
        stderr_sink: stderr_sink.clone(),
        thread: prepared.thread.clone().map(Wanted::now),
        session: session.map(|path| Session::new(path, launcher.temp_files.names())),
        notices: launcher.notify.clone(),
        pulse: pulse.clone(),
    })
}
