//! The pg_restore that makes SQL of an archive, since builds of the catalog have none.
//!
//! In: an archive's head, the program that the user named, folders of programs. Out: the newest program that reads it,
//! tried on its table of contents, or what is missing and which package has it.

use rqps_machine::command::{find_in_path, output_within, users_program};
use rqps_model::Version;
use rqps_model::own::Archive;
use rqps_sql::archive::{CONTENTS, HEAD_BYTES, Head, major};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

const PROGRAM: &str = "pg_restore";

/// Time in which a program tells its version, and reads a table of contents.
const ANSWER_TIME: Duration = Duration::from_secs(60);

/// Folders with a folder for each version of PostgreSQL, and where its programs are in that: Debian's, and that of
/// PostgreSQL's own packages for Red Hat.
const VERSION_FOLDERS: [(&str, &str); 2] = [("/usr/lib/postgresql", "bin"), ("/usr", "bin")];

/// Programs in the folder of a build of ours.
const BUILD_PROGRAMS: &str = "install/bin";

/// The head of a file or folder, if it is an archive.
pub(crate) fn head_of(path: &Path) -> Option<Head> {
    let path = if path.is_dir() { path.join(CONTENTS) } else { path.to_owned() };
    let mut first = Vec::new();
    File::open(path).ok()?.take(HEAD_BYTES as u64).read_to_end(&mut first).ok()?;
    Head::parse(&first)
}

/// What reads the archive: `named`, or else the newest that is in `builds` or among the machine's programs.
pub(crate) fn find(path: &Path, head: &Head, named: Option<&Path>, builds: Option<&Path>) -> Result<Archive, String> {
    let found = match named {
        Some(program) => {
            let program = std::path::absolute(program).map_err(|error| error.to_string())?;
            let version = version_of(&program)?;
            Some((version, program))
        }
        None => newest(builds),
    };
    let needs = head.needs();
    let (major_found, minor) = head.version;
    let wrote = if head.pg_dump.is_empty() { String::new() } else { format!(", written by pg_dump {}", head.pg_dump) };
    let archive = format!("it is an archive of version {major_found}.{minor}{wrote}");
    let remedy = format!(
        "install the package postgresql-client-{needs} (or newer), or name the program: --pg-restore PATH, or \
         `pg-restore` in [data]"
    );
    let Some((version, program)) = found else {
        return Err(format!("{archive}, and no {PROGRAM} is on this machine; it takes {needs} or newer: {remedy}"));
    };
    if major(&version).is_some_and(|major| major < needs) {
        let program = program.display();
        return Err(format!(
            "{archive}, which {PROGRAM} {version} ({program}) is too old for; it takes {needs} or newer: {remedy}"
        ));
    }
    // Its table of contents shows whether it is whole and can be unpacked, before any server is started.
    let mut list = users_program(&program);
    list.arg("--list").arg(path).env("LC_ALL", "C");
    output_within(list, PROGRAM, ANSWER_TIME).map_err(|error| error.to_string())?;
    Ok(Archive {
        version: format!("{major_found}.{minor}"),
        pg_dump: head.pg_dump.split_whitespace().next().unwrap_or_default().to_owned(),
        pg_restore: program,
        pg_restore_version: version,
    })
}

/// The newest that tells its version; of two of one version the first.
fn newest(builds: Option<&Path>) -> Option<(String, PathBuf)> {
    let below = |folder: &Path, programs: &str| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut found: Vec<PathBuf> = entries.map(|entry| entry.path().join(programs).join(PROGRAM)).collect();
        found.sort();
        found
    };
    let mut programs: Vec<PathBuf> =
        VERSION_FOLDERS.iter().flat_map(|(folder, programs)| below(Path::new(folder), programs)).collect();
    programs.extend(builds.into_iter().flat_map(|builds| below(builds, BUILD_PROGRAMS)));
    programs.extend(find_in_path(PROGRAM, &std::env::var_os("PATH").unwrap_or_default()));
    let versions = programs.into_iter().filter(|program| program.is_file());
    let versions = versions.filter_map(|program| Some((version_of(&program).ok()?, program)));
    let age = |(version, _): &(String, PathBuf)| version.parse::<Version>().ok();
    // The first of the greatest.
    versions.reduce(|best, other| if age(&other) > age(&best) { other } else { best })
}

/// The version that a program tells, such as `15.18` of `pg_restore (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)`.
fn version_of(program: &Path) -> Result<String, String> {
    let mut command = users_program(program);
    command.arg("--version");
    let said =
        output_within(command, &program.display().to_string(), ANSWER_TIME).map_err(|error| error.to_string())?;
    match said.strip_prefix("pg_restore (PostgreSQL) ").and_then(|rest| rest.split_whitespace().next()) {
        Some(version) => Ok(version.to_owned()),
        None => Err(format!("{} is no {PROGRAM}: it says {:?}", program.display(), said.trim())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// A program that tells a version and reads any archive but those whose name has "broken" in it.
    fn program(folder: &Path, version: &str) -> PathBuf {
        fs::create_dir_all(folder).expect("made");
        let path = folder.join(PROGRAM);
        let script = format!(
            "#!/bin/sh\ncase \"$1 $2\" in --version*) echo 'pg_restore (PostgreSQL) {version} (made up)';; *broken*) echo no >&2; exit 1;; esac\n"
        );
        fs::write(&path, script).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("set");
        path
    }

    #[test]
    fn the_newest_is_taken_and_what_is_too_old_is_told_with_its_remedy() {
        let root = tempfile::tempdir().expect("a folder");
        let builds = root.path().join("builds");
        let old = program(&root.path().join("old"), "15.18");
        program(&builds.join("pg98/install/bin"), "98.2");
        let new = program(&builds.join("pg99/install/bin"), "98.11");
        let head = Head { version: (1, 16), server: "17.11".to_owned(), pg_dump: "17.11 (Debian)".to_owned() };
        let dump = root.path().join("shop.dump");
        let archive = find(&dump, &head, None, Some(&builds)).expect("it is there");
        assert_eq!((archive.pg_restore, archive.pg_restore_version.as_str()), (new, "98.11"));
        assert_eq!((archive.version.as_str(), archive.pg_dump.as_str()), ("1.16", "17.11"));
        let told = find(&dump, &head, Some(&old), Some(&builds)).expect_err("too old");
        for part in
            ["version 1.16, written by pg_dump 17.11", "15.18", "17 or newer", "postgresql-client-17", "--pg-restore"]
        {
            assert!(told.contains(part), "{part}: {told}");
        }
        let told = find(&root.path().join("broken"), &head, None, Some(&builds)).expect_err("it cannot be read");
        assert!(told.contains("no"), "{told}");
        let told = find(&dump, &head, Some(Path::new("/bin/true")), None).expect_err("another program");
        assert!(told.contains("/bin/true is no pg_restore"), "{told}");
    }
}
