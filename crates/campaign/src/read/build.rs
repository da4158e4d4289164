//! Builds: `[NAME=]ENGINE:VERSION|/FOLDER`, or a table that says more about one of them.

use super::{BuildRequest, BuildSpec, Engine, Fault, Raw, Read, Reader, Stated, Wrong, did_you_mean};
use rqps_model::build::InvalidBuildSpec;

/// The keys of a build that is written as a table.
const BUILD_KEYS: [&str; 4] = ["name", "from", "profile", "set"];

impl Reader<'_> {
    pub(super) fn builds(&mut self, raw: Stated<Raw>) -> Read<Vec<BuildRequest>> {
        let items = self.items(raw)?;
        let builds: Vec<Read<BuildRequest>> = items.into_iter().map(|item| self.build(item)).collect();
        let builds = builds.into_iter().collect::<Read<Vec<BuildRequest>>>()?;
        let mut distinct = Ok(());
        for (at, build) in builds.iter().enumerate() {
            if let Some(name) = &build.spec.value.name
                && builds[..at].iter().any(|other| other.spec.value.name.as_ref() == Some(name))
            {
                let fault = Fault::error(format!("two builds are named `{name}`"));
                self.faults.add(&build.spec.place, fault.help("give each its own name, or leave the names out"));
                distinct = Err(Wrong);
            }
        }
        distinct.map(|()| builds)
    }

    fn build(&mut self, item: Stated<Raw>) -> Read<BuildRequest> {
        match item.value {
            Raw::Table(ref entries) => self.build_table(&item, entries),
            _ => {
                let spec = Stated::new(self.spec(&item)?, item.place);
                Ok(BuildRequest { spec, profile: None, set: Vec::new() })
            }
        }
    }

    fn build_table(&mut self, item: &Stated<Raw>, entries: &[(Stated<String>, Stated<Raw>)]) -> Read<BuildRequest> {
        let (mut name, mut from, mut profile, mut set) = (Ok(None), Ok(None), Ok(None), Ok(Vec::new()));
        let mut known = Ok(());
        for (key, value) in entries {
            match key.value.as_str() {
                "name" => name = self.plain_name(value).map(Some),
                "from" => from = self.spec(value).map(|spec| Some(Stated::new(spec, value.place.clone()))),
                "profile" => {
                    profile = self.words(value.clone()).map(|words| Some(Stated::new(words, value.place.clone())));
                }
                "set" => set = self.settings(value.clone()),
                other => {
                    let fault = Fault::error(format!("unknown key `{other}` of a build"))
                        .expected(BUILD_KEYS.join(", "))
                        .help_if(did_you_mean(other, BUILD_KEYS));
                    self.faults.add(&key.place, fault);
                    known = Err(Wrong);
                }
            }
        }
        let (name, from, profile, set) = (name?, from?, profile?, set?);
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
        Ok(BuildRequest { spec, profile, set })
    }

    fn spec(&mut self, raw: &Stated<Raw>) -> Read<BuildSpec> {
        let (Raw::Word(text) | Raw::Text(text)) = &raw.value else {
            return self.wrong_type(raw, "a build, such as \"postgres:17.11\"");
        };
        text.trim().parse().or_else(|error| {
            let fault = match &error {
                InvalidBuildSpec::NoEngine(text) => {
                    let release = text.parse::<rqps_model::Version>().is_ok();
                    let engine = Engine::ALL[0];
                    let help = (release || text.starts_with('/')).then(|| format!("did you mean `{engine}:{text}`?"));
                    Fault::error(format!("`{text}` names no engine"))
                        .expected("ENGINE:VERSION or ENGINE:/FOLDER")
                        .help_if(help)
                }
                InvalidBuildSpec::Engine(unknown) => {
                    let engines = Engine::ALL.map(Engine::name);
                    Fault::error(format!("unknown engine `{}`", unknown.0))
                        .expected(engines.join(" or "))
                        .help_if(did_you_mean(&unknown.0, engines))
                }
                InvalidBuildSpec::Version(invalid) => Fault::error(format!("`{}` is not a version", invalid.0))
                    .expected("numbers such as 17.11 or 19beta1, or a folder such as /usr/lib/postgresql/17"),
                InvalidBuildSpec::Name(name) => Fault::error(format!("`{name}` cannot name a build"))
                    .expected("letters, digits, `.`, `_` and `-`, first a letter or digit, at most 64 in all"),
            };
            self.refuse(raw, fault)
        })
    }
}
