//! `rqps builds`: what can be had, what is here, and what it is.

use crate::args::BuildsCommand;
use crate::lab::Lab;
use crate::outcome::Ending;
use crate::screen::Screen;
use anyhow::{Context, Result, anyhow, bail};
use rqps_builds::storage::storage_engines;
use rqps_builds::{Release, installation};
use rqps_campaign::human_bytes;
use rqps_campaign::vocabulary::nearest;
use rqps_model::facts::BuildFacts;
use rqps_model::{BuildSource, BuildSpec, Engine, StorageEngine};

pub(crate) fn builds(command: &BuildsCommand, screen: Screen) -> Result<Ending> {
    let lab = Lab::open(screen)?;
    match command {
        BuildsCommand::List { json } => list(&lab, *json, screen)?,
        BuildsCommand::Install { build } => {
            for word in build {
                let facts = install(&lab, word, screen)?;
                screen.print(&format!("{}  {}", facts.name, facts.folder.display()));
            }
        }
        BuildsCommand::Show { build, json } => {
            let text = match found(&lab, build)? {
                Found::Here(facts) if *json => serde_json::to_string_pretty(&*facts)?,
                Found::Here(facts) => describe(&facts),
                Found::Release(release) if *json => serde_json::to_string_pretty(&release_json(release))?,
                Found::Release(release) => describe_release(release),
                Found::Elsewhere(spec) => {
                    bail!("{} is not installed; `rqps builds install {build}` fetches and unpacks it", spec.source)
                }
            };
            screen.print(&text);
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

/// What a word means, and what of it is on this machine.
enum Found<'a> {
    /// It is here.
    Here(Box<BuildFacts>),
    /// A release of the catalog that is not installed.
    Release(&'a Release),
    /// An archive or an address that is not installed.
    Elsewhere(BuildSpec),
}

/// What a word of `--build` means, or a name as `builds list` shows it. Nothing is fetched.
fn found<'a>(lab: &'a Lab, word: &str) -> Result<Found<'a>> {
    let here = |facts| Found::Here(Box::new(facts));
    let installed = installation::list(&lab.cache)?;
    if let Some(facts) = installed.iter().find(|facts| facts.name == word) {
        return Ok(here(facts.clone()));
    }
    if let Some(release) = lab.catalog.releases().find(|release| release.build_name() == word) {
        return Ok(Found::Release(release));
    }
    let spec = spec(word).map_err(|error| match meant(lab, word) {
        Ok(Some(meant)) => anyhow!("no build is called `{word}`; {meant}"),
        Ok(None) => error,
        Err(error) => error,
    })?;
    Ok(match &spec.source {
        BuildSource::Catalog(version) => {
            let release = lab.catalog.find(spec.engine, version).with_context(|| format!("build {spec}"))?;
            let name = release.build_name();
            installed.into_iter().find(|facts| facts.name == name).map_or(Found::Release(release), here)
        }
        // A folder is inspected as it is.
        BuildSource::Folder(_) => {
            let facts = installation::install(&spec, &lab.catalog, &lab.cache, &mut |_| ());
            here(facts.with_context(|| format!("build {spec}"))?)
        }
        BuildSource::Archive(_) | BuildSource::Url { .. } => {
            let facts = installation::find_archive(spec.engine, &spec.source, &lab.cache);
            facts.with_context(|| format!("build {spec}"))?.map_or(Found::Elsewhere(spec), here)
        }
    })
}

/// Makes sure that what a word means is on this machine and whole.
fn install(lab: &Lab, word: &str, screen: Screen) -> Result<BuildFacts> {
    match found(lab, word)? {
        Found::Release(release) => lab.install_whole(&spec_of(release), screen),
        Found::Elsewhere(spec) => lab.install_whole(&spec, screen),
        Found::Here(facts) => {
            let release = lab.catalog.releases().find(|release| release.build_name() == facts.name);
            let spec = match (release, word.parse()) {
                (Some(release), _) => spec_of(release),
                (None, Ok(spec)) => spec,
                // By its name: then it is made again from where it came.
                (None, Err(_)) => spec(&format!("{}:{}", facts.engine, facts.origin))?,
            };
            lab.install_whole(&spec, screen)
        }
    }
}

fn spec_of(release: &Release) -> BuildSpec {
    BuildSpec { name: None, engine: release.engine, source: BuildSource::Catalog(release.version.clone()) }
}

/// What the catalog knows of a release that is not installed.
fn describe_release(release: &Release) -> String {
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

fn release_json(release: &Release) -> serde_json::Value {
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
        let storage = release.storage_engines(here.as_ref());
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
        storage: Some(storage_engines(&facts)),
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
        ("tables", storage_names(&storage_engines(facts))),
        (if facts.engine == Engine::Postgres { "extensions" } else { "plugins" }, facts.extensions.join(" ")),
    ];
    lines(&rows)
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
        bail!("{damaged} of {} builds are not as installed; `rqps builds install NAME` makes one again", names.len());
    }
    Ok(())
}
