//! No circle inside a crate: of two files that name each other, neither can be read, tested or moved without the other.
//!
//! In: the sources of a crate without its tests. Out: groups of files that reach each other, by `use` and by path. It
//! reads text and no syntax tree: `crate::`, `self::` and `super::` paths, the bare names of child modules, and
//! re-exports, which are followed to the file that they come from. A parent whose `mod child;` is all it says of a
//! child does not name it.

use super::{none, sources};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A module's path below its crate; the root is empty.
type Module = Vec<String>;

#[test]
fn no_circle_inside_a_crate() {
    let mut crates: BTreeMap<String, BTreeMap<Module, String>> = BTreeMap::new();
    for (path, text) in sources() {
        if let Some((name, module)) = module(&path) {
            crates.entry(name).or_default().insert(module, without_tests(&text));
        }
    }
    let circles = crates.iter().flat_map(|(name, files)| {
        circles(&edges(files)).into_iter().map(move |circle| {
            let shown: Vec<String> = circle.iter().map(shown).collect();
            format!("{name}: {}", shown.join(", "))
        })
    });
    none(circles.collect(), "files of a crate form no circle");
}

fn shown(module: &Module) -> String {
    if module.is_empty() { "root".to_owned() } else { module.join("::") }
}

/// The crate and module that a source file is; `None` for tests and programs.
fn module(path: &Path) -> Option<(String, Module)> {
    let parts: Vec<&str> = path.iter().map(|part| part.to_str().expect("UTF-8")).collect();
    let ["crates", name, "src", inner @ ..] = parts.as_slice() else { return None };
    let mut module: Module = inner.iter().map(|part| part.trim_end_matches(".rs").to_owned()).collect();
    if module.iter().any(|part| part == "tests" || part == "testing" || part == "simulation") {
        return None;
    }
    if matches!(module.last().map(String::as_str), Some("lib" | "main" | "mod")) {
        module.pop();
    }
    Some(((*name).to_owned(), module))
}

/// A file without comments and without the tests at its foot.
pub(crate) fn without_tests(text: &str) -> String {
    let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let foot = code
        .windows(2)
        .position(|pair| pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{'));
    code[..foot.unwrap_or(code.len())].join("\n")
}

/// Which file names which.
fn edges(files: &BTreeMap<Module, String>) -> BTreeMap<Module, BTreeSet<Module>> {
    let mut reexports: BTreeMap<Module, BTreeMap<String, Module>> = BTreeMap::new();
    for (module, text) in files {
        for path in uses(text, true).iter().map(|path| rooted(path)) {
            let (target, rest) = resolve(files, module, &path);
            if let Some(name) = rest.last() {
                reexports.entry(module.clone()).or_default().insert(name.clone(), target);
            }
        }
    }
    let named = |(module, text): (&Module, &String)| {
        let mut paths = uses(text, false);
        let text = &without_uses(text);
        paths.extend(inline_paths(text));
        let children = files.keys().filter(|file| file.len() == module.len() + 1 && file.starts_with(module));
        for child in children.filter_map(|child| child.last()) {
            if names(text, child) {
                paths.push(format!("self::{child}::item"));
            }
        }
        let targets = paths.iter().map(|path| {
            let (target, rest) = resolve(files, module, path);
            let moved = rest.first().and_then(|name| reexports.get(&target)?.get(name)).cloned();
            moved.unwrap_or(target)
        });
        (module.clone(), targets.filter(|target| target != module && files.contains_key(target)).collect())
    };
    files.iter().map(named).collect()
}

/// Whether `name::` stands in a text as the beginning of a path.
fn names(text: &str, name: &str) -> bool {
    let path = format!("{name}::");
    text.match_indices(&path).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        !before.is_some_and(|letter| letter.is_alphanumeric() || letter == '_' || letter == ':')
    })
}

fn rooted(path: &str) -> String {
    let is_rooted = ["crate::", "self::", "super::"].iter().any(|root| path.starts_with(root));
    if is_rooted { path.to_owned() } else { format!("self::{path}") }
}

/// The paths of `use` items, one for each name; of public ones (re-exports) or of all others.
fn uses(text: &str, public: bool) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("use ") {
        let line = rest[..at].rsplit('\n').next().unwrap_or_default().trim();
        let item = &rest[at + 4..rest[at..].find(';').map_or(rest.len(), |end| at + end)];
        rest = &rest[at + 4..];
        let is_item = line.is_empty() || (line.starts_with("pub") && !line.contains(' '));
        if is_item && line.starts_with("pub") == public {
            let item: String = item.replace(" as ", "@").split_whitespace().collect();
            expand("", &item, &mut found);
        }
    }
    found.retain(|path| public || path == &rooted(path));
    found
}

