//! Two builds that were not made in one way: another compiler, other flags.
//!
//! In: how two binaries were made, as read from them. Out: one warning, short enough to be read: compilers by name and
//! version, of the flags the first that matter and how many more there are; beside it all of it in full. Flags that ask
//! a compiler for diagnostics make no other code, and paths are the builder's: neither counts, nor does the compiler
//! where it stands among the flags.

use super::warning;
use crate::findings::Warning;
use rqps_model::facts::BuildFacts;
use rqps_model::{WarningKind, plural};

/// Most flags named on each side.
const MOST_FLAGS: usize = 3;

/// What moves speed comes first, then what hardens or instruments code, then the rest.
const FLAGS_THAT_MATTER: [&[&str]; 3] = [
    &["-O"],
    &["-march=", "-mcpu=", "-mtune=", "-flto", "-fprofile", "-fsanitize", "-DNDEBUG", "-DUSE_ASSERT"],
    &["-fstack-", "-fcf-protection", "-fno-omit-frame-pointer", "-fPI", "-fpi", "-D_FORTIFY", "-D_GLIBCXX_ASSERT"],
];

/// Arguments that `-W` hands on to preprocessor, assembler or linker, unlike those that ask for a diagnostic.
const HANDED_ON: [&str; 3] = ["-Wp,", "-Wa,", "-Wl,"];

/// The warning about a build that was not made as the base was.
pub(super) fn unlike(own: &BuildFacts, base: &BuildFacts) -> Option<Warning> {
    let (mut short, mut full) = (Vec::new(), Vec::new());
    if own.compiler != base.compiler {
        let differ = |own: &str, base: &str| format!("compiler {own} instead of {base}");
        full.push(differ(or_unknown(&own.compiler), or_unknown(&base.compiler)));
        let (here, there) = (name_and_version(&own.compiler), name_and_version(&base.compiler));
        // Two that have one version differ in what was left out.
        short.push(if here == there { differ(&own.compiler, &base.compiler) } else { differ(&here, &there) });
    }
    match (own.flags.is_empty(), base.flags.is_empty()) {
        (false, false) => flags(own, base, &mut short, &mut full),
        (true, true) => {}
        (is_here, _) => {
            let unknown = format!("flags unknown {}", if is_here { "here" } else { "on the base" });
            short.push(unknown.clone());
            full.push(unknown);
        }
    }
    let (short, full) = (short.join("; "), full.join("; "));
    let in_full = (short != full).then_some(full);
    (!short.is_empty()).then(|| Warning { in_full, ..warning(WarningKind::UnlikeBuilds, short) })
}

fn flags(own: &BuildFacts, base: &BuildFacts, short: &mut Vec<String>, full: &mut Vec<String>) {
    let mut left_out = 0;
    for (this, other, place) in [(own, base, "only here"), (base, own, "only on the base")] {
        let only = only_in(&this.flags, &other.flags);
        if only.is_empty() {
            continue;
        }
        full.push(format!("flags {} {place}", only.join(" ")));
        let mut first = only.clone();
        first.sort_by_key(|flag| weight(flag));
        first.truncate(MOST_FLAGS);
        left_out += only.len() - first.len();
        short.push(format!("flags {} {place}", first.join(" ")));
    }
    if left_out > 0 {
        short.push(format!("{} differ", plural(left_out, "more flag")));
    }
}

/// Words of one text that the other lacks, without the variable in front of the first of its words.
fn only_in<'a>(text: &'a str, other: &str) -> Vec<&'a str> {
    let others: Vec<&str> = other.split_whitespace().map(bare).collect();
    let mut only: Vec<&str> = Vec::new();
    for word in text.split_whitespace().map(bare) {
        let counts = !word.is_empty() && !word.contains('/') && !word.starts_with("CC=") && !is_diagnostic(word);
        if counts && !others.contains(&word) && !only.contains(&word) {
            only.push(word);
        }
    }
    only
}

/// The flag in `LDFLAGS=-Wl,--as-needed`; where it stands does not make it another.
fn bare(word: &str) -> &str {
    match word.split_once('=') {
        Some((name, flag)) if name.ends_with("FLAGS") => flag,
        _ => word,
    }
}

fn is_diagnostic(flag: &str) -> bool {
    flag.starts_with("-W") && !HANDED_ON.iter().any(|start| flag.starts_with(start))
}

