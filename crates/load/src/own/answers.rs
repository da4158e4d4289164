//! What a server answers to the user's reading statements, before anything is measured.
//!
//! In: a target, a test, what its sources hold. Out: for each reading statement the answers to some sets of values,
//! which are the same on every build. Each is asked twice, in sessions of their own, the second time in another order
//! and without parallel workers: what differs from itself cannot be compared.

use super::{database, dialect};
use crate::drive::end_session;
use crate::error::LoadError;
use crate::plan_capture::SEED;
use crate::program::own::{Arm, Inputs};
use crate::session::execute;
use rqps_model::answers::{Answer, StatementAnswers, TestAnswers};
use rqps_model::own::{Answers, Own, OwnTest, Work};
use rqps_model::sample::{ErrorCount, FailureClass};
use rqps_wire::{ErrorCode, Protocol, Session, Table, Target, WireError};
use sha2::{Digest, Sha256};
use std::time::{Duration, Instant};

/// How long all answers to a statement may take; as many sets of values are asked as fit, and one at least.
const TIME_MAX: Duration = Duration::from_secs(20);

/// The rows that are kept of an answer.
const FIRST_ROWS: usize = 100;

/// Text of kept rows of a statement, above which no more are kept.
const FIRST_BYTES: usize = 64 << 10;

/// Asks for all answers of a test, of a mix those of its parts; none where nothing is to be compared or the test only
/// writes. Also says where there are other numbers of rows than a user can want.
pub(crate) fn answers(
    target: &Target,
    own: &Own,
    test: &OwnTest,
    inputs: &Inputs,
) -> Result<Option<(TestAnswers, Vec<String>)>, LoadError> {
    if !is_asked(own, test) {
        return Ok(None);
    }
    let arm = Arm::compile(own, test, inputs, target)?;
    let has_values = own.answers.compare == Answers::Values;
    let mut all = TestAnswers { has_values, statements: Vec::new() };
    let mut notes = Vec::new();
    let dialect = dialect(target.engine());
    for statement in arm.prepared().iter().filter(|one| rqps_sql::is_read(&one.sql, dialect) && !one.needs_kept()) {
        let texts: Vec<String> = (0..u64::from(own.answers.parameters))
            .map(|set| statement.written_out(&arm.values(SEED ^ (set << 20)), dialect))
            .collect();
        let is_ordered = rqps_sql::has_order_by(&statement.sql, dialect);
        let mut asked = StatementAnswers { statement: statement.kind.clone(), is_ordered, ..Default::default() };
        let mut first = session(target, own, test, true)?;
        let begun = Instant::now();
        for text in &texts {
            let answer = ask(target, &mut first, text, is_ordered, own, &mut asked.columns)?;
            // What a build does not answer in time is no other answer; the timed part tells of it.
            if timed_out(&answer) {
                let seconds = test.timeout_seconds;
                notes.push(format!(
                    "{} is not answered within {seconds} s: its answers are not compared",
                    statement.kind
                ));
                break;
            }
            asked.answers.push(answer);
            if begun.elapsed() > TIME_MAX {
                break;
            }
        }
        let mut second = session(target, own, test, false)?;
        let mut is_slow = false;
        for (text, answer) in texts.iter().zip(&mut asked.answers).rev() {
            if is_slow {
                answer.is_unstable = true;
                continue;
            }
            let again = ask(target, &mut second, text, is_ordered, own, &mut Vec::new())?;
            is_slow = timed_out(&again);
            let is_same = again.rows == answer.rows && again.error == answer.error && again.sum == answer.sum;
            answer.is_unstable = !is_same || is_ordered && again.sum_in_order != answer.sum_in_order;
        }
        notes.extend(unexpected(&asked, statement.rows));
        if !has_values {
            for answer in &mut asked.answers {
                (answer.sum, answer.sum_in_order) = (String::new(), String::new());
                answer.first_rows.clear();
            }
        }
        all.statements.push(asked);
    }
    Ok((!all.statements.is_empty()).then_some((all, notes)))
}

/// Whether a test's answers can be compared. They cannot where it finds what those before it wrote: a faster build has
/// written more.
fn is_asked(own: &Own, test: &OwnTest) -> bool {
    let goes_on = own.data.renew_per_round && test.writes;
    own.answers.compare != Answers::Off && !goes_on && !matches!(test.work, Work::Pgbench(_))
}

