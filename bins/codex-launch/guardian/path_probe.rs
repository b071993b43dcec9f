//! Looks every path of a launch up once, in a process that can be left behind.
//!
//! A look-up on a file system whose server does not answer (NFS, FUSE) returns when the server does, and until then not
//! every signal ends the process: one that waits for a FUSE server which has read its request does not even die of KILL.
//! Nor does a process end while a thread of it is held so. So the look-ups that block without end are those of another
//! process, which is killed and not waited for. The launcher itself looks the paths up a moment later: a file system that
//! stops to answer in between holds it until a KILL or an answer.

use crate::NAME;
use crate::files::output_path::{OutputPath, WriteMode};
use crate::finish::temp_files;
use crate::prepare::args::Config;
use crate::prepare::check::{self, Refusal, refuse};
use common::edge::paths;
use common::edge::signals::{Awaited, Notice};
use common::face::exit::Status;
use common::face::say::{self, why};
use common::sys::{descriptor, process};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

/// Most time that all look-ups together may take.
const LIMIT: Duration = Duration::from_secs(60);

/// Least time that they get, however short the run may be: the machine may be busy.
const SHORTEST: Duration = Duration::from_secs(5);

/// Time after which a line says what is waited for.
const SILENCE: Duration = Duration::from_secs(5);

/// One look-up, and the option and path that a message names.
struct LookUp<'a> {
    what: String,
    look: Box<dyn FnOnce() + 'a>,
}

impl<'a> LookUp<'a> {
    fn new(option: &str, path: &Path, look: impl FnOnce() + 'a) -> LookUp<'a> {
        LookUp { what: format!("{option} {}", path.display()), look: Box::new(look) }
    }
}

/// Checks that every path of a launch answers, whatever the answer is. This process has one thread.
///
/// # Errors
/// The refusal of a path that does not answer in time; the cancellation by a signal.
pub(super) fn paths_answer(config: &Config, awaited: &mut Awaited) -> Result<(), Refusal> {
    let look_ups = look_ups(config);
    let names: Vec<String> = look_ups.iter().map(|look_up| look_up.what.clone()).collect();
    let cannot = |error: io::Error| refuse(Status::LAUNCHER, "processes", why(&error));
    let mut probe = Probe::start(look_ups).map_err(cannot)?;
    let limit = config.limit().clamp(SHORTEST, LIMIT);
    let result = wait(&mut probe, &names, limit, awaited);
    if result.is_err() {
        process::kill_child(probe.pid);
    }
    result
}

fn wait(probe: &mut Probe, names: &[String], limit: Duration, awaited: &mut Awaited) -> Result<(), Refusal> {
    let start = Instant::now();
    let mut next = SILENCE.min(limit);
    loop {
        match awaited.wait_until(Some(start + next)) {
            Ok(Some(Notice::User(signal))) => {
                let message = "cancelled before the launch".to_owned();
                return Err(Refusal::Because(Status::signal(signal), message));
            }
            Ok(Some(_)) if process::reap_child(probe.pid) => return Ok(()),
            Ok(Some(_)) => {}
            Ok(None) => {
                let what = names.get(probe.position()).map_or("paths", String::as_str);
                if next == limit {
                    let why = format!("no answer in {}s", limit.as_secs_f64());
                    return Err(refuse(Status::NO_INPUT, what, why));
                }
                say::line(NAME, &format!("waiting for {what}"));
                next = limit;
            }
            Err(error) => return Err(refuse(Status::LAUNCHER, "signals", why(&error))),
        }
        process::continue_child(probe.pid);
    }
}

/// The process that looks the paths up.
struct Probe {
    pid: i32,
    /// One byte comes from it at the beginning of each look-up.
    begun: PipeReader,
    /// How many have come.
    count: usize,
}

impl Probe {
    fn start(look_ups: Vec<LookUp<'_>>) -> io::Result<Probe> {
        let (begun, begin) = io::pipe()?;
        // It is read when there is a question, and a full one does not matter.
        for end in [begun.as_fd(), begin.as_fd()] {
            fcntl(end, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        }
        let launcher = std::process::id().cast_signed();
        let pid = process::fork_for(|| {
            process::set_name(c"path-probe");
            process::end_with_parent(launcher);
            run(look_ups, begin);
        })?;
        Ok(Probe { pid, begun, count: 0 })
    }

    /// The number of the look-up that it is at.
    fn position(&mut self) -> usize {
        let mut bytes = Vec::new();
        // An error says that there is no more for now.
        let _ = self.begun.read_to_end(&mut bytes);
        self.count += bytes.len();
        self.count.saturating_sub(1)
    }
}

/// Does the look-ups, in the process that may be left behind.
fn run(look_ups: Vec<LookUp<'_>>, mut begin: PipeWriter) {
    // Whoever reads to the end of one of the launcher's pipes does not wait for this process.
    let _ = descriptor::close_pipes(&begin);
    for look_up in look_ups {
        let _ = begin.write_all(&[0]);
        (look_up.look)();
    }
}

/// Does what the launcher will do with each path, as far as that makes and changes nothing. What is wrong is reported
/// when it is checked.
fn look_ups(config: &Config) -> Vec<LookUp<'_>> {
    let directory = config.directory.as_deref().unwrap_or(Path::new("."));
    let mut all = Vec::new();
    for (number, stream) in [(0, "stdin"), (1, "stdout"), (2, "stderr")] {
        let look = move || _ = paths::regular_file_behind(number);
        all.push(LookUp { what: stream.to_owned(), look: Box::new(look) });
    }
    for (option, path) in check::inputs(config) {
        all.push(LookUp::new(option, path, || {
            paths::identity(path);
            let _ = paths::can_be_read(path);
        }));
    }
    for (option, path) in check::outputs(&config.outputs) {
        all.push(LookUp::new(option, path, || {
            paths::identity(path);
            if let Ok(output) = OutputPath::resolve(path) {
                let _ = output.can_be_written(WriteMode::Replaced);
            }
        }));
    }
    for (option, folder) in temp_files::writable_folders(config) {
        let look = {
            let folder = folder.clone();
            move || drop(temp_files::mount_points([folder.as_path()]))
        };
        all.push(LookUp::new(option, &folder, look));
    }
    all.push(LookUp::new("--cd", directory, || drop(check::directory(config))));
    all.push(LookUp::new("--codex", Path::new(&config.codex), || drop(check::codex(config))));
    all
}
