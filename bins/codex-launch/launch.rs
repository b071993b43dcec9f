//! The wiring of one run: prepared, started, supervised, judged, delivered, told.

use crate::NAME;
use crate::finish::answer::{self, Answer, Destination};
use crate::finish::drain_deadline::DrainDeadline;
use crate::finish::ending::{Ending, Facts};
use crate::finish::left;
use crate::finish::output_errors::OutputErrors;
use crate::finish::report::{self, Details};
use crate::finish::temp_files::TempFiles;
use crate::finish::temp_folder::Made;
use crate::guardian::pair::{Phase, RunnerEnd, StatusWriter};
use crate::prepare::args::{Config, Decide};
use crate::prepare::check::{self, Refusal, refuse};
use crate::prepare::command::{self, Known};
use crate::prepare::probe;
use crate::prepare::resume::Wanted;
use crate::prepare::{self, Prepared};
use crate::run::outputs::{self, Opened};
use crate::run::pipes::Pipes;
use crate::run::session::Session;
use crate::run::stderr_sink::{Closing, Writer};
use crate::run::stream::{Stream, Wiring};
use crate::run::supervise::{self, Child, Cut, Exit, Leftovers, Limits, Over, Pulse, Spec, Tree};
use common::edge::output::Output;
use common::edge::paths;
use common::edge::signals::Notice;
use common::face::exit::Status;
use common::face::say::{self, why};
use common::face::terminal::Target;
use common::flow::record;
use crossbeam_channel::{Receiver, unbounded};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// What came of a run.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub ending: Ending,
    /// Its answer.
    pub answer: Answer,
    /// The time since Codex started.
    pub elapsed: Duration,
}

/// Runs Codex as `config` says, and tells how it went.
pub fn run(config: Config, temp_files: &TempFiles, link: RunnerEnd) -> Result<Status, Refusal> {
    Ok(supervised(config, To::Outputs, temp_files, link)?.ending.status())
}

/// Whom the answer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To {
    /// The result file, or stdout where none was asked for.
    Outputs,
    /// The caller of [`supervised`], who has it in the outcome.
    Caller,
}

impl To {
    fn destination(self, temp_files: &TempFiles) -> Destination {
        match (self, &temp_files.outputs.result) {
            (To::Caller, _) => Destination::Caller,
            (To::Outputs, Some(path)) => Destination::File(path.clone(), temp_files.names()),
            (To::Outputs, None) => Destination::Stdout,
        }
    }
}

