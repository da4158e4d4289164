//! What can be read from a binary without running it: compiler, symbols, debug information, frame pointers.
//!
//! In: the bytes of an ELF file. Out: [`ElfFacts`]. A binary may be made by several compilers, and all are listed. It
//! must not fail on a file that it does not understand: what it cannot find out is left out.

use memchr::memmem;
use object::{CompressionFormat, Object, ObjectSection, ObjectSymbol, SymbolKind};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read;

/// What can be read from a binary.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ElfFacts {
    /// The compilers named in its `.comment` section, each with the number of times; old linkers keep one for each
    /// object file.
    pub comment: Vec<(String, usize)>,
    /// The compilers of its parts as the debug information names them, with their flags where recorded.
    pub producers: Vec<String>,
    /// The `compiled by …` part of the server's own version text.
    pub compiled_by: Option<String>,
    /// Function symbols in its symbol table.
    pub functions: usize,
    /// Whether it holds debug information.
    pub debug_info: bool,
    /// Whether most functions set up a frame pointer; `None` where that is unknown.
    pub frame_pointers: Option<bool>,
}

/// `push %rbp; mov %rsp,%rbp`: how a function on x86-64 begins that keeps a frame pointer.
const X86_64_PROLOGUE: &[u8] = &[0x55, 0x48, 0x89, 0xe5];

/// `stp x29, x30, [sp, …]` ends with these two bytes on AArch64, before `mov x29, sp`.
const AARCH64_SET_FRAME: &[u8] = &[0xfd, 0x03, 0x00, 0x91];

/// Share of functions with such a beginning from which a binary counts as built with frame pointers: leaf functions
/// and cold parts have none even then.
const FRAME_POINTER_SHARE: f64 = 0.4;

/// The strings of the debug information are read up to this size; no server has more.
const DEBUG_STRINGS_MAX_BYTES: u64 = 1 << 28;

/// A compiler that made so many times more object files than another made the program.
const MAIN_SHARE: usize = 3;

impl ElfFacts {
    /// Reads the facts out of a file's bytes.
    pub fn of(bytes: &[u8]) -> ElfFacts {
        let Ok(file) = object::File::parse(bytes) else { return ElfFacts::default() };
        let section = |name: &str| file.section_by_name(name).and_then(|s| s.data().ok()).unwrap_or_default();
        let defined = |s: &object::Symbol<'_, '_>| s.kind() == SymbolKind::Text && s.is_definition();
        ElfFacts {
            comment: comment(section(".comment")),
            producers: producers(&debug_strings(&file)),
            compiled_by: compiled_by(section(".rodata")),
            functions: file.symbols().filter(defined).count(),
            debug_info: file.section_by_name(".debug_info").is_some(),
            frame_pointers: frame_pointers(file.architecture(), section(".text"), section(".eh_frame_hdr")),
        }
    }

