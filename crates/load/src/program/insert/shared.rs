//! What the threads of a step share, and the connection that asks for the oldest and newest row.
//!
//! In: wishes of the lanes. Out: ids in atomics. The questions have a connection and a thread of their own, as the published
//! client has a process for them: after many deletes a min() can take long, and must hold up nobody's clock.

use super::sql;
use crate::drive::{monotonic_ns, thread_cpu_ns};
use crate::error::LoadError;
use rqps_model::insert::Questions;
use rqps_model::insert::{Shape, Step};
use rqps_wire::{Protocol, Session};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};

/// What all threads of a step see.
#[derive(Debug)]
pub(crate) struct Shared<'a> {
    pub(crate) engine: Protocol,
    pub(crate) shape: &'a Shape,
    pub(crate) step: &'a Step,
    pub(crate) tables: &'a [TableCell],
    pub(crate) stop: &'a AtomicBool,
    /// Something went wrong for good, on whichever thread.
    pub(crate) has_failed: AtomicBool,
    /// Clients that have still to write.
    pub(crate) clients_writing: AtomicUsize,
    pub(crate) start_ns: AtomicU64,
}

impl Shared<'_> {
    /// Whether nothing new is to be begun.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.has_failed.load(Ordering::Relaxed)
    }
}

/// A question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    Oldest,
    Newest,
}

/// Where a table begins and ends, as far as is known.
#[derive(Debug)]
pub(crate) struct TableCell {
    pub(crate) name: String,
    /// Where the next delete begins: the oldest row, but for gaps.
    next_delete: AtomicU64,
    newest: AtomicU64,
    /// Rows that deletes under way may be ahead of what min() sees.
    slack: u64,
    asked: [AtomicBool; 2],
}

impl TableCell {
    /// A table of which `deleters` delete up to `batch` rows at once.
    pub(crate) fn new(name: String, oldest: u64, newest: u64, deleters: u32, batch: u32) -> TableCell {
        let slack = match deleters {
            0 | 1 => 0,
            several => 2 * u64::from(several) * u64::from(batch),
        };
        TableCell {
            name,
            next_delete: AtomicU64::new(oldest),
            newest: AtomicU64::new(newest),
            slack,
            asked: [const { AtomicBool::new(false) }; 2],
        }
    }

    /// Takes the next rows to delete.
    #[inline]
    pub(crate) fn take(&self, rows: u64) -> u64 {
        self.next_delete.fetch_add(rows, Ordering::Relaxed)
    }

    /// The ids from which point queries choose: the oldest, and one beyond the newest.
    #[inline]
    pub(crate) fn range(&self) -> (u64, u64) {
        let oldest = self.next_delete.load(Ordering::Relaxed);
        (oldest, self.newest.load(Ordering::Relaxed).max(oldest) + 1)
    }

    /// Asks, unless the answer is under way.
    pub(crate) fn ask(&self, table: usize, question: Question, questions: &SyncSender<(usize, Question)>) {
        if !self.asked[question as usize].swap(true, Ordering::Relaxed)
            && questions.try_send((table, question)).is_err()
        {
            self.asked[question as usize].store(false, Ordering::Relaxed);
        }
    }

    /// An answer has come. Several deleters on one table are ahead of what min() sees by what they have under way; taking
    /// that back would have them delete the same rows.
    fn answered(&self, question: Question, id: u64) {
        match question {
            Question::Newest => self.newest.store(id, Ordering::Relaxed),
            Question::Oldest => {
                let next = self.next_delete.load(Ordering::Relaxed);
                if !(id..=id + self.slack).contains(&next) {
                    self.next_delete.store(id, Ordering::Relaxed);
                }
            }
        }
        self.asked[question as usize].store(false, Ordering::Relaxed);
    }
}

/// What the questions cost.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// By [`Question`].
    pub(crate) questions: [Questions; 2],
    pub(crate) cpu_ns: u64,
    pub(crate) failure: Option<String>,
}

/// Answers questions until nobody can ask any more.
pub(crate) fn answer(mut session: Session, shared: &Shared<'_>, asked: &Receiver<(usize, Question)>) -> Answers {
    let cpu_before = thread_cpu_ns();
    let mut answers = Answers::default();
    while let Ok((table, question)) = asked.recv() {
        let cell = &shared.tables[table];
        let before = monotonic_ns();
        match ask(&mut session, &cell.name, question) {
            Ok(id) => {
                // An empty table has no oldest row; its deleter finds that out.
                if let Some(id) = id {
                    cell.answered(question, id);
                }
            }
            Err(error) => {
                answers.failure = Some(error.to_string());
                shared.has_failed.store(true, Ordering::Relaxed);
                break;
            }
        }
        let took_ns = monotonic_ns() - before;
        let known = &mut answers.questions[question as usize];
        known.count += 1;
        known.total_ns += took_ns;
        known.longest_ns = known.longest_ns.max(took_ns);
    }
    answers.cpu_ns = thread_cpu_ns() - cpu_before;
    answers
}

/// The id of the oldest or newest row, if there is any row.
pub(crate) fn ask(session: &mut Session, table: &str, question: Question) -> Result<Option<u64>, LoadError> {
    let sql = match question {
        Question::Oldest => sql::min_id(table),
        Question::Newest => sql::max_id(table),
    };
    let answer = session.query(&sql).map_err(LoadError::wire(format!("reading the ids of table {table}")))?;
    Ok(answer.single().and_then(|text| text.parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::sync_channel;

    #[test]
    fn an_answer_moves_the_next_delete_unless_deletes_under_way_explain_it() {
        let check = |deleters, next, oldest, expected| {
            let cell = TableCell::new("pi1".into(), next, 5000, deleters, 50);
            cell.answered(Question::Oldest, oldest);
            assert_eq!(cell.take(50), expected);
        };
        check(1, 1000, 1900, 1900);
        check(1, 1000, 900, 900);
        check(4, 1000, 900, 1000);
        check(4, 1000, 1001, 1001);
        check(4, 1000, 500, 500);
    }

    #[test]
    fn a_question_is_asked_once_until_it_is_answered() {
        let cell = TableCell::new("pi1".into(), 1, 9, 1, 50);
        let (questions, asked) = sync_channel(1);
        cell.ask(0, Question::Newest, &questions);
        cell.ask(0, Question::Newest, &questions);
        assert_eq!((asked.try_recv(), asked.try_recv().is_err()), (Ok((0, Question::Newest)), true));
        cell.answered(Question::Newest, 20);
        assert_eq!(cell.range(), (1, 21));
        // Where there is no room the question can be asked later.
        cell.ask(0, Question::Newest, &questions);
        cell.ask(0, Question::Oldest, &questions);
        asked.try_recv().unwrap();
        cell.ask(0, Question::Oldest, &questions);
        assert_eq!(asked.try_recv(), Ok((0, Question::Oldest)));
    }
}
