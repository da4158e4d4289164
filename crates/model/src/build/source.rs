//! Sources that are compiled on this machine: `src:WHERE[@REVISION][+FLAVOUR][+patch=FILE]`.
//!
//! WHERE is a source tree, a git repository, a source archive, or a version of the catalog that comes as a source
//! package. `src:.` is the tree as it lies there, uncommitted changes included; `src:.@merge-base` is what it branched
//! from.

use super::address::{has_password, host, is_archive, shown, split_digest};
use crate::Version;
use crate::version::InvalidVersion;
use std::fmt;
use std::path::PathBuf;

/// What stands in front of a source.
pub(super) const SOURCE: &str = "src:";

/// What stands in front of the file of a patch.
const PATCH: &str = "+patch=";

/// The revision that the work of a tree began with.
pub const MERGE_BASE: &str = "merge-base";

/// A source as asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SourceSpec {
    /// Where it is.
    pub place: SourcePlace,
    /// Branch, tag or commit of a repository, or [`MERGE_BASE`].
    pub revision: Option<String>,
    /// How it is compiled; the engine's usual flavour where none is named.
    pub flavour: Option<String>,
    /// Patches that are applied to it, in this order.
    pub patches: Vec<PathBuf>,
}

/// Where a source is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SourcePlace {
    /// A source package of the catalog.
    Release(Version),
    /// A source tree on this machine or, with a revision, a git repository.
    Folder(PathBuf),
    /// A source archive on this machine.
    Archive(PathBuf),
    /// A source archive to be fetched; as of builds, the address may hold a password.
    ArchiveUrl {
        /// Where it is.
        url: String,
        /// What it must hash to, if the user said so.
        sha256: Option<String>,
    },
    /// A git repository to be fetched from.
    Repository(String),
}

/// Why a source cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSource {
    /// Nothing says where it is.
    #[error("a source needs its place: src:/FOLDER, src:/ARCHIVE, src:URL or src:VERSION")]
    NoPlace,
    /// Only repositories have revisions.
    #[error("`{0}` has no revisions; only a git repository has")]
    NoRevisions(String),
    /// Not a word that git would take for a revision.
    #[error("`{0}` is no revision; write a branch, a tag, a commit or {MERGE_BASE} after the `@`")]
    Revision(String),
    /// No file after `+patch=`.
    #[error("the file of a patch is missing after `+patch=`")]
    NoPatch,
    /// Neither a version nor a path.
    #[error(transparent)]
    Version(#[from] InvalidVersion),
    /// What an address must hash to is not a digest.
    #[error("`{0}` is not a SHA-256; give its 64 hexadecimal digits")]
    Digest(String),
}

impl SourceSpec {
    /// Reads what stands after `src:`.
    pub(super) fn parse(text: &str) -> Result<SourceSpec, InvalidSource> {
        let mut parts = text.split(PATCH);
        let head = parts.next().unwrap_or_default();
        let patches: Vec<PathBuf> = parts.map(PathBuf::from).collect();
        if patches.iter().any(|patch| patch.as_os_str().is_empty()) {
            return Err(InvalidSource::NoPatch);
        }
        let (head, flavour) = match head.rsplit_once('+') {
            // A path may have a `+`, which no name of a flavour stands behind.
            Some((head, flavour)) if is_flavour(flavour) => (head, Some(flavour.to_owned())),
            _ => (head, None),
        };
        let (place, revision) = place_and_revision(head)?;
        Ok(SourceSpec { place, revision, flavour, patches })
    }
}

fn place_and_revision(text: &str) -> Result<(SourcePlace, Option<String>), InvalidSource> {
    // The first `@` of an address may follow a user's name; revisions have one too (`main@{1}`).
    let names = host(text).map_or(0, |(_, end)| end);
    let (place, revision) = match text[names..].find('@').map(|at| names + at) {
        Some(at) => (&text[..at], Some(text[at + 1..].to_owned())),
        None => (text, None),
    };
    if place.is_empty() {
        return Err(InvalidSource::NoPlace);
    }
    if let Some(revision) = revision.as_ref().filter(|revision| !is_revision(revision)) {
        return Err(InvalidSource::Revision(revision.clone()));
    }
    let place = match (place.contains("://"), is_archive(place)) {
        (true, true) => {
            let (url, sha256) = split_digest(place).map_err(InvalidSource::Digest)?;
            SourcePlace::ArchiveUrl { url, sha256 }
        }
        (true, false) => SourcePlace::Repository(place.to_owned()),
        (false, _) if !place.contains('/') && !place.starts_with('.') => SourcePlace::Release(place.parse()?),
        (false, true) => SourcePlace::Archive(place.into()),
        (false, false) => SourcePlace::Folder(place.into()),
    };
    match place {
        SourcePlace::Folder(_) | SourcePlace::Repository(_) => {}
        _ if revision.is_some() => return Err(InvalidSource::NoRevisions(place.to_string())),
        _ => {}
    }
    Ok((place, revision))
}

