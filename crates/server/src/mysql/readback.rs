//! Every setting of MySQL and MariaDB as the running server reports it, compared with what was written.
//!
//! In: a session and the configuration written. Out: a [`Readback`]. What the server rounded is reported, not hidden;
//! what was written for servers that may not know it, and this one does not, is left out with the reason. It must not
//! decide whether a difference matters.

use super::data_folder::ENCODING;
use super::value::{self, Likeness, boolean};
use crate::login::DATABASE;
use crate::profile::SettingsForm;
use crate::readback::{Mismatch, Readback, unexpected};
use crate::{Configuration, Result};
use rqps_wire::{Session, Table};
use std::collections::BTreeMap;

/// Options that are shown under another name.
const SHOWN_AS: [(&str, &str); 3] =
    [("ssl", "have_ssl"), ("default_time_zone", "time_zone"), ("transaction_isolation", "tx_isolation")];

/// What a session's own character sets are called.
const OF_SESSION: [&str; 3] = ["character_set_client", "character_set_connection", "character_set_results"];

/// Reads all settings of a server.
pub(crate) fn read(
    session: &mut Session,
    form: &SettingsForm,
    build: &str,
    configuration: &Configuration,
) -> Result<Readback> {
    let settings = session.query("SHOW GLOBAL VARIABLES")?;
    if settings.rows.is_empty() {
        return Err(unexpected(build, "for its settings", &settings));
    }
    let mut readback = compare(pairs(&settings), configuration, form);
    let sql = format!(
        "SELECT DEFAULT_CHARACTER_SET_NAME, DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA \
         WHERE SCHEMA_NAME = '{DATABASE}'"
    );
    readback.read_encoding(session, build, &sql)?;
    let own = pairs(&session.query("SHOW SESSION VARIABLES LIKE 'character_set_%'")?);
    for name in OF_SESSION {
        let found = own.get(name).map_or("", String::as_str);
        if found != ENCODING {
            let name = format!("{name} of a session");
            readback.mismatches.push(Mismatch { name, written: ENCODING.to_owned(), effective: found.to_owned() });
        }
    }
    Ok(readback)
}

/// Names and values, the names in lower case, which is how MySQL and MariaDB write all but a few.
fn pairs(table: &Table) -> BTreeMap<String, String> {
    let pair = |row: &Vec<Option<String>>| match &row[..] {
        [Some(name), value] => Some((name.to_ascii_lowercase(), value.clone().unwrap_or_default())),
        _ => None,
    };
    table.rows.iter().filter_map(pair).collect()
}

fn compare(effective: BTreeMap<String, String>, configuration: &Configuration, form: &SettingsForm) -> Readback {
    let mut readback = Readback::default();
    for (name, written) in &configuration.written {
        let Some(shown) = shown(form, &effective, name) else {
            if configuration.loose.contains(name) {
                readback.left_out.insert(name.clone(), "the server does not have it".to_owned());
            } else {
                // An unknown setting that is not loose keeps it from starting.
                readback.adjusted.insert(name.clone(), format!("the server took {written:?} and does not show it"));
            }
            continue;
        };
        match likeness(form, name, written, shown) {
            Likeness::Same => {}
            Likeness::Adjusted => {
                readback.adjusted.insert(name.clone(), format!("written {written}, which the server made {shown}"));
            }
            Likeness::Other => readback.mismatches.push(Mismatch {
                name: name.clone(),
                written: written.clone(),
                effective: shown.to_owned(),
            }),
        }
    }
    let checksums = ["innodb_checksum_algorithm", "innodb_checksums"].into_iter().find_map(|name| effective.get(name));
    readback.checksums = checksums.is_some_and(|word| word != "none" && boolean(word) != Some(false));
    readback.effective = effective;
    readback
}

/// What the server shows for an option.
fn shown<'a>(form: &SettingsForm, effective: &'a BTreeMap<String, String>, name: &str) -> Option<&'a str> {
    let other = SHOWN_AS.iter().find(|(option, _)| *option == name).map(|(_, shown)| *shown);
    let without = form.off_prefixes().iter().find_map(|prefix| name.strip_prefix(prefix));
    [Some(name), other, without].into_iter().flatten().find_map(|name| effective.get(name)).map(String::as_str)
}

fn likeness(form: &SettingsForm, name: &str, written: &str, shown: &str) -> Likeness {
    let is_off = boolean(shown) == Some(false);
    let same = |same: bool| if same { Likeness::Same } else { Likeness::Other };
    match name {
        // The name of its files is written, and shown is whether there are any.
        "log_bin" if boolean(written).is_none() => same(!is_off),
        // MariaDB's word for it where files are never synced.
        "innodb_doublewrite" if shown == "fast" && boolean(written) == Some(true) => Likeness::Adjusted,
        _ if written.is_empty() && form.off_prefixes().iter().any(|prefix| name.starts_with(prefix)) => {
            // Options that begin so by name are on when they are given.
            same(is_off || boolean(shown) == Some(true) && name.starts_with("skip_"))
        }
        _ => value::compare(form, name, written, shown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_model::Engine;

    fn form() -> &'static SettingsForm {
        SettingsForm::of(Engine::Mysql)
    }

    #[test]
    fn sorts_what_is_not_as_written() {
        let map = |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let configuration = Configuration {
            written: map(&[
                ("innodb_buffer_pool_size", "89M"),
                ("innodb_flush_log_at_trx_commit", "2"),
                ("innodb_numa_interleave", "ON"),
                ("log_bin", "binlog"),
                ("plugin_load_add", "x"),
                ("ssl", "OFF"),
            ]),
            loose: ["innodb_numa_interleave", "ssl"].map(str::to_owned).into(),
            ..Configuration::default()
        };
        let effective = map(&[
            ("have_ssl", "DISABLED"),
            ("innodb_buffer_pool_size", "134217728"),
            ("innodb_checksum_algorithm", "crc32"),
            ("innodb_flush_log_at_trx_commit", "1"),
            ("log_bin", "ON"),
        ]);
        let readback = compare(effective, &configuration, form());
        let mismatches: Vec<&str> = readback.mismatches.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(mismatches, ["innodb_flush_log_at_trx_commit"]);
        assert_eq!(readback.left_out.keys().map(String::as_str).collect::<Vec<_>>(), ["innodb_numa_interleave"]);
        let adjusted: Vec<(&str, &str)> = readback.adjusted.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        let expected = [
            ("innodb_buffer_pool_size", "written 89M, which the server made 134217728"),
            ("plugin_load_add", "the server took \"x\" and does not show it"),
        ];
        assert_eq!(adjusted, expected);
        assert!(readback.checksums);
    }

    #[test]
    fn an_option_turned_off_is_off() {
        let effective = BTreeMap::from([("log_bin".to_owned(), "OFF".to_owned())]);
        assert_eq!(shown(form(), &effective, "skip_log_bin"), Some("OFF"));
        assert_eq!(likeness(form(), "skip_log_bin", "", "OFF"), Likeness::Same);
        assert_eq!(likeness(form(), "log_bin", "binlog", "OFF"), Likeness::Other);
    }
}
