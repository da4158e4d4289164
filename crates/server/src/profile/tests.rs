//! The published machine classes, small machines, versions that lack a setting, and words on top.

use super::*;

fn sizing(cores: u32, memory_mb: u64) -> Sizing {
    let machine = MachineClass { cores, memory_bytes: memory_mb << 20 };
    Sizing { machine, disk_free_bytes: Some(2 << 40), data_bytes: Some(4 << 30), clients: 1 }
}

fn render_with(profile: &str, version: &str, sizing: &Sizing, set: &[(&str, &str)]) -> Result<Configuration> {
    let set = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let version = version.parse().expect("a version");
    Profiles::built_in().render(Engine::Postgres, profile, &version, sizing, &set)
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
fn leaves_out_what_a_version_lacks_and_says_so() {
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
    let rendered = profiles.render(Engine::Postgres, "x10a", &version, &sizing(2, 2048), &set).expect("rendered");
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
    let error = profiles.check(Engine::Postgres, "x10a_snyc").expect_err("unknown").to_string();
    assert!(
        error.starts_with(
            "unknown profile `x10a_snyc` (did you mean `x10a_sync`?); known are x10a, x10b, x10c, x10a_io"
        ),
        "{error}"
    );
    for name in ["", "x10", "x10a_", "x10a_sync_sync", "sync"] {
        assert!(profiles.check(Engine::Postgres, name).is_err(), "{name:?}");
    }
    profiles.check(Engine::Postgres, "x10b_io_sync").expect("variants combine");
    let names: Vec<String> = profiles.list(Engine::Postgres).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["x10a", "x10b", "x10c", "_io", "_sync"]);
}

#[test]
fn an_own_profile_extends_and_is_checked() {
    let mut profiles = Profiles::built_in();
    let add = |profiles: &mut Profiles, body: &str| profiles.add("own.toml", &format!("engine = \"postgres\"\n{body}"));
    add(&mut profiles, "[profile.mine]\nextends = \"x10a\"\n[profile.mine.settings]\nwork_mem = \"64MB\"\n")
        .expect("added");
    let version = "17.7".parse().expect("a version");
    let rendered = profiles.render(Engine::Postgres, "mine_sync", &version, &sizing(8, 32 << 10), &BTreeMap::new());
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
