//! Logging in: the greeting, TLS where it is wanted, and whatever proofs the server asks for.
//!
//! In: a fresh channel and an endpoint. Out: what the server said of itself, with the session ready for its first
//! command. A password leaves in clear only where no one can listen: through TLS or a Unix socket, and never to a
//! method that wants nothing else.

use std::collections::VecDeque;

use crate::endpoint::{Endpoint, Transport};
use crate::error::{ServerError, WireError, abridge};
use crate::socket::Deadline;

use super::channel::Channel;
use super::fields::Fields;
use super::flags::{capability, head};
use super::handshake::{FIRST_PROOF_BYTES_MAX, Greeting, Response};
use super::options::{Options, TlsMode};
use super::packet::{PacketError, Sink, encode};
use super::refusal::Refusal;
use super::{remedy, scramble};

/// The longest packet of a login.
const LOGIN_BYTES_MAX: usize = 64 * 1024;

/// The most packets that may wait for us: a server speaks when it is asked.
const INBOX_MAX: usize = 16;

/// The most packets of a login; the longest that is known takes seven.
const STEPS_MAX: usize = 32;

/// caching_sha2_password knows the password by its proof.
const FAST_AUTH_SUCCESS: u8 = 3;
/// caching_sha2_password wants to see the password itself.
const PERFORM_FULL_AUTHENTICATION: u8 = 4;
/// Ask for the RSA key of caching_sha2_password.
const CACHING_SHA2_REQUEST_KEY: u8 = 2;
/// Ask for the RSA key of sha256_password.
const SHA256_REQUEST_KEY: u8 = 1;

/// Logs in.
pub(crate) fn log_in(
    channel: &mut Channel,
    endpoint: &Endpoint,
    options: &Options,
    deadline: Deadline,
) -> Result<Greeting, Refusal> {
    for text in [&endpoint.user, &endpoint.database] {
        if text.contains('\0') {
            return Err(Refusal::Wire(WireError::Nul { text: abridge(text) }));
        }
    }
    let mut login = Login { endpoint, channel, inbox: Inbox::default(), deadline, method: Method::Native };
    let greeting = login.greeting()?;
    login.respond(&greeting, options)?;
    login.prove(&greeting.nonce)?;
    Ok(greeting)
}

/// The ways to prove who we are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Native,
    CachingSha2,
    /// sha256_password.
    Sha256,
    Ed25519,
    /// The server knows us by our user of the operating system.
    Socket,
}

impl Method {
    /// The method that goes by a plugin's name, or why we don't take part in it.
    fn named(plugin: &str) -> Result<Method, String> {
        match plugin {
            "mysql_native_password" => Ok(Method::Native),
            "caching_sha2_password" => Ok(Method::CachingSha2),
            "sha256_password" => Ok(Method::Sha256),
            "client_ed25519" => Ok(Method::Ed25519),
            "auth_socket" | "unix_socket" => Ok(Method::Socket),
            "mysql_clear_password" => {
                Err("the server wants the password in clear text (mysql_clear_password), which rqps \
                 does not send; create the account with another plugin, such as caching_sha2_password"
                    .to_owned())
            }
            "mysql_old_password" => Err(OLD_PASSWORD.to_owned()),
            other => Err(format!(
                "the server demands the authentication plugin `{}`, which rqps does not speak; create the account with \
                 mysql_native_password, caching_sha2_password or, on MariaDB, ed25519",
                abridge(other)
            )),
        }
    }

    /// The method to begin with, if the server begins with that of `plugin`.
    fn first(plugin: &str, password: &[u8]) -> Method {
        match Method::named(plugin) {
            // Through TLS its proof is the password itself with a NUL.
            Ok(Method::Sha256) if password.len() >= FIRST_PROOF_BYTES_MAX => Method::Native,
            Ok(method) => method,
            // The account may be of another plugin than the server's first.
            Err(_) => Method::Native,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Method::Native | Method::Socket => "mysql_native_password",
            Method::CachingSha2 => "caching_sha2_password",
            Method::Sha256 => "sha256_password",
            Method::Ed25519 => "client_ed25519",
        }
    }
}

