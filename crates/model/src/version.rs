//! A DBMS version as structured numbers: `16.15`, `19beta1`, `8.0.33`. Never compared as text.
//!
//! In: text as a user, a binary or a catalog writes it. Out: ordered values, the dotted form and the compact form
//! (`pg1615`) that result names use.

use crate::Engine;
use serde_with::{DeserializeFromStr, SerializeDisplay};
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
#[derive(Debug, Clone, PartialEq, Eq, Hash, SerializeDisplay, DeserializeFromStr)]
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

    /// Whether it is no alpha, beta or release candidate.
    pub fn is_final(&self) -> bool {
        self.pre.is_none()
    }

    /// The form without dots used in result names: `pg1615`, `pg19b1`, `my8408`, `ma110806`. Where a version has three
    /// numbers, so many digits are written that the form can be read again.
    pub fn compact(&self, engine: Engine) -> String {
        let mut text = engine.prefix().to_owned();
        for (at, part) in self.parts.iter().enumerate() {
            match engine {
                Engine::Mariadb => text.push_str(&format!("{part:02}")),
                Engine::Mysql if at >= 2 => text.push_str(&format!("{part:02}")),
                _ => text.push_str(&part.to_string()),
            }
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

/// Reads the form without dots, with its prefix: `my8408` is MySQL 8.4.8. `None` if it is no such form.
pub fn read_compact(text: &str) -> Option<(Engine, Version)> {
    let (engine, rest) =
        Engine::ALL.into_iter().find_map(|engine| Some((engine, text.strip_prefix(engine.prefix())?)))?;
    let (digits, word) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
    // Every PostgreSQL that has this form has a major version of two digits.
    let dotted = match (engine, digits.len()) {
        (Engine::Postgres, 2..=4) => [&digits[..2], &digits[2..]].join("."),
        (Engine::Mysql, 3..=4) => [&digits[..1], &digits[1..2], &digits[2..]].join("."),
        (Engine::Mariadb, 6) => [&digits[..2], &digits[2..4], &digits[4..]].join("."),
        _ => return None,
    };
    let word = match word {
        "" => String::new(),
        _ if word.starts_with("rc") => word.to_owned(),
        _ => format!("{}{}", if word.starts_with('a') { "alpha" } else { "beta" }, word.strip_prefix(['a', 'b'])?),
    };
    Some((engine, format!("{}{word}", dotted.trim_end_matches('.')).parse().ok()?))
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
        let finals: Vec<&str> = ordered.into_iter().filter(|text| version(text).is_final()).collect();
        assert_eq!(finals, ["9.6", "10.1", "16.9", "16.15", "19", "19.1"]);
    }

    #[test]
    fn writes_what_it_read_and_the_compact_form() {
        let cases = [
            (Engine::Postgres, "16.15", "pg1615"),
            (Engine::Postgres, "18.1", "pg181"),
            (Engine::Postgres, "19beta1", "pg19b1"),
            (Engine::Postgres, "18rc1", "pg18rc1"),
            (Engine::Mysql, "5.6.51", "my5651"),
            (Engine::Mysql, "8.0.45", "my8045"),
            (Engine::Mysql, "8.4.8", "my8408"),
            (Engine::Mysql, "9.7.0", "my9700"),
            (Engine::Mariadb, "10.2.44", "ma100244"),
            (Engine::Mariadb, "11.8.6", "ma110806"),
            (Engine::Mariadb, "12.3.1", "ma120301"),
        ];
        for (engine, text, compact) in cases {
            assert_eq!(version(text).to_string(), text);
            assert_eq!(version(text).compact(engine), compact);
            assert_eq!(read_compact(compact), Some((engine, version(text))));
        }
        assert_eq!(read_compact("my804"), Some((Engine::Mysql, version("8.0.4"))));
        for text in ["", "pg", "pg1", "my80334", "ma1106", "or1901", "pg19x1", "17.11"] {
            assert_eq!(read_compact(text), None, "{text}");
        }
    }

    #[test]
    fn refuses_what_is_not_a_version() {
        for text in ["", "x", "16.", "16.x", "16gamma1", "1.2.3.4.5", "-3"] {
            assert!(text.parse::<Version>().is_err(), "{text:?}");
        }
    }
}
