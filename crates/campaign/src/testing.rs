//! For tests only: a vocabulary of the size and shape of the real one, with the real suites.

use crate::diagnostic::{Diagnostic, Faults};
use crate::file::read_file;
use crate::place::Source;
use crate::request::Request;
use crate::vocabulary::{KeptSettings, ProfileWord, Release, Vocabulary};
use crate::{Campaign, Command, Files, Flag, Resolved, ResolvedBuild, read};
use rqps_model::own::InputFile;
use rqps_model::settings::MachineClass;
use rqps_model::{BuildSource, BuildSpec, Engine, Interleave, Plan, StorageEngine};
use rqps_suites::Suite;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const RELEASES: [(Engine, &[&str]); 3] = [
    (
        Engine::Postgres,
        &["12.22", "13.23", "14.20", "14.24", "15.15", "15.19", "16.11", "16.15", "17.7", "17.11", "18.1", "18.6"],
    ),
    (Engine::Mysql, &["5.6.14", "5.7.22", "8.0.15", "8.0.33"]),
    (Engine::Mariadb, &["10.2.11", "10.11.5", "10.11.18", "11.4.5"]),
];

const PROFILES: [(Engine, &[&str]); 3] = [
    (Engine::Postgres, &["x10a", "x10a_io", "x10a_sync", "x10b"]),
    (Engine::Mysql, &["z12a", "z12a_io", "z12a_sync", "z13a"]),
    (Engine::Mariadb, &["z12a", "z12a_io", "z12a_sync", "z12b"]),
];

/// As the catalog would name a release.
fn build_name(engine: Engine, version: &rqps_model::Version) -> String {
    let maker = if engine == Engine::Postgres { "zonky" } else { "rel" };
    format!("{}_{maker}", version.compact(engine))
}

/// As catalog and installations tell: of MariaDB's releases one has the plugin, one lacks it, and of the others nobody
/// knows.
fn storage_of_release(engine: Engine, version: &str) -> Option<Vec<StorageEngine>> {
    match (engine, version) {
        (Engine::Mariadb, "10.11.18") => Some(vec![StorageEngine::Innodb, StorageEngine::Rocksdb]),
        (Engine::Mariadb, "10.2.11") => Some(vec![StorageEngine::Innodb]),
        (Engine::Mariadb, _) => None,
        _ => Some(engine.storage_engines().to_vec()),
    }
}

/// No file can be read.
pub(crate) struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &Path) -> Result<Vec<u8>, String> {
        Err("there are no files in this test".to_owned())
    }

    fn digest(&self, _: &Path) -> Result<InputFile, String> {
        Err("there are no files in this test".to_owned())
    }
}

/// Files with these texts.
pub(crate) struct TextFiles(BTreeMap<PathBuf, String>);

impl TextFiles {
    pub(crate) fn of(files: &[(&str, &str)]) -> TextFiles {
        TextFiles(files.iter().map(|(name, text)| (PathBuf::from(name), (*text).to_owned())).collect())
    }
}

impl Files for TextFiles {
    fn read(&self, path: &Path) -> Result<Vec<u8>, String> {
        self.0.get(path).map(|text| text.clone().into_bytes()).ok_or_else(|| "there is no such file".to_owned())
    }

    fn digest(&self, path: &Path) -> Result<InputFile, String> {
        let bytes = self.read(path)?.len() as u64;
        Ok(InputFile { path: path.to_owned(), bytes, sha256: String::new(), archive: None })
    }
}

