//! The published machine classes, small machines, versions that lack a setting, and words on top.

use super::*;

fn sizing(cores: u32, memory_mb: u64) -> Sizing {
    let machine = MachineClass { cores, memory_bytes: memory_mb << 20 };
    Sizing { machine, disk_free_bytes: Some(2 << 40), data_bytes: Some(4 << 30), clients: 1, alternating_builds: 1 }
}

fn render_with(profile: &str, version: &str, sizing: &Sizing, set: &[(&str, &str)]) -> Result<Configuration> {
    let set = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let version = version.parse().expect("a version");
    Profiles::built_in().render(Engine::Postgres, profile, &version, None, sizing, &set)
}

fn render(profile: &str, version: &str, sizing: &Sizing) -> Configuration {
    render_with(profile, version, sizing, &[]).expect("rendered")
}

#[test]
fn reproduces_the_published_machine_classes() {
    let table = [
        ("shared_buffers", ["23GB", "48GB", "96GB"]),
        ("max_wal_size", ["40GB", "64GB", "96GB"]),
        ("min_wal_size", ["20GB", "32GB", "48GB"]),
        ("autovacuum_max_workers", ["4", "8", "8"]),
        ("autovacuum_work_mem", ["256MB", "1GB", "1GB"]),
        ("vacuum_buffer_usage_limit", ["unset", "256MB", "256MB"]),
        ("bgwriter_delay", ["100ms", "50ms", "50ms"]),
    ];
    for (column, (cores, memory_gb)) in [(8, 32), (24, 64), (32, 128)].into_iter().enumerate() {
        let configuration = render("x10a", "17.11", &sizing(cores, memory_gb << 10));
        assert_eq!(configuration.name, format!("x10a_c{cores}r{memory_gb}"));
        for (setting, values) in table {
            let written = configuration.written.get(setting).map_or("unset", String::as_str);
            assert_eq!(written, values[column], "{setting} on c{cores}r{memory_gb}");
        }
        assert_eq!(configuration.notes, Vec::<String>::new());
    }
}

#[test]
fn small_machines_get_values_that_fit() {
    let tiny = render("x10a", "16.15", &Sizing { disk_free_bytes: Some(3 << 30), ..sizing(2, 1024) });
    for (setting, value) in [
        ("shared_buffers", "716MB"),
        ("max_wal_size", "614MB"),
        ("min_wal_size", "307MB"),
        ("autovacuum_work_mem", "64MB"),
    ] {
        assert_eq!(tiny.written[setting], value);
    }
    assert_eq!(tiny.notes.len(), 2, "{:?}", tiny.notes);
    assert_eq!(render("x10a_io", "16.15", &sizing(2, 1024)).written["shared_buffers"], "409MB");
}

#[test]
fn leaves_out_what_a_version_lacks_and_reports_it() {
    let old = render("x10b_sync", "12.22", &sizing(24, 64 << 10));
    assert_eq!(old.name, "x10b_sync_c24r64");
    assert_eq!(old.written["synchronous_commit"], "on");
    let reasons: Vec<(&str, &str)> = old.left_out.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    let expected = [
        ("autovacuum_vacuum_insert_scale_factor", "12.22 does not have it: new in 13"),
        ("io_method", "12.22 does not have it: new in 18"),
        ("vacuum_buffer_usage_limit", "12.22 does not have it: new in 16"),
    ];
    assert_eq!(reasons, expected);
    assert_eq!(render("x10b", "18.6", &sizing(8, 4096)).written["io_method"], "sync");

    let plain = render("x10a", "18.6", &sizing(8, 4096));
    assert!(!plain.written.contains_key("io_method"));
    assert!(plain.left_out["io_method"].contains("x10b sets it to sync"), "{:?}", plain.left_out);
    assert_eq!(render("x10a", "17.11", &sizing(8, 4096)).left_out, BTreeMap::new());
    let set = render_with("x10a", "18.6", &sizing(8, 4096), &[("io_method", "worker")]).expect("rendered");
    assert_eq!((set.left_out, set.written["io_method"].as_str()), (BTreeMap::new(), "worker"));
}

