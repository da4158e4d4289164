//! How settings are written for an engine: names, lines, and those that are not the user's to choose.
//!
//! In: a setting's name and value. Out: the line of a configuration file that means just that. It is the one place that
//! knows how the engines differ in this, as `dbms` is for their servers. It must not know versions.

use rqps_model::Engine;

/// Settings that decide where a PostgreSQL server lives and how it is reached.
const OF_POSTGRES: [&str; 14] = [
    "config_file",
    "data_directory",
    "event_source",
    "external_pid_file",
    "hba_file",
    "ident_file",
    "listen_addresses",
    "log_destination",
    "log_timezone",
    "logging_collector",
    "port",
    "unix_socket_directories",
    "unix_socket_group",
    "unix_socket_permissions",
];

/// The same of MySQL and MariaDB, and what the load needs.
const OF_MYSQL: [&str; 38] = [
    "admin_address",
    "admin_port",
    "basedir",
    "bind_address",
    "bootstrap",
    "character_sets_dir",
    "chroot",
    "console",
    "daemonize",
    "datadir",
    "default_time_zone",
    "extra_port",
    "init_file",
    "initialize",
    "initialize_insecure",
    "innodb_data_home_dir",
    "innodb_doublewrite_dir",
    "innodb_log_group_home_dir",
    "innodb_temp_tablespaces_dir",
    "innodb_tmpdir",
    "innodb_undo_directory",
    "lc_messages_dir",
    "local_infile",
    "log_error",
    "mysqlx",
    "mysqlx_port",
    "mysqlx_socket",
    "pid_file",
    "plugin_dir",
    "port",
    "rocksdb_datadir",
    "rocksdb_wal_dir",
    "secure_file_priv",
    "skip_networking",
    "slave_load_tmpdir",
    "socket",
    "tmpdir",
    "user",
];

/// Settings of MySQL and MariaDB that name files, or the folder of some: names are the user's to choose, the place is
/// not.
const FILES_OF_MYSQL: [&str; 20] = [
    "aria_log_dir_path",
    "binlog_directory",
    "general_log_file",
    "innodb_buffer_pool_filename",
    "innodb_data_file_path",
    "innodb_log_arch_dir",
    "innodb_temp_data_file_path",
    "log_basename",
    "log_bin",
    "log_bin_basename",
    "log_bin_index",
    "log_isam",
    "log_slow_query_file",
    "log_tc",
    "master_info_file",
    "relay_log",
    "relay_log_basename",
    "relay_log_index",
    "relay_log_info_file",
    "slow_query_log_file",
];

/// What MySQL and MariaDB take in front of an option that they may not know.
const LOOSE: &str = "loose_";

/// Words in front of an option that turn it off.
const OFF: [&str; 2] = ["skip_", "disable_"];

/// Settings of an engine that are rqps' own to choose.
pub const fn own_settings(engine: Engine) -> &'static [&'static str] {
    match engine {
        Engine::Postgres => &OF_POSTGRES,
        Engine::Mysql | Engine::Mariadb => &OF_MYSQL,
    }
}

/// Settings of an engine that name files: names are the user's to choose, the place is not.
pub const fn file_settings(engine: Engine) -> &'static [&'static str] {
    match engine {
        Engine::Postgres => &[],
        Engine::Mysql | Engine::Mariadb => &FILES_OF_MYSQL,
    }
}

/// Words in front of an option that turn it off.
pub(crate) const fn off_prefixes(engine: Engine) -> &'static [&'static str] {
    match engine {
        Engine::Postgres => &[],
        Engine::Mysql | Engine::Mariadb => &OFF,
    }
}

/// What a unit of memory ends with: `kB` or `k`.
pub(super) const fn unit_end(engine: Engine) -> &'static str {
    match engine {
        Engine::Postgres => "B",
        Engine::Mysql | Engine::Mariadb => "",
    }
}

/// Whether a setting can be written for servers that may not know it; PostgreSQL refuses what it does not know.
pub(super) const fn takes_unknown(engine: Engine) -> bool {
    match engine {
        Engine::Postgres => false,
        Engine::Mysql | Engine::Mariadb => true,
    }
}

/// Whether the list of known settings was made from every version, so that it is exact for those between two others.
pub(crate) const fn has_exact_list(engine: Engine) -> bool {
    match engine {
        Engine::Postgres => true,
        Engine::Mysql | Engine::Mariadb => false,
    }
}

/// Whether a setting is rqps' own to choose.
pub(super) fn is_our_own(engine: Engine, name: &str) -> bool {
    own_settings(engine).contains(&name.to_ascii_lowercase().as_str())
}

