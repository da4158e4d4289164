//! TLS over a socket that never blocks: what goes in is encrypted, what comes out has been decrypted.
//!
//! In: a connected socket, then plain bytes. Out: plain bytes and the cipher that was agreed on. Any certificate is
//! taken: those of test servers are self-made, and what is wanted here is the cost of encryption, not the proof of who
//! is there.
//!
//! Here alone the timed path allocates: rustls encrypts every record into a new vector, and hands on every record
//! received in one, through its unbuffered interface too. That is one of each for a statement with a short reply; none
//! is kept.

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::event::PollFlags;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme};

use crate::endpoint::Transport;
use crate::socket::Deadline;

/// An encrypted stream.
#[derive(Debug)]
pub(crate) struct Tls {
    connection: Box<ClientConnection>,
}

impl Tls {
    /// Agrees on a cipher with the server.
    pub(crate) fn shake_hands(socket: &OwnedFd, transport: &Transport, deadline: Deadline) -> io::Result<Tls> {
        let provider = Arc::new(ring::default_provider());
        let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate { provider }))
            .with_no_client_auth();
        let name = match transport {
            Transport::Tcp { host, .. } => ServerName::try_from(host.clone()).ok(),
            Transport::Unix { .. } => None,
        };
        let name = name.unwrap_or_else(|| ServerName::try_from("localhost").expect("a valid name"));
        let connection = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
        let mut tls = Tls { connection: Box::new(connection) };
        while tls.connection.is_handshaking() {
            tls.flush(socket)?;
            if !tls.connection.is_handshaking() {
                break;
            }
            let backlog = if tls.is_flushed() { PollFlags::empty() } else { PollFlags::OUT };
            if deadline.wait(socket, PollFlags::IN | backlog)?.contains(PollFlags::IN) {
                tls.fill(socket)?;
            }
        }
        tls.flush(socket)?;
        Ok(tls)
    }

    /// The name of the cipher suite.
    pub(crate) fn cipher(&self) -> String {
        let suite = self.connection.negotiated_cipher_suite();
        suite.map_or_else(|| "unknown".to_owned(), |suite| format!("{:?}", suite.suite()).replacen("TLS13_", "TLS_", 1))
    }

    /// Receives once, without waiting; false when there was nothing to receive.
    pub(crate) fn fill(&mut self, socket: &OwnedFd) -> io::Result<bool> {
        match self.connection.read_tls(&mut Ends { socket }) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => {}
            Err(error) if is_later(&error) => return Ok(false),
            Err(error) => return Err(error),
        }
        let processed = self.connection.process_new_packets();
        // The server learns from an alert what was wrong; an answer to a change of keys goes out here too.
        let flushed = self.flush(socket);
        processed.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, format!("TLS: {error}")))?;
        flushed?;
        Ok(true)
    }

    /// Takes decrypted bytes; none when there are no more for now.
    pub(crate) fn take<'b>(&mut self, space: &'b mut [u8]) -> io::Result<&'b [u8]> {
        match self.connection.reader().read(space) {
            Ok(count) => Ok(&space[..count]),
            Err(error) if is_later(&error) => Ok(&[]),
            Err(error) => Err(error),
        }
    }

    /// Encrypts bytes, as many as there is room for, and sends what can be sent without waiting.
    pub(crate) fn write(&mut self, socket: &OwnedFd, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.connection.writer().write(bytes)?;
        self.flush(socket)?;
        Ok(taken)
    }

    /// Whether everything encrypted has been sent.
    pub(crate) fn is_flushed(&self) -> bool {
        !self.connection.wants_write()
    }

    fn flush(&mut self, socket: &OwnedFd) -> io::Result<()> {
        while self.connection.wants_write() {
            match self.connection.write_tls(&mut Ends { socket }) {
                Ok(_) => {}
                Err(error) if is_later(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// Both ends of the encrypted side.
struct Ends<'s> {
    socket: &'s OwnedFd,
}

impl Read for Ends<'_> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let (count, _) = recv(self.socket, space, RecvFlags::DONTWAIT)?;
        Ok(count)
    }
}

impl Write for Ends<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(send(self.socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Takes whatever certificate comes, and hence whatever is signed with it.
#[derive(Debug)]
struct AnyCertificate {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
