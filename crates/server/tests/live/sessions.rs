//! What serves a session is found and placed, on every engine and by every way in which it is found.

use crate::scene::{PATIENCE, Scene, build, configuration, session};
use rqps_machine::proc_stat::PidStat;
use rqps_model::Engine;
use rqps_server::{Server, ServerError, placement};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The server's threads that may run on this CPU only.
fn confined_to(server: &Server, cpu: usize) -> Vec<PathBuf> {
    let threads = server.processes().into_iter().flat_map(|process| process.threads().into_values());
    let is_confined = |thread: &PathBuf| {
        let status = fs::read_to_string(thread.join("status")).unwrap_or_default();
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        list.is_some_and(|list| list.trim() == cpu.to_string())
    };
    threads.filter(is_confined).collect()
}

/// CPU time of a thread, in clock ticks.
fn cpu_ticks(thread: &Path) -> u64 {
    let stat = PidStat::parse(&fs::read(thread.join("stat")).expect("it runs")).expect("a line of the kernel");
    stat.user + stat.system
}

#[test]
fn what_serves_a_session_is_placed_and_nothing_else() {
    let online = placement::available().expect("some");
    // 5.6 does not name the thread; the others do, each in its own way.
    for spec in ["postgres:17.11", "mysql:5.6.14", "mysql:8.0.15", "mariadb:10.11.18"] {
        let build = build(spec);
        let scene = Scene::new();
        let server = scene.start(&build, &scene.data(&build, "d")).expect("started");
        let processes = server.processes();
        let placer = server.session_placer();
        let (mut idle, mut placed) = (session(&server), session(&server));
        let cpu = *online.last().expect("one at least");
        placer.place(&mut idle, online[0]).expect("placed");
        placer.place(&mut placed, cpu).expect("placed");
        if online.len() > 1 {
            let confined = confined_to(&server, cpu);
            assert_eq!(confined.len(), 1, "{spec}: {confined:?}");
            // It is the right one if the session's work is done there.
            let before = cpu_ticks(&confined[0]);
            let work = match build.engine {
                Engine::Postgres => "SELECT count(*) FROM generate_series(1, 300000)",
                _ => "SELECT BENCHMARK(300000, MD5('x'))",
            };
            let deadline = Instant::now() + PATIENCE;
            while cpu_ticks(&confined[0]) == before {
                assert!(Instant::now() < deadline, "{spec}: another thread serves the session");
                placed.query(work).expect("done");
            }
        }
        // Where the server is asked for it alone, versions answer that need no scan for it.
        let told = placer.told_thread(&mut placed);
        match spec {
            "mysql:5.6.14" => assert!(matches!(told, Err(ServerError::NoServingThread(_))), "{told:?}"),
            _ => assert_eq!(told.expect("told"), placer.thread(&mut placed).expect("found"), "{spec}"),
        }
        let refused = placer.place(&mut placed, 1000);
        assert!(matches!(&refused, Err(ServerError::Placement { cpus, .. }) if cpus[..] == [1000]), "{refused:?}");
        drop(server);
        scene.end(&processes);
    }
}

#[test]
fn a_pool_of_threads_cannot_be_placed() {
    let build = build("mariadb:10.11.18");
    let scene = Scene::new();
    let data = scene.data(&build, "d");
    let pool = configuration(&build, "z12a", &[("thread_handling", "pool-of-threads")]);
    let server = scene.start_with(&build, &data, &pool).expect("started");
    let processes = server.processes();
    let refused = server.session_placer().place(&mut session(&server), 0);
    assert!(
        matches!(&refused, Err(ServerError::NoServingThread(why)) if why.contains("pool-of-threads")),
        "{refused:?}"
    );
    drop(server);
    scene.end(&processes);
}
