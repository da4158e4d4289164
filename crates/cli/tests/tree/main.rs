//! Walks the source tree and keeps what a reviewer would forget: headers, sizes, names, the edges between crates, and
//! the list of dependencies in ARCHITECTURE.md.
//!
//! Rules of the language itself are lints in Cargo.toml. What is checked here has no lint.

mod circles;
mod rules;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use toml::Table;

/// Which crate may know which, apart from tests: the code map and the picture in ARCHITECTURE.md.
const EDGES: [(&str, &[&str]); 24] = [
    ("model", &["draw"]),
    ("stats", &[]),
    ("draw", &[]),
    ("sql", &[]),
    ("pgbench", &["draw"]),
    ("querylog", &["sql"]),
    ("suites", &["model"]),
    ("campaign", &["draw", "model", "pgbench", "sql", "stats", "suites"]),
    ("wire", &["model"]),
    ("store", &["model"]),
    ("machine", &[]),
    ("builds", &["machine", "model"]),
    ("server", &["builds", "machine", "model", "wire"]),
    ("load", &["draw", "model", "pgbench", "sql", "stats", "suites", "wire"]),
    ("observe", &["machine", "model", "wire"]),
    ("profile", &["model"]),
    ("analysis", &["model", "sql", "stats", "store"]),
    ("report", &["model", "analysis"]),
    // For developers, not shipped.
    (
        "bench-client",
        &["builds", "campaign", "load", "machine", "model", "observe", "profile", "server", "stats", "suites", "wire"],
    ),
    // For tests alone: no crate has an edge to them.
    ("madeup", &["model", "store"]),
    ("testkit", &["builds", "machine", "model", "server", "wire"]),
    ("conduct", &["builds", "load", "machine", "model", "observe", "profile", "server", "store", "suites", "wire"]),
    (
        "lab",
        &[
            "analysis", "builds", "campaign", "conduct", "machine", "model", "observe", "profile", "querylog",
            "report", "server", "sql", "store", "suites",
        ],
    ),
    ("cli", &["builds", "campaign", "lab", "model", "report", "store", "suites"]),
];

/// A longer file is several rooms.
const LINES_MAX: usize = 600;

/// A larger file is data that belongs elsewhere, or a mistake.
const BYTES_MAX: u64 = 256 << 10;

/// Names that say nothing about what is in a file.
const EMPTY_NAMES: [&str; 8] = ["util", "utils", "helper", "helpers", "common", "misc", "manager", "tools"];

/// What a checkout holds besides committed files.
const NOT_OURS: [&str; 5] = ["target", "results", ".git", ".idea", ".vscode"];

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

/// Every file of the tree, by its path from the root.
pub(crate) fn files() -> Vec<PathBuf> {
    let root = root();
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            if NOT_OURS.iter().any(|name| entry.file_name() == *name) {
                continue;
            }
            let path = entry.path();
            if entry.file_type().expect("a type").is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(&root).expect("below the root").to_owned());
            }
        }
    }
    found.sort();
    assert!(found.len() > 100, "the walk found the tree");
    found
}

