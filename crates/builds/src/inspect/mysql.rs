//! What a MySQL or MariaDB installation is: its version text, its binary, its plugins, and `docs/INFO_BIN` where it has
//! one.
//!
//! In: a folder that holds the server program in any of the usual layouts. Out: [`BuildFacts`]. It must not take one
//! engine for the other: both call their program `mysqld`.

use super::info_bin::InfoBin;
use super::{LOCAL, Subject, banner, size_of};
use crate::elf::ElfFacts;
use crate::{BuildError, Result, program, verify};
use rqps_model::facts::BuildFacts;
use rqps_model::{Engine, Version};
use std::fs;
use std::path::Path;

pub(super) fn inspect(subject: &Subject<'_>) -> Result<BuildFacts> {
    let folder = subject.root(&program::PROGRAM_FOLDERS)?;
    let found = program::find(&folder, subject.engine);
    // A present MariaDB has no `mysqld`; who calls it MySQL should read that, and not that it is missing.
    let found = found.or_else(|| program::find(&folder, Engine::Mariadb));
    let program = found.ok_or_else(|| subject.wrong(program::looked_for(subject.engine)))?;
    let banner = banner(subject, &program, &folder)?;
    let stated = read_banner(&banner).ok_or_else(|| {
        subject.wrong(format!("a version in what {} says of itself, which is `{banner}`", program.display()))
    })?;
    if stated.engine != subject.engine {
        return Err(BuildError::OtherEngine {
            folder: subject.folder.to_owned(),
            found: format!("{} {}", stated.engine.title(), stated.version),
            engine: subject.engine.title(),
            prefix: stated.engine.name(),
        });
    }
    let bytes = fs::read(&program).map_err(BuildError::at("read", &program))?;
    let elf = ElfFacts::of(&bytes);
    let info = InfoBin::of(&folder);
    let compiled_by = info.compiler.clone().or_else(|| elf.main_producer());
    let label = subject.label.map(str::to_owned).or(stated.packager).unwrap_or_else(|| LOCAL.to_owned());
    Ok(BuildFacts {
        name: format!("{}_{label}", stated.version.compact(subject.engine)),
        engine: subject.engine,
        version: stated.version,
        banner: without_path(&banner),
        origin: subject.origin.to_owned(),
        sha256: verify::sha256_bytes(&bytes),
        compiler: elf.compilers(compiled_by.as_deref()),
        flags: if info.flags.is_empty() { elf.producer_flags() } else { info.flags },
        configure: info.configure,
        extensions: program::plugins_of(&folder).map_or_else(Vec::new, |folder| plugins(&folder)),
        library_folders: subject.library_folders.to_vec(),
        size_bytes: size_of(&folder, &program),
        symbols: elf.describe(),
        folder,
    })
}

/// What a version line says.
#[derive(Debug, PartialEq, Eq)]
struct Banner {
    engine: Engine,
    version: Version,
    packager: Option<String>,
}

/// Reads `mysqld  Ver 8.0.33 for Linux on x86_64 (MySQL Community Server - GPL)` and
/// `mariadbd  Ver 10.11.18-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)`.
fn read_banner(banner: &str) -> Option<Banner> {
    let rest = banner.split_once(" Ver ")?.1.trim_start();
    let word = rest.split(' ').next()?;
    let number: String = word.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    let engine = if rest.contains("MariaDB") { Engine::Mariadb } else { Engine::Mysql };
    Some(Banner { engine, version: number.parse().ok()?, packager: packager(rest) })
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

/// The line without the path by which we called the program.
fn without_path(banner: &str) -> String {
    match banner.split_once(char::is_whitespace) {
        Some((path, rest)) => {
            let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy();
            format!("{name} {}", rest.trim_start())
        }
        None => banner.to_owned(),
    }
}

fn plugins(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let libraries = files.filter(|path| path.extension().is_some_and(|e| e == "so"));
    let mut names: Vec<String> = libraries.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
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
            assert_eq!(format!("{} {} {packager}", stated.engine, stated.version), expected, "{banner}");
        }
        assert_eq!(read_banner("postgres (PostgreSQL) 16.15"), None);
        assert_eq!(without_path("/a/b/mysqld  Ver 8.0.33 for Linux"), "mysqld Ver 8.0.33 for Linux");
    }
}