/// Place in the order of what matters.
fn weight(flag: &str) -> usize {
    let is_of = |starts: &&[&str]| starts.iter().any(|start| flag.trim_start_matches("-Wp,").starts_with(start));
    FLAGS_THAT_MATTER.iter().position(is_of).unwrap_or(FLAGS_THAT_MATTER.len())
}

/// `gcc 7.5.0` of `gcc (Ubuntu 7.5.0-3ubuntu1~18.04) 7.5.0`, without packager, date and what made some parts.
fn name_and_version(compiler: &str) -> String {
    let main = compiler.split(';').next().unwrap_or_default();
    let (mut depth, mut kept) = (0_u32, String::new());
    for letter in main.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => kept.push(letter),
            _ => {}
        }
    }
    let is_date = |word: &&str| word.len() == 8 && word.chars().all(|c| c.is_ascii_digit());
    or_unknown(&kept.split_whitespace().filter(|word| !is_date(word)).collect::<Vec<_>>().join(" ")).to_owned()
}

fn or_unknown(text: &str) -> &str {
    if text.is_empty() { "unknown" } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(compiler: &str, flags: &str) -> BuildFacts {
        BuildFacts {
            compiler: compiler.to_owned(),
            flags: flags.to_owned(),
            ..BuildFacts::unknown(rqps_model::Engine::Postgres, "17.11".parse().unwrap())
        }
    }

    fn told(own: (&str, &str), base: (&str, &str)) -> Option<(String, Option<String>)> {
        let found = unlike(&build(own.0, own.1), &build(base.0, base.1))?;
        Some((found.cause, found.in_full))
    }

    fn check(own: (&str, &str), base: (&str, &str), message: &str, in_full: Option<&str>) {
        assert_eq!(told(own, base), Some((message.to_owned(), in_full.map(str::to_owned))));
    }

    #[test]
    fn compilers_are_told_by_name_and_version() {
        let check = |text: &str, expected: &str| assert_eq!(name_and_version(text), expected);
        check("gcc (Ubuntu 7.5.0-3ubuntu1~18.04) 7.5.0", "gcc 7.5.0");
        check(
            "GCC 12.1.1 20220628 (Red Hat 12.1.1-3); parts by GCC 8.5.0 20210514 (Red Hat 8.5.0-15.0.1)",
            "GCC 12.1.1",
        );
        check("Ubuntu clang version 14.0.0-1ubuntu1.1", "Ubuntu clang version 14.0.0-1ubuntu1.1");
        check("", "unknown");
    }

    #[test]
    fn two_packages_of_one_version_are_told_apart() {
        let (red_hat, ubuntu) = ("GCC 7.5.0 (Red Hat 7.5.0-1)", "GCC 7.5.0 (Ubuntu 7.5.0-3)");
        check((red_hat, ""), (ubuntu, ""), &format!("compiler {red_hat} instead of {ubuntu}"), None);
        check(
            ("", ""),
            (ubuntu, "-O2"),
            "compiler unknown instead of GCC 7.5.0; flags unknown here",
            Some(&format!("compiler unknown instead of {ubuntu}; flags unknown here")),
        );
    }

    #[test]
    fn of_many_flags_those_that_matter_are_named_and_the_rest_counted() {
        check(("", "-g -O3"), ("", "-O2 -g"), "flags -O3 only here; flags -O2 only on the base", None);
        let base = "-g -fexcess-precision=standard -fwrapv CPPFLAGS=-D_FORTIFY_SOURCE=2 -march=native -flto -DX -O2";
        check(
            ("", "CFLAGS=-Os -g LDFLAGS=-DX"),
            ("", base),
            "flags -Os only here; flags -O2 -march=native -flto only on the base; 3 more flags differ",
            Some(
                "flags -Os only here; flags -fexcess-precision=standard -fwrapv -D_FORTIFY_SOURCE=2 -march=native \
                 -flto -O2 only on the base",
            ),
        );
    }

    #[test]
    fn diagnostics_paths_and_places_make_no_other_build() {
        let own = "CC=gcc CFLAGS=-Wall -Wshadow=local -O2 LDFLAGS=-Wl,--as-needed -I/usr/include/x";
        assert_eq!(told(("gcc", own), ("gcc", "-O2 -Wl,--as-needed -ffile-prefix-map=/build/a=.")), None);
        check(("", "-O2 -Wl,-z,now"), ("", "-O2"), "flags -Wl,-z,now only here", None);
    }
}