/// Prints what would be run.
pub fn dry_run(mut config: Config, temp_files: &TempFiles, link: RunnerEnd) -> Result<Status, Refusal> {
    let (notify, notices) = unbounded();
    let _guardian = link.listen(notify).map_err(|error| cannot_launch("signals", &error))?;
    let tree = Tree::new();
    let _folder = temp_files.make_folder()?;
    let checked = config.clone();
    let directory = prepare::bounded("--cd", &notices, move || check::existing_directory(&checked))??;
    config.extra.images = check::images(&config.extra.images)?;
    let (thread, fork) = prepare::threads(&config, &notices)?;
    let heeded = prepare::heed_options(&mut config, &temp_files.folder(), &notices);
    // Whoever a question has started and left.
    tree.kill_descendants();
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

/// Runs Codex as `config` says, delivers the answer, and tells on stderr how it went.
pub fn supervised(
    config: Config,
    to: To,
    temp_files: &TempFiles,
    link: RunnerEnd,
) -> Result<Outcome, Refusal> {
    let (notify, notices) = unbounded();
    let guardian = link.listen(notify.clone()).map_err(|error| cannot_launch("signals", &error))?;
    let tree = Tree::new();
    let ready = ready(config, temp_files, &notices, &guardian);
    // Whoever a question to Codex has started and left does not outlive a launch that is refused, however late.
    let Ready { config, prepared, folder, pipes, opened } =
        ready.inspect_err(|_| _ = tree.kill_descendants())?;
    let Opened { stderr_sink, writer, progress } = opened;
    if let Some(why) = tree.why_group_alone() {
        say::line(NAME, &format!("processes: only the process group of codex can be ended: {why}"));
    }
    let destination = to.destination(temp_files);
    let last_message = temp_files.folder().join("last-message");
    let limit = config.limit();
    let in_reach = temp_files.outputs.in_reach(&config, &prepared.directory);
    temp_files.outputs.unlocked.iter().chain(&in_reach).for_each(|line| say::line(NAME, line));
    let pulse = Pulse::new(notify.clone());
    let mut stream = Stream::new(Wiring {
        progress,
        stderr_sink: stderr_sink.clone(),
        thread: prepared.thread.clone().map(Wanted::now),
        session: temp_files.outputs.session.clone().map(|path| Session::new(path, temp_files.names())),
        notices: notify.clone(),
        pulse: pulse.clone(),
    });
    let child = match Child::start(&spec(&config, &prepared, &last_message)) {
        Ok(child) => child,
        Err(error) => {
            tree.kill_descendants();
            return Ok(not_started(&mut stream, &error, &guardian));
        }
    };
    guardian.started(child.pid);
    let started = child.started;
    let limits = Limits {
        time: limit,
        grace: config.kill_grace / 2,
        linger: config.linger,
        leftovers: config.leftovers,
        status_counts: config.decide == Decide::Status,
    };
    let pipes = pipes.connect(child.pipes, prepared.prompt, stream, stderr_sink.clone());
    let mut over = supervise::run(&tree, child.pid, started, limits, Some(&pulse), &notices);
    let left = left::lines(&tree, over.ended.left);
    guardian.phase(Phase::Over);
    if over.ended.cut.is_some() || !matches!(over.ended.exit, Some(Exit::Code(_))) {
        temp_files.mount_points.remove_empty();
    }
    let closing = writer.map(Writer::run_is_over);
    let drain_deadline = DrainDeadline::new(&notices, over.ended.cut, config.kill_grace, started + limit);
    let stream = pipes.finish(&drain_deadline).map_err(|status| {
        // Whatever it is: the run did not complete.
        let _ = temp_files.outputs.remove_result();
        let cut = over.ended.cut.filter(|cut| *cut != Cut::Lingered);
        let ending = cut.map(|cut| Ending::cut(cut, limit));
        unread(status, &ending.unwrap_or_else(|| Ending::unread(status)), started)
    })?;
    // A Codex that ends at once can be gone before it is told to end.
    over.ended.cut = over.ended.cut.or(stream.is_wrong_thread.then_some(Cut::Halted));
    let (shown, stderr) = stderr_sink.ends();
    drop(stderr_sink);
    let answer = Answer::of(&last_message, &stream.verdict, config.extra.output_schema.is_some());
    let facts = Facts {
        ended: over.ended,
        verdict: &stream.verdict,
        answer: &answer,
        stderr: &stderr,
        decide: config.decide,
        limit,
    };
    let ending = Ending::of(&facts);
    if let Some(line) = temp_files.remove_folder() {
        say::line(NAME, &line);
    }
    drop(folder);
    let leftovers = config.leftovers;
    End { ending, answer, stream, closing, shown, over, leftovers, left, guardian, temp_files }.deliver(
        &destination,
        started,
        &drain_deadline,
    )
}

/// A run that is over, and of which nothing has been delivered yet.
struct End<'a> {
    ending: Ending,
    answer: Answer,
    stream: Stream,
    /// What is left to do for the stderr file.
    closing: Option<Closing>,
    /// The end of stderr, noise included.
    shown: String,
    over: Over,
    /// What became of what it left.
    leftovers: Leftovers,
    /// What is known to be alive, or may be.
    left: Vec<String>,
    guardian: StatusWriter,
    temp_files: &'a TempFiles,
}

impl End<'_> {
    /// Puts the answer in place, then writes the sentinel, then tells.
    fn deliver(
        self,
        destination: &Destination,
        started: Instant,
        drain_deadline: &DrainDeadline<'_>,
    ) -> Result<Outcome, Refusal> {
        let End {
            mut ending,
            answer,
            mut stream,
            closing,
            shown,
            over,
            leftovers,
            left,
            guardian,
            temp_files,
        } = self;
        let mut output_errors = OutputErrors::new();
        output_errors.note("progress file", stream.progress_error.take());
        output_errors.note("session file", stream.session().and_then(Session::finish));
        // The stream has one way to the stderr file, which ends with this.
        stream.close_stderr_sink();
        output_errors.note("stderr file", closing.and_then(Closing::finish));
        let mut is_delivered = false;
        if let (Ending::Completed { .. }, Answer::Text(text)) = (&ending, &answer) {
            let (text, destination) = (text.clone(), destination.clone());
            match drain_deadline.wait(move || answer::deliver(&text, &destination)) {
                Ok(delivered) => {
                    is_delivered = delivered.is_ok();
                    output_errors.note("answer", delivered.err());
                }
                Err(Status::IO) => {
                    output_errors.note("answer", Some(io::Error::other("its reader takes nothing")))
                }
                Err(status) => ending = Ending::given_up(status),
            }
        }
        if !is_delivered {
            output_errors.note("result file", temp_files.outputs.remove_result().err());
        }
        drain_deadline.renew();
        let is_in_place =
            stream.settle(&temp_files.names()).is_none_or(|settled| output_errors.settled(settled));
        let ending = ending.unless_lost(&output_errors);
        let seal =
            Seal { is_in_place, ..Seal::of(&ending, started.elapsed(), stream.verdict.output_tokens()) };
        guardian.phase(Phase::Sealing);
        let work = move || {
            let error = seal.put_on(&mut stream);
            (stream, error)
        };
        let (stream, error) = drain_deadline.wait(work).map_err(|status| match &ending {
            Ending::Completed { .. } => unread(status, &Ending::unread(status), started),
            failed => unread(status, failed, started),
        })?;
        output_errors.note("progress file", error);
        let ending = ending.unless_lost(&output_errors);
        guardian.sealed(ending.status().code());
        let elapsed = started.elapsed();
        let details = Details {
            verdict: &stream.verdict,
            stderr: &shown,
            noise: stream.noise,
            output_errors: &output_errors,
            over: Some((&over, leftovers)),
            left: &left,
            elapsed,
        };
        report::tell(&ending, &details);
        Ok(Outcome { ending, answer, elapsed })
    }
}

