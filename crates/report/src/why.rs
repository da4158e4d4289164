//! What stands behind a change, in words.
//!
//! In: the causes that analysis found. Out: a sentence for a test, and the text of `rqps explain`; as Markdown it is
//! made in `markdown`.

use crate::{
    blocked, functions, metric, not_sampled, number, order, plans, statement_times, statement_work, suite, syscalls,
    text, verdict_style, waits, work,
};
use rqps_analysis::count_title;
use rqps_analysis::findings::{
    Cause, CellFindings, Cost, Findings, Moved, PlanFindings, ProfileFindings, Rule, TestFindings, WorkFindings,
};
use rqps_model::plural;
use serde_json::{Value, json};

/// The causes of a change as one sentence without a full stop; `None` where the test did not change.
pub(crate) fn sentence(findings: &Findings, test: &TestFindings, treatment: usize) -> Option<String> {
    let cell = &test.cells[treatment];
    if !cell.comparison.as_ref()?.verdict.is_change() {
        return None;
    }
    let per = metric::per(findings, test);
    let has_other_plans = cell.causes.iter().any(|cause| matches!(cause, Cause::Plan { .. }));
    let mut parts: Vec<String> = has_other_plans.then(|| plans::differing(cell)).into_iter().collect();
    // Of the counts one is told, where the first of them stands.
    let first_count = cell.causes.iter().position(|cause| matches!(cause, Cause::Count { .. }));
    let said = cell.causes.iter().enumerate().filter_map(|(at, cause)| match Some(at) == first_count {
        true => work::first(&cell.causes, per),
        false => words(cause, per),
    });
    parts.extend(said);
    parts.extend(work::scaled(cell));
    parts.extend(cell.syscalls.as_ref().and_then(|found| syscalls::words(found, &cell.causes, per)));
    parts.extend(waited(cell, per));
    let has_moved = cell.profile.as_ref().is_some_and(|profile| profile.moved().next().is_some());
    match has_moved {
        true if parts.is_empty() => {
            parts.push("functions of the server moved, nothing else that was measured".to_owned())
        }
        false if parts.is_empty() => parts.push(not_explained(cell)),
        _ => {}
    }
    parts.splice(0..0, statement_times::words(cell));
    parts.extend(cell.rules.iter().map(rule));
    // Those of another engine's first build are compared with nothing, those of its others with that build.
    if findings.peer(treatment) == findings.base {
        parts.extend(plans::words(&test.cells[findings.base], cell));
    }
    Some(parts.join("; "))
}

/// The measures that explain most changes, as what would have been seen of them is told.
const SEEN: [(&str, &str); 5] = [
    (Cost::SERVER_CPU.name, "server CPU"),
    (Cost::CLIENT_CPU.name, "client CPU"),
    (OF_SESSIONS, "voluntary switches of sessions"),
    (OF_HOST, "context switches of the whole host"),
    (Cost::SERVER_WRITES.name, "bytes written"),
];

/// Switches of sessions, and what takes their place where sessions could not be followed.
const OF_SESSIONS: &str = WorkFindings::VOLUNTARY_SWITCHES;
const OF_HOST: &str = Cost::SWITCHES.name;

/// That nothing explains a change, and how large a change of the usual causes would have been found.
fn not_explained(cell: &CellFindings) -> String {
    let mde = |name: &str| cell.measure(name)?.mde.filter(|mde| mde.is_finite());
    let told = SEEN.iter().filter(|(name, _)| *name != OF_HOST || mde(OF_SESSIONS).is_none());
    let seen: Vec<String> =
        told.filter_map(|(name, title)| Some(format!("{} in {title}", number::percent(mde(name)?)))).collect();
    let begin = "not explained by anything measured";
    match seen.is_empty() {
        true => begin.to_owned(),
        false => format!("{begin}; changes from {} on would have been found", seen.join(", ")),
    }
}

