//! How settings are written for an engine: names, lines, and those that are not the user's to choose.
//!
//! In: `catalog/setting-forms.toml`, compiled in, and a setting's name and value. Out: the line of a configuration file
//! that means just that. It must not know versions, nor distinguish engines: a form names its own.

use rqps_model::Engine;
use serde::Deserialize;
use std::sync::LazyLock;

const FORMS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../catalog/setting-forms.toml"));

/// What MySQL and MariaDB take in front of an option that they may not know.
const LOOSE: &str = "loose_";

/// How the settings of some engines are written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettingsForm {
    engines: Vec<Engine>,
    file: FileForm,
    /// Settings that are rqps' own to choose.
    pub own: Vec<String>,
    /// Settings that name files: names are the user's to choose, the place is not.
    pub files: Vec<String>,
    /// Sizes that servers round to whole blocks of their own.
    #[serde(default)]
    pub(crate) rounded: Vec<String>,
    /// Numbers that servers lower to what other settings or the system's limits leave room for.
    #[serde(default)]
    pub(crate) limited: Vec<String>,
    /// Numbers that servers raise.
    #[serde(default)]
    pub(crate) raised: Vec<String>,
}

/// The form of a configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum FileForm {
    /// A server refuses to start with what it does not know.
    #[serde(rename = "postgresql.conf")]
    Conf,
    /// Options can be turned off by a word in front of them, and written for servers that may not know them.
    #[serde(rename = "my.cnf")]
    OptionFile,
}

impl SettingsForm {
    /// The form of an engine's settings.
    pub fn of(engine: Engine) -> &'static SettingsForm {
        #[derive(Deserialize)]
        struct File {
            form: Vec<SettingsForm>,
        }
        static ALL: LazyLock<Vec<SettingsForm>> =
            LazyLock::new(|| toml::from_str::<File>(FORMS).expect("a test reads the compiled-in forms").form);
        ALL.iter().find(|form| form.engines.contains(&engine)).expect("a test finds the form of every engine")
    }

    /// Words in front of an option that turn it off.
    pub(crate) const fn off_prefixes(&self) -> &'static [&'static str] {
        match self.file {
            FileForm::Conf => &[],
            FileForm::OptionFile => &["skip_", "disable_"],
        }
    }

    /// What a unit of memory ends with: `kB` or `k`.
    pub(super) const fn unit_end(&self) -> &'static str {
        match self.file {
            FileForm::Conf => "B",
            FileForm::OptionFile => "",
        }
    }

    /// Whether a setting can be written for servers that may not know it.
    pub(super) fn takes_unknown(&self) -> bool {
        self.file == FileForm::OptionFile
    }

    /// Whether a setting is rqps' own to choose.
    pub(super) fn is_our_own(&self, name: &str) -> bool {
        self.own.contains(&name.to_ascii_lowercase())
    }

    /// Whether a setting would have files lie elsewhere than in the server's own folder.
    pub(super) fn leads_away(&self, name: &str, value: &str) -> bool {
        self.files.contains(&name.to_ascii_lowercase()) && (value.contains('/') || value == "..")
    }

    /// A name as the lists have it, and whether it is marked as possibly unknown to a server.
    pub(super) fn plain_name(&self, name: &str) -> (String, bool) {
        if self.file == FileForm::Conf {
            return (name.to_owned(), false);
        }
        let plain = name.replace('-', "_").to_ascii_lowercase();
        plain.strip_prefix(LOOSE).map_or_else(|| (plain.clone(), false), |rest| (rest.to_owned(), true))
    }

    /// Other names for the same option, of which only one may be written.
    pub(super) fn opposites(&self, name: &str) -> Vec<String> {
        let prefixes = self.off_prefixes();
        let plain = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
        let all = prefixes.iter().map(|prefix| format!("{prefix}{plain}")).chain([plain.to_owned()]);
        all.filter(|other| other != name).collect()
    }

    /// The line that gives a setting a value.
    pub(super) fn line(&self, name: &str, value: &str, loose: bool) -> String {
        if self.file == FileForm::Conf {
            return format!("{name} = '{}'", value.replace('\\', "\\\\").replace('\'', "''"));
        }
        // An option that is turned off takes no value.
        let is_bare = value.is_empty() && self.off_prefixes().iter().any(|prefix| name.starts_with(prefix));
        let name = format!("{}{name}", if loose { LOOSE } else { "" });
        if is_bare { name } else { format!("{name} = {}", option_value(value)) }
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

    fn form(engine: Engine) -> &'static SettingsForm {
        SettingsForm::of(engine)
    }

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
            assert_eq!(form(engine).line(name, value, loose), expected);
        }
    }

    #[test]
    fn knows_one_option_by_all_its_names() {
        assert_eq!(form(Engine::Mysql).plain_name("Loose-Innodb-IO-Capacity"), ("innodb_io_capacity".to_owned(), true));
        assert_eq!(form(Engine::Postgres).plain_name("TimeZone"), ("TimeZone".to_owned(), false));
        assert_eq!(form(Engine::Mysql).opposites("log_bin"), ["skip_log_bin", "disable_log_bin"]);
        assert_eq!(form(Engine::Mysql).opposites("skip_log_bin"), ["disable_log_bin", "log_bin"]);
        assert!(form(Engine::Mysql).is_our_own("datadir") && !form(Engine::Postgres).is_our_own("datadir"));
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
            assert_eq!(form(Engine::Mariadb).leads_away(name, value), expected, "{name} = {value}");
        }
        assert!(!form(Engine::Postgres).leads_away("log_bin", "/x"));
    }
}
