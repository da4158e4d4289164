//! ccache, where it is installed: what compilers made of the same text before is not made again.
//!
//! In: the compilers of a recipe and a folder of ours. Out: a folder with a script for each compiler, which calls it
//! through ccache. It must not change what a compiler makes, nor the flags that a build records.

use super::needs;
use crate::unpack::make_open_folder;
use crate::verify::sha256_bytes;
use crate::{BuildError, Result};
use rqps_machine::Account;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const CCACHE: &str = "ccache";

/// Compilers that are called through ccache.
pub(super) struct Ccache {
    /// The folder of the scripts.
    tools: PathBuf,
    /// What ccache keeps.
    kept: PathBuf,
    /// Digest of what decides what comes out, and is neither in the text nor in the flags.
    namespace: Option<String>,
}

impl Ccache {
    /// Scripts for these compilers in a new folder, in front of what is kept in the folder of the cache; none where
    /// ccache is not installed. A compiler that is named by its path is left alone. What was made for one CPU by flags
    /// that do not name it (`native`) is not taken for another.
    pub(super) fn install(
        tools: PathBuf,
        compilers: &[&str],
        cache: &Path,
        account: Account,
        native: Option<&str>,
    ) -> Result<Option<Ccache>> {
        let Some(ccache) = needs::find(CCACHE) else { return Ok(None) };
        make_open_folder(&tools)?;
        for name in compilers.iter().filter(|name| !name.contains('/')) {
            let Some(compiler) = needs::find(name) else { continue };
            let script = tools.join(name);
            fs::write(&script, script_of(&ccache, &compiler)).map_err(BuildError::at("write", &script))?;
            fs::set_permissions(&script, Permissions::from_mode(0o755))
                .map_err(BuildError::at("open to all", &script))?;
        }
        let kept = cache.join(CCACHE);
        account.private_folder(&kept)?;
        let namespace = native.map(|facts| sha256_bytes(facts.as_bytes()));
        Ok(Some(Ccache { tools, kept, namespace }))
    }

    /// Has a command that works in this tree find the scripts before the compilers. Its `TMPDIR`, which must be set,
    /// takes the lists of headers.
    pub(super) fn offer_to(&self, command: &mut Command, tree: &Path) {
        command.env("PATH", format!("{}:{}", self.tools.display(), needs::PATH));
        // The same text is the same, in whatever folder it is compiled.
        command.env("CCACHE_DIR", &self.kept).env("CCACHE_NOHASHDIR", "1").env("CCACHE_BASEDIR", tree);
        command.env("CCACHE_DEPEND", "1").envs(self.namespace.iter().map(|digest| ("CCACHE_NAMESPACE", digest)));
    }
}

/// A compiler that also says which headers it read (`-MD`). Without that ccache preprocesses whatever it does not know
/// yet a second time, which cost a fifth of a first build.
fn script_of(ccache: &Path, compiler: &Path) -> String {
    let (ccache, compiler) = (ccache.display(), compiler.display());
    format!(
        r#"#!/bin/sh
case " $* " in
*" -M"*) ;;
*" -c "*) set -- -MD -MF "$TMPDIR/$$.d" "$@" ;;
esac
exec {ccache} {compiler} "$@"
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Compiles a file that includes a header, in a tree of its own; returns the object.
    fn compile(ccache: &Ccache, place: &Path, header: &str) -> Vec<u8> {
        let tree = tempfile::tempdir_in(place).expect("a tree");
        fs::create_dir(tree.path().join("include")).expect("a folder");
        fs::write(tree.path().join("include/header.h"), header).expect("written");
        fs::write(tree.path().join("file.c"), "#include \"header.h\"\nint answer(void) { return ANSWER; }\n")
            .expect("written");
        let mut command = Command::new("sh");
        command.args(["-c", "gcc -O2 -Iinclude -c file.c -o file.o"]).current_dir(tree.path());
        command.env_clear().env("TMPDIR", place);
        ccache.offer_to(&mut command, tree.path());
        assert!(command.status().expect("a shell").success());
        let files = fs::read_dir(tree.path()).expect("a folder").count();
        assert_eq!(files, 3, "source, headers and object, and nothing besides");
        fs::read(tree.path().join("file.o")).expect("an object")
    }

    fn counted(ccache: &Ccache) -> BTreeMap<String, u64> {
        let told = Command::new(CCACHE).arg("--print-stats").env("CCACHE_DIR", &ccache.kept).output().expect("ccache");
        let told = String::from_utf8(told.stdout).expect("text");
        let lines = told.lines().filter_map(|line| line.split_once('\t'));
        lines.map(|(name, number)| (name.to_owned(), number.parse().expect("a number"))).collect()
    }

    #[test]
    fn what_is_known_is_not_compiled_again_and_a_changed_header_is() {
        let place = tempfile::tempdir().expect("a folder");
        let install = |name: &str, native| {
            let (tools, compilers) = (place.path().join(name), ["gcc", "/usr/bin/gcc"]);
            let ccache = Ccache::install(tools, &compilers, place.path(), Account::own(), native).expect("installed");
            ccache.expect("scripts/needs installs ccache")
        };
        let ccache = install("tools", None);
        let first = compile(&ccache, place.path(), "#define ANSWER 42\n");
        let again = compile(&ccache, place.path(), "#define ANSWER 42\n");
        let changed = compile(&ccache, place.path(), "#define ANSWER 43\n");
        assert_eq!(first, again);
        assert_ne!(first, changed);
        let now = counted(&ccache);
        assert_eq!((now["direct_cache_hit"], now["cache_miss"]), (1, 2), "{now:?}");
        assert_eq!(now["preprocessed_cache_miss"], 0, "nothing is preprocessed beforehand: {now:?}");
        compile(&install("native", Some("a CPU")), place.path(), "#define ANSWER 42\n");
        assert_eq!(counted(&ccache)["cache_miss"], 3, "it is not known for this CPU");
    }
}
