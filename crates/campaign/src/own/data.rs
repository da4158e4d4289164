//! `[data]` and `[[table]]` of a workload file: what servers begin with.
//!
//! In: the sections. Out: [`OwnData`], every file found and its digest computed. What is in the files, their servers
//! say when they are loaded.

use super::Reader;
use super::section::{Section, one_text, text, texts, whole};
use crate::diagnostic::Fault;
use crate::engine::dialect;
use crate::place::{Place, Spanned};
use crate::raw::Raw;
use rqps_model::Engine;
use rqps_model::own::{InputFile, OwnData, OwnTable, PerEngine};
use std::collections::{BTreeMap, BTreeSet};

/// More rows than this are not drawn.
const ROWS_MAX: u64 = 2_000_000_000;

impl Reader<'_> {
    pub(super) fn data(&mut self, section: Option<Section>, tables: Vec<Section>) -> OwnData {
        let mut data = OwnData::default();
        if let Some(mut section) = section {
            let engines = self.choices.engines.clone();
            let errors = self.faults.errors();
            let has_files = section.has("dump") || section.has("schema");
            if let Some(path) = section.text("pg-restore", self.faults) {
                self.pg_restore = Some(self.path(&path.value));
            }
            // The flag has the last word.
            self.pg_restore = self.choices.pg_restore.clone().or(self.pg_restore.take());
            let dumps = self.files_of(&mut section, "dump", &engines);
            let schemas = self.files_of(&mut section, "schema", &engines);
            for engine in &engines {
                let files = dumps.get(engine).into_iter().chain(schemas.get(engine)).flatten().cloned();
                let files: Vec<InputFile> = files.collect();
                if !files.is_empty() {
                    data.files.insert(*engine, files);
                }
            }
            data.charset = section.text("charset", self.faults).map(|word| word.value);
            data.collation = section.text_per_engine("collation", &engines, self.faults);
            data.sql_mode = section.text_per_engine("sql-mode", &engines, self.faults);
            data.locale = section.text("locale", self.faults).map(|word| word.value);
            let list = |raw: Spanned<Raw>, faults: &mut _| {
                Some(texts("statements", raw, faults).into_iter().map(|text| text.value).collect::<Vec<_>>())
            };
            data.session = section.per_engine("session", &engines, self.faults, list);
            data.finish = section.per_engine("finish", &engines, self.faults, list);
            const RENEW: [&str; 2] = ["test", "round"];
            data.renew_per_round = section.choice("renew", &RENEW, |word| word, self.faults) == Some(RENEW[1]);
            data.ignore = self.ignore(&mut section);
            data.replace = self.replace(&mut section);
            data.only = self.only(&mut section);
            data.pgbench_scale = section.bounded("pgbench-scale", 1..=u32::MAX, self.faults);
            // A build may have all its files in `only`.
            let is_known = data.only.is_empty() && data.pgbench_scale.is_none() && self.faults.errors() == errors;
            if has_files && is_known {
                let without = engines.iter().filter(|engine| !data.files.contains_key(engine));
                self.no_file_for(without, "data", "dump", &section.place);
            }
            section.end(self.faults);
        }
        data.tables = tables.into_iter().filter_map(|table| self.table(table)).collect();
        data.pgbench_scale = data.pgbench_scale.or(self.choices.scale);
        data
    }

    /// Engines have no file where others have one.
    fn no_file_for<'e>(
        &mut self,
        engines: impl IntoIterator<Item = &'e Engine>,
        section: &str,
        key: &str,
        place: &Place,
    ) {
        for engine in engines {
            let fault = Fault::error(format!("`{section}` has no file for {}", engine.title()));
            self.faults.add(place, fault.help(format!("add it: {key} = {{ {engine} = \"...\" }}")));
        }
    }

    /// The files behind a key, for each of these engines.
    fn files_of(
        &mut self,
        section: &mut Section,
        key: &'static str,
        engines: &BTreeSet<Engine>,
    ) -> PerEngine<Vec<InputFile>> {
        let (folder, files, pg_restore) = (self.folder.clone(), self.files, self.pg_restore.clone());
        let found = section.per_engine(key, engines, self.faults, |raw, faults| {
            let mut found = Vec::new();
            for path in texts(key, raw, faults) {
                if path.value.starts_with("todo") {
                    let fault = Fault::error("the data are still to be named");
                    faults.add(
                        &path.place,
                        fault.help("name a dump or SQL files here, as pg_dump or mysqldump write them"),
                    );
                    continue;
                }
                let at = folder.join(&path.value);
                let read = files.archive(&at, pg_restore.as_deref());
                match read.and_then(|archive| Ok(InputFile { archive, ..files.digest(&at)? })) {
                    Ok(file) => found.push(file),
                    Err(why) => {
                        let fault = Fault::error(format!("`{}` cannot be read: {why}", path.value));
                        faults.add(&path.place, fault);
                    }
                }
            }
            Some(found)
        });
        for (engine, archive) in found.iter().flat_map(|(engine, files)| files.iter().map(move |file| (engine, file))) {
            if archive.archive.is_some() && !dialect(*engine).is_postgres() {
                let fault = Fault::error(format!("{} cannot load an archive of pg_dump", engine.title()));
                let help = format!("give it a dump of its own: {key} = {{ {engine} = \"...\" }}");
                self.faults.add(&section.place, fault.help(help));
            }
        }
        found
    }

    fn ignore(&mut self, section: &mut Section) -> Vec<String> {
        let Some(raw) = section.take("ignore") else { return Vec::new() };
        let items = match raw.value {
            Raw::List(items) => items,
            value => vec![Spanned::new(value, raw.place)],
        };
        let mut codes = Vec::new();
        for item in items {
            match text(&item.value).or_else(|| whole(&item.value).map(|number| number.to_string())) {
                Some(code) => codes.push(code),
                None => {
                    let fault = Fault::error(format!("`ignore` cannot hold {}", item.value.found()));
                    self.faults.add(&item.place, fault.expected("codes of errors, such as \"42704\" or 1193"));
                }
            }
        }
        codes
    }

    fn replace(&mut self, section: &mut Section) -> PerEngine<BTreeMap<String, String>> {
        section.per_engine("replace", &self.choices.engines, self.faults, |raw, faults| {
            let Raw::Table(entries) = raw.value else {
                let fault = Fault::error("`replace` gives each word its replacement");
                faults.add(&raw.place, fault.expected("{ utf8mb4_0900_ai_ci = \"utf8mb4_unicode_520_ci\" }"));
                return None;
            };
            let by_word = entries.into_iter().filter_map(|(word, by)| {
                let by = one_text(&word.value, &by, faults)?;
                Some((word.value, by))
            });
            Some(by_word.collect())
        })
    }

    /// `[data.only.NAME]`.
    fn only(&mut self, section: &mut Section) -> BTreeMap<String, PerEngine<Vec<InputFile>>> {
        let Some(mut only) = section.section("only", "`data.only`", self.faults) else { return BTreeMap::new() };
        let mut files = BTreeMap::new();
        for (name, raw) in only.all() {
            let Some(engines) = self.engines_of_build(&name) else { continue };
            let Raw::Table(entries) = raw.value else {
                let fault = Fault::error(format!("`data.only.{}` is no table", name.value));
                self.faults.add(&raw.place, fault.expected("{ schema = [\"drop-index.sql\"] }"));
                continue;
            };
            let mut section = Section::new("`data.only`", raw.place, entries);
            let errors = self.faults.errors();
            section.needs("schema", self.faults);
            let found = self.files_of(&mut section, "schema", &engines);
            if found.is_empty() && self.faults.errors() == errors {
                self.no_file_for(&engines, &format!("data.only.{}", name.value), "schema", &section.place);
            }
            section.end(self.faults);
            files.insert(name.value, found);
        }
        files
    }

    /// The engines of the builds that may have a name. Where none has it there is a note: a workload file may serve
    /// several campaigns.
    fn engines_of_build(&mut self, name: &Spanned<String>) -> Option<BTreeSet<Engine>> {
        // A treatment's name begins with that of its build.
        let build = name.value.split('.').next().unwrap_or_default();
        let builds = &self.choices.builds;
        let may_have_it = |known: &Option<String>| known.as_ref().is_none_or(|known| known == build);
        let engines: BTreeSet<Engine> =
            builds.iter().filter(|(known, _)| may_have_it(known)).map(|(_, engine)| *engine).collect();
        if !engines.is_empty() {
            return Some(engines);
        }
        let fault = Fault::note(format!("`data.only.{}` is for no build of this campaign", name.value));
        let names: Vec<&str> = builds.iter().filter_map(|(name, _)| name.as_deref()).collect();
        self.faults.add(&name.place, fault.help(format!("its builds are {}", names.join(", "))));
        None
    }

    fn table(&mut self, mut section: Section) -> Option<OwnTable> {
        for key in ["name", "rows", "columns"] {
            section.needs(key, self.faults);
        }
        let name = section.text("name", self.faults);
        let rows = section.whole("rows", self.faults);
        let columns = section.section("columns", "`columns`", self.faults);
        if let Some(rows) = rows.as_ref().filter(|rows| rows.value > ROWS_MAX) {
            let fault = Fault::error(format!("{} rows are more than can be drawn", rows.value));
            self.faults.add(&rows.place, fault.expected(format!("at most {ROWS_MAX}")));
        }
        section.end(self.faults);
        let columns = columns?.all().into_iter().filter_map(|(name, raw)| Some((name.value, self.drawn(&raw)?)));
        Some(OwnTable { columns: columns.collect(), name: name?.value, rows: rows?.value })
    }
}
