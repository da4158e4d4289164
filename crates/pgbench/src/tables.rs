//! pgbench's tables: how they are made, and what is in them.
//!
//! In: the scale and what else `pgbench -i` is told. Out: SQL by step, and rows by number as COPY reads them. Rows of
//! all tables go through COPY, as in pgbench 17; what is in them is the same in all versions.

use std::io::Write;

/// From this scale on, numbers of accounts need more than 32 bits.
const BIGINT_SCALE: u32 = 20_000;

/// The tables in the order in which pgbench names them when it drops or empties them.
const ALL: &str = "pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers";

/// One of pgbench's tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// `pgbench_branches`.
    Branches,
    /// `pgbench_tellers`.
    Tellers,
    /// `pgbench_accounts`.
    Accounts,
    /// `pgbench_history`, which begins empty.
    History,
}

impl Table {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Table::Branches => "pgbench_branches",
            Table::Tellers => "pgbench_tellers",
            Table::Accounts => "pgbench_accounts",
            Table::History => "pgbench_history",
        }
    }

    /// Rows at scale 1.
    const fn rows(self) -> u64 {
        match self {
            Table::Branches => 1,
            Table::Tellers => 10,
            Table::Accounts => 100_000,
            Table::History => 0,
        }
    }
}

/// A step of initialisation, by the letter that pgbench has for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InitStep {
    /// `d`: drop the tables.
    Drop,
    /// `t`: create them.
    Create,
    /// `g`: fill them from the client.
    Fill,
    /// `G`: have the server fill them.
    FillByServer,
    /// `v`: vacuum and analyse.
    Vacuum,
    /// `p`: primary keys.
    PrimaryKeys,
    /// `f`: foreign keys.
    ForeignKeys,
}

/// What pgbench does unless told otherwise.
pub const DEFAULT_STEPS: &str = "dtgvp";

/// Letters that are no steps.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StepsError {
    /// No step at all.
    #[error("no initialization steps specified; pgbench's own are {DEFAULT_STEPS}")]
    None,
    /// Unknown letters.
    #[error("unrecognized initialization steps \"{letters}\"; allowed are d, t, g, G, v, p and f")]
    Unknown {
        /// All of them.
        letters: String,
    },
}

/// Steps by their letters, in any order; spaces are ignored.
pub fn steps(text: &str) -> Result<Vec<InitStep>, StepsError> {
    let mut steps = Vec::new();
    let mut letters = String::new();
    for letter in text.chars().filter(|letter| *letter != ' ') {
        match letter {
            'd' => steps.push(InitStep::Drop),
            't' => steps.push(InitStep::Create),
            'g' => steps.push(InitStep::Fill),
            'G' => steps.push(InitStep::FillByServer),
            'v' => steps.push(InitStep::Vacuum),
            'p' => steps.push(InitStep::PrimaryKeys),
            'f' => steps.push(InitStep::ForeignKeys),
            unknown => letters.push(unknown),
        }
    }
    match (letters.is_empty(), steps.is_empty()) {
        (false, _) => Err(StepsError::Unknown { letters }),
        (true, true) => Err(StepsError::None),
        (true, false) => Ok(steps),
    }
}

/// How accounts are cut into partitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Partitions {
    /// By ranges of numbers, the first and the last one open.
    Range(u32),
    /// By the hash of the number.
    Hash(u32),
}

/// Something to be done for a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    /// Send this.
    Sql(String),
    /// Send this and then all rows of the table.
    Copy {
        /// The statement.
        sql: String,
        /// Whose rows.
        table: Table,
    },
}

/// pgbench's tables at a scale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tables {
    /// How many branches there are.
    pub scale: u32,
    /// How full pages are when loaded, in per cent.
    pub fillfactor: u8,
    /// Partitions of accounts.
    pub partitions: Option<Partitions>,
    /// Whether the tables are unlogged.
    pub unlogged: bool,
    /// Whether rows are frozen as they come, which servers from version 14 on do well.
    pub freeze: bool,
}

