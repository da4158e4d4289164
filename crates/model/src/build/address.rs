//! Addresses and names of archives, as builds and sources share them.
//!
//! In: words as their user wrote them. Out: their parts, and the same without a password. It must not fetch anything.

use std::ops::Range;

/// Endings of the archives that can be unpacked.
pub const ARCHIVE_ENDINGS: [&str; 7] = [".tar.xz", ".txz", ".tar.gz", ".tgz", ".tar.bz2", ".zip", ".jar"];

/// What stands between an address and the digest of what is there.
const DIGEST_MARK: &str = "#sha256=";

/// Whether a path or an address names an archive.
pub fn is_archive(text: &str) -> bool {
    let path = if text.contains("://") { text.split(['?', '#']).next().unwrap_or(text) } else { text };
    ARCHIVE_ENDINGS.iter().any(|ending| path.ends_with(ending))
}

/// An address and the digest at its end, in lower case; else what stands there instead of one.
pub(super) fn split_digest(text: &str) -> Result<(String, Option<String>), String> {
    match text.split_once(DIGEST_MARK) {
        None => Ok((text.to_owned(), None)),
        Some((url, digest)) if digest.len() == 64 && digest.chars().all(|c| c.is_ascii_hexdigit()) => {
            Ok((url.to_owned(), Some(digest.to_ascii_lowercase())))
        }
        Some((_, digest)) => Err(digest.to_owned()),
    }
}

/// An address with its digest, without a user's name and password.
pub(super) fn shown(url: &str, sha256: Option<&str>) -> String {
    let digest = sha256.map(|digest| format!("{DIGEST_MARK}{digest}")).unwrap_or_default();
    without_credentials(url) + &digest
}

/// An address, or a word that holds one, as it may be shown and kept: without a user's name and password.
pub fn without_credentials(text: &str) -> String {
    match credentials(text) {
        Some(span) => [&text[..span.start], &text[span.end + 1..]].concat(),
        None => text.to_owned(),
    }
}

/// Where a user's name and password stand in a word that holds an address; the `@` behind them is not part of it.
pub fn credentials(text: &str) -> Option<Range<usize>> {
    let (start, end) = host(text)?;
    let at = text[start..end].rfind('@')?;
    Some(start..start + at)
}

/// Whether an address holds a password.
pub fn has_password(url: &str) -> bool {
    credentials(url).is_some_and(|span| url[span].contains(':'))
}

/// Where the host of an address stands, with what may stand in front of it.
pub(super) fn host(text: &str) -> Option<(usize, usize)> {
    let start = text.find("://")? + 3;
    let end = text[start..].find(['/', '?', '#']).map_or(text.len(), |length| start + length);
    Some((start, end))
}
