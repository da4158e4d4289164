//! Builds: `[NAME=]ENGINE:VERSION|/FOLDER|/ARCHIVE|URL|src:SOURCE`, a short form such as `my8033`, or a table that says
//! more about one of them.
//!
//! What can be read of a list is kept even if the rest cannot, so that all its faults are told at once.

use super::{BuildRequest, BuildSpec, Engine, Fault, Raw, Read, Reader, Spanned, Wrong, did_you_mean};
use crate::engine::likely_engine;
use rqps_model::build::{InvalidBuildSpec, is_archive};

/// The keys of a build that is written as a table.
const BUILD_KEYS: [&str; 5] = ["name", "from", "profile", "storage-engine", "set"];

impl Reader<'_> {
    /// The builds that could be read.
    pub(crate) fn builds(&mut self, raw: Spanned<Raw>) -> Read<Vec<BuildRequest>> {
        let items = self.items(raw)?;
        let builds: Vec<BuildRequest> = items.into_iter().filter_map(|item| self.build(item).ok()).collect();
        for (at, build) in builds.iter().enumerate() {
            if let Some(name) = &build.spec.value.name
                && builds[..at].iter().any(|other| other.spec.value.name.as_ref() == Some(name))
            {
                let fault = Fault::error(format!("two builds are named `{name}`"));
                self.faults.add(&build.spec.place, fault.help("give each its own name, or leave the names out"));
            }
        }
        if builds.is_empty() { Err(Wrong) } else { Ok(builds) }
    }

    fn build(&mut self, item: Spanned<Raw>) -> Read<BuildRequest> {
        match item.value {
            Raw::Table(ref entries) => self.build_table(&item, entries),
            _ => {
                let spec = Spanned::new(self.spec(&item)?, item.place);
                Ok(BuildRequest { spec, profile: None, storage: None, set: Vec::new() })
            }
        }
    }

    fn build_table(&mut self, item: &Spanned<Raw>, entries: &[(Spanned<String>, Spanned<Raw>)]) -> Read<BuildRequest> {
        let errors = self.faults.errors();
        let (mut name, mut from, mut profile, mut storage, mut set) = (None, None, None, None, Vec::new());
        for (key, value) in entries {
            let place = || value.place.clone();
            match key.value.as_str() {
                "name" => name = self.plain_name(value).ok(),
                "from" => from = self.spec(value).ok().map(|spec| Spanned::new(spec, place())),
                "profile" => profile = self.words(value.clone()).ok().map(|words| Spanned::new(words, place())),
                "storage-engine" => {
                    storage = self.storage_engines(value.clone()).ok().map(|engines| Spanned::new(engines, place()));
                }
                "set" => set = self.settings(value.clone()).unwrap_or_default(),
                other => {
                    let fault = Fault::error(format!("unknown key `{other}` of a build"))
                        .expected(BUILD_KEYS.join(", "))
                        .help_if(did_you_mean(other, BUILD_KEYS));
                    self.faults.add(&key.place, fault);
                }
            }
        }
        if self.faults.errors() > errors {
            return Err(Wrong);
        }
        let Some(mut spec) = from else {
            let fault =
                Fault::error("a build without `from`").expected("from = \"ENGINE:VERSION\" or \"ENGINE:/FOLDER\"");
            return self.refuse(item, fault);
        };
        if let Some(name) = name {
            if let Some(other) = spec.value.name.filter(|other| *other != name) {
                let fault = Fault::error(format!("this build is named twice, `{name}` and `{other}`"));
                return self.refuse(item, fault.help(format!("leave `{other}=` out of `from`")));
            }
            spec.value.name = Some(name);
        }
        Ok(BuildRequest { spec, profile, storage, set })
    }

    fn spec(&mut self, raw: &Spanned<Raw>) -> Read<BuildSpec> {
        let (Raw::Word(text) | Raw::Text(text)) = &raw.value else {
            return self.wrong_type(raw, "a build, such as \"postgres:17.11\"");
        };
        let text = text.trim();
        text.parse().or_else(|error| self.refuse(raw, spec_fault(text, &error)))
    }
}

/// What to tell about a word that is no build.
fn spec_fault(text: &str, error: &InvalidBuildSpec) -> Fault {
    match error {
        InvalidBuildSpec::NoEngine(text) => match named_engine(text) {
            Some(engine) => Fault::error(format!("`{text}` names no version"))
                .expected(format!("{engine}:VERSION, {engine}:/FOLDER or {engine}:/ARCHIVE"))
                .help("`rqps builds list` shows the versions that there are"),
            None => {
                let several = text.contains(',').then(|| "one build at a time: repeat --build".to_owned());
                let meant = || likely_build(text).map(|build| format!("did you mean `{build}`?"));
                Fault::error(format!("`{text}` names no engine"))
                    .expected("ENGINE:VERSION, ENGINE:/FOLDER, ENGINE:/ARCHIVE, or a short form such as my8033")
                    .help_if(several.or_else(meant))
            }
        },
        InvalidBuildSpec::Engine(unknown) => {
            let engines = Engine::ALL.map(Engine::name);
            Fault::error(format!("unknown engine `{}`", unknown))
                .expected(format!("one of {}", engines.join(", ")))
                .help_if(did_you_mean(unknown, engines))
        }
        InvalidBuildSpec::Version(invalid) if is_archive(&invalid.0) => {
            Fault::error(format!("`{}` is not a version", invalid.0)).help(format!(
                "an archive in this folder is written with a slash: `{}`",
                text.replacen(&format!(":{}", invalid.0), &format!(":./{}", invalid.0), 1)
            ))
        }
        InvalidBuildSpec::Version(invalid) => {
            Fault::error(format!("`{}` is not a version", invalid.0)).expected(
                "numbers such as 17.11, 8.0.33 or 19beta1, or a folder or archive with a slash, such as /usr/lib/postgresql/17",
            )
        }
        InvalidBuildSpec::Digest(digest) => {
            Fault::error(format!("`{digest}` is not a SHA-256")).expected("64 hexadecimal digits")
        }
        InvalidBuildSpec::Source(error) => Fault::error(error.to_string()).help(
            "such as postgres:src:. for a tree with its changes, postgres:src:.@merge-base for what it branched from, \
             postgres:src:15.18 for a version, each with +FLAVOUR at the end if you like",
        ),
        InvalidBuildSpec::Name(name) => Fault::error(format!("`{name}` cannot name a build"))
            .expected("letters, digits, `.`, `_` and `-`, first a letter or digit, at most 64 in all"),
    }
}

/// The engine that a word names as engine, maker or short form do.
fn named_engine(text: &str) -> Option<Engine> {
    let names = |engine: &Engine| [engine.name(), engine.title(), engine.prefix()];
    Engine::ALL.into_iter().find(|engine| names(engine).iter().any(|name| name.eq_ignore_ascii_case(text)))
}

/// The build that is meant by a word without an engine, or by a build's name such as `pg1711_zonky`.
fn likely_build(text: &str) -> Option<String> {
    let named = text.split_once('_').and_then(|(short, _)| short.parse::<BuildSpec>().ok());
    named.map(|spec| spec.to_string()).or_else(|| likely_engine(text).map(|engine| format!("{engine}:{text}")))
}
