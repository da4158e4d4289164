//! What it saves to keep initialised data folders: the first start of a build against the second.
//!
//! `cargo test -p rqps-server --test live -- --ignored --nocapture second_start` prints the times.

use crate::scene::{Scene, build, initialised};
use std::fs;
use std::time::Instant;

const TIMES: usize = 3;

fn median(mut seconds: [f64; TIMES]) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[TIMES / 2]
}

#[test]
#[ignore = "states a speed: run by name"]
fn a_second_start_takes_less_time_than_the_first() {
    println!("{:18}{:>8}{:>8}{:>8}", "build", "first", "second", "ratio");
    for spec in ["postgres:17.11", "mysql:5.7.22", "mysql:8.0.33", "mariadb:10.11.18"] {
        let build = build(spec);
        let pairs = [(); TIMES].map(|()| {
            let scene = Scene::new();
            fs::remove_file(initialised(scene.cache.root())).expect("what is kept for all");
            ["first", "second"].map(|name| {
                let begun = Instant::now();
                let data = scene.data(&build, name);
                let server = scene.start(&build, &data).expect("started");
                let seconds = begun.elapsed().as_secs_f64();
                drop(server);
                seconds
            })
        });
        let [first, second] = [0, 1].map(|which| median(pairs.map(|pair| pair[which])));
        println!("{spec:18}{first:>6.2} s{second:>6.2} s{:>8.2}", first / second);
        assert!(second < first, "{spec}: {first} s, then {second} s");
    }
}
