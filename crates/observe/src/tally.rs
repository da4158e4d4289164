//! Adding up what was used in many pieces: a treatment's slices lie scattered over a test, and only they count.
//!
//! In: the model's uses of single pieces. Out: one use of them all. Totals add; what is "at the end" takes the latest
//! piece that has it.

use rqps_model::sample::{HostUse, ProcessUse};

/// Something that pieces can be added to.
pub trait Tally {
    /// Adds a later piece.
    fn add(&mut self, piece: &Self);
}

/// A slice is over: what was used since it was entered is added.
pub(crate) fn leave<R, U: Tally>(entered: &mut Option<R>, used: &mut U, since: impl FnOnce(&R) -> U) {
    if let Some(entered) = entered.take() {
        used.add(&since(&entered));
    }
}

impl Tally for HostUse {
    fn add(&mut self, piece: &Self) {
        self.seconds += piece.seconds;
        self.cpus = self.cpus.max(piece.cpus);
        self.cpu_user_s += piece.cpu_user_s;
        self.cpu_system_s += piece.cpu_system_s;
        self.cpu_idle_s += piece.cpu_idle_s;
        self.cpu_iowait_s += piece.cpu_iowait_s;
        self.cpu_steal_s += piece.cpu_steal_s;
        self.context_switches += piece.context_switches;
        self.page_faults += piece.page_faults;
        self.major_faults += piece.major_faults;
        self.disk_reads += piece.disk_reads;
        self.disk_read_wait_s += piece.disk_read_wait_s;
        self.disk_read_bytes += piece.disk_read_bytes;
        self.disk_writes += piece.disk_writes;
        self.disk_write_wait_s += piece.disk_write_wait_s;
        self.disk_write_bytes += piece.disk_write_bytes;
        self.disk_flushes += piece.disk_flushes;
        self.disk_flush_wait_s += piece.disk_flush_wait_s;
        if piece.memory_available_bytes > 0 {
            self.memory_available_bytes = piece.memory_available_bytes;
        }
    }
}

impl Tally for ProcessUse {
    fn add(&mut self, piece: &Self) {
        self.cpu_user_s += piece.cpu_user_s;
        self.cpu_system_s += piece.cpu_system_s;
        self.minor_faults += piece.minor_faults;
        self.major_faults += piece.major_faults;
        self.read_bytes += piece.read_bytes;
        self.write_bytes += piece.write_bytes;
        self.processes = piece.processes;
        if piece.memory_bytes > 0 {
            self.memory_bytes = piece.memory_bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_add_and_ends_take_the_last_that_was_told() {
        let mut sum = HostUse::default();
        sum.add(&HostUse {
            seconds: 1.0,
            cpus: 2,
            context_switches: 5,
            memory_available_bytes: 7,
            ..HostUse::default()
        });
        sum.add(&HostUse { seconds: 0.5, cpus: 2, context_switches: 6, ..HostUse::default() });
        assert_eq!((sum.seconds, sum.cpus, sum.context_switches, sum.memory_available_bytes), (1.5, 2, 11, 7));

        let mut sum = ProcessUse::default();
        sum.add(&ProcessUse { cpu_user_s: 1.0, memory_bytes: 3, processes: 9, ..ProcessUse::default() });
        sum.add(&ProcessUse { cpu_user_s: 2.0, memory_bytes: 0, processes: 8, ..ProcessUse::default() });
        assert_eq!((sum.cpu_user_s, sum.memory_bytes, sum.processes), (3.0, 3, 8));
    }
}
