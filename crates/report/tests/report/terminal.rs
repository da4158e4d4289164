//! The terminal's table: what it says, and that it fits.

use crate::world::{FIVE_OF_THREE_ENGINES, MYSQL, Size, findings, of_engines};
use expect_test::expect;
use rqps_analysis::digits::ratio;
use rqps_analysis::findings::{CellFindings, Findings};
use rqps_model::Verdict;
use rqps_report::{html, terminal};

pub(crate) fn widest(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

#[test]
fn fits_its_width() {
    for size in [Size::TWO_BUILDS, Size::FIVE_BUILDS, Size::LARGE] {
        let made = findings(size);
        for width in [80, 100, 132] {
            let table = terminal(&made, width, false);
            assert!(widest(&table) <= width, "{} columns of {width}\n{table}", widest(&table));
        }
    }
}

#[test]
fn two_builds_get_full_rows() {
    let mut made = findings(Size::TWO_BUILDS);
    let [regressed, improved, equal, undecided] = made.treatments[1].counts;
    let table = terminal(&made, 80, false);
    let counts = format!("{regressed} regressed, {improved} improved, {equal} equal, {undecided} undecided");
    assert!(table.trim_end().ends_with(&counts), "{counts} in\n{table}");
    made.tests.retain(|test| ["hot-points", "point-query", "scan", "insert"].contains(&test.name.as_str()));
    expect![[r#"
        Relative to: pg1615_o2.x10a_c2r8
        col-1 : pg1711_o2.x10a_c2r8

        sysbench made-up, 1 client, 5 rounds, slices of 10 ms, closed loop, placement
        same

                          base q/s  new q/s   rQPS  95 % interval    MDE  verdict
        Point queries
          hot-points [1]      4455     8632  1.931    1.915–1.948  1.2 %  ▲ improved
          point-query        23730    23099  0.968    0.952–0.984  2.3 %  ▼ regressed
          median 0.998, min 0.968, max 1.931; all 1.043 1.038–1.049 ▲ improved (carried
            by hot-points alone)

        Range queries without aggregation
          scan                 197      199  1.011    0.999–1.024  1.7 %  ? undecided
          median 1.005, min 0.996, max 1.014; all 1.005 1.001–1.010 = equal (real but
            below the margin)

        Writes
          insert [2]         11056    11132  1.004    0.977–1.032  3.8 %  ? undecided
          median 1.004, min 0.990, max 1.063; all 1.011 1.008–1.014 = equal (real but
            below the margin)

        ▼ regressed  ▲ improved  = equal  ? undecided   equal: within ±2.0 %
        MDE: the smallest change found in 4 of 5 cases
        scan: thousands of rows per second and client
        [1] plan-changed: another plan for select: Index Only Scan using sbtest#_pkey on
            sbtest# instead of Index Scan using sbtest#_pkey on sbtest#.
        [2] noisy: changes below 3.8 % could not be seen. About 14 rounds would do.
        Note: another plan in 1 cell: hot-points pg1711_o2.
        Note: undecided, though the interval does not contain 1, in 1 cell:
              range-notcovered-pk pg1711_o2.
        Note: 9 of 32 comparisons undecided because changes as large as the margin could
              not be seen (median of all: 2.0 %). About 14 rounds would do.

        PostgreSQL 17.11 against 16.15: 3 tests faster (hot-points 1.931x the most), 1
        slower (point-query 0.968), 17 equal within 2 %, 11 undecided.
        pg1711_o2: 1 regressed, 3 improved, 17 equal, 11 undecided
    "#]]
    .assert_eq(&terminal(&made, 80, false));
}

#[test]
fn colour_only_where_it_is_allowed() {
    let made = findings(Size::TWO_BUILDS);
    let (plain, colourful) = (terminal(&made, 80, false), terminal(&made, 80, true));
    assert!(!plain.contains('\u{1b}'));
    let rqps = made.tests[0].cells[1].comparison.as_ref().expect("compared").rqps;
    assert!(colourful.contains(&format!("\u{1b}[38;5;33m{}\u{1b}[0m", ratio(rqps))));
    let mut stripped = colourful;
    for sequence in ["\u{1b}[38;5;33m", "\u{1b}[38;5;208m", "\u{1b}[2m", "\u{1b}[0m"] {
        stripped = stripped.replace(sequence, "");
    }
    assert_eq!(stripped, plain);
}

#[test]
fn many_builds_fold_into_blocks_and_list_what_changed() {
    let made = findings(Size::LARGE);
    let table = terminal(&made, 80, false);
    let is_changed = |cell: &CellFindings| {
        let verdict = cell.comparison.as_ref().map(|comparison| comparison.verdict);
        matches!(verdict, Some(Verdict::Regressed | Verdict::Improved))
    };
    let blocks = table.lines().filter(|line| line.contains("base q/s") && line.contains("col-")).count();
    let changed = made.tests[0].cells.iter().filter(|cell| is_changed(cell)).count();
    assert!(blocks > 2 && changed > 2, "{blocks} {changed}");
    assert_eq!(
        table.matches("\n  hot-points ").count(),
        blocks + changed,
        "each block, and each build that changed it:\n{table}"
    );
    let newest = made.treatments.last().expect("a build");
    let build = newest.name.split('.').next().expect("a name");
    assert!(table.contains(&format!("col-13 : {}\n", newest.name)));
    let [regressed, improved, ..] = newest.counts;
    assert!(table.contains(&format!("{build}: {} tests changed\n", regressed + improved)), "{table}");
}

#[test]
fn what_did_not_change_is_told_with_what_is_undecided() {
    let mut made = findings(Size::FIVE_BUILDS);
    let builds: Vec<usize> = (0..made.treatments.len()).filter(|at| *at != made.base).collect();
    let all = made.tests.len();
    for test in &mut made.tests {
        test.cells[builds[0]].comparison = None;
        for &at in &builds[1..] {
            test.cells[at].comparison.as_mut().expect("all are compared").verdict = Verdict::Undecided;
        }
    }
    made.treatments[builds[0]].counts = [0; 4];
    let table = terminal(&made, 80, false);
    assert_eq!(table.matches(": nothing to compare\n").count(), 1, "{table}");
    let undecided = format!(": no test changed, {all} undecided\n");
    assert_eq!(table.matches(&undecided).count(), builds.len() - 1, "{table}");
    assert!(!table.contains("95 % interval"), "a head of no rows in\n{table}");
    assert_eq!(table.matches(" regressed, ").count(), builds.len() - 1, "no verdicts are counted of none");
}

#[test]
fn the_legend_says_what_mde_is() {
    let legend = "MDE: the smallest change found in 4 of 5 cases\n";
    let mut made = findings(Size::TWO_BUILDS);
    assert!(terminal(&made, 80, false).contains(legend));
    let comparisons =
        made.tests.iter_mut().flat_map(|test| &mut test.cells).filter_map(|cell| cell.comparison.as_mut());
    comparisons.for_each(|comparison| comparison.mde = None);
    assert!(!terminal(&made, 80, false).contains(legend));
}

#[test]
fn the_other_throughput_stands_wherever_it_fits() {
    let mut made = findings(Size::TWO_BUILDS);
    let head = |made: &Findings| {
        let table = terminal(made, 80, false);
        assert!(widest(&table) <= 80, "{table}");
        table.lines().find(|line| line.contains("95 % interval")).expect("a head").to_owned()
    };
    assert!(!head(&made).contains("new q/s"), "{}", head(&made));
    made.tests.retain(|test| test.name.len() < 14);
    made.tests.iter_mut().flat_map(|test| &mut test.cells).for_each(|cell| cell.warnings.clear());
    assert!(head(&made).contains("base q/s  new q/s"), "{}", head(&made));
}

#[test]
fn a_group_of_one_test_is_not_summed_up() {
    let mut made = findings(Size::TWO_BUILDS);
    let sums = |made: &Findings| {
        let page = html(made).expect("renders");
        (terminal(made, 80, false).matches("  median ").count(), page.matches("<tr class=\"median\">").count())
    };
    let groups = made.groups.len();
    assert_eq!(sums(&made), (groups, groups));
    made.groups[0].tests = 1;
    assert_eq!(sums(&made), (groups - 1, groups - 1));
    made.groups.iter_mut().for_each(|group| group.tests = 1);
    assert_eq!(sums(&made), (0, 0));
    assert!(!html(&made).expect("renders").contains("Rows in italics"), "there is none");
}

#[test]
fn a_cell_without_a_number_says_so() {
    let mut made = findings(Size::TWO_BUILDS);
    let cell = &mut made.tests[0].cells[1];
    (cell.rounds, cell.throughput, cell.comparison) = (0, None, None);
    let table = terminal(&made, 80, false);
    let row = table.lines().find(|line| line.starts_with("  hot-points ")).expect("a row");
    assert!(row.ends_with("no number"), "{row}");
}

#[test]
fn engines_are_named_in_the_legend_and_what_they_force_below() {
    let made = of_engines(&FIVE_OF_THREE_ENGINES);
    for width in [80, 132] {
        let table = terminal(&made, width, false);
        assert!(widest(&table) <= width, "{} columns of {width}\n{table}", widest(&table));
        assert!(table.starts_with(
            "Relative to: pg1711_o2.x10a_c2r8 (PostgreSQL 17.11)\ncol-1 : my5614_o2.z12a_c2r8 (MySQL 5.6.14)\n"
        ));
    }
    let table = terminal(&made, 200, false);
    let shown = table.split("Differences that the engines force:\n").nth(1).expect("a list");
    assert!(
        shown.starts_with(
            "  load: PostgreSQL COPY ... (FORMAT binary, FREEZE) | MySQL and MariaDB LOAD DATA LOCAL INFILE, a \
         transaction for each part; each engine has its own\n  statement insert (in insert): \
         PostgreSQL INSERT INTO"
        ),
        "{shown}"
    );
    assert!(!terminal(&of_engines(&MYSQL), 80, false).contains("the engines force"));
}
