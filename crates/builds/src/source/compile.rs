//! Compiling: the steps of a recipe, one after the other, in a copy of the source.
//!
//! In: a folder of ours with the source in it, a recipe and a flavour. Out: an installation below the stage, and a log
//! with all that was said. Steps run without rights, in the lease of this rqps, and end with it. It must not write
//! outside its folder, but for ccache's own.

use super::ccache::Ccache;
use super::pace::Meter;
use super::recipe::{Flavour, Pace, Places, Recipe};
use super::{needs, tree};
use crate::{BuildError, Result};
use rqps_machine::command::{self, OnParentDeath};
use rqps_machine::proctree::ProcessId;
use rqps_machine::{Account, Lease};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

/// Lines of the log that an error carries: those that name errors with the last ones after them, else the last ones.
const ERRORS_TOLD: usize = 4;
const AFTER_ERRORS_TOLD: usize = 2;
const LAST_TOLD: usize = 6;

/// How often the time that is left is told.
const TOLD_EVERY: Duration = Duration::from_secs(30);

/// What is compiled, and where.
pub struct Compilation<'a> {
    /// Its steps.
    pub recipe: &'a Recipe,
    /// Its flags.
    pub flavour: &'a Flavour,
    /// Commands at a time.
    pub jobs: usize,
    /// What notes the programs that run.
    pub lease: &'a Lease,
    /// A folder of ours in which all happens; it is in the lease.
    pub folder: PathBuf,
    /// What is said meanwhile.
    pub log: PathBuf,
}

/// One command of a build.
struct BuildCommand<'a> {
    name: &'a str,
    words: Vec<String>,
    /// The patch that it applies.
    input: Option<&'a Path>,
    pace: Option<&'a Pace>,
}

/// How far compiling is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepProgress<'a> {
    /// The step's number.
    pub step: usize,
    /// How many there are.
    pub steps: usize,
    /// What the step does, in a word.
    pub name: &'a str,
    /// How long the step will still take, where that is known.
    pub left: Option<Duration>,
}

