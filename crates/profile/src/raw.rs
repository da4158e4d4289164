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
    pub(crate) thread: u32,
    /// Whether it is of a thread that serves us alone, and no client.
    pub(crate) is_ours: bool,
    /// Frames in the kernel, the innermost first.
    pub(crate) kernel: Range<usize>,
    /// Registers in the order of their numbers; none of a process without user space.
    pub(crate) registers: Range<usize>,
    pub(crate) stack: Range<usize>,
}

/// All samples of a test.
#[derive(Debug)]
pub(crate) struct Samples {
    /// Of so many ticks of the clock one is kept, and so it is with switches.
    pub(crate) stride: u64,
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

impl Default for Samples {
    fn default() -> Samples {
        Samples {
            stride: 1,
            all: Vec::new(),
            off: Vec::new(),
            client_ns: Vec::new(),
            words: Vec::new(),
            bytes: Vec::new(),
            lost: 0,
            calls: Vec::new(),
            openings: Vec::new(),
            lost_calls: 0,
            switches_from_ns: None,
            lost_switches: 0,
            throttled: 0,
        }
    }
}

impl Samples {
    /// Keeps every second sample, which stands for twice as much from now on, and the room of those alone.
    pub(crate) fn thin(&mut self) {
        let Samples { stride, all, off, client_ns, words, bytes, .. } = self;
        *stride *= 2;
        every_second(all);
        every_second(off);
        every_second(client_ns);
        off.iter_mut().for_each(|off| off.switch.weight *= 2);
        let (old_words, old_bytes) = (std::mem::take(words), std::mem::take(bytes));
        for sample in all.iter_mut().chain(off.iter_mut().map(|off| &mut off.sample)) {
            for range in [&mut sample.kernel, &mut sample.registers] {
                *range = extend(words, &old_words[range.clone()]);
            }
            sample.stack = extend(bytes, &old_bytes[sample.stack.clone()]);
        }
    }
}

fn every_second<T>(samples: &mut Vec<T>) {
    let mut is_kept = false;
    samples.retain(|_| {
        is_kept = !is_kept;
        is_kept
    });
}

/// Appends to a store; where it stands there.
pub(crate) fn extend<T: Copy>(store: &mut Vec<T>, new: &[T]) -> Range<usize> {
    let start = store.len();
    store.extend_from_slice(new);
    start..store.len()
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
    pub(crate) switch: Switch,
    /// When it went on; `u64::MAX` as long as it does not.
    pub(crate) until_ns: u64,
}

impl Off {
    pub(crate) fn new(sample: RawSample, switch: Switch) -> Off {
        Off { sample, switch, until_ns: u64::MAX }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_second_sample_is_kept_with_its_stack() {
        let mut samples = Samples::default();
        for at in 0..5_u8 {
            let stack = extend(&mut samples.bytes, &vec![at; usize::from(at) + 1]);
            let kernel = extend(&mut samples.words, &[u64::from(at)]);
            let time_ns = u64::from(at);
            let sample = RawSample { time_ns, server: 0, thread: 1, is_ours: false, kernel, registers: 0..0, stack };
            match at {
                4 => samples.off.push(Off::new(sample, Switch { weight: 5, is_ready: false })),
                _ => samples.all.push(sample),
            }
        }
        samples.thin();
        let stacks: Vec<&[u8]> = samples.all.iter().map(|one| &samples.bytes[one.stack.clone()]).collect();
        assert_eq!(stacks, [&[0][..], &[2, 2, 2][..]]);
        let kernel: Vec<u64> = samples.all.iter().map(|one| samples.words[one.kernel.start]).collect();
        assert_eq!((kernel, samples.stride, samples.bytes.len()), (vec![0, 2], 2, 1 + 3 + 5));
        assert_eq!(
            (samples.off[0].switch.weight, &samples.bytes[samples.off[0].sample.stack.clone()]),
            (10, &[4; 5][..])
        );
    }
}
