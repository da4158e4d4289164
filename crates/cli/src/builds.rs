//! `rqps builds`: what can be had, what is here, and what it is.

use crate::args::BuildsCommand;
use crate::lab::Lab;
use crate::outcome::Ending;
use crate::screen::Screen;
use crate::storage;
use anyhow::{Context, Result, anyhow, bail};
use rqps_campaign::human_bytes;
use rqps_campaign::vocabulary::nearest;
use rqps_model::facts::BuildFacts;
use rqps_model::{BuildSource, BuildSpec, Engine, StorageEngine};
use rqps_server::installation;

pub(crate) fn builds(command: &BuildsCommand, screen: Screen) -> Result<Ending> {
    let lab = Lab::open(screen)?;
    match command {
        BuildsCommand::List { json } => list(&lab, *json, screen)?,
        BuildsCommand::Install { build } => {
            for word in build {
                let facts = found_or_installed(&lab, word, screen)?;
                screen.print(&format!("{}  {}", facts.name, facts.folder.display()));
            }
        }
        BuildsCommand::Show { build, json } => {
            let facts = found_or_installed(&lab, build, screen)?;
            screen.print(&if *json { serde_json::to_string_pretty(&facts)? } else { describe(&facts) });
        }
        BuildsCommand::Verify { build } => verify(&lab, build, screen)?,
        BuildsCommand::Remove { build } => {
            for word in build {
                let name = installed_name(&lab, word)?;
                installation::remove(&lab.cache, &name)?;
                screen.print(&format!("removed {name}"));
            }
        }
    }
    Ok(Ending::Clean)
}

fn spec(word: &str) -> Result<BuildSpec> {
    word.parse().with_context(|| format!("build `{word}`"))
}

/// What a word of `--build`, or a name as `builds list` shows it, means; fetched if it is not here.
fn found_or_installed(lab: &Lab, word: &str, screen: Screen) -> Result<BuildFacts> {
    if let Some(release) = lab.catalog.releases().find(|release| release.build_name() == word) {
        let source = BuildSource::Catalog(release.version.clone());
        return lab.install(&BuildSpec { name: None, engine: release.engine, source }, screen);
    }
    match installation::list(&lab.cache)?.into_iter().find(|facts| facts.name == word) {
        Some(facts) => Ok(facts),
        None => match spec(word) {
            Ok(spec) => lab.install(&spec, screen),
            Err(error) => Err(meant(lab, word)?.map_or(error, |meant| anyhow!("no build is called `{word}`; {meant}"))),
        },
    }
}

/// What was likely meant by a word that is no build: a name that is nearly that of one, a version without its engine, or an
/// engine without a version. Of folders and addresses nobody knows.
fn meant(lab: &Lab, word: &str) -> Result<Option<String>> {
    if word.contains([':', '/']) {
        return Ok(None);
    }
    let rows = rows(lab)?;
    let named =
        |row: &&Row| row.build.split_once(':').is_some_and(|(engine, version)| [engine, version].contains(&word));
    let likely: Vec<&str> = match rows.iter().filter(named).map(|row| row.build.as_str()).collect::<Vec<_>>() {
        none if none.is_empty() => nearest(word, rows.iter().map(|row| row.name.as_str())).into_iter().collect(),
        named => named,
    };
    Ok(Some(match likely.as_slice() {
        [] => "`rqps builds list` shows all".to_owned(),
        [one] => format!("did you mean `{one}`?"),
        several => format!("name its version: {}", several.join(", ")),
    }))
}

/// The name in the cache of what `postgres:17.11`, `my8033` or `pg1711_zonky` means.
fn installed_name(lab: &Lab, word: &str) -> Result<String> {
    let spec = match word.parse::<BuildSpec>() {
        Ok(spec) => spec,
        // A name as `builds list` shows it; whether it is installed, the cache tells.
        Err(_) if !word.contains([':', '/']) => return Ok(word.to_owned()),
        Err(_) => spec(word)?,
    };
    match &spec.source {
        BuildSource::Catalog(version) => Ok(lab.catalog.find(spec.engine, version)?.build_name()),
        BuildSource::Folder(folder) => {
            bail!("{} is your own folder: rqps keeps no digests of it and never changes it", folder.display())
        }
        BuildSource::Archive(_) | BuildSource::Url { .. } => {
            let found = installation::find_archive(spec.engine, &spec.source, &lab.cache)?;
            found.map(|facts| facts.name).with_context(|| format!("{} is not installed; nothing to do", spec.source))
        }
    }
}

/// A line of the list: a release, or a build that is installed and that the catalog does not have.
struct Row {
    engine: Engine,
    build: String,
    name: String,
    fetch_bytes: Option<u64>,
    installed_bytes: Option<u64>,
    /// As far as is known.
    storage: Option<Vec<StorageEngine>>,
    origin: String,
    sha256: String,
}

