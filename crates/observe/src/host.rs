//! What the whole machine did: CPU time, context switches, page faults, the data device, and with `read_full` memory.
//!
//! In: `/proc/stat`, `/proc/vmstat`, `/proc/meminfo` and the data device's `stat` files, opened once. Out:
//! `HostReading`, whose differences are the model's `HostUse`. `read` is made for slice boundaries: a few system calls,
//! no allocation, some 50 microseconds, half of them for the faults. CPU times come in clock ticks (10 ms): one slice
//! of 5 ms shows 0 or 1 of them, the sum over a treatment's many slices is right. Judges nothing; what this host
//! does not count is 0.

use crate::device::DataDevice;
use crate::error::ObserveError;
use crate::probe::{Probe, Subject};
use crate::proctext::{BlockCounters, CpuTicks, ProcFile, Requests, context_switches, count_cpus, value_of};
use crate::tally;
use rqps_model::sample::HostUse;
use rqps_model::{Part, Sample};
use std::path::Path;
use std::time::Instant;

/// Totals of the host at one moment.
#[derive(Debug, Clone, Copy)]
pub struct HostReading {
    at: Instant,
    cpus: u32,
    cpu: CpuTicks,
    context_switches: u64,
    device: BlockCounters,
    flushes: Requests,
    /// Page faults and major faults; `None` where the host does not count.
    faults: Option<(u64, u64)>,
    /// Known to `read_full` only.
    memory_available_bytes: Option<u64>,
}

/// Open files of the host.
#[derive(Debug)]
pub struct HostMeter {
    stat: ProcFile,
    vmstat: Option<ProcFile>,
    meminfo: Option<ProcFile>,
    device: Option<ProcFile>,
    disks: Vec<ProcFile>,
    data_device: DataDevice,
    last: HostReading,
}

impl HostMeter {
    /// Opens the files for the host and for the device that holds `data_dir`.
    pub fn open(data_dir: &Path) -> Result<HostMeter, ObserveError> {
        let path = Path::new("/proc/stat");
        let unreadable = |source| ObserveError::Unreadable { path: path.to_owned(), source };
        let mut stat = ProcFile::open(path).map_err(unreadable)?;
        let text = stat.read_once().map_err(unreadable)?;
        let strange =
            || ObserveError::Strange { path: path.to_owned(), expected: "a line `cpu` with four numbers or more" };
        let cpu = CpuTicks::parse(text).ok_or_else(strange)?;
        let cpus = count_cpus(text);

        let data_device = DataDevice::of(data_dir);
        let device = data_device.stat.as_ref().and_then(|path| ProcFile::open(path).ok());
        let disks = data_device.disk_stats.iter().filter_map(|path| ProcFile::open(path).ok()).collect();
        let (vmstat, meminfo) = (ProcFile::open("/proc/vmstat").ok(), ProcFile::open("/proc/meminfo").ok());
        let last = HostReading {
            at: Instant::now(),
            cpus,
            cpu,
            context_switches: 0,
            device: BlockCounters::default(),
            flushes: Requests::default(),
            faults: None,
            memory_available_bytes: None,
        };
        let mut meter = HostMeter { stat, vmstat, meminfo, device, disks, data_device, last };
        meter.read();
        Ok(meter)
    }

    /// The device whose reads and writes are counted.
    pub fn data_device(&self) -> &DataDevice {
        &self.data_device
    }

    /// Totals now. Cheap enough for every slice boundary; a file that fails keeps its last figures.
    pub fn read(&mut self) -> HostReading {
        let mut now = HostReading { at: Instant::now(), memory_available_bytes: None, ..self.last };
        if let Ok(text) = self.stat.read_once() {
            now.cpu = CpuTicks::parse(text).unwrap_or(now.cpu);
            now.context_switches = context_switches(text).unwrap_or(now.context_switches);
        }
        if let Some(text) = self.vmstat.as_mut().and_then(|file| file.read_whole().ok()) {
            now.faults = value_of(text, "pgfault").zip(value_of(text, "pgmajfault")).or(now.faults);
        }
        if let Some(counters) = self.device.as_mut().and_then(block) {
            now.device = counters;
        }
        // On a whole disk without partitions the file just read is the one that has the flushes, too.
        if self.disks.len() == 1 && self.data_device.stat.as_ref() == self.data_device.disk_stats.first() {
            now.flushes = now.device.flushes.unwrap_or_default();
        } else {
            let of_disks = self.disks.iter_mut().filter_map(block).filter_map(|counters| counters.flushes);
            now.flushes = of_disks.fold(Requests::default(), |sum, disk| Requests {
                count: sum.count + disk.count,
                wait_ms: sum.wait_ms + disk.wait_ms,
            });
        }
        self.last = now;
        now
    }

