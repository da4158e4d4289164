//! Builds that are compiled here: found by what they were made of, or made.
//!
//! In: a source as asked for. Out: the build's facts. What identifies a build is the content of its source and patches,
//! the recipe, the flavour's flags and the compiler. All happens in a folder of the lease; the build appears by one
//! rename at the end.

use super::installed::{Found, Installer, check_program};
use super::make::{Known, Making};
use super::progress::Progress;
use super::record::{INSTALL, placed, search};
use crate::source::compile::{Compilation, StepProgress};
use crate::source::content::{Content, absolute, known_id};
use crate::source::recipe::{Flavour, Recipe};
use crate::source::{git, needs, tree};
use crate::unpack::Contents;
use crate::{BuildError, Catalog, Result, verify};
use rqps_machine::{Account, Cache, Lease};
use rqps_model::Engine;
use rqps_model::build::{BuildSource, BuildSpec, SourcePlace, SourceSpec};
use rqps_model::facts::BuildFacts;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// The folder of the cache in which sources are compiled.
const WORKSHOP: &str = "compiling";

/// The folder of the cache that has the logs of what did not compile.
const LOGS: &str = "logs";

/// What was said while a build was compiled, next to it.
const LOG: &str = "build.log";

/// Digits of the key that distinguish builds of one version and flavour.
const KEY_DIGITS: usize = 8;

/// The digest of all that decides what comes out.
struct Key(String);

impl Key {
    fn of(id: &str, patches: &[PathBuf], recipe: &Recipe, flavour: &Flavour) -> Result<Key> {
        let compilers = recipe.compilers(flavour);
        if compilers.iter().any(|compiler| needs::find(compiler).is_none()) {
            needs::check(recipe, flavour, patches)?;
        }
        check_patches(patches)?;
        let mut text = format!("{id}\n");
        for patch in patches {
            text.push_str(&format!("patch {}\n", verify::sha256_file(patch)?));
        }
        let steps = serde_json::to_string(recipe).expect("a recipe has only text keys");
        let variables = serde_json::to_string(&flavour.variables).expect("text");
        let arguments = flavour.arguments.join("\n");
        let facts: Vec<String> = compilers.into_iter().map(needs::compiler_facts).collect::<Result<_>>()?;
        text.push_str(&format!("{steps}\n{variables}\n{arguments}\n{}\n", facts.join("\n")));
        text.extend(needs::native_facts(recipe, flavour)?);
        Ok(Key(verify::sha256_bytes(text.as_bytes())))
    }

    fn find(&self, cache: &Cache) -> Option<BuildFacts> {
        let found = search(cache, |record, folder| record.holds(&self.0, folder));
        found.map(|(folder, record)| placed(record.facts, &folder))
    }
}

/// The installed build of a source, if it is here: nothing is fetched or compiled. A source whose content only fetching
/// would tell is not found.
pub fn find_source(engine: Engine, spec: &SourceSpec, catalog: &Catalog, cache: &Cache) -> Result<Option<BuildFacts>> {
    Ok(key_of(engine, spec, catalog, cache)?.and_then(|key| key.find(cache)))
}

/// The digest of all that a source would be compiled of, as the facts of its build have it, unless only fetching would
/// tell.
pub fn source_digest(engine: Engine, spec: &SourceSpec, catalog: &Catalog, cache: &Cache) -> Result<Option<String>> {
    Ok(key_of(engine, spec, catalog, cache)?.map(|key| key.0))
}

fn key_of(engine: Engine, spec: &SourceSpec, catalog: &Catalog, cache: &Cache) -> Result<Option<Key>> {
    let recipe = catalog.recipes().recipe(engine);
    let flavour = catalog.recipes().flavour(engine, spec.flavour.as_deref())?;
    let lease = Lease::open(cache)?;
    let folder = lease.folder(&workshop(cache)?, "look", 0o711)?;
    let id = match known_id(spec, catalog, recipe)? {
        None if Content::is_fetched(spec) => return Ok(None),
        None => Content::of(spec, catalog, recipe, folder.path())?.id,
        Some(id) => id,
    };
    Key::of(&id, &spec.patches, recipe, flavour).map(Some)
}

/// Refuses a source that cannot be compiled here, as far as that is known without fetching it: minutes of compiling
/// another one should not come first.
pub fn check_source(engine: Engine, spec: &SourceSpec, catalog: &Catalog, cache: &Cache) -> Result<()> {
    if find_source(engine, spec, catalog, cache)?.is_some() {
        return Ok(());
    }
    let recipe = catalog.recipes().recipe(engine);
    let flavour = catalog.recipes().flavour(engine, spec.flavour.as_deref())?;
    if known_id(spec, catalog, recipe)?.is_some() || !Content::is_fetched(spec) {
        return check(recipe, flavour, &spec.patches, cache);
    }
    if let SourcePlace::Repository(url) = &spec.place {
        git::check_address(url, spec.revision.as_deref())?;
    }
    check_unfetched(spec, recipe, flavour, cache)
}