/// A file without its `use` items: what is only handed on is not used.
fn without_uses(text: &str) -> String {
    let mut is_use = false;
    let mut kept = String::new();
    for line in text.lines() {
        let start = line.trim_start().trim_start_matches("pub(crate) ").trim_start_matches("pub ");
        is_use |= start.starts_with("use ");
        if !is_use {
            kept.push_str(line);
            kept.push('\n');
        }
        is_use &= !line.contains(';');
    }
    kept
}

/// Multiplies out the braces of a `use`.
fn expand(prefix: &str, item: &str, found: &mut Vec<String>) {
    let (mut depth, mut from) = (0, 0);
    let mut parts = Vec::new();
    for (at, letter) in item.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => parts.push(&item[std::mem::replace(&mut from, at + 1)..at]),
            _ => {}
        }
    }
    parts.push(&item[from..]);
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        match part.split_once('{') {
            Some((head, tail)) => expand(&format!("{prefix}{head}"), tail.trim_end_matches('}'), found),
            None => found.push(format!("{prefix}{}", part.split('@').next().unwrap_or(part))),
        }
    }
}

/// Paths in the code itself, such as `crate::verdict::judge`.
fn inline_paths(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for root in ["crate::", "super::"] {
        for (at, _) in text.match_indices(root) {
            let path: String = text[at..].chars().take_while(|c| c.is_alphanumeric() || "_:".contains(*c)).collect();
            if !text[..at].ends_with("::") && !text[..at].ends_with("use ") {
                found.push(path);
            }
        }
    }
    found
}

/// The file that a path leads to, and what is left of it inside.
fn resolve(files: &BTreeMap<Module, String>, from: &Module, path: &str) -> (Module, Vec<String>) {
    let mut rest: Vec<String> = path.split("::").map(str::to_owned).collect();
    let mut module = from.clone();
    match rest.first().map(String::as_str) {
        Some("crate") => module.clear(),
        Some("super") => _ = module.pop(),
        _ => {}
    }
    rest.remove(0);
    while rest.first().is_some_and(|part| part == "super") {
        module.pop();
        rest.remove(0);
    }
    while let Some(next) = rest.first() {
        let inner: Module = module.iter().chain([next]).cloned().collect();
        if !files.contains_key(&inner) {
            break;
        }
        module = inner;
        rest.remove(0);
    }
    (module, rest)
}

/// Groups of two and more files that reach each other.
fn circles(edges: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<BTreeSet<Module>> {
    let reach = |from: &Module| {
        let mut reached: BTreeSet<Module> = BTreeSet::new();
        let mut next: Vec<&Module> = edges[from].iter().collect();
        while let Some(module) = next.pop() {
            if reached.insert(module.clone()) {
                next.extend(&edges[module]);
            }
        }
        reached
    };
    let reached: BTreeMap<&Module, BTreeSet<Module>> = edges.keys().map(|module| (module, reach(module))).collect();
    let circle = |module: &Module| -> BTreeSet<Module> {
        reached[module].iter().filter(|other| reached[other].contains(module)).cloned().collect()
    };
    let all: BTreeSet<BTreeSet<Module>> = edges.keys().map(circle).filter(|circle| circle.len() > 1).collect();
    all.into_iter().collect()
}

#[test]
fn a_circle_is_found_through_braces_reexports_and_children() {
    let file = |module: &str, text: &str| {
        (module.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect::<Module>(), text.to_owned())
    };
    let found = |files: &[(Module, String)]| {
        let circles = circles(&edges(&files.iter().cloned().collect()));
        circles.iter().map(|circle| circle.iter().map(shown).collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
    };
    let through_braces = [
        file("", "pub use b::B;\nmod a;\nmod b;"),
        file("a", "use crate::{\n    B,\n    c::{C, D},\n};"),
        file("b", "fn f() { crate::a::go() }"),
        file("c", ""),
    ];
    assert_eq!(found(&through_braces), ["a b"]);
    let parent_and_child = [file("", ""), file("a", "mod x;\nfn f() { x::go() }"), file("a::x", "use super::Thing;")];
    assert_eq!(found(&parent_and_child), ["a a::x"]);
    let parent_that_only_has_it = [file("", ""), file("a", "mod x;\nstruct Thing;"), file("a::x", "use super::Thing;")];
    assert_eq!(found(&parent_that_only_has_it), [""; 0]);
}