    /// Totals now, with available memory; for the beginning and end of a test.
    pub fn read_full(&mut self) -> HostReading {
        let mut now = self.read();
        if let Some(text) = self.meminfo.as_mut().and_then(|file| file.read_whole().ok()) {
            // Before Linux 3.14 there is only free memory.
            let available_kb = value_of(text, "MemAvailable").or_else(|| value_of(text, "MemFree"));
            now.memory_available_bytes = available_kb.map(|kb| kb * 1024);
        }
        now
    }
}

fn block(file: &mut ProcFile) -> Option<BlockCounters> {
    BlockCounters::parse(file.read_once().ok()?)
}

impl HostReading {
    /// When it was taken, on the monotonic clock.
    pub fn at(&self) -> Instant {
        self.at
    }

    /// Memory that was available, if the reading was full and the host tells.
    pub(crate) fn memory_available_bytes(&self) -> u64 {
        self.memory_available_bytes.unwrap_or(0)
    }

    /// What happened between an earlier reading and this one.
    pub fn since(&self, earlier: &HostReading) -> HostUse {
        let ticks_per_s = rustix::param::clock_ticks_per_second() as f64;
        // Idle and iowait are estimates of the kernel and may step back a little.
        let seconds = |now: u64, then: u64| now.saturating_sub(then) as f64 / ticks_per_s;
        let (cpu, old) = (&self.cpu, &earlier.cpu);
        let (device, old_device) = (&self.device, &earlier.device);
        let faults = self.faults.zip(earlier.faults);
        let (disk_reads, disk_read_wait_s) = device.reads.since(old_device.reads);
        let (disk_writes, disk_write_wait_s) = device.writes.since(old_device.writes);
        let (disk_flushes, disk_flush_wait_s) = self.flushes.since(earlier.flushes);
        HostUse {
            seconds: self.at.saturating_duration_since(earlier.at).as_secs_f64(),
            cpus: self.cpus,
            cpu_user_s: seconds(cpu.user, old.user) + seconds(cpu.nice, old.nice),
            cpu_system_s: seconds(cpu.system, old.system)
                + seconds(cpu.irq, old.irq)
                + seconds(cpu.softirq, old.softirq),
            cpu_idle_s: seconds(cpu.idle, old.idle),
            cpu_iowait_s: seconds(cpu.iowait, old.iowait),
            cpu_steal_s: seconds(cpu.steal, old.steal),
            context_switches: self.context_switches.saturating_sub(earlier.context_switches),
            page_faults: faults.map_or(0, |(now, then)| now.0.saturating_sub(then.0)),
            major_faults: faults.map_or(0, |(now, then)| now.1.saturating_sub(then.1)),
            disk_reads,
            disk_read_wait_s,
            disk_read_bytes: device.read_bytes.saturating_sub(old_device.read_bytes),
            disk_writes,
            disk_write_wait_s,
            disk_write_bytes: device.write_bytes.saturating_sub(old_device.write_bytes),
            disk_flushes,
            disk_flush_wait_s,
            memory_available_bytes: self.memory_available_bytes.unwrap_or(0),
        }
    }
}

/// What the host did in the slices of one treatment. What an idle server does in the background falls to the treatment
/// that runs: with slices that is shared evenly, in turns the idle servers are frozen.
#[derive(Debug)]
pub struct HostProbe {
    meter: HostMeter,
    entered: Option<HostReading>,
    used: HostUse,
    memory_available_bytes: Option<u64>,
}

impl HostProbe {
    /// Opens the files for the host and for the device that holds `data_dir`.
    pub fn open(data_dir: &Path) -> Result<HostProbe, ObserveError> {
        let meter = HostMeter::open(data_dir)?;
        Ok(HostProbe { meter, entered: None, used: HostUse::default(), memory_available_bytes: None })
    }
}

impl Probe for HostProbe {
    fn enter(&mut self) {
        self.entered = Some(self.meter.read());
    }

    fn leave(&mut self) {
        tally::leave(&mut self.entered, &mut self.used, |entered| self.meter.read().since(entered));
    }

    fn stop(&mut self, _server: &Subject<'_>) {
        self.memory_available_bytes = self.meter.read_full().memory_available_bytes;
    }

    fn end(&mut self, _server: Option<&Subject<'_>>, sample: &mut Sample) -> Vec<Part> {
        self.leave();
        if self.memory_available_bytes.is_none() && self.used.seconds > 0.0 {
            self.memory_available_bytes = self.meter.read_full().memory_available_bytes;
        }
        let available = self.memory_available_bytes;
        sample.resources.host = HostUse { memory_available_bytes: available.unwrap_or(0), ..self.used };
        Vec::new()
    }
}

#[cfg(test)]
mod tests;
