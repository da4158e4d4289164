//! The user's own workload: a workload file such as `shop.toml`, or pgbench scripts, to what a plan has of it.
//!
//! In: the words of `from`, and a way to the files that they name. Out: an [`Own`], or every fault with its file, line
//! and column. A workload file is read as a campaign file is, by the same parser; what is in it, `data`, `values`,
//! `test` and `scripts` know. Whether servers accept the statements, they say themselves.

mod choices;
mod data;
mod scripts;
mod section;
mod statement;
mod test;
#[cfg(test)]
mod tests;
mod values;

use crate::diagnostic::{Fault, Faults};
use crate::file;
use crate::place::{Place, Source, Spanned};
use crate::raw::Raw;
use rqps_model::own::{Answers, AnswersCheck, Own};
use section::Section;

pub use choices::Files;
pub(crate) use choices::{Choices, usual_check};
use std::path::{Path, PathBuf};

/// The only version of the workload file's format.
const FORMAT: u64 = 1;

/// Reads what `from` names: one workload file, or scripts.
pub(crate) fn read(from: &[Spanned<String>], choices: &Choices, files: &dyn Files, faults: &mut Faults) -> Option<Own> {
    let is_workload = |word: &&Spanned<String>| Path::new(&word.value).extension().is_some_and(|end| end == "toml");
    match from.iter().find(is_workload) {
        None => scripts::read(from, choices, files, faults),
        Some(file) if from.len() > 1 => {
            let other = from.iter().find(|other| other.value != file.value).unwrap_or(file);
            let fault = Fault::error(format!("`{}` stands beside the workload file `{}`", other.value, file.value));
            let help =
                "name one workload file, or scripts; a workload file can name scripts too: pgbench = [\"a.sql\"]";
            faults.add(&other.place, fault.help(help));
            None
        }
        Some(file) => read_file(file, choices, files, faults),
    }
}

fn read_file(file: &Spanned<String>, choices: &Choices, files: &dyn Files, faults: &mut Faults) -> Option<Own> {
    let path = Path::new(&file.value);
    let bytes = match files.read(path) {
        Ok(bytes) => bytes,
        Err(why) => {
            faults.add(&file.place, Fault::error(format!("the workload file cannot be read: {why}")));
            return None;
        }
    };
    let source = Source::new(&file.value, &bytes);
    let mut own_faults = Faults::new(Some(source.clone()));
    let entries = file::read_entries(&source, &mut own_faults);
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let mut reader = Reader { choices, files, folder, pg_restore: None, faults: &mut own_faults };
    let own = reader.workload(entries, path);
    let is_right = own_faults.errors() == 0;
    faults.append(own_faults);
    own.filter(|_| is_right)
}

/// Reads the parts of a workload file.
struct Reader<'a> {
    choices: &'a Choices,
    files: &'a dyn Files,
    /// Where relative paths of the file begin.
    folder: PathBuf,
    /// What makes SQL of archives, where something was said of it.
    pg_restore: Option<PathBuf>,
    faults: &'a mut Faults,
}

impl Reader<'_> {
    fn workload(&mut self, entries: Vec<(Spanned<String>, Spanned<Raw>)>, path: &Path) -> Option<Own> {
        let mut file = Section::new("a workload file", Place::Request, entries);
        let format = file.whole("format", self.faults);
        if let Some(format) = format.filter(|format| format.value != FORMAT) {
            let fault = Fault::error(format!("the file has format {}, and this rqps knows {FORMAT}", format.value));
            self.faults.add(&format.place, fault.help("take a newer rqps, or write the file in its format"));
            return None;
        }
        let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let name = file.text("name", self.faults).map_or(stem, |name| name.value);
        let data = file.section("data", "`data`", self.faults);
        let tables = file.sections("table", "a table", self.faults);
        let values = file.section("values", "`values`", self.faults);
        let defaults = file.section("defaults", "`defaults`", self.faults);
        let check = file.section("check", "`check`", self.faults);
        let tests = file.sections("test", "a test", self.faults);
        file.end(self.faults);
        let data = self.data(data, tables);
        let values = self.values(values);
        let answers = self.answers(check);
        let tests = self.tests(tests, defaults, &values);
        let mut own = Own { name, data, values: values.sources, tests, answers };
        // Scripts without tables of their own run on pgbench's.
        if own.tests.iter().any(|test| matches!(test.work, rqps_model::own::Work::Pgbench(_))) {
            let bare = own.data.files.is_empty() && own.data.tables.is_empty();
            let scale = own.tests.iter().find_map(|test| match &test.work {
                rqps_model::own::Work::Pgbench(scripts) => Some(scripts.scale),
                _ => None,
            });
            own.data.pgbench_scale = own.data.pgbench_scale.or(scale.filter(|_| bare));
        }
        Some(own)
    }

    /// `[check]`, and what the flag says of it.
    fn answers(&mut self, section: Option<Section>) -> AnswersCheck {
        let mut check = usual_check();
        if let Some(mut section) = section {
            if let Some(word) = section.choice("answers", &Answers::ALL, Answers::name, self.faults) {
                check.compare = word;
            }
            if let Some(sets) = section.bounded("parameters", 1..=1000, self.faults) {
                check.parameters = sets;
            }
            if let Some(tolerance) = section.number("tolerance", self.faults) {
                check.tolerance = tolerance.value;
            }
            section.end(self.faults);
        }
        check.may_differ = self.choices.answers_may_differ;
        check
    }

    /// The file at a path that the workload file names.
    fn path(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }
}