fn timed_out(answer: &Answer) -> bool {
    let class = |code: &String| ErrorCount::class_of(code) == FailureClass::Timeout;
    answer.error.as_ref().is_some_and(class)
}

/// What is odd about the numbers of rows: they are not as expected, or most answers are empty, which is another work
/// than finding something.
fn unexpected(asked: &StatementAnswers, expected: Option<(u64, u64)>) -> Option<String> {
    let answered = || asked.answers.iter().filter(|answer| answer.error.is_none());
    let (all, name) = (answered().count(), &asked.statement);
    if let Some((from, to)) = expected {
        let wrong: Vec<u64> = answered().map(|answer| answer.rows).filter(|rows| !(from..=to).contains(rows)).collect();
        let range = if from == to { from.to_string() } else { format!("{from} to {to}") };
        let first = wrong.first()?;
        return Some(format!(
            "{name} gives {first} rows for {} of {all} sets of values, expected {range}",
            wrong.len()
        ));
    }
    let empty = answered().filter(|answer| answer.rows == 0).count();
    (2 * empty > all).then(|| {
        format!("{name} finds no rows for {empty} of {all} sets of values: take values that are there, from a query or a CSV")
    })
}

/// A session that shows values alike on all versions, and changes none, whatever functions a statement calls.
fn session(target: &Target, own: &Own, test: &OwnTest, with_workers: bool) -> Result<Session, LoadError> {
    let mut session = database::limited(own, test, target)?;
    if target.endpoint.protocol() == Protocol::Postgres {
        execute(&mut session, "SET extra_float_digits = 3; SET bytea_output = hex; SET intervalstyle = postgres")?;
        execute(&mut session, "SET datestyle = ISO; SET timezone = 'UTC'; SET default_transaction_read_only = on")?;
        if !with_workers {
            execute(&mut session, "SET max_parallel_workers_per_gather = 0")?;
        }
    } else {
        execute(&mut session, "SET time_zone = '+00:00', group_concat_max_len = 1000000")?;
        execute(&mut session, "SET SESSION TRANSACTION READ ONLY")?;
    }
    Ok(session)
}

/// An answer. One that does not come in time is the session's last.
fn ask(
    target: &Target,
    session: &mut Session,
    text: &str,
    is_ordered: bool,
    own: &Own,
    columns: &mut Vec<String>,
) -> Result<Answer, LoadError> {
    let table = match session.query(text) {
        Ok(table) => table,
        Err(WireError::Server { error, .. }) => {
            return Ok(Answer { error: Some(error.error_code().to_string()), ..Answer::default() });
        }
        Err(WireError::Deadline { .. }) => {
            end_session(session, target)?;
            return Ok(Answer { error: Some(ErrorCode::OVERDUE.to_string()), ..Answer::default() });
        }
        Err(error) => return Err(LoadError::wire("asking for an answer")(error)),
    };
    columns.clone_from(&table.columns);
    Ok(summed(table, is_ordered, digits(own.answers.tolerance)))
}

/// So many digits of a number with decimals are compared.
fn digits(tolerance: f64) -> usize {
    if tolerance > 0.0 { (-tolerance.log10()).round().clamp(1.0, 15.0) as usize } else { 17 }
}

fn summed(table: Table, is_ordered: bool, digits: usize) -> Answer {
    let count = table.rows.len() as u64;
    let shown = |value: Option<String>| value.map(|value| normal(&value, digits));
    let mut rows: Vec<Vec<Option<String>>> =
        table.rows.into_iter().map(|row| row.into_iter().map(shown).collect()).collect();
    let (mut sum, mut in_order) = (0_u128, Sha256::new());
    for row in &rows {
        let digest = digest(row);
        in_order.update(digest.to_le_bytes());
        sum = sum.wrapping_add(digest);
    }
    if !is_ordered {
        rows.sort();
    }
    let mut bytes = 0;
    rows.truncate(FIRST_ROWS);
    rows.retain(|row| {
        bytes += row.iter().flatten().map(String::len).sum::<usize>();
        bytes <= FIRST_BYTES
    });
    let in_order = in_order.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    Answer { rows: count, sum: format!("{sum:032x}"), sum_in_order: in_order, first_rows: rows, ..Answer::default() }
}

