//! The kernel's functions.
//!
//! In: `/proc/kallsyms`. Out: names by address. Where the kernel hides its addresses, all of it is `[kernel]`.

use crate::names;

/// What a frame of the kernel ends with, as flame graphs mark it.
pub(crate) const MARK: &str = "_[k]";

/// The kernel's functions by address.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kernel(Vec<(u64, String)>);

impl Kernel {
    /// As it runs now.
    pub(crate) fn read() -> Kernel {
        let text = std::fs::read_to_string("/proc/kallsyms").unwrap_or_default();
        Kernel::of(&text)
    }

    /// Whether it hides its addresses, and so the names of its functions.
    pub(crate) fn is_hidden(&self) -> bool {
        self.0.is_empty()
    }

    fn of(text: &str) -> Kernel {
        let mut functions: Vec<(u64, String)> = text.lines().filter_map(function).collect();
        functions.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.len().cmp(&b.1.len())).then_with(|| a.1.cmp(&b.1)));
        functions.dedup_by_key(|(address, _)| *address);
        Kernel(functions)
    }

    /// The name of the function at an address, with the mark of the kernel.
    pub(crate) fn function(&self, address: u64) -> String {
        let after = self.0.partition_point(|(start, _)| *start <= address);
        match after.checked_sub(1) {
            Some(at) => format!("{}{MARK}", self.0[at].1),
            None => format!("[kernel]{MARK}"),
        }
    }
}

/// `ffffffff81000000 T _stext`, and ` [module]` behind the name.
fn function(line: &str) -> Option<(u64, String)> {
    let mut words = line.split_ascii_whitespace();
    let address = u64::from_str_radix(words.next()?, 16).ok().filter(|address| *address != 0)?;
    let is_code = matches!(words.next()?, "t" | "T" | "w" | "W");
    is_code.then_some((address, names::function(words.next()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_addresses_are_all_the_kernel() {
        let hidden = Kernel::of("0000000000000000 T _stext\n0000000000000000 t do_syscall_64\n");
        assert_eq!(hidden.function(0xffff_ffff_8123_4567), "[kernel]_[k]");
        assert!(hidden.is_hidden());
    }

    #[test]
    fn functions_are_found_by_address() {
        let text = "ffffffff81000100 t vfs_read.part.0\nffffffff81000000 T do_syscall_64\n\
                    ffffffff81000200 D data\nffffffffc0000000 t nft_do_chain\t[nf_tables]\n";
        let kernel = Kernel::of(text);
        let at = |address| kernel.function(address);
        assert!(!kernel.is_hidden());
        assert_eq!(at(0xffff_ffff_8100_0010), "do_syscall_64_[k]");
        assert_eq!(at(0xffff_ffff_8100_0250), "vfs_read_[k]");
        assert_eq!(at(0xffff_ffff_c000_0000), "nft_do_chain_[k]");
        assert_eq!(at(0x10), "[kernel]_[k]");
    }
}
