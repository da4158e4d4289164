//! Where tests put made-up results.

use std::io;
use std::path::Path;
use tempfile::TempDir;

/// The largest made-up campaign takes a fifth of this.
const ROOM: u64 = 1 << 30;

/// A folder that goes when it is dropped: in memory where there is room. What is flushed to a busy disk may take longer
/// than all else that is done with it.
pub fn scratch_folder() -> io::Result<TempDir> {
    let memory = Path::new("/dev/shm");
    let room = rustix::fs::statvfs(memory).map_or(0, |fs| fs.f_bavail * fs.f_frsize);
    if room >= ROOM { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }
}