pub(crate) fn vocabulary() -> Vocabulary {
    let releases = RELEASES.iter().flat_map(|(engine, versions)| {
        versions.iter().map(|text| {
            let version: rqps_model::Version = text.parse().expect("a version");
            let build = build_name(*engine, &version);
            let storage = storage_of_release(*engine, text);
            Release { engine: *engine, version, build, storage }
        })
    });
    let of_engine = |(engine, names): &(Engine, &[&str])| {
        let word = |name: &&str| {
            let interleave = if name.ends_with("_io") { Interleave::Turns } else { Interleave::Slices };
            ProfileWord { engine: *engine, name: (*name).to_owned(), interleave }
        };
        names.iter().map(word).collect::<Vec<ProfileWord>>()
    };
    let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
    let innodb = ["innodb_flush_log_at_trx_commit", "max_connections", "sync_binlog"];
    Vocabulary {
        releases: releases.collect(),
        profiles: PROFILES.iter().flat_map(of_engine).collect(),
        suites: suites(),
        kept_settings: BTreeMap::from([
            (Engine::Postgres, kept(&["port", "listen_addresses"], &[])),
            (Engine::Mysql, kept(&["port", "datadir"], &["log_bin"])),
            (Engine::Mariadb, kept(&["port", "datadir"], &["log_bin"])),
        ]),
        settings: BTreeMap::from([
            (
                Engine::Postgres,
                own(&[
                    "jit",
                    "max_connections",
                    "max_parallel_workers_per_gather",
                    "shared_buffers",
                    "work_mem",
                    "TimeZone",
                ]),
            ),
            (Engine::Mysql, own(&innodb)),
            (Engine::Mariadb, own(&[&innodb[..], &["rocksdb_block_cache_size"]].concat())),
        ]),
    }
}

fn kept(own: &[&str], files: &[&str]) -> KeptSettings {
    let all = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    KeptSettings { own: all(own), files: all(files) }
}

/// The real suites, but with a test that does not fit into slices.
fn suites() -> Vec<Suite> {
    let mut suites = Suite::built_in();
    let unfit = suites[0].tests.iter_mut().find(|test| test.name == "update-one");
    unfit.expect("there").interleave = Some(Interleave::Turns);
    suites
}

/// The plan of some flags, on a machine with 2 cores and 24 GB.
pub(crate) fn plan(words: &[(&str, &str)], demo: bool) -> Plan {
    planned(words, demo, |_| ())
}

/// The plan of some flags on another machine.
pub(crate) fn plan_on(words: &[(&str, &str)], change: impl Fn(&mut Resolved)) -> Plan {
    planned(words, false, change)
}

fn planned(words: &[(&str, &str)], demo: bool, change: impl Fn(&mut Resolved)) -> Plan {
    let flags: Vec<Flag> = words.iter().map(|(name, value)| Flag::new(*name, *value)).collect();
    let command = if demo { Command::Demo } else { Command::Run };
    let reading = read(None, &flags, command, &vocabulary(), &NoFiles);
    let campaign = reading.campaign.unwrap_or_else(|| panic!("{:#?}", reading.diagnostics));
    let mut resolved = resolved(&campaign);
    change(&mut resolved);
    campaign.expand(&resolved).expect("a plan")
}

/// What is told of flags that the plan refuses.
pub(crate) fn refused(words: &[(&str, &str)]) -> String {
    let flags: Vec<Flag> = words.iter().map(|(name, value)| Flag::new(*name, *value)).collect();
    let reading = read(None, &flags, Command::Run, &vocabulary(), &NoFiles);
    let campaign = reading.campaign.expect("no fault");
    let told = campaign.expand(&resolved(&campaign)).expect_err("no plan");
    told.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// What a caller would find out: folders hold a 17.11 that someone built, archives a MySQL 9.4.0.
pub(crate) fn resolved(campaign: &Campaign) -> Resolved {
    let name = |spec: &BuildSpec| match &spec.source {
        BuildSource::Catalog(version) => build_name(spec.engine, version),
        _ if spec.engine == Engine::Mysql => "my9400_local".to_owned(),
        _ => "pg1711_local".to_owned(),
    };
    let build = |spec: &BuildSpec| ResolvedBuild { name: name(spec), storage: None };
    let builds = campaign.builds().iter().map(build).collect();
    let host = MachineClass { cores: 2, memory_bytes: 24 << 30 };
    Resolved { builds, host, disk_free_bytes: Some(100 << 30), copies_share_blocks: false }
}

/// The request as the file says it: only used to prove that what is written reads back.
pub(crate) fn read_text(text: &str) -> (Request, Vec<Diagnostic>) {
    let source = Source::new("campaign.toml", text.as_bytes());
    let mut faults = Faults::new(Some(source.clone()));
    let request = read_file(&source, &mut faults);
    (request, faults.sorted())
}
