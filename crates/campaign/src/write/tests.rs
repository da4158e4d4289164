//! What is written reads back to the same request and the same plan.

use super::*;
use crate::place::Spanned;
use crate::testing::NoFiles;
use crate::testing::read_text;
use crate::testing::{resolved, vocabulary};
use crate::{Command, Flag, Source, read};
use expect_test::expect;
use proptest::prelude::*;
use rqps_model::plan::Arrival;

fn back(request: &Request) -> Request {
    let text = to_toml(request);
    let (mut request, told) = read_text(&text);
    assert_eq!(told, [], "{text}");
    request.source = None;
    request
}

#[test]
fn a_file_reads_back() {
    let text = r#"
        name = "x"
        build = [
            "postgres:16.15",
            { name = "tuned", from = "postgres:/opt/p g", profile = ["x10a", "x10b"], set = { a.b = 1.5, jit = false } },
            { from = "my8033", storage-engine = "innodb" },
            "mysql:https://example.org/my.tar.xz",
        ]
        storage-engine = ["innodb", "rocksdb"]
        base = "tuned"
        profile = "x10a"
        tests = ["say \"hi\"\\", 32]
        tables = 2
        rows = "50m"
        clients = 4
        read-seconds = 1.25
        write-seconds = 3
        warmup = 0
        rounds = 4
        interleave = "slices"
        slice = 12.5
        turn = 2.5
        rate = "poisson:0.5"
        placement = "split"
        machine = "c8r32"
        scale = "small:0.5"
        rows-written = "10k"
        write-rates = [100, 7]
        rest-seconds = 1.5
        catch-up-seconds = 0
        margin = "1.5%"
        seed = 9223372036854775807
        quick = true
        set = ["work_mem=a=b", "pg_stat_statements.max=1"]
    "#;
    let (mut request, told) = read_text(text);
    request.source = None;
    assert_eq!(told, []);
    assert_eq!(back(&request), request);
    expect![[r##"
        # A campaign of rqps; docs/campaign-file.md tells every key.
        name = "x"
        build = [
            "postgres:16.15",
            { name = "tuned", from = "postgres:/opt/p g", profile = ["x10a", "x10b"], set = { "a.b" = "1.5", jit = "off" } },
            { from = "mysql:8.0.33", storage-engine = ["innodb"] },
            "mysql:https://example.org/my.tar.xz",
        ]
        base = "tuned"
        scale = "small:0.5"
        tests = ['say "hi"\', "32"]
        tables = 2
        rows = 50000000
        rows-written = 10000
        clients = [4]
        write-rates = [100, 7]
        read-seconds = 1.25
        write-seconds = 3
        rest-seconds = 1.5
        catch-up-seconds = 0
        warmup = 0
        rounds = 4
        slice = 12.5
        turn = 2.5
        interleave = "slices"
        seed = 9223372036854775807
        profile = ["x10a"]
        storage-engine = ["innodb", "rocksdb"]
        set = { work_mem = "a=b", "pg_stat_statements.max" = "1" }
        placement = "split"
        rate = 0.5
        machine = { cores = 8, memory = "32GB" }
        margin = 0.015
        quick = true
    "##]].assert_eq(&to_toml(&request));
}

#[test]
fn passwords_are_not_written() {
    let text = "build = [\"mysql:https://u:secret@h/a.zip\", { from = \"mysql:https://u:secret@h/b.zip\", set = { a = 1 } }]\n\
                base = \"mysql:https://u:secret@h/a.zip\"\n";
    let (request, told) = read_text(text);
    assert_eq!(told, []);
    let written = to_toml(&request);
    assert!(!written.contains("secret") && written.contains("base = \"mysql:https://h/a.zip\""), "{written}");
    let source = Source::new("campaign.toml", text.as_bytes());
    let campaign = read(Some(&source), &[], Command::Run, &vocabulary(), &NoFiles).campaign.expect("the base is found");
    let fetched = &campaign.builds()[0].source;
    assert!(matches!(fetched, rqps_model::BuildSource::Url { url, .. } if url.contains("secret")));
}

#[test]
fn a_filled_request_gives_the_same_plan() {
    let two: &[(&str, &str)] = &[("build", "postgres:16.15"), ("build", "postgres:17.11")];
    for (words, command) in [
        (two, Command::Run),
        (&[], Command::Demo),
        (&[("quick", "true")], Command::Demo),
        (&[two[0], two[1], ("interleave", "turns")], Command::Run),
        (&[two[0], two[1], ("rate", "even:10"), ("profile", "x10a_io")], Command::Run),
        (&[two[0], ("build", "my8033"), ("build", "ma110405")], Command::Run),
        (&[("build", "ma110405"), ("storage-engine", "innodb,rocksdb"), ("set", "sync-binlog=1")], Command::Run),
        (&[two[0], two[1], ("suite", "insert")], Command::Run),
        (&[two[0], two[1], ("suite", "insert"), ("quick", "true"), ("write-rates", "50,20")], Command::Run),
        (
            &[
                two[0],
                ("build", "my8033"),
                ("suite", "insert"),
                ("scale", "cached-large:0.25"),
                ("clients", "8,1"),
                ("tables", "1"),
                ("rest-seconds", "7.5"),
            ],
            Command::Run,
        ),
    ] {
        let flags: Vec<Flag> = words.iter().map(|(name, value)| Flag::new(*name, *value)).collect();
        let reading = read(None, &flags, command, &vocabulary(), &NoFiles);
        let source = Source::new("campaign.toml", to_toml(&reading.request).as_bytes());
        let again = read(Some(&source), &[], Command::Run, &vocabulary(), &NoFiles);
        let plan = |campaign: Option<crate::Campaign>| {
            let campaign = campaign.expect("right");
            campaign.expand(&resolved(&campaign)).expect("a plan")
        };
        let (first, second) = (plan(reading.campaign), plan(again.campaign));
        assert_eq!(first, second, "{words:?}\n{}", source.text);
    }
}

proptest! {
    #[test]
    fn any_words_read_back(name in "[a-z][a-z0-9._-]{0,20}", test in "[^\u{0}]{1,20}", value in "\\PC{0,20}",
                           rows in 1u64..2_000_000_000, seconds in 0.1f64..86_400.0, rate in 0.1f64..1e7) {
        prop_assume!(!test.trim().is_empty());
        let place = || Place::Request;
        let stated = |text: &str| Spanned::new(text.trim().to_owned(), place());
        let setting = Spanned::new(("a.b".to_owned(), value), place());
        let request = Request {
            name: Some(stated(&name)),
            tests: Some(Spanned::new(vec![stated(&test), stated(&name)], place())),
            rows: Some(Spanned::new(rows, place())),
            read_seconds: Some(Spanned::new(seconds, place())),
            rate: Some(Spanned::new(Arrival::Even { rate_per_s: rate }, place())),
            set: Some(Spanned::new(vec![setting], place())),
            ..Request::default()
        };
        prop_assert_eq!(back(&request), request);
    }
}
