//! Campaigns with a rate: latency stands where interval and MDE would.

use crate::synthetic::{Size, findings};
use crate::terminal::widest;
use rqps_analysis::findings::Findings;
use rqps_model::Verdict;
use rqps_report::{html, markdown, terminal};

/// A campaign in which all but the second test kept up with the rate.
fn at_rate(size: Size) -> Findings {
    let mut made = findings(size);
    made.campaign.arrival = "even, 500 events/s".to_owned();
    made.groups.clear();
    for (at, test) in made.tests.iter_mut().enumerate() {
        for cell in &mut test.cells {
            cell.latency[0].quantiles_us = [104.5, 300.0, 500.0, 12_100.0, 20_000.0, 30_000.0];
            cell.throughput = Some(499.0);
            let Some(comparison) = cell.comparison.as_mut().filter(|_| at != 1) else { continue };
            (comparison.rqps, comparison.verdict) = (1.0, Verdict::Undecided);
            (comparison.low, comparison.high, comparison.mde, comparison.q) = (None, None, None, None);
        }
    }
    made.tests[0].cells[1].latency[0].quantiles_us[3] = 3760.0;
    made
}

#[test]
fn latency_fits_eighty_columns() {
    let made = at_rate(Size::TWO_BUILDS);
    for width in [80, 132] {
        let table = terminal(&made, width, false);
        assert!(widest(&table) <= width, "{} columns of {width}\n{table}", widest(&table));
    }
    let table = terminal(&made, 80, false);
    let head: Vec<&str> =
        table.lines().find(|line| line.contains("base p50")).expect("a head").split_whitespace().collect();
    assert_eq!(head.join(" "), "base q/s rQPS base p50 new p50 base p99 new p99");
    let row: Vec<&str> =
        table.lines().find(|line| line.starts_with("  hot-points ")).expect("a row").split_whitespace().collect();
    assert_eq!(row.join(" "), "hot-points 499 1.000 ? 104 µs 104 µs 12.1 ms 3.76 ms");
    assert!(!table.contains("MDE"));
    assert!(table.contains("Open loop: throughput is the rate asked for"));
    let wide = terminal(&made, 132, false);
    let behind = wide.lines().find(|line| line.starts_with("  point-query ")).expect("a row");
    assert!(behind.contains("–0.9") && behind.ends_with("▼ regressed"), "{behind}");
}

#[test]
fn many_builds_get_a_block_for_each_quantile() {
    let made = at_rate(Size::FIVE_BUILDS);
    let table = terminal(&made, 80, false);
    assert!(widest(&table) <= 80, "{table}");
    let row = |block: &str| {
        let rows = table.split(block).nth(1).expect("a block");
        rows.lines()
            .find(|line| line.starts_with("  hot-points "))
            .expect("a row")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(row("p50 of events"), "hot-points 104 µs 104 µs 104 µs 104 µs 104 µs");
    assert_eq!(row("p99 of events"), "hot-points 12.1 ms 3.76 ms 12.1 ms 12.1 ms 12.1 ms");
}

#[test]
fn markdown_and_page_compare_latency() {
    let made = at_rate(Size::TWO_BUILDS);
    let text = markdown(&made);
    assert!(text.contains("| Base p50 | New p50 | Base p99 | New p99 |"), "{text}");
    assert!(
        text.contains("| hot-points | 499 | 499 | 1.000 | 104 µs | 104 µs | 12.1 ms | 3.76 ms | ? undecided |"),
        "{text}"
    );
    assert!(html(&made).expect("a page").contains("Open loop: throughput is the rate asked for"));
    let text = markdown(&at_rate(Size::FIVE_BUILDS));
    assert!(text.contains("| hot-points | 499, 104 µs / 12.1 ms | 1.000 ?, 104 µs / 3.76 ms |"), "{text}");
}

#[test]
fn a_closed_loop_keeps_its_table() {
    let table = terminal(&findings(Size::TWO_BUILDS), 80, false);
    assert!(table.contains("MDE") && !table.contains("p99") && !table.contains("Open loop"));
}
