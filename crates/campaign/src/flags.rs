//! The command line: words of flags to a request, by the same reading as the file's.
//!
//! The caller's argument parser only splits the line; values come here as the user typed them, so that a wrong one is
//! told in the same way as in the file. Repeated flags make a list; names and numbers may have commas between them.

use crate::diagnostic::{Fault, Faults};
use crate::place::{Place, Spanned};
use crate::raw::Raw;
use crate::request::Request;
use crate::vocabulary::did_you_mean;
use rqps_suites::{KEYS, Key};

/// A flag as typed: its name without dashes, and its value. A switch such as `quick` has the value `true`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    /// The name without dashes.
    pub name: String,
    /// The value as typed.
    pub value: String,
}

impl Flag {
    /// A flag with its value.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Flag { name: name.into(), value: value.into() }
    }
}

/// Reads the flags of a command line, in the order in which they were typed.
pub(crate) fn read_flags(flags: &[Flag], faults: &mut Faults) -> Request {
    read_words(flags, faults, |flag, order, value| Place::Flag {
        flag: flag.name.clone(),
        value: value.to_owned(),
        order,
    })
}

/// Reads words in the form of flags, whatever their place is called.
pub(crate) fn read_words(flags: &[Flag], faults: &mut Faults, place: impl Fn(&Flag, usize, &str) -> Place) -> Request {
    let mut request = Request::default();
    for key in KEYS.iter() {
        let said: Vec<(usize, &Flag)> = flags.iter().enumerate().filter(|(_, flag)| flag.name == key.name).collect();
        let Some(&(order, last)) = said.last() else { continue };
        let raw = if key.form.is_list() {
            let items = said.iter().flat_map(|(order, flag)| pieces(key, *order, flag, &place)).collect();
            Spanned::new(Raw::List(items), place(last, order, &last.value))
        } else {
            // The last one wins, as everywhere on command lines.
            Spanned::new(Raw::Word(last.value.clone()), place(last, order, &last.value))
        };
        request.read_key(key, raw, faults);
    }
    for (order, flag) in flags.iter().enumerate() {
        if Key::find(&flag.name).is_none() {
            let help = did_you_mean(&flag.name, KEYS.iter().map(|key| key.name.as_str()));
            let fault = Fault::error(format!("unknown flag --{}", flag.name)).help_if(help);
            faults.add(&place(flag, order, &flag.value), fault);
        }
    }
    request
}

/// The values of one flag.
fn pieces(key: &Key, order: usize, flag: &Flag, place: &impl Fn(&Flag, usize, &str) -> Place) -> Vec<Spanned<Raw>> {
    let piece = |text: &str| Spanned::new(Raw::Word(text.to_owned()), place(flag, order, text));
    if key.form.splits_at_commas() { flag.value.split(',').map(piece).collect() } else { vec![piece(&flag.value)] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::read_text;
    use expect_test::expect;

    fn read(words: &[(&str, &str)]) -> (Request, String) {
        let flags: Vec<Flag> = words.iter().map(|(name, value)| Flag::new(*name, *value)).collect();
        let mut faults = Faults::new(None);
        let request = read_flags(&flags, &mut faults);
        let told: Vec<String> = faults.sorted().iter().map(ToString::to_string).collect();
        (request, told.join("\n"))
    }

    #[test]
    fn flags_say_the_same_as_the_file() {
        let (flags, told) = read(&[
            ("build", "postgres:16.15"),
            ("build", "new=postgres:/opt/pg,17"),
            ("base", "new"),
            ("tests", "32,update-*"),
            ("tests", "scan"),
            ("rows", "1_000_000"),
            ("clients", "1,4"),
            ("rate", "even:500"),
            ("margin", "2%"),
            ("machine", "c8r32"),
            ("set", "work_mem=64MB"),
            ("set", "pg_stat_statements.max=100"),
            ("slice", "10"),
            ("rounds", "3"),
            ("rounds", "4"),
            ("quick", "true"),
        ]);
        assert_eq!(told, "");
        let text = r#"
            build = ["postgres:16.15", "new=postgres:/opt/pg,17"]
            base = "new"
            tests = [32, "update-*", "scan"]
            rows = 1_000_000
            clients = [1, 4]
            rate = "even:500"
            margin = 0.02
            machine = { cores = 8, memory = "32GB" }
            slice = 10.0
            rounds = 4
            quick = true
            [set]
            work_mem = "64MB"
            pg_stat_statements.max = 100
        "#;
        let (mut file, told) = read_text(text);
        file.source = None;
        assert_eq!(told, []);
        assert_eq!(flags, file);
    }

    #[test]
    fn faults_name_the_flag_in_the_order_typed() {
        let (_, told) = read(&[
            ("slice", "fast"),
            ("clients", "1,0,x"),
            ("build", "17.11"),
            ("build", "oracel:19"),
            ("build", "/opt/pg"),
            ("rate", "evn:5"),
            ("rounds", "0"),
            ("rownds", "3"),
            ("interleave", "slice"),
            ("name", "../x"),
            ("set", "a b=1"),
            ("machine", "big"),
        ]);
        expect![[r#"
            --slice fast: error: `fast` is not a number
                = expected milliseconds from 1 to 1000
            --clients 0: error: `clients` is too small
                = expected whole numbers from 1 to 10000
            --clients x: error: `x` is not a whole number
                = expected whole numbers from 1 to 10000
            --build 17.11: error: `17.11` names no engine
                = expected ENGINE:VERSION, ENGINE:/FOLDER, ENGINE:/ARCHIVE, or a short form such as my8033
                = help: did you mean `postgres:17.11`?
            --build oracel:19: error: unknown engine `oracel`
                = expected one of postgres, mysql, mariadb
            --build /opt/pg: error: `/opt/pg` names no engine
                = expected ENGINE:VERSION, ENGINE:/FOLDER, ENGINE:/ARCHIVE, or a short form such as my8033
                = help: did you mean `postgres:/opt/pg`?
            --rate evn:5: error: `evn` is no kind of gaps
                = expected poisson or even
                = help: did you mean `even`?
            --rounds 0: error: `rounds` is too small
                = expected a whole number from 1 to 1000
            --rownds 3: error: unknown flag --rownds
                = help: did you mean `rounds`?
            --interleave slice: error: `interleave` cannot be `slice`
                = expected slices or turns
                = help: did you mean `slices`?
            --name ../x: error: `../x` cannot be a name, since it becomes a folder's name
                = expected letters, digits, `.`, `_` and `-`, first a letter or digit, at most 64 in all
            --set a b=1: error: `a b=1` is not a setting
                = expected NAME=VALUE
                = help: such as work_mem=64MB
            --machine big: error: `big` is not a machine
                = expected a class such as "c8r32", or { cores = 8, memory = "32GB" }"#]]
        .assert_eq(&told);
    }
}
