//! What matters of a treatment's settings whatever its engine calls it: how durable a commit is, how much memory holds
//! data, what guards pages, how files are read and written.
//!
//! In: effective settings as read back. Out: the same few things for every engine, in words and, where they must be
//! alike for a fair comparison, in numbers. Names of settings by engine stand here and nowhere else in this crate.

use crate::findings::{SideBySide, TreatmentFindings};
use rqps_model::facts::SettingsFacts;
use rqps_model::{Engine, StorageEngine};

/// What becomes of a commit when the machine stops a moment later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// It was flushed before the client got its answer.
    Flushed,
    /// It may be lost, being flushed about once a second.
    Delayed,
    /// Nothing is flushed explicitly.
    Never,
}

impl Durability {
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Durability::Flushed => "is flushed before the reply",
            Durability::Delayed => "is flushed some time after the reply",
            Durability::Never => "is never flushed explicitly",
        }
    }
}

/// All of it, treatment beside treatment; nothing where all are of one engine and one storage engine.
pub(crate) fn side_by_side(treatments: &[TreatmentFindings]) -> Vec<SideBySide> {
    let kind = |at: usize| (treatments[at].build.engine, treatments[at].storage);
    if (0..treatments.len()).all(|at| kind(at) == kind(0)) {
        return Vec::new();
    }
    let columns: Vec<[(&str, String); 12]> = treatments.iter().map(|found| Semantic::of(found).rows()).collect();
    let heads = columns[0].iter().map(|(what, _)| *what).enumerate();
    let row = |(at, what): (usize, &str)| SideBySide {
        what: what.to_owned(),
        values: columns.iter().map(|column| column[at].1.clone()).collect(),
    };
    heads.map(row).filter(|row| row.values.iter().any(|value| !value.is_empty())).collect()
}

/// A treatment's settings, read in the words of its engine.
pub(crate) struct Semantic<'a> {
    engine: Engine,
    storage: Option<StorageEngine>,
    settings: &'a SettingsFacts,
}

impl<'a> Semantic<'a> {
    pub(crate) fn of(found: &'a TreatmentFindings) -> Semantic<'a> {
        Semantic { engine: found.build.engine, storage: found.storage, settings: &found.settings }
    }

    /// All that is shown, by what it is; nothing of a server that was never started.
    fn rows(&self) -> [(&'static str, String); 12] {
        let bytes = |bytes: Option<f64>| bytes.map(size).unwrap_or_default();
        let rows = [
            ("tables", self.storage()),
            ("commit", self.commit_words()),
            ("memory for data", bytes(self.buffer_bytes())),
            ("log before a checkpoint", bytes(self.log_bytes())),
            ("torn pages", self.torn_pages()),
            ("checksums", self.checksums()),
            ("binary log or WAL", self.change_log()),
            ("file access", self.file_access()),
            ("isolation", self.isolation()),
            ("character set", format!("{}, {}", self.settings.encoding, self.settings.collation)),
            ("connection", self.settings.transport.clone()),
            ("instrumentation", self.instrumentation()),
        ];
        let is_known = !self.settings.effective.is_empty();
        rows.map(|(what, value)| (what, if is_known { value } else { String::new() }))
    }

    fn value(&self, name: &str) -> Option<&'a str> {
        self.settings.effective.get(name).map(String::as_str)
    }

    /// The first of some settings that this version has.
    fn first(&self, names: &[&str]) -> Option<&'a str> {
        names.iter().find_map(|name| self.value(name))
    }

    fn is_on(&self, name: &str) -> Option<bool> {
        self.value(name).map(|value| !["off", "0", "no", "false"].contains(&value.to_lowercase().as_str()))
    }

    /// `name=value` of those settings that this version has.
    fn listed(&self, names: &[&str]) -> String {
        let listed = names.iter().filter_map(|name| Some(format!("{name}={}", self.value(name)?)));
        listed.collect::<Vec<_>>().join(", ")
    }

    fn bytes(&self, name: &str) -> Option<f64> {
        bytes_of(self.value(name)?)
    }

    fn is_rocksdb(&self) -> bool {
        self.storage == Some(StorageEngine::Rocksdb)
    }

