//! Builds: `[NAME=]ENGINE:VERSION|/FOLDER|/ARCHIVE|URL`, a short form such as `my8033`, or a table that says more about
//! one of them.
//!
//! What can be read of a list is handed on even if the rest cannot, so that all its faults are told at once.

use super::{BuildRequest, BuildSpec, Engine, Fault, Raw, Read, Reader, Spanned, Wrong, did_you_mean};
use crate::engine::likely_engine;
use rqps_model::build::{ARCHIVE_ENDINGS, InvalidBuildSpec};

/// The keys of a build that is written as a table.
const BUILD_KEYS: [&str; 5] = ["name", "from", "profile", "storage-engine", "set"];

impl Reader<'_> {
    /// The builds that could be read, and whether these are all.
    pub(crate) fn builds(&mut self, raw: Spanned<Raw>) -> (Vec<BuildRequest>, Read<()>) {
        let Ok(items) = self.items(raw) else { return (Vec::new(), Err(Wrong)) };
        let (mut builds, mut all_read): (Vec<BuildRequest>, Read<()>) = (Vec::new(), Ok(()));
        for item in items {
            match self.build(item) {
                Ok(build) => builds.push(build),
                Err(Wrong) => all_read = Err(Wrong),
            }
        }
        for (at, build) in builds.iter().enumerate() {
            if let Some(name) = &build.spec.value.name
                && builds[..at].iter().any(|other| other.spec.value.name.as_ref() == Some(name))
            {
                let fault = Fault::error(format!("two builds are named `{name}`"));
                self.faults.add(&build.spec.place, fault.help("give each its own name, or leave the names out"));
                all_read = Err(Wrong);
            }
        }
        (builds, all_read)
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
        let (mut name, mut from, mut profile, mut set) = (Ok(None), Ok(None), Ok(None), Ok(Vec::new()));
        let (mut storage, mut known) = (Ok(None), Ok(()));
        for (key, value) in entries {
            match key.value.as_str() {
                "name" => name = self.plain_name(value).map(Some),
                "from" => from = self.spec(value).map(|spec| Some(Spanned::new(spec, value.place.clone()))),
                "profile" => {
                    profile = self.words(value.clone()).map(|words| Some(Spanned::new(words, value.place.clone())));
                }
                "storage-engine" => {
                    let engines = self.storage_engines(value.clone());
                    storage = engines.map(|engines| Some(Spanned::new(engines, value.place.clone())));
                }
                "set" => {
                    let (settings, all_read) = self.settings(value.clone());
                    set = all_read.map(|()| settings);
                }
                other => {
                    let fault = Fault::error(format!("unknown key `{other}` of a build"))
                        .expected(BUILD_KEYS.join(", "))
                        .help_if(did_you_mean(other, BUILD_KEYS));
                    self.faults.add(&key.place, fault);
                    known = Err(Wrong);
                }
            }
        }
        let (name, from, profile, storage, set) = (name?, from?, profile?, storage?, set?);
        known?;
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
            Fault::error(format!("unknown engine `{}`", unknown.0))
                .expected(format!("one of {}", engines.join(", ")))
                .help_if(did_you_mean(&unknown.0, engines))
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

fn is_archive(text: &str) -> bool {
    ARCHIVE_ENDINGS.iter().any(|ending| text.ends_with(ending))
}
