//! The thread that a server is started from.
//!
//! The kernel's parent-death signal fires when the thread that spawned a process ends, not when our process does. So
//! each server has a thread of its own, which does nothing and lives as long as the server's handle: whoever calls for
//! a start may then end. In: a command. Out: the child and its keeper. It must not outlive the handle.

use std::io;
use std::process::{Child, Command};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

/// Keeps the thread that spawned a server; lets it end when dropped.
#[derive(Debug)]
pub(crate) struct Keeper {
    release: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    /// Spawns a command from a thread of its own.
    pub(crate) fn spawn(mut command: Command) -> io::Result<(Child, Keeper)> {
        let (spawned, result) = channel();
        let (release, released) = channel::<()>();
        let thread = std::thread::Builder::new().name("server-keeper".to_owned()).spawn(move || {
            if spawned.send(command.spawn()).is_ok() {
                // Nothing is ever sent: this ends when the other side is dropped.
                let _ = released.recv();
            }
        })?;
        let keeper = Keeper { release: Some(release), thread: Some(thread) };
        let child = result.recv().map_err(|_| io::Error::other("the thread that starts servers ended"))??;
        Ok((child, keeper))
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.release.take());
        if let Some(thread) = self.thread.take() {
            // It cannot panic, and if it did, the server is already stopped.
            let _ = thread.join();
        }
    }
}