    fn commit_names(&self) -> &'static [&'static str] {
        match self.engine {
            Engine::Postgres => &["fsync", "synchronous_commit"],
            Engine::Mysql | Engine::Mariadb if self.is_rocksdb() => &["rocksdb_flush_log_at_trx_commit", "sync_binlog"],
            Engine::Mysql | Engine::Mariadb => &["innodb_flush_log_at_trx_commit", "sync_binlog"],
        }
    }

    /// The settings that decide how durable a commit is.
    pub(crate) fn commit(&self) -> String {
        self.listed(self.commit_names())
    }

    fn commit_words(&self) -> String {
        match self.durability() {
            Some(durability) => format!("{} ({})", durability.words().trim_start_matches("is "), self.commit()),
            None => self.commit(),
        }
    }

    pub(crate) fn durability(&self) -> Option<Durability> {
        let [first, second] = self.commit_names() else { return None };
        if self.engine == Engine::Postgres {
            return Some(match (self.is_on(first)?, self.is_on(second)?) {
                (false, _) => Durability::Never,
                (true, true) => Durability::Flushed,
                (true, false) => Durability::Delayed,
            });
        }
        // A transaction that the binary log has lost is rolled back at recovery.
        let log_is_flushed = self.is_on("log_bin") != Some(true) || self.value(second) == Some("1");
        let is_flushed = self.value(first)? == "1" && log_is_flushed;
        Some(if is_flushed { Durability::Flushed } else { Durability::Delayed })
    }

    /// Memory for data.
    pub(crate) fn buffer_bytes(&self) -> Option<f64> {
        self.bytes(match self.engine {
            Engine::Postgres => "shared_buffers",
            Engine::Mysql | Engine::Mariadb if self.is_rocksdb() => "rocksdb_block_cache_size",
            Engine::Mysql | Engine::Mariadb => "innodb_buffer_pool_size",
        })
    }

    /// Log that is written before a checkpoint.
    pub(crate) fn log_bytes(&self) -> Option<f64> {
        match self.engine {
            Engine::Postgres => self.bytes("max_wal_size"),
            Engine::Mysql | Engine::Mariadb if self.is_rocksdb() => self.bytes("rocksdb_max_total_wal_size"),
            Engine::Mysql | Engine::Mariadb => self.bytes("innodb_redo_log_capacity").or_else(|| {
                let files = self.bytes("innodb_log_files_in_group").unwrap_or(1.0);
                Some(files * self.bytes("innodb_log_file_size")?)
            }),
        }
    }

    /// What stores the tables.
    pub(crate) fn storage(&self) -> String {
        match self.storage {
            None => "heap, separate indexes".to_owned(),
            Some(storage) => format!("{}, clustered by primary key", storage.title()),
        }
    }

    fn torn_pages(&self) -> String {
        match self.engine {
            Engine::Postgres => self.listed(&["full_page_writes"]),
            Engine::Mysql | Engine::Mariadb if self.is_rocksdb() => "files are never rewritten".to_owned(),
            Engine::Mysql | Engine::Mariadb => self.listed(&["innodb_doublewrite", "innodb_doublewrite_pages"]),
        }
    }

    fn checksums(&self) -> String {
        let on = if self.settings.checksums { "on" } else { "off" };
        match self.first(&["innodb_checksum_algorithm"]).filter(|_| !self.is_rocksdb()) {
            Some(algorithm) => format!("{on} ({algorithm})"),
            None => on.to_owned(),
        }
    }

    fn change_log(&self) -> String {
        match self.engine {
            Engine::Postgres => self.listed(&["wal_level", "wal_compression"]),
            Engine::Mysql | Engine::Mariadb if self.is_on("log_bin") == Some(true) => {
                format!("binary log, {}", self.listed(&["binlog_format", "binlog_row_image"]))
            }
            Engine::Mysql | Engine::Mariadb => "no binary log".to_owned(),
        }
    }

    fn file_access(&self) -> String {
        match self.engine {
            Engine::Postgres => match self.value("debug_io_direct").filter(|direct| !direct.is_empty()) {
                Some(direct) => format!("direct: {direct}"),
                None => "through the page cache".to_owned(),
            },
            Engine::Mysql | Engine::Mariadb if self.is_rocksdb() => {
                self.listed(&["rocksdb_use_direct_reads", "rocksdb_use_direct_io_for_flush_and_compaction"])
            }
            Engine::Mysql | Engine::Mariadb => {
                self.listed(&["innodb_flush_method", "innodb_data_file_buffering", "innodb_log_file_buffering"])
            }
        }
    }

    fn isolation(&self) -> String {
        let names = ["default_transaction_isolation", "transaction_isolation", "tx_isolation"];
        self.first(&names).unwrap_or_default().to_lowercase().replace('-', " ")
    }

    fn instrumentation(&self) -> String {
        match self.engine {
            Engine::Postgres => self.listed(&["track_io_timing", "track_activities"]),
            Engine::Mysql | Engine::Mariadb => self.listed(&["performance_schema", "userstat"]),
        }
    }
}

/// A number of bytes as servers show it: `1073741824`, `1GB`, `128 MB`.
fn bytes_of(text: &str) -> Option<f64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    let scale = match text[end..].trim().to_lowercase().as_str() {
        "" | "b" => 0,
        "kb" | "k" => 10,
        "mb" | "m" => 20,
        "gb" | "g" => 30,
        "tb" | "t" => 40,
        _ => return None,
    };
    Some(number * 2f64.powi(scale))
}

/// Bytes as settings files have them: powers of 1024, three digits.
pub(crate) fn size(bytes: f64) -> String {
    let units = [("TB", 40), ("GB", 30), ("MB", 20), ("kB", 10)];
    let (unit, scale) = units.into_iter().find(|(_, power)| bytes >= 2f64.powi(*power)).unwrap_or(("B", 0));
    let number = bytes / 2f64.powi(scale);
    let digits = if number < 10.0 { 2 } else { usize::from(number < 100.0) };
    let text = format!("{number:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {unit}")
}

#[cfg(test)]
mod tests;
