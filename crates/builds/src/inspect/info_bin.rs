//! `docs/INFO_BIN`: how MySQL's own tarballs were compiled.
//!
//! In: an installation folder. Out: compiler, flags and CMake options, each empty where the file lacks it or is not
//! there. It must not pass on mere source paths.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The contents of the file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct InfoBin {
    /// The version of the compiler, such as `12.1.1`.
    pub(super) compiler: Option<String>,
    /// Flags of the C++ compiler.
    pub(super) flags: String,
    /// CMake options, as one would give them.
    pub(super) configure: String,
}

impl InfoBin {
    pub(super) fn of(folder: &Path) -> InfoBin {
        fs::read(folder.join("docs/INFO_BIN"))
            .map_or_else(|_| InfoBin::default(), |text| InfoBin::read(&String::from_utf8_lossy(&text)))
    }

    fn read(text: &str) -> InfoBin {
        let value = |name: &str| {
            text.lines().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix([':', '=']).map(str::trim))
        };
        // Written as `CMAKE_BUILD_TYPE:STRING=…` among the options and plainly elsewhere.
        let kind = value("CMAKE_BUILD_TYPE")
            .and_then(|value| value.rsplit('=').next())
            .unwrap_or_default()
            .to_ascii_uppercase();
        let lines = ["CXX_FLAGS".to_owned(), "CMAKE_CXX_FLAGS".to_owned(), format!("CMAKE_CXX_FLAGS_{kind}")];
        let mut seen = BTreeSet::new();
        let words = lines.iter().filter_map(|name| value(name)).flat_map(str::split_whitespace);
        let flags: Vec<&str> = words.filter(|flag| tells_something(flag) && seen.insert(*flag)).collect();
        InfoBin {
            compiler: value("Compiler").and_then(|value| value.split_whitespace().last()).map(str::to_owned),
            flags: flags.join(" "),
            configure: text.lines().filter_map(option).collect::<Vec<_>>().join(" "),
        }
    }
}

/// Warnings and the places of sources and tools change nothing in what is compiled.
fn tells_something(flag: &str) -> bool {
    let warns = flag.starts_with("-W") && !flag.starts_with("-Wp,") && !flag.starts_with("-Wl,");
    let places = ["-I", "-B", "-fdebug-prefix-map", "-ffile-prefix-map", "-fmacro-prefix-map"];
    !warns && !places.iter().any(|place| flag.starts_with(place))
}

/// A line `NAME:TYPE=VALUE` of what CMake remembers; nothing that is off, empty or a path.
fn option(line: &str) -> Option<String> {
    let (name, rest) = line.split_once(':')?;
    let (kind, value) = rest.split_once('=')?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let is_on = kind == "BOOL" && value == "ON" || kind == "STRING" && !value.is_empty() && !value.contains(['/', ' ']);
    (is_name && is_on).then(|| format!("-D{name}={value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_forms() {
        let old = "Build was run at 2013-09-10 10:37:23 on host 'x'\nCXX_FLAGS =  -fPIC -Wall -O3 -g -I/x -O3 -DDBUG_OFF\n\
                   CMAKE_BUILD_TYPE:STRING=RelWithDebInfo\nWITH_DEBUG:BOOL=OFF\nENABLED_PROFILING:BOOL=ON\n\
                   TMPDIR:PATH=P_tmpdir\nWITH_BOOST:STRING=/usr/x\n";
        let read = InfoBin::read(old);
        assert_eq!(read.flags, "-fPIC -O3 -g -DDBUG_OFF");
        assert_eq!(read.configure, "-DCMAKE_BUILD_TYPE=RelWithDebInfo -DENABLED_PROFILING=ON");
        assert_eq!(read.compiler, None);
        let new = "CMAKE_BUILD_TYPE:STRING=RelWithDebInfo\nCMAKE_BUILD_TYPE: RelWithDebInfo\nCompiler: GNU 12.1.1\n\
                   CMAKE_CXX_FLAGS: -std=c++17 -Wp,-D_FORTIFY_SOURCE=2\nCMAKE_CXX_FLAGS_RELWITHDEBINFO: -O2 -g1\n\
                   CMAKE_CXX_FLAGS_DEBUG: -O0\n";
        let read = InfoBin::read(new);
        assert_eq!(read.flags, "-std=c++17 -Wp,-D_FORTIFY_SOURCE=2 -O2 -g1");
        assert_eq!(read.compiler.as_deref(), Some("12.1.1"));
        assert_eq!(InfoBin::read(""), InfoBin::default());
    }
}
