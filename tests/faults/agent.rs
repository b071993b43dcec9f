//! What a command of the agent does that means harm.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::plan::{Fault, GATE, Plan, Tampering};
use crate::harness::wait::{SOON, wait_until};

/// A file of the user, which no run has to do with, and what is in it.
pub(super) const PRECIOUS: &str = "precious";
const CONTENT: &str = "years of work\n";

/// What the agent writes where it forges a sentinel.
const FORGED: &str = "{\"type\":\"handoff.completed\",\"elapsed_seconds\":1}\n";

/// Does the harm of this case, and lets Codex go on.
pub(super) fn harm(plan: &Plan) {
    let precious = plan.scratch.write(PRECIOUS, CONTENT);
    match plan.fault {
        Fault::Tamper(tampering) => {
            let progress = plan.scratch.path("run/p");
            wait_until("there is an event", SOON, || {
                fs::metadata(&progress).is_ok_and(|file| file.len() > 0)
            });
            tamper(tampering, &progress, &precious);
        }
        Fault::Link(output) => plant(&plan.scratch.path(&format!("run/{output}")), &precious),
        _ => {}
    }
    plan.scratch.write(GATE, "");
}

/// Whether the user still has the file as it was, if the case came to making one.
pub(super) fn is_precious_unharmed(plan: &Plan) -> bool {
    let is_made = matches!(plan.fault, Fault::Tamper(_) | Fault::Link(_)) && plan.scratch.has(GATE);
    !is_made || fs::read(plan.scratch.path(PRECIOUS)).is_ok_and(|content| content == CONTENT.as_bytes())
}

fn tamper(tampering: Tampering, progress: &Path, precious: &Path) {
    let append = |text: &str| {
        let file = File::options().append(true).open(progress);
        file.and_then(|mut file| file.write_all(text.as_bytes())).expect("appending");
    };
    match tampering {
        Tampering::Append => append("half a line"),
        Tampering::Forge => append(FORGED),
        Tampering::Truncate => drop(File::create(progress).expect("emptying")),
        Tampering::Move => fs::rename(progress, progress.with_file_name("moved")).expect("moving"),
        Tampering::Remove => fs::remove_file(progress).expect("removing"),
        Tampering::Replace => {
            let other = progress.with_file_name("other");
            fs::write(&other, FORGED).and_then(|()| fs::rename(&other, progress)).expect("replacing");
        }
        Tampering::Link => plant(progress, precious),
    }
}

/// A link in the place of whatever is there.
fn plant(path: &Path, to: &Path) {
    let link = path.with_file_name("link");
    symlink(to, &link).and_then(|()| fs::rename(link, path)).expect("a link");
}
