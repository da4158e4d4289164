//! What SHOW ENGINE INNODB STATUS has and no counter does.
//!
//! In: the text, in the words of any version from 5.5 on. Out: `innodb_status.NAME`: undo kept for old readers, how far
//! the log runs ahead of the last checkpoint, requests that wait, spins on mutexes (5.6). Each fact is looked for in
//! its own section and taken once, since the text goes on to tell every buffer pool apart and quotes statements of
//! users.

use crate::counters::Counters;

/// A fact: its section, the words before its numbers, and the name of each number.
struct Fact {
    section: &'static str,
    words: &'static str,
    names: &'static [&'static str],
}

const fn fact(section: &'static str, words: &'static str, names: &'static [&'static str]) -> Fact {
    Fact { section, words, names }
}

const FACTS: [Fact; 8] = [
    fact("SEMAPHORES", "Mutex spin waits", &["mutex_spin_waits", "mutex_spin_rounds", "mutex_os_waits"]),
    fact("TRANSACTIONS", "History list length", &["history_list_length"]),
    fact("LOG", "Log sequence number", &[LOG_SEQUENCE_NUMBER]),
    fact("LOG", "Log flushed up to", &["log_flushed_up_to"]),
    fact("LOG", "Last checkpoint at", &[LAST_CHECKPOINT]),
    fact("BUFFER POOL AND MEMORY", "Pending reads", &["pending_reads"]),
    fact("ROW OPERATIONS", READ_VIEWS, &["read_views"]),
    fact("LOG", PENDING_LOG, &["pending_log_writes", "pending_checkpoint_writes"]),
];

const LOG_SEQUENCE_NUMBER: &str = "log_sequence_number";
const LAST_CHECKPOINT: &str = "last_checkpoint";

/// Lines that begin with a number are known by words after it.
const READ_VIEWS: &str = "read views open inside InnoDB";
const PENDING_LOG: &str = "pending log ";

/// Lines of which all numbers are added up, by section and first words.
const SUMS: [(&str, &str, &str); 2] = [
    ("FILE I/O", "Pending flushes (fsync)", "pending_flushes"),
    ("BUFFER POOL AND MEMORY", "Pending writes:", "pending_writes"),
];

/// The facts that a text has.
pub(crate) fn parse(text: &str) -> Counters {
    let mut found = Counters::new();
    let mut tell = |name: &str, value: f64| _ = found.entry(format!("innodb_status.{name}")).or_insert(value);
    for (section, line) in sections(text) {
        for fact in FACTS.iter().filter(|fact| fact.section == section) {
            if let Some(numbers) = after(line, fact.words) {
                fact.names.iter().zip(numbers).for_each(|(name, value)| tell(name, value));
            }
        }
        for (_, words, name) in SUMS.iter().filter(|(of, ..)| *of == section) {
            if let Some(rest) = line.strip_prefix(words) {
                tell(name, numbers(rest).sum());
            }
        }
    }
    let position = |name: &str| found.get(&format!("innodb_status.{name}")).copied();
    if let (Some(now), Some(checkpoint)) = (position(LOG_SEQUENCE_NUMBER), position(LAST_CHECKPOINT)) {
        found.insert("innodb_status.checkpoint_age_bytes".to_owned(), now - checkpoint);
    }
    found
}

/// Lines with the section that they stand in: a title between two lines of dashes.
fn sections(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_rule = |line: Option<&&str>| line.is_some_and(|line| line.len() >= 3 && line.bytes().all(|b| b == b'-'));
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let (mut section, mut begins) = ("", 0);
    (0..lines.len()).filter_map(move |at| {
        let line = lines[at];
        // The first line of a section follows a rule too.
        let follows_rule = at > 0 && at != begins && is_rule(lines.get(at - 1));
        if follows_rule && is_rule(lines.get(at + 1)) && !is_rule(Some(&line)) {
            (section, begins) = (line, at + 2);
            return None;
        }
        Some((section, line))
    })
}

/// The numbers of a line that begins with these words, or has them after a leading number.
fn after<'a>(line: &'a str, words: &str) -> Option<impl Iterator<Item = f64> + use<'a>> {
    if let Some(rest) = line.strip_prefix(words) {
        return Some(numbers(rest));
    }
    let behind = line.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(' ')?;
    (behind.len() < line.len() - 1 && behind.starts_with(words)).then(|| numbers(line))
}

/// All whole numbers of a text.
fn numbers(text: &str) -> impl Iterator<Item = f64> {
    text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok())
}

#[cfg(test)]
mod tests;
