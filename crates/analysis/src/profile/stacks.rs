//! The stacks of two builds over all rounds, as one tree of frames.
//!
//! In: folded stacks. Out: for each frame the samples in itself, by round and build. A line that is no stack with a
//! count is left out.

use super::estimate::Counted;
use super::rollup::{Files, purpose, role};
use std::collections::{BTreeMap, HashMap};

/// The functions that serve a session, statement by statement: of PostgreSQL, and of MySQL and MariaDB.
const SERVES_SESSION: [&str; 2] = ["PostgresMain", "do_command"];

/// Folded stacks, and what a sample of them stands for.
pub(crate) struct Weighed<'a> {
    pub(crate) folded: &'a [u8],
    /// By file, the functions that are not the server's own.
    pub(crate) modules: &'a BTreeMap<String, Vec<String>>,
    /// By source file, the functions of which it is known.
    pub(crate) sources: &'a BTreeMap<String, Vec<String>>,
    pub(crate) us: f64,
}

/// A function below the functions that called it.
#[derive(Debug)]
pub(crate) struct Frame {
    /// Index into the names.
    pub(crate) name: usize,
    pub(crate) parent: Option<usize>,
    /// Samples in itself, by round.
    own: Vec<[u64; 2]>,
}

/// All stacks. A frame stands behind the one that called it.
#[derive(Debug, Default)]
pub(crate) struct Stacks {
    pub(crate) names: Vec<String>,
    pub(crate) frames: Vec<Frame>,
    /// What a sample stands for, by round.
    us: Vec<[f64; 2]>,
    /// Samples by what their process or thread is there for, by round.
    roles: BTreeMap<&'static str, Vec<[u64; 2]>>,
    pub(crate) files: Files,
    by_name: HashMap<String, usize>,
    by_caller: HashMap<(Option<usize>, usize), usize>,
}

impl Stacks {
    /// Adds a round, the base first.
    pub(crate) fn add(&mut self, pair: [Weighed<'_>; 2]) {
        let round = self.us.len();
        self.us.push([pair[0].us, pair[1].us]);
        for (build, weighed) in pair.iter().enumerate() {
            self.files.add(weighed.modules, weighed.sources);
            let text = String::from_utf8_lossy(weighed.folded);
            for line in text.lines() {
                // Names of C++ hold spaces.
                let Some((stack, count)) = line.rsplit_once(' ') else { continue };
                let Ok(count) = count.parse::<u64>() else { continue };
                let frame = work_of_session(stack).fold(None, |caller, name| Some(self.frame(caller, name)));
                let Some(frame) = frame else { continue };
                for counts in [&mut self.frames[frame].own, self.roles.entry(role(stack)).or_default()] {
                    counts.resize(counts.len().max(round + 1), [0; 2]);
                    counts[round][build] += count;
                }
            }
        }
    }

    fn frame(&mut self, parent: Option<usize>, name: &str) -> usize {
        let name = match self.by_name.get(name) {
            Some(&known) => known,
            None => {
                self.names.push(name.to_owned());
                self.by_name.insert(name.to_owned(), self.names.len() - 1);
                self.names.len() - 1
            }
        };
        let next = self.frames.len();
        let frame = *self.by_caller.entry((parent, name)).or_insert(next);
        if frame == next {
            self.frames.push(Frame { name, parent, own: Vec::new() });
        }
        frame
    }

    pub(crate) fn rounds(&self) -> usize {
        self.us.len()
    }

    /// By frame: samples in itself, by round.
    pub(crate) fn own(&self) -> Vec<Vec<[u64; 2]>> {
        self.frames.iter().map(|frame| self.whole(&frame.own)).collect()
    }

    /// Samples by what their process or thread is there for, by round.
    pub(crate) fn by_role(&self) -> (Vec<String>, Vec<Vec<[u64; 2]>>) {
        self.roles.iter().map(|(role, counts)| ((*role).to_owned(), self.whole(counts))).unzip()
    }

    /// Counts of all rounds, those without any included.
    fn whole(&self, counts: &[[u64; 2]]) -> Vec<[u64; 2]> {
        let mut counts = counts.to_vec();
        counts.resize(self.rounds(), [0; 2]);
        counts
    }

    /// By frame: samples in it and in all that it called.
    pub(crate) fn inclusive(&self) -> Vec<Vec<[u64; 2]>> {
        let mut sums = self.own();
        for at in (0..self.frames.len()).rev() {
            if let Some(parent) = self.frames[at].parent {
                let called = std::mem::take(&mut sums[at]);
                add(&mut sums[parent], &called);
                sums[at] = called;
            }
        }
        sums
    }

    /// Whether a function is its own caller somewhere above: its time is in that one's.
    pub(crate) fn is_recursive(&self, frame: usize) -> bool {
        let mut above = std::iter::successors(self.frames[frame].parent, |&at| self.frames[at].parent);
        above.any(|at| self.frames[at].name == self.frames[frame].name)
    }

    /// Samples with what each stands for.
    pub(crate) fn weighed(&self, counts: &[[u64; 2]]) -> Vec<[Counted; 2]> {
        let weigh = |(counts, us): (&[u64; 2], &[f64; 2])| [(counts[0], us[0]), (counts[1], us[1])];
        counts.iter().zip(&self.us).map(weigh).collect()
    }
}

/// The functions of a stack from the one on that serves a session: what lies above it is how a version starts its
/// sessions, and would make all that is below another stack. What the session is there for stays in front.
pub(super) fn work_of_session(stack: &str) -> impl Iterator<Item = &str> {
    let serves = |name: &str| SERVES_SESSION.contains(&name.split('(').next().unwrap_or(name));
    let purpose = purpose(stack).map(|(frame, _)| frame);
    let above = stack.split(';').position(serves).unwrap_or(usize::from(purpose.is_some()));
    purpose.into_iter().chain(stack.split(';').skip(above))
}

/// Adds samples up, by round.
pub(crate) fn add(sum: &mut [[u64; 2]], more: &[[u64; 2]]) {
    for (sum, more) in sum.iter_mut().zip(more) {
        sum[0] += more[0];
        sum[1] += more[1];
    }
}
