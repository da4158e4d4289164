//! Why servers cannot be sampled.
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
