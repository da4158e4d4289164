//! On which CPUs a running server is: all its threads, and so what they will start.
//!
//! In: a server and CPUs. Out: the CPUs as the kernel reports them. It must not choose them: `placement` does.

use super::{SIGNAL_TIMEOUT, Server};
use crate::{Result, ServerError, placement};
use rqps_model::settings::CpuSet;
use std::collections::BTreeSet;
use std::time::Instant;

impl Server {
    /// Pins every thread of every process, and so what they will start, and returns the CPUs as read back.
    pub fn set_cpus(&self, cpus: &[usize]) -> Result<CpuSet> {
        let refused = |who: String, reason: String| ServerError::Placement { who, cpus: cpus.to_vec(), reason };
        let deadline = Instant::now() + SIGNAL_TIMEOUT;
        loop {
            let threads = self.threads();
            for &thread in &threads {
                match placement::pin(placement::thread(thread), cpus) {
                    // It ended meanwhile.
                    Ok(()) | Err(rustix::io::Errno::SRCH) => {}
                    Err(e) => return Err(refused(format!("thread {thread} of {}", self.build), e.to_string())),
                }
            }
            // One that was started meanwhile by one not yet pinned is found in the next pass.
            let elsewhere = self.cpu_sets()?.into_iter().find(|set| set != cpus);
            let Some(elsewhere) = elsewhere else { return Ok(cpus.to_vec()) };
            if Instant::now() >= deadline {
                return Err(refused(self.build.clone(), format!("the kernel says {elsewhere:?}")));
            }
        }
    }

    /// The CPUs that any of its threads may use, as the kernel reports.
    pub fn cpus(&self) -> Result<CpuSet> {
        Ok(self.cpu_sets()?.into_iter().flatten().collect::<BTreeSet<usize>>().into_iter().collect())
    }

    fn cpu_sets(&self) -> Result<Vec<CpuSet>> {
        self.check_alive()?;
        Ok(self
            .threads()
            .into_iter()
            .filter_map(|thread| placement::read_back(placement::thread(thread)).ok())
            .collect())
    }

    fn threads(&self) -> Vec<u32> {
        self.processes().into_iter().flat_map(|process| process.threads().into_keys()).collect()
    }
}
