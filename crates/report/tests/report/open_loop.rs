//! Campaigns with a rate: latency stands where interval and MDE would.

use crate::terminal::widest;
use crate::world::{Size, findings};
use rqps_analysis::findings::Findings;
use rqps_model::Verdict;
use rqps_model::plan::Arrival;
use rqps_report::{html, markdown, terminal};

/// A campaign in which all but the second test kept up with the rate.
fn at_rate(size: Size) -> Findings {
    let mut made = findings(size);
    made.campaign.arrival = Arrival::Even { rate_per_s: 500.0 };
    made.groups.clear();
    for (at, test) in made.tests.iter_mut().enumerate() {
        for cell in &mut test.cells {
            cell.latency[0].quantiles_us = [104.5, 300.0, 500.0, 12_100.0, 20_000.0, 30_000.0];
            cell.throughput = Some(499.0);
            cell.warnings.clear();
            let Some(comparison) = cell.comparison.as_mut() else { continue };
            comparison.remark = None;
            if at == 1 {
                comparison.verdict = Verdict::Regressed;
                continue;
            }
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
    assert_eq!(row.join(" "), "hot-points 499 1.000 ? 104 µs 104 µs ▲ 12.1 ms 3.76 ms");
    assert!(!table.contains("MDE"));
    assert!(table.contains("Open loop: throughput is the requested rate"));
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
    assert_eq!(row("p50 of events"), "hot-points 104 µs 104 µs ? 104 µs ? 104 µs ? 104 µs ▲");
    assert_eq!(row("p99 of events"), "hot-points 12.1 ms 3.76 ms 12.1 ms 12.1 ms 12.1 ms");
}

#[test]
fn markdown_and_page_compare_latency() {
    let made = at_rate(Size::TWO_BUILDS);
    let text = markdown(&made);
    assert!(text.contains("| Base p50 | New p50 | Base p99 | New p99 |"), "{text}");
    assert!(
        text.contains("| hot-points | 499 | 499 | 1.000 | 104 µs | 104 µs ▲ | 12.1 ms | 3.76 ms | – | ? undecided |"),
        "{text}"
    );
    assert!(html(&made).expect("a page").contains("Open loop: throughput is the requested rate"));
    let text = markdown(&at_rate(Size::FIVE_BUILDS));
    assert!(text.contains("| hot-points | 499, 104 µs / 12.1 ms | 1.000 ?, 104 µs ? / 3.76 ms |"), "{text}");
}

#[test]
fn the_page_shows_latency_in_place_of_a_plot_of_rates() {
    let made = at_rate(Size::TWO_BUILDS);
    let page = html(&made).expect("a page");
    let results = page.split("<section id=\"results\">").nth(1).and_then(|rest| rest.split("</section>").next());
    let results = results.expect("results");
    assert!(!results.contains("class=\"iv\"") && !results.contains("Logarithmic axis"), "a plot of ratios of rates");
    assert_eq!(results.matches("class=\"lat p50\"").count(), made.tests.len());
    assert_eq!(results.matches("class=\"lat p99\"").count(), made.tests.len());
    let row = results.split("data-name=\"hot-points\"").nth(1).expect("a row");
    assert!(row.contains("<span>12.1 ms</span> <b>3.76 ms</b> <i>−68.9 %</i>"), "{}", &row[..600]);
    assert!(page.contains("p50 104 µs → 104 µs, p99 12.1 ms → 3.76 ms"), "beside the test's name");
    // The second test did not keep up, so its ratio has an interval.
    assert!(results.contains("95 % interval</th>"));
    let mut kept_up = made;
    kept_up.tests.remove(1);
    let page = html(&kept_up).expect("a page");
    assert!(!page.split("id=\"tests\"").next().expect("results").contains("95 % interval</th>"));
    let noise = page.split("<section id=\"noise\">").nth(1).expect("a section");
    assert!(noise.contains("Events came at the requested rate") && !noise.contains("too few"));
}

#[test]
fn many_builds_at_a_rate_have_a_table_of_latency_each() {
    let made = at_rate(Size::FIVE_BUILDS);
    let page = html(&made).expect("a page");
    assert_eq!(page.matches("class=\"lat p99\"").count(), made.tests.len() * 4);
    assert_eq!(page.matches("<details class=\"intervals\" open>").count(), 4);
    assert!(page.contains("p99 12.1 ms → 3.76 ms"), "in the matrix's tips");
}

#[test]
fn a_closed_loop_keeps_its_table() {
    let table = terminal(&findings(Size::TWO_BUILDS), 80, false);
    assert!(table.contains("MDE") && !table.contains("p99") && !table.contains("Open loop"));
}
