//! Recipes and flavours as files, what a machine lacks for them, and the time that is left.

use super::{PLACES, folder, recipe, write};
use crate::source::needs;
use crate::source::pace::{Meter, rest, share_of_time};
use crate::source::recipe::{Flavour, Need, Pace, Recipes};
use rqps_model::Engine;
use std::fs;
use std::io::Write;
use std::time::Duration;

#[test]
fn all_that_is_missing_is_told_at_once_with_its_packages() {
    let need = |program: Option<&str>, header: Option<&str>, package: &str| Need {
        program: program.map(str::to_owned),
        header: header.map(str::to_owned),
        package: package.to_owned(),
    };
    let mut recipe = recipe();
    recipe.needs = vec![
        need(Some("sh"), None, "dash"),
        need(Some("no-such-bison"), None, "bison"),
        need(None, Some("stdio.h"), "libc6-dev"),
        need(None, Some("no/such.h"), "libno-dev"),
        need(None, Some("no/other.h"), "libno-dev"),
    ];
    let usual = Recipes::built_in().flavour(Engine::Postgres, None).expect("there").clone();
    let error = needs::check(&recipe, &usual, &[]).expect_err("lacking").to_string();
    assert_eq!(
        error,
        "to compile PostgreSQL this machine lacks no-such-bison, no/such.h, no/other.h; install the packages bison, \
         libno-dev (`apt-get install bison libno-dev`)"
    );
    let clang = Flavour { variables: [("CC".to_owned(), "no-such-cc-9".to_owned())].into(), ..usual };
    recipe.needs.truncate(2);
    let clang = Flavour { needs: vec![need(None, Some("no/uring.h"), "libno-uring-dev")], ..clang };
    let error = needs::check(&recipe, &clang, &[]).expect_err("lacking").to_string();
    assert!(error.contains("lacks the compiler no-such-cc-9, no-such-bison, no/uring.h; install"), "{error}");
}

#[test]
fn a_compiler_tells_what_native_is_here() {
    let recipes = Recipes::built_in();
    let facts = |engine: Engine, flavour: Option<&str>| {
        let flavour = recipes.flavour(engine, flavour).expect("there");
        needs::native_facts(recipes.recipe(engine), flavour).expect("told")
    };
    for engine in Engine::ALL {
        assert_eq!(facts(engine, None), None);
    }
    for (engine, flavour) in [(Engine::Postgres, "o3_native_lto"), (Engine::Mysql, "rel_native")] {
        let told = facts(engine, Some(flavour)).expect("it is for this CPU");
        assert!(told.contains("cc1") && told.contains("-mtune="), "{told}");
        assert_eq!(facts(engine, Some(flavour)), Some(told));
    }
}

#[test]
fn flavours_and_recipes_are_files() {
    let mut recipes = Recipes::built_in();
    let names: Vec<&str> = recipes.flavours(Engine::Postgres).map(|flavour| flavour.name.as_str()).collect();
    assert_eq!(
        names.join(" "),
        "clang_o2nofp def o0 o2nofp o2nofp_lz4 o2nofp_lz4_uring o3 o3_native o3_native_lto o3_native_lto_nofp \
         o3_nofp os"
    );
    let usual = recipes.flavour(Engine::Postgres, None).expect("there");
    assert_eq!(usual.variables["CFLAGS"], "-O2 -fno-omit-frame-pointer");
    let configure = recipe().steps[0].command(&recipe(), usual, PLACES);
    assert_eq!(configure[configure.len() - 2..], ["CC=gcc", "CFLAGS=-O2 -fno-omit-frame-pointer"]);
    let with_lz4 = recipes.flavour(Engine::Postgres, Some("o2nofp_lz4")).expect("there");
    let configure = recipe().steps[0].command(&recipe(), with_lz4, PLACES);
    assert_eq!(configure[configure.len() - 3..][..2], ["--with-lz4", "CC=gcc"]);
    assert_eq!(recipe().steps[2].command(&recipe(), usual, PLACES), ["make", "DESTDIR=/s", "install"]);
    // The slip of a published set: what is called -O3 must be.
    for flavour in recipes.flavours(Engine::Postgres).filter(|flavour| flavour.name.starts_with("o3")) {
        assert!(flavour.variables["CFLAGS"].starts_with("-O3"), "{}", flavour.name);
    }
    let error = recipes.flavour(Engine::Postgres, Some("o4")).expect_err("unknown").to_string();
    assert!(error.contains("PostgreSQL has no flavour `o4`; it has clang_o2nofp, def, o0"), "{error}");

    let own = |name: &str| {
        format!("engine = \"postgres\"\n[flavour.{name}]\nabout = \"a\"\nvariables = {{ CC = \"clang\" }}\n")
    };
    recipes.add_flavours("own.toml", &own("clang")).expect("read");
    assert_eq!(recipe().compilers(recipes.flavour(Engine::Postgres, Some("clang")).expect("there")), ["clang"]);
    for (text, reason) in [
        (own("\"a-b\""), "`a-b` cannot name a flavour"),
        (own("x").replace("about", "abuot"), "unknown field `abuot`"),
        (format!("default = \"y\"\n{}", own("x")), "no flavour `y`"),
        (own("x") + "need = [{ package = \"p\" }]", "the need of `p` must be one of program and header"),
    ] {
        let error = recipes.add_flavours("own.toml", &text).expect_err("refused").to_string();
        assert!(error.starts_with("own.toml: ") && error.contains(reason), "{error}");
    }
}