/// Whether a word may name a flavour: it becomes a part of the build's name.
pub fn is_flavour(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.len() <= 32 && name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(plain)
}

/// Nothing that a program could take for an option, nor what no terminal shows.
fn is_revision(text: &str) -> bool {
    !text.is_empty() && !text.starts_with('-') && !text.chars().any(|c| c.is_whitespace() || c.is_control())
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourcePlace::Release(version) => write!(f, "{version}"),
            SourcePlace::Folder(path) | SourcePlace::Archive(path) => write!(f, "{}", path.display()),
            SourcePlace::ArchiveUrl { url, sha256 } => f.write_str(&shown(url, sha256.as_deref())),
            // The user of a login by keys is no secret, and nobody gets in without.
            SourcePlace::Repository(url) if url.starts_with("ssh://") && !has_password(url) => f.write_str(url),
            SourcePlace::Repository(url) => f.write_str(&shown(url, None)),
        }
    }
}

impl fmt::Display for SourceSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SOURCE}{}", self.place)?;
        self.revision.iter().try_for_each(|revision| write!(f, "@{revision}"))?;
        self.flavour.iter().try_for_each(|flavour| write!(f, "+{flavour}"))?;
        self.patches.iter().try_for_each(|patch| write!(f, "{PATCH}{}", patch.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_place_with_what_follows_it() {
        let folder = |path: &str| SourcePlace::Folder(path.into());
        let repository = |url: &str| SourcePlace::Repository(url.to_owned());
        let version = |text: &str| SourcePlace::Release(text.parse().expect("a version"));
        let archive = |url: &str| SourcePlace::ArchiveUrl { url: url.to_owned(), sha256: None };
        let (main, base) = (Some("main@{1}"), Some("merge-base"));
        for (text, place, revision, flavour, patches) in [
            (".", folder("."), None, None, &[][..]),
            (".@merge-base", folder("."), base, None, &[]),
            ("/src/c++/pg", folder("/src/c++/pg"), None, None, &[]),
            ("/src/pg@main@{1}+o3", folder("/src/pg"), main, Some("o3"), &[]),
            ("17.11+o2nofp", version("17.11"), None, Some("o2nofp"), &[]),
            ("17.11+patch=a.diff+patch=/b+c.diff", version("17.11"), None, None, &["a.diff", "/b+c.diff"]),
            ("/d/pg.tar.bz2", SourcePlace::Archive("/d/pg.tar.bz2".into()), None, None, &[]),
            ("https://h/pg.git@a/b", repository("https://h/pg.git"), Some("a/b"), None, &[]),
            ("https://u:p@h/pg@x", repository("https://u:p@h/pg"), Some("x"), None, &[]),
            ("https://h/pg.tar.gz?a=b+def", archive("https://h/pg.tar.gz?a=b"), None, Some("def"), &[]),
        ] {
            let spec = SourceSpec::parse(text).expect("a source");
            let patches = patches.iter().map(PathBuf::from).collect();
            let (revision, flavour) = (revision.map(str::to_owned), flavour.map(str::to_owned));
            assert_eq!(spec, SourceSpec { place, revision, flavour, patches }, "{text}");
            assert_eq!(spec.to_string().replace("u:p@", ""), format!("src:{text}").replace("u:p@", ""));
        }
    }

    #[test]
    fn a_password_is_never_written() {
        let spec = SourceSpec::parse("https://u:p@h/pg.git@main+o3").expect("a source");
        assert_eq!(spec.to_string(), "src:https://h/pg.git@main+o3");
        let shown = |text: &str| SourceSpec::parse(text).expect("a source").to_string();
        assert_eq!(shown("ssh://git@h/pg.git"), "src:ssh://git@h/pg.git");
        assert_eq!(shown("ssh://git:p@h/pg.git"), "src:ssh://h/pg.git");
    }

    #[test]
    fn says_what_is_wrong() {
        let wrong = |text: &str| SourceSpec::parse(text).expect_err("refused").to_string();
        assert!(wrong("").contains("needs its place"));
        assert!(wrong("@main").contains("needs its place"));
        assert!(wrong(".@").contains("is no revision"));
        assert!(wrong(".@--upload-pack=x").contains("is no revision"));
        assert!(wrong("17.11@main").contains("17.11` has no revisions"));
        assert!(wrong("/a/b.tar.gz@main").contains("has no revisions"));
        assert!(wrong("17.11+patch=").contains("file of a patch"));
        assert!(wrong("pg").contains("not a version"));
        assert!(wrong("https://h/a.tar.gz#sha256=12").contains("64 hexadecimal digits"));
    }
}
