//! The page: size, speed, what it holds, what it must never let through.

use crate::world::{
    FIVE_OF_THREE_ENGINES, InsertSize, MYSQL, STORAGE_ENGINES, Size, TWO_ENGINES, explained, findings, insert_findings,
    of_engines,
};
use rqps_analysis::findings::{CellFindings, Findings, LatencyFindings, StatementTime};
use rqps_model::Verdict;
use rqps_report::html;
use std::collections::BTreeSet;
use std::time::Instant;

/// The largest page that is still passed around without a thought.
const LARGEST_BYTES: usize = 8 * 1000 * 1000;

#[test]
fn forty_two_tests_of_fourteen_builds_stay_small() {
    let findings = findings(Size::LARGE);
    let start = Instant::now();
    let page = html(&findings).expect("renders");
    let seconds = start.elapsed().as_secs_f64();
    println!("42 tests x 14 builds x 10 rounds: {:.2} MB in {seconds:.2} s", page.len() as f64 / 1e6);
    assert!(page.len() < LARGEST_BYTES, "{} bytes", page.len());
    keep("large.html", &page);
}

#[test]
fn costs_and_counters_say_what_they_are_per() {
    let mut made = findings(Size::TWO_BUILDS);
    let page = html(&made).expect("renders");
    assert!(page.contains("<h4>Cost per statement</h4>") && page.contains("per thousand statements"));
    made.tests.iter_mut().for_each(|test| test.unit = rqps_model::Unit::KiloRowsPerSecond);
    let page = html(&made).expect("renders");
    assert!(page.contains("<h4>Cost per 1000 rows</h4>") && !page.contains("Cost per statement"));
}

#[test]
fn statements_of_a_test_stand_in_it_with_their_shares_of_the_change() {
    let mut made = findings(Size::TWO_BUILDS);
    assert!(!html(&made).expect("renders").contains("by kind of statement"), "one kind is the test itself");
    let other = 1 - made.base;
    let time = |statement: &str, us: f64, share: f64| StatementTime {
        statement: statement.to_owned(),
        base_us: 100.0,
        us,
        base_us_per_op: 10.0,
        us_per_op: us / 10.0,
        low: Some(us / 100.0 - 0.01),
        high: Some(us / 100.0 + 0.01),
        q: Some(0.001),
        share: Some(share),
    };
    made.tests[0].cells[other].statement_times =
        vec![time("<delete>", 100.1, 0.0), time("commit", 150.0, 0.7), time("update", 80.0, -0.1)];
    let page = html(&made).expect("renders");
    keep("statements.html", &page);
    let row = |statement: &str| {
        let begin = page.find(&format!("<th scope=\"row\">{statement}</th>")).expect("there");
        let row = &page[begin..];
        row[..row.find("</tr>").expect("ends")].to_owned()
    };
    let [commit, update, delete] = ["commit", "update", "&lt;delete&gt;"].map(row);
    for (row, expected) in [
        (&commit, ["150 µs", "▲", "+50.0 % (1.490 to 1.510)", ">70 %<"]),
        (&update, ["80.0 µs", "▼", "−20.0 % (0.790 to 0.810)", ">against it<"]),
        (&delete, ["100 µs", "vu", "+0.1 % (0.991 to 1.011)", ">0 %<"]),
    ] {
        for expected in expected {
            assert!(row.contains(expected), "{expected}: {row}");
        }
    }
    assert!(page.find(&commit) < page.find(&update), "the largest share comes first");
}

#[test]
fn functions_that_moved_stand_in_their_test_with_a_flame_graph() {
    let page = html(&explained()).expect("renders");
    keep("explained.html", &page);
    let expected = [
        "<h4>Functions <span",
        "<code>_bt_readpage</code>",
        "everything else (12 functions)",
        "class=\"fr less\"",
        "class=\"fr more\"",
        "▼ _bt_readpage</text>",
        "▲ send_[k]</text>",
        "<title>_bt_readpage: ",
        "System calls were not sampled: tracefs is not mounted; as root,",
    ];
    for expected in expected {
        assert!(page.contains(expected), "{expected}");
    }
    assert!(!page.contains("class=\"fr more\" x=\"NaN"), "places are numbers");
    // The test that did not change was sampled as well.
    assert_eq!(page.matches("class=\"flame\"").count(), 2);
}

