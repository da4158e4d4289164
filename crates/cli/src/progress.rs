//! How a campaign goes, for who watches it: a line that moves on a terminal, plain lines elsewhere.
//!
//! In: the campaign's events. Out: lines on the screen, one of each test with its numbers. It decides nothing.

use crate::interrupt::resume_line;
use crate::screen::Screen;
use indicatif::{ProgressBar, ProgressStyle};
use rqps_campaign::ROUNDS_MAX;
use rqps_lab::Notice;
use rqps_model::event::{TestPlace, TestResult};
use rqps_model::insert::Sla;
use rqps_model::{EventKind, Plan, Unit, human_duration};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// So much is told of why a test failed; its sample has all of it.
const REASON: usize = 160;

/// The letters of a test's name, where builds alternate.
const TEST: usize = 26;

/// Where there is no terminal, a test's progress is not told more often than this.
const PLAIN_EVERY: Duration = Duration::from_secs(30);

/// Tells how a campaign goes: a line that moves on a terminal, plain lines elsewhere.
pub(crate) struct Progress {
    screen: Screen,
    bar: Option<ProgressBar>,
    label: String,
    last_plain: Instant,
    /// Whether it was told what the numbers of a test are.
    is_headed: bool,
    /// What of the plan says how far it is.
    extent: Extent,
    /// Tests of the round under way, where results decide which.
    tests: Option<u32>,
}

/// How much a campaign may measure.
#[derive(Debug, Clone, Copy, Default)]
struct Extent {
    /// Tests of the plan.
    tests: u32,
    /// The highest number of rounds, where one was said.
    rounds_max: Option<u32>,
    /// Whether it ends sooner if every test is decided.
    until_decided: bool,
}

impl Extent {
    fn of(plan: &Plan) -> Extent {
        Extent {
            tests: plan.tests().len() as u32,
            rounds_max: Some(plan.rounds_max()).filter(|most| *most < ROUNDS_MAX),
            until_decided: plan.division().is_some_and(|division| division.until_decided),
        }
    }

    /// A round and what there is of them; where results decide that, what the round measures of the plan's tests.
    fn round(self, round: u32, rounds: Option<u32>, tests: Option<u32>) -> String {
        if let Some(rounds) = rounds {
            return format!("round {round}/{rounds}");
        }
        let most = self.rounds_max.map(|most| format!(" of at most {most}")).unwrap_or_default();
        let tests = tests.filter(|tests| *tests < self.tests);
        let tests = tests.map(|tests| format!(", {tests} of {} tests", self.tests)).unwrap_or_default();
        format!("round {round}{most}{tests}")
    }

    fn left(self, left: Duration) -> String {
        let most = if self.until_decided { "at most " } else { "" };
        format!("{most}{} left", human_duration(left))
    }
}

/// Steps of the progress bar.
const STEPS: u64 = 1000;

