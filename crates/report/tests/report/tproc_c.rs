//! TPROC-C in text, tables and page: rows as published, by whose rules, said once what it is derived from.

use expect_test::expect;
use rqps_analysis::analyse;
use rqps_analysis::findings::Findings;
use rqps_madeup::{Effect, Recipe, scratch_folder};
use rqps_model::tproc_c::Profile;
use rqps_report::{files, html, terminal};
use rqps_store::Campaign;

fn found(profile: Profile) -> Findings {
    let effects = vec![Effect { treatment: 1, test: 1, ratio: 0.9 }];
    let folder = scratch_folder().expect("a folder");
    let recipe = Recipe { effects, ..Recipe::transactions(profile, 4, 3) };
    let campaign = Campaign::open(&recipe.write(folder.path()).expect("written")).expect("whole");
    analyse(&campaign, None).expect("judged")
}

#[test]
fn rows_are_as_published_and_tables_say_by_whose_rules() {
    let found = found(Profile::Hammerdb);
    let shown = terminal(&found, 100, false);
    expect![[r#"
        Relative to: pg1615_o2.x10a_c2r8
        col-1 : pg1711_o2.x10a_c2r8

        tproc-c made-up, 1 client, 4 rounds, turns, rules of hammerdb, function, placement same

                      base NOPM  new NOPM   rQPS  95 % interval     MDE  verdict
        Transactions
          vu=1, w=2      271119    272449  1.005    0.998–1.012  0.95 %  = equal
          vu=1, w=4     1436648   1297183  0.903    0.897–0.909  0.95 %  ▼ regressed
          median 0.954, min 0.903, max 1.005; all 0.953 0.951–0.954 ▼ regressed (carried by w=4 alone)

        consistency of vu=1, w=2 (pg1615_o2, pg1711_o2), vu=1, w=4 (pg1615_o2, pg1711_o2): C12 is broken in
          30000 rows (as these rules have it)
        pg1615_o2.x10a_c2r8: 1 Active Virtual Users configured, w=2, DBVersion:16.15
        TEST RESULT : System achieved 271119 NOPM from 542241 PostgreSQL TPM
        pg1711_o2.x10a_c2r8: 1 Active Virtual Users configured, w=2, DBVersion:17.11
        TEST RESULT : System achieved 272449 NOPM from 544899 PostgreSQL TPM
        pg1615_o2.x10a_c2r8: 1 Active Virtual Users configured, w=4, DBVersion:16.15
        TEST RESULT : System achieved 1436648 NOPM from 2873305 PostgreSQL TPM
        pg1711_o2.x10a_c2r8: 1 Active Virtual Users configured, w=4, DBVersion:17.11
        TEST RESULT : System achieved 1297183 NOPM from 2594397 PostgreSQL TPM

        tproc-c made-up, 4 clients, 4 rounds, turns, rules of hammerdb, function, placement same

                      base NOPM  new NOPM   rQPS  95 % interval    MDE  verdict
        Transactions
          vu=4, w=2     1087288   1083902  0.997    0.981–1.013  2.2 %  = equal
          vu=4, w=4     5776725   5155875  0.893    0.877–0.909  2.5 %  ▼ regressed
          median 0.945, min 0.893, max 0.997; all 0.943 0.924–0.962 ▼ regressed (carried by w=4 alone)

        consistency of vu=4, w=2 (pg1615_o2, pg1711_o2), vu=4, w=4 (pg1615_o2, pg1711_o2): C12 is broken in
          30000 rows (as these rules have it)
        pg1615_o2.x10a_c2r8: 4 Active Virtual Users configured, w=2, DBVersion:16.15
        TEST RESULT : System achieved 1087288 NOPM from 2174636 PostgreSQL TPM
        pg1711_o2.x10a_c2r8: 4 Active Virtual Users configured, w=2, DBVersion:17.11
        TEST RESULT : System achieved 1083902 NOPM from 2167832 PostgreSQL TPM
        pg1615_o2.x10a_c2r8: 4 Active Virtual Users configured, w=4, DBVersion:16.15
        TEST RESULT : System achieved 5776725 NOPM from 11553770 PostgreSQL TPM
        pg1711_o2.x10a_c2r8: 4 Active Virtual Users configured, w=4, DBVersion:17.11
        TEST RESULT : System achieved 5155875 NOPM from 10312165 PostgreSQL TPM
        ▼ regressed  ▲ improved  = equal  ? undecided   equal: within ±2.0 %
        MDE: the smallest change found in 4 of 5 cases
        NOPM: new orders committed a minute. The workload is derived from TPC-C; its results are not
        comparable with published TPC-C results

        PostgreSQL 17.11 against 16.15: of 4 comparisons 2 slower (w=4 at 4 clients 0.893 the most), 2 equal
        within 2 %.
        pg1711_o2: 2 regressed, 0 improved, 2 equal, 0 undecided
    "#]]
    .assert_eq(&shown);
    let files = files(&found);
    let file = |name: &str| {
        let found = files.iter().find(|(path, _)| path == name).unwrap_or_else(|| panic!("no {name}"));
        String::from_utf8(found.1.clone()).expect("text")
    };
    expect![[r#"
        NOPM, rules of hammerdb, function
        col-1 : pg1615_o2.x10a_c2r8
        col-2 : pg1711_o2.x10a_c2r8

        col-1	col-2
        271119	272449	vu=1, w=2
        1087288	1083902	vu=4, w=2
        1436648	1297183	vu=1, w=4
        5776725	5155875	vu=4, w=4
    "#]]
    .assert_eq(&file("tables/nopm.abs.tsv"));
    expect![[r#"
        Relative to: pg1615_o2.x10a_c2r8
        NOPM, rules of hammerdb, function
        col-1 : pg1711_o2.x10a_c2r8

        col-1
        1.00	vu=1, w=2
        1.00	vu=4, w=2
        0.90	vu=1, w=4
        0.89	vu=4, w=4
    "#]]
    .assert_eq(&file("tables/nopm.rel.tsv"));
    expect![[r#"
        row	treatment	type	succeeded	failed	retried	p50_ms	p95_ms	p99_ms	p99.9_ms
        vu=1, w=2	pg1615_o2.x10a_c2r8	new-order	361495	0	0	0.224	0.451	0.549	0.702
        vu=1, w=2	pg1615_o2.x10a_c2r8	payment	361495	0	0	0.224	0.451	0.549	0.702"#]]
    .assert_eq(&file("tables/transactions.tsv").lines().take(3).collect::<Vec<_>>().join("\n"));
    let is_hammerdbs = |line: &&str| line.contains("Active Virtual Users") || line.starts_with("TEST RESULT");
    let lines: Vec<&str> = shown.lines().filter(is_hammerdbs).collect();
    assert_eq!(file("tables/hammerdb.txt").lines().collect::<Vec<_>>(), lines);
}

#[test]
fn the_page_says_once_that_it_is_derived_and_never_calls_it_by_the_other_name() {
    let page = html(&found(Profile::Tpcc)).expect("renders");
    assert!(page.contains("not comparable with published TPC-C results"));
    assert!(page.contains("vu=4, w=2") && page.contains("tpcc, client-sql") && page.contains("NOPM"));
    assert!(!page.to_lowercase().contains("tpmc"));
    let figures = page.split("<section id=\"users\">").nth(1).expect("pictures over virtual users");
    assert_eq!(figures.split("</section>").next().map_or(0, |section| section.matches("<figure>").count()), 2);
}
