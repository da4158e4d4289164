//! How a password is proven to a server, one function an authentication plugin.
//!
//! In: the password and the server's nonce. Out: the bytes to send. The formulas are those of the manual's
//! "Authentication Methods" and of MariaDB's "Authentication Plugin - ed25519".

use ed25519_dalek::VerifyingKey;
use ed25519_dalek::hazmat::{ExpandedSecretKey, raw_sign};
use rsa::pkcs8::DecodePublicKey;
use rsa::traits::PublicKeyParts;
use rsa::{Oaep, RsaPublicKey};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

/// The largest key of a server, in bytes, that we calculate with; one larger is an attempt to keep us busy.
const KEY_BYTES_MAX: usize = 1024;

/// mysql_native_password: SHA1(password) XOR SHA1(nonce, SHA1(SHA1(password))); nothing for an empty password.
pub(crate) fn native(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let once = sha1(&[password]);
    let twice = sha1(&[&once]);
    xor(&once, &sha1(&[nonce, &twice]))
}

/// caching_sha2_password: SHA256(password) XOR SHA256(SHA256(SHA256(password)), nonce); a NUL for an empty password.
pub(crate) fn caching_sha2(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return vec![0];
    }
    let once = Sha256::digest(password);
    let twice = Sha256::digest(once);
    let salted = Sha256::new().chain_update(twice).chain_update(nonce).finalize();
    xor(&once, &salted)
}

/// client_ed25519: a signature of the nonce with the key that comes of the password.
pub(crate) fn ed25519(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    // The same as Ed25519 of RFC 8032, but the password stands where that has a secret of 32 bytes.
    let mut hash = [0; 64];
    hash.copy_from_slice(&Sha512::digest(password));
    let secret = ExpandedSecretKey::from_bytes(&hash);
    let public = VerifyingKey::from(&secret);
    raw_sign::<Sha512>(&secret, nonce, &public).to_bytes().to_vec()
}

/// The password, NUL-terminated, XOR the nonce, under the server's RSA key with OAEP padding (SHA-1), as both SHA-256
/// plugins take it where nothing else encrypts. An active eavesdropper could give us a key of their own: it is TLS that
/// is meant for networks that aren't trusted.
pub(crate) fn under_rsa_key(password: &[u8], nonce: &[u8], pem: &[u8]) -> Result<Vec<u8>, String> {
    let pem = std::str::from_utf8(pem).map_err(|_| "the server's RSA key is not a text".to_owned())?;
    let key = RsaPublicKey::from_public_key_pem(pem.trim())
        .map_err(|error| format!("the server's RSA key cannot be read: {error}"))?;
    if key.size() > KEY_BYTES_MAX {
        return Err(format!("the server's RSA key has {} bits, which is too much", 8 * key.size()));
    }
    let hidden = nul_terminated(password);
    let hidden: Vec<u8> = hidden.iter().zip(nonce.iter().cycle()).map(|(byte, salt)| byte ^ salt).collect();
    key.encrypt(&mut rsa::rand_core::OsRng, Oaep::new::<Sha1>(), &hidden)
        .map_err(|error| format!("the password does not fit the server's RSA key: {error}"))
}

/// The password as it is sent where the channel is safe.
pub(crate) fn nul_terminated(password: &[u8]) -> Vec<u8> {
    [password, b"\0"].concat()
}

fn sha1(parts: &[&[u8]]) -> [u8; 20] {
    use sha1::Digest as _;
    let mut hash = Sha1::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

fn xor(a: &[u8], b: &[u8]) -> Vec<u8> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Checked by what the server would do: it knows SHA1(SHA1(password)) and finds SHA1(password) in the proof.
    #[test]
    fn native_proofs_convince_who_knows_the_stored_hash() {
        let (password, nonce) = (b"open sesame", b"abcdefghijklmnopqrst");
        let stored = sha1(&[&sha1(&[password])]);
        let found = xor(&native(password, nonce), &sha1(&[nonce, &stored]));
        assert_eq!(sha1(&[&found]), stored);
        assert_eq!(native(b"", nonce), b"");
    }

    #[test]
    fn caching_sha2_proofs_convince_who_knows_the_stored_hash() {
        let (password, nonce) = (b"open sesame", b"abcdefghijklmnopqrst");
        let stored = Sha256::digest(Sha256::digest(password));
        let salted = Sha256::new().chain_update(stored).chain_update(nonce).finalize();
        let found = xor(&caching_sha2(password, nonce), &salted);
        assert_eq!(Sha256::digest(found), stored);
        assert_eq!(caching_sha2(b"", nonce), [0]);
    }

    /// With a secret of 32 bytes it is plain Ed25519: RFC 8032, section 7.1, test 2.
    #[test]
    fn ed25519_signs_as_the_standard_does() {
        let secret: Vec<u8> = (0..32)
            .map(|i| {
                let digits = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb";
                u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap()
            })
            .collect();
        assert_eq!(
            hex(&ed25519(&secret, &[0x72])),
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da\
             085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        );
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for pem in [&b"\xff"[..], b"", b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----"] {
            assert!(under_rsa_key(b"p", b"n", pem).unwrap_err().contains("RSA key"));
        }
    }
}
