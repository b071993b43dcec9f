//! Codex while it runs.

use crate::finish::drain_deadline::DrainDeadline;
use crate::finish::ended::Ended;
use crate::finish::ending::Ending;
use crate::finish::left;
use crate::finish::report;
use crate::finish::temp_folder::PrivateFolder;
use crate::guardian::Phase;
use crate::launcher::Launcher;
use crate::prepare::args::{Config, Decide};
use crate::prepare::check::Refusal;
use crate::run::pipes::Connected;
use crate::run::stderr_sink::{StderrSink, Writer};
use crate::run::supervise::{self, Cut, Exit, Limits, Over, Pulse};
use common::face::exit::Status;
use std::time::Instant;

/// A run whose Codex was started.
#[derive(Debug)]
pub struct Started<'a> {
    /// What every step uses.
    pub launcher: &'a Launcher<'a>,
    /// What was asked for.
    pub config: Config,
    /// The private folder.
    pub folder: PrivateFolder<'a>,
    /// The process number of Codex.
    pub pid: i32,
    /// When Codex was started.
    pub started: Instant,
    /// Whether the turn is completed.
    pub pulse: Pulse,
    /// The threads of Codex's pipes.
    pub connected: Connected,
    /// Where stderr and noise go.
    pub stderr_sink: StderrSink,
    /// The thread of the stderr file.
    pub writer: Option<Writer>,
}

impl<'a> Started<'a> {
    /// Waits until Codex and all its descendants have ended, and ends them when a limit or a signal says so. Then reads
    /// what is left in the pipes.
    ///
    /// # Errors
    /// When the reader of the progress file takes nothing until the drain deadline. The report is on stderr then.
    pub fn supervise(self) -> Result<Ended<'a>, Refusal> {
        let limits = self.limits();
        let Started { launcher, config, folder, pid, started, pulse, connected, stderr_sink, writer } = self;
        let over = supervise::run(&launcher.tree, pid, started, limits, Some(&pulse), &launcher.notices);
        let left = left::lines(&launcher.tree, over.ended.left);
        launcher.guardian.phase(Phase::Over);
        if over.ended.cut.is_some() || !matches!(over.ended.exit, Some(Exit::Code(_))) {
            launcher.temp_files.mount_points.remove_empty();
        }
        let stderr_file = writer.map(Writer::run_is_over);
        let limit = config.limit();
        let cut = over.ended.cut;
        let drain_deadline = DrainDeadline::new(&launcher.notices, cut, config.kill_grace, started + limit);
        let heard = connected.finish(&drain_deadline).map_err(|status| {
            // A run whose events were not read has not completed, whatever they say.
            let _ = launcher.temp_files.outputs.remove_result();
            report::unread(status, &ending_unread(&over, &config, status), started)
        })?;
        Ok(Ended {
            launcher,
            config,
            folder,
            started,
            over,
            left,
            heard,
            stderr_sink,
            stderr_file,
            drain_deadline,
        })
    }

    fn limits(&self) -> Limits {
        Limits {
            time: self.config.limit(),
            grace: self.config.kill_grace / 2,
            linger: self.config.linger,
            leftovers: self.config.leftovers,
            status_counts: self.config.decide == Decide::Status,
        }
    }
}

/// The ending of a run whose events were not read: why it was cut short, if it was.
fn ending_unread(over: &Over, config: &Config, status: Status) -> Ending {
    let cut = over.ended.cut.filter(|cut| *cut != Cut::Lingered);
    cut.map_or_else(|| Ending::unread(status), |cut| Ending::cut(cut, config.limit()))
}
