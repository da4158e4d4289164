//! The texts of `/proc` and `/sys`: read into a buffer that is kept, and taken apart without allocating.
//!
//! In: a path, or bytes as a kernel wrote them. Out: numbers. A field that a kernel does not have is zero or `None`;
//! nothing here can panic on a strange text.

use rqps_machine::proc_stat::number;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// A file of `/proc` or `/sys` that stays open and is read again from its start each time.
#[derive(Debug)]
pub(crate) struct ProcFile {
    file: File,
    buffer: Vec<u8>,
}

/// Enough for every file read at slice boundaries but `/proc/stat` of large machines, which grows its buffer once.
const BUFFER_BYTES: usize = 4096;

impl ProcFile {
    pub(crate) fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let mut opened = ProcFile { file: File::open(path)?, buffer: vec![0; BUFFER_BYTES] };
        opened.read_once()?;
        Ok(opened)
    }

    /// The content, for files that the kernel hands out whole in one read (`/proc/stat`, `/proc/PID/*`, sysfs).
    pub(crate) fn read_once(&mut self) -> io::Result<&[u8]> {
        loop {
            let length = self.file.read_at(&mut self.buffer, 0)?;
            if length < self.buffer.len() {
                return Ok(&self.buffer[..length]);
            }
            // A full buffer may hide the rest. This happens in `open`, or when a CPU is added to the machine.
            self.buffer.resize(length * 2, 0);
        }
    }

    /// The content, for files that the kernel hands out in portions (`/proc/vmstat`).
    pub(crate) fn read_whole(&mut self) -> io::Result<&[u8]> {
        let mut length = 0;
        loop {
            if length == self.buffer.len() {
                self.buffer.resize(length * 2, 0);
            }
            match self.file.read_at(&mut self.buffer[length..], length as u64)? {
                0 => return Ok(&self.buffer[..length]),
                more => length += more,
            }
        }
    }
}

/// The numbers of a line, words that are not numbers left out.
pub(crate) fn numbers(line: &[u8]) -> impl Iterator<Item = u64> + '_ {
    line.split(|b| b.is_ascii_whitespace()).filter_map(number)
}

/// The first number of the line that starts with `name` followed by blank or colon.
pub(crate) fn value_of(text: &[u8], name: &str) -> Option<u64> {
    text.split(|&b| b == b'\n').find_map(|line| {
        let rest = line.strip_prefix(name.as_bytes())?;
        matches!(rest.first(), Some(b' ' | b'\t' | b':')).then(|| numbers(rest).next())?
    })
}

/// The first line of `/proc/stat`, in clock ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CpuTicks {
    pub(crate) user: u64,
    pub(crate) nice: u64,
    pub(crate) system: u64,
    pub(crate) idle: u64,
    pub(crate) iowait: u64,
    pub(crate) irq: u64,
    pub(crate) softirq: u64,
    pub(crate) steal: u64,
}

impl CpuTicks {
    /// Takes the line that sums all CPUs; guest time is part of user time there and not counted again.
    pub(crate) fn parse(stat: &[u8]) -> Option<CpuTicks> {
        let line = stat.split(|&b| b == b'\n').next()?.strip_prefix(b"cpu ")?;
        let mut fields = numbers(line);
        let (user, nice, system, idle) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        let mut later = || fields.next().unwrap_or(0);
        Some(CpuTicks { user, nice, system, idle, iowait: later(), irq: later(), softirq: later(), steal: later() })
    }
}

/// How many `cpuN` lines `/proc/stat` has.
pub(crate) fn count_cpus(stat: &[u8]) -> u32 {
    let is_cpu =
        |line: &&[u8]| line.strip_prefix(b"cpu").is_some_and(|rest| rest.first().is_some_and(u8::is_ascii_digit));
    stat.split(|&b| b == b'\n').filter(is_cpu).count() as u32
}

/// The total of context switches, looked for from the end: the interrupt line before it is long on large machines.
pub(crate) fn context_switches(stat: &[u8]) -> Option<u64> {
    stat.rsplit(|&b| b == b'\n').find_map(|line| numbers(line.strip_prefix(b"ctxt ")?).next())
}

/// The `stat` file of a block device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct BlockCounters {
    pub(crate) reads: Requests,
    pub(crate) read_bytes: u64,
    pub(crate) writes: Requests,
    pub(crate) write_bytes: u64,
    /// `None` before Linux 5.5, which wrote 11 or 15 fields.
    pub(crate) flushes: Option<Requests>,
}

/// Requests of one kind that the device completed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Requests {
    pub(crate) count: u64,
    /// How long each took from its queueing to its end, added up.
    pub(crate) wait_ms: u64,
}

impl Requests {
    /// How many there were since an earlier reading, and the seconds that they took together.
    pub(crate) fn since(self, earlier: Requests) -> (u64, f64) {
        let wait_ms = self.wait_ms.saturating_sub(earlier.wait_ms);
        (self.count.saturating_sub(earlier.count), wait_ms as f64 / 1e3)
    }
}

/// Sectors in these files are always of this size, whatever the device says.
const SECTOR_BYTES: u64 = 512;

impl BlockCounters {
    pub(crate) fn parse(stat: &[u8]) -> Option<BlockCounters> {
        let mut fields = [0u64; 17];
        let mut count = 0;
        for (field, value) in fields.iter_mut().zip(numbers(stat)) {
            *field = value;
            count += 1;
        }
        let requests = |count: usize, wait: usize| Requests { count: fields[count], wait_ms: fields[wait] };
        (count >= 11).then(|| BlockCounters {
            reads: requests(0, 3),
            read_bytes: fields[2].saturating_mul(SECTOR_BYTES),
            writes: requests(4, 7),
            write_bytes: fields[6].saturating_mul(SECTOR_BYTES),
            flushes: (count >= 17).then(|| requests(15, 16)),
        })
    }
}

#[cfg(test)]
mod tests;