/// A rule of the field in words.
fn rule(rule: &Rule) -> String {
    match rule {
        Rule::Contention => "more context switches at the same CPU: contention".to_owned(),
        Rule::Ranges { shortest, longest, is_per_statement } => {
            let of = |(name, rqps): &(String, f64)| format!("{} in {}", number::ratio(*rqps), text::plain(name));
            let (how, what) = match is_per_statement {
                true => ("shrinks", "per statement: above the storage engine"),
                false => ("grows", "per row: in the executor or the storage engine"),
            };
            format!("the loss {how} with longer ranges ({}, {}), so it is one {what}", of(shortest), of(longest))
        }
        Rule::SecondaryIndex => {
            "tests of the secondary index lost and those of the primary key did not: the path through a secondary index"
                .to_owned()
        }
        Rule::MoreCode => "more instructions, each as fast as before: more code is run".to_owned(),
        Rule::SlowerCode { misses } => {
            let misses: Vec<&str> = misses.iter().map(|name| count_title(name)).collect();
            let why = match misses.is_empty() {
                true => "they wait, for branches, caches or TLB".to_owned(),
                false => format!("more {}", misses.join(", ")),
            };
            format!("the same instructions take more cycles: {why}")
        }
    }
}

/// The wait that a change to more or less waiting is in, and the stack, where they were sampled.
fn waited(cell: &CellFindings, per: &str) -> Vec<String> {
    let explains = cell.causes.is_empty() || cell.causes.iter().any(|cause| matches!(cause, Cause::Waiting { .. }));
    let Some(comparison) = cell.comparison.as_ref().filter(|_| explains) else { return Vec::new() };
    let is_slower = comparison.rqps < 1.0;
    let event = cell.waits.as_ref().and_then(|found| found.largest(is_slower));
    let stack = cell.blocked.as_ref().and_then(|found| found.largest(is_slower));
    event.map(|event| waits::words(event, per)).into_iter().chain(stack.map(|it| blocked::words(it, per))).collect()
}

/// What else is told of a change, a paragraph each: the server's counts where several moved, and settings.
pub(crate) fn more(findings: &Findings, test: &TestFindings, treatment: usize) -> Vec<String> {
    let cell = &test.cells[treatment];
    let per = metric::per(findings, test);
    work::sentence(&cell.causes, per).into_iter().chain(work::settings(&cell.settings)).collect()
}

/// A cause in words; plans and counts have their own.
fn words(cause: &Cause, per: &str) -> Option<String> {
    let words = match cause {
        Cause::Plan { .. } | Cause::Count { .. } => return None,
        Cause::ServerCpu { moved, share, kernel } => {
            let mut words = amount("server CPU", moved, per, number::duration_us);
            words.extend(share.map(|share| format!(", {}", number::share_of_change(share))));
            words.extend(kernel.map(|share| if share > 0.5 { ", most of it in the kernel" } else { ", in user mode" }));
            words
        }
        Cause::ClientCpu { moved, share } => {
            let mut words = amount("CPU of the client itself", moved, per, number::duration_us);
            words.extend(share.map(|share| format!(", {}", number::share_of_change(share))));
            words
        }
        Cause::Waiting { share, flush_cpu, for_cpu } => {
            let on = match (flush_cpu, for_cpu) {
                (Some(flush), _) => {
                    let flush = number::percent(*flush);
                    format!(": on no CPU, or in the kernel's flush of files ({flush} of the change)")
                }
                (None, Some(_)) => ", most of it for a CPU (run delay)".to_owned(),
                (None, None) => ": neither server nor client CPU".to_owned(),
            };
            format!("{} of the change is waiting{on}", number::percent(share.min(1.0)))
        }
        Cause::Work { measure, moved } => {
            let known = metric::ALL.iter().find(|metric| metric.cost.name == measure);
            let (name, show) = known.map_or((count_title(measure), metric::count as fn(f64) -> String), |metric| {
                (metric.in_words, metric.show)
            });
            match measure.ends_with("_ms") || measure == WorkFindings::CYCLES_PER_INSTRUCTION {
                true => moved_by(name, moved, show),
                false => amount(name, moved, per, show),
            }
        }
    };
    Some(words)
}

/// `server CPU per statement −33 % (−35 to −31 %): 12.3 µs → 8.2 µs`, with the change's interval in parentheses.
fn amount(name: &str, moved: &Moved, per: &str, show: fn(f64) -> String) -> String {
    moved_by(&format!("{name} per {per}"), moved, show)
}

