//! What servers gave where the user named nothing, such as a collation or an sql_mode: whether builds got the same.
//!
//! In: what each load reports. Out: a warning for each thing in which builds differ. It judges nothing:
//! the difference may be what the user wants to see.

use std::collections::BTreeMap;

/// What each treatment was given.
#[derive(Debug, Default)]
pub(crate) struct Given(BTreeMap<&'static str, Vec<(String, String)>>);

impl Given {
    pub(crate) fn note(&mut self, treatment: &str, given: Vec<(&'static str, String)>) {
        for (what, value) in given {
            self.0.entry(what).or_default().push((treatment.to_owned(), value));
        }
    }

    /// In what builds differ, in words; what was given goes by its key of `[data]`.
    pub(crate) fn differences(&self) -> Vec<String> {
        let differ = |all: &&Vec<(String, String)>| all.windows(2).any(|pair| pair[0].1 != pair[1].1);
        let told = |(what, all): (&&'static str, &Vec<(String, String)>)| {
            let each: Vec<String> =
                all.iter().map(|(name, value)| format!("{name} has {}", own_words(value, all))).collect();
            format!(
                "[data] has no `{what}`, and the defaults of the builds differ: {}; `{what}` in [data] makes them \
                 alike",
                each.join(", ")
            )
        };
        self.0.iter().filter(|(_, all)| differ(all)).map(told).collect()
    }
}

/// The words of a list that not all have; the whole value where it is no list.
fn own_words(value: &str, all: &[(String, String)]) -> String {
    let is_common = |word: &&str| all.iter().all(|(_, other)| other.split(',').any(|one| one == *word));
    let (common, own): (Vec<&str>, Vec<&str>) = value.split(',').partition(is_common);
    match (own.is_empty(), common.is_empty()) {
        (true, _) => "only what all have".to_owned(),
        (false, true) => format!("`{}`", own.join(",")),
        (false, false) => format!("`{}` besides what all have", own.join(",")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_told() {
        let mut given = Given::default();
        given.note("my5722", vec![("sql-mode", "A,B".to_owned()), ("collation", "x".to_owned())]);
        given.note("my8033", vec![("sql-mode", "A".to_owned()), ("collation", "x".to_owned())]);
        given.note("my56", vec![("sql-mode", "C,A".to_owned())]);
        given.note("pg", vec![("locale", "C".to_owned())]);
        given.note("pg-old", vec![("locale", "en_US.UTF-8".to_owned())]);
        assert_eq!(
            given.differences(),
            [
                "[data] has no `locale`, and the defaults of the builds differ: pg has `C`, pg-old has `en_US.UTF-8`; \
                 `locale` in [data] makes them alike",
                "[data] has no `sql-mode`, and the defaults of the builds differ: my5722 has `B` besides what all \
                 have, my8033 has only what all have, my56 has `C` besides what all have; `sql-mode` in [data] \
                 makes them alike",
            ]
        );
    }
}
