//! Two treatments' effective settings → what differs, defaults that changed between versions included.
//!
//! In: settings as read back from running servers. Out: name → (base, this). What must differ between two servers on
//! one machine (paths, ports, the version itself) is left out by a list that is data. Whether a difference was meant
//! is not known here.

use rqps_model::facts::SettingsFacts;
use std::collections::BTreeMap;

/// Names that do not count, one a line; `*` stands for any text.
const IGNORED: &str = include_str!("../../data/settings-ignored.txt");

/// Settings that cannot be set, since the server works them out from others, one a line like the above: they differ
/// because something else does.
const COMPUTED: &str = include_str!("../../data/settings-computed.txt");

/// The settings that size a server's memory.
pub(crate) const MEMORY: [&str; 9] = [
    "effective_cache_size",
    "huge_pages",
    "innodb_buffer_pool_size",
    "maintenance_work_mem",
    "rocksdb_block_cache_size",
    "rocksdb_db_write_buffer_size",
    "shared_buffers",
    "wal_buffers",
    "work_mem",
];

/// The settings that size the log which is kept before a checkpoint; what they come to is compared, since servers write
/// the same size in different ways.
pub(crate) const LOG_SIZE: [&str; 5] = [
    "innodb_log_file_size",
    "innodb_log_files_in_group",
    "innodb_redo_log_capacity",
    "max_wal_size",
    "rocksdb_max_total_wal_size",
];

/// A value on the base and on another treatment; `None` = the server has no such setting.
pub(crate) type Difference = (Option<String>, Option<String>);

/// Settings whose effective value differs from the base's.
pub(crate) fn diff(base: &SettingsFacts, this: &SettingsFacts) -> BTreeMap<String, Difference> {
    let names = base.effective.keys().chain(this.effective.keys());
    names
        .filter(|name| !is_ignored(name))
        .filter_map(|name| {
            let (old, new) = (base.effective.get(name), this.effective.get(name));
            let is_same = old.map(|old| without_trailing_zeros(old)) == new.map(|new| without_trailing_zeros(new));
            (!is_same).then(|| (name.clone(), (old.cloned(), new.cloned())))
        })
        .collect()
}

/// A decimal number without the zeros at its end: one version writes `90`, another one `90.000000`. Any other value as
/// it is.
fn without_trailing_zeros(value: &str) -> &str {
    match value.split_once('.') {
        Some((_, digits)) if value.parse::<f64>().is_ok() && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            value.trim_end_matches('0').trim_end_matches('.')
        }
        _ => value,
    }
}

fn is_ignored(name: &str) -> bool {
    is_listed(name, IGNORED)
}

/// Whether a server works this setting out by itself.
pub(crate) fn is_computed(name: &str) -> bool {
    is_listed(name, COMPUTED)
}

fn is_listed(name: &str, list: &str) -> bool {
    let lines = list.lines().filter_map(|line| line.split('#').next()).map(str::trim);
    lines.filter(|pattern| !pattern.is_empty()).any(|pattern| matches(pattern, name))
}

/// Whether a name is what a line means; `*` stands for any text.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((start, end)) => {
            // A second * ends the text that must be there.
            let middle = end.strip_suffix('*');
            let rest = name.strip_prefix(start);
            rest.is_some_and(|rest| middle.map_or_else(|| rest.ends_with(end), |middle| rest.contains(middle)))
        }
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(pairs: &[(&str, &str)]) -> SettingsFacts {
        let effective = pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        SettingsFacts { effective, ..SettingsFacts::default() }
    }

    #[test]
    fn changed_defaults_and_new_settings_are_told() {
        let old = settings(&[("effective_io_concurrency", "1"), ("old_snapshot_threshold", "-1"), ("jit", "on")]);
        let new = settings(&[("effective_io_concurrency", "16"), ("io_method", "worker"), ("jit", "on")]);
        let found = diff(&old, &new);
        let value = |text: &str| Some(text.to_owned());
        assert_eq!(found["effective_io_concurrency"], (value("1"), value("16")));
        assert_eq!(found["old_snapshot_threshold"], (value("-1"), None));
        assert_eq!(found["io_method"], (None, value("worker")));
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn a_number_that_is_written_otherwise_is_the_same() {
        let differ = |old: &str, new: &str| !diff(&settings(&[("x", old)]), &settings(&[("x", new)])).is_empty();
        assert!(!differ("90", "90.000000") && !differ("0.50", "0.5") && !differ("100.0", "100"));
        assert!(differ("100", "1.00") && differ("90", "90.5") && differ("10.0.0.0", "10.0.0"));
        // Two that are one as floating-point numbers.
        assert!(differ("18446744073709551615", "18446744073709551614"));
    }

    #[test]
    fn what_must_differ_is_not() {
        let names =
            ["port", "data_directory", "ssl_cert_file", "server_version_num", "build_id", "transaction_isolation"];
        let a: Vec<(&str, &str)> = names.iter().map(|&name| (name, "a")).collect();
        let b: Vec<(&str, &str)> = names.iter().map(|&name| (name, "b")).collect();
        assert!(diff(&settings(&a), &settings(&b)).is_empty());
        assert!(!is_ignored("shared_buffers"));
        assert!(!is_ignored("ssl_ciphers"));
        assert!(!is_ignored(""));
    }

    #[test]
    fn what_a_server_works_out_is_known() {
        assert!(["shared_memory_size", "shared_memory_size_in_huge_pages", "have_ssl"].into_iter().all(is_computed));
        assert!(!["shared_buffers", "huge_pages", "innodb_buffer_pool_size", ""].into_iter().any(is_computed));
    }
}
