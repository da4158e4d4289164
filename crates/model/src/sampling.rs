//! What rounds that explain a campaign sample of servers.

use crate::words;

words! {
    /// What may be sampled, and may be refused. Samples keep it by its word: there may be more of them later.
    Sampling {
        /// Which functions the CPU time goes to.
        Functions = "functions",
        /// In which stacks sessions are off the CPU.
        BlockedSessions = "blocked sessions",
        /// Which system calls are made.
        SystemCalls = "system calls",
        /// What sessions wait for, as the server says.
        Waits = "waits",
    }
}