fn rows(lab: &Lab) -> Result<Vec<Row>> {
    let mut installed = installation::list(&lab.cache)?;
    let mut rows = Vec::new();
    for release in lab.catalog.releases() {
        let name = release.build_name();
        let here = installed.iter().position(|facts| facts.name == name).map(|at| installed.remove(at));
        let storage = here.as_ref().map(storage::of_build).or_else(|| storage::of_release(release));
        rows.push(Row {
            engine: release.engine,
            build: format!("{}:{}", release.engine, release.version),
            name,
            fetch_bytes: release.size_bytes,
            installed_bytes: here.map(|facts| facts.size_bytes),
            storage,
            origin: release.package.to_string(),
            sha256: release.sha256.clone(),
        });
    }
    rows.extend(installed.into_iter().map(|facts| Row {
        engine: facts.engine,
        storage: Some(storage::of_build(&facts)),
        build: format!("{}:{}", facts.engine, facts.origin),
        name: facts.name,
        fetch_bytes: None,
        installed_bytes: Some(facts.size_bytes),
        origin: facts.origin,
        sha256: facts.sha256,
    }));
    rows.sort_by_key(|row| row.engine);
    Ok(rows)
}

fn list(lab: &Lab, json: bool, screen: Screen) -> Result<()> {
    let rows = rows(lab)?;
    if json {
        let row = |row: &Row| {
            serde_json::json!({
                "engine": row.engine,
                "build": row.build,
                "name": row.name,
                "package": row.origin,
                "sha256": row.sha256,
                "fetch_bytes": row.fetch_bytes,
                "installed": row.installed_bytes.is_some(),
                "installed_bytes": row.installed_bytes,
                "storage_engines": row.storage,
            })
        };
        screen.print(&serde_json::to_string_pretty(&rows.iter().map(row).collect::<Vec<_>>())?);
        return Ok(());
    }
    let size = |bytes: Option<u64>| bytes.map_or("-".to_owned(), human_bytes);
    let mut text = format!("{:<18} {:<18} {:>9} {:>9}  {}\n", "build", "name", "to fetch", "installed", "package");
    for engine in Engine::ALL {
        text.push_str(&format!("\n{}\n", engine.title()));
        for row in rows.iter().filter(|row| row.engine == engine) {
            // What has no release is named by where it came from, which the last column says.
            let build = if row.fetch_bytes.is_none() && row.build.contains('/') { "-" } else { &row.build };
            let (fetch, installed) = (size(row.fetch_bytes), size(row.installed_bytes));
            let rocksdb = row.storage.as_ref().is_some_and(|storage| storage.contains(&StorageEngine::Rocksdb));
            let first = if rocksdb { "with RocksDB, " } else { "" };
            let line = format!("{build:<18} {:<18} {fetch:>9} {installed:>9}  {first}{}", row.name, row.origin);
            text.push_str(&fitted(&line, screen.terminal_width()));
            text.push('\n');
        }
    }
    text.push_str(
        "\nA folder, an archive on this machine or its address is a build, too:\n  \
         --build postgres:/usr/lib/postgresql/15\n  \
         --build mysql:/tmp/mysql-9.4.0-linux-glibc2.28-x86_64.tar.xz\n  \
         --build mariadb:https://HOST/PATH.tar.gz#sha256=DIGEST",
    );
    screen.print(&text);
    Ok(())
}

/// A line cut to the width of a terminal; where it came from stands at its end, and `builds show` and `--json` tell it whole.
fn fitted(line: &str, width: Option<usize>) -> String {
    match width {
        Some(width) if line.chars().count() > width => line.chars().take(width - 1).chain(['…']).collect(),
        _ => line.to_owned(),
    }
}

fn describe(facts: &BuildFacts) -> String {
    let rows = [
        ("name", facts.name.clone()),
        ("version", facts.banner.clone()),
        ("origin", facts.origin.clone()),
        ("folder", facts.folder.display().to_string()),
        ("sha256", facts.sha256.clone()),
        ("compiler", told(&facts.compiler)),
        ("flags", told(&facts.flags)),
        ("configure", told(&facts.configure)),
        ("symbols", facts.symbols.clone()),
        ("size", human_bytes(facts.size_bytes)),
        ("tables", storage::told(&storage::of_build(facts))),
        (if facts.engine == Engine::Postgres { "extensions" } else { "plugins" }, facts.extensions.join(" ")),
    ];
    rows.iter().filter(|(_, value)| !value.is_empty()).map(|(label, value)| format!("{label:<11} {value}\n")).collect()
}

/// What a binary does not tell is said to be so.
fn told(text: &str) -> String {
    if text.is_empty() { "not told by the build".to_owned() } else { text.to_owned() }
}

fn verify(lab: &Lab, words: &[String], screen: Screen) -> Result<()> {
    let names: Vec<String> = if words.is_empty() {
        installation::list(&lab.cache)?.into_iter().map(|facts| facts.name).collect()
    } else {
        words.iter().map(|word| installed_name(lab, word)).collect::<Result<_>>()?
    };
    let installed: Vec<String> = installation::list(&lab.cache)?.into_iter().map(|facts| facts.name).collect();
    if let Some(unknown) = names.iter().find(|name| !installed.contains(name)) {
        bail!("no build `{unknown}` is installed; `rqps builds list` shows what is");
    }
    let mut damaged = 0;
    for name in &names {
        match installation::verify(&lab.cache, name) {
            Ok(()) => screen.print(&format!("{name}  as installed")),
            Err(error) => {
                damaged += 1;
                screen.print(&format!("{name}  DAMAGED: {error}"));
            }
        }
    }
    if damaged > 0 {
        bail!("{damaged} of {} builds are not as installed; remove them and install them again", names.len());
    }
    Ok(())
}
