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

    /// In what builds differ, in words.
    pub(crate) fn differences(&self) -> Vec<String> {
        let differ = |all: &&Vec<(String, String)>| all.windows(2).any(|pair| pair[0].1 != pair[1].1);
        let told = |(what, all): (&&'static str, &Vec<(String, String)>)| {
            let each: Vec<String> = all.iter().map(|(name, value)| format!("{name} has `{value}`")).collect();
            format!(
                "{what} is not said in [data], and builds differ in it by default: {}; `collation`, `locale` and \
                 `sql-mode` make them alike",
                each.join(", ")
            )
        };
        self.0.iter().filter(|(_, all)| differ(all)).map(told).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_told() {
        let mut given = Given::default();
        given.note("my5722", vec![("sql_mode", "A,B".to_owned()), ("collation", "x".to_owned())]);
        given.note("my8033", vec![("sql_mode", "A".to_owned()), ("collation", "x".to_owned())]);
        let [told] = &given.differences()[..] else { panic!("{given:?}") };
        assert!(
            told.starts_with("sql_mode is not said") && told.contains("my5722 has `A,B`, my8033 has `A`"),
            "{told}"
        );
    }
}
