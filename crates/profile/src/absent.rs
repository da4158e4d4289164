//! Functions that one build has and another has not, and where their code is there.
//!
//! In: the programs of servers, and the functions that were found in their stacks. Out: those of which a program has no
//! code of their own, with the functions that they were inlined into, where its debug information tells.

use crate::debug_info::{self, Section};
use crate::image::Image;
use crate::names;
use gimli::{AttributeValue, DW_AT_abstract_origin, DW_AT_linkage_name, DW_AT_name, DW_AT_specification};
use gimli::{DW_TAG_inlined_subroutine, DW_TAG_subprogram, DebuggingInformationEntry, Dwarf, Unit};
use object::read::elf::ElfFile64;
use object::{Endianness, ReadCache};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Of more debug information nobody waits for the end: that of a MySQL takes seconds to read, for each test.
const SIZE_MAX: u64 = 64 << 20;

/// References from one entry to the next that has the name.
const REFERENCES_MAX: usize = 4;

/// What is not there: by function those that it was inlined into, or `None` where that is not known.
pub(crate) type Absent = BTreeMap<String, Option<Vec<String>>>;

/// The program of a server.
pub(crate) struct Program {
    pub(crate) file: PathBuf,
    pub(crate) image: Arc<Image>,
    /// Its functions that were found in stacks.
    pub(crate) found: BTreeSet<String>,
}

/// By server: what was found in programs of the same name and is not in its own.
pub(crate) fn absent(programs: &[Option<Program>]) -> Vec<Absent> {
    let of = |own: &Option<Program>| {
        let own = own.as_ref()?;
        let others = programs.iter().flatten().filter(|other| other.image.name == own.image.name);
        let found: BTreeSet<&String> =
            others.flat_map(|other| &other.found).filter(|name| !own.found.contains(*name)).collect();
        if !own.image.has_symbols || found.is_empty() {
            return None;
        }
        let there = own.image.names();
        let wanted: BTreeSet<String> = found.into_iter().filter(|name| !there.contains(*name)).cloned().collect();
        let inlined = inlined(&own.file, &wanted);
        let into = |name: &String| Some(inlined.as_ref()?.get(name).cloned().unwrap_or_default().into_iter().collect());
        Some(wanted.iter().map(|name| (name.clone(), into(name))).collect())
    };
    programs.iter().map(|own| of(own).unwrap_or_default()).collect()
}

/// By function those whose code holds it; `None` where the file does not tell.
fn inlined(file: &Path, wanted: &BTreeSet<String>) -> Option<BTreeMap<String, BTreeSet<String>>> {
    let file = ReadCache::new(File::open(file).ok()?);
    let file: ElfFile64<'_, Endianness, &ReadCache<File>> = ElfFile64::parse(&file).ok()?;
    if wanted.is_empty() || debug_info::size(&file) > SIZE_MAX {
        return None;
    }
    let sections = debug_info::sections(&file)?;
    let dwarf = sections.borrow(|bytes| debug_info::section(bytes));
    let (mut found, mut units) = (BTreeMap::new(), dwarf.units());
    while let Ok(Some(header)) = units.next() {
        if let Ok(unit) = dwarf.unit(header) {
            // What cannot be read of a unit is left out.
            let _ = inlined_in(&dwarf, &unit, wanted, &mut found);
        }
    }
    Some(found)
}

fn inlined_in<'a>(
    dwarf: &Dwarf<Section<'a>>,
    unit: &Unit<Section<'a>>,
    wanted: &BTreeSet<String>,
    found: &mut BTreeMap<String, BTreeSet<String>>,
) -> Result<(), gimli::Error> {
    let mut entries = unit.entries();
    // The functions around an entry, by their depth.
    let mut around: Vec<(isize, Option<String>)> = Vec::new();
    while let Some(entry) = entries.next_dfs()? {
        while around.last().is_some_and(|(depth, _)| *depth >= entry.depth()) {
            around.pop();
        }
        if entry.tag() == DW_TAG_subprogram {
            around.push((entry.depth(), name(dwarf, unit, entry)));
        } else if entry.tag() == DW_TAG_inlined_subroutine
            && let Some((_, Some(outer))) = around.last()
            && let Some(inner) = name(dwarf, unit, entry).filter(|name| wanted.contains(name))
        {
            found.entry(inner).or_default().insert(outer.clone());
        }
    }
    Ok(())
}

/// The function that an entry is of, named as those of symbols are.
fn name<'a>(
    dwarf: &Dwarf<Section<'a>>,
    unit: &Unit<Section<'a>>,
    entry: &DebuggingInformationEntry<Section<'a>>,
) -> Option<String> {
    let mut entry = entry.clone();
    for _ in 0..REFERENCES_MAX {
        let text = [DW_AT_linkage_name, DW_AT_name].into_iter().find_map(|key| entry.attr_value(key));
        if let Some(text) = text {
            return Some(names::function(&dwarf.attr_string(unit, text).ok()?.to_string_lossy()));
        }
        let next = [DW_AT_abstract_origin, DW_AT_specification].into_iter().find_map(|key| entry.attr_value(key));
        let Some(AttributeValue::UnitRef(offset)) = next else { return None };
        entry = unit.entry(offset).ok()?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::process::Command;

    /// A program of two functions that call a third one, compiled with these flags.
    fn program(folder: &Path, flags: &[&str]) -> PathBuf {
        let source = "static int deep(int x) { return x * 3; }\n\
                      int insert(int x) { return deep(x) + 1; }\nint search(int x) { return deep(x) - 1; }\n\
                      int main(int count, char **words) { return insert(count) + search(count); }\n";
        let at = folder.join(flags.concat().replace('/', ""));
        fs::create_dir_all(&at).expect("made");
        fs::write(at.join("server.c"), source).expect("written");
        let mut command = Command::new("cc");
        command.current_dir(&at).args(["-o", "server", "server.c"]).args(flags);
        assert!(command.status().expect("a compiler").success());
        at.join("server")
    }

    fn absent_in(file: &Path, elsewhere: &Path) -> Absent {
        let of = |file: &Path, found: &[&str]| Program {
            file: file.to_owned(),
            image: Arc::new(Image::read(file)),
            found: found.iter().map(|name| (*name).to_owned()).collect(),
        };
        let programs = [of(file, &["main"]), of(elsewhere, &["main", "deep", "insert"])].map(Some);
        absent(&programs).remove(0)
    }

    #[test]
    fn what_was_inlined_is_told_with_where_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let of = |flags| program(folder.path(), flags);
        let plain = of(&["-O0", "-g"]);
        // What is small and static goes into its callers; what others may call stays, too.
        let small = of(&["-O1", "-g", "-fno-ipa-cp", "-fno-ipa-icf"]);
        let found = absent_in(&small, &plain);
        let into = found.get("deep").expect("it has no code of its own").clone().expect("known");
        assert!(into.contains(&"insert".to_owned()) && into.contains(&"search".to_owned()), "{into:?}");
        assert!(!found.contains_key("insert"), "it is there: {found:?}");
        let bare = of(&["-O1", "-g0", "-fno-ipa-cp", "-fno-ipa-icf"]);
        assert_eq!(absent_in(&bare, &plain).get("deep"), Some(&None), "nothing tells where it is");
        assert_eq!(absent_in(&plain, &plain), Absent::new());
        let stripped = of(&["-O1", "-s"]);
        assert_eq!(absent_in(&stripped, &plain), Absent::new(), "it may be there without a name");
    }
}