impl Tables {
    /// As pgbench 15 makes them on a server of its version.
    pub const fn new(scale: u32) -> Tables {
        Tables { scale, fillfactor: 100, partitions: None, unlogged: false, freeze: true }
    }

    /// How many rows a table begins with.
    pub fn rows(&self, table: Table) -> u64 {
        table.rows() * u64::from(self.scale)
    }

    /// Appends a row as COPY reads it, with its newline. Rows are counted from 0.
    pub fn write_row(&self, table: Table, row: u64, out: &mut Vec<u8>) {
        let id = row + 1;
        let branch = row.checked_div(table.rows()).unwrap_or(0) + 1;
        let written = match table {
            Table::Branches => writeln!(out, "{id}\t0\t\\N"),
            Table::Tellers => writeln!(out, "{id}\t{branch}\t0\t\\N"),
            Table::Accounts => writeln!(out, "{id}\t{branch}\t0\t"),
            Table::History => Ok(()),
        };
        written.expect("memory takes all");
    }

    /// What a step does, in order.
    pub fn work(&self, step: InitStep) -> Vec<Work> {
        match step {
            InitStep::Fill => self.fill(),
            InitStep::Drop => sql([format!("drop table if exists {ALL}")]),
            InitStep::Create => sql(self.create()),
            InitStep::FillByServer => sql(self.fill_by_server()),
            InitStep::Vacuum => {
                let tables = [Table::Branches, Table::Tellers, Table::Accounts, Table::History];
                sql(tables.map(|table| format!("vacuum analyze {}", table.name())))
            }
            InitStep::PrimaryKeys => {
                let keys = [(Table::Branches, "bid"), (Table::Tellers, "tid"), (Table::Accounts, "aid")];
                sql(keys.map(|(table, column)| format!("alter table {} add primary key ({column})", table.name())))
            }
            InitStep::ForeignKeys => sql(foreign_keys()),
        }
    }

    fn create(&self) -> Vec<String> {
        let aid = if self.scale >= BIGINT_SCALE { "aid bigint" } else { "aid    int" };
        let create = if self.unlogged { "create unlogged table" } else { "create table" };
        let filled = format!(" with (fillfactor={})", self.fillfactor);
        let accounts = match self.partitions {
            None => filled.clone(),
            Some(Partitions::Range(_)) => " partition by range (aid)".to_owned(),
            Some(Partitions::Hash(_)) => " partition by hash (aid)".to_owned(),
        };
        let mut statements = vec![
            format!("{create} pgbench_history(tid int,bid int,{aid},delta int,mtime timestamp,filler char(22))"),
            format!("{create} pgbench_tellers(tid int not null,bid int,tbalance int,filler char(84)){filled}"),
            format!("{create} pgbench_accounts({aid} not null,bid int,abalance int,filler char(84)){accounts}"),
            format!("{create} pgbench_branches(bid int not null,bbalance int,filler char(88)){filled}"),
        ];
        let parts = match self.partitions {
            None => 0,
            Some(Partitions::Range(parts) | Partitions::Hash(parts)) => parts,
        };
        statements.extend((1..=parts).map(|part| {
            let values = self.partition(part);
            format!("{create} pgbench_accounts_{part}\n  partition of pgbench_accounts\n  for values {values}{filled}")
        }));
        statements
    }

    /// The rows of a partition, counted from 1.
    fn partition(&self, part: u32) -> String {
        match self.partitions {
            Some(Partitions::Range(parts)) => {
                let size = self.rows(Table::Accounts).div_ceil(u64::from(parts));
                let border = |part: u32| (u64::from(part) * size + 1).to_string();
                let from = if part == 1 { "minvalue".to_owned() } else { border(part - 1) };
                let to = if part == parts { "maxvalue".to_owned() } else { border(part) };
                format!("from ({from}) to ({to})")
            }
            Some(Partitions::Hash(parts)) => format!("with (modulus {parts}, remainder {})", part - 1),
            None => String::new(),
        }
    }

