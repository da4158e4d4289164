//! What an installation is: read from its own binaries, never guessed from its folder's name.
//!
//! In: a folder that holds an engine's programs. Out: [`BuildFacts`] with version, compiler, flags, extensions and
//! symbols. It must not change the installation, nor take one engine for another: MySQL and MariaDB both call their
//! program `mysqld`.

mod info_bin;
mod mysql;
mod postgres;
mod subject;

pub use subject::Subject;

use crate::elf::ElfFacts;
use crate::{BuildError, Result, verify};
use rqps_machine::command::{self, OnParentDeath};
use rqps_machine::{Account, Lease};
use rqps_model::Engine;
use rqps_model::facts::BuildFacts;
use std::fs;
use std::path::Path;
use subject::{ANSWER_LIMIT, Part};

/// The end of the name of a build whose packager is unknown.
const LOCAL: &str = "local";

/// Prefixes that an installation shares with everything else on the machine.
const SHARED: [&str; 3] = ["/", "/usr", "/usr/local"];

/// The part that knows an engine's installations.
const fn part(engine: Engine) -> &'static Part {
    match engine {
        Engine::Postgres => &postgres::PART,
        Engine::Mysql | Engine::Mariadb => &mysql::PART,
    }
}

/// The engine whose server prints this version text; packagers of MySQL need not name it.
fn named_engine(banner: &str) -> Engine {
    let named = [Engine::Postgres, Engine::Mariadb].into_iter().find(|engine| banner.contains(engine.title()));
    named.unwrap_or(Engine::Mysql)
}

/// Inspects an installation.
pub fn inspect(subject: &Subject<'_>, lease: &Lease) -> Result<BuildFacts> {
    let (engine, part) = (subject.engine, part(subject.engine));
    let folder = subject.root()?;
    let program = (part.find)(subject, &folder)?;
    let banner = banner(subject, &program, &folder, part.arguments)?;
    let stated = (part.read_banner)(&banner).ok_or_else(|| {
        let program = program.strip_prefix(&folder).unwrap_or(&program).display();
        subject.wrong(format!("a version in what {program} says of itself, which is `{banner}`"))
    })?;
    let named = named_engine(&banner);
    if named != engine {
        return Err(BuildError::OtherEngine {
            folder: subject.folder.to_owned(),
            found: format!("{} {}", named.title(), stated.version),
            engine: engine.title(),
            prefix: named.name(),
        });
    }
    let bytes = fs::read(&program).map_err(BuildError::at("read", &program))?;
    let elf = ElfFacts::of(&bytes);
    let made = (part.made)(&folder, &stated.version, &elf, lease)?;
    let label = subject.label.map(str::to_owned).or(stated.packager).unwrap_or_else(|| LOCAL.to_owned());
    Ok(BuildFacts {
        name: format!("{}_{label}", stated.version.compact(engine)),
        engine,
        version: stated.version,
        banner,
        origin: subject.origin.to_owned(),
        source: String::new(),
        sha256: verify::sha256_bytes(&bytes),
        compiler: made.compiler,
        flags: made.flags,
        configure: made.configure,
        extensions: made.extensions,
        library_folders: subject.library_folders.to_vec(),
        size_bytes: size_of(&folder, &program),
        symbols: elf.describe(),
        folder,
    })
}

/// What the server program says of its version, without the path by which it was called. It can be anybody's program,
/// so it runs as servers do: under their account.
fn banner(subject: &Subject<'_>, program: &Path, root: &Path, arguments: &[&str]) -> Result<String> {
    let name = program.strip_prefix(root).unwrap_or(program).display();
    let account = Account::choose();
    account.check_can_enter(program.parent().unwrap_or(Path::new("/")), "RQPS_CACHE")?;
    let mut command = command::program_with(account, OnParentDeath::Kill, program, root, subject.library_folders);
    command.args(arguments).arg("--version");
    let banner = command::output_within(command, &format!("{name} --version"), ANSWER_LIMIT)
        .map_err(|e| subject.wrong(format!("a {name} that runs on this machine: {e}")))?;
    Ok(without_path(banner.trim()))
}

fn without_path(banner: &str) -> String {
    match banner.split_once(char::is_whitespace) {
        Some((path, rest)) => {
            let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy();
            format!("{name} {}", rest.trim_start())
        }
        None => banner.to_owned(),
    }
}

/// Bytes of all files below a folder; of a prefix that is shared with everything else, of what is the engine's there.
fn size_of(folder: &Path, program: &Path) -> u64 {
    if !SHARED.iter().any(|shared| folder == Path::new(shared)) {
        return size_below(folder);
    }
    let own = ["lib/mysql", "lib/mariadb", "share/mysql", "share/mariadb", "lib64/mysql", "lib64/mariadb"];
    let program = fs::metadata(program).map_or(0, |meta| meta.len());
    program + own.iter().map(|name| size_below(&folder.join(name))).sum::<u64>()
}

fn size_below(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Some((entry.path(), entry.metadata().ok()?)))
        .map(|(path, meta)| if meta.is_dir() { size_below(&path) } else { meta.len() })
        .sum()
}

#[cfg(test)]
mod tests;