/// 128 bits that stand for a row.
fn digest(row: &[Option<String>]) -> u128 {
    let mut sha = Sha256::new();
    for value in row {
        match value {
            Some(value) => {
                sha.update((value.len() as u64 + 1).to_le_bytes());
                sha.update(value.as_bytes());
            }
            None => sha.update(0_u64.to_le_bytes()),
        }
    }
    let bytes: [u8; 32] = sha.finalize().into();
    bytes.iter().take(16).fold(0, |sum, byte| sum << 8 | u128::from(*byte))
}

/// A value as it is compared: numbers with decimals rounded, since versions write them with more or fewer digits, and
/// sums depend on the order of rows.
fn normal(value: &str, digits: usize) -> String {
    let looks_decimal =
        value.contains(['.', 'e', 'E']) && value.bytes().all(|b| b.is_ascii_digit() || b".eE+-".contains(&b));
    let Some(number) = value.parse::<f64>().ok().filter(|number| looks_decimal && number.is_finite()) else {
        return value.to_owned();
    };
    let rounded: f64 = format!("{number:.*e}", digits - 1).parse().unwrap_or(number);
    // 0 and -0 are one number.
    format!("{}", rounded + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_model::own::{AnswersCheck, OwnData, Protocol as Sending, Scripts, Steps};

    #[test]
    fn mixes_are_asked_and_what_goes_on_with_written_data_is_not() {
        let test = |work: Work| OwnTest::new("t", work, Sending::Prepared);
        let steps = test(Work::Steps(Steps { steps: Vec::new(), transaction: false }));
        let mix = test(Work::Mix([("t".to_owned(), 1)].into()));
        let define = Default::default();
        let scripts = Scripts { scripts: Vec::new(), scale: 1, define, pauses: false, allow_shell: false };
        let tests = [&steps, &mix, &test(Work::Pgbench(scripts)), &OwnTest { writes: true, ..mix.clone() }];
        let check = AnswersCheck { compare: Answers::Values, ..AnswersCheck::OFF };
        let mut own = Own {
            name: "w".to_owned(),
            data: OwnData::default(),
            values: Default::default(),
            tests: Vec::new(),
            answers: check,
        };
        assert_eq!(tests.map(|test| is_asked(&own, test)), [true, true, false, true]);
        own.data.renew_per_round = true;
        assert_eq!(tests.map(|test| is_asked(&own, test)), [true, true, false, false]);
        own.answers.compare = Answers::Off;
        assert_eq!(tests.map(|test| is_asked(&own, test)), [false; 4]);
    }

    #[test]
    fn numbers_are_compared_as_numbers_and_text_as_text() {
        for (one, other, same) in [
            ("1.50", "1.5", true),
            ("2.0", "2", true),
            ("0.1", "0.10000000000000001", true),
            ("-0.0", "0.0", true),
            ("1e3", "1000.0", true),
            ("0.1", "0.1001", false),
            ("10000000001", "10000000002", false),
            ("2024-01-01", "2024-01-02", false),
            ("1.2.3", "1.20.3", false),
            ("abc", "ABC", false),
        ] {
            assert_eq!(normal(one, 9) == normal(other, 9), same, "{one} {other}");
        }
    }

    #[test]
    fn a_sum_sees_every_row_and_no_order() {
        let table = |rows: &[&[Option<&str>]]| {
            let own = |row: &&[Option<&str>]| row.iter().map(|value| value.map(str::to_owned)).collect();
            Table { columns: Vec::new(), rows: rows.iter().map(own).collect() }
        };
        let sums = |rows: &[&[Option<&str>]]| {
            let answer = summed(table(rows), false, 9);
            (answer.sum, answer.sum_in_order)
        };
        let (a, b): (&[_], &[_]) = (&[Some("1"), None], &[Some("2"), Some("x")]);
        assert_eq!(sums(&[a, b]).0, sums(&[b, a]).0);
        assert_ne!(sums(&[a, b]).1, sums(&[b, a]).1);
        assert_ne!(sums(&[a, b]).0, sums(&[a]).0);
        assert_ne!(sums(&[a, a]).0, sums(&[a]).0);
        // NULL is not an empty text, and a border between values counts.
        assert_ne!(sums(&[&[Some(""), Some("ab")]]), sums(&[&[None, Some("ab")]]));
        assert_ne!(sums(&[&[Some("a"), Some("b")]]), sums(&[&[Some("ab"), Some("")]]));
    }
}
