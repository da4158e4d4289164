//! Which file's code is at which address of a server.
//!
//! In: `/proc/PID/maps` while its processes live. Out: [`Mapping`]s. The processes of PostgreSQL are forked and share
//! the addresses of the first, so one list serves a server.

use std::path::PathBuf;

/// Code that is mapped.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mapping {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Where in the file it begins.
    pub(crate) offset: u64,
    pub(crate) file: PathBuf,
}

/// The code of a process; nothing of one that is gone.
pub(crate) fn of_process(pid: u32) -> Vec<Mapping> {
    std::fs::read_to_string(format!("/proc/{pid}/maps")).map_or_else(|_| Vec::new(), |text| parse(&text))
}

fn parse(text: &str) -> Vec<Mapping> {
    text.lines().filter_map(mapping).collect()
}

/// `559f1c400000-559f1cb00000 r-xp 000d8000 fe:00 131 /opt/pg/bin/postgres`
fn mapping(line: &str) -> Option<Mapping> {
    let mut words = line.splitn(6, ' ');
    let (start, end) = words.next()?.split_once('-')?;
    let is_code = words.next()?.contains('x');
    let hex = |digits: &str| u64::from_str_radix(digits, 16).ok();
    let offset = hex(words.next()?)?;
    let file = words.nth(2)?.trim_start();
    let is_file = file.starts_with('/');
    (is_code && is_file).then_some(Mapping { start: hex(start)?, end: hex(end)?, offset, file: PathBuf::from(file) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_of_files_is_listed() {
        let text = "\
559f1c326000-559f1c400000 r--p 00000000 fe:00 131                        /opt/pg 1/bin/postgres
559f1c400000-559f1cb00000 r-xp 000da000 fe:00 131                        /opt/pg 1/bin/postgres
7ffd5a3f9000-7ffd5a41a000 rw-p 00000000 00:00 0                          [stack]
7ffd5a5e2000-7ffd5a5e4000 r-xp 00000000 00:00 0                          [vdso]
7f2a11111000-7f2a11112000 r-xp 00000000 00:00 0
";
        let expected = Mapping {
            start: 0x559f_1c40_0000,
            end: 0x559f_1cb0_0000,
            offset: 0xda000,
            file: "/opt/pg 1/bin/postgres".into(),
        };
        assert_eq!(parse(text), [expected]);
    }

    #[test]
    fn our_own_code_is_in_a_file_that_is_there() {
        let own = of_process(std::process::id());
        let program = std::env::current_exe().unwrap();
        assert!(own.iter().any(|mapping| mapping.file == program), "{own:?}");
    }
}
