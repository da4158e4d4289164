//! What the kernel shows of a process in one line: `/proc/PID/stat`, taken apart without allocating.
//!
//! In: bytes as a kernel wrote them. Out: numbers. Nothing here can panic on a strange text.

/// A decimal number.
pub fn number(word: &[u8]) -> Option<u64> {
    if word.is_empty() {
        return None;
    }
    word.iter().try_fold(0u64, |value, &digit| {
        let digit = u64::from(digit.checked_sub(b'0').filter(|d| *d < 10)?);
        value.checked_mul(10)?.checked_add(digit)
    })
}

/// What is needed of `/proc/PID/stat`, or of `/proc/PID/task/TID/stat`; times in clock ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PidStat {
    /// The letter of proc(5).
    pub state: u8,
    /// The pid of the parent.
    pub parent: u32,
    /// The process group, by the pid of who leads or led it.
    pub group: u32,
    /// Faults that needed no disk.
    pub minor_faults: u64,
    /// Those of children that were waited for.
    pub children_minor_faults: u64,
    /// Faults that needed the disk.
    pub major_faults: u64,
    /// Those of children that were waited for.
    pub children_major_faults: u64,
    /// CPU time in the program.
    pub user: u64,
    /// CPU time in the kernel.
    pub system: u64,
    /// That of children that were waited for.
    pub children_user: u64,
    /// That of children that were waited for.
    pub children_system: u64,
    /// Threads that have not ended.
    pub threads: u64,
    /// When it started, since boot.
    pub start: u64,
}

impl PidStat {
    /// Whether it has ended, waited for or not. One whose main thread alone has ended lives: a server that was killed
    /// may have threads in the middle of a write, and holds its files until they are through.
    pub fn has_ended(&self) -> bool {
        self.state == b'X' || (self.state == b'Z' && self.threads <= 1)
    }

    /// Takes the line; the name in brackets may itself hold blanks and brackets.
    pub fn parse(stat: &[u8]) -> Option<PidStat> {
        let after_name = stat.iter().rposition(|&b| b == b')')? + 1;
        let mut fields = stat[after_name..].split(|b| b.is_ascii_whitespace()).filter(|word| !word.is_empty());
        // Fields are counted as proc(5) does: the state after the name is number 3.
        let state = *fields.next()?.first()?;
        let mut at = 3;
        let mut field = |wanted: usize| -> Option<u64> {
            let word = fields.nth(wanted - at - 1)?;
            at = wanted;
            // `tpgid` and the like may be negative; the fields wanted here never are.
            Some(number(word).unwrap_or(0))
        };
        Some(PidStat {
            state,
            parent: field(4)? as u32,
            group: field(5)? as u32,
            minor_faults: field(10)?,
            children_minor_faults: field(11)?,
            major_faults: field(12)?,
            children_major_faults: field(13)?,
            user: field(14)?,
            system: field(15)?,
            children_user: field(16)?,
            children_system: field(17)?,
            threads: field(20)?,
            start: field(22)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_stat_with_an_evil_name() {
        let line =
            b"4567 (post) 1 (gres) S 12 4567 4567 0 -1 4194560 1001 2002 3 4 55 66 77 88 20 0 9 0 123456 225 1024 184\n";
        let stat = PidStat::parse(line).expect("the line");
        let expected = PidStat {
            state: b'S',
            parent: 12,
            group: 4567,
            minor_faults: 1001,
            children_minor_faults: 2002,
            major_faults: 3,
            children_major_faults: 4,
            user: 55,
            system: 66,
            children_user: 77,
            children_system: 88,
            threads: 9,
            start: 123_456,
        };
        assert_eq!(stat, expected);
        for cut in 0..line.len() - 14 {
            // Any part of a line gives an answer or none, never a panic.
            PidStat::parse(&line[..cut]);
        }
        assert_eq!(PidStat::parse(b"4567 (postgres) S 12"), None);
    }

    #[test]
    fn numbers_that_do_not_fit_are_none() {
        assert_eq!(number(b"18446744073709551615"), Some(u64::MAX));
        for wrong in [&b"18446744073709551616"[..], b"-1", b"1a", b""] {
            assert_eq!(number(wrong), None, "{wrong:?}");
        }
    }
}
