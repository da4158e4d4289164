//! The first packets of a session: the server's Handshake and our HandshakeResponse (manual, "Connection Phase
//! Packets").
//!
//! In: a payload of the server; then user, database and proof. Out: what the server says about itself; the payload to
//! answer. It knows no authentication method: `login.rs` does.

use super::fields::Fields;
use super::flags::capability;
use super::packet::PacketError;

/// The bytes of a nonce before the plugins; MySQL's and MariaDB's own methods all use so many.
pub(crate) const NONCE_BYTES: usize = 20;

/// The largest packet that we announce to send and take, as the servers' own clients do.
const PACKET_BYTES_ANNOUNCED: u32 = 1 << 24;

/// The longest proof that fits the response: its length is one byte there. Later proofs are packets of their own.
pub(crate) const FIRST_PROOF_BYTES_MAX: usize = u8::MAX as usize;

/// What we can do, if the server can too.
const WANTED: u32 = capability::LONG_PASSWORD
    | capability::LONG_FLAG
    | capability::LOCAL_FILES
    | capability::PROTOCOL_41
    | capability::TRANSACTIONS
    | capability::SECURE_CONNECTION
    | capability::MULTI_STATEMENTS
    | capability::MULTI_RESULTS
    | capability::PLUGIN_AUTH
    | capability::DEPRECATE_EOF;

/// What a server must be able to do.
const NEEDED: u32 = capability::PROTOCOL_41 | capability::SECURE_CONNECTION;

/// The server's Handshake packet, version 10.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Greeting {
    /// The version as a person would say it.
    pub(crate) version: String,
    pub(crate) thread_id: u32,
    pub(crate) capabilities: u32,
    pub(crate) nonce: Vec<u8>,
    /// The authentication method that the server tries first; empty if it knows only the one.
    pub(crate) plugin: String,
}

impl Greeting {
    /// Reads it.
    pub(crate) fn parse(payload: &[u8]) -> Result<Greeting, PacketError> {
        let mut fields = Fields::behind_head(payload);
        let version = String::from_utf8_lossy(fields.nul_text()?).into_owned();
        let thread_id = fields.int4()?;
        let mut nonce = fields.bytes(8)?.to_vec();
        fields.int1()?;
        let low = fields.int2()?;
        if fields.is_at_end() {
            return Err(fields.malformed());
        }
        fields.int1()?;
        fields.int2()?;
        let high = fields.int2()?;
        let nonce_bytes = fields.int1()?;
        fields.bytes(10)?;
        let capabilities = u32::from(low) | u32::from(high) << 16;
        if capabilities & capability::SECURE_CONNECTION != 0 {
            let more = usize::from(nonce_bytes).saturating_sub(nonce.len()).max(13);
            nonce.extend(fields.bytes(more)?);
            nonce.truncate(NONCE_BYTES);
        }
        let plugin = match capabilities & capability::PLUGIN_AUTH {
            0 => String::new(),
            _ => String::from_utf8_lossy(fields.nul_text_or_rest()).into_owned(),
        };
        Ok(Greeting { version: plain_version(&version), thread_id, capabilities, nonce, plugin })
    }

    /// Whether the server speaks what we need; it does since version 4.1.
    pub(crate) fn is_young_enough(&self) -> bool {
        self.capabilities & NEEDED == NEEDED
    }

    /// What both can do.
    pub(crate) fn agreed(&self) -> u32 {
        self.capabilities & WANTED
    }
}

/// MariaDB puts a version of MySQL before its own, for old replicas.
fn plain_version(version: &str) -> String {
    match version.strip_prefix("5.5.5-") {
        Some(own) if own.contains("MariaDB") => own.to_owned(),
        _ => version.to_owned(),
    }
}

/// What we answer to a greeting.
#[derive(Debug)]
pub(crate) struct Response<'a> {
    pub(crate) capabilities: u32,
    pub(crate) collation: u8,
    pub(crate) user: &'a str,
    pub(crate) database: &'a str,
    pub(crate) proof: &'a [u8],
    pub(crate) plugin: &'a str,
}

impl Response<'_> {
    /// The SSLRequest: the beginning of the response, before everything is encrypted.
    pub(crate) fn ssl_request(&self) -> Vec<u8> {
        let mut payload = Vec::new();
        payload.extend(self.capabilities.to_le_bytes());
        payload.extend(PACKET_BYTES_ANNOUNCED.to_le_bytes());
        payload.push(self.collation);
        payload.extend([0; 23]);
        payload
    }

    /// The HandshakeResponse41.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut payload = self.ssl_request();
        payload.extend(self.user.as_bytes());
        payload.push(0);
        payload.push(u8::try_from(self.proof.len()).expect("the login begins with a method whose proof fits"));
        payload.extend(self.proof);
        if self.capabilities & capability::CONNECT_WITH_DB != 0 {
            payload.extend(self.database.as_bytes());
            payload.push(0);
        }
        if self.capabilities & capability::PLUGIN_AUTH != 0 {
            payload.extend(self.plugin.as_bytes());
            payload.push(0);
        }
        payload
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a server of so many words would greet.
    fn greeting(version: &str, plugin: &[u8]) -> Vec<u8> {
        let capabilities = (WANTED | capability::SSL).to_le_bytes();
        let mut payload = vec![0x0a];
        payload.extend(version.as_bytes());
        payload.extend(b"\0\x07\0\0\0abcdefgh\0");
        payload.extend(&capabilities[..2]);
        payload.extend(b"\x08\x02\0");
        payload.extend(&capabilities[2..]);
        payload.extend(b"\x15\0\0\0\0\0\0\0\0\0\0ijklmnopqrst\0");
        payload.extend(plugin);
        payload
    }

    #[test]
    fn greetings_are_read_and_short_ones_refused() {
        for (version, shown) in [
            ("8.0.33", "8.0.33"),
            ("5.5.5-10.11.5-MariaDB-log", "10.11.5-MariaDB-log"),
            ("11.4.5-MariaDB", "11.4.5-MariaDB"),
            ("5.5.5-m3", "5.5.5-m3"),
        ] {
            let read = Greeting::parse(&greeting(version, b"mysql_native_password\0")).unwrap();
            assert_eq!((read.version.as_str(), read.thread_id), (shown, 7));
            assert_eq!(read.nonce, b"abcdefghijklmnopqrst");
            assert_eq!(read.plugin, "mysql_native_password");
            assert!(read.is_young_enough());
            assert_eq!(read.agreed(), WANTED);
        }
        let whole = greeting("8.0.33", b"");
        assert_eq!(Greeting::parse(&whole).unwrap().plugin, "");
        assert_eq!(Greeting::parse(&greeting("5.5.8", b"no_end")).unwrap().plugin, "no_end");
        for cut in 0..whole.len() {
            assert!(Greeting::parse(&whole[..cut]).is_err(), "{cut}");
        }
    }
}
