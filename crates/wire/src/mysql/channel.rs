//! A connected socket, encrypted or not, with the framer behind it: bytes out, payloads in, never blocking in a read.
//!
//! In: encoded packets and a sink. Out: payloads to the sink, or a [`Fault`]. It does not know what the payloads mean, nor to
//! whom the fault will be reported.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send};

use crate::endpoint::Transport;
use crate::socket::Deadline;

use super::packet::{Framer, PacketError, Sink};
use super::tls::Tls;

/// The bytes read at once, from a buffer on the stack: sessions need no read buffers of their own, and all sessions of a
/// thread share one that is warm in the cache.
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
    #[error("no TLS could be agreed on: {0}")]
    Tls(io::Error),
    #[error("{0}")]
    Packet(#[from] PacketError),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Fault {
        match error.kind() {
            io::ErrorKind::TimedOut => Fault::TimedOut,
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

/// A connected socket and the state of the stream that comes from it.
#[derive(Debug)]
pub(crate) struct Channel {
    socket: OwnedFd,
    tls: Option<Tls>,
    framer: Framer,
}

impl Channel {
    pub(crate) fn over(socket: OwnedFd) -> Channel {
        Channel { socket, tls: None, framer: Framer::default() }
    }

    /// Encrypts everything from now on.
    pub(crate) fn start_tls(&mut self, transport: &Transport, deadline: Deadline) -> Result<(), Fault> {
        if !self.framer.is_between_packets() {
            return Err(PacketError::BeforeTls.into());
        }
        match Tls::shake_hands(&self.socket, transport, deadline) {
            Ok(tls) => {
                self.tls = Some(tls);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(Fault::TimedOut),
            Err(error) => Err(Fault::Tls(error)),
        }
    }

    /// The name of the cipher, if everything is encrypted.
    pub(crate) fn cipher(&self) -> Option<String> {
        self.tls.as_ref().map(Tls::cipher)
    }

    /// The sequence number that our next packet must carry, if it is part of what came before.
    pub(crate) fn next_sequence(&mut self) -> u8 {
        self.framer.next_sequence()
    }

    /// Reads once, without waiting, and passes on the payloads that it completes. Returns the bytes read, 0 when there was
    /// nothing to read.
    #[inline]
    pub(crate) fn read<S: Sink>(&mut self, sink: &mut S) -> Result<usize, Fault> {
        if self.tls.is_some() {
            return self.read_encrypted(sink);
        }
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

    /// The same through TLS. Everything decrypted is passed on, since poll knows only of the socket.
    fn read_encrypted<S: Sink>(&mut self, sink: &mut S) -> Result<usize, Fault> {
        let Some(tls) = &mut self.tls else { return Ok(0) };
        // The end of the stream is reported by the next read, after what came before it.
        let filled = tls.fill(&self.socket);
        let mut space = [0; READ_BYTES];
        let mut count = 0;
        loop {
            let received = match tls.take(&mut space) {
                Ok([]) => break,
                Ok(received) => received,
                Err(_) if count > 0 => break,
                Err(error) => return Err(error.into()),
            };
            count += received.len();
            self.framer.feed(received, sink)?;
        }
        match filled {
            Err(error) if count == 0 => Err(error.into()),
            _ => Ok(count),
        }
    }

    /// Writes once, without waiting, and returns how many bytes were taken.
    #[inline]
    pub(crate) fn write_once(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        if let Some(tls) = &mut self.tls {
            return Ok(tls.write(&self.socket, bytes)?);
        }
        match send(&self.socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
            Ok(count) => Ok(count),
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether all bytes taken are sent.
    #[inline]
    pub(crate) fn is_flushed(&self) -> bool {
        self.tls.as_ref().is_none_or(Tls::is_flushed)
    }

    /// Writes everything, waiting as long as the deadline allows. What the server sends meanwhile is read, or both sides could
    /// wait for each other.
    pub(crate) fn write_all<S: Sink>(
        &mut self,
        mut bytes: &[u8],
        sink: &mut S,
        deadline: Deadline,
    ) -> Result<(), Fault> {
        loop {
            bytes = &bytes[self.write_once(bytes)?..];
            if bytes.is_empty() && self.is_flushed() {
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

    /// Sends nothing more; the server sees the end of the stream.
    pub(crate) fn shut_down(&self) {
        // A socket that is gone already is as good.
        let _ = rustix::net::shutdown(&self.socket, Shutdown::Write);
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
