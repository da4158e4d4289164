//! MySQL's channel: a socket that is encrypted from some packet of the login on, or never, with the framer of packets.
//!
//! In: the wish to encrypt. Out: a [`Stream`] that looks the same with TLS and without, and what only packets have:
//! sequence numbers. Reading, writing and waiting are those of all channels.

use std::io;
use std::os::fd::OwnedFd;

use rustix::net::Shutdown;

use crate::channel::{self, Fault, READ_BYTES, Stream};
use crate::endpoint::Transport;
use crate::socket::Deadline;

use super::packet::{Framer, PacketError};
use super::refusal::Refusal;
use super::tls::Tls;

/// A channel of packets.
pub(crate) type Channel = channel::Channel<MaybeTls, Framer>;

/// A socket, encrypted or not.
#[derive(Debug)]
pub(crate) struct MaybeTls {
    socket: OwnedFd,
    tls: Option<Tls>,
}

impl From<OwnedFd> for MaybeTls {
    fn from(socket: OwnedFd) -> MaybeTls {
        MaybeTls { socket, tls: None }
    }
}

impl Stream for MaybeTls {
    #[inline]
    fn read(&mut self, take: impl FnMut(&[u8]) -> Result<(), Fault>) -> Result<usize, Fault> {
        match &mut self.tls {
            None => self.socket.read(take),
            Some(tls) => read_encrypted(tls, &self.socket, take),
        }
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        match &mut self.tls {
            None => self.socket.write(bytes),
            Some(tls) => Ok(tls.write(&self.socket, bytes)?),
        }
    }

    #[inline]
    fn is_flushed(&self) -> bool {
        self.tls.as_ref().is_none_or(Tls::is_flushed)
    }

    fn socket(&self) -> &OwnedFd {
        &self.socket
    }
}

/// Reads through TLS. Everything decrypted is passed on, since poll knows only of the socket.
fn read_encrypted(
    tls: &mut Tls,
    socket: &OwnedFd,
    mut take: impl FnMut(&[u8]) -> Result<(), Fault>,
) -> Result<usize, Fault> {
    // The end of the stream is reported by the next read, after what came before it.
    let filled = tls.fill(socket);
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
        take(received)?;
    }
    match filled {
        Err(error) if count == 0 => Err(error.into()),
        _ => Ok(count),
    }
}

impl Channel {
    /// Encrypts everything from now on.
    pub(crate) fn start_tls(&mut self, transport: &Transport, deadline: Deadline) -> Result<(), Refusal> {
        if !self.framer.is_between_packets() {
            return Err(PacketError::BeforeTls.into());
        }
        let stream = &mut self.stream;
        match Tls::shake_hands(&stream.socket, transport, deadline) {
            Ok(tls) => {
                stream.tls = Some(tls);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(Fault::of_waiting(error, deadline).into()),
            Err(error) => Err(Refusal::Tls(error)),
        }
    }

    /// The name of the cipher, if everything is encrypted.
    pub(crate) fn cipher(&self) -> Option<String> {
        self.stream.tls.as_ref().map(Tls::cipher)
    }

    /// The sequence number that our next packet must carry, if it is part of what came before.
    pub(crate) fn next_sequence(&mut self) -> u8 {
        self.framer.next_sequence()
    }

    /// Sends nothing more; the server sees the end of the stream.
    pub(crate) fn shut_down(&self) {
        // A socket that is gone already is as good.
        let _ = rustix::net::shutdown(&self.stream.socket, Shutdown::Write);
    }
}