/// Refuses a machine that lacks programs, headers or room on the disk, and a cache that steps and servers cannot enter.
fn check(recipe: &Recipe, flavour: &Flavour, patches: &[PathBuf], cache: &Cache) -> Result<()> {
    needs::check(recipe, flavour, patches)?;
    Account::choose().check_can_enter(cache.root(), "RQPS_CACHE")?;
    needs::check_room(recipe, cache.root())
}

/// The same for a source whose content only fetching would tell: if it is compiled already, nothing is needed for it.
fn check_unfetched(spec: &SourceSpec, recipe: &Recipe, flavour: &Flavour, cache: &Cache) -> Result<()> {
    check_patches(&spec.patches)?;
    if is_compiled(spec, recipe.engine, flavour, cache) {
        return Ok(());
    }
    check(recipe, flavour, &spec.patches, cache)
}

fn check_patches(patches: &[PathBuf]) -> Result<()> {
    let check = |patch: &PathBuf| File::open(patch).map(drop).map_err(BuildError::at("read the patch", patch));
    patches.iter().try_for_each(check)
}

/// Whether a build was compiled from this place, flavour and patches, of whatever revision.
fn is_compiled(spec: &SourceSpec, engine: Engine, flavour: &Flavour, cache: &Cache) -> bool {
    let unrevised = |spec: SourceSpec| SourceSpec { revision: None, ..spec }.to_string();
    let wanted = unrevised(SourceSpec { flavour: Some(flavour.name.clone()), ..absolute(spec) });
    let is_of_it = |facts: &BuildFacts| match format!("{}:{}", facts.engine, facts.origin).parse() {
        Ok(BuildSpec { source: BuildSource::Source(origin), .. }) => {
            facts.engine == engine && unrevised(origin) == wanted
        }
        _ => false,
    };
    search(cache, |record, _| is_of_it(&record.facts)).is_some()
}

/// The build that was compiled of what this digest says, as the facts of a build have it: also when the source is
/// another by now.
pub fn find_compiled(cache: &Cache, sha256: &str) -> Result<Option<BuildFacts>> {
    let found = Key(sha256.to_owned()).find(cache);
    found.map(|facts| check_program(cache, &facts).map(|()| facts)).transpose()
}

/// Compiles a source, or finds its build.
pub(super) fn install(
    mut installer: Installer<'_>,
    engine: Engine,
    spec: &SourceSpec,
    catalog: &Catalog,
) -> Result<BuildFacts> {
    let cache = installer.cache;
    let recipe = catalog.recipes().recipe(engine);
    let flavour = catalog.recipes().flavour(engine, spec.flavour.as_deref())?;
    if let Some(id) = known_id(spec, catalog, recipe)? {
        let key = Key::of(&id, &spec.patches, recipe, flavour)?;
        if let Some(facts) = key.find(cache).filter(|facts| installer.holds(facts)) {
            return Ok(facts);
        }
        // Before hundreds of megabytes are fetched.
        check(recipe, flavour, &spec.patches, cache)?;
    } else if Content::is_fetched(spec) {
        check_unfetched(spec, recipe, flavour, cache)?;
    }
    let lease = Lease::open(cache)?;
    let folder = lease.folder(&workshop(cache)?, "source", 0o711)?;
    let own = folder.path().join("fetched");
    fs::create_dir(&own).map_err(BuildError::at("create", &own))?;
    if Content::is_fetched(spec) {
        let coordinate = match &spec.place {
            SourcePlace::Release(version) => catalog.find_source(engine, version)?.to_string(),
            place => place.to_string(),
        };
        (installer.progress)(Progress::Fetching { coordinate });
    }
    let content = Content::of(spec, catalog, recipe, &own).map_err(|error| error.on_disk_of(cache.root()))?;
    let patches = copy_patches(&spec.patches, folder.path())?;
    let key = Key::of(&content.id, &patches, recipe, flavour)?;
    let origin = SourceSpec { flavour: Some(flavour.name.clone()), ..content.spec.clone() }.to_string();
    let order = Order { key, origin, about: content.about.clone(), patches };
    if let Some(facts) = order.key.find(cache).filter(|facts| installer.holds(facts)) {
        return Ok(order.named(facts));
    }
    let compilation = Compilation {
        recipe,
        flavour,
        jobs: installer.jobs,
        lease: &lease,
        folder: folder.path().to_owned(),
        log: folder.path().join(LOG),
    };
    // Before another rqps is waited for: meanwhile the user may go on with his files.
    content.write(recipe, &own, &compilation.tree()).map_err(|error| error.on_disk_of(cache.root()))?;
    compile(installer, &compilation, &order)
}

