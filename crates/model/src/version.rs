//! A DBMS version as structured numbers: `16.15`, `19beta1`, `8.0.33`. Never compared as text.
//!
//! In: text as a user, a binary or a catalog writes it. Out: ordered values, the dotted form and the compact form
//! (`pg1615`) that result names use.

use crate::Engine;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// Release maturity before the final release; a final release has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Maturity {
    Alpha,
    Beta,
    Candidate,
}

impl Maturity {
    const ALL: [(Maturity, &'static str); 3] =
        [(Maturity::Alpha, "alpha"), (Maturity::Beta, "beta"), (Maturity::Candidate, "rc")];

    fn word(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

/// A version: one to three numbers and, before a final release, its maturity.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Version {
    parts: Vec<u32>,
    pre: Option<(Maturity, u32)>,
}

/// Text that is not a version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a version; expected numbers such as 17.11, 8.0.33 or 19beta1")]
pub struct InvalidVersion(pub String);

impl Version {
    /// The first number: 17 of 17.11.
    pub fn major(&self) -> u32 {
        self.parts[0]
    }

    /// The n-th number, 0 where the version has fewer.
    pub fn part(&self, n: usize) -> u32 {
        self.parts.get(n).copied().unwrap_or(0)
    }

    /// The form without dots used in result names: `pg1615`, `pg19b1`, `pg18rc1`.
    pub fn compact(&self, engine: Engine) -> String {
        let mut text = engine.prefix().to_owned();
        for part in &self.parts {
            text.push_str(&part.to_string());
        }
        if let Some((maturity, number)) = self.pre {
            let word = match maturity {
                Maturity::Alpha => "a",
                Maturity::Beta => "b",
                Maturity::Candidate => "rc",
            };
            text.push_str(&format!("{word}{number}"));
        }
        text
    }
}

impl FromStr for Version {
    type Err = InvalidVersion;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidVersion(text.to_owned());
        let (numbers, pre) = match text.find(|c: char| c.is_ascii_alphabetic()) {
            None => (text, None),
            Some(at) => {
                let (numbers, word) = text.split_at(at);
                let pre = Maturity::ALL.into_iter().find_map(|(maturity, name)| {
                    let number = word.strip_prefix(name)?.parse().ok()?;
                    Some((maturity, number))
                });
                (numbers.trim_end_matches('~'), Some(pre.ok_or_else(invalid)?))
            }
        };
        let parts: Vec<u32> = numbers.split('.').map(str::parse).collect::<Result<_, _>>().map_err(|_| invalid())?;
        if parts.len() > 4 {
            return Err(invalid());
        }
        Ok(Version { parts, pre })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.parts.iter().map(u32::to_string).collect();
        f.write_str(&parts.join("."))?;
        match self.pre {
            Some((maturity, number)) => write!(f, "{}{number}", maturity.word()),
            None => Ok(()),
        }
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let longest = self.parts.len().max(other.parts.len());
        let numbers = (0..longest).map(|n| self.part(n).cmp(&other.part(n))).find(|o| o.is_ne());
        // A final release comes after all its pre-releases.
        numbers.unwrap_or(Ordering::Equal).then_with(|| match (self.pre, other.pre) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(a), Some(b)) => a.cmp(&b),
        })
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.to_string()
    }
}

impl TryFrom<String> for Version {
    type Error = InvalidVersion;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().expect("a version")
    }

    #[test]
    fn orders_by_number_and_maturity() {
        let ordered = ["9.6", "10.1", "16.9", "16.15", "19beta1", "19beta2", "19rc1", "19", "19.1"];
        for pair in ordered.windows(2) {
            assert!(version(pair[0]) < version(pair[1]), "{} < {}", pair[0], pair[1]);
        }
    }

    #[test]
    fn writes_what_it_read_and_the_compact_form() {
        for (text, compact) in [("16.15", "pg1615"), ("19beta1", "pg19b1"), ("18rc1", "pg18rc1"), ("12.22", "pg1222")] {
            assert_eq!(version(text).to_string(), text);
            assert_eq!(version(text).compact(Engine::Postgres), compact);
        }
    }

    #[test]
    fn refuses_what_is_not_a_version() {
        for text in ["", "x", "16.", "16.x", "16gamma1", "1.2.3.4.5", "-3"] {
            assert!(text.parse::<Version>().is_err(), "{text:?}");
        }
    }
}
