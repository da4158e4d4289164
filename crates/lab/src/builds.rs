//! Builds: what can be had, what is here and what it is; installed, verified, removed.
//!
//! In: words of `--build`, or names as the list shows them. Out: facts, rows, damages.

pub mod text;

use crate::notice::Notify;
use crate::open::Lab;
use crate::prepare::check_sources;
use anyhow::{Context, Result, anyhow, bail, ensure};
use rqps_builds::installation::{self, Trust};
use rqps_builds::storage::storage_engines;
use rqps_builds::{BuildError, Release};
use rqps_campaign::vocabulary::nearest;
use rqps_model::facts::BuildFacts;
use rqps_model::{BuildSource, BuildSpec, Engine, StorageEngine};
use serde::Serialize;

fn spec(word: &str) -> Result<BuildSpec> {
    word.parse().with_context(|| format!("build `{word}`"))
}

/// What a word means, and what of it is on this machine.
#[derive(Debug)]
pub enum Found<'a> {
    /// It is here.
    Here(Box<BuildFacts>),
    /// A release of the catalog that is not installed.
    Release(&'a Release),
    /// An archive or an address that is not installed, or a source that is not compiled.
    Elsewhere(BuildSpec),
}

/// What a word of `--build` means, or a name as `builds list` shows it. Nothing is fetched.
pub fn find<'a>(lab: &'a Lab, word: &str) -> Result<Found<'a>> {
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
        BuildSource::Folder(_) => here(lab.install(&spec, Trust::Program, &mut |_| ())?),
        BuildSource::Source(source) => {
            let facts = installation::find_source(spec.engine, source, &lab.catalog, &lab.cache);
            facts.with_context(|| format!("build {spec}"))?.map_or(Found::Elsewhere(spec), here)
        }
        BuildSource::Archive(_) | BuildSource::Url { .. } => {
            let facts = installation::find_archive(spec.engine, &spec.source, &lab.cache);
            facts.with_context(|| format!("build {spec}"))?.map_or(Found::Elsewhere(spec), here)
        }
    })
}

/// The sources that words mean, none of which is known to fail: an hour of compiling another should not come first.
pub fn sources(lab: &Lab, words: &[String]) -> Result<Vec<BuildSpec>> {
    let source = |word: &String| {
        let spec = spec(word)?;
        if !matches!(spec.source, BuildSource::Source(_)) {
            bail!(
                "`{word}` is not compiled; a source is named ENGINE:src:…, and `rqps builds install` fetches all else"
            );
        }
        Ok(spec)
    };
    let specs = words.iter().map(source).collect::<Result<Vec<BuildSpec>>>()?;
    check_sources(lab, &specs)?;
    Ok(specs)
}

/// Compiles a source, or finds it compiled and whole.
pub fn make(lab: &Lab, source: &BuildSpec, notify: &mut Notify<'_>) -> Result<BuildFacts> {
    lab.install(source, Trust::EveryFile, notify)
}

/// Makes sure that what a word means is on this machine and whole.
pub fn install(lab: &Lab, word: &str, notify: &mut Notify<'_>) -> Result<BuildFacts> {
    match find(lab, word)? {
        Found::Release(release) => lab.install(&spec_of(release), Trust::EveryFile, notify),
        Found::Elsewhere(spec) => lab.install(&spec, Trust::EveryFile, notify),
        Found::Here(facts) => {
            let release = lab.catalog.releases().find(|release| release.build_name() == facts.name);
            match (release, word.parse()) {
                (Some(release), _) => lab.install(&spec_of(release), Trust::EveryFile, notify),
                (None, Ok(spec)) => lab.install(&spec, Trust::EveryFile, notify),
                (None, Err(_)) => {
                    let again = make_again(lab, &facts, notify);
                    again.with_context(|| format!("build {} cannot be made again", facts.name))
                }
            }
        }
    }
}

/// Makes a build that is damaged again from where it came, if what is there is still the same.
fn make_again(lab: &Lab, facts: &BuildFacts, notify: &mut Notify<'_>) -> Result<BuildFacts> {
    if installation::verify(&lab.cache, &facts.name).is_ok() {
        return Ok(facts.clone());
    }
    let spec = spec(&format!("{}:{}", facts.engine, facts.origin))?;
    let check = |digest: &str| {
        let BuildFacts { origin, name, .. } = facts;
        ensure!(
            digest == facts.sha256,
            "{origin} makes another build by now; `rqps builds remove {name}` removes this"
        );
        Ok(())
    };
    if let BuildSource::Source(source) = &spec.source {
        // Before an hour of compiling.
        let digest = installation::source_digest(spec.engine, source, &lab.catalog, &lab.cache)?;
        digest.as_deref().map_or(Ok(()), check)?;
    }
    let made = lab.install(&spec, Trust::EveryFile, notify)?;
    check(&made.sha256)?;
    Ok(made)
}

fn spec_of(release: &Release) -> BuildSpec {
    BuildSpec { name: None, engine: release.engine, source: BuildSource::Catalog(release.version.clone()) }
}

