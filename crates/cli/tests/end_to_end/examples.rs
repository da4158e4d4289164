//! The campaign files of `examples/small-datum/`: each can be planned, says what it is for, and is in the README.
//!
//! Published sizes name builds that are not here, by paths. Those are refused, and with builds of the catalog in their
//! place planned. Nothing is fetched for it.

use crate::builds::installed;
use crate::scene::{Ended, Scene};
use std::fs;
use std::path::{Path, PathBuf};

/// What a path of the published sizes begins with, and the build of the catalog that is planned in its place.
const STAND_INS: [(&str, &str); 3] = [
    ("mysql:/BUILDS/", "mysql:8.0.33"),
    ("mariadb:/BUILDS/", "mariadb:10.11.18"),
    ("postgres:src:/SOURCES/", "postgres:17.11"),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/small-datum")
}

/// Name and text of each campaign file of a size.
fn files(size: &str) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder().join(size)).expect("a folder").map(|entry| entry.expect("read").path());
    let mut files: Vec<(String, String)> = entries
        .map(|path| {
            let name = path.file_name().expect("a file").to_string_lossy();
            (format!("{size}/{name}"), fs::read_to_string(&path).expect("text"))
        })
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// The text with a build of the catalog wherever it has a path.
fn with_catalog_builds(text: &str) -> String {
    let mut text = text.to_owned();
    for (path, build) in STAND_INS {
        while let Some(start) = text.find(path) {
            let length = text[start..].find('"').expect("a build stands in quotes");
            text.replace_range(start..start + length, build);
        }
    }
    text
}

/// What `rqps plan` says of a campaign file with this text.
fn plan(scene: &Scene, text: &str) -> Ended {
    fs::write(scene.path("campaign.toml"), text).expect("written");
    scene.end(scene.rqps(&["plan", "campaign.toml"]))
}

#[track_caller]
fn assert_planned(scene: &Scene, name: &str, text: &str) {
    let ended = plan(scene, text);
    assert_eq!(ended.code, Some(0), "{name}:\n{}", ended.stderr);
    assert!(ended.stdout.contains("\ntime "), "{name}:\n{}", ended.stdout);
}

#[test]
fn examples_of_laptop_size_can_be_planned_as_they_stand() {
    let scene = Scene::new();
    for (name, text) in files("laptop") {
        assert!(!text.contains(":/"), "{name} needs a build that is not in the catalog");
        assert_planned(&scene, &name, &text);
    }
    assert_eq!(installed(&scene), Vec::<String>::new(), "nothing is fetched for a plan");
    scene.assert_nothing_left();
}

#[test]
fn examples_of_published_size_can_be_planned_with_builds_in_place_of_their_paths() {
    let scene = Scene::new();
    for (name, text) in files("published") {
        let planned = with_catalog_builds(&text);
        assert_ne!(planned, text, "{name} names its builds by path");
        assert_planned(&scene, &name, &planned);
    }
    assert_eq!(installed(&scene), Vec::<String>::new(), "nothing is fetched for a plan");
    scene.assert_nothing_left();
}

#[test]
fn examples_of_published_size_say_which_path_is_not_there() {
    let scene = Scene::new();
    let root = scene.path("nowhere").display().to_string();
    for (name, text) in files("published") {
        let text = text.replace("/BUILDS", &root).replace("/SOURCES", &root);
        let ended = plan(&scene, &text).refused(&[&root, "No such file or directory"]);
        assert!(ended.stderr.contains("error: build "), "{name}: {}", ended.stderr);
    }
    scene.assert_nothing_left();
}

#[test]
fn examples_say_what_they_are_for_and_the_readme_has_them_all() {
    let readme = fs::read_to_string(folder().join("README.md")).expect("a README");
    for (name, text) in files("laptop").into_iter().chain(files("published")) {
        let head: Vec<&str> = text.lines().take_while(|line| line.starts_with('#')).collect();
        for word in ["# Small Datum, ", "# Size: ", "# Question: ", "# Found: ", "# Builds: "] {
            assert!(head.iter().any(|line| line.starts_with(word)), "{name} has no `{word}` at its head");
        }
        assert!(text.lines().all(|line| line.chars().count() <= 120), "{name} has lines of more than 120 columns");
        assert!(readme.contains(&format!("]({name})")), "the README has no link to {name}");
    }
    let links = readme.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    for link in links.filter(|link| !link.starts_with("https:")) {
        assert!(folder().join(link).exists(), "the README links to {link}, which is not there");
    }
}
