//! Builds in words: the list as a table, one build line by line.
//!
//! In: rows and facts. Out: text and JSON values for whoever prints them.

use super::BuildRow;
use crate::line::cut;
use rqps_builds::Release;
use rqps_builds::source::recipe::Recipes;
use rqps_builds::storage::storage_engines;
use rqps_campaign::human_bytes;
use rqps_model::facts::BuildFacts;
use rqps_model::{Engine, StorageEngine};

/// What the catalog knows of a release that is not installed.
pub fn describe_release(release: &Release) -> String {
    let tables = release.storage_engines(None).unwrap_or_default();
    let rows = [
        ("name", release.build_name()),
        ("version", format!("{} {}", release.engine.title(), release.version)),
        ("origin", release.package.to_string()),
        ("sha256", release.sha256.clone()),
        ("to fetch", release.size_bytes.map(human_bytes).unwrap_or_default()),
        ("tables", storage_names(&tables)),
        ("installed", format!("no; `rqps builds install {}:{}` fetches it", release.engine, release.version)),
    ];
    lines(&rows)
}

/// The same as JSON.
pub fn release_json(release: &Release) -> serde_json::Value {
    serde_json::json!({
        "name": release.build_name(),
        "engine": release.engine,
        "version": release.version,
        "origin": release.package.to_string(),
        "sha256": release.sha256,
        "fetch_bytes": release.size_bytes,
        "storage_engines": release.storage_engines(None),
        "installed": false,
    })
}

/// What tables can be stored by, in words.
fn storage_names(engines: &[StorageEngine]) -> String {
    engines.iter().map(|engine| engine.name()).collect::<Vec<_>>().join(", ")
}

/// What is known, a line each.
fn lines(rows: &[(&str, String)]) -> String {
    rows.iter().filter(|(_, value)| !value.is_empty()).map(|(label, value)| format!("{label:<11} {value}\n")).collect()
}

/// The list as a table, lines cut to the width of a terminal.
pub fn table(rows: &[BuildRow], width: Option<usize>) -> String {
    let size = |bytes: Option<u64>| bytes.map_or("-".to_owned(), human_bytes);
    let mut text = format!("{:<20} {:<22} {:>9} {:>9}  {}\n", "build", "name", "to fetch", "installed", "package");
    for engine in Engine::ALL {
        text.push_str(&format!("\n{}\n", engine.title()));
        for row in rows.iter().filter(|row| row.engine == engine) {
            // What has no release is named by where it came from, which the last column says.
            let is_elsewhere = row.fetch_bytes.is_none() && (row.build.contains('/') || row.build.contains(":src:"));
            let build = if is_elsewhere { "-" } else { &row.build };
            let name = if row.name.is_empty() { "-" } else { &row.name };
            let (fetch, installed) = (size(row.fetch_bytes), size(row.installed_bytes));
            let rocksdb = row.storage.as_ref().is_some_and(|storage| storage.contains(&StorageEngine::Rocksdb));
            let first = if rocksdb { "with RocksDB, " } else { "" };
            let line = format!("{build:<20} {name:<22} {fetch:>9} {installed:>9}  {first}{}", row.origin);
            text.push_str(&cut(&line, width.unwrap_or(usize::MAX)));
            text.push('\n');
        }
    }
    text.push_str(
        "\nA folder, an archive on this machine or its address is a build, too:\n  \
         --build postgres:/usr/lib/postgresql/15\n  \
         --build mysql:/tmp/mysql-9.4.0-linux-glibc2.28-x86_64.tar.xz\n  \
         --build mariadb:https://HOST/PATH.tar.gz#sha256=DIGEST\n\
         A source is compiled here; `rqps builds flavours` shows with which flags:\n  \
         --build base=postgres:src:.@merge-base --build mine=postgres:src:.",
    );
    text
}

/// The flavours of an engine, with their variables.
pub fn flavours(recipes: &Recipes) -> String {
    let mut text = String::new();
    for engine in Engine::ALL {
        let Ok(usual) = recipes.flavour(engine, None) else { continue };
        text.push_str(&format!("{}\n", engine.title()));
        for flavour in recipes.flavours(engine) {
            let mark = if flavour.name == usual.name { " (where none is named)" } else { "" };
            let variables = flavour.variables.iter().map(|(name, value)| format!("{name}={value}"));
            text.push_str(&format!("  {:<20} {}{mark}\n", flavour.name, flavour.about));
            text.extend(variables.chain(flavour.arguments.clone()).map(|word| format!("{:23}{word}\n", "")));
        }
        let left_out = recipes.recipe(engine).left_out.join(", ");
        if !left_out.is_empty() {
            text.push_str(&format!("  Left out of every build, but for what a flavour names: {left_out}\n"));
        }
    }
    text
}

/// What is known of a build that is here, a line each.
pub fn describe(facts: &BuildFacts) -> String {
    let rows = [
        ("name", facts.name.clone()),
        ("version", facts.banner.clone()),
        ("origin", facts.origin.clone()),
        ("source", facts.source.clone()),
        ("folder", facts.folder.display().to_string()),
        ("sha256", facts.sha256.clone()),
        ("compiler", or_unknown(&facts.compiler)),
        ("flags", or_unknown(&facts.flags)),
        ("configure", or_unknown(&facts.configure)),
        ("symbols", facts.symbols.clone()),
        ("size", human_bytes(facts.size_bytes)),
        ("tables", storage_names(&storage_engines(facts))),
        (if facts.engine == Engine::Postgres { "extensions" } else { "plugins" }, facts.extensions.join(" ")),
    ];
    lines(&rows)
}

/// What a binary does not say is marked so.
fn or_unknown(text: &str) -> String {
    if text.is_empty() { "not known from the build".to_owned() } else { text.to_owned() }
}
