//! Notices on Linux: inotify(7), on folders.
//!
//! Folders are watched and not files: a file that does not exist yet, is replaced, or is one of ten thousand takes no
//! watch of its own.

use super::{Notice, Notices, Waker, Wanted, Watch};
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify, InotifyEvent, WatchDescriptor};
use nix::sys::statfs::statfs;
use std::collections::HashMap;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

/// File systems that other machines, or a process behind FUSE, change without a notice; the numbers are those of
/// statfs(2) and linux/magic.h. GNU tail keeps such a list for the same reason.
const REMOTE: [u32; 12] = [
    0x6969,      // NFS
    0x517b,      // SMB
    0xff53_4d42, // CIFS
    0xfe53_4d42, // SMB2
    0x6573_5546, // FUSE
    0x0102_1997, // 9P
    0x00c3_6400, // Ceph
    0x5346_414f, // AFS
    0x7375_7245, // Coda
    0x7461_636f, // OCFS2
    0x0116_1970, // GFS2
    0x0bd0_0bd0, // Lustre
];

/// An inotify instance.
#[derive(Debug)]
pub(super) struct Notifier {
    inotify: Inotify,
    /// The kernel's descriptors of the watches.
    watches: HashMap<Watch, WatchDescriptor>,
}

impl Notifier {
    /// A new instance; `None` where the kernel has none, or the limit on instances is reached.
    pub(super) fn new() -> Option<Notifier> {
        let inotify = Inotify::init(InitFlags::IN_CLOEXEC | InitFlags::IN_NONBLOCK).ok()?;
        Some(Notifier { inotify, watches: HashMap::new() })
    }
}

impl Notices for Notifier {
    fn watch(&mut self, folder: &Path, wanted: Wanted) -> Option<Watch> {
        let kind = statfs(folder).ok()?.filesystem_type().0;
        // The type of the number differs from one architecture to the next; its low 32 bits are the magic.
        if REMOTE.contains(&(kind as u32)) {
            return None;
        }
        let names = AddWatchFlags::IN_CREATE | AddWatchFlags::IN_MOVED_TO;
        let wanted = match wanted {
            Wanted::Names => names,
            Wanted::Contents => names | AddWatchFlags::IN_MODIFY,
        };
        let always = AddWatchFlags::IN_DELETE_SELF | AddWatchFlags::IN_MOVE_SELF | AddWatchFlags::IN_ONLYDIR;
        // IN_MASK_ADD (inotify(7)), which nix does not name: a folder that is watched already keeps what it has.
        let add = AddWatchFlags::from_bits_retain(nix::libc::IN_MASK_ADD);
        // Where the limit on watches is reached, this fails too.
        let descriptor = self.inotify.add_watch(folder, wanted | always | add).ok()?;
        let watch = Watch(descriptor.as_raw());
        self.watches.insert(watch, descriptor);
        Some(watch)
    }

    fn forget(&mut self, watch: Watch) {
        if let Some(descriptor) = self.watches.remove(&watch) {
            // It fails for a folder that is gone: the kernel has dropped that watch already.
            let _ = self.inotify.rm_watch(descriptor);
        }
    }

    fn wait(&mut self, most: Duration, wakers: &[Waker]) -> Vec<Notice> {
        if !super::poll(Some(self.inotify.as_fd()), most, wakers) {
            return Vec::new();
        }
        self.inotify.read_events().unwrap_or_default().into_iter().filter_map(notice).collect()
    }
}

fn notice(event: InotifyEvent) -> Option<Notice> {
    let watch = Watch(event.wd.as_raw());
    let gone = AddWatchFlags::IN_DELETE_SELF
        | AddWatchFlags::IN_MOVE_SELF
        | AddWatchFlags::IN_IGNORED
        | AddWatchFlags::IN_UNMOUNT;
    if event.mask.contains(AddWatchFlags::IN_Q_OVERFLOW) {
        Some(Notice::Lost)
    } else if event.mask.intersects(gone) {
        Some(Notice::Gone(watch))
    } else {
        event.name.map(|name| Notice::Of(watch, name))
    }
}
