//! The closed set of database systems that rqps compares, and their short names in result files.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A database system whose builds can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// PostgreSQL.
    Postgres,
}

impl Engine {
    /// All engines, in the order in which they are listed.
    pub const ALL: [Engine; 1] = [Engine::Postgres];

    /// The word used in `--build postgres:17.11`.
    pub const fn name(self) -> &'static str {
        match self {
            Engine::Postgres => "postgres",
        }
    }

    /// The prefix of a build's name, as in `pg1711`.
    pub const fn prefix(self) -> &'static str {
        match self {
            Engine::Postgres => "pg",
        }
    }

    /// The name as its makers write it.
    pub const fn title(self) -> &'static str {
        match self {
            Engine::Postgres => "PostgreSQL",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A word that names no engine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown engine `{0}`; expected one of: postgres")]
pub struct UnknownEngine(pub String);

impl FromStr for Engine {
    type Err = UnknownEngine;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Engine::ALL.into_iter().find(|engine| engine.name() == text).ok_or_else(|| UnknownEngine(text.to_owned()))
    }
}