    /// The version of the compiler that made most of its C++ parts, as far as the debug information has it.
    pub fn main_producer(&self) -> Option<String> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let versions = self.producers.iter().filter(|p| is_cpp(p)).filter_map(|p| version_of(p));
        versions.for_each(|version| *counts.entry(version).or_default() += 1);
        counts.into_iter().max_by_key(|(_, count)| *count).map(|(version, _)| version.to_owned())
    }

    /// The flags that most of its C++ parts were compiled with, as far as the debug information has them.
    pub fn producer_flags(&self) -> String {
        let main = self.main_producer();
        let parts = self.producers.iter().filter(|p| is_cpp(p) && version_of(p) == main.as_deref());
        let parts: Vec<Vec<&str>> = parts
            .map(|p| p.split_whitespace().filter(|word| word.starts_with('-') && *word != "--param").collect())
            .collect();
        let mut flags: Vec<&str> = Vec::new();
        for flag in parts.iter().flatten() {
            let with_flag = parts.iter().filter(|flags| flags.contains(flag)).count();
            if with_flag * 2 > parts.len() && !flags.contains(flag) {
                flags.push(flag);
            }
        }
        flags.join(" ")
    }

    /// All compilers that the binary names, in one line: the one that made the program (`main`, if that is known
    /// elsewhere), and those that made parts of it.
    pub fn compilers(&self, main: Option<&str>) -> String {
        // Two packages of one version, as of a system's start-up files, are one compiler.
        let mut by_count: Vec<&(String, usize)> = self.comment.iter().collect();
        by_count.sort_by_key(|(_, count)| usize::MAX - count);
        let mut counted: Vec<(&str, String, usize)> = Vec::new();
        for (text, count) in by_count {
            let version = version_of(text).unwrap_or(text);
            match counted.iter_mut().find(|(known, ..)| *known == version) {
                Some((_, _, known)) => *known += count,
                None => counted.push((version, text.replace("GCC: (GNU) ", "GCC ").replace("GCC: ", "GCC "), *count)),
            }
        }
        counted.sort_by_key(|(version, _, count)| (Some(*version) != main, usize::MAX - count));
        let is_main_known = match &counted[..] {
            [(version, ..), ..] if Some(*version) == main => true,
            [(_, _, first), (_, _, second), ..] => *first >= MAIN_SHARE * second,
            _ => false,
        };
        let names: Vec<&str> = counted.iter().map(|(_, name, _)| name.as_str()).collect();
        match &names[..] {
            [first, parts @ ..] if is_main_known && !parts.is_empty() => {
                format!("{first}; parts by {}", parts.join(" and "))
            }
            names => names.join(" and "),
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

fn comment(section: &[u8]) -> Vec<(String, usize)> {
    let mut compilers: Vec<(String, usize)> = Vec::new();
    for text in section.split(|&b| b == 0).filter(|text| !text.is_empty()) {
        let text = String::from_utf8_lossy(text).into_owned();
        match compilers.iter_mut().find(|(known, _)| *known == text) {
            Some((_, count)) => *count += 1,
            None => compilers.push((text, 1)),
        }
    }
    compilers
}

/// The strings of the debug information, inflated where they are compressed.
fn debug_strings<'a>(file: &object::File<'a>) -> Cow<'a, [u8]> {
    let compressed = file.section_by_name(".debug_str").and_then(|section| section.compressed_data().ok());
    match compressed {
        Some(data) if data.format == CompressionFormat::None => Cow::Borrowed(data.data),
        Some(data) if data.format == CompressionFormat::Zlib => {
            let mut inflated = Vec::new();
            let read =
                flate2::read::ZlibDecoder::new(data.data).take(DEBUG_STRINGS_MAX_BYTES).read_to_end(&mut inflated);
            Cow::Owned(read.map_or_else(|_| Vec::new(), |_| inflated))
        }
        _ => Cow::Borrowed(&[]),
    }
}

fn producers(strings: &[u8]) -> Vec<String> {
    let starts: [&[u8]; 2] = [b"GNU C", b"clang version "];
    let named = strings.split(|&b| b == 0).filter(|text| starts.iter().any(|start| text.starts_with(start)));
    let named = named.filter(|text| text.iter().any(u8::is_ascii_digit));
    named.map(|text| String::from_utf8_lossy(text).into_owned()).collect()
}

/// The version in a compiler's name: `12.1.1` of `GCC: (GNU) 12.1.1 20220628 (Red Hat 12.1.1-3)`.
fn version_of(compiler: &str) -> Option<&str> {
    compiler.split_whitespace().find(|word| word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit()))
}

/// PostgreSQL keeps its `version()` text as a constant: `PostgreSQL 16.15 on …, compiled by gcc … , 64-bit`.
fn compiled_by(rodata: &[u8]) -> Option<String> {
    const MARK: &[u8] = b", compiled by ";
    let at = memmem::find(rodata, MARK)? + MARK.len();
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
    let with_frame = memmem::find_iter(text, prologue).count();
    Some(with_frame as f64 >= FRAME_POINTER_SHARE * f64::from(functions))
}

/// The number of functions as the unwind table's header gives it; stripped files have it too. Layout as in the LSB:
/// version, three encodings (of which the count's is udata4 here), pointer, count.
fn unwind_entries(header: &[u8]) -> Option<u32> {
    const UDATA4: u8 = 0x03;
    (header.first() == Some(&1) && header.get(2) == Some(&UDATA4)).then_some(())?;
    Some(u32::from_le_bytes(header.get(8..12)?.try_into().ok()?))
}