#[test]
fn usual_campaigns_render() {
    for (name, size) in [("two.html", Size::TWO_BUILDS), ("five.html", Size::FIVE_BUILDS)] {
        keep(name, &html(&findings(size)).expect("renders"));
    }
}

#[test]
fn an_insert_benchmark_stays_small() {
    let findings = insert_findings(InsertSize::LARGE);
    let start = Instant::now();
    let page = html(&findings).expect("renders");
    let seconds = start.elapsed().as_secs_f64();
    println!("10 steps x 6 builds x 5 rounds: {:.2} MB in {seconds:.2} s", page.len() as f64 / 1e6);
    assert!(page.len() < LARGEST_BYTES, "{} bytes", page.len());
    keep("insert-large.html", &page);
    assert_eq!(page, html(&findings).expect("renders"), "the same findings give the same bytes");
}

#[test]
fn an_insert_benchmark_is_told_in_its_own_words() {
    let page = html(&insert_findings(InsertSize::TWO)).expect("renders");
    keep("insert.html", &page);
    for expected in [
        "The three tables",
        "<td class=\"miss\" title=\"background inserts below 95 % of the target",
        "<td class=\"r2\" title=\"below 0.95 in whole percent; no verdict\"><i>↓</i>",
        "Step by step",
        "(41 % of the rate) in rounds 1, 2",
        "Rows inserted per second",
        "Longest delete",
        "Dead rows",
        "<rect class=\"stall\"",
        "<path class=\"ck\"",
        "<path class=\"va\"",
        "from the planned moment to the answer",
        "Indexes built",
        "Data folder after",
        "whole pass of every build",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
    for other in ["Test by test", "q/s</th>", "slices of", "Equal or undecided", "NaN"] {
        assert!(!page.contains(other), "{other} in the page of an Insert Benchmark");
    }
    keep("insert-one-round.html", &html(&insert_findings(InsertSize::ONE_ROUND)).expect("renders"));
}

#[test]
fn asks_nothing_of_the_network() {
    for made in [findings(Size::FIVE_BUILDS), insert_findings(InsertSize::TWO)] {
        let page = html(&made).expect("renders");
        for address in ["http:", "https:", "src=", "@import", "url(", "<link rel=\"stylesheet", "fetch(", "XMLHttp"] {
            assert!(!page.contains(address), "{address} in the page");
        }
        assert!(page.contains("default-src 'none'"), "a policy that forbids it");
    }
}

#[test]
fn every_cell_can_be_filtered_and_nothing_waits_for_the_script() {
    for made in [findings(Size::TWO_BUILDS), findings(Size::FIVE_BUILDS), insert_findings(InsertSize::TWO)] {
        let page = html(&made).expect("renders");
        let compared = made.tests.iter().flat_map(|test| &test.cells).filter_map(|cell| cell.comparison.as_ref());
        // With more than one build to compare a cell stands in the matrix too.
        let places = if made.treatments.len() > 2 { 2 } else { 1 };
        let mut cells = 0;
        for verdict in rqps_model::Verdict::ALL {
            let expected = compared.clone().filter(|comparison| comparison.verdict == verdict).count();
            let found = page.matches(&format!("data-v=\"{}\" data-c=\"", verdict.name())).count();
            assert_eq!(found, expected * places, "{verdict}");
            cells += found;
        }
        let sizes = page.split("data-c=\"").skip(1).filter_map(|part| part.split('"').next()?.parse::<f64>().ok());
        assert_eq!(sizes.filter(|size| (0.0..10_000.0).contains(size)).count(), cells, "a size each");
        let shown_at_once = page.split("<main>").nth(1).and_then(|main| main.split("<script>").next()).expect("a body");
        for hidden in shown_at_once.match_indices(" hidden>").map(|(at, _)| &shown_at_once[..at]) {
            let tag = &hidden[hidden.rfind('<').expect("a tag")..];
            assert!(
                tag.starts_with("<form") || tag.contains("class=\"filtered\"") || tag.contains("id=\"tip\""),
                "{tag}"
            );
        }
    }
}

#[test]
fn up_to_three_builds_show_their_intervals_at_once() {
    for (treatments, open) in [(2, 1), (3, 2), (4, 3), (5, 0)] {
        let page = html(&findings(Size { treatments, tests: 2, rounds: 2 })).expect("renders");
        assert_eq!(page.matches("<details class=\"intervals\" open>").count(), open, "{treatments} treatments");
    }
}

#[test]
fn the_matrix_sums_up_groups_with_their_verdicts() {
    let mut made = findings(Size::FIVE_BUILDS);
    let page = html(&made).expect("renders");
    for title in ["median", "min", "max", "all"] {
        let rows = page.matches(&format!("<tr class=\"median\"><th scope=\"row\">{title}</th>")).count();
        // Transactions and queries of the user are other suites'.
        assert_eq!(rows, rqps_model::Group::ALL.len() - 2, "{title}");
    }
    let verdicts = |page: &str| {
        let all = page.split("<th scope=\"row\">all</th>").skip(1);
        all.map(|row| row.split("</tr>").next().expect("a row").matches("<i>").count()).sum::<usize>()
    };
    assert_eq!(verdicts(&page), made.groups.len());
    made.groups[0].comparison = None;
    assert_eq!(verdicts(&html(&made).expect("renders")), made.groups.len() - 1);
}

#[test]
fn rounds_that_nobody_would_run_are_not_advised() {
    let mut made = findings(Size::TWO_BUILDS);
    let mut advised = |rounds: u32| {
        for comparison in made.tests.iter_mut().filter_map(|test| test.cells[1].comparison.as_mut()) {
            (comparison.verdict, comparison.rounds_needed) = (Verdict::Undecided, Some(rounds));
        }
        html(&made).expect("renders").contains(&format!("about {rounds} rounds would settle it"))
    };
    assert_eq!([15, 16].map(&mut advised), [true, false], "three times the five that were run");
}

#[test]
fn shares_are_compared_in_points_and_only_what_is_decided_has_weight() {
    let mut made = findings(Size::TWO_BUILDS);
    made.tests.truncate(1);
    let test = &mut made.tests[0];
    let set = |cell: &mut CellFindings, idle: f64| {
        let cost = cell.cost.as_mut().expect("a cost");
        cost.idle_share = idle;
        cost.relative.insert("idle_share".to_owned(), idle / 0.14);
        cost.relative.insert("cs_per_op".to_owned(), 2.0);
    };
    set(&mut test.cells[0], 0.14);
    set(&mut test.cells[1], 0.122);
    // What is judged by itself has the weight of its own verdict.
    test.cells[1].measures.clear();
    let page = html(&made).expect("renders");
    assert!(page.contains("<td>12 %<i>−1.8 pp</i></td>") && page.contains("<i class=\"m\">×2.00</i>"));
    made.tests[0].cells[1].comparison.as_mut().expect("compared").verdict = Verdict::Undecided;
    let page = html(&made).expect("renders");
    assert!(page.contains("<i>×2.00</i>") && !page.contains("<i class=\"m\">"), "nothing is said of it");
}

#[test]
fn an_event_of_one_statement_has_its_latency_once() {
    let mut made = findings(Size::TWO_BUILDS);
    made.tests.truncate(1);
    let rows = |made: &Findings| html(made).expect("renders").matches("<th scope=\"row\">main p50</th>").count();
    for cell in &mut made.tests[0].cells {
        let event = cell.latency[0].clone();
        cell.latency.truncate(1);
        cell.latency.push(LatencyFindings { kind: "main".to_owned(), ..event });
    }
    assert_eq!(rows(&made), 0);
    // In an open loop events wait for their turn.
    made.tests[0].cells[1].latency[0].quantiles_us[3] *= 2.0;
    assert_eq!(rows(&made), 1);
}

#[test]
fn ids_are_unique_and_links_lead_somewhere() {
    for made in [findings(Size::FIVE_BUILDS), insert_findings(InsertSize::TWO)] {
        check_links(&html(&made).expect("renders"));
    }
}

fn check_links(page: &str) {
    let values = |attribute: &str| {
        let parts = page.split(attribute).skip(1);
        parts.map(|part| part.split('"').next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    let ids = values(" id=\"");
    let unique: BTreeSet<&String> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len(), "an id stands twice");
    for link in values("href=\"#") {
        assert!(unique.contains(&link), "nothing has the id {link}");
    }
}

#[test]
fn elements_are_closed_in_order() {
    let mut odd = findings(Size::FIVE_BUILDS);
    make_odd(&mut odd);
    let insert = insert_findings(InsertSize::LARGE);
    for made in [findings(Size::TWO_BUILDS), odd, of_engines(&FIVE_OF_THREE_ENGINES), insert] {
        let page = html(&made).expect("renders");
        let mut open: Vec<&str> = Vec::new();
        let body = page.split("<body>").nth(1).expect("a body").split("<script>").next().expect("markup");
        for tag in body.split('<').skip(1) {
            let (name, rest) = tag.split_once(|c: char| !c.is_ascii_alphanumeric() && c != '/').unwrap_or((tag, ""));
            let is_empty = rest.split('>').next().is_some_and(|attributes| attributes.ends_with('/'));
            match name.strip_prefix('/') {
                Some(name) => assert_eq!(open.pop(), Some(name), "closed by <{}", &tag[..tag.len().min(60)]),
                None if ["input", "br", "wbr", "path"].contains(&name) || is_empty => {}
                None => open.push(name),
            }
        }
        assert!(open.is_empty(), "never closed: {open:?}");
    }
}

/// Several levels of clients, cells without a number, one round only, no groups, nothing observed.
fn make_odd(made: &mut Findings) {
    let mut more = made.tests.clone();
    more.iter_mut().for_each(|test| test.clients = 16);
    made.tests.extend(more);
    made.groups.clear();
    for (index, cell) in made.tests.iter_mut().flat_map(|test| &mut test.cells).enumerate() {
        if index % 7 == 3 {
            (cell.rounds, cell.throughput, cell.comparison) = (0, None, None);
        }
        if let Some(comparison) = &mut cell.comparison
            && index % 5 == 1
        {
            (comparison.low, comparison.high, comparison.mde, comparison.q) = (None, None, None, None);
        }
        cell.cost = None;
        cell.latency.clear();
        cell.series.clear();
        cell.plans.clear();
        cell.counters.clear();
    }
    made.campaign.finished_at = None;
    made.campaign.rounds_complete = 1;
}

#[test]
fn a_campaign_with_holes_renders() {
    let mut made = findings(Size::FIVE_BUILDS);
    make_odd(&mut made);
    let page = html(&made).expect("renders");
    assert!(page.contains("16 clients") && page.contains("not finished") && page.contains("1 of 6"));
    assert!(!page.contains("NaN") && !page.contains("undefined") && !page.contains("none</"));
    keep("odd.html", &page);
    made.tests.clear();
    made.treatments.truncate(1);
    html(&made).expect("renders without anything to compare");
}

#[test]
fn one_two_and_three_engines_render() {
    for (name, builds) in [
        ("mysql.html", &MYSQL[..]),
        ("two-engines.html", &TWO_ENGINES),
        ("three-engines.html", &FIVE_OF_THREE_ENGINES),
        ("storage-engines.html", &STORAGE_ENGINES),
    ] {
        keep(name, &html(&of_engines(builds)).expect("renders"));
    }
    let one = html(&of_engines(&MYSQL)).expect("renders");
    assert!(one.contains("<h1>MySQL: 3 builds against 5.6.14</h1>"));
    assert!(!one.contains("Engines side by side") && !one.contains("that the engines force"));
    assert!(one.contains("<h3>Settings that differ</h3>") && one.contains("Server counters that moved"));
    let two = html(&of_engines(&TWO_ENGINES)).expect("renders");
    assert!(two.contains("<h1>MySQL 8.0.33 against PostgreSQL 17.11</h1>"));
    let storage = html(&of_engines(&STORAGE_ENGINES)).expect("renders");
    assert!(storage.contains("<h1>MariaDB 11.4.5: RocksDB against InnoDB</h1>"));
    let three = html(&of_engines(&FIVE_OF_THREE_ENGINES)).expect("renders");
    assert!(three.contains("<h1>PostgreSQL, MySQL and MariaDB: 4 builds against PostgreSQL 17.11</h1>"));
    for expected in [
        "Differences that the engines force",
        "<dt>MySQL and MariaDB</dt><dd class=\"mono\">LOAD DATA LOCAL INFILE",
        "Engines side by side",
        "Settings that differ within MySQL",
        "Settings that differ within MariaDB",
        "Largest counters of PostgreSQL",
        "Counters of MySQL that moved",
        "differs from my5614_o2",
    ] {
        assert!(three.contains(expected), "{expected}");
    }
    assert!(!three.contains("differs from the base"), "plans of engines are not compared");
    assert!(!three.contains("Settings that differ within PostgreSQL"), "there is one build only");
}

/// Leaves a page where a developer can look at it.
fn keep(name: &str, page: &str) {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(folder.join(name), page).expect("a writable target folder");
}