/// What was likely meant by a word that is no build: a name that is nearly that of one, a version without its engine,
/// or an engine without a version. Folders and addresses are not guessed.
fn meant(lab: &Lab, word: &str) -> Result<Option<String>> {
    if word.contains([':', '/']) {
        return Ok(None);
    }
    let rows = list(lab)?;
    let named =
        |row: &&BuildRow| row.build.split_once(':').is_some_and(|(engine, version)| [engine, version].contains(&word));
    let likely: Vec<&str> = match rows.iter().filter(named).map(|row| row.build.as_str()).collect::<Vec<_>>() {
        none if none.is_empty() => {
            nearest(word, rows.iter().map(|row| row.name.as_str()).filter(|name| !name.is_empty()))
                .into_iter()
                .collect()
        }
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
        // A name as `builds list` shows it; whether it is installed, the cache knows.
        Err(_) if !word.contains([':', '/']) => return Ok(word.to_owned()),
        Err(_) => spec(word)?,
    };
    match &spec.source {
        BuildSource::Catalog(version) => Ok(lab.catalog.find(spec.engine, version)?.build_name()),
        BuildSource::Folder(folder) => {
            bail!("{} is your own folder: rqps keeps no digests of it and never changes it", folder.display())
        }
        BuildSource::Source(source) => {
            let found = installation::find_source(spec.engine, source, &lab.catalog, &lab.cache)?;
            found.map(|facts| facts.name).with_context(|| format!("{} is not compiled; nothing to do", spec.source))
        }
        BuildSource::Archive(_) | BuildSource::Url { .. } => {
            let found = installation::find_archive(spec.engine, &spec.source, &lab.cache)?;
            found.map(|facts| facts.name).with_context(|| format!("{} is not installed; nothing to do", spec.source))
        }
    }
}

/// A release, a source that the catalog can fetch, or a build that is installed and that the catalog does not have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BuildRow {
    /// Whose it is.
    pub engine: Engine,
    /// In `--build` syntax.
    pub build: String,
    /// Its name in the cache; a source has one when it is compiled.
    pub name: String,
    /// Where it comes from.
    #[serde(rename = "package")]
    pub origin: String,
    /// Digest of the package, or of the server's program where there is none.
    pub sha256: String,
    /// Of a release.
    pub fetch_bytes: Option<u64>,
    /// Whether it is here.
    #[serde(rename = "installed")]
    pub is_installed: bool,
    /// What it takes here.
    pub installed_bytes: Option<u64>,
    /// What can store its tables, as far as is known.
    #[serde(rename = "storage_engines")]
    pub storage: Option<Vec<StorageEngine>>,
}

/// Everything that is here or can be had from the catalog, by engine.
pub fn list(lab: &Lab) -> Result<Vec<BuildRow>> {
    let mut installed = installation::list(&lab.cache)?;
    let mut rows = Vec::new();
    for release in lab.catalog.releases() {
        let name = release.build_name();
        let here = installed.iter().position(|facts| facts.name == name).map(|at| installed.remove(at));
        let storage = release.storage_engines(here.as_ref());
        rows.push(BuildRow {
            engine: release.engine,
            build: format!("{}:{}", release.engine, release.version),
            name,
            fetch_bytes: release.size_bytes,
            is_installed: here.is_some(),
            installed_bytes: here.map(|facts| facts.size_bytes),
            storage,
            origin: release.package.to_string(),
            sha256: release.sha256.clone(),
        });
    }
    rows.extend(lab.catalog.sources().map(|source| BuildRow {
        engine: source.engine,
        build: format!("{}:src:{}", source.engine, source.version),
        name: String::new(),
        origin: source.to_string(),
        sha256: source.archive.sha256.clone(),
        fetch_bytes: source.size_bytes,
        is_installed: false,
        installed_bytes: None,
        storage: None,
    }));
    rows.extend(installed.into_iter().map(|facts| BuildRow {
        engine: facts.engine,
        storage: Some(storage_engines(&facts)),
        build: format!("{}:{}", facts.engine, facts.origin),
        name: facts.name,
        fetch_bytes: None,
        is_installed: true,
        installed_bytes: Some(facts.size_bytes),
        origin: facts.origin,
        sha256: facts.sha256,
    }));
    rows.sort_by_key(|row| row.engine);
    Ok(rows)
}

/// Hashes installed builds again, all where none is named: each name with what differs from what was installed.
pub fn verify(lab: &Lab, words: &[String]) -> Result<Vec<(String, Option<BuildError>)>> {
    let installed: Vec<String> = installation::list(&lab.cache)?.into_iter().map(|facts| facts.name).collect();
    let names = match words {
        [] => installed.clone(),
        words => words.iter().map(|word| installed_name(lab, word)).collect::<Result<_>>()?,
    };
    if let Some(unknown) = names.iter().find(|name| !installed.contains(name)) {
        bail!("no build `{unknown}` is installed; `rqps builds list` shows what is");
    }
    let verified = names.into_iter().map(|name| {
        let damage = installation::verify(&lab.cache, &name).err();
        (name, damage)
    });
    Ok(verified.collect())
}

/// Removes what a word names from the cache; its name there.
pub fn remove(lab: &Lab, word: &str) -> Result<String> {
    let name = installed_name(lab, word)?;
    installation::remove(&lab.cache, &name)?;
    Ok(name)
}