const OLD_PASSWORD: &str = "the server wants the password as MySQL 3.23 did, which is no secret to anybody who listens; \
     give the account a password of a newer form: SET old_passwords = 0, then SET PASSWORD";

/// Packets of the server that have not been dealt with.
#[derive(Debug, Default)]
struct Inbox {
    packets: VecDeque<Vec<u8>>,
}

impl Sink for Inbox {
    fn keep(&mut self, _: u8, length: usize) -> Result<usize, PacketError> {
        match length {
            ..=LOGIN_BYTES_MAX => Ok(length),
            _ => Err(PacketError::TooLong { length, limit: LOGIN_BYTES_MAX }),
        }
    }

    fn packet(&mut self, length: usize, payload: &[u8]) -> Result<(), PacketError> {
        if length > LOGIN_BYTES_MAX {
            return Err(PacketError::TooLong { length, limit: LOGIN_BYTES_MAX });
        }
        if self.packets.len() == INBOX_MAX {
            return Err(PacketError::TooMany { limit: INBOX_MAX });
        }
        self.packets.push_back(payload.to_vec());
        Ok(())
    }
}

struct Login<'a> {
    endpoint: &'a Endpoint,
    channel: &'a mut Channel,
    inbox: Inbox,
    deadline: Deadline,
    method: Method,
}

