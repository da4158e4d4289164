//! A connected socket with a framer behind it: bytes out, frames in, never blocking in a read. All protocols share it.
//!
//! In: encoded messages and a sink. Out: frames to the sink, or a [`Fault`]. What carries the bytes and what cuts them
//! is a type, so that each protocol gets code of its own, with no choice left at run time. It does not know what the
//! messages mean, nor to whom the fault will be reported.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use crate::socket::Deadline;

/// The bytes read at once, from a buffer on the stack: sessions need no read buffers of their own, and all sessions of
/// a thread share one that is warm in the cache.
pub(crate) const READ_BYTES: usize = 16 * 1024;

/// How long a session that ends waits for the server to have let go.
const HANG_UP_PATIENCE: Duration = Duration::from_secs(1);

/// Why a channel is of no more use.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error("{0}")]
    Io(io::Error),
    #[error("the server closed the connection")]
    Closed,
    #[error("no answer in time")]
    TimedOut { allowed: Duration },
    /// What the protocol does not allow.
    #[error("{0}")]
    Protocol(String),
}

impl Fault {
    /// What became of waiting.
    pub(crate) fn of_waiting(error: io::Error, deadline: Deadline) -> Fault {
        match (error.kind(), deadline.allowed) {
            (io::ErrorKind::TimedOut, Some(allowed)) => Fault::TimedOut { allowed },
            _ => error.into(),
        }
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Fault {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Fault::Closed,
            _ => Fault::Io(error),
        }
    }
}

impl From<Errno> for Fault {
    fn from(error: Errno) -> Fault {
        Fault::Io(error.into())
    }
}

/// What carries the bytes: a socket as it is, or one that may be encrypted. It never waits.
pub(crate) trait Stream {
    /// Reads once and passes on what has come, in one piece or several. Returns the bytes read, 0 when there was
    /// nothing to read.
    fn read(&mut self, take: impl FnMut(&[u8]) -> Result<(), Fault>) -> Result<usize, Fault>;

    /// Writes once and returns how many bytes were taken.
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Fault>;

    /// Whether all bytes taken are sent.
    fn is_flushed(&self) -> bool;

    /// The socket, to wait for.
    fn socket(&self) -> &OwnedFd;
}

impl Stream for OwnedFd {
    #[inline]
    fn read(&mut self, mut take: impl FnMut(&[u8]) -> Result<(), Fault>) -> Result<usize, Fault> {
        let mut space = [const { MaybeUninit::<u8>::uninit() }; READ_BYTES];
        match recv(&*self, &mut space, RecvFlags::DONTWAIT) {
            Ok((([], _), _)) => Err(Fault::Closed),
            Ok(((received, _), _)) => {
                take(received)?;
                Ok(received.len())
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        match send(&*self, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
            Ok(count) => Ok(count),
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    #[inline]
    fn is_flushed(&self) -> bool {
        true
    }

    fn socket(&self) -> &OwnedFd {
        self
    }
}

/// What cuts the bytes into the frames of a protocol, for sinks of the type `S`.
pub(crate) trait Framing<S> {
    /// What the protocol does not allow.
    type Error: Into<Fault>;

    /// Passes on every frame that `bytes` completes and remembers the rest.
    fn feed(&mut self, bytes: &[u8], sink: &mut S) -> Result<(), Self::Error>;
}

/// A connected socket and the state of the stream that comes from it.
#[derive(Debug)]
pub(crate) struct Channel<St, F> {
    pub(crate) stream: St,
    pub(crate) framer: F,
}

impl<St: From<OwnedFd>, F: Default> Channel<St, F> {
    pub(crate) fn over(socket: OwnedFd) -> Channel<St, F> {
        Channel { stream: socket.into(), framer: F::default() }
    }
}

impl<St: Stream, F> Channel<St, F> {
    /// Reads once, without waiting, and passes on the frames that it completes. Returns the bytes read, 0 when there
    /// was nothing to read.
    #[inline]
    pub(crate) fn read<S>(&mut self, sink: &mut S) -> Result<usize, Fault>
    where
        F: Framing<S>,
    {
        let framer = &mut self.framer;
        self.stream.read(|bytes| framer.feed(bytes, sink).map_err(Into::into))
    }

    /// Writes once, without waiting, and returns how many bytes were taken.
    #[inline]
    pub(crate) fn write_once(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        self.stream.write(bytes)
    }

    /// Whether all bytes taken are sent.
    #[inline]
    pub(crate) fn is_flushed(&self) -> bool {
        self.stream.is_flushed()
    }

    /// Writes everything, waiting as long as the deadline allows. What the server sends meanwhile is read, or both
    /// sides could wait for each other.
    pub(crate) fn write_all<S>(&mut self, mut bytes: &[u8], sink: &mut S, deadline: Deadline) -> Result<(), Fault>
    where
        F: Framing<S>,
    {
        loop {
            bytes = &bytes[self.write_once(bytes)?..];
            if bytes.is_empty() && self.is_flushed() {
                return Ok(());
            }
            if self.wait(PollFlags::IN | PollFlags::OUT, deadline)?.contains(PollFlags::IN) {
                self.read(sink)?;
            }
        }
    }

    /// Waits until there is something to read.
    pub(crate) fn wait_readable(&self, deadline: Deadline) -> Result<(), Fault> {
        self.wait(PollFlags::IN, deadline)?;
        Ok(())
    }

    /// Waits until there is something to read, then reads once.
    pub(crate) fn wait_and_read<S>(&mut self, sink: &mut S, deadline: Deadline) -> Result<(), Fault>
    where
        F: Framing<S>,
    {
        self.wait_readable(deadline)?;
        self.read(sink)?;
        Ok(())
    }

    /// Reads what is there already and ignores how that ends.
    pub(crate) fn drain<S>(&mut self, sink: &mut S)
    where
        F: Framing<S>,
    {
        while matches!(self.read(sink), Ok(1..)) {}
    }

    /// Reads until the stream ends, and yields how it ended.
    pub(crate) fn read_to_end<S>(&mut self, sink: &mut S, deadline: Deadline) -> Fault
    where
        F: Framing<S>,
    {
        loop {
            if let Err(fault) = self.wait_and_read(sink, deadline) {
                return fault;
            }
        }
    }

    /// Waits, but not for long, until the server hangs up.
    pub(crate) fn await_hang_up<S>(&mut self, sink: &mut S)
    where
        F: Framing<S>,
    {
        // However it ends, the session has ended.
        let _ = self.read_to_end(sink, Deadline::start(Some(HANG_UP_PATIENCE)));
    }

    fn wait(&self, interest: PollFlags, deadline: Deadline) -> Result<PollFlags, Fault> {
        deadline.wait(self.stream.socket(), interest).map_err(|error| Fault::of_waiting(error, deadline))
    }
}

impl<St: Stream, F> AsFd for Channel<St, F> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.socket().as_fd()
    }
}
