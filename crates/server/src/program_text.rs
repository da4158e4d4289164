//! In what pages of memory the text of a server lies.
//!
//! In: a process, and the folder of its build. Out: how much of what it runs from that folder is in memory, and how
//! much of that the kernel mapped as huge pages. It must not change anything.

use rqps_machine::proctree::ProcessId;
use rqps_model::sample::ProgramText;
use std::fs;
use std::path::Path;

/// What the kernel tells of a process; `None` where it does not, or nothing of the folder is mapped.
pub(crate) fn read(process: ProcessId, folder: &Path) -> Option<ProgramText> {
    let text = fs::read_to_string(format!("/proc/{}/smaps", process.pid)).ok()?;
    parse(&text, folder)
}

/// Sums up what may be executed of files below a folder.
fn parse(text: &str, folder: &Path) -> Option<ProgramText> {
    let (mut found, mut is_text) = (ProgramText::default(), false);
    for line in text.lines() {
        let (name, rest) = line.split_once(char::is_whitespace)?;
        match name.strip_suffix(':') {
            None => {
                // As `7f00-7f80 r-xp 00000000 00:1b 123    /folder/bin/postgres`.
                let (mode, path) = (rest.split(' ').next().unwrap_or_default(), rest.find('/').map(|at| &rest[at..]));
                is_text = mode.contains('x') && path.is_some_and(|path| Path::new(path).starts_with(folder));
            }
            Some(field) if is_text => {
                let bytes = || rest.trim().strip_suffix(" kB").and_then(|kb| kb.parse::<u64>().ok()).map(|kb| kb << 10);
                match field {
                    "Rss" => found.bytes += bytes()?,
                    "FilePmdMapped" | "ShmemPmdMapped" => found.huge_bytes += bytes()?,
                    _ => {}
                }
            }
            Some(_) => {}
        }
    }
    (found.bytes > 0).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "\
55a0-55b0 r--p 00000000 00:1b 7                  /run/x/bin/postgres
Rss:                 900 kB
ShmemPmdMapped:      900 kB
55c0-55d0 r-xp 00000000 00:1b 7                  /run/x/bin/postgres
Size:               9000 kB
Rss:                4096 kB
FilePmdMapped:         0 kB
ShmemPmdMapped:     2048 kB
VmFlags: rd ex mr mw me
55e0-55f0 r-xp 00000000 00:1b 8                  /run/x/lib/a b.so
Rss:                  64 kB
FilePmdMapped:        32 kB
7f00-7f10 r-xp 00000000 00:1b 9                  /lib/libc.so.6
Rss:                 500 kB
7f20-7f30 rw-s 00000000 00:01 1024               /dev/zero (deleted)
Rss:               80000 kB
7fff-8000 r-xp 00000000 00:00 0                  [vdso]
Rss:                   4 kB
";

    #[test]
    fn text_of_the_folder_is_summed_up() {
        let kb = |kb: u64| kb << 10;
        let found = parse(SMAPS, Path::new("/run/x"));
        assert_eq!(found, Some(ProgramText { bytes: kb(4160), huge_bytes: kb(2080) }));
        assert_eq!(found.map(ProgramText::huge_share), Some(0.5));
        assert_eq!(parse(SMAPS, Path::new("/run/y")), None);
        assert_eq!(parse("", Path::new("/run/x")), None);
    }
}
