//! The terminal's table: what it says, and that it fits.

use crate::synthetic::engines::{InventedEngine, of_engines};
use crate::synthetic::{Size, findings};
use rqps_analysis::findings::Findings;
use rqps_model::Verdict;
use rqps_report::{html, terminal};

pub(crate) fn widest(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

#[test]
fn fits_its_width() {
    for size in [Size::TWO_BUILDS, Size::FIVE_BUILDS, Size::LARGE] {
        for width in [80, 100, 132] {
            let table = terminal(&findings(size), width, false);
            assert!(widest(&table) <= width, "{} columns of {width}\n{table}", widest(&table));
        }
    }
}

#[test]
fn two_builds_get_full_rows() {
    let made = findings(Size::TWO_BUILDS);
    let table = terminal(&made, 80, false);
    assert!(table.starts_with("Relative to: pg1615_o2nofp.x10a_c2r24\ncol-1 : pg1711_o2nofp.x10a_c2r24\n"));
    for group in ["Point queries\n", "Range queries without aggregation\n", "Writes\n", "  median "] {
        assert!(table.contains(group), "{group} in\n{table}");
    }
    let row = table.lines().find(|line| line.starts_with("  hot-points ")).expect("a row");
    assert!(row.contains("1.916") && row.contains("▲ improved") && row.contains(" %"), "{row}");
    assert!(table.contains("[1] client-bound (2 cells): "), "a footnote in\n{table}");
    assert!(table.trim_end().ends_with("2 regressed, 4 improved, 22 equal, 4 undecided"), "{table}");
}

#[test]
fn colour_only_where_it_is_allowed() {
    let made = findings(Size::TWO_BUILDS);
    let (plain, colourful) = (terminal(&made, 80, false), terminal(&made, 80, true));
    assert!(!plain.contains('\u{1b}'));
    assert!(colourful.contains("\u{1b}[38;5;33m1.916\u{1b}[0m"));
    let mut stripped = colourful;
    for sequence in ["\u{1b}[38;5;33m", "\u{1b}[38;5;208m", "\u{1b}[2m", "\u{1b}[0m"] {
        stripped = stripped.replace(sequence, "");
    }
    assert_eq!(stripped, plain);
}

#[test]
fn many_builds_fold_into_blocks_and_list_what_changed() {
    let table = terminal(&findings(Size::LARGE), 80, false);
    assert_eq!(table.matches("  hot-points ").count(), 4 + 5, "four blocks, and five builds that changed it");
    assert!(table.contains("col-13 : pg19b1_o2nofp.x10a_c2r24\n"));
    assert!(table.contains("pg19b1_o2nofp: 15 tests changed\n"), "{table}");
    assert!(table.contains("  … and 5 more in the report\n"), "{table}");
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
    let made = of_engines(&InventedEngine::FIVE);
    for width in [80, 132] {
        let table = terminal(&made, width, false);
        assert!(widest(&table) <= width, "{} columns of {width}\n{table}", widest(&table));
        assert!(table.starts_with(
            "Relative to: pg1711_zonky.x10a_c2r24 (PostgreSQL 17.11)\ncol-1 : my5614_bin.z12a_c2r24 (MySQL 5.6.14)\n"
        ));
    }
    let table = terminal(&made, 200, false);
    let shown = table.split("Engines force these to differ:\n").nth(1).expect("a list");
    assert!(
        shown.starts_with(
            "  load: PostgreSQL COPY ... (FORMAT binary, FREEZE) | MySQL and MariaDB LOAD DATA LOCAL INFILE, a \
         transaction for each 100,000 rows; each engine has its own bulk load\n  statement insert (in insert): \
         PostgreSQL INSERT INTO"
        ),
        "{shown}"
    );
    assert!(!terminal(&of_engines(&InventedEngine::MYSQL), 80, false).contains("Engines force"));
}
