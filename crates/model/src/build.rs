//! What a user names with `--build`: a release of the catalog or a folder on this machine, and an optional name.
//!
//! `postgres:17.11`, `postgres:/usr/lib/postgresql/15`, `candidate=postgres:/opt/pg17`.

use crate::{Engine, Version};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Where a build comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BuildSource {
    /// A release listed in the catalog.
    Catalog(Version),
    /// An installation folder on this machine (the one that holds `bin/`).
    Folder(PathBuf),
}

/// A build as asked for: engine, source, and the name its user gave it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct BuildSpec {
    /// The user's own name for it (`NAME=` in front), else it is named by what its binary says.
    pub name: Option<String>,
    /// The database system.
    pub engine: Engine,
    /// Release or folder.
    pub source: BuildSource,
}

/// Why a `--build` word cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidBuildSpec {
    /// No `engine:` in front.
    #[error("`{0}` names no engine; write ENGINE:VERSION or ENGINE:/FOLDER, such as postgres:17.11")]
    NoEngine(String),
    /// Engine unknown.
    #[error(transparent)]
    Engine(#[from] crate::engine::UnknownEngine),
    /// Version unreadable.
    #[error(transparent)]
    Version(#[from] crate::version::InvalidVersion),
    /// The name has characters that a folder name must not have.
    #[error("`{0}` cannot name a build; use letters, digits, `.`, `_` and `-`, first a letter or digit")]
    Name(String),
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
        let (engine, source) = rest.split_once(':').ok_or_else(|| InvalidBuildSpec::NoEngine(text.to_owned()))?;
        let engine = engine.parse()?;
        let source = if source.contains('/') || source.starts_with('.') {
            BuildSource::Folder(PathBuf::from(source))
        } else {
            BuildSource::Catalog(source.parse()?)
        };
        Ok(BuildSpec { name, engine, source })
    }
}

impl fmt::Display for BuildSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "{name}=")?;
        }
        match &self.source {
            BuildSource::Catalog(version) => write!(f, "{}:{version}", self.engine),
            BuildSource::Folder(path) => write!(f, "{}:{}", self.engine, path.display()),
        }
    }
}

impl From<BuildSpec> for String {
    fn from(spec: BuildSpec) -> Self {
        spec.to_string()
    }
}

impl TryFrom<String> for BuildSpec {
    type Error = InvalidBuildSpec;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_the_three_forms() {
        for text in ["postgres:17.11", "postgres:/usr/lib/postgresql/15", "new=postgres:/opt/pg", "a=postgres:18.1"] {
            assert_eq!(text.parse::<BuildSpec>().expect("a build").to_string(), text);
        }
    }

    #[test]
    fn says_what_is_wrong() {
        let wrong = |text: &str| text.parse::<BuildSpec>().expect_err("refused").to_string();
        assert!(wrong("17.11").contains("names no engine"));
        assert!(wrong("oracle:19").contains("unknown engine `oracle`"));
        assert!(wrong("postgres:x").contains("not a version"));
        assert!(wrong("../x=postgres:17.11").contains("unknown engine"));
        assert!(wrong("a b=postgres:17.11").contains("cannot name a build"));
    }
}