pub(crate) fn sources() -> Vec<(PathBuf, String)> {
    let rust = files().into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    rust.map(|path| (path.clone(), fs::read_to_string(root().join(path)).expect("text"))).collect()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn manifest(folder: &str) -> Table {
    read(&format!("{folder}Cargo.toml")).parse().expect("a manifest")
}

/// Keys of a table of a manifest; none where there is no such table.
fn keys(manifest: &Table, name: &str) -> BTreeSet<String> {
    let table = manifest.get(name).and_then(toml::Value::as_table);
    table.map(|table| table.keys().cloned().collect()).unwrap_or_default()
}

#[track_caller]
pub(crate) fn none(faults: Vec<String>, rule: &str) {
    assert!(faults.is_empty(), "{rule}:\n  {}", faults.join("\n  "));
}

#[test]
fn every_file_says_what_it_is_for_and_is_one_room() {
    let sources = sources();
    let bare = sources.iter().filter(|(_, text)| !text.starts_with("//! "));
    none(bare.map(|(path, _)| path.display().to_string()).collect(), "a source file begins with //!");
    let long = sources.iter().map(|(path, text)| (path, text.lines().count())).filter(|(_, lines)| *lines > LINES_MAX);
    none(long.map(|(path, lines)| format!("{}: {lines}", path.display())).collect(), "a file has at most 600 lines");
    let empty = sources.iter().map(|(path, _)| path).filter(|path| {
        path.with_extension("").components().any(|part| EMPTY_NAMES.iter().any(|name| part.as_os_str() == *name))
    });
    none(empty.map(|path| path.display().to_string()).collect(), "a file is named for its noun or act");
}

#[test]
fn no_file_is_large_or_names_a_registry() {
    let is_locked = |path: &PathBuf| path == Path::new("Cargo.lock");
    let size = |path: &PathBuf| fs::metadata(root().join(path)).expect("there").len();
    let mut files = files();
    files.retain(|path| !is_locked(path));
    let large = files.iter().filter(|path| size(path) > BYTES_MAX);
    none(large.map(|path| path.display().to_string()).collect(), "data of this size is fetched or made, not committed");
    // Put together here, so that this file does not name them.
    let hosts: Vec<String> =
        [["crates", "io"], ["maven", "org"], ["npmjs", "com"], ["npmjs", "org"], ["pypi", "org"], ["docker", "io"]]
            .iter()
            .map(|parts| parts.join("."))
            .collect();
    let names = |path: &&PathBuf| {
        let text = String::from_utf8_lossy(&fs::read(root().join(path)).expect("readable")).into_owned();
        hosts.iter().any(|host| text.contains(host))
    };
    none(
        files.iter().filter(names).map(|path| path.display().to_string()).collect(),
        "which registry serves a package is the choice of its client and its user",
    );
}

#[test]
fn crates_know_only_what_the_architecture_lets_them() {
    let allowed: BTreeMap<&str, BTreeSet<String>> =
        EDGES.iter().map(|(name, edges)| (*name, edges.iter().map(|edge| format!("rqps-{edge}")).collect())).collect();
    let folders = fs::read_dir(root().join("crates")).expect("the crates").flatten();
    let found: BTreeSet<String> = folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(found.iter().map(String::as_str).collect::<BTreeSet<_>>(), allowed.keys().copied().collect());
    for (name, allowed) in allowed {
        let mut edges = keys(&manifest(&format!("crates/{name}/")), "dependencies");
        edges.retain(|edge| edge.starts_with("rqps-"));
        assert_eq!(edges, allowed, "crates/{name}: a new edge says why in ARCHITECTURE.md and stands here");
        let map = read("ARCHITECTURE.md");
        assert!(map.contains(&format!("| `crates/{name}` |")), "crates/{name} is in the code map");
    }
}

#[test]
fn every_dependency_is_used_and_has_a_line_in_the_architecture() {
    let sources = sources();
    let mut needed = BTreeSet::new();
    let mut unused = Vec::new();
    for (name, _) in EDGES {
        let manifest = manifest(&format!("crates/{name}/"));
        let dependencies = keys(&manifest, "dependencies");
        let own: Vec<&String> = sources
            .iter()
            .filter(|(path, _)| path.starts_with(format!("crates/{name}")))
            .map(|(_, text)| text)
            .collect();
        for dependency in dependencies.union(&keys(&manifest, "dev-dependencies")) {
            let module = dependency.replace('-', "_");
            let is_used = |text: &&String| {
                [format!("{module}::"), format!("use {module};")].iter().any(|words| text.contains(words))
                    || text.contains(&format!("{module}!"))
                    // What this macro of `model` makes can be stored.
                    || (module == "serde" && text.contains("words! {"))
            };
            if !own.iter().any(is_used) {
                unused.push(format!("crates/{name}: {dependency}"));
            }
        }
        needed.extend(dependencies.into_iter().filter(|dependency| !dependency.starts_with("rqps-")));
    }
    none(unused, "a dependency that no source file names is not needed");

    let workspace = manifest("");
    let workspace = workspace["workspace"].as_table().expect("a workspace");
    let known: BTreeSet<String> = keys(workspace, "dependencies");
    let table = read("ARCHITECTURE.md");
    let (_, table) = table.split_once("## Dependencies").expect("the table of dependencies");
    let first_cells = table.lines().filter(|line| line.starts_with("| `")).filter_map(|line| line.split('|').nth(1));
    let listed: BTreeSet<String> =
        first_cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned).collect();
    none(needed.difference(&listed).cloned().collect(), "a dependency is worth a line in ARCHITECTURE.md");
    none(listed.difference(&known).cloned().collect(), "a line of ARCHITECTURE.md is about a dependency that is there");
}
