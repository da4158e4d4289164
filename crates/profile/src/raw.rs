//! What the kernel's samples are made of: of clocks, of switches off the CPU, and of system calls.
//!
//! In: records of its rings. Out: [`RawSample`]s in one store of words and bytes, before anything is unwound or named.

use perf_event::data::Sample;
use std::ops::Range;

/// Bytes that are copied of a stack.
pub(crate) const STACK_BYTES: u32 = 16 << 10;

/// Bytes of the ring of a CPU: half a second of samples of the largest size.
pub(crate) const RING_BYTES: usize = 8 << 20;

/// Registers of a sample that say where the stack is: frame pointer, stack pointer, instruction pointer.
#[cfg(target_arch = "x86_64")]
pub(crate) const REGISTERS: u64 = 1 << 6 | 1 << 7 | 1 << 8;
/// Registers of a sample that say where the stack is: frame pointer, link register, stack pointer, program counter.
#[cfg(target_arch = "aarch64")]
pub(crate) const REGISTERS: u64 = 1 << 29 | 1 << 30 | 1 << 31 | 1 << 32;

/// Marks in a call chain where the kernel's frames begin and end; no address is as high.
const CONTEXT_MARKS: u64 = -4096_i64 as u64;

/// Where a server was found working.
#[derive(Debug, Clone)]
pub(crate) struct RawSample {
    pub(crate) time_ns: u64,
    pub(crate) server: usize,
    /// Whether it is of a thread that serves us alone, and no client.
    pub(crate) is_ours: bool,
    /// Frames in the kernel, the innermost first.
    pub(crate) kernel: Range<usize>,
    /// Registers in the order of their numbers; none of a process without user space.
    pub(crate) registers: Range<usize>,
    pub(crate) stack: Range<usize>,
}

/// All samples of a test.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    pub(crate) all: Vec<RawSample>,
    /// Where threads left the CPU.
    pub(crate) off: Vec<Off>,
    /// When the client was found working.
    pub(crate) client_ns: Vec<u64>,
    pub(crate) words: Vec<u64>,
    pub(crate) bytes: Vec<u8>,
    /// Samples that the kernel had no room for.
    pub(crate) lost: u64,
    /// System calls.
    pub(crate) calls: Vec<Called>,
    /// When calls were recorded.
    pub(crate) openings: Vec<Range<u64>>,
    /// Calls that it had no room for.
    pub(crate) lost_calls: u64,
    /// From when on switches were recorded; `None` where there were too many.
    pub(crate) switches_from_ns: Option<u64>,
    /// Records of switches that it had no room for.
    pub(crate) lost_switches: u64,
    /// How often it held sampling back.
    pub(crate) throttled: u64,
}

/// A sampled switch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Switch {
    /// Switches that it stands for.
    pub(crate) weight: u64,
    /// Whether the thread could have gone on.
    pub(crate) is_ready: bool,
}

/// A thread that left the CPU.
#[derive(Debug, Clone)]
pub(crate) struct Off {
    pub(crate) sample: RawSample,
    pub(crate) thread: u32,
    pub(crate) switch: Switch,
    /// When it went on; `u64::MAX` as long as it does not.
    pub(crate) until_ns: u64,
}

impl Off {
    pub(crate) fn new(sample: RawSample, thread: u32, switch: Switch) -> Off {
        Off { sample, thread, switch, until_ns: u64::MAX }
    }
}

/// A recorded call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    /// As the kernel numbers them on this architecture.
    pub(crate) number: i64,
    /// Calls that it stands for.
    pub(crate) weight: u64,
}

/// A call of a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Called {
    pub(crate) time_ns: u64,
    pub(crate) server: usize,
    pub(crate) call: Call,
}

/// What made the kernel take a sample.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// The clock ticked.
    Tick,
    /// A thread left the CPU.
    Switch(Switch),
    /// A thread called the kernel.
    Call(Call),
}

/// A sample that was just read, of any process.
pub(crate) struct Fresh {
    pub(crate) pid: u32,
    pub(crate) thread: u32,
    pub(crate) time_ns: u64,
    pub(crate) kind: Kind,
    pub(crate) kernel: Vec<u64>,
    pub(crate) registers: Vec<u64>,
    pub(crate) stack: Vec<u8>,
}

impl Fresh {
    pub(crate) fn of(sample: &Sample<'_>, kind: Kind) -> Option<Fresh> {
        let chain = sample.callchain().unwrap_or_default().iter().copied();
        Some(Fresh {
            pid: sample.pid()?,
            thread: sample.tid()?,
            time_ns: sample.time()?,
            kind,
            kernel: chain.filter(|frame| *frame < CONTEXT_MARKS).collect(),
            registers: sample.regs_user().map_or_else(Vec::new, |registers| registers.regs.to_vec()),
            stack: sample.stack_user().unwrap_or_default().to_vec(),
        })
    }
}
