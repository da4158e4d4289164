//! Batch scheduling: woken by a part of an answer, a thread lets the server finish before it reads.
//!
//! A server sends a long answer in parts, and each part wakes the client. On the CPU that both share the client then
//! takes the server's place in the middle of its work, reads a part and sleeps again. In the kernel's batch class a
//! thread that is woken waits for its turn, so that the answer is read in one go and the server is not interrupted.
//! After short answers the same would send the server to sleep before each statement, so it is for long answers only
//! (docs/measurement.md).
//!
//! In: the calling thread. Out: a guard that gives it its old class back. It touches no other thread.

use rqps_wire::Protocol;
use rustix::process::getpriority_process;
use thread_priority::unix::{
    NormalThreadSchedulePolicy as Class, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
    thread_schedule_policy,
};
use thread_priority::{Error, ThreadPriority, ThreadPriorityValue};

/// The bytes that a server gathers before it sends them: the send buffer of PostgreSQL, `net_buffer_length` of MySQL
/// and MariaDB as it is by default.
const fn part_bytes(protocol: Protocol) -> u64 {
    match protocol {
        Protocol::Postgres => 8 * 1024,
        Protocol::Mysql => 16 * 1024,
    }
}

/// Whether answers of so many bytes, each to one statement, come in parts as a rule.
pub(crate) fn comes_in_parts(protocol: Protocol, bytes: u64, statements: u64) -> bool {
    bytes > statements * part_bytes(protocol)
}

/// The calling thread is in the batch scheduling class as long as this lives.
#[derive(Debug)]
pub(crate) struct BatchScheduling {
    before: ThreadSchedulePolicy,
}

impl BatchScheduling {
    /// Moves the calling thread there, if it may.
    pub(crate) fn of_this_thread() -> Result<BatchScheduling, Error> {
        let before = thread_schedule_policy()?;
        set_class(ThreadSchedulePolicy::Normal(Class::Batch))?;
        Ok(BatchScheduling { before })
    }
}

impl Drop for BatchScheduling {
    fn drop(&mut self) {
        // The thread was in that class before, and what is normal may be had again without any privilege.
        let _ = set_class(self.before);
    }
}

/// The library sets niceness with the class, on a scale of its own, so it is given the one that is.
fn set_class(class: ThreadSchedulePolicy) -> Result<(), Error> {
    let nice = getpriority_process(None).map_err(|error| Error::OS(error.raw_os_error()))?;
    let scale = (0..=u8::MAX).map_while(|value| ThreadPriorityValue::try_from(value).ok());
    let same = scale.map(ThreadPriority::Crossplatform).find(|priority| priority.to_posix(class) == Ok(nice));
    set_thread_priority_and_policy(thread_native_id(), same.ok_or(Error::Priority("unknown niceness"))?, class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_scheduled_in_batches_and_is_as_before_afterwards() {
        let state = || (thread_schedule_policy().unwrap(), getpriority_process(None).unwrap());
        std::thread::spawn(move || {
            let (normal, nice) = state();
            // A thread that is less favoured than others stays so.
            for nice in nice..20 {
                rustix::process::setpriority_process(None, nice).unwrap();
                let scheduling = BatchScheduling::of_this_thread().unwrap();
                assert_eq!(state(), (ThreadSchedulePolicy::Normal(Class::Batch), nice));
                drop(scheduling);
                assert_eq!(state(), (normal, nice));
            }
        })
        .join()
        .unwrap();
    }

    #[test]
    fn only_what_overflows_a_servers_buffer_comes_in_parts() {
        for (protocol, bytes, statements, in_parts) in [
            (Protocol::Postgres, 0, 0, false),
            (Protocol::Postgres, 8192, 1, false),
            (Protocol::Postgres, 13_000, 1, true),
            (Protocol::Postgres, 3 * 13_000 + 13 * 150, 16, false),
            (Protocol::Mysql, 12_500, 1, false),
            (Protocol::Mysql, 20 * 19_000, 20, true),
        ] {
            assert_eq!(comes_in_parts(protocol, bytes, statements), in_parts, "{bytes} in {statements}");
        }
    }
}
