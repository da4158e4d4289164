//! What a user names with `--build`: a release of the catalog, a folder or an archive on this machine, the address of
//! an archive, or a source to be compiled; and an optional name.
//!
//! `postgres:17.11`, `my8033`, `candidate=postgres:/opt/pg17`, `mysql:/tmp/mysql-9.4.0-linux-glibc2.28-x86_64.tar.xz`,
//! `mine=postgres:src:.`.

mod address;
mod source;

pub use address::{ARCHIVE_ENDINGS, credentials, has_password, is_archive, without_credentials};
pub use source::{InvalidSource, MERGE_BASE, SourcePlace, SourceSpec, is_flavour};

use crate::{Engine, Version};
use serde_with::{DeserializeFromStr, SerializeDisplay};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Where a build comes from. It is stored as a part of [`BuildSpec`] only, which leaves passwords out.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum BuildSource {
    /// A release listed in the catalog.
    Catalog(Version),
    /// An installation folder on this machine (the one that holds `bin/`).
    Folder(PathBuf),
    /// An archive on this machine that holds an installation folder.
    Archive(PathBuf),
    /// An archive to be fetched.
    Url {
        /// Where it is, as its user wrote it. It may hold a password, which is neither written nor stored: only whoever
        /// fetches may look at this.
        url: String,
        /// What it must hash to, if the user said so (`#sha256=` at the end).
        sha256: Option<String>,
    },
    /// A source that is compiled here.
    Source(SourceSpec),
}

impl BuildSource {
    /// Reads what stands after the engine's colon.
    fn parse(text: &str) -> Result<BuildSource, InvalidBuildSpec> {
        if let Some(source) = text.strip_prefix(source::SOURCE) {
            return Ok(BuildSource::Source(SourceSpec::parse(source)?));
        }
        if text.contains("://") {
            let (url, sha256) = address::split_digest(text).map_err(InvalidBuildSpec::Digest)?;
            return Ok(BuildSource::Url { url, sha256 });
        }
        if !text.contains('/') && !text.starts_with('.') {
            return Ok(BuildSource::Catalog(text.parse()?));
        }
        Ok(if is_archive(text) { BuildSource::Archive(text.into()) } else { BuildSource::Folder(text.into()) })
    }
}

impl fmt::Display for BuildSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildSource::Catalog(version) => write!(f, "{version}"),
            BuildSource::Folder(path) | BuildSource::Archive(path) => write!(f, "{}", path.display()),
            BuildSource::Url { url, sha256 } => f.write_str(&address::shown(url, sha256.as_deref())),
            BuildSource::Source(source) => write!(f, "{source}"),
        }
    }
}

/// A build as asked for: engine, source, and the name its user gave it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, SerializeDisplay, DeserializeFromStr)]
pub struct BuildSpec {
    /// The user's own name for it (`NAME=` in front), else it is named by what its binary says.
    pub name: Option<String>,
    /// The database system.
    pub engine: Engine,
    /// Release, folder, archive, address or source.
    pub source: BuildSource,
}

/// Why a `--build` word cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidBuildSpec {
    /// No `engine:` in front.
    #[error("`{0}` names no engine; write ENGINE:VERSION, ENGINE:/FOLDER or ENGINE:/ARCHIVE, such as postgres:17.11")]
    NoEngine(String),
    /// Engine unknown.
    #[error("unknown engine `{0}`; expected one of: {all}", all = Engine::ALL.map(Engine::name).join(", "))]
    Engine(String),
    /// Version unreadable.
    #[error(transparent)]
    Version(#[from] crate::version::InvalidVersion),
    /// The name has characters that a folder name must not have.
    #[error("`{0}` cannot name a build; use letters, digits, `.`, `_` and `-`, first a letter or digit")]
    Name(String),
    /// What an address must hash to is not a digest.
    #[error("`{0}` is not a SHA-256; give its 64 hexadecimal digits")]
    Digest(String),
    /// A source that cannot be read.
    #[error(transparent)]
    Source(#[from] InvalidSource),
}

/// Whether a word may name a build or a campaign: it becomes a folder name and a column title.
pub fn is_plain_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    name.len() <= 64 && name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(plain)
}

impl FromStr for BuildSpec {
    type Err = InvalidBuildSpec;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, rest) = match text.split_once('=') {
            Some((name, rest)) if !name.contains([':', '/']) => (Some(name.to_owned()), rest),
            _ => (None, text),
        };
        if let Some(name) = &name
            && !is_plain_name(name)
        {
            return Err(InvalidBuildSpec::Name(name.clone()));
        }
        let Some((engine, source)) = rest.split_once(':') else {
            let (engine, version) =
                crate::version::read_compact(rest).ok_or_else(|| InvalidBuildSpec::NoEngine(text.to_owned()))?;
            return Ok(BuildSpec { name, engine, source: BuildSource::Catalog(version) });
        };
        let engine = Engine::find(engine).ok_or_else(|| InvalidBuildSpec::Engine(engine.to_owned()))?;
        Ok(BuildSpec { name, engine, source: BuildSource::parse(source)? })
    }
}

impl fmt::Display for BuildSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "{name}=")?;
        }
        write!(f, "{}:{}", self.engine, self.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_every_form() {
        let digest = "0f".repeat(32);
        let address = format!("mysql:https://example.org/my.tar.xz?a=b#sha256={digest}");
        for text in [
            "postgres:17.11",
            "postgres:/usr/lib/postgresql/15",
            "new=postgres:/opt/pg",
            "a=mariadb:11.4.5",
            "mysql:./mysql-9.4.0-linux-glibc2.28-x86_64.tar.xz",
            "x=mysql:https://example.org/my.tar.xz",
            "mine=postgres:src:.@merge-base+o2nofp",
            &address,
        ] {
            assert_eq!(text.parse::<BuildSpec>().expect("a build").to_string(), text);
        }
        let short = "old=my5614".parse::<BuildSpec>().expect("a build");
        assert_eq!(short.to_string(), "old=mysql:5.6.14");
    }

    #[test]
    fn a_password_is_never_written() {
        for (text, written) in [
            ("mysql:https://u:p@example.org/my.zip", "mysql:https://example.org/my.zip"),
            ("a=mysql:https://u@example.org:80/my.zip?k=v@w", "a=mysql:https://example.org:80/my.zip?k=v@w"),
            ("mysql:https://u:p@q@example.org", "mysql:https://example.org"),
            ("mysql:https://example.org/@/my.zip", "mysql:https://example.org/@/my.zip"),
        ] {
            let spec = text.parse::<BuildSpec>().expect("a build");
            assert_eq!(spec.to_string(), written);
            assert_eq!(serde_json::to_value(&spec).unwrap(), written, "so it is stored");
            let BuildSource::Url { url, .. } = spec.source else { panic!("{text} is an address") };
            assert!(text.ends_with(&url), "who fetches gets it whole");
        }
        assert_eq!(without_credentials("mysql:/opt/a@b/c"), "mysql:/opt/a@b/c");
    }

    #[test]
    fn says_what_is_wrong() {
        let wrong = |text: &str| text.parse::<BuildSpec>().expect_err("refused").to_string();
        assert!(wrong("17.11").contains("names no engine"));
        assert!(wrong("oracle:19").contains("unknown engine `oracle`"));
        assert!(wrong("postgres:x").contains("not a version"));
        assert!(wrong("../x=postgres:17.11").contains("unknown engine"));
        assert!(wrong("a b=postgres:17.11").contains("cannot name a build"));
        assert!(wrong("mysql:https://example.org/my.tar.xz#sha256=12").contains("64 hexadecimal digits"));
    }
}