    fn fill(&self) -> Vec<Work> {
        let mut work = sql(["begin".to_owned(), format!("truncate table {ALL}")]);
        work.extend([Table::Branches, Table::Tellers, Table::Accounts].map(|table| {
            // A partitioned table cannot be frozen as it is filled.
            let is_partitioned = table == Table::Accounts && self.partitions.is_some();
            let freeze = if self.freeze && !is_partitioned { " with (freeze on)" } else { "" };
            Work::Copy { sql: format!("copy {} from stdin{freeze}", table.name()), table }
        }));
        work.extend(sql(["commit".to_owned()]));
        work
    }

    fn fill_by_server(&self) -> Vec<String> {
        let [branches, tellers, accounts] =
            [Table::Branches, Table::Tellers, Table::Accounts].map(|table| self.rows(table));
        vec![
            "begin".to_owned(),
            format!("truncate table {ALL}"),
            format!(
                "insert into pgbench_branches(bid,bbalance) select bid, 0 from generate_series(1, {branches}) as bid"
            ),
            format!(
                "insert into pgbench_tellers(tid,bid,tbalance) select tid, (tid - 1) / 10 + 1, 0 from \
                 generate_series(1, {tellers}) as tid"
            ),
            format!(
                "insert into pgbench_accounts(aid,bid,abalance,filler) select aid, (aid - 1) / 100000 + 1, 0, '' from \
                 generate_series(1, {accounts}) as aid"
            ),
            "commit".to_owned(),
        ]
    }
}

fn sql(statements: impl IntoIterator<Item = String>) -> Vec<Work> {
    statements.into_iter().map(Work::Sql).collect()
}

fn foreign_keys() -> [String; 5] {
    let keys = [
        ("tellers", "bid", "branches"),
        ("accounts", "bid", "branches"),
        ("history", "bid", "branches"),
        ("history", "tid", "tellers"),
        ("history", "aid", "accounts"),
    ];
    keys.map(|(table, column, target)| {
        let constraint = format!("pgbench_{table}_{column}_fkey");
        format!(
            "alter table pgbench_{table} add constraint {constraint} foreign key ({column}) references pgbench_{target}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_have_letters() {
        assert_eq!(steps("d G"), Ok(vec![InitStep::Drop, InitStep::FillByServer]));
        assert_eq!(steps(DEFAULT_STEPS).map(|steps| steps.len()), Ok(5));
        assert_eq!(steps(" "), Err(StepsError::None));
        assert_eq!(steps("dxgy"), Err(StepsError::Unknown { letters: "xy".to_owned() }));
    }

    #[test]
    fn large_numbers_of_accounts_are_bigint() {
        let created = |scale| Tables::new(scale).create().concat();
        assert!(!created(19_999).contains("bigint"));
        assert_eq!(created(20_000).matches("aid bigint").count(), 2);
        assert_eq!(Tables::new(20_000).rows(Table::Accounts), 2_000_000_000);
        assert_eq!(Tables::new(50_000).rows(Table::Accounts), 5_000_000_000);
    }

    #[test]
    fn rows_belong_to_branches() {
        let row = |table, number| {
            let mut out = Vec::new();
            Tables::new(3).write_row(table, number, &mut out);
            String::from_utf8(out).expect("text")
        };
        assert_eq!(row(Table::Branches, 2), "3\t0\t\\N\n");
        assert_eq!(row(Table::Tellers, 9), "10\t1\t0\t\\N\n");
        assert_eq!(row(Table::Tellers, 10), "11\t2\t0\t\\N\n");
        assert_eq!(row(Table::Accounts, 99_999), "100000\t1\t0\t\n");
        assert_eq!(row(Table::Accounts, 100_000), "100001\t2\t0\t\n");
        assert_eq!(row(Table::Accounts, 2_999_999_999), "3000000000\t30000\t0\t\n");
    }
}
