//! Packages by their coordinates, as the catalog names them.
//!
//! In: nothing. Out: the types that package clients are called with, and their coordinates as text. It must not fetch
//! anything.

use std::fmt;

/// A package by coordinate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Package {
    /// A jar or zip, fetched by `mvn`.
    Maven {
        /// Group id.
        group: String,
        /// Artifact id.
        artifact: String,
        /// Version of the package.
        version: String,
        /// `jar` or `zip`.
        packaging: String,
        /// Which of the artifact's files, where it has several.
        classifier: Option<String>,
    },
    /// A compressed tar, fetched by `npm`.
    Npm {
        /// Name of the package.
        name: String,
        /// Version of the package.
        version: String,
    },
    /// Debian packages that together make an installation, fetched by apt.
    Apt {
        /// Architecture, as Debian names it.
        architecture: String,
        /// The packages, in the order in which they are unpacked; the server's first.
        debs: Vec<Deb>,
    },
}

/// One Debian package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deb {
    /// Name.
    pub name: String,
    /// Version with epoch and revision.
    pub version: String,
    /// The release of Debian that has it, such as `bookworm`.
    pub suite: String,
    /// Where a mirror has it, as `apt-cache show` says it: `pool/main/…`.
    pub file: String,
    /// SHA-256 of the file.
    pub sha256: String,
}

impl Deb {
    /// The first of several, and how many more there are.
    pub(super) fn shortly(debs: &[Deb]) -> String {
        match debs {
            [first, more @ ..] if !more.is_empty() => format!("{first} and {} more", more.len()),
            debs => debs.iter().map(Deb::to_string).collect(),
        }
    }
}

impl fmt::Display for Deb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}={}", self.suite, self.name, self.version)
    }
}

impl fmt::Display for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Package::Maven { group, artifact, version, packaging, classifier } => {
                write!(f, "{group}:{artifact}:{version}:{packaging}")?;
                classifier.iter().try_for_each(|classifier| write!(f, ":{classifier}"))
            }
            Package::Npm { name, version } => write!(f, "{name}@{version}"),
            Package::Apt { debs, .. } => f.write_str(&Deb::shortly(debs)),
        }
    }
}
