//! Recipes and flavours, as data: what the steps of a build are, and with which flags.
//!
//! In: the files that are compiled in and the user's own on top. Out: a [`Recipe`] of an engine, and a [`Flavour`] of
//! it by name. It must not run anything.

use crate::{BuildError, Result};
use rqps_machine::user_files::user_files;
use rqps_model::Engine;
use rqps_model::build::is_flavour;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const RECIPES: [(&str, &str); 3] = built_in!["recipes/postgres.toml", "recipes/mysql.toml", "recipes/mariadb.toml"];
const FLAVOURS: [(&str, &str); 3] = built_in!["flavours/postgres.toml", "flavours/mysql.toml", "flavours/mariadb.toml"];

/// How an engine is compiled. What is written of it as text is what decides what comes out.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// Of which engine.
    pub engine: Engine,
    /// For readers of the file.
    #[serde(skip_serializing)]
    pub about: String,
    /// What is left out of every build, unless a flavour has it.
    #[serde(default, skip_serializing)]
    pub left_out: Vec<String>,
    /// Files that every source of the engine has.
    #[serde(skip_serializing)]
    pub marks: Vec<String>,
    /// A file of a tree that was configured in place, which cannot be compiled as a copy.
    #[serde(skip_serializing)]
    pub configured: String,
    /// What undoes that.
    #[serde(skip_serializing)]
    pub undo: String,
    /// Megabytes that compiling takes on the disk of the cache.
    #[serde(default, skip_serializing)]
    pub disk_mb: u64,
    /// The folder below the stage that becomes the installation.
    pub prefix: String,
    /// How the compilers are named, one for each language.
    pub compilers: Vec<CompilerWord>,
    /// Set for every step.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// What must be on the machine.
    #[serde(rename = "need", skip_serializing)]
    pub needs: Vec<Need>,
    /// What is run, in this order.
    #[serde(rename = "step")]
    pub steps: Vec<Step>,
}

/// The variable that names a compiler, and the program where no flavour says another.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CompilerWord {
    /// Such as `CC`.
    pub variable: String,
    /// Such as `gcc`.
    pub program: String,
}

/// A program or a header that must be there.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Need {
    /// A program.
    pub program: Option<String>,
    /// A header of C.
    pub header: Option<String>,
    /// The package of Debian that has it.
    pub package: String,
}

/// One command of a recipe.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// What it does, in a word.
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// How far it is, where its output says it.
    #[serde(default, skip_serializing)]
    pub pace: Option<Pace>,
}

/// What tells how far a step is.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Pace {
    /// Lines of its output that begin with a percentage in brackets, such as `[ 45%]`.
    Percent {
        /// The shares of the step's time that are gone at equal steps of the percentage: of nine, at 10, 20 … 90 %.
        /// Empty where time goes as the percentage does.
        #[serde(default)]
        time_gone: Vec<f64>,
    },
    /// Each file that is compiled is a line of its output.
    Files {
        /// What such a line has in it.
        line: String,
        /// The folders whose files are compiled.
        folders: Vec<String>,
        /// How such a file's name ends.
        ending: String,
    },
}

