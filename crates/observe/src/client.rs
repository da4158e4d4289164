//! What this process, the client, did: cheap enough to be read at every slice boundary.
//!
//! In: this process's CPU clock and its files in `/proc/self`, opened once. Out: `ProcessReading`s, of all its threads
//! whenever they run. Allocates nothing after `open`.

use crate::error::ObserveError;
use crate::probe::{Probe, Subject};
use crate::process::{ProcessReading, io_bytes, memory_bytes};
use crate::proctext::ProcFile;
use crate::tally;
use rqps_machine::proc_stat::PidStat;
use rqps_model::sample::ProcessUse;
use rqps_model::{Part, Sample};
use rustix::time::{ClockId, clock_gettime};
use std::path::PathBuf;

/// Open files of this process.
#[derive(Debug)]
pub struct ClientMeter {
    stat: ProcFile,
    io: Option<ProcFile>,
    user_ticks_at_open: u64,
    system_ticks_at_open: u64,
    last: ProcessReading,
}

impl ClientMeter {
    /// Opens the files of this process.
    pub fn open() -> Result<ClientMeter, ObserveError> {
        let path = PathBuf::from("/proc/self/stat");
        let unreadable = |source| ObserveError::Unreadable { path: path.clone(), source };
        let mut stat = ProcFile::open(&path).map_err(unreadable)?;
        let at_open = PidStat::parse(stat.read_once().map_err(unreadable)?)
            .ok_or(ObserveError::Strange { path: path.clone(), expected: "the 22 fields of proc(5) or more" })?;
        let mut meter = ClientMeter {
            stat,
            io: ProcFile::open("/proc/self/io").ok(),
            user_ticks_at_open: at_open.user,
            system_ticks_at_open: at_open.system,
            last: ProcessReading { processes: 1, ..ProcessReading::default() },
        };
        meter.read();
        Ok(meter)
    }

    /// Totals now; a file that fails keeps its last figures.
    pub fn read(&mut self) -> ProcessReading {
        let mut now = self.last;
        let clock = clock_gettime(ClockId::ProcessCPUTime);
        now.cpu_ns = clock.tv_sec as u64 * 1_000_000_000 + clock.tv_nsec as u64;
        if let Some(stat) = self.stat.read_once().ok().and_then(PidStat::parse) {
            // From the opening on, so that a proportion over all seen is one over the test and not over the load.
            now.user_ticks = stat.user.saturating_sub(self.user_ticks_at_open);
            now.system_ticks = stat.system.saturating_sub(self.system_ticks_at_open);
            now.minor_faults = stat.minor_faults;
            now.major_faults = stat.major_faults;
        }
        if let Some(Ok(text)) = self.io.as_mut().map(ProcFile::read_once) {
            (now.read_bytes, now.write_bytes) = io_bytes(text);
        }
        self.last = now;
        now
    }

    /// Like `read`, with memory; for the end of a test.
    pub fn read_full(&mut self) -> ProcessReading {
        ProcessReading { memory_bytes: Some(memory_bytes(std::iter::once(std::process::id()))), ..self.read() }
    }
}

/// What the client did in the slices of one treatment.
#[derive(Debug)]
pub struct ClientProbe {
    meter: ClientMeter,
    entered: Option<ProcessReading>,
    used: ProcessUse,
}

impl ClientProbe {
    /// Opens the files of this process.
    pub fn open() -> Result<ClientProbe, ObserveError> {
        Ok(ClientProbe { meter: ClientMeter::open()?, entered: None, used: ProcessUse::default() })
    }
}

impl Probe for ClientProbe {
    fn enter(&mut self) {
        self.entered = Some(self.meter.read());
    }

    fn leave(&mut self) {
        tally::leave(&mut self.entered, &mut self.used, |entered| self.meter.read().since(entered));
    }

    fn stop(&mut self, _server: &Subject<'_>) {
        self.used.memory_bytes = self.meter.read_full().memory_bytes.unwrap_or(0);
    }

    fn end(&mut self, _server: Option<&Subject<'_>>, sample: &mut Sample) -> Vec<Part> {
        self.leave();
        sample.resources.client = self.used;
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::time::{Duration, Instant};

    #[test]
    fn sees_own_cpu_exactly() {
        let mut meter = ClientMeter::open().expect("a meter");
        let (start, clock) = (meter.read(), clock_gettime(ClockId::ProcessCPUTime));
        let begun = Instant::now();
        let spent = loop {
            let now = clock_gettime(ClockId::ProcessCPUTime);
            let spent = (now.tv_sec - clock.tv_sec) as f64 + (now.tv_nsec - clock.tv_nsec) as f64 / 1e9;
            if spent > 0.3 {
                break spent;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "no CPU to be had");
        };
        let used = meter.read().since(&start);
        let seen = used.cpu_user_s + used.cpu_system_s;
        assert!(seen >= spent, "{used:?}");
        assert!(used.cpu_user_s > 0.0 && used.processes == 1 && used.memory_bytes == 0);
    }

    #[test]
    fn sees_faults_bytes_and_memory() {
        let mut meter = ClientMeter::open().expect("a meter");
        let start = meter.read_full();
        let touched = std::hint::black_box(vec![3u8; 32 << 20]);
        let mut file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).expect("a file");
        file.write_all(&touched[..1 << 20]).expect("written");
        file.sync_all().expect("synced");
        let used = meter.read_full().since(&start);
        assert!(used.minor_faults > 10, "{used:?}");
        assert!(used.memory_bytes > 32 << 20, "{used:?}");
        if meter.io.is_some() && crate::DataDevice::of(std::path::Path::new(env!("CARGO_MANIFEST_DIR"))).stat.is_some()
        {
            assert!(used.write_bytes >= 1 << 20, "{used:?}");
        }
    }
}