impl Progress {
    pub(crate) fn new(screen: Screen, plan: &Plan) -> Progress {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:16.cyan/dim} {percent:>3}%  {wide_msg}")
                .expect("a constant template")
                .progress_chars("━╸─");
            ProgressBar::new(STEPS).with_style(style)
        });
        let (label, last_plain, extent) = (String::new(), Instant::now(), Extent::of(plan));
        Progress { screen, bar, label, last_plain, is_headed: false, extent, tests: None }
    }

    /// Does something that says lines which stay.
    fn aside(&self, say: impl FnOnce(Screen)) {
        match &self.bar {
            Some(bar) => bar.suspend(|| say(self.screen)),
            None => say(self.screen),
        }
    }

    /// What happened beside the campaign itself.
    pub(crate) fn notice(&self, notice: &Notice) {
        self.aside(|screen| screen.notice(notice));
    }

    /// A line that stays.
    pub(crate) fn line(&self, text: &str) {
        self.aside(|screen| screen.say(text));
    }

    fn now(&mut self, label: String) {
        match &self.bar {
            Some(bar) => bar.set_message(label.clone()),
            None => self.screen.say(&label),
        }
        self.label = label;
    }

    /// Ends the moving line.
    pub(crate) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Shows an event.
    pub(crate) fn show(&mut self, event: &EventKind) {
        match event {
            EventKind::Cleared { what } => {
                self.line("removed leftovers of a killed rqps:");
                what.iter().for_each(|one| self.line(&format!("  {one}")));
            }
            EventKind::Loading { treatment, tables, rows, what } => {
                let what = what.clone().unwrap_or_else(|| format!("{tables} x {rows} rows"));
                self.now(format!("loading {what} with {treatment}"));
            }
            EventKind::LoadingAdvances { fraction } => self.advance_loading(*fraction),
            EventKind::Loaded { treatment, rows, seconds } => {
                self.line(&format!("loaded {rows} rows with {treatment} in {seconds:.1} s"));
            }
            EventKind::Aging { treatment, .. } => self.now(format!("aging data with {treatment}")),
            EventKind::Aged { treatment, seconds } => {
                self.line(&format!("aged data with {treatment} in {seconds:.1} s"));
            }
            EventKind::ServersStart { round, rounds, tests, clients, treatments } => {
                self.tests = *tests;
                let round = self.extent.round(*round, *rounds, *tests);
                self.now(match treatments.as_slice() {
                    [one] => {
                        let clients: Vec<String> = clients.iter().map(u32::to_string).collect();
                        let clients = clients.join(", ");
                        format!("{round}  {one}  clients {clients}, copying data, starting its server")
                    }
                    _ => format!("{round}  copying data, starting servers"),
                });
            }
            EventKind::ServersEnd { .. } => {}
            EventKind::TestBegins { place, is_recorded } => self.begin(place, *is_recorded),
            EventKind::TestAdvances { campaign, left_seconds, .. } => {
                self.advance(*campaign, left_seconds.map(Duration::from_secs_f64));
            }
            EventKind::TestEnded { place, unit, results, left_seconds } => {
                let line = match place.interleave {
                    Some(_) => {
                        if !std::mem::replace(&mut self.is_headed, true) {
                            self.line(&heading(results));
                        }
                        side_by_side(place, *unit, results)
                    }
                    None => one_by_one(place, *unit, results),
                };
                match (&self.bar, left_seconds) {
                    (None, Some(left)) => {
                        self.line(&with_time_left(&line, &self.extent.left(Duration::from_secs_f64(*left))));
                    }
                    _ => self.line(&line),
                }
            }
            EventKind::Interrupted { folder } => {
                // Nothing moves any more.
                self.end();
                self.screen.say(&resume_line(folder));
            }
            EventKind::Warning { message } => self.aside(|screen| screen.warn(message)),
        }
    }

    fn begin(&mut self, place: &TestPlace, is_recorded: bool) {
        let TestPlace { round, rounds, test, clients, .. } = place;
        let round = self.extent.round(*round, *rounds, self.tests);
        let who = match place.interleave {
            Some(_) => String::new(),
            None => format!("{}  ", place.treatments.join(" ")),
        };
        if !is_recorded && place.interleave.is_some() {
            self.label = format!("{round}  {test} again  clients {clients}");
            return self.line(&format!(
                "{round}  running {test} again, clients {clients}, unrecorded: what follows needs its data"
            ));
        }
        let how = place.interleave.map(|how| format!(", {how}")).unwrap_or_default();
        let label = format!("{round}  {who}{test}  clients {clients}{how}");
        match &self.bar {
            Some(_) => self.now(label),
            None => self.label = label,
        }
    }

    fn advance_loading(&mut self, fraction: f64) {
        let message = format!("{}  {:.0} %", self.label, fraction * 100.0);
        if let Some(bar) = &self.bar {
            bar.set_message(message);
        } else if self.last_plain.elapsed() >= PLAIN_EVERY {
            self.last_plain = Instant::now();
            self.screen.say(&message);
        }
    }

    fn advance(&mut self, campaign: f64, left: Option<Duration>) {
        let left = left.map(|left| self.extent.left(left));
        if let Some(bar) = &self.bar {
            bar.set_position((campaign * STEPS as f64) as u64);
            // A narrow terminal cuts the line, and the name of a test is rather missed than the time.
            bar.set_message(left.into_iter().chain([self.label.clone()]).collect::<Vec<_>>().join("  "));
        } else if self.last_plain.elapsed() >= PLAIN_EVERY {
            self.last_plain = Instant::now();
            let left = left.map(|left| format!("  {left}")).unwrap_or_default();
            self.screen.say(&format!("{}  {:.0} %{left}", self.label, campaign * 100.0));
        }
    }
}

