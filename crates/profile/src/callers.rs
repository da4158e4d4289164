//! The outer frames that cut stacks lack, taken from whole stacks.
//!
//! In: folded stacks of one server. Out: for cut ones those whose outermost function has the same callers in nearly all
//! whole stacks. The kernel copies only so many bytes of a stack. MySQL 8, and what PostgreSQL does with a page, need
//! more, and what is left of such a stack no longer says which thread it is of.

use crate::stacks::{CUT, Folded, UNKNOWN};
use std::collections::{BTreeSet, HashMap};

/// Of the whole stacks that hold a function, this part must have the same callers of it.
const AGREE_MIN: f64 = 0.95;

/// By function, its callers from the outermost on, separated by `;`.
#[derive(Debug, Default)]
pub(crate) struct Callers(HashMap<String, String>);

impl Callers {
    /// What whole stacks say of the functions at which others are cut.
    pub(crate) fn of(folded: &Folded) -> Callers {
        let wanted: BTreeSet<&str> = folded.keys().filter_map(|stack| outermost(stack)).collect();
        let mut seen: HashMap<&str, HashMap<&str, u64>> = HashMap::new();
        for (stack, count) in folded.iter().filter(|(stack, _)| !stack.starts_with(CUT)) {
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

/// The outermost function of a cut stack; code without a name could be anywhere.
fn outermost(stack: &str) -> Option<&str> {
    let rest = stack.strip_prefix(CUT)?.strip_prefix(';')?;
    let function = rest.split(';').next()?;
    (function != UNKNOWN && !function.starts_with('[')).then_some(function)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(stacks: &[(&str, u64)]) -> Folded {
        stacks.iter().map(|(stack, count)| ((*stack).to_owned(), *count)).collect()
    }

    #[test]
    fn a_cut_stack_gets_the_callers_that_whole_ones_agree_on() {
        let callers = Callers::of(&folded(&[
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
        ]));
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
    fn an_outermost_function_has_no_callers() {
        let callers = Callers::of(&folded(&[("main;f", 20), ("[cut];main;g", 1)]));
        assert_eq!(callers.complete("[cut];main;g").as_deref(), Some("main;g"));
    }
}