#[test]
fn words_on_top_win() {
    let set = BTreeMap::from([
        ("work_mem".to_owned(), "16MB".to_owned()),
        ("jit".to_owned(), "on".to_owned()),
        ("application_name".to_owned(), "it's\\".to_owned()),
    ]);
    let version = "16.15".parse().expect("a version");
    let profiles = Profiles::built_in();
    let rendered = profiles.render(Engine::Postgres, "x10a", &version, None, &sizing(2, 2048), &set).expect("rendered");
    assert_eq!((rendered.written["work_mem"].as_str(), rendered.written["jit"].as_str()), ("16MB", "on"));
    assert!(rendered.text().contains("application_name = 'it''s\\\\'\n"), "{}", rendered.text());

    for (name, value, reason) in [
        ("port", "5432", "rqps chooses it itself"),
        ("Listen_Addresses", "*", "rqps chooses it itself"),
        ("work_mem", "1MB\nport = 1", "one line"),
        ("work mem", "1MB", "made of letters"),
        ("wrk_mem", "1MB", "did you mean `work_mem`?"),
    ] {
        let error = render_with("x10a", "16.15", &sizing(2, 2048), &[(name, value)]).expect_err(name).to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn an_unknown_profile_lists_what_there_is() {
    let profiles = Profiles::built_in();
    let error = profiles.parts(Engine::Postgres, "x10a_snyc").expect_err("unknown").to_string();
    assert!(
        error.starts_with(
            "unknown profile `x10a_snyc` (did you mean `x10a_sync`?); known are x10a, x10b, x10c, x10d, x10a_50g"
        ),
        "{error}"
    );
    for name in ["", "x10", "x10a_", "x10a_sync_sync", "sync"] {
        assert!(profiles.parts(Engine::Postgres, name).is_err(), "{name:?}");
    }
    profiles.parts(Engine::Postgres, "x10b_io_sync").expect("variants combine");
    let names: Vec<String> = profiles.list(Engine::Postgres).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["x10a", "x10b", "x10c", "x10d", "_50g", "_io", "_sync", "_walsize"]);
}

#[test]
fn an_own_profile_extends_and_is_checked() {
    let mut profiles = Profiles::built_in();
    let add = |profiles: &mut Profiles, body: &str| profiles.add("own.toml", &format!("engine = \"postgres\"\n{body}"));
    add(&mut profiles, "[profile.mine]\nextends = \"x10a\"\n[profile.mine.settings]\nwork_mem = \"64MB\"\n")
        .expect("added");
    let version = "17.7".parse().expect("a version");
    let rendered =
        profiles.render(Engine::Postgres, "mine_sync", &version, None, &sizing(8, 32 << 10), &BTreeMap::new());
    let rendered = rendered.expect("rendered");
    assert_eq!((rendered.written["work_mem"].as_str(), rendered.written["shared_buffers"].as_str()), ("64MB", "23GB"));
    for (body, reason) in [
        ("[profile.a]\nextends = \"b\"\n", "no profile `b`"),
        ("[profile.a]\nextends = \"a\"\n", "extends itself"),
        ("[profile.a_b]\n", "letters and digits"),
        ("[profile.a.settings]\nwrk_mem = \"1MB\"\n", "did you mean `work_mem`"),
        ("[profile.a.settings]\nwork_mem = 1\n", "text in quotes"),
        ("[profil.a]\n", "unknown field `profil`"),
    ] {
        let error = add(&mut Profiles::built_in(), body).expect_err(body).to_string();
        assert!(error.starts_with("own.toml: ") && error.contains(reason), "{error}");
    }
}

fn render_as(engine: Engine, profile: &str, version: &str, sizing: &Sizing, set: &[(&str, &str)]) -> Configuration {
    let set = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let (version, storage) = (version.parse().expect("a version"), engine.storage_engines().first().copied());
    Profiles::built_in().render(engine, profile, &version, storage, sizing, &set).expect("rendered")
}

#[test]
fn reproduces_the_published_classes_of_mysql_and_mariadb() {
    let table = [
        (Engine::Mysql, "8.0.33", "innodb_buffer_pool_size", ["23G", "45G", "100G"]),
        (Engine::Mysql, "8.0.33", "innodb_redo_log_capacity", ["30G", "50G", "100G"]),
        (Engine::Mysql, "8.0.33", "innodb_log_file_size", ["unset"; 3]),
        (Engine::Mysql, "5.7.22", "innodb_redo_log_capacity", ["unset"; 3]),
        (Engine::Mysql, "5.7.22", "innodb_log_file_size", ["15G", "25G", "50G"]),
        (Engine::Mysql, "5.7.22", "innodb_log_files_in_group", ["2"; 3]),
        (Engine::Mysql, "5.5.34", "innodb_log_file_size", ["2000M"; 3]),
        (Engine::Mysql, "5.5.34", "innodb_flush_method", ["O_DIRECT"; 3]),
        (Engine::Mysql, "9.6.0", "innodb_redo_log_capacity", ["30G", "50G", "100G"]),
        (Engine::Mysql, "8.0.33", "innodb_purge_threads", ["4", "8", "8"]),
        (Engine::Mariadb, "10.2.11", "innodb_log_file_size", ["15G", "25G", "50G"]),
        (Engine::Mariadb, "11.8.6", "innodb_log_file_size", ["30G", "50G", "100G"]),
        (Engine::Mariadb, "11.8.6", "innodb_buffer_pool_instances", ["unset"; 3]),
        (Engine::Mariadb, "10.2.11", "innodb_page_cleaners", ["4", "8", "8"]),
    ];
    for (engine, version, setting, values) in table {
        for ((cores, memory_gb), value) in [(8, 32), (24, 64), (32, 128)].into_iter().zip(values) {
            let configuration = render_as(engine, "z11a", version, &sizing(cores, memory_gb << 10), &[]);
            assert_eq!(configuration.name, format!("z11a_c{cores}r{memory_gb}"));
            let written = configuration.written.get(setting).map_or("unset", String::as_str);
            assert_eq!(written, value, "{setting} of {version} on c{cores}r{memory_gb}");
        }
    }
    let small = Sizing { disk_free_bytes: Some(8 << 30), ..sizing(2, 12 << 10) };
    let small = render_as(Engine::Mysql, "z12a", "8.0.33", &small, &[]);
    assert_eq!(
        (small.written["innodb_redo_log_capacity"].as_str(), small.notes.len()),
        ("409M", 1),
        "{:?}",
        small.notes
    );
}

#[test]
fn a_server_that_works_half_of_the_time_is_not_taken_for_half_as_busy() {
    let limit = |version: &str, alternating_builds| {
        let sizing = Sizing { alternating_builds, ..sizing(8, 32 << 10) };
        render_as(Engine::Mysql, "z12a", version, &sizing, &[]).written.remove("innodb_log_spin_cpu_abs_lwm")
    };
    assert_eq!(limit("8.0.33", 1).as_deref(), Some("80"));
    assert_eq!(limit("8.0.33", 2).as_deref(), Some("40"));
    assert_eq!(limit("5.7.22", 2), None);
}

#[test]
fn one_profile_fits_all_versions() {
    let machine = sizing(8, 32 << 10);
    let old = render_as(Engine::Mysql, "z13a_sync", "5.6.14", &machine, &[]);
    assert_eq!((old.written["gtid_mode"].as_str(), old.written["sync_binlog"].as_str()), ("OFF", "1"));
    assert_eq!(old.left_out["innodb_doublewrite_pages"], "5.6.14 does not have it: new in 8.0.20");
    assert_eq!(old.loose.iter().collect::<Vec<_>>(), ["performance_schema", "ssl"]);
    let new = render_as(
        Engine::Mysql,
        "z12a",
        "9.8.0",
        &machine,
        &[("optimizer_hypergraph", "1"), ("sort-buffer-size", "1M")],
    );
    assert!(new.text().contains("loose_innodb_buffer_pool_size = 23G\n"), "{}", new.text());
    assert!(new.text().contains("\noptimizer_hypergraph = 1\n"), "a word that nobody knows is the server's to judge");
    assert!(new.left_out["innodb_log_file_size"].starts_with("9.8.0 does not have it: last seen in 8.0.33"));
    let seen = render_as(Engine::Mysql, "z13b", "9.7.4", &machine, &[]);
    assert!(seen.text().contains("\noptimizer_switch = hypergraph_optimizer=on\n"), "{}", seen.text());
    assert_eq!(seen.left_out["ssl"], "9.7.4 does not have it: no longer there after 8.3");
    let old = render_as(Engine::Mysql, "z13b", "8.0.33", &machine, &[]);
    assert_eq!(old.left_out["optimizer_switch"], "not for 8.0.33: the profile sets it from 9.7 on");
    let newer = render_as(Engine::Mariadb, "z12c", "12.3.1", &machine, &[]);
    assert!(
        newer.text().contains("loose_binlog_storage_engine = innodb\n")
            && newer.written["innodb_data_file_buffering"] == "OFF"
    );
    assert!(!newer.written.contains_key("innodb_flush_method") && newer.left_out.contains_key("innodb_flush_method"));

    let off = render_as(Engine::Mysql, "z12a_bl0_dw0", "8.0.33", &machine, &[]);
    assert!(off.text().contains("\nskip_log_bin\n") && !off.written.contains_key("log_bin"));
    assert_eq!(off.written["innodb_doublewrite"], "0");
    let on = render_as(Engine::Mysql, "z12a_bl0", "8.0.33", &machine, &[("log-bin", "mine"), ("loose-ssl", "1")]);
    assert!(on.written["log_bin"] == "mine" && !on.written.contains_key("skip_log_bin") && on.loose.contains("ssl"));
}

#[test]
fn published_variants_are_as_large_as_published() {
    let large = sizing(32, 128 << 10);
    for (cores, memory_gb, wal) in [(8, 32, "40GB"), (24, 64, "64GB"), (32, 128, "96GB")] {
        let written = render("x10a_walsize", "18.6", &sizing(cores, memory_gb << 10)).written;
        assert_eq!((written["min_wal_size"].as_str(), written["max_wal_size"].as_str()), (wal, wal));
    }
    assert_eq!(render("x10a_50g", "18.6", &large).written["shared_buffers"], "50GB");
    assert_eq!(render("x10a_50g", "18.6", &sizing(8, 32 << 10)).written["shared_buffers"], "12779MB");
    for (engine, version) in [(Engine::Mysql, "9.7.4"), (Engine::Mariadb, "11.8.6")] {
        assert_eq!(render_as(engine, "z12a_50g", version, &large, &[]).written["innodb_buffer_pool_size"], "50G");
    }
}

#[test]
fn a_build_must_be_made_with_what_its_profile_needs() {
    let profiles = Profiles::built_in();
    let check = |profile: &str, version: &str, configure: &str| {
        let facts = BuildFacts::unknown(Engine::Postgres, version.parse().expect("a version"));
        let build = BuildFacts { name: "mine".into(), configure: configure.into(), ..facts };
        profiles.check_build(profile, &build).map_err(|error| error.to_string())
    };
    let error = check("x10d_sync", "18.6", "'--with-icu' '--with-lz4'").expect_err("without");
    let expected =
        "profile x10d_sync needs a build that was configured --with-liburing, and mine was not; compile one,";
    assert!(error.starts_with(expected), "{error}");
    check("x10d", "18.6", "'--with-icu' '--with-liburing'").expect("with");
    check("x10d", "17.11", "'--with-icu'").expect("17 has no io_method, and runs without");
    check("x10d", "19rc1", "").expect("the server's to judge");
    check("x10c", "18.6", "'--with-icu'").expect("needs nothing");
}

#[test]
fn files_of_a_server_stay_in_its_folder() {
    let version = "8.0.33".parse().expect("a version");
    for (name, value) in [("log-bin", "/mnt/logs/binlog"), ("loose_relay_log", "../relay")] {
        let set = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        let storage = Some(StorageEngine::Innodb);
        let (profiles, machine) = (Profiles::built_in(), sizing(8, 32 << 10));
        let refused = profiles.render(Engine::Mysql, "z12a", &version, storage, &machine, &set).expect_err(name);
        let error = refused.to_string();
        assert!(error.contains(value) && error.contains("write a name without a path"), "{error}");
    }
}

#[test]
fn rocksdb_gets_the_memory_where_it_stores_the_tables() {
    let version = "10.11.18".parse().expect("a version");
    let render = |profile: &str, storage: StorageEngine| {
        let (sizing, set) =
            (sizing(8, 32 << 10), BTreeMap::from([("rocksdb_max_open_files".to_owned(), "10".to_owned())]));
        Profiles::built_in().render(Engine::Mariadb, profile, &version, Some(storage), &sizing, &set).expect("rendered")
    };
    let names = [
        "default_storage_engine",
        "innodb_buffer_pool_size",
        "rocksdb_block_cache_size",
        "rocksdb_flush_log_at_trx_commit",
    ];
    for (profile, storage, expected) in [
        ("z12a", StorageEngine::Innodb, ["InnoDB", "23G", "unset", "unset"]),
        ("z12a", StorageEngine::Rocksdb, ["ROCKSDB", "128M", "20G", "2"]),
        ("z12a_io_sync", StorageEngine::Rocksdb, ["ROCKSDB", "128M", "409M", "1"]),
        ("z12a_io_sync", StorageEngine::Innodb, ["InnoDB", "409M", "unset", "unset"]),
    ] {
        let written = render(profile, storage).written;
        let found = names.map(|name| written.get(name).map_or("unset", String::as_str));
        assert_eq!(found, expected, "{profile} {storage}");
    }
    let innodb = render("z12a", StorageEngine::Innodb).left_out;
    assert_eq!(innodb["rocksdb_max_open_files"], "its tables are not stored by RocksDB");
}

#[test]
fn every_profile_fits_every_version_at_hand() {
    let profiles = Profiles::built_in();
    for (engine, versions) in [
        (Engine::Mysql, &["5.5.34", "5.6.51", "5.7.44", "8.0.11", "8.0.45", "8.4.8", "9.7.4", "9.8.0"][..]),
        (Engine::Mariadb, &["10.1.23", "10.2.44", "10.6.20", "10.11.18", "11.4.5", "11.8.6", "12.3.1"]),
    ] {
        let (plain, variants): (Vec<_>, Vec<_>) =
            profiles.list(engine).into_iter().map(|(name, _)| name).partition(|name| !name.starts_with('_'));
        assert_eq!(
            (plain.join(" "), variants.join(" ")),
            ("z11a z12a z12b z12c z13a z13b".to_owned(), "_50g _ahi1 _bl0 _dw0 _io _sync".to_owned())
        );
        for (profile, version) in
            plain.iter().flat_map(|profile| versions.iter().map(move |version| (profile, version)))
        {
            let name = format!("{profile}{}", variants.concat());
            for storage in engine.storage_engines() {
                let (machine, set) = (sizing(2, 4096), BTreeMap::new());
                let parsed = version.parse().expect("a version");
                let made = profiles.render(engine, &name, &parsed, Some(*storage), &machine, &set).expect("rendered");
                assert_eq!(made.written["character_set_server"], "latin1", "{name} {version}");
                assert!(made.text().is_ascii() && made.lines.len() > 20, "{name} {version}");
            }
        }
    }
}