/// A test's line with the time that is left; what failed of it stands below.
fn with_time_left(line: &str, left: &str) -> String {
    let (test, failures) = line.split_at(line.find('\n').unwrap_or(line.len()));
    format!("{test}   {left}{failures}")
}

/// What the numbers behind a test are.
fn heading(results: &[TestResult]) -> String {
    let names: Vec<&str> = results.iter().map(|result| result.treatment.as_str()).collect();
    format!("round, test, clients; throughput of {}; relative to the first", names.join(", "))
}

/// A test on all builds: their throughputs, and relative to the base's.
fn side_by_side(TestPlace { round, test, clients, .. }: &TestPlace, unit: Unit, results: &[TestResult]) -> String {
    let numbers: Vec<String> = results.iter().map(|result| number(result.throughput)).collect();
    let base = results.first().and_then(|base| base.throughput);
    let ratios: Vec<String> = results.iter().skip(1).map(|result| ratio(result.throughput, base)).collect();
    let (numbers, ratios) = (numbers.join("  "), ratios.join("  "));
    let unit = if results.iter().any(|result| result.throughput.is_some()) { unit.symbol() } else { "" };
    let besides = results.iter().map(|result| (&result.treatment, beside(result)));
    let besides = besides.filter(|(_, beside)| !beside.is_empty());
    let besides: String = besides.map(|(treatment, beside)| format!("\n       {treatment}{beside}")).collect();
    format!("  {round:>3}  {} {clients:>3}  {numbers} {unit}  {ratios}{besides}", in_column(test))
}

/// A test's name as wide as its column. Of one that is longer the middle is left out, since names of one kind begin
/// alike.
fn in_column(test: &str) -> String {
    let letters: Vec<char> = test.chars().collect();
    if letters.len() <= TEST {
        return format!("{test:<TEST$}");
    }
    let behind = TEST / 2;
    let (front, end) = (&letters[..TEST - behind - 1], &letters[letters.len() - behind..]);
    format!("{}…{}", front.iter().collect::<String>(), end.iter().collect::<String>())
}

