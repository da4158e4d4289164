//! What an installation is: asked of its own binaries, never guessed from its folder's name.
//!
//! In: a folder that holds `bin/`. Out: [`BuildFacts`] with version, compiler, flags, extensions and symbols. Where there
//! is no `pg_config`, a throw-away server is asked for the same facts. It must not change the installation.

use crate::elf::ElfFacts;
use crate::{Account, Lease, Result, ServerError, cluster, verify};
use rqps_model::facts::BuildFacts;
use rqps_model::{Engine, Version};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The name's ending for a build whose packager is not told.
const LOCAL: &str = "local";

/// Inspects an installation. `origin` and `label` are the package's coordinate and source for an installed package; for a
/// folder they are the folder as given and what the binary's own text says.
pub fn inspect(folder: &Path, engine: Engine, origin: &str, label: Option<&str>, lease: &Lease) -> Result<BuildFacts> {
    match engine {
        Engine::Postgres => inspect_postgres(folder, origin, label, lease),
    }
}

fn inspect_postgres(folder: &Path, origin: &str, label: Option<&str>, lease: &Lease) -> Result<BuildFacts> {
    let folder = installation_root(folder)?;
    let bin = folder.join("bin");
    let banner = banner(&folder, &bin.join("postgres"))?;
    let (version, packager) = read_banner(&banner).ok_or_else(|| {
        not_an_installation(&folder, format!("a version in what bin/postgres says of itself, which is `{banner}`"))
    })?;
    let config = match fs::exists(bin.join("pg_config")) {
        Ok(true) => ask_pg_config(&bin.join("pg_config"))?,
        _ => ask_server(&bin, version.major(), lease)?,
    };
    let told = |name: &str| config.get(name).map_or("", |v| v.trim()).to_owned();
    let postgres = bin.join("postgres");
    let bytes = fs::read(&postgres).map_err(ServerError::at("read", &postgres))?;
    let elf = ElfFacts::of(&bytes);
    let compiler = elf.compiled_by.clone().unwrap_or_else(|| elf.comment.clone());
    let label = label.map(str::to_owned).or(packager).unwrap_or_else(|| LOCAL.to_owned());
    Ok(BuildFacts {
        name: format!("{}_{label}", version.compact(Engine::Postgres)),
        engine: Engine::Postgres,
        version,
        banner,
        origin: origin.to_owned(),
        sha256: verify::sha256_bytes(&bytes),
        compiler,
        flags: flags(&config),
        configure: told("CONFIGURE"),
        extensions: extensions(&Path::new(&told("SHAREDIR")).join("extension")),
        size_bytes: size_of(&folder),
        symbols: elf.describe(),
        folder,
    })
}

/// The folder that holds `bin/`, as an absolute path without links; `bin` itself is taken for its parent.
fn installation_root(folder: &Path) -> Result<PathBuf> {
    let found = fs::canonicalize(folder).map_err(|e| not_an_installation(folder, format!("the folder itself: {e}")))?;
    let root = match found.file_name() {
        Some(name) if name == "bin" && found.join("postgres").is_file() => found.parent().unwrap_or(&found).to_owned(),
        _ => found,
    };
    let wanted = ["bin/postgres", "bin/initdb"];
    let missing: Vec<&str> = wanted.into_iter().filter(|file| !root.join(file).is_file()).collect();
    if missing.is_empty() {
        return Ok(root);
    }
    Err(not_an_installation(folder, format!("{} ({} not there)", wanted.join(" and "), missing.join(" and "))))
}

fn not_an_installation(folder: &Path, looked_for: String) -> ServerError {
    ServerError::NotAnInstallation { folder: folder.to_owned(), engine: Engine::Postgres.name().to_owned(), looked_for }
}

