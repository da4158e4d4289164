//! What a MySQL or MariaDB installation is: its version text, its binary, its plugins, and `docs/INFO_BIN` where it has
//! one.
//!
//! In: a folder that holds the server program in any of the usual layouts. Out: the fields of [`Part`]. It must not
//! start a server.

use super::info_bin::InfoBin;
use super::subject::{Banner, Made, Part, Subject, names_of};
use crate::elf::ElfFacts;
use crate::{Result, program};
use rqps_machine::Lease;
use rqps_model::Version;
use std::path::{Path, PathBuf};

/// Current MariaDB has no `mysqld`; a user who calls it MySQL is told what it is, not that `mysqld` is missing.
const OTHER_NAMES: [&str; 1] = ["mariadbd"];

pub(super) const PART: Part = Part { find, arguments: &["--no-defaults"], read_banner, made };

fn find(subject: &Subject<'_>, folder: &Path) -> Result<PathBuf> {
    let found = program::find(folder, subject.engine.server_programs());
    let found = found.or_else(|| program::find(folder, &OTHER_NAMES));
    found.ok_or_else(|| subject.wrong(program::looked_for(subject.engine)))
}

fn made(folder: &Path, _: &Version, elf: &ElfFacts, _: &Lease) -> Result<Made> {
    let info = InfoBin::of(folder);
    let compiled_by = info.compiler.or_else(|| elf.main_producer());
    Ok(Made {
        compiler: elf.compilers(compiled_by.as_deref()),
        flags: if info.flags.is_empty() { elf.producer_flags() } else { info.flags },
        configure: info.configure,
        extensions: program::plugins_of(folder).map_or_else(Vec::new, |folder| names_of(&folder, "so")),
    })
}

/// Reads `mysqld  Ver 8.0.33 for Linux on x86_64 (MySQL Community Server - GPL)` and
/// `mariadbd  Ver 10.11.18-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)`.
fn read_banner(banner: &str) -> Option<Banner> {
    let rest = banner.split_once(" Ver ")?.1.trim_start();
    let word = rest.split(' ').next()?;
    let number: String = word.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    Some(Banner { version: number.parse().ok()?, packager: packager(rest) })
}

/// Who made it, if that is not the engine's own project: a name that is known anywhere in the line, else the first word
/// of the remark at its end.
fn packager(rest: &str) -> Option<String> {
    let line = rest.to_ascii_lowercase();
    let known = ["percona", "ubuntu", "debian", "fedora", "suse"].into_iter().find(|name| line.contains(name));
    let remark = line.split_once('(')?.1.trim_start_matches('(');
    let word: String = remark.chars().take_while(char::is_ascii_alphanumeric).collect();
    let plain = ["", "mysql", "mariadb", "source", "gpl", "commercial"];
    known.map(str::to_owned).or((!plain.contains(&word.as_str())).then_some(word))
}

#[cfg(test)]
mod tests {
    use super::super::named_engine;
    use super::*;

    #[test]
    fn reads_what_servers_of_all_ages_say_of_themselves() {
        let cases = [
            ("mysqld  Ver 5.5.34 for linux2.6 on x86_64 (MySQL Community Server (GPL))", "mysql 5.5.34 -"),
            ("/x/mysqld  Ver 8.0.33 for Linux on x86_64 (MySQL Community Server - GPL)", "mysql 8.0.33 -"),
            ("mysqld  Ver 8.0.33-debug for Linux on x86_64 (MySQL Community Server - GPL - Debug)", "mysql 8.0.33 -"),
            ("mysqld  Ver 8.0.36-28 for Linux on x86_64 (Percona Server (GPL), Release 28)", "mysql 8.0.36 percona"),
            ("mysqld  Ver 9.4.0 for Linux on x86_64 (Source distribution)", "mysql 9.4.0 -"),
            ("mysqld  Ver 8.0.42-0ubuntu0.24.04.1 for Linux on x86_64 ((Ubuntu))", "mysql 8.0.42 ubuntu"),
            ("mysqld  Ver 10.2.11-MariaDB for Linux on x86_64 (MariaDB Server)", "mariadb 10.2.11 -"),
            ("mariadbd  Ver 12.1.2-MariaDB for Linux on x86_64 (MariaDB Server)", "mariadb 12.1.2 -"),
            (
                "mariadbd  Ver 11.8.6-MariaDB-0+deb13u1 from Debian for debian-linux-gnu on x86_64 (-- Please help)",
                "mariadb 11.8.6 debian",
            ),
            (
                "mariadbd  Ver 10.11.18-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)",
                "mariadb 10.11.18 debian",
            ),
        ];
        for (banner, expected) in cases {
            let stated = read_banner(banner).expect(banner);
            let packager = stated.packager.as_deref().unwrap_or("-");
            assert_eq!(format!("{} {} {packager}", named_engine(banner), stated.version), expected, "{banner}");
        }
        assert_eq!(read_banner("postgres (PostgreSQL) 16.15"), None);
    }
}
