//! Which source file code was compiled from, where a build has debug information.
//!
//! In: an ELF file. Out: the source file of an address. It is that of the compilation unit, so that a function belongs
//! to one file, whatever was inlined into it; and it is named as builds in other folders name it, too.

use crate::debug_info::{self, Section};
use crate::names;
use gimli::Dwarf;
use object::Object;
use std::ops::Range;
use std::path::{Component, Path};

/// Parts of a path that name a source file: its own name and that of its folder.
const NAMED: usize = 2;

/// The source files of a file of code.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sources {
    /// Code by its addresses, which are in order, and the index of its file.
    spans: Vec<(Range<u64>, usize)>,
    files: Vec<String>,
}

impl Sources {
    /// As the debug information of an ELF file tells; without it none are known.
    pub(crate) fn read<'data>(file: &impl Object<'data>) -> Sources {
        let found = debug_info::sections(file);
        found
            .map_or_else(Sources::default, |sections| Sources::of(&sections.borrow(|bytes| debug_info::section(bytes))))
    }

    fn of(dwarf: &Dwarf<Section<'_>>) -> Sources {
        let mut sources = Sources::default();
        let mut units = dwarf.units();
        while let Ok(Some(header)) = units.next() {
            // A unit in a form of its own is left out, and so is its code.
            let Ok(unit) = dwarf.unit(header) else { continue };
            let text = |text: Option<Section<'_>>| text.map(|text| text.to_string_lossy().into_owned());
            let (name, folder) = (text(unit.name), text(unit.comp_dir).unwrap_or_default());
            let name = name.and_then(|name| source_file(&folder, &name));
            let (Some(name), Ok(mut ranges)) = (name, dwarf.unit_ranges(&unit)) else { continue };
            let index = sources.files.len();
            while let Ok(Some(range)) = ranges.next() {
                // What the linker left out begins at 0.
                if range.begin > 0 && range.begin < range.end {
                    sources.spans.push((range.begin..range.end, index));
                }
            }
            sources.files.push(name);
        }
        sources.spans.sort_by_key(|(span, file)| (span.start, *file));
        sources
    }

    /// The source file of the code at an address.
    pub(crate) fn file(&self, address: u64) -> Option<&str> {
        let after = self.spans.partition_point(|(span, _)| span.start <= address);
        let (span, file) = &self.spans[after.checked_sub(1)?];
        (address < span.end).then(|| self.files[*file].as_str())
    }
}

/// What a source file is called, of whichever folder: `nbtree/nbtsearch.c`. Code that belongs to none has a name in
/// angle brackets.
fn source_file(folder: &str, name: &str) -> Option<String> {
    if name.starts_with('<') {
        return None;
    }
    let path = Path::new(folder).join(name);
    let mut parts = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(part) => parts.push(part.to_string_lossy()),
            Component::ParentDir => _ = parts.pop(),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    let named = parts.get(parts.len().saturating_sub(NAMED)..)?;
    (!named.is_empty()).then(|| names::frame(&named.join("/")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::ObjectSymbol;
    use object::read::elf::ElfFile64;
    use std::collections::BTreeMap;
    use std::fs;
    use std::process::Command;

    /// The source files of the functions of a library that is compiled of two files, with these flags.
    fn compiled(flags: &[&str]) -> BTreeMap<String, Option<String>> {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("tree")).expect("made");
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
        write("tree/insert.c", "static int deep(int x) { return x * 3; } int insert(int x) { return deep(x) + 1; }");
        write("search.c", "int search(int x) { return x - 1; } int compare(int x) { return search(x) * 2; }");
        let mut command = Command::new("cc");
        command.current_dir(folder.path()).args([
            "-shared",
            "-fPIC",
            "-O0",
            "-o",
            "it.so",
            "tree/insert.c",
            "search.c",
        ]);
        assert!(command.args(flags).status().expect("a compiler").success());
        let library = fs::read(folder.path().join("it.so")).expect("there");
        let file: ElfFile64<'_, object::Endianness> = ElfFile64::parse(&library[..]).expect("an ELF file");
        let sources = Sources::read(&file);
        let whole = folder.path().file_name().expect("a name").to_string_lossy();
        let mut found = BTreeMap::new();
        for symbol in file.symbols() {
            let name = symbol.name().expect("text");
            if ["deep", "insert", "search", "compare"].contains(&name) {
                let source = sources.file(symbol.address() + 4).map(|source| source.replace(&*whole, "FOLDER"));
                found.insert(name.to_owned(), source);
            }
        }
        found
    }

    #[test]
    fn functions_are_of_the_file_that_they_were_compiled_from() {
        let expected = [
            ("compare", "FOLDER/search.c"),
            ("deep", "tree/insert.c"),
            ("insert", "tree/insert.c"),
            ("search", "FOLDER/search.c"),
        ];
        let expected: BTreeMap<String, Option<String>> =
            expected.into_iter().map(|(name, file)| (name.to_owned(), Some(file.to_owned()))).collect();
        for flags in [&["-g"][..], &["-g", "-gz=zlib"], &["-gdwarf-4"], &["-g", "-ffunction-sections"]] {
            assert_eq!(compiled(flags), expected, "{flags:?}");
        }
        assert!(compiled(&["-g0"]).values().all(Option::is_none));
    }

    #[test]
    fn a_file_has_the_same_name_wherever_it_was_compiled() {
        let check = |folder, name, expected| assert_eq!(source_file(folder, name).as_deref(), expected);
        check("/tmp/a/src/backend/access/nbtree", "nbtsearch.c", Some("nbtree/nbtsearch.c"));
        check("/other/build", "../src/backend/access/nbtree/nbtsearch.c", Some("nbtree/nbtsearch.c"));
        check("", "/build/mysql-5.6.14/sql/item.cc", Some("sql/item.cc"));
        check(".", "./main.c", Some("main.c"));
        check("/tmp", "<artificial>", None);
        check("", "", None);
    }
}
