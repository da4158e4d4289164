//! The scripts that pgbench brings with it.
//!
//! In: a name, or the beginning of one. Out: the script's text, letter for letter as pgbench shows it, since what a
//! server logs must not tell the two apart.

/// A script with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Builtin {
    /// By which it is asked for.
    pub name: &'static str,
    /// What pgbench says of it.
    pub description: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// All of them, in pgbench's order.
pub const BUILTINS: [Builtin; 3] = [
    Builtin {
        name: "tpcb-like",
        description: "<builtin: TPC-B (sort of)>",
        text: "\\set aid random(1, 100000 * :scale)
\\set bid random(1, 1 * :scale)
\\set tid random(1, 10 * :scale)
\\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
",
    },
    Builtin {
        name: "simple-update",
        description: "<builtin: simple update>",
        text: "\\set aid random(1, 100000 * :scale)
\\set bid random(1, 1 * :scale)
\\set tid random(1, 10 * :scale)
\\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
",
    },
    Builtin {
        name: "select-only",
        description: "<builtin: select only>",
        text: "\\set aid random(1, 100000 * :scale)
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
",
    },
];

/// Why no built-in script was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuiltinError {
    /// Nothing begins like that.
    #[error("no builtin script found for name \"{name}\"; there are tpcb-like, simple-update and select-only")]
    Unknown {
        /// The name as given.
        name: String,
    },
    /// Several begin like that.
    #[error("ambiguous builtin name: \"{name}\" is {}; write more of it", found.join(" or "))]
    Ambiguous {
        /// The name as given.
        name: String,
        /// The names that begin with it.
        found: Vec<&'static str>,
    },
}

impl Builtin {
    /// The only script whose name begins with `name`.
    pub fn find(name: &str) -> Result<&'static Builtin, BuiltinError> {
        let found: Vec<&'static Builtin> = BUILTINS.iter().filter(|builtin| builtin.name.starts_with(name)).collect();
        match found.as_slice() {
            [one] => Ok(one),
            [] => Err(BuiltinError::Unknown { name: name.to_owned() }),
            several => {
                let found = several.iter().map(|builtin| builtin.name).collect();
                Err(BuiltinError::Ambiguous { name: name.to_owned(), found })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Names, Script};

    #[test]
    fn a_beginning_is_enough_if_only_one_has_it() {
        for (name, expected) in
            [("t", "tpcb-like"), ("tpcb-like", "tpcb-like"), ("si", "simple-update"), ("se", "select-only")]
        {
            assert_eq!(Builtin::find(name).map(|builtin| builtin.name), Ok(expected));
        }
        let error = Builtin::find("s").expect_err("two");
        assert_eq!(
            error.to_string(),
            "ambiguous builtin name: \"s\" is simple-update or select-only; write more of it"
        );
        assert!(matches!(Builtin::find("tpcc"), Err(BuiltinError::Unknown { .. })));
        assert!(matches!(Builtin::find(""), Err(BuiltinError::Ambiguous { .. })));
    }

    #[test]
    fn all_parse() {
        let mut names = Names::new();
        let counts = BUILTINS
            .map(|builtin| Script::parse(builtin.name, builtin.text, &mut names).expect("no faults").commands.len());
        assert_eq!(counts, [11, 9, 2]);
    }
}
