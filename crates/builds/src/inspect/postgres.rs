//! What a PostgreSQL installation is: its version text, and what `pg_config` or a throw-away server reports about how
//! it was made.
//!
//! In: a folder that holds `bin/`. Out: the fields of [`Part`]. It must not change the installation.

use super::subject::{ANSWER_LIMIT, Banner, Made, Part, Subject, names_of};
use crate::elf::ElfFacts;
use crate::{BuildError, Result};
use rqps_machine::command::{self, OnParentDeath};
use rqps_machine::full_disk::full_disk;
use rqps_machine::{Account, Lease};
use rqps_model::Version;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

pub(super) const PART: Part = Part { find, arguments: &[], read_banner, made };

fn find(subject: &Subject<'_>, folder: &Path) -> Result<PathBuf> {
    let wanted = ["bin/postgres", "bin/initdb"];
    let missing: Vec<&str> = wanted.into_iter().filter(|file| !folder.join(file).is_file()).collect();
    if !missing.is_empty() {
        return Err(subject.wrong(format!("{} ({} not there)", wanted.join(" and "), missing.join(" and "))));
    }
    Ok(folder.join(wanted[0]))
}

fn made(folder: &Path, version: &Version, elf: &ElfFacts, lease: &Lease) -> Result<Made> {
    let bin = folder.join("bin");
    let config = match fs::exists(bin.join("pg_config")) {
        Ok(true) => ask_pg_config(&bin.join("pg_config"))?,
        _ => ask_server(&bin, version.major(), lease)?,
    };
    let value = |name: &str| config.get(name).map_or("", |v| v.trim()).to_owned();
    Ok(Made {
        compiler: elf.compiled_by.clone().unwrap_or_else(|| elf.compilers(None)),
        flags: flags(&config),
        configure: value("CONFIGURE"),
        extensions: names_of(&Path::new(&value("SHAREDIR")).join("extension"), "control"),
    })
}

/// Reads `postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)` as version and packager.
fn read_banner(banner: &str) -> Option<Banner> {
    let rest = banner.split_once("(PostgreSQL)")?.1.trim();
    let (number, packaging) = rest.split_once(' ').unwrap_or((rest, ""));
    // A development tree calls itself `20devel`; it comes before all that is released of 20.
    let number = number.strip_suffix("devel").map_or_else(|| number.to_owned(), |major| format!("{major}alpha0"));
    let word = packaging.trim_start_matches('(').split(|c: char| !c.is_ascii_alphanumeric()).next()?;
    let packager = (!word.is_empty()).then(|| word.to_ascii_lowercase());
    Some(Banner { version: number.parse().ok()?, packager })
}

fn ask_pg_config(program: &Path) -> Result<BTreeMap<String, String>> {
    let command = command::program(Account::choose(), OnParentDeath::Kill, program);
    let text = command::output_within(command, "pg_config", ANSWER_LIMIT)?;
    Ok(text.lines().filter_map(|line| line.split_once(" = ")).map(|(k, v)| (k.to_owned(), v.to_owned())).collect())
}

fn ask_server(bin: &Path, major: u32, lease: &Lease) -> Result<BTreeMap<String, String>> {
    let account = Account::choose();
    account.check_can_enter(bin, "RQPS_CACHE")?;
    let folder = lease.folder(&std::env::temp_dir(), &format!("inspect{major}"), 0o711)?;
    account.check_can_enter(folder.path(), "TMPDIR")?;
    let data = folder.path().join("data");
    fs::create_dir(&data).map_err(BuildError::at("create", &data))?;
    account.own_path(&data)?;
    let run = |name: &str, arguments: &[&str], input: &str| {
        let program = bin.join(name);
        // At this signal a server gives its shared memory back.
        let mut command = command::program(account, OnParentDeath::Quit, &program);
        command.args(arguments).env("PGDATA", &data);
        lease.run(&data, &program, command, name, input).map_err(|e| full_disk(e, &data))
    };
    run("initdb", &["-A", "trust", "--no-sync"], "")?;
    let text = run("postgres", &["--single", "-F", "template1"], "SELECT name, setting FROM pg_config\n")?;
    Ok(read_single_user(&text))
}

/// A server that runs for one statement prints a row as lines such as `1: name = "CC"` and, after a tab, the column's
/// type.
fn read_single_user(text: &str) -> BTreeMap<String, String> {
    let value = |line: &str, column: &str| {
        let rest = line.split_once(&format!(": {column} = \""))?.1;
        rest.rsplit_once("\"\t(typeid").map(|(value, _)| value.to_owned())
    };
    let mut rows = BTreeMap::new();
    let mut name = None;
    for line in text.lines() {
        if let Some(found) = value(line, "name") {
            name = Some(found);
        } else if let (Some(setting), Some(name)) = (value(line, "setting"), name.take()) {
            rows.insert(name, setting);
        }
    }
    rows
}

/// Compile and link flags in one line, as one would give them to `configure`.
fn flags(config: &BTreeMap<String, String>) -> String {
    let given = ["CC", "CFLAGS", "CPPFLAGS", "LDFLAGS"].into_iter();
    let values = given.filter_map(|name| Some((name, config.get(name)?.trim()))).filter(|(_, value)| !value.is_empty());
    values.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_binaries_say_of_themselves() {
        let read = |text: &str| read_banner(text).map(|b| (b.version.to_string(), b.packager.unwrap_or_default()));
        let cases = [
            ("postgres (PostgreSQL) 16.15", "16.15", ""),
            ("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)", "15.18", "debian"),
            ("postgres (PostgreSQL) 17.2 (Ubuntu 17.2-1.pgdg22.04+1)", "17.2", "ubuntu"),
            ("postgres (PostgreSQL) 19beta1", "19beta1", ""),
            ("postgres (PostgreSQL) 20devel", "20alpha0", ""),
        ];
        for (banner, version, packager) in cases {
            assert_eq!(read(banner), Some((version.to_owned(), packager.to_owned())), "{banner}");
        }
        assert_eq!(read("mysqld Ver 8.0.33"), None);
    }

    #[test]
    fn reads_the_rows_of_a_single_user_server() {
        let text = "\nPostgreSQL stand-alone backend 16.15\nbackend> \t 1: name\t(typeid = 25, len = -1)\n\
                    \t 2: setting\t(typeid = 25)\n\t----\n\
                    \t 1: name = \"CC\"\t(typeid = 25, len = -1, typmod = -1, byval = f)\n\
                    \t 2: setting = \"gcc \"x\"\"\t(typeid = 25, len = -1, typmod = -1, byval = f)\n\t----\n";
        assert_eq!(read_single_user(text), BTreeMap::from([("CC".to_owned(), "gcc \"x\"".to_owned())]));
    }
}