/// The same of what is not counted per operation.
fn moved_by(name: &str, moved: &Moved, show: fn(f64) -> String) -> String {
    format!(
        "{name} {}, {} → {}",
        number::change_within(moved.ratio(), moved.low, moved.high),
        show(moved.from),
        show(moved.to)
    )
}

/// `rqps explain`: by build each test that changed, or those named, the largest change first.
pub fn explain(findings: &Findings, tests: &[String], width: usize) -> String {
    let mut out = format!("Relative to: {}\n", text::plain(&findings.treatments[findings.base].name));
    for index in order::others(findings) {
        let name = text::plain(&findings.treatments[index].name);
        let changed = changed(findings, index, tests);
        out.push_str(&format!("\n{name}: {}\n", count(findings, &changed)));
        for test in changed {
            let lines = text::wrap(&of_test(findings, test, index), width, "  ", "      ");
            lines
                .into_iter()
                .chain(below(findings, test, index, width))
                .for_each(|line| out.push_str(&format!("{line}\n")));
        }
    }
    for (at, note) in not_sampled(findings, tests).iter().enumerate() {
        let lines = text::wrap(note, width, "Note: ", "      ").join("\n");
        out.push_str(&format!("{}{lines}\n", if at == 0 { "\n" } else { "" }));
    }
    out
}

/// What could not be sampled of the tests that are explained.
pub(crate) fn not_sampled(findings: &Findings, tests: &[String]) -> Vec<String> {
    let others = order::others(findings).into_iter();
    let cells = others
        .flat_map(|index| changed(findings, index, tests).into_iter().map(move |test| (test, &test.cells[index])));
    not_sampled::sentences(cells)
}

/// How many tests are explained, in words.
pub(crate) fn count(findings: &Findings, tests: &[&TestFindings]) -> String {
    match tests.len() {
        0 => "nothing changed".to_owned(),
        count => plural(count as u32, findings.campaign.suite.noun()),
    }
}

/// What stands below a test's sentence: plans, counts, settings and functions.
pub(crate) fn below(findings: &Findings, test: &TestFindings, treatment: usize, width: usize) -> Vec<String> {
    let (cell, per) = (&test.cells[treatment], metric::per(findings, test));
    let peer = findings.peer(treatment);
    let named = |index: usize| (findings.treatments[index].name.as_str(), &test.cells[index]);
    let mut lines = plans::side_by_side(named(peer), named(treatment), width);
    lines.extend(statement_times::lines(cell, width));
    lines.extend(cell.statement_work.iter().flat_map(|found| statement_work::lines(found, width)));
    lines.extend(work::lines(&cell.causes, per, sentence(findings, test, treatment).is_some(), width));
    let settings = work::settings(&cell.settings);
    lines.extend(settings.into_iter().flat_map(|words| text::wrap(&words, width, "      ", "        ")));
    lines.extend(cell.profile.iter().flat_map(|profile| functions::lines(profile, per, width)));
    lines.extend(cell.waits.iter().flat_map(|found| waits::lines(found, per, width)));
    lines.extend(cell.syscalls.iter().flat_map(|found| syscalls::lines(found, per, width)));
    lines.extend(cell.blocked.iter().flat_map(|found| blocked::lines(found, per, width)));
    lines
}

/// Tests to explain, the largest change first.
pub(crate) fn changed<'a>(findings: &'a Findings, treatment: usize, tests: &[String]) -> Vec<&'a TestFindings> {
    let size = |test: &TestFindings| test.cells[treatment].comparison.as_ref().map_or(0.0, |c| c.rqps.ln().abs());
    let is_chosen = |test: &&TestFindings| match tests.is_empty() {
        true => sentence(findings, test, treatment).is_some(),
        false => tests.contains(&test.name) && test.cells[treatment].comparison.is_some(),
    };
    let mut chosen: Vec<&TestFindings> = findings.tests.iter().filter(is_chosen).collect();
    chosen.sort_by(|a, b| size(b).total_cmp(&size(a)));
    chosen
}

fn of_test(findings: &Findings, test: &TestFindings, treatment: usize) -> String {
    let name = text::plain(&suite::row(findings, test));
    let clients = clients(findings, test);
    let (change, why) = (change(test, treatment), explained(findings, test, treatment));
    format!("{name}{clients}{change}: {why}")
}