impl Login<'_> {
    fn receive(&mut self) -> Result<Vec<u8>, Refusal> {
        loop {
            if let Some(packet) = self.inbox.packets.pop_front() {
                return Ok(packet);
            }
            self.channel.wait_and_read(&mut self.inbox, self.deadline)?;
        }
    }

    fn send(&mut self, payload: &[u8]) -> Result<(), Refusal> {
        let packet = encode(self.channel.next_sequence(), payload);
        self.channel.write_all(&packet, &mut self.inbox, self.deadline)?;
        Ok(())
    }

    fn greeting(&mut self) -> Result<Greeting, Refusal> {
        let packet = self.receive()?;
        let greeting = match packet[0] {
            head::PROTOCOL_10 => Greeting::parse(&packet)?,
            head::PROTOCOL_9 => return Err(self.failed(TOO_OLD)),
            head::ERR => return Err(self.refused(&packet)),
            head => return Err(PacketError::Unexpected { head }.into()),
        };
        if !greeting.is_young_enough() {
            return Err(self.failed(TOO_OLD));
        }
        Ok(greeting)
    }

    /// Answers the greeting with what we can do, who we are and a first proof, encrypted if wanted.
    fn respond(&mut self, greeting: &Greeting, options: &Options) -> Result<(), Refusal> {
        // If the account is of another method, the server asks for that.
        self.method = Method::first(&greeting.plugin, self.password());
        let mut response = Response {
            capabilities: greeting.agreed(),
            collation: options.collation,
            user: &self.endpoint.user,
            database: &self.endpoint.database,
            proof: &[],
            plugin: self.method.name(),
        };
        if !self.endpoint.database.is_empty() {
            response.capabilities |= capability::CONNECT_WITH_DB;
        }
        let can_encrypt = greeting.capabilities & capability::SSL != 0;
        match options.tls {
            TlsMode::Required if !can_encrypt => {
                return Err(self.failed(
                    "the option tls is `required` and the server offers no TLS; give it a certificate (ssl_cert, ssl_key), or set tls to preferred",
                ));
            }
            TlsMode::Required | TlsMode::Preferred if can_encrypt => {
                response.capabilities |= capability::SSL;
                let request = response.ssl_request();
                self.send(&request)?;
                if !self.inbox.packets.is_empty() {
                    return Err(PacketError::BeforeTls.into());
                }
                self.channel.start_tls(&self.endpoint.transport, self.deadline)?;
            }
            _ => {}
        }
        let proof = self.proof(&greeting.nonce);
        response.proof = &proof;
        let payload = response.encode();
        self.send(&payload)
    }

    /// Proves what the server wants to have proven, until it is satisfied.
    fn prove(&mut self, nonce: &[u8]) -> Result<(), Refusal> {
        let mut nonce = nonce.to_vec();
        for _ in 0..STEPS_MAX {
            let packet = self.receive()?;
            match packet[0] {
                head::OK => return Ok(()),
                head::ERR => return Err(self.refused(&packet)),
                head::EOF if packet.len() == 1 => return Err(self.failed(OLD_PASSWORD)),
                head::EOF => {
                    let mut fields = Fields::behind_head(&packet);
                    let plugin = String::from_utf8_lossy(fields.nul_text()?).into_owned();
                    self.method = Method::named(&plugin).map_err(|reason| self.failed(reason))?;
                    nonce = fields.remainder().to_vec();
                    nonce.truncate(nonce_bytes(self.method));
                    let proof = self.proof(&nonce);
                    self.send(&proof)?;
                }
                head::AUTH_MORE_DATA => self.more(&packet[1..], &nonce)?,
                head => return Err(PacketError::Unexpected { head }.into()),
            }
        }
        Err(self.failed("the server goes on asking for proofs"))
    }

    /// The first proof of the method.
    fn proof(&self, nonce: &[u8]) -> Vec<u8> {
        let password = self.password();
        match self.method {
            Method::Native => scramble::native(password, nonce),
            Method::CachingSha2 => scramble::caching_sha2(password, nonce),
            Method::Sha256 if password.is_empty() => vec![0],
            Method::Sha256 if self.channel.cipher().is_some() => scramble::nul_terminated(password),
            Method::Sha256 => vec![SHA256_REQUEST_KEY],
            Method::Ed25519 => scramble::ed25519(password, nonce),
            Method::Socket => Vec::new(),
        }
    }

    /// Answers what a method says beyond the first proof.
    fn more(&mut self, data: &[u8], nonce: &[u8]) -> Result<(), Refusal> {
        let is_private = self.channel.cipher().is_some() || matches!(self.endpoint.transport, Transport::Unix { .. });
        let answer = match (self.method, data) {
            (Method::CachingSha2, [FAST_AUTH_SUCCESS]) => return Ok(()),
            (Method::CachingSha2, [PERFORM_FULL_AUTHENTICATION]) if is_private => {
                scramble::nul_terminated(self.password())
            }
            (Method::CachingSha2, [PERFORM_FULL_AUTHENTICATION]) => vec![CACHING_SHA2_REQUEST_KEY],
            (Method::CachingSha2 | Method::Sha256, pem) => {
                scramble::under_rsa_key(self.password(), nonce, pem).map_err(|reason| self.failed(reason))?
            }
            _ => return Err(PacketError::Unexpected { head: head::AUTH_MORE_DATA }.into()),
        };
        self.send(&answer)
    }

    fn password(&self) -> &[u8] {
        self.endpoint.password.as_deref().unwrap_or_default().as_bytes()
    }

    fn failed(&self, detail: impl Into<String>) -> Refusal {
        Refusal::Wire(WireError::Authentication {
            endpoint: self.endpoint.to_string(),
            user: self.endpoint.user.clone(),
            detail: detail.into(),
        })
    }

    fn refused(&self, packet: &[u8]) -> Refusal {
        let mut error = ServerError::default();
        error.read_err_packet(packet);
        Refusal::Wire(WireError::Login {
            endpoint: self.endpoint.to_string(),
            user: self.endpoint.user.clone(),
            remedy: remedy::of_login(&error),
            error: Box::new(error),
        })
    }
}

const TOO_OLD: &str = "the server speaks only the protocol of before MySQL 4.1; rqps is made for 5.5 and later";

/// The length of a method's nonce, without the NUL that may follow it.
fn nonce_bytes(method: Method) -> usize {
    match method {
        Method::Ed25519 => 32,
        _ => super::handshake::NONCE_BYTES,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_method_is_one_whose_proof_fits() {
        for (plugin, password_bytes, method) in [
            ("sha256_password", 254, Method::Sha256),
            ("sha256_password", 255, Method::Native),
            ("caching_sha2_password", 300, Method::CachingSha2),
            ("client_ed25519", 300, Method::Ed25519),
            ("dialog", 3, Method::Native),
        ] {
            assert_eq!(Method::first(plugin, &vec![b'x'; password_bytes]), method, "{plugin} {password_bytes}");
        }
    }
}
