//! What was found out about host and builds: written once per campaign, compared between cells, shown in the report.

use crate::sample::HostUse;
use crate::{Engine, Version};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The machine a campaign ran on (`hosts/<id>.json`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HostFacts {
    /// Host name.
    pub hostname: String,
    /// Kernel release.
    pub kernel: String,
    /// Distribution as it calls itself.
    pub distribution: String,
    /// CPU model.
    pub cpu_model: String,
    /// CPUs online.
    pub cpus: u32,
    /// Threads per core, where known.
    pub threads_per_core: Option<u32>,
    /// Frequency governor, where there is one.
    pub governor: Option<String>,
    /// Whether turbo is on, where known.
    pub turbo: Option<bool>,
    /// Hypervisor, where there is one.
    pub virtualization: Option<String>,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Swap in bytes.
    pub swap_bytes: u64,
    /// Transparent huge pages mode.
    pub transparent_huge_pages: Option<String>,
    /// Nodes of memory (NUMA), where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_nodes: Option<u32>,
    /// The clock that the kernel reads the time from, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_source: Option<String>,
    /// File system of the data folder.
    pub filesystem: String,
    /// Device of the data folder.
    pub device: String,
    /// Whether copies share blocks (reflink).
    pub reflink: bool,
    /// Boot id: epochs of a machine are told apart by it.
    pub boot_id: String,
    /// Version of rqps.
    pub rqps_version: String,
}

/// Something of a host that became another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostChange {
    /// What, in words: `kernel`.
    pub what: String,
    /// As it was.
    pub before: String,
    /// As it is now.
    pub now: String,
}

impl std::fmt::Display for HostChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}, before {}", self.what, self.now, self.before)
    }
}

impl HostFacts {
    /// What of this host is not as it was on another one, or on itself at another time; what either does not know is
    /// left out.
    pub fn changes_since(&self, before: &HostFacts) -> Vec<HostChange> {
        let gb = |bytes: u64| if bytes == 0 { String::new() } else { format!("{:.1} GB", bytes as f64 / 1e9) };
        let count = |count: u32| if count == 0 { String::new() } else { count.to_string() };
        let known = |text: &Option<String>| text.clone().unwrap_or_default();
        let switch = |is_on: Option<bool>| is_on.map_or("", |is_on| if is_on { "on" } else { "off" }).to_owned();
        let of = |host: &HostFacts| {
            [
                ("host", host.hostname.clone()),
                ("kernel", host.kernel.clone()),
                ("CPU", host.cpu_model.clone()),
                ("CPUs", count(host.cpus)),
                ("threads a core", host.threads_per_core.map_or_else(String::new, count)),
                ("governor", known(&host.governor)),
                ("turbo", switch(host.turbo)),
                ("hypervisor", known(&host.virtualization)),
                ("memory", gb(host.memory_bytes)),
                ("transparent huge pages", known(&host.transparent_huge_pages)),
                ("memory nodes", host.memory_nodes.map_or_else(String::new, count)),
                ("clock", known(&host.clock_source)),
                ("file system", host.filesystem.clone()),
                ("device", host.device.clone()),
                ("boot", host.boot_id.chars().take(8).collect()),
            ]
        };
        let both = of(before).into_iter().zip(of(self));
        let differing = both.filter(|((_, before), (_, now))| before != now && !before.is_empty() && !now.is_empty());
        differing.map(|((what, before), (_, now))| HostChange { what: what.to_owned(), before, now }).collect()
    }
}

/// A build that is on this machine (`treatments/<t>/build.json`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BuildFacts {
    /// Name, such as `pg1711_zonky`.
    pub name: String,
    /// Database system.
    pub engine: Engine,
    /// As its binary says.
    pub version: Version,
    /// The binary's own version line.
    pub banner: String,
    /// Installation folder (holds `bin/`).
    pub folder: PathBuf,
    /// Package coordinate, or the folder as the user gave it.
    pub origin: String,
    /// What a source was where its origin does not say it: its commit, and whether it was changed since.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// Digest of the package, of the server binary for a folder, or of all that a source was compiled from: its
    /// content, patches, recipe, flags and compiler.
    pub sha256: String,
    /// Compiler, as the binary has it.
    pub compiler: String,
    /// Compile and link flags, as the binary has them.
    pub flags: String,
    /// Configure options, as the binary has them.
    pub configure: String,
    /// Extensions (PostgreSQL) or plugins it brings.
    pub extensions: Vec<String>,
    /// Folders inside `folder` whose libraries its programs need on their search path, such as `lib`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub library_folders: Vec<PathBuf>,
    /// Bytes on disk.
    pub size_bytes: u64,
    /// Whether symbols, debug information and frame pointers are there.
    pub symbols: String,
}

