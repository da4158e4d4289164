//! Settings of every engine told in the same few words.

use super::*;

fn view(
    engine: Engine,
    storage: Option<StorageEngine>,
    pairs: &[(&str, &str)],
) -> (Engine, Option<StorageEngine>, SettingsFacts) {
    let effective = pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    (engine, storage, SettingsFacts { effective, ..SettingsFacts::default() })
}

fn with<T>(made: (Engine, Option<StorageEngine>, SettingsFacts), ask: impl FnOnce(&Semantic<'_>) -> T) -> T {
    ask(&Semantic { engine: made.0, storage: made.1, settings: &made.2 })
}

#[test]
fn durability_follows_from_what_decides_it() {
    let postgres = |pairs: &[(&str, &str)]| with(view(Engine::Postgres, None, pairs), |view| view.durability());
    assert_eq!(postgres(&[("fsync", "on"), ("synchronous_commit", "off")]), Some(Durability::Delayed));
    assert_eq!(postgres(&[("fsync", "on"), ("synchronous_commit", "local")]), Some(Durability::Flushed));
    assert_eq!(postgres(&[("fsync", "off"), ("synchronous_commit", "on")]), Some(Durability::Never));
    assert_eq!(postgres(&[]), None);
    let innodb = |flush: &str, bin: &str, sync: &str| {
        let pairs = [("innodb_flush_log_at_trx_commit", flush), ("log_bin", bin), ("sync_binlog", sync)];
        with(view(Engine::Mysql, Some(StorageEngine::Innodb), &pairs), |view| view.durability())
    };
    assert_eq!(innodb("1", "ON", "1"), Some(Durability::Flushed));
    assert_eq!(innodb("1", "OFF", "0"), Some(Durability::Flushed));
    assert_eq!(innodb("1", "ON", "0"), Some(Durability::Delayed));
    assert_eq!(innodb("2", "OFF", "1"), Some(Durability::Delayed));
    let rocksdb = [("innodb_flush_log_at_trx_commit", "2"), ("rocksdb_flush_log_at_trx_commit", "1")];
    let rocksdb = with(view(Engine::Mariadb, Some(StorageEngine::Rocksdb), &rocksdb), |view| view.durability());
    assert_eq!(rocksdb, Some(Durability::Flushed));
}

#[test]
fn sizes_are_read_as_servers_show_them_and_told_alike() {
    for (text, told) in [
        ("1GB", "1 GB"),
        ("1073741824", "1 GB"),
        ("128MB", "128 MB"),
        ("8kB", "8 kB"),
        ("24661000192", "23 GB"),
        ("1610612736", "1.5 GB"),
        ("0", "0 B"),
    ] {
        assert_eq!(bytes_of(text).map(size).as_deref(), Some(told), "{text}");
    }
    assert_eq!(bytes_of("-1"), None);
    assert_eq!(bytes_of("many"), None);
}

#[test]
fn old_and_new_redo_logs_are_told_as_one_size() {
    let log =
        |pairs: &[(&str, &str)]| with(view(Engine::Mysql, Some(StorageEngine::Innodb), pairs), |view| view.log_bytes());
    assert_eq!(log(&[("innodb_redo_log_capacity", "2048"), ("innodb_log_file_size", "1")]), Some(2048.0));
    assert_eq!(log(&[("innodb_log_file_size", "1024"), ("innodb_log_files_in_group", "3")]), Some(3072.0));
    assert_eq!(log(&[("innodb_log_file_size", "1024")]), Some(1024.0));
    assert_eq!(log(&[]), None);
}