fn banner(folder: &Path, postgres: &Path) -> Result<String> {
    let run = Command::new(postgres).arg("--version").env_clear().stdin(Stdio::null()).output();
    let output =
        run.map_err(|e| not_an_installation(folder, format!("a bin/postgres that runs on this machine: {e}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(not_an_installation(folder, format!("a bin/postgres that runs on this machine: {said}")));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Reads `postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)` as version and packager.
fn read_banner(banner: &str) -> Option<(Version, Option<String>)> {
    let rest = banner.split_once("(PostgreSQL)")?.1.trim();
    let (number, packaging) = rest.split_once(' ').unwrap_or((rest, ""));
    // A development tree calls itself `20devel`; it comes before all that is released of 20.
    let number = number.strip_suffix("devel").map_or_else(|| number.to_owned(), |major| format!("{major}alpha0"));
    let word = packaging.trim_start_matches('(').split(|c: char| !c.is_ascii_alphanumeric()).next()?;
    let packager = (!word.is_empty()).then(|| word.to_ascii_lowercase());
    Some((number.parse().ok()?, packager))
}

fn ask_pg_config(program: &Path) -> Result<BTreeMap<String, String>> {
    let output = Command::new(program).env_clear().stdin(Stdio::null()).output();
    let output = output.map_err(ServerError::at("run", program))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(text.lines().filter_map(|line| line.split_once(" = ")).map(|(k, v)| (k.to_owned(), v.to_owned())).collect())
}

fn ask_server(bin: &Path, major: u32, lease: &Lease) -> Result<BTreeMap<String, String>> {
    let account = Account::choose();
    account.check_can_enter(bin, "RQPS_CACHE")?;
    let folder = lease.folder(&std::env::temp_dir(), &format!("inspect{major}"), 0o711)?;
    account.check_can_enter(folder.path(), "TMPDIR")?;
    let data = folder.path().join("data");
    cluster::initdb(bin, major, &data, account, false)?;
    let text = cluster::single_user(bin, &data, account, "template1", "SELECT name, setting FROM pg_config\n")?;
    Ok(read_single_user(&text))
}

/// A server that runs for one statement prints a row as lines such as `1: name = "CC"` and, after a tab, the column's type.
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
    let told = given.filter_map(|name| Some((name, config.get(name)?.trim()))).filter(|(_, value)| !value.is_empty());
    told.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

fn extensions(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let controls = files.filter(|path| path.extension().is_some_and(|e| e == "control"));
    let mut names: Vec<String> = controls.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    names.sort();
    names
}

/// Bytes of all files below a folder.
fn size_of(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Some((entry.path(), entry.metadata().ok()?)))
        .map(|(path, meta)| if meta.is_dir() { size_of(&path) } else { meta.len() })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cache;

    #[test]
    fn reads_what_binaries_say_of_themselves() {
        let read = |text: &str| read_banner(text).map(|(v, p)| (v.to_string(), p.unwrap_or_default()));
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

    #[test]
    fn says_what_it_looked_for() {
        let root = tempfile::tempdir().expect("a folder");
        let cache = Cache::at(&root.path().join("cache")).expect("a cache");
        let lease = Lease::open(&cache).expect("a lease");
        let wrong = |folder: &Path| {
            inspect(folder, Engine::Postgres, "x", None, &lease).expect_err("not an installation").to_string()
        };
        let error = wrong(root.path());
        assert!(
            error.contains("looked for bin/postgres and bin/initdb (bin/postgres and bin/initdb not there)"),
            "{error}"
        );
        assert!(wrong(&root.path().join("absent")).contains("No such file"));
        fs::create_dir(root.path().join("bin")).expect("made");
        for name in ["bin/postgres", "bin/initdb"] {
            fs::write(root.path().join(name), "no program").expect("written");
        }
        assert!(wrong(root.path()).contains("a bin/postgres that runs on this machine"));
    }

    #[test]
    fn tells_the_facts_of_a_folder_of_the_machine() {
        let root = tempfile::tempdir().expect("a folder");
        let cache = Cache::at(&root.path().join("cache")).expect("a cache");
        let lease = Lease::open(&cache).expect("a lease");
        let folder = Path::new("/usr/lib/postgresql/15");
        let facts = inspect(folder, Engine::Postgres, "/usr/lib/postgresql/15", None, &lease).expect("inspected");
        assert_eq!(facts.version.major(), 15);
        assert!(facts.name.starts_with("pg15") && facts.name.ends_with("_debian"), "{}", facts.name);
        assert!(facts.compiler.starts_with("gcc") && facts.flags.contains("-O2"), "{facts:?}");
        assert!(facts.configure.contains("--with-lz4") && facts.extensions.contains(&"pg_stat_statements".to_owned()));
        assert!(facts.symbols.contains("frame pointers") && facts.size_bytes > 1 << 20 && facts.sha256.len() == 64);
        let through_bin = inspect(&folder.join("bin"), Engine::Postgres, "x", None, &lease).expect("inspected");
        assert_eq!(through_bin.folder, facts.folder);
    }
}