impl BuildFacts {
    /// A build of which nothing but engine and version is known.
    pub fn unknown(engine: Engine, version: Version) -> BuildFacts {
        BuildFacts {
            name: String::new(),
            engine,
            version,
            banner: String::new(),
            folder: PathBuf::new(),
            origin: String::new(),
            source: String::new(),
            sha256: String::new(),
            compiler: String::new(),
            flags: String::new(),
            configure: String::new(),
            extensions: Vec::new(),
            library_folders: Vec::new(),
            size_bytes: 0,
            symbols: String::new(),
        }
    }
}

/// What loading the data took (`treatments/<t>/load.json`), kept for the treatment that loaded it; of several data sets
/// the last.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadFacts {
    /// Rows of all tables.
    pub rows: u64,
    /// What the host did from the first statement until the loaded and indexed tables were at rest.
    pub host: HostUse,
    /// The parts of loading, of each data set that it loaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sets: Vec<LoadedSet>,
    /// What was left out, and the errors after which loading went on, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<String>,
}

/// What loading one data set took.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadedSet {
    /// What it is, such as `4 warehouses`.
    pub data: String,
    /// Rows of all tables.
    pub rows: u64,
    /// Seconds until the rows were there.
    pub load_seconds: f64,
    /// Seconds of indexes that were built after the rows; 0 where that cannot be told apart.
    pub index_seconds: f64,
    /// Seconds of statistics, and of writing back.
    pub analyze_seconds: f64,
}

/// A treatment as it really ran (`treatments/<t>/settings.json`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SettingsFacts {
    /// Name of the configuration with its machine class, such as `x10a_c2r24`.
    pub configuration: String,
    /// What rqps wrote into the configuration file.
    pub written: BTreeMap<String, String>,
    /// Settings of the profile that this version does not have, with the reason.
    pub left_out: BTreeMap<String, String>,
    /// Every setting as read back from the running server.
    pub effective: BTreeMap<String, String>,
    /// CPUs of the server's processes as read back.
    pub server_cpus: Vec<usize>,
    /// CPUs of the client's threads as read back.
    pub client_cpus: Vec<usize>,
    /// Character encoding of the database as read back.
    pub encoding: String,
    /// Collation of the database as read back.
    pub collation: String,
    /// Whether data checksums are on, as read back.
    pub checksums: bool,
    /// What stores the tables, as read back from a table; empty where the engine leaves no choice.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub storage_engine: String,
    /// How the client connects: `unix` or `tcp`, with the cipher where there is one.
    pub transport: String,
}

/// A statement's plan on one treatment, kept before the timed part.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StatementPlan {
    /// Statement kind, as in the workload.
    pub statement: String,
    /// The SQL as prepared.
    pub sql: String,
    /// The plan as the server prints it.
    pub plan: String,
    /// Microseconds that planning an execution took, the shortest of a few; next to nothing where a plan is kept for
    /// all values. `None` where the server does not tell. It differs each time, so that it is kept with the sample and
    /// not with the plan.
    #[serde(skip)]
    pub planning_us: Option<f64>,
    /// Whether the plan is one for all values, which a prepared statement may have; `None` where the plan does not show
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_generic: Option<bool>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_of_a_host_is_named_and_what_is_not_known_is_no_change() {
        let before = HostFacts {
            kernel: "6.1".to_owned(),
            cpus: 4,
            turbo: Some(true),
            memory_bytes: 8_000_000_000,
            clock_source: Some("tsc".to_owned()),
            device: "vda".to_owned(),
            boot_id: "5e1b7c11-0000".to_owned(),
            ..HostFacts::default()
        };
        assert_eq!(before.changes_since(&before), []);
        let now = HostFacts {
            kernel: "6.12".to_owned(),
            turbo: Some(false),
            memory_bytes: 8_000_100_000,
            memory_nodes: Some(2),
            clock_source: Some("hpet".to_owned()),
            device: String::new(),
            boot_id: "aa000000-0000".to_owned(),
            ..before.clone()
        };
        let told: Vec<String> = now.changes_since(&before).iter().map(ToString::to_string).collect();
        let [kernel, turbo, clock, boot] = &told[..] else { panic!("{told:?}") };
        assert_eq!([kernel, turbo], ["kernel 6.12, before 6.1", "turbo off, before on"]);
        assert_eq!([clock, boot], ["clock hpet, before tsc", "boot aa000000, before 5e1b7c11"]);
    }
}