#[test]
fn every_engine_is_compiled_by_the_flags_of_its_flavours() {
    let recipes = Recipes::built_in();
    for engine in Engine::ALL {
        let recipe = recipes.recipe(engine);
        for flavour in recipes.flavours(engine) {
            let words = recipe.steps[0].command(recipe, flavour, PLACES);
            for (name, value) in &flavour.variables {
                assert!(words.iter().any(|word| word.ends_with(&format!("{name}={value}"))), "{engine} {name}");
            }
            assert!(!words.iter().any(|word| word.contains('{')), "{engine} {}: {words:?}", flavour.name);
        }
    }
    let recipe = recipes.recipe(Engine::Mariadb);
    let usual = recipes.flavour(Engine::Mariadb, None).expect("there");
    let words = recipe.steps[0].command(recipe, usual, PLACES);
    let flags = "RELWITHDEBINFO=-O2 -g1 -DNDEBUG -fno-omit-frame-pointer";
    let expected = [
        "-DCMAKE_BUILD_TYPE=RelWithDebInfo".to_owned(),
        "-DCMAKE_CXX_COMPILER=g++".to_owned(),
        format!("-DCMAKE_CXX_FLAGS_{flags}"),
        "-DCMAKE_C_COMPILER=gcc".to_owned(),
        format!("-DCMAKE_C_FLAGS_{flags}"),
    ];
    assert_eq!(words[words.len() - expected.len()..], expected);
    assert!(words.contains(&"-DCMAKE_C_FLAGS=-ffile-prefix-map=/t/=".to_owned()), "{words:?}");
    let options = recipe.options(usual);
    assert!(options.starts_with("-DCMAKE_INSTALL_PREFIX=/install -DCMAKE_C_FLAGS=-ffile-prefix-map=./= "), "{options}");
    assert!(
        options.ends_with(" '-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -g1 -DNDEBUG -fno-omit-frame-pointer'"),
        "{options}"
    );
}

#[test]
fn the_time_left_is_told_by_the_files_that_were_compiled() {
    let place = folder();
    let log = place.path().join("log");
    write(place.path(), &[("tree/src/a.c", ""), ("tree/src/b/c.c", ""), ("tree/src/b.h", ""), ("tree/d.c", "")]);
    write(place.path(), &[("log", "gcc -c before\n")]);
    let pace = recipe().steps[1].pace.clone().expect("the step that compiles has one");
    let meter = Meter::begin(&pace, &place.path().join("tree"), &log).expect("begun");
    assert_eq!((meter.done(), meter.left()), (Some(0.0), None));
    fs::write(&log, "gcc -c before\nmake all\ngcc -O2 -c -o a.o a.c\n").expect("written");
    assert_eq!(meter.done(), Some(0.5));
    assert!(meter.left().is_some(), "one of two");
    let pace = Pace::Percent { time_gone: Vec::new() };
    let meter = Meter::begin(&pace, &place.path().join("tree"), &log).expect("begun");
    let mut log = fs::File::options().append(true).open(&log).expect("there");
    log.write_all(b"[  7%] Building C object a.o\nIn file included from b.c\n[  5%] Built target b\n")
        .expect("written");
    assert_eq!(meter.done(), Some(0.07), "commands that run at a time are told out of order");
    let of_ten_seconds = |done: f64| rest(done, Duration::from_secs(10)).map(|rest| rest.as_secs());
    assert_eq!([0.01, 0.25, 0.5, 1.0, 1.1].map(of_ten_seconds), [None, Some(30), Some(10), Some(0), Some(0)]);
}

#[test]
fn small_files_take_less_of_the_time_than_of_the_percentage() {
    let share = |done: f64| share_of_time(done, &[0.1, 0.2, 0.6]);
    for (done, gone) in [(0.0, 0.0), (0.125, 0.05), (0.25, 0.1), (0.6, 0.36), (0.75, 0.6), (0.875, 0.8), (1.0, 1.0)] {
        assert!((share(done) - gone).abs() < 1e-12, "{done}: {}", share(done));
    }
    assert_eq!(share_of_time(0.3, &[]), 0.3);
    for engine in [Engine::Mysql, Engine::Mariadb] {
        let recipes = Recipes::built_in();
        let paces: Vec<_> = recipes.recipe(engine).steps.iter().filter_map(|step| step.pace.as_ref()).collect();
        let [Pace::Percent { time_gone }] = &paces[..] else { panic!("{paces:?}") };
        assert!(time_gone.len() == 9 && time_gone.is_sorted() && time_gone[8] < 1.0, "{time_gone:?}");
    }
}