fn is_cpp(producer: &str) -> bool {
    producer.starts_with("GNU C++") || producer.starts_with("clang")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_compilers_and_the_version_text() {
        assert_eq!(
            comment(b"GCC: (X) 7.5\0GCC: (X) 7.5\0clang 16\0"),
            [("GCC: (X) 7.5".into(), 2), ("clang 16".into(), 1)]
        );
        let rodata = b"zz\0PostgreSQL 16.15 on x86_64-pc-linux-gnu, compiled by gcc (U 7.5, x) 7.5.0, 64-bit\0more";
        assert_eq!(compiled_by(rodata).as_deref(), Some("gcc (U 7.5, x) 7.5.0"));
        assert_eq!(compiled_by(b"nothing of the kind"), None);
    }

    #[test]
    fn finds_all_compilers_and_the_one_of_the_program() {
        let facts = |comment: &[(&str, usize)]| ElfFacts {
            comment: comment.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect(),
            ..ElfFacts::default()
        };
        let old = "GCC: (GNU) 4.4.7 20120313 (Red Hat 4.4.7-16)";
        let new = "GCC: (GNU) 7.3.1 20180303 (Red Hat 7.3.1-5)";
        let cases = [
            (facts(&[(old, 1)]), None, "GCC 4.4.7 20120313 (Red Hat 4.4.7-16)"),
            (facts(&[(old, 1), (&old.replace("-16", "-18"), 1)]), None, "GCC 4.4.7 20120313 (Red Hat 4.4.7-16)"),
            (facts(&[("GCC: (GNU) 4.1.2 x-1", 3), ("GCC: (GNU) 4.1.2 x-2", 9)]), None, "GCC 4.1.2 x-2"),
            (facts(&[("GCC: (GNU) 3.4.6", 3), ("GCC: (GNU) 4.3.4", 537)]), None, "GCC 4.3.4; parts by GCC 3.4.6"),
            (
                facts(&[(old, 1), (new, 1)]),
                Some("7.3.1"),
                "GCC 7.3.1 20180303 (Red Hat 7.3.1-5); parts by GCC 4.4.7 20120313 (Red Hat 4.4.7-16)",
            ),
            (facts(&[("GCC: (GNU) 4.4.7", 1), ("GCC: (GNU) 7.3.1", 1)]), None, "GCC 4.4.7 and GCC 7.3.1"),
            (facts(&[]), Some("1.0"), ""),
        ];
        for (facts, main, expected) in cases {
            assert_eq!(facts.compilers(main), expected);
        }
    }

    #[test]
    fn reads_flags_out_of_the_debug_information() {
        let strings = b"x\0GNU C++ 4.8.5 2015 (R) -g -O3 -fPIC --param a=4\0GNU C++ 4.8.5 2015 (R) -O3 -g\0\
                        GNU C++ 4.8.5 2015 (R) -O2 -g -fPIC\0GNU C 4.8.5 -O0\0GNU C++ 4.1.2\0GNU Classpath\0";
        let facts = ElfFacts { producers: producers(strings), ..ElfFacts::default() };
        assert_eq!(facts.producers.len(), 5);
        assert_eq!(facts.main_producer().as_deref(), Some("4.8.5"));
        assert_eq!(facts.producer_flags(), "-g -O3 -fPIC");
    }

    #[test]
    fn reads_our_own_test_binary_and_nothing_from_text() {
        let own = std::fs::read(std::env::current_exe().expect("a path")).expect("read");
        let facts = ElfFacts::of(&own);
        assert!(facts.comment.iter().any(|(name, _)| name.contains("rustc")), "{facts:?}");
        assert!(facts.functions > 100 && facts.debug_info, "{facts:?}");
        assert!(facts.frame_pointers.is_some(), "{facts:?}");
        assert_eq!(ElfFacts::of(b"#!/bin/sh\n"), ElfFacts::default());
        assert_eq!(ElfFacts::default().describe(), "stripped, no debug information, frame pointers unknown");
    }
}