/// Whether a setting would have files lie elsewhere than in the server's own folder.
pub(super) fn leads_away(engine: Engine, name: &str, value: &str) -> bool {
    file_settings(engine).contains(&name.to_ascii_lowercase().as_str()) && (value.contains('/') || value == "..")
}

/// A name as the lists have it, and whether its writer said that a server may not know it.
pub(super) fn plain_name(engine: Engine, name: &str) -> (String, bool) {
    match engine {
        Engine::Postgres => (name.to_owned(), false),
        Engine::Mysql | Engine::Mariadb => {
            let plain = name.replace('-', "_").to_ascii_lowercase();
            plain.strip_prefix(LOOSE).map_or_else(|| (plain.clone(), false), |rest| (rest.to_owned(), true))
        }
    }
}

/// Other names for the same option, of which only one may be written.
pub(super) fn opposites(engine: Engine, name: &str) -> Vec<String> {
    let prefixes = off_prefixes(engine);
    let plain = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    let all = prefixes.iter().map(|prefix| format!("{prefix}{plain}")).chain([plain.to_owned()]);
    all.filter(|other| other != name).collect()
}

/// The line that gives a setting a value.
pub(super) fn line(engine: Engine, name: &str, value: &str, loose: bool) -> String {
    match engine {
        Engine::Postgres => format!("{name} = '{}'", value.replace('\\', "\\\\").replace('\'', "''")),
        Engine::Mysql | Engine::Mariadb => {
            // An option that is turned off takes no value.
            let is_bare = value.is_empty() && OFF.iter().any(|prefix| name.starts_with(prefix));
            let name = format!("{}{name}", if loose { LOOSE } else { "" });
            if is_bare { name } else { format!("{name} = {}", option_value(value)) }
        }
    }
}

/// A value as option files take it, whatever is in it.
pub(crate) fn option_value(value: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.,:;=+-/@%".contains(c);
    if value.chars().all(is_plain) {
        return value.to_owned();
    }
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_lines_that_mean_just_that() {
        let cases = [
            (Engine::Postgres, "a", "it's\\", false, r"a = 'it''s\\'"),
            (Engine::Mysql, "innodb_buffer_pool_size", "23G", false, "innodb_buffer_pool_size = 23G"),
            (Engine::Mysql, "sql_mode", "", false, "sql_mode = "),
            (Engine::Mysql, "skip_log_bin", "", false, "skip_log_bin"),
            (Engine::Mysql, "skip_ssl", "", true, "loose_skip_ssl"),
            (Engine::Mysql, "replica_skip_errors", "", false, "replica_skip_errors = "),
            (Engine::Mariadb, "ssl", "OFF", true, "loose_ssl = OFF"),
            (
                Engine::Mariadb,
                "init_connect",
                r#"SET @a = "x\y" # b"#,
                false,
                r#"init_connect = "SET @a = \"x\\y\" # b""#,
            ),
        ];
        for (engine, name, value, loose, expected) in cases {
            assert_eq!(line(engine, name, value, loose), expected);
        }
    }

    #[test]
    fn knows_one_option_by_all_its_names() {
        assert_eq!(plain_name(Engine::Mysql, "Loose-Innodb-IO-Capacity"), ("innodb_io_capacity".to_owned(), true));
        assert_eq!(plain_name(Engine::Postgres, "TimeZone"), ("TimeZone".to_owned(), false));
        assert_eq!(opposites(Engine::Mysql, "log_bin"), ["skip_log_bin", "disable_log_bin"]);
        assert_eq!(opposites(Engine::Mysql, "skip_log_bin"), ["disable_log_bin", "log_bin"]);
        assert!(is_our_own(Engine::Mysql, "datadir") && !is_our_own(Engine::Postgres, "datadir"));
    }

    #[test]
    fn files_may_have_names_but_no_place() {
        for (name, value, expected) in [
            ("log_bin", "binlog", false),
            ("log_bin", "1", false),
            ("log_bin", "", false),
            ("log_bin", "/mnt/logs/binlog", true),
            ("log_bin", "../binlog", true),
            ("Relay_Log", "a/b", true),
            ("aria_log_dir_path", "..", true),
            ("innodb_data_file_path", "ibdata1:12M:autoextend", false),
            ("init_connect", "SET @a = 4/2", false),
        ] {
            assert_eq!(leads_away(Engine::Mariadb, name, value), expected, "{name} = {value}");
        }
        assert!(!leads_away(Engine::Postgres, "log_bin", "/x"));
    }
}
