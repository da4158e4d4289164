//! A connected socket with the framer behind it: bytes out, frames in, never blocking in a read.
//!
//! In: encoded messages and a sink. Out: frames to the sink, or a [`Fault`]. It does not know what
//! the messages mean, nor to whom the fault will be reported.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use crate::socket::Deadline;

use super::frame::{FrameError, Framer, Sink};

/// The bytes read at once, from a buffer on the stack: sessions need no read buffers of their own, and all
/// sessions of a thread share one that is warm in the cache.
const READ_BYTES: usize = 16 * 1024;

/// Why a channel is of no more use.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error("{0}")]
    Io(io::Error),
    #[error("the server closed the connection")]
    Closed,
    #[error("no answer in time")]
    TimedOut,
    #[error("{0}")]
    Frame(#[from] FrameError),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Fault {
        match error.kind() {
            io::ErrorKind::TimedOut => Fault::TimedOut,
            _ => Fault::Io(error),
        }
    }
}

impl From<Errno> for Fault {
    fn from(error: Errno) -> Fault {
        Fault::Io(error.into())
    }
}

/// A connected socket and the state of the stream that comes from it.
#[derive(Debug)]
pub(crate) struct Channel {
    socket: OwnedFd,
    framer: Framer,
}

impl Channel {
    pub(crate) fn over(socket: OwnedFd) -> Channel {
        Channel { socket, framer: Framer::default() }
    }

    /// Reads once, without waiting, and passes on the frames that it completes. Returns the bytes
    /// read, 0 when there was nothing to read.
    #[inline]
    pub(crate) fn read<S: Sink>(&mut self, sink: &mut S) -> Result<usize, Fault> {
        let mut space = [const { MaybeUninit::<u8>::uninit() }; READ_BYTES];
        match recv(&self.socket, &mut space, RecvFlags::DONTWAIT) {
            Ok((([], _), _)) => Err(Fault::Closed),
            Ok(((received, _), _)) => {
                self.framer.feed(received, sink)?;
                Ok(received.len())
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes once, without waiting, and returns how many bytes were taken.
    #[inline]
    pub(crate) fn write_once(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        match send(&self.socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
            Ok(count) => Ok(count),
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes everything, waiting as long as the deadline allows. What the server sends meanwhile is
    /// read, or both sides could wait for each other.
    pub(crate) fn write_all<S: Sink>(
        &mut self,
        mut bytes: &[u8],
        sink: &mut S,
        deadline: Deadline,
    ) -> Result<(), Fault> {
        loop {
            bytes = &bytes[self.write_once(bytes)?..];
            if bytes.is_empty() {
                return Ok(());
            }
            let ready = deadline.wait(&self.socket, PollFlags::IN | PollFlags::OUT)?;
            if ready.contains(PollFlags::IN) {
                self.read(sink)?;
            }
        }
    }

    /// Waits until there is something to read.
    pub(crate) fn wait_readable(&self, deadline: Deadline) -> Result<(), Fault> {
        deadline.wait(&self.socket, PollFlags::IN)?;
        Ok(())
    }

    /// Waits until there is something to read, then reads once.
    pub(crate) fn wait_and_read<S: Sink>(&mut self, sink: &mut S, deadline: Deadline) -> Result<(), Fault> {
        self.wait_readable(deadline)?;
        self.read(sink)?;
        Ok(())
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