/// `, 4 clients` where tests ran at several numbers of them.
pub(crate) fn clients(findings: &Findings, test: &TestFindings) -> String {
    match findings.campaign.clients.len() {
        0 | 1 => String::new(),
        _ => format!(", {}", plural(test.clients, "client")),
    }
}

/// ` +76.0 % ▲` where the test was compared.
pub(crate) fn change(test: &TestFindings, treatment: usize) -> String {
    test.cells[treatment].comparison.as_ref().map_or_else(String::new, |comparison| {
        format!(" {} {}", number::change(comparison.rqps), verdict_style::glyph(comparison.verdict))
    })
}

/// The sentence of a test, changed or not.
pub(crate) fn explained(findings: &Findings, test: &TestFindings, treatment: usize) -> String {
    sentence(findings, test, treatment).unwrap_or_else(|| "no change to explain".to_owned())
}

/// The same for scripts: a list of `test`, `clients`, `treatment`, `base`, `rqps`, `verdict`, `causes` (each with its
/// `kind`, and amounts per operation), `rules` of the field that hold, `settings` that differ and may touch the test,
/// `plans` as they are compared, `sentence`, which is `null` where nothing changed, and `profile`, `waits`, `blocked`
/// and `syscalls`: functions, waits, stacks of blocked sessions and system calls where they were sampled, else `null`;
/// `not_sampled` says why. `statement_work` is what each kind of statement makes the server do, `null` where it was
/// not counted.
pub fn explain_json(findings: &Findings, tests: &[String]) -> String {
    let of = |index: usize, test: &TestFindings| {
        let comparison = test.cells[index].comparison.as_ref();
        json!({
            "test": test.name,
            "clients": test.clients,
            "treatment": findings.treatments[index].name,
            "base": findings.treatments[findings.base].name,
            "rqps": comparison.map(|comparison| comparison.rqps),
            "verdict": comparison.map(|comparison| comparison.verdict),
            "causes": test.cells[index].causes,
            "rules": test.cells[index].rules,
            "settings": test.cells[index].settings,
            "plans": test.cells[index].plans.iter().map(plan_json).collect::<Vec<Value>>(),
            "sentence": sentence(findings, test, index),
            "profile": test.cells[index].profile.as_ref().map(profile_json),
            "waits": test.cells[index].waits,
            "blocked": test.cells[index].blocked,
            "syscalls": test.cells[index].syscalls,
            "statement_work": test.cells[index].statement_work,
            "not_sampled": test.cells[index].not_sampled,
        })
    };
    let others = order::others(findings).into_iter();
    let rows: Vec<Value> =
        others.flat_map(|index| changed(findings, index, tests).into_iter().map(move |test| of(index, test))).collect();
    format!("{:#}\n", Value::from(rows))
}

/// A plan in the form in which it is compared, without the server's own words.
fn plan_json(plan: &PlanFindings) -> Value {
    json!({
        "statement": plan.statement,
        "differs": plan.differs,
        "difference": plan.difference,
        "estimates": plan.estimates,
        "structure": plan.structure,
        "is_generic": plan.is_generic,
    })
}

