//! What a recipe needs and the machine lacks: all of it at once, with the packages that have it.
//!
//! In: a recipe and a compiler. Out: nothing, or an error that names every missing program and header, or the disk. It
//! must not install anything.

use super::recipe::{Flavour, Need, Recipe};
use crate::{BuildError, Result};
use rqps_machine::command::{self, OnParentDeath, find_in_path};
use rqps_machine::{Account, MachineError, free_bytes};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where programs of steps are looked for; as [`command::program`] has it.
pub(super) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What applies patches, and the package that has it.
pub(super) const PATCH: &str = "patch";

/// Where headers are where there is no compiler to ask.
const HEADERS: [&str; 2] = ["/usr/local/include", "/usr/include"];

/// Time limit for a compiler to say something.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// The program of this name that steps would run.
pub fn find(program: &str) -> Option<PathBuf> {
    // A compiler may be named by its path.
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|path| path.is_file());
    }
    find_in_path(program, OsStr::new(PATH))
}

/// Refuses a machine that lacks something.
pub fn check(recipe: &Recipe, flavour: &Flavour, patches: &[PathBuf]) -> Result<()> {
    let compilers = recipe.compilers(flavour);
    let mut missing: Vec<String> = Vec::new();
    let mut packages: Vec<String> = Vec::new();
    let mut lacks = |what: String, package: &str| {
        missing.push(what);
        if !packages.iter().any(|known| known == package) {
            packages.push(package.to_owned());
        }
    };
    for compiler in compilers.iter().filter(|compiler| find(compiler).is_none()) {
        // Debian names the packages of compilers as the programs, but for Clang, which is one package.
        let name = compiler.rsplit('/').next().unwrap_or(compiler);
        lacks(format!("the compiler {compiler}"), &name.replace("clang++", "clang"));
    }
    if !patches.is_empty() && find(PATCH).is_none() {
        lacks(PATCH.to_owned(), PATCH);
    }
    for need in recipe.needs.iter().chain(&flavour.needs) {
        match need {
            Need { program: Some(program), package, .. } if find(program).is_none() => lacks(program.clone(), package),
            Need { header: Some(header), package, .. } if !has_header(header, compilers[0]) => {
                lacks(header.clone(), package);
            }
            Need { .. } => {}
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(BuildError::Lacking { engine: recipe.engine.title(), missing, packages })
}

/// Refuses a disk that has no room for what compiling makes.
pub fn check_room(recipe: &Recipe, folder: &Path) -> Result<()> {
    let needed_bytes = recipe.disk_mb * 1_000_000;
    let free_bytes = free_bytes(folder).map_err(BuildError::at("look at", folder))?;
    if free_bytes >= needed_bytes {
        return Ok(());
    }
    let remedy = "RQPS_CACHE";
    Err(MachineError::DiskFull { path: folder.to_owned(), needed_bytes, free_bytes, remedy }.into())
}

/// What a compiler says of itself: its version and the machine that it compiles for.
pub fn compiler_facts(compiler: &str) -> Result<String> {
    let path = find(compiler).unwrap_or_else(|| compiler.into());
    let ask = |argument: &str| {
        let mut command = command::program(Account::choose(), OnParentDeath::Kill, &path);
        command.arg(argument);
        command::output_within(command, &format!("{compiler} {argument}"), ANSWER_LIMIT)
    };
    let version = ask("--version")?;
    let first = version.lines().next().unwrap_or_default().trim().to_owned();
    Ok(format!("{first} for {}", ask("-dumpmachine")?.trim()))
}

/// What the compilers take `native` for in a flavour that has it: this machine's CPU, as options of their own.
pub fn native_facts(recipe: &Recipe, flavour: &Flavour) -> Result<Option<String>> {
    let words = flavour.variables.values().flat_map(|value| value.split_whitespace());
    let native: Vec<&str> = words.filter(|word| word.starts_with("-m") && word.ends_with("=native")).collect();
    if native.is_empty() {
        return Ok(None);
    }
    let ask = |compiler: &str| {
        let mut command = command::program(Account::choose(), OnParentDeath::Kill, Path::new("/bin/sh"));
        // GCC and Clang say on stderr what they would run.
        command.args(["-c", r#"exec "$@" 2>&1"#, "sh", compiler]).args(&native);
        command.args(["-###", "-E", "-x", "c", "/dev/null"]);
        command::output_within(command, &format!("{compiler} -###"), ANSWER_LIMIT)
    };
    Ok(Some(recipe.compilers(flavour).into_iter().map(ask).collect::<rqps_machine::Result<String>>()?))
}

fn has_header(header: &str, compiler: &str) -> bool {
    let Some(compiler) = find(compiler) else {
        return HEADERS.iter().any(|folder| Path::new(folder).join(header).is_file());
    };
    let mut command = command::program(Account::choose(), OnParentDeath::Kill, &compiler);
    command.args(["-E", "-x", "c", "-o", "/dev/null", "-"]);
    // Only looked for: a header may ask for another before it, or be one of C++.
    let text = format!("#if !__has_include(<{header}>)\n#error missing\n#endif\n");
    command::output(command, "the compiler", &text).is_ok()
}
