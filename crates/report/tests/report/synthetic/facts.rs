//! Builds, settings and host of the invented campaign.

use rqps_analysis::findings::{TreatmentFindings, Warning};
use rqps_model::facts::{BuildFacts, HostFacts, SettingsFacts};
use rqps_model::{Engine, WarningKind};
use std::collections::BTreeMap;

/// A version with the name of its build and its place in the ladder.
pub(crate) struct Invented {
    pub(crate) version: &'static str,
    pub(crate) build: &'static str,
    pub(crate) major: u32,
}

/// The versions compared: 16.15 and 17.11 for two, else a ladder that ends in the newest.
pub(crate) fn versions(count: usize) -> Vec<Invented> {
    let all = [
        ("12.22", "pg1222_o2nofp", 12),
        ("13.23", "pg1323_o2nofp", 13),
        ("14.20", "pg1420_o2nofp", 14),
        ("14.24", "pg1424_o2nofp", 14),
        ("15.15", "pg1515_o2nofp", 15),
        ("15.19", "pg1519_o2nofp", 15),
        ("16.9", "pg169_o2nofp", 16),
        ("16.11", "pg1611_o2nofp", 16),
        ("16.15", "pg1615_o2nofp", 16),
        ("17.7", "pg177_o2nofp", 17),
        ("17.11", "pg1711_o2nofp", 17),
        ("18.1", "pg181_o2nofp", 18),
        ("18.6", "pg186_o2nofp", 18),
        ("19beta1", "pg19b1_o2nofp", 19),
    ];
    let chosen: Vec<usize> = match count {
        2 => vec![8, 10],
        5 => vec![0, 3, 5, 8, 12],
        _ => (0..count).collect(),
    };
    chosen.into_iter().map(|at| Invented { version: all[at].0, build: all[at].1, major: all[at].2 }).collect()
}

/// Everything about the treatments but counts and sentences.
pub(crate) fn treatments(builds: &[Invented]) -> Vec<TreatmentFindings> {
    builds.iter().enumerate().map(|(index, build)| treatment(build, index, &builds[0])).collect()
}

fn treatment(build: &Invented, index: usize, base: &Invented) -> TreatmentFindings {
    let compiler = if build.major >= 17 { "gcc 13.3.0" } else { "gcc 11.4.0" };
    let mut warnings = Vec::new();
    if index > 0 && build.major >= 17 && base.major < 17 {
        warnings.push(Warning {
            kind: WarningKind::UnlikeBuilds,
            cause: format!("{} was made by {compiler}, the base by gcc 11.4.0.", build.build),
            advice: Some("Build both with one compiler to tell the compiler's part.".to_owned()),
            in_full: None,
        });
    }
    TreatmentFindings {
        name: format!("{}.x10a_c2r24", build.build),
        build: BuildFacts {
            name: build.build.to_owned(),
            engine: Engine::Postgres,
            version: build.version.parse().expect("a version"),
            banner: format!("postgres (PostgreSQL) {}", build.version),
            folder: format!("/home/lab/.cache/rqps/builds/{}", build.build).into(),
            origin: format!("postgresql-{}-linux-amd64", build.version),
            sha256: format!("{:064x}", 0x9e37_79b9_7f4a_7c15_u128 * (index as u128 + 3)),
            compiler: compiler.to_owned(),
            flags: "-O2 -fno-omit-frame-pointer -fno-strict-aliasing -fwrapv".to_owned(),
            configure: "--enable-debug --with-icu --with-lz4 --with-openssl".to_owned(),
            extensions: vec!["pg_stat_statements".to_owned(), "pgstattuple".to_owned()],
            library_folders: Vec::new(),
            size_bytes: 46_000_000 + u64::from(build.major) * 1_310_000,
            symbols: "symbols, no debug information, frame pointers".to_owned(),
        },
        storage: None,
        settings: settings(build),
        settings_diff: if index == 0 { BTreeMap::new() } else { difference(build.major, base.major) },
        sentence: String::new(),
        counts: [0; 4],
        load_seconds: 21.4 - f64::from(build.major) * 0.31,
        load: None,
        warnings,
    }
}

fn settings(build: &Invented) -> SettingsFacts {
    let written = [
        ("shared_buffers", "6GB"),
        ("synchronous_commit", "off"),
        ("max_wal_size", "16GB"),
        ("checkpoint_timeout", "1800s"),
        ("max_parallel_workers_per_gather", "0"),
        ("jit", "off"),
    ];
    let mut left_out = BTreeMap::new();
    if build.major < 16 {
        let reason = "is there since 16".to_owned();
        left_out.insert("vacuum_buffer_usage_limit".to_owned(), reason);
    }
    SettingsFacts {
        configuration: "x10a_c2r24".to_owned(),
        written: written.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        left_out,
        effective: BTreeMap::new(),
        server_cpus: vec![0],
        client_cpus: vec![0],
        encoding: "UTF8".to_owned(),
        collation: "C".to_owned(),
        checksums: true,
        storage_engine: String::new(),
        transport: "unix".to_owned(),
    }
}

fn difference(major: u32, base: u32) -> BTreeMap<String, (Option<String>, Option<String>)> {
    let known: [(&str, u32, Option<&str>, Option<&str>); 9] = [
        ("effective_io_concurrency", 18, Some("1"), Some("16")),
        ("maintenance_io_concurrency", 18, Some("10"), Some("16")),
        ("io_method", 18, None, Some("worker")),
        ("vacuum_buffer_usage_limit", 17, Some("256kB"), Some("2MB")),
        ("enable_group_by_reordering", 17, None, Some("on")),
        ("old_snapshot_threshold", 17, Some("-1"), None),
        ("trace_recovery_messages", 17, Some("log"), None),
        ("hash_mem_multiplier", 15, Some("1"), Some("2")),
        ("recovery_prefetch", 15, None, Some("try")),
    ];
    let owned = |text: Option<&str>| text.map(str::to_owned);
    known
        .into_iter()
        .filter(|(_, since, _, _)| *since > base && *since <= major)
        .map(|(name, _, old, new)| (name.to_owned(), (owned(old), owned(new))))
        .collect()
}

/// The host.
pub(crate) fn host() -> HostFacts {
    HostFacts {
        hostname: "lab-small-1".to_owned(),
        kernel: "6.8.0-85-generic".to_owned(),
        distribution: "Ubuntu 24.04.3 LTS".to_owned(),
        cpu_model: "AMD EPYC 9454P 48-Core Processor".to_owned(),
        cpus: 2,
        threads_per_core: Some(1),
        governor: Some("performance".to_owned()),
        turbo: Some(false),
        virtualization: Some("kvm".to_owned()),
        memory_bytes: 24 << 30,
        swap_bytes: 0,
        transparent_huge_pages: Some("madvise".to_owned()),
        filesystem: "xfs".to_owned(),
        device: "nvme0n1".to_owned(),
        reflink: true,
        boot_id: "0f0d7c2e-6f6e-4a55-8d5e-3a2b1c9d8e7f".to_owned(),
        rqps_version: "0.1.0".to_owned(),
    }
}
