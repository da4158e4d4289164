//! A file of code: its functions, and the tables by which its stacks are unwound.
//!
//! In: an ELF file. Out: name and source file of the function at an address, and what `framehop` needs. Functions come
//! from the symbol table, and of a stripped file from its dynamic symbols, which are those that others call.

use crate::maps::Mapping;
use crate::names;
use crate::sources::Sources;
use framehop::{ExplicitModuleSectionInfo, Module};
use object::read::elf::ElfFile64;
use object::{
    Endianness, Object, ObjectSection, ObjectSegment, ObjectSymbol, ReadCache, SegmentFlags, SymbolKind, elf,
};
use std::collections::BTreeSet;
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Bytes of a section that unwinders share.
pub(crate) type Bytes = Arc<[u8]>;

/// A function, by its address in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Function {
    start: u64,
    size: u64,
    /// Its symbol.
    name: String,
}

/// A file of code.
#[derive(Debug, Clone)]
pub(crate) struct Image {
    /// The file's name, which stands for code without a function.
    pub(crate) name: String,
    /// Whether it has a symbol table, so that every function of it has a name.
    pub(crate) has_symbols: bool,
    functions: Vec<Function>,
    sources: Sources,
    /// Executable segments: where they are in the file, and their addresses.
    segments: Vec<(Range<u64>, u64)>,
    sections: ExplicitModuleSectionInfo<Bytes>,
}

impl Image {
    /// Reads a file; one that is gone or no ELF file has no functions.
    pub(crate) fn read(path: &Path) -> Image {
        let name = names::frame(&path.file_name().unwrap_or(path.as_os_str()).to_string_lossy());
        // A server with debug information is large, and most of it is not looked at.
        let file = File::open(path).ok().map(ReadCache::new);
        file.and_then(|file| Image::of(&file, &name)).unwrap_or_else(|| Image {
            name,
            has_symbols: false,
            functions: Vec::new(),
            sources: Sources::default(),
            segments: Vec::new(),
            sections: ExplicitModuleSectionInfo::default(),
        })
    }

    fn of(file: &ReadCache<File>, name: &str) -> Option<Image> {
        let file: ElfFile64<'_, Endianness, &ReadCache<File>> = ElfFile64::parse(file).ok()?;
        let own = functions(file.symbols());
        let has_symbols = !own.is_empty();
        let functions = if has_symbols { own } else { functions(file.dynamic_symbols()) };
        let is_code =
            |flags: SegmentFlags| matches!(flags, SegmentFlags::Elf { p_flags, .. } if p_flags.contains(elf::PF_X));
        let segments = file.segments().filter(|segment| is_code(segment.flags()));
        let segments = segments.map(|segment| {
            let (offset, size) = segment.file_range();
            (offset..offset + size, segment.address())
        });
        let section = |name: &str| {
            let section = file.section_by_name(name)?;
            let range = section.address()..section.address() + section.size();
            Some((range, Bytes::from(section.data().ok()?)))
        };
        let (text, eh_frame, eh_frame_hdr) = (section(".text"), section(".eh_frame"), section(".eh_frame_hdr"));
        let range = |section: &Option<(Range<u64>, Bytes)>| section.as_ref().map(|(range, _)| range.clone());
        Some(Image {
            name: name.to_owned(),
            has_symbols,
            functions,
            sources: Sources::read(&file),
            segments: segments.collect(),
            sections: ExplicitModuleSectionInfo {
                base_svma: 0,
                text_svma: range(&text),
                text: text.map(|(_, bytes)| bytes),
                got_svma: range(&section(".got")),
                eh_frame_svma: range(&eh_frame),
                eh_frame: eh_frame.map(|(_, bytes)| bytes),
                eh_frame_hdr_svma: range(&eh_frame_hdr),
                eh_frame_hdr: eh_frame_hdr.map(|(_, bytes)| bytes),
                debug_frame: section(".debug_frame").map(|(_, bytes)| bytes),
                ..ExplicitModuleSectionInfo::default()
            },
        })
    }

    /// Whether it is no program.
    pub(crate) fn is_library(&self) -> bool {
        self.name.contains(".so")
    }

    /// What is added to an address of the file where it is mapped so.
    pub(crate) fn bias(&self, mapping: &Mapping) -> u64 {
        let of = |(file, _): &&(Range<u64>, u64)| {
            file.start < mapping.offset + (mapping.end - mapping.start) && mapping.offset < file.end
        };
        let (offset, address) = self.segments.iter().find(of).map_or((0, 0), |(file, address)| (file.start, *address));
        mapping.start.wrapping_sub(address.wrapping_add(mapping.offset).wrapping_sub(offset))
    }

    /// How it is unwound where it is mapped so.
    pub(crate) fn module(&self, mapping: &Mapping) -> Module<Bytes> {
        Module::new(self.name.clone(), mapping.start..mapping.end, self.bias(mapping), self.sections.clone())
    }

    /// All its functions.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        self.functions.iter().map(|function| names::function(&function.name)).collect()
    }

    /// The source file of an address of the file.
    pub(crate) fn source(&self, address: u64) -> Option<&str> {
        self.sources.file(address)
    }

    /// The function at an address of the file.
    pub(crate) fn function(&self, address: u64) -> Option<String> {
        let after = self.functions.partition_point(|function| function.start <= address);
        let function = self.functions.get(after.checked_sub(1)?)?;
        // Code in assembler often has no size.
        (function.size == 0 || address < function.start + function.size).then(|| names::function(&function.name))
    }
}

/// Functions by address, one for each. Of several names for one the choice must be the same in every build: the
/// shortest, and of these the first.
fn functions<'data>(symbols: impl Iterator<Item = impl ObjectSymbol<'data>>) -> Vec<Function> {
    let is_function = |kind| matches!(kind, SymbolKind::Text);
    let mut functions: Vec<Function> = symbols
        .filter(|symbol| is_function(symbol.kind()) && symbol.is_definition() && symbol.address() != 0)
        .filter_map(|symbol| {
            let name = symbol.name().ok().filter(|name| !name.is_empty())?;
            Some(Function { start: symbol.address(), size: symbol.size(), name: name.to_owned() })
        })
        .collect();
    functions.sort_by(|a, b| {
        let rank = |function: &Function| (function.start, function.size == 0, function.name.len());
        rank(a).cmp(&rank(b)).then_with(|| a.name.cmp(&b.name))
    });
    functions.dedup_by_key(|function| function.start);
    functions
}
