//! What a binary says of itself without being run: compiler, symbols, debug information, frame pointers.
//!
//! In: the bytes of an ELF file. Out: [`ElfFacts`]. It must not fail on a file that it does not understand: what cannot
//! be told is left untold.

use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};

/// What a binary says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ElfFacts {
    /// The compilers named in its `.comment` section.
    pub comment: String,
    /// The `compiled by …` part of the server's own version text.
    pub compiled_by: Option<String>,
    /// Function symbols in its symbol table.
    pub functions: usize,
    /// Whether it holds debug information.
    pub debug_info: bool,
    /// Whether most functions set up a frame pointer; `None` where that cannot be told.
    pub frame_pointers: Option<bool>,
}

/// `push %rbp; mov %rsp,%rbp`: how a function on x86-64 begins that keeps a frame pointer.
const X86_64_PROLOGUE: &[u8] = &[0x55, 0x48, 0x89, 0xe5];

/// `stp x29, x30, [sp, …]` ends with these two bytes on AArch64, before `mov x29, sp`.
const AARCH64_SET_FRAME: &[u8] = &[0xfd, 0x03, 0x00, 0x91];

/// Share of functions with such a beginning from which a binary counts as built with frame pointers: leaf functions
/// and cold parts have none even then.
const FRAME_POINTER_SHARE: f64 = 0.4;

impl ElfFacts {
    /// Reads the facts out of a file's bytes.
    pub fn of(bytes: &[u8]) -> ElfFacts {
        let Ok(file) = object::File::parse(bytes) else { return ElfFacts::default() };
        let section = |name: &str| file.section_by_name(name).and_then(|s| s.data().ok()).unwrap_or_default();
        let defined = |s: &object::Symbol<'_, '_>| s.kind() == SymbolKind::Text && s.is_definition();
        ElfFacts {
            comment: comment(section(".comment")),
            compiled_by: compiled_by(section(".rodata")),
            functions: file.symbols().filter(defined).count(),
            debug_info: file.section_by_name(".debug_info").is_some(),
            frame_pointers: frame_pointers(file.architecture(), section(".text"), section(".eh_frame_hdr")),
        }
    }

    /// One line for people.
    pub fn describe(&self) -> String {
        let symbols = match self.functions {
            0 => "stripped".to_owned(),
            n => format!("symbol table ({n} functions)"),
        };
        let debug = if self.debug_info { "debug information" } else { "no debug information" };
        let frames = match self.frame_pointers {
            Some(true) => "frame pointers",
            Some(false) => "no frame pointers",
            None => "frame pointers unknown",
        };
        format!("{symbols}, {debug}, {frames}")
    }
}

fn comment(section: &[u8]) -> String {
    let mut compilers: Vec<String> = Vec::new();
    for text in section.split(|&b| b == 0).filter(|text| !text.is_empty()) {
        let text = String::from_utf8_lossy(text).into_owned();
        if !compilers.contains(&text) {
            compilers.push(text);
        }
    }
    compilers.join(", ")
}

/// PostgreSQL keeps its `version()` text as a constant: `PostgreSQL 16.15 on …, compiled by gcc … , 64-bit`.
fn compiled_by(rodata: &[u8]) -> Option<String> {
    const MARK: &[u8] = b", compiled by ";
    let at = rodata.windows(MARK.len()).position(|w| w == MARK)? + MARK.len();
    let text = rodata[at..].split(|&b| b == 0).next()?;
    let text = String::from_utf8_lossy(text);
    Some(text.rsplit_once(", ").map_or(text.as_ref(), |(compiler, _bits)| compiler).to_owned())
}

fn frame_pointers(architecture: object::Architecture, text: &[u8], eh_frame_hdr: &[u8]) -> Option<bool> {
    let prologue = match architecture {
        object::Architecture::X86_64 => X86_64_PROLOGUE,
        object::Architecture::Aarch64 => AARCH64_SET_FRAME,
        _ => return None,
    };
    let functions = unwind_entries(eh_frame_hdr).filter(|&n| n > 0)?;
    let with_frame = text.windows(prologue.len()).filter(|w| *w == prologue).count();
    Some(with_frame as f64 >= FRAME_POINTER_SHARE * f64::from(functions))
}

/// The number of functions as the unwind table's header gives it; stripped files have it too. Layout as in the LSB:
/// version, three encodings (of which the count's is udata4 here), pointer, count.
fn unwind_entries(header: &[u8]) -> Option<u32> {
    const UDATA4: u8 = 0x03;
    (header.first() == Some(&1) && header.get(2) == Some(&UDATA4)).then_some(())?;
    Some(u32::from_le_bytes(header.get(8..12)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_compilers_and_the_version_text() {
        assert_eq!(comment(b"GCC: (X) 7.5\0GCC: (X) 7.5\0clang 16\0"), "GCC: (X) 7.5, clang 16");
        let rodata = b"zz\0PostgreSQL 16.15 on x86_64-pc-linux-gnu, compiled by gcc (U 7.5, x) 7.5.0, 64-bit\0more";
        assert_eq!(compiled_by(rodata).as_deref(), Some("gcc (U 7.5, x) 7.5.0"));
        assert_eq!(compiled_by(b"nothing of the kind"), None);
    }

    #[test]
    fn tells_what_it_can_of_our_own_test_binary_and_nothing_of_text() {
        let own = std::fs::read(std::env::current_exe().expect("a path")).expect("read");
        let facts = ElfFacts::of(&own);
        assert!(facts.comment.contains("rustc"), "{facts:?}");
        assert!(facts.functions > 100 && facts.debug_info, "{facts:?}");
        assert!(facts.frame_pointers.is_some(), "{facts:?}");
        assert_eq!(ElfFacts::of(b"#!/bin/sh\n"), ElfFacts::default());
        assert_eq!(ElfFacts::default().describe(), "stripped, no debug information, frame pointers unknown");
    }
}