/// A set of flags with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flavour {
    /// Such as `o2nofp`.
    pub name: String,
    /// What it is, in words.
    pub about: String,
    /// Variables of the recipe's first step, such as `CFLAGS` or `CMAKE_C_FLAGS`.
    pub variables: BTreeMap<String, String>,
    /// Arguments of the same step, which turn on what is left out elsewhere.
    pub arguments: Vec<String>,
    /// What must be on the machine besides what the recipe needs.
    pub needs: Vec<Need>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FlavourFile {
    engine: Engine,
    default: Option<String>,
    flavour: BTreeMap<String, FlavourEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FlavourEntry {
    about: String,
    variables: BTreeMap<String, String>,
    #[serde(default)]
    arguments: Vec<String>,
    #[serde(default, rename = "need")]
    needs: Vec<Need>,
}

/// All that is known of compiling.
#[derive(Debug, Clone, Default)]
pub struct Recipes {
    recipes: BTreeMap<Engine, Recipe>,
    flavours: BTreeMap<Engine, BTreeMap<String, Flavour>>,
    defaults: BTreeMap<Engine, String>,
}

impl Recipes {
    /// Those that are compiled in, with the user's own files on top.
    pub fn load() -> Result<Recipes> {
        let mut recipes = Recipes::built_in();
        for (path, text) in user_files("recipes")? {
            recipes.add_recipe(&path.display().to_string(), &text)?;
        }
        for (path, text) in user_files("flavours")? {
            recipes.add_flavours(&path.display().to_string(), &text)?;
        }
        Ok(recipes)
    }

    /// Those that are compiled in alone.
    pub fn built_in() -> Recipes {
        let mut recipes = Recipes::default();
        let known = "a test reads the compiled-in recipes and flavours";
        RECIPES.into_iter().for_each(|(name, text)| recipes.add_recipe(name, text).expect(known));
        FLAVOURS.into_iter().for_each(|(name, text)| recipes.add_flavours(name, text).expect(known));
        recipes
    }

    /// The recipe of an engine.
    pub fn recipe(&self, engine: Engine) -> &Recipe {
        self.recipes.get(&engine).expect("every engine has a recipe that is compiled in")
    }

    /// The flavours of an engine, by name.
    pub fn flavours(&self, engine: Engine) -> impl Iterator<Item = &Flavour> {
        self.flavours.get(&engine).into_iter().flat_map(BTreeMap::values)
    }

    /// The flavour of this name, or the usual one of the engine.
    pub fn flavour(&self, engine: Engine, name: Option<&str>) -> Result<&Flavour> {
        let name = name.or(self.defaults.get(&engine).map(String::as_str)).unwrap_or_default();
        self.flavours(engine).find(|flavour| flavour.name == name).ok_or_else(|| BuildError::UnknownFlavour {
            engine: engine.title(),
            name: name.to_owned(),
            known: self.flavours(engine).map(|flavour| flavour.name.clone()).collect(),
        })
    }

    /// Adds the recipe of a file, which takes the place of the engine's.
    pub fn add_recipe(&mut self, name: &str, text: &str) -> Result<()> {
        let malformed = |reason: String| BuildError::Malformed { file: name.to_owned(), reason };
        let recipe: Recipe = toml::from_str(text).map_err(|e| malformed(e.to_string()))?;
        if let Some(step) = recipe.steps.iter().find(|step| step.command.is_empty()) {
            return Err(malformed(format!("step `{}` has no command", step.name)));
        }
        if recipe.compilers.is_empty() {
            return Err(malformed("it names no compiler".to_owned()));
        }
        check_needs(&recipe.needs).map_err(malformed)?;
        self.recipes.insert(recipe.engine, recipe);
        Ok(())
    }

    /// Adds the flavours of a file; those of the same name are replaced.
    pub fn add_flavours(&mut self, name: &str, text: &str) -> Result<()> {
        let malformed = |reason: String| BuildError::Malformed { file: name.to_owned(), reason };
        let file: FlavourFile = toml::from_str(text).map_err(|e| malformed(e.to_string()))?;
        if let Some(wrong) = file.flavour.keys().find(|name| !is_flavour(name)) {
            let reason = format!("`{wrong}` cannot name a flavour; use letters, digits and `_`, first a letter");
            return Err(malformed(reason));
        }
        let known = self.flavours.entry(file.engine).or_default();
        for (name, FlavourEntry { about, variables, arguments, needs }) in file.flavour {
            check_needs(&needs).map_err(malformed)?;
            known.insert(name.clone(), Flavour { name, about, variables, arguments, needs });
        }
        if let Some(default) = file.default {
            if !known.contains_key(&default) {
                return Err(malformed(format!("there is no flavour `{default}` for the default")));
            }
            self.defaults.insert(file.engine, default);
        }
        Ok(())
    }
}

fn check_needs(needs: &[Need]) -> Result<(), String> {
    let wrong = needs.iter().find(|need| need.program.is_some() == need.header.is_some());
    let reason = |need: &Need| format!("the need of `{}` must be one of program and header", need.package);
    wrong.map_or(Ok(()), |need| Err(reason(need)))
}

impl Recipe {
    /// The compilers' programs under a flavour, the first of them that of C.
    pub fn compilers<'a>(&'a self, flavour: &'a Flavour) -> Vec<&'a str> {
        let program = |word: &'a CompilerWord| flavour.variables.get(&word.variable).unwrap_or(&word.program);
        self.compilers.iter().map(|word| program(word).as_str()).collect()
    }

    /// What its first step configures, as one would give it.
    pub fn options(&self, flavour: &Flavour) -> String {
        let places = Places { tree: ".", stage: "", jobs: 1 };
        let words = self.steps.first().map(|step| step.command(self, flavour, places)).unwrap_or_default();
        let options = words.into_iter().filter(|word| word.starts_with("--") || word.starts_with("-D"));
        let quoted = |word: String| if word.contains(' ') { format!("'{word}'") } else { word };
        options.map(quoted).collect::<Vec<_>>().join(" ")
    }

    /// The variables of a flavour, with the compilers among them: what is not said may be another on another machine.
    fn variables(&self, flavour: &Flavour) -> BTreeMap<String, String> {
        let usual = self.compilers.iter().map(|word| (word.variable.clone(), word.program.clone()));
        usual.chain(flavour.variables.clone()).collect()
    }
}

/// What the words of a step stand for while it runs.
#[derive(Debug, Clone, Copy)]
pub struct Places<'a> {
    /// The folder of the source, `{tree}`.
    pub tree: &'a str,
    /// The folder that is installed into, `{stage}`.
    pub stage: &'a str,
    /// Commands at a time, `{jobs}`.
    pub jobs: usize,
}

impl Step {
    /// The program and its arguments.
    pub fn command(&self, recipe: &Recipe, flavour: &Flavour, places: Places<'_>) -> Vec<String> {
        let fill = |word: &str| {
            let word = word.replace("{jobs}", &places.jobs.to_string());
            word.replace("{stage}", places.stage).replace("{tree}", places.tree)
        };
        let words = self.command.iter().flat_map(|word| match word.strip_suffix("{variables}") {
            Some(before) => {
                let variables = recipe.variables(flavour).into_iter();
                variables.map(|(name, value)| fill(&format!("{before}{name}={value}"))).collect()
            }
            None if word == "{arguments}" => flavour.arguments.clone(),
            None => vec![fill(word)],
        });
        words.collect()
    }
}