/// A test on one build while no other is up.
fn one_by_one(TestPlace { round, test, clients, .. }: &TestPlace, unit: Unit, results: &[TestResult]) -> String {
    let one = |result: &TestResult| {
        let TestResult { treatment, throughput, .. } = result;
        let unit = if throughput.is_some() { unit.symbol() } else { "" };
        let (number, beside) = (number(*throughput), beside(result));
        format!("  {round:>3}  {treatment}  {test:<6} {clients:>3}  {number} {unit}{beside}")
    };
    results.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn number(throughput: Option<f64>) -> String {
    match throughput {
        None => format!("{:>9}", "failed"),
        Some(value) if value >= 100.0 => format!("{value:>9.0}"),
        Some(value) => format!("{value:>9.2}"),
    }
}

/// What must be known beside a test's number.
fn beside(result: &TestResult) -> String {
    let mut words = String::new();
    if let Some(failure) = &result.failure {
        words += &format!("  failed: {}", reason(failure));
    }
    let TestResult { sla, stalled_seconds, .. } = *result;
    if let Some(Sla { target_per_s, reached_per_s }) = sla.filter(|sla| !rqps_lab::is_held(sla)) {
        words += &format!("  SLA missed: {reached_per_s:.0} of {target_per_s:.0} rows/s written");
    }
    if stalled_seconds > 0 {
        words += &format!("  stalled {stalled_seconds} s");
    }
    words
}

/// Why a test failed, shortly, and without the values in the user's statements.
fn reason(failure: &str) -> String {
    let hidden = rqps_lab::without_literals(failure.lines().next().unwrap_or_default());
    match hidden.char_indices().nth(REASON) {
        Some((end, _)) => format!("{}…", hidden[..end].trim_end()),
        None => hidden,
    }
}

fn ratio(this: Option<f64>, base: Option<f64>) -> String {
    this.zip(base).map_or_else(|| "-".to_owned(), |(this, base)| format!("x{:.3}", this / base))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(treatment: &str, throughput: Option<f64>) -> TestResult {
        TestResult { treatment: treatment.to_owned(), throughput, failure: None, sla: None, stalled_seconds: 0 }
    }

    #[test]
    fn where_results_decide_a_round_has_its_tests_and_no_total() {
        let extent = Extent { tests: 32, ..Extent::default() };
        assert_eq!(extent.round(2, Some(6), None), "round 2/6");
        assert_eq!(extent.round(2, None, Some(32)), "round 2");
        assert_eq!(extent.round(7, None, Some(3)), "round 7, 3 of 32 tests");
        let limited = Extent { rounds_max: Some(20), until_decided: true, ..extent };
        assert_eq!(limited.round(7, None, Some(3)), "round 7 of at most 20, 3 of 32 tests");
        assert_eq!([extent, limited].map(|it| it.left(Duration::from_secs(9))), ["9 s left", "at most 9 s left"]);
    }

    #[test]
    fn the_numbers_of_a_test_are_told_once() {
        let told = heading(&[result("pg16.x10a", Some(1.0)), result("pg17.x10a", None)]);
        assert_eq!(told, "round, test, clients; throughput of pg16.x10a, pg17.x10a; relative to the first");
    }

    #[test]
    fn a_name_is_as_wide_as_its_column_and_keeps_its_ends() {
        for (test, shown) in [
            ("point-query", "point-query               "),
            ("read-only-distinct.range10", "read-only-distinct.range10"),
            ("orders-of-customer-by-region-and-day", "orders-of-cu…egion-and-day"),
            ("ö".repeat(40).as_str(), &format!("{}…{}", "ö".repeat(12), "ö".repeat(13))),
        ] {
            assert_eq!((in_column(test).as_str(), in_column(test).chars().count()), (shown, TEST));
        }
    }

    #[test]
    fn a_missed_rate_and_stalls_stand_beside_a_steps_number() {
        assert_eq!(beside(&result("a", Some(1.0))), "");
        let sla = |reached_per_s| Some(Sla { target_per_s: 1000.0, reached_per_s });
        assert_eq!(beside(&TestResult { sla: sla(990.0), ..result("a", Some(1.0)) }), "");
        let missed = TestResult { sla: sla(500.4), stalled_seconds: 3, ..result("a", Some(1.0)) };
        assert_eq!(beside(&missed), "  SLA missed: 500 of 1000 rows/s written  stalled 3 s");
    }

    #[test]
    fn a_failed_test_has_its_reason_in_one_line_and_no_unit_of_nothing() {
        let place = TestPlace {
            round: 2,
            rounds: Some(3),
            test: "late".to_owned(),
            clients: 1,
            treatments: Vec::new(),
            interleave: None,
        };
        let failed =
            |treatment: &str, why: &str| TestResult { failure: Some(why.to_owned()), ..result(treatment, None) };
        let told = side_by_side(
            &place,
            Unit::QueriesPerSecond,
            &[result("a", Some(500.0)), failed("b", "refused: 'secret'\nand more")],
        );
        let expected = format!("    2  late{:25}1        500     failed q/s  -\n       b  failed: refused: '?'", "");
        assert_eq!(told, expected);
        // The time left belongs to the test, not to what failed of it.
        assert_eq!(with_time_left(&told, "9 s left"), expected.replace("-\n", "-   9 s left\n"));
        let told = one_by_one(&place, Unit::QueriesPerSecond, &[failed("b", &"long ".repeat(100))]);
        assert!(told.ends_with("long long…") && told.chars().count() < 220 && !told.contains("q/s"), "{told}");
    }
}