/// The last line of the progress file, and the one that takes its place where events are lost for it.
struct Seal {
    line: String,
    if_lost: String,
    /// Whether a reader finds the progress file under its name.
    is_in_place: bool,
}

impl Seal {
    fn of(ending: &Ending, elapsed: Duration, output_tokens: Option<u64>) -> Seal {
        let seconds = elapsed.as_secs();
        Seal {
            line: ending.sentinel(seconds, output_tokens).line(),
            if_lost: ending.sentinel_if_lost(seconds, output_tokens).line(),
            is_in_place: true,
        }
    }

    /// Writes it, or tells it where it cannot be written; the failure.
    fn put_on(&self, stream: &mut Stream) -> Option<io::Error> {
        let (sealed, error) = stream.seal(&self.line, &self.if_lost);
        if !(sealed && self.is_in_place) {
            report::unsealed(&self.if_lost);
        }
        error
    }
}

/// The end of a run whose progress file is a pipe that nobody reads: what was left for it is output_errors, and the sentinel is
/// told here.
fn unread(status: Status, ending: &Ending, started: Instant) -> Refusal {
    report::failure(ending);
    let elapsed = started.elapsed();
    report::unsealed(&ending.sentinel(elapsed.as_secs(), None).line());
    report::elapsed(elapsed);
    Refusal::Said(status)
}

fn cannot_launch(what: &str, error: &io::Error) -> Refusal {
    refuse(Status::LAUNCHER, what, why(error))
}

/// A launch that nothing stands against any more.
struct Ready<'a> {
    config: Config,
    prepared: Prepared,
    folder: Made<'a>,
    pipes: Pipes,
    opened: Opened,
}

/// Does all that comes before Codex is started.
fn ready<'a>(
    config: Config,
    temp_files: &'a TempFiles,
    notices: &Receiver<Notice>,
    guardian: &StatusWriter,
) -> Result<Ready<'a>, Refusal> {
    let folder = temp_files.make_folder()?;
    let (config, prepared) = prepare::prepare(config, &temp_files.folder(), notices)?;
    let pipes = Pipes::spawn().map_err(|error| cannot_launch("threads", &error))?;
    guardian.part();
    guardian.phase(Phase::Opening);
    let opened = outputs::open(&temp_files.outputs, config.force, notices)?;
    guardian.opened(opened.progress.as_ref());
    Ok(Ready { config, prepared, folder, pipes, opened })
}

fn spec(config: &Config, prepared: &Prepared, last_message: &Path) -> Spec {
    let known = Known {
        directory: &prepared.directory,
        last_message,
        thread: prepared.thread.as_deref(),
        fork: prepared.fork.as_deref(),
    };
    Spec {
        program: prepared.codex.clone().into(),
        args: command::arguments(config, &known),
        removed_variables: config.removed_variables.iter().map(Into::into).collect(),
    }
}

/// The end of a run whose program could not be started.
fn not_started(stream: &mut Stream, error: &io::Error, guardian: &StatusWriter) -> Outcome {
    let ending = Ending::not_started(&why(error));
    guardian.phase(Phase::Sealing);
    let error = Seal::of(&ending, Duration::ZERO, None).put_on(stream);
    guardian.sealed(ending.status().code());
    let mut output_errors = OutputErrors::new();
    output_errors.note("progress file", error);
    let elapsed = Duration::ZERO;
    let details = Details {
        verdict: &stream.verdict,
        stderr: "",
        noise: 0,
        output_errors: &output_errors,
        over: None,
        left: &[],
        elapsed,
    };
    report::tell(&ending, &details);
    Outcome { ending, answer: Answer::Nothing, elapsed }
}
