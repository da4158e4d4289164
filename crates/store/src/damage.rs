//! A stored file that is not as it was written: which, where, what was expected, and what to do about it.
//!
//! In: what `stored_file` found. Out: its text. A file of a newer format is not damaged; that is an error of its own.

use std::fmt;
use std::path::PathBuf;

/// One damaged file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The file.
    pub path: PathBuf,
    /// Line, from 1, where it is known.
    pub line: Option<usize>,
    /// What is wrong.
    pub found: String,
    /// What should be there.
    pub expected: &'static str,
    /// What to do.
    pub remedy: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}; expected {}; {}", self.found, self.expected, self.remedy)
    }
}

/// One line a damage, with a heading if there are several.
pub(crate) fn list(damages: &[Damage]) -> String {
    let lines: Vec<String> = damages.iter().map(Damage::to_string).collect();
    match lines.as_slice() {
        [one] => format!("damaged result file {one}"),
        many => format!("{} damaged result files:\n  {}", many.len(), many.join("\n  ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn all_damages_are_listed() {
        let damage = |path: &str, line| Damage {
            path: path.into(),
            line,
            found: "the file is missing".into(),
            expected: "a sample",
            remedy: "delete it".into(),
        };
        let damages = [damage("a/sample.json", None), damage("b/sample.json", Some(3))];
        expect!["damaged result file a/sample.json: the file is missing; expected a sample; delete it"]
            .assert_eq(&list(&damages[..1]));
        expect![[r#"
            2 damaged result files:
              a/sample.json: the file is missing; expected a sample; delete it
              b/sample.json:3: the file is missing; expected a sample; delete it"#]]
        .assert_eq(&list(&damages));
    }
}
