//! The outer frames that cut stacks lack, taken from whole stacks.
//!
//! In: folded stacks of one server. Out: for cut ones those whose outermost function has the same callers in nearly all
//! whole stacks. The kernel copies only so many bytes of a stack. MySQL 8, and what PostgreSQL does with a page, need
//! more, and what is left of such a stack no longer says which thread it is of.

use crate::stacks::{CUT, UNKNOWN};
use std::collections::{BTreeSet, HashMap};

/// Of the whole stacks that hold a function, this part must have the same callers of it.
const AGREE_MIN: f64 = 0.95;

/// By function, its callers from the outermost on, separated by `;`.
#[derive(Debug, Default)]
pub(crate) struct Callers(HashMap<String, String>);

impl Callers {
    /// What whole stacks say of the functions at which others are cut.
    pub(crate) fn of<'s>(folded: impl Iterator<Item = (&'s str, u64)> + Clone) -> Callers {
        let wanted: BTreeSet<&str> = folded.clone().filter_map(|(stack, _)| outermost(stack)).collect();
        let mut seen: HashMap<&str, HashMap<&str, u64>> = HashMap::new();
        for (stack, count) in folded.filter(|(stack, _)| !stack.starts_with(CUT)) {
            let mut found = BTreeSet::new();
            let mut start = 0;
            for function in stack.split(';') {
                // Of a function that calls itself, the outermost.
                if wanted.contains(function) && found.insert(function) {
                    *seen.entry(function).or_default().entry(&stack[..start]).or_default() += count;
                }
                start += function.len() + 1;
            }
        }
        let agreed = seen.into_iter().filter_map(|(function, callers)| {
            let all: u64 = callers.values().sum();
            let (most, count) = callers.into_iter().max_by_key(|(_, count)| *count)?;
            (count as f64 >= AGREE_MIN * all as f64).then(|| (function.to_owned(), most.to_owned()))
        });
        Callers(agreed.collect())
    }

    /// A cut stack with its outer frames, where they are known.
    pub(crate) fn complete(&self, stack: &str) -> Option<String> {
        let callers = self.0.get(outermost(stack)?)?;
        let rest = stack[CUT.len()..].trim_start_matches(';');
        Some(format!("{callers}{rest}"))
    }
}

/// What is put in front of the stacks of a server.
pub(crate) struct Outer<'a> {
    pub(crate) callers: Callers,
    /// What threads that serve sessions are there for, where sessions are there for several things.
    pub(crate) purposes: &'a HashMap<u32, &'static str>,
}

impl Outer<'_> {
    /// What a thread is there for, where that is known.
    pub(crate) fn purpose(&self, thread: u32) -> Option<&'static str> {
        self.purposes.get(&thread).copied()
    }
}

/// A stack below what its thread is there for, such as `[inserter]`.
pub(crate) fn below(purpose: Option<&str>, stack: String) -> String {
    match purpose {
        Some(purpose) => format!("[{purpose}];{stack}"),
        None => stack,
    }
}

/// The outermost function of a cut stack; code without a name could be anywhere.
fn outermost(stack: &str) -> Option<&str> {
    let rest = stack.strip_prefix(CUT)?.strip_prefix(';')?;
    let function = rest.split(';').next()?;
    (function != UNKNOWN && !function.starts_with('[')).then_some(function)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_stack_gets_the_callers_that_whole_ones_agree_on() {
        let callers = Callers::of(
            [
                ("start;do_command;dispatch;read", 60),
                ("start;do_command;dispatch;dispatch;write", 39),
                ("start;purge;dispatch", 1),
                ("start;do_command;dispatch;index", 10),
                ("start;purge;index", 10),
                ("start;[libc.so.6];sort", 10),
                ("[cut];dispatch;read;page", 5),
                ("[cut];index;page", 5),
                ("[cut];[libc.so.6];page", 5),
                ("[cut];elsewhere", 5),
                ("[cut]", 5),
            ]
            .into_iter(),
        );
        let check = |stack: &str, expected: Option<&str>| assert_eq!(callers.complete(stack).as_deref(), expected);
        check("[cut];dispatch;read;page", Some("start;do_command;dispatch;read;page"));
        // Two callers, no name, no whole stack, and none at all.
        check("[cut];index;page", None);
        check("[cut];[libc.so.6];page", None);
        check("[cut];elsewhere", None);
        check("[cut]", None);
        check("start;do_command;dispatch;read", None);
    }

    #[test]
    fn a_stack_stands_below_what_its_thread_is_there_for() {
        let purposes = HashMap::from([(7, "inserter")]);
        let outer = Outer { callers: Callers::default(), purposes: &purposes };
        let of = |thread| below(outer.purpose(thread), "main;f".to_owned());
        assert_eq!([of(7), of(8)], ["[inserter];main;f", "main;f"]);
    }

    #[test]
    fn an_outermost_function_has_no_callers() {
        let callers = Callers::of([("main;f", 20), ("[cut];main;g", 1)].into_iter());
        assert_eq!(callers.complete("[cut];main;g").as_deref(), Some("main;g"));
    }
}