impl Compilation<'_> {
    /// The copy of the source.
    pub fn tree(&self) -> PathBuf {
        self.folder.join("tree")
    }

    fn stage(&self) -> PathBuf {
        self.folder.join("stage")
    }

    /// Applies the patches and runs all steps; `progress` hears of each as it begins, and of long ones how long they
    /// will take. Returns the installation folder, which is ours then.
    pub fn run(&self, patches: &[PathBuf], progress: &mut dyn FnMut(StepProgress<'_>)) -> Result<PathBuf> {
        let account = Account::choose();
        for name in ["stage", "temporary"] {
            account.private_folder(&self.folder.join(name))?;
        }
        if account.differs_from_us() {
            tree::give(&self.tree(), account)?;
        }
        let compilers = self.recipe.compilers(self.flavour);
        let (tools, native) = (self.folder.join("tools"), needs::native_facts(self.recipe, self.flavour)?);
        let ccache = Ccache::install(tools, &compilers, self.lease.cache().root(), account, native.as_deref())?;
        let words = [needs::PATCH, "-p1", "--batch", "--forward"].map(str::to_owned).to_vec();
        let patching = patches.iter().map(|file| BuildCommand {
            name: "patch",
            words: words.clone(),
            input: Some(file),
            pace: None,
        });
        // As compilers see it: where there are links on the way to it, they name files by the path without.
        let tree = fs::canonicalize(self.tree()).map_err(BuildError::at("find", &self.tree()))?;
        let (tree_word, stage_word) = (tree.display().to_string(), self.stage().display().to_string());
        let places = Places { tree: &tree_word, stage: &stage_word, jobs: self.jobs };
        let steps = self.recipe.steps.iter().map(|step| {
            let words = step.command(self.recipe, self.flavour, places);
            BuildCommand { name: &step.name, words, input: None, pace: step.pace.as_ref() }
        });
        let commands: Vec<BuildCommand<'_>> = patching.chain(steps).collect();
        for (at, build_command) in (1..).zip(&commands) {
            let at_step = StepProgress { step: at, steps: commands.len(), name: build_command.name, left: None };
            progress(at_step);
            self.execute(build_command, &tree, account, ccache.as_ref(), &mut |left| {
                progress(StepProgress { left: Some(left), ..at_step })
            })?;
        }
        let installed = self.stage().join(&self.recipe.prefix);
        if account.differs_from_us() {
            // What runs as a server later must not be able to change its own programs.
            tree::give(&installed, Account::own())?;
        }
        tree::open_to_all(&installed)?;
        Ok(installed)
    }

    fn execute(
        &self,
        build_command: &BuildCommand<'_>,
        tree: &Path,
        account: Account,
        ccache: Option<&Ccache>,
        tell_left: &mut dyn FnMut(Duration),
    ) -> Result<()> {
        let path = match build_command.words[0].strip_prefix("./") {
            Some(inside) => tree.join(inside),
            None => needs::find(&build_command.words[0]).unwrap_or_else(|| build_command.words[0].clone().into()),
        };
        let program = fs::canonicalize(&path).map_err(BuildError::at("find", &path))?;
        let mut log = self.open_log()?;
        let said = BuildError::at("write", &self.log);
        writeln!(log, "# {}: {}", build_command.name, build_command.words.join(" ")).map_err(said)?;
        let mut command = command::program(account, OnParentDeath::Terminate, &path);
        command.args(&build_command.words[1..]).current_dir(tree).envs(&self.recipe.environment);
        command.env("TMPDIR", self.folder.join("temporary"));
        if let Some(ccache) = ccache {
            ccache.offer_to(&mut command, tree);
        }
        if let Some(input) = build_command.input {
            command.stdin(File::open(input).map_err(BuildError::at("open", input))?);
        }
        let both = log.try_clone().map_err(BuildError::at("open", &self.log))?;
        command.stdout(Stdio::from(log)).stderr(Stdio::from(both));
        let meter = build_command.pace.map(|pace| Meter::begin(pace, tree, &self.log)).transpose()?;
        self.lease.add_program(tree, &program)?;
        let ended = command.spawn().and_then(|mut child| {
            // Should it have ended already, there is nothing to note.
            let process = ProcessId::of(child.id());
            let noted = process.map(|process| self.lease.set_process(tree, process));
            while process.is_some_and(|process| !process.ends_within(TOLD_EVERY)) {
                meter.as_ref().and_then(Meter::left).into_iter().for_each(&mut *tell_left);
            }
            let ended = child.wait()?;
            noted.transpose().map_err(std::io::Error::other)?;
            Ok(ended)
        });
        self.lease.remove_program(tree)?;
        let ended = ended.map_err(BuildError::at("run", &path))?;
        if ended.success() { Ok(()) } else { Err(self.failed(build_command, &ended.to_string())) }
    }

    fn open_log(&self) -> Result<File> {
        let log = File::options().create(true).append(true).open(&self.log);
        log.map_err(BuildError::at("open", &self.log))
    }

    fn failed(&self, build_command: &BuildCommand<'_>, status: &str) -> BuildError {
        let log = fs::read(&self.log).unwrap_or_default();
        let output = explaining_lines(&String::from_utf8_lossy(&log)).join("\n    ");
        let what = match build_command.input {
            Some(patch) => {
                // Its folder is ours.
                let name = patch.file_name().unwrap_or_default().to_string_lossy();
                format!("the patch {name} does not apply to the source")
            }
            None => format!("the source could not be compiled: step `{}` failed ({status})", build_command.name),
        };
        BuildError::NotCompiled { what, output, log: Some(self.log.clone()) }
    }
}

/// The lines of the last step that explain its end: with several commands at a time, the error is not the last line.
pub(super) fn explaining_lines(log: &str) -> Vec<String> {
    let all: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
    let begin = all.iter().rposition(|line| line.starts_with("# ")).map_or(0, |at| at + 1);
    let is_error = |line: &&&str| line.contains("error:") || line.contains("undefined reference");
    // Where `make` is says nothing of why it failed.
    let is_folder = |line: &&&str| line.contains("Leaving directory") || line.contains("Entering directory");
    let said: Vec<&str> = all[begin..].iter().filter(|line| !is_folder(line)).copied().collect();
    let (before, after, told) = match said.iter().rposition(|line| is_error(&line)) {
        Some(at) => (&said[..=at], &said[at + 1..], AFTER_ERRORS_TOLD),
        None => (&said[..0], &said[..], LAST_TOLD),
    };
    let last = &after[after.len().saturating_sub(told)..];
    before.iter().filter(is_error).take(ERRORS_TOLD).chain(last).map(|line| (*line).to_owned()).collect()
}
