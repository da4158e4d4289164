//! Why servers cannot be sampled, or their system calls not be counted.
//!
//! In: what the kernel answers. Out: an error with what lifts it.

/// Why nothing can be sampled.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// The kernel says no.
    #[error(
        "the kernel does not let this user sample all processes; run rqps as root, or allow it with \
         `sysctl kernel.perf_event_paranoid=-1`, or in a container with the capability CAP_PERFMON"
    )]
    NotAllowed,
    /// It does not tell the addresses of its functions.
    #[error(
        "the kernel hides the names of its functions from this user; as root, `sysctl kernel.kptr_restrict=0` shows them"
    )]
    KernelHidden,
    /// Nobody has mounted what tells of trace points.
    #[error("tracefs is not mounted; as root, `mount -t tracefs nodev /sys/kernel/tracing` mounts it")]
    NoTraceFs,
    /// It is for others to read.
    #[error(
        "this user may not read tracefs; as root, `mount -o remount,mode=755 /sys/kernel/tracing` lets everybody read it"
    )]
    TraceFsHidden,
    /// The kernel was built without it.
    #[error("this kernel has no trace point raw_syscalls:sys_enter")]
    NoTracePoint,
    /// It cannot.
    #[error("cannot sample the servers: {0}")]
    System(std::io::Error),
}

impl From<std::io::Error> for Refused {
    fn from(error: std::io::Error) -> Refused {
        match error.kind() {
            std::io::ErrorKind::PermissionDenied => Refused::NotAllowed,
            _ => Refused::System(error),
        }
    }
}