/// A profile without its stacks, which are for drawing.
fn profile_json(profile: &ProfileFindings) -> Value {
    json!({
        "rounds": profile.rounds,
        "base_samples": profile.base_samples,
        "samples": profile.samples,
        "total": profile.total,
        "functions": profile.functions,
        "rest": profile.rest,
        "rest_count": profile.rest_count,
        "inclusive": profile.inclusive,
        "files": profile.files,
        "sources": profile.sources,
        "roles": profile.roles,
        "mde_us": profile.mde_us,
        "warnings": profile.warnings,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_analysis::findings::MeasureComparison;

    #[test]
    fn rules_of_the_field_are_said_in_words() {
        let ranges = |is_per_statement| {
            let of = |range, rqps| (format!("read-only_range={range}"), rqps);
            rule(&Rule::Ranges { shortest: of(10, 0.8), longest: of(10_000, 0.991), is_per_statement })
        };
        assert_eq!(
            ranges(true),
            "the loss shrinks with longer ranges (0.800 in read-only_range=10, 0.991 in read-only_range=10000), so it is \
             one per statement: above the storage engine"
        );
        assert!(ranges(false).starts_with("the loss grows with longer ranges"), "{}", ranges(false));
        assert!(rule(&Rule::Contention).ends_with("contention"));
        let slower = |misses: &[&str]| {
            rule(&Rule::SlowerCode { misses: misses.iter().map(|name| (*name).to_owned()).collect() })
        };
        assert_eq!(
            slower(&["itlb_misses_user", "cache_misses_user"]),
            "the same instructions take more cycles: more instruction TLB misses in user mode, cache misses in user \
             mode"
        );
        assert!(slower(&[]).ends_with("they wait, for branches, caches or TLB"));
    }

    #[test]
    fn where_nothing_explains_a_change_what_would_have_been_found_is_said() {
        let measure = |name: &str, mde| MeasureComparison { mde, ..MeasureComparison::undecided(name, 1.01, 5) };
        let measures = vec![measure("server_cpu_us", Some(0.031)), measure("client_cpu_us", None)];
        let cell = CellFindings { measures, ..CellFindings::default() };
        assert_eq!(
            not_explained(&cell),
            "not explained by anything measured; changes from 3.1 % in server CPU on would have been found"
        );
        assert_eq!(not_explained(&CellFindings::default()), "not explained by anything measured");
        let measures = vec![measure(OF_HOST, Some(0.051))];
        let unfollowed = CellFindings { measures: measures.clone(), ..CellFindings::default() };
        assert!(not_explained(&unfollowed).contains("from 5.1 % in context switches of the whole host on"));
        let measures = [measures, vec![measure(OF_SESSIONS, Some(0.021))]].concat();
        let followed = not_explained(&CellFindings { measures, ..CellFindings::default() });
        assert!(followed.contains("2.1 % in voluntary switches") && !followed.contains("host"), "{followed}");
    }

    #[test]
    fn causes_read_as_a_person_would_say_them() {
        let moved = |from, to, low, high| Moved { from, to, low, high };
        let said = |cause: Cause| words(&cause, "statement").unwrap();
        let cpu = moved(12.3, 8.241, 0.65, 0.69);
        let server = said(Cause::ServerCpu { moved: cpu, share: Some(0.801), kernel: Some(0.9) });
        assert_eq!(
            server,
            "server CPU per statement −33.0 % (0.650 to 0.690), 12.3 µs → 8.24 µs, 80 % of the change, most of it in \
             the kernel"
        );
        let switches = Cause::Work { measure: "cs_per_op".to_owned(), moved: moved(3.8, 2.0, 0.51, 0.54) };
        assert_eq!(
            said(switches),
            "context switches of the whole host per statement −47.4 % (0.510 to 0.540), 3.80 → 2.00"
        );
        let faults = Cause::Work { measure: "session_faults".to_owned(), moved: moved(0.027, 0.0135, 0.45, 0.55) };
        assert_eq!(said(faults), "page faults of sessions per statement −50.0 % (0.450 to 0.550), 0.0270 → 0.0135");
        let cycles = Cause::Work { measure: "cycles_per_instruction".to_owned(), moved: moved(0.6, 0.72, 1.15, 1.25) };
        assert_eq!(said(cycles), "cycles of an instruction +20.0 % (1.150 to 1.250), 0.600 → 0.720");
        let instructions = Cause::Work { measure: "instructions".to_owned(), moved: moved(4e4, 5.2e4, 1.29, 1.31) };
        assert_eq!(said(instructions), "instructions per statement +30.0 % (1.290 to 1.310), 40000 → 52000");
        let waiting = |for_cpu| said(Cause::Waiting { share: 0.84, flush_cpu: None, for_cpu });
        assert_eq!(waiting(None), "84 % of the change is waiting: neither server nor client CPU");
        assert_eq!(waiting(Some(0.8)), "84 % of the change is waiting, most of it for a CPU (run delay)");
        let flushing = said(Cause::Waiting { share: 0.72, flush_cpu: Some(0.24), for_cpu: None });
        assert_eq!(
            flushing,
            "72 % of the change is waiting: on no CPU, or in the kernel's flush of files (24 % of the change)"
        );
    }
}
