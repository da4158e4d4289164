//! The name of a function as it is compared between builds: without what a compiler or a version adds to it.
//!
//! In: the name of a symbol. Out: a name that two builds of one source have in common. Parameters go, so that a
//! function that was given one more is still itself; overloads are one function.

use cpp_demangle::{DemangleOptions, Symbol};

/// The name of a function: one line without `;`, which separates frames, whatever the symbol holds.
pub(crate) fn function(symbol: &str) -> String {
    let symbol = symbol.split_once('@').map_or(symbol, |(name, _version)| name);
    // `.constprop.0`, `.isra.3`, `.part.1`, `.cold`, `.lto_priv.0`: copies that a compiler made of one function.
    let symbol = match symbol.find('.') {
        Some(at) if at > 0 => &symbol[..at],
        _ => symbol,
    };
    let plain = demangled(symbol).unwrap_or_else(|| symbol.to_owned());
    frame(&plain.replace("[abi:cxx11]", ""))
}

/// Text as the name of a frame.
pub(crate) fn frame(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).map(|c| if c == ';' { ':' } else { c }).collect()
}

fn demangled(symbol: &str) -> Option<String> {
    if !symbol.starts_with("_Z") {
        return None;
    }
    Symbol::new(symbol).ok()?.demangle_with_options(&DemangleOptions::new().no_params().no_return_type()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_source() {
        let check = |symbol, expected: &str| assert_eq!(function(symbol), expected);
        check("_bt_readpage", "_bt_readpage");
        check("_bt_compare.part.0", "_bt_compare");
        check("ExecProcNode.constprop.0.isra.1", "ExecProcNode");
        check("hash_search_with_hash_value.cold", "hash_search_with_hash_value");
        check("memcpy@@GLIBC_2.14", "memcpy");
        check("_ZN3THD11get_sql_modEv", "THD::get_sql_mod");
        check("_Z15row_search_mvccPh15page_cur_mode_tP14row_prebuilt_tmm.part.3", "row_search_mvcc");
        check("_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back");
        check(".plt", ".plt");
        check("a;b\nc", "a:bc");
        check("_Zwrong", "_Zwrong");
    }
}
