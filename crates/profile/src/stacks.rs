//! From raw samples to stacks of function names, and how often each was found.
//!
//! In: samples with a copy of the stack, the code of their server. Out: folded stacks, the outermost frame first. The
//! user's part is unwound by the tables that C++ needs for exceptions, which every build has; where it has none, by
//! frame pointers.

use crate::absent::Program;
use crate::image::{Bytes, Image};
use crate::kernel::Kernel;
use crate::maps::Mapping;
use crate::raw::{RawSample, Samples};
use framehop::{CacheNative, FrameAddress, MayAllocateDuringUnwind, UnwindRegsNative, Unwinder as _, UnwinderNative};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

/// Frames of one stack; a deeper one is cut.
const FRAMES_MAX: usize = 512;

/// Stands for the outer frames of a stack that could not be followed to its end.
pub(crate) const CUT: &str = "[cut]";

/// Stands for code of which nothing is known.
pub(crate) const UNKNOWN: &str = "[unknown]";

/// Folded stacks: frames from the outermost on, separated by `;`, and the samples that were found in each.
pub(crate) type Folded = BTreeMap<String, u64>;

/// What is known of the files of all servers.
pub(crate) type Images = HashMap<PathBuf, Arc<Image>>;

/// The code of one server.
pub(crate) struct Code<'a> {
    /// With what is added to the file's addresses.
    mappings: Vec<(Mapping, u64, Arc<Image>)>,
    unwinder: UnwinderNative<Bytes, MayAllocateDuringUnwind>,
    cache: CacheNative<MayAllocateDuringUnwind>,
    kernel: &'a Kernel,
    names: HashMap<u64, String>,
    /// Functions that were found: those of the program, those of libraries by their file, and those of which it is
    /// known by source file.
    program: BTreeSet<String>,
    libraries: ByFile,
    sources: ByFile,
}

type ByFile = BTreeMap<String, BTreeSet<String>>;

impl<'a> Code<'a> {
    /// The code that is mapped so.
    pub(crate) fn of(mut mappings: Vec<Mapping>, images: &mut Images, kernel: &'a Kernel) -> Code<'a> {
        mappings.sort();
        mappings.dedup();
        let mut unwinder = UnwinderNative::new();
        let read = mappings.into_iter().map(|mapping| {
            let image = images.entry(mapping.file.clone()).or_insert_with(|| Arc::new(Image::read(&mapping.file)));
            unwinder.add_module(image.module(&mapping));
            (image.bias(&mapping), Arc::clone(image), mapping)
        });
        let mappings = read.map(|(bias, image, mapping)| (mapping, bias, image)).collect();
        Code {
            mappings,
            unwinder,
            cache: CacheNative::new(),
            kernel,
            names: HashMap::new(),
            program: BTreeSet::new(),
            libraries: ByFile::new(),
            sources: ByFile::new(),
        }
    }

    /// The names of its files in which functions have no names, but for those that others call.
    pub(crate) fn without_symbols(&self) -> Vec<String> {
        let stripped = self.mappings.iter().filter(|(_, _, image)| !image.has_symbols);
        let mut names: Vec<String> = stripped.map(|(_, _, image)| image.name.clone()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The program, with its functions that were found in stacks.
    pub(crate) fn program(&self) -> Option<Program> {
        let (mapping, _, image) = self.mappings.iter().find(|(_, _, image)| !image.is_library())?;
        Some(Program { file: mapping.file.clone(), image: Arc::clone(image), found: self.program.clone() })
    }

    /// The functions that were found in stacks: those of libraries by file, and those of which it is known by source
    /// file.
    pub(crate) fn files(self) -> (BTreeMap<String, Vec<String>>, BTreeMap<String, Vec<String>>) {
        let listed = |files: ByFile| files.into_iter().map(|(file, all)| (file, all.into_iter().collect())).collect();
        (listed(self.libraries), listed(self.sources))
    }

    /// The stack of a sample, folded; whether it was followed to its end.
    pub(crate) fn fold(&mut self, samples: &Samples, sample: &RawSample) -> (String, bool) {
        let (frames, is_whole) = self.unwind(samples, sample);
        let mut folded = String::from(if is_whole { "" } else { CUT });
        let kernel = samples.words[sample.kernel.clone()].iter().rev();
        let user = frames.into_iter().rev().map(|frame| self.user_name(frame));
        let mut names: Vec<String> = user.collect();
        names.extend(kernel.map(|&frame| self.kernel.function(frame)));
        if names.is_empty() {
            names.push(UNKNOWN.to_owned());
        }
        for name in &names {
            if !folded.is_empty() {
                folded.push(';');
            }
            folded.push_str(name);
        }
        (folded, is_whole)
    }

    /// Addresses by which functions are looked up, the innermost first.
    fn unwind(&mut self, samples: &Samples, sample: &RawSample) -> (Vec<u64>, bool) {
        let Some(Registers { pc, sp, unwind }) = Registers::of(&samples.words[sample.registers.clone()]) else {
            return (Vec::new(), true);
        };
        let stack = &samples.bytes[sample.stack.clone()];
        let mut read = |address: u64| -> Result<u64, ()> {
            let at = usize::try_from(address.checked_sub(sp).ok_or(())?).map_err(|_| ())?;
            let word = stack.get(at..at.saturating_add(8)).ok_or(())?;
            Ok(u64::from_ne_bytes(word.try_into().map_err(|_| ())?))
        };
        let mut frames = Vec::new();
        let mut walk = self.unwinder.iter_frames(pc, unwind, &mut self.cache, &mut read);
        loop {
            match walk.next() {
                Ok(Some(frame)) if frames.len() < FRAMES_MAX => frames.push(FrameAddress::address_for_lookup(frame)),
                Ok(None) => return (frames, true),
                _ => return (frames, false),
            }
        }
    }

    fn user_name(&mut self, address: u64) -> String {
        if let Some(known) = self.names.get(&address) {
            return known.clone();
        }
        let after = self.mappings.partition_point(|(mapping, ..)| mapping.start <= address);
        let at = after.checked_sub(1).map(|at| &self.mappings[at]).filter(|(mapping, ..)| address < mapping.end);
        let name = match at {
            Some((_, bias, image)) => match image.function(address.wrapping_sub(*bias)) {
                Some(name) => {
                    if image.is_library() {
                        self.libraries.entry(image.name.clone()).or_default().insert(name.clone());
                    } else {
                        self.program.insert(name.clone());
                    }
                    if let Some(source) = image.source(address.wrapping_sub(*bias)) {
                        self.sources.entry(source.to_owned()).or_default().insert(name.clone());
                    }
                    name
                }
                None => format!("[{}]", image.name),
            },
            None => UNKNOWN.to_owned(),
        };
        self.names.insert(address, name.clone());
        name
    }
}

/// Where a stack is.
struct Registers {
    pc: u64,
    sp: u64,
    unwind: UnwindRegsNative,
}

impl Registers {
    #[cfg(target_arch = "x86_64")]
    fn of(words: &[u64]) -> Option<Registers> {
        let &[bp, sp, pc] = words else { return None };
        Some(Registers { pc, sp, unwind: UnwindRegsNative::new(pc, sp, bp) })
    }

    #[cfg(target_arch = "aarch64")]
    fn of(words: &[u64]) -> Option<Registers> {
        let &[fp, lr, sp, pc] = words else { return None };
        Some(Registers { pc, sp, unwind: UnwindRegsNative::new(lr, sp, fp) })
    }
}