/// How the build of a source that was copied will be known, and what is still to be done to the copy.
struct Order {
    key: Key,
    origin: String,
    /// What the origin does not say.
    about: String,
    /// Copies of ours.
    patches: Vec<PathBuf>,
}

impl Order {
    /// A build that is there already: what it was compiled from may have had another name then.
    fn named(&self, facts: BuildFacts) -> BuildFacts {
        BuildFacts { origin: self.origin.clone(), source: self.about.clone(), ..facts }
    }
}

/// Compiles and publishes, unless another rqps has done so meanwhile.
fn compile(mut installer: Installer<'_>, compilation: &Compilation<'_>, order: &Order) -> Result<BuildFacts> {
    let (cache, key) = (installer.cache, &order.key);
    let Compilation { recipe, flavour, .. } = *compilation;
    let _turn = match installer.wait_or(Cache::lock_compiling, || Ok(key.find(cache)))? {
        Found::Here(facts) => return Ok(order.named(*facts)),
        Found::Missing(turn) => turn,
    };
    check(recipe, flavour, &order.patches, cache)?;
    let progress = installer.progress;
    if !order.about.is_empty() {
        progress(Progress::Source { about: order.about.clone() });
    }
    let installed = compilation
        .run(&order.patches, &mut |StepProgress { step, steps, name, left }| {
            let (name, flavour) = (name.to_owned(), flavour.name.clone());
            progress(Progress::Compiling { step, steps, name, flavour, left });
        })
        .map_err(|error| keep_log(error.on_disk_of(cache.root()), cache, key))?;
    let lock = cache.lock(&mut || progress(Progress::Waiting))?;
    let part = cache.part(&lock, &flavour.name)?;
    for (from, to) in [(installed.as_path(), INSTALL), (compilation.log.as_path(), LOG)] {
        fs::rename(from, part.path().join(to)).map_err(BuildError::at("move", from))?;
    }
    let contents = Contents::default();
    let known = Known {
        engine: recipe.engine,
        origin: &order.origin,
        label: &flavour.name,
        sha256: &key.0,
        contents: &contents,
        library_folders: &[],
        loader: None,
    };
    let making = Making { cache, lock: &lock, part, known };
    let mut facts = making.inspect(progress)?;
    facts.name = format!("{}_{}", facts.name, &key.0[..KEY_DIGITS]);
    facts.source.clone_from(&order.about);
    if facts.configure.is_empty() {
        facts.configure = recipe.options(flavour);
    }
    making.publish(facts, progress)
}

/// Copies patches into a folder of ours, where nobody changes them any more; they keep their names.
fn copy_patches(patches: &[PathBuf], folder: &Path) -> Result<Vec<PathBuf>> {
    let copy = |(number, patch): (usize, &PathBuf)| {
        let place = folder.join(format!("patch-{number}"));
        fs::create_dir(&place).map_err(BuildError::at("create", &place))?;
        let copy = place.join(patch.file_name().unwrap_or_default());
        fs::copy(patch, &copy).map_err(BuildError::at("read the patch", patch))?;
        Ok(copy)
    };
    (1..).zip(patches).map(copy).collect()
}

/// The folder in which sources are compiled, which the account of steps can enter whatever our umask is.
fn workshop(cache: &Cache) -> Result<PathBuf> {
    let folder = cache.root().join(WORKSHOP);
    if !folder.is_dir() {
        fs::create_dir_all(&folder).map_err(BuildError::at("create", &folder))?;
        tree::open_to_all(&folder)?;
    }
    Ok(folder)
}

/// Keeps the log of what did not compile, and says where it is.
fn keep_log(error: BuildError, cache: &Cache, key: &Key) -> BuildError {
    match error {
        BuildError::NotCompiled { what, output, log: Some(log) } => {
            let kept = cache.root().join(LOGS).join(format!("{}.log", &key.0[..KEY_DIGITS]));
            let log = copy(&log, &kept).then_some(kept);
            BuildError::NotCompiled { what, output, log }
        }
        error => error,
    }
}

/// A log that cannot be kept must not hide why it would have been needed.
fn copy(from: &Path, to: &Path) -> bool {
    to.parent().is_some_and(|folder| fs::create_dir_all(folder).is_ok()) && fs::copy(from, to).is_ok()
}

#[cfg(test)]
mod tests;
