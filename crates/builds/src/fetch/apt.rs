//! Packages and sources of Debian releases, by apt.
//!
//! In: packages with their exact versions, the releases of Debian that have them, which need not be the machine's, and
//! where a mirror has their files. Out: the files, in the same order. The mirror is the one that the machine's own
//! configuration of apt names for its own release. Files are fetched by their places: a mirror keeps them longer than
//! its index names them, and an index would be fetched each time. It is asked where a file is gone, for what there is.
//! It must not touch the machine's package lists, and installs nothing.

use super::client::Client;
use super::package::Deb;
use crate::{BuildError, Result};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One line for each index that the machine's configuration names.
const TARGETS: [&str; 4] =
    ["indextargets", "--format", "$(REPO_URI)\t$(RELEASE)\t$(COMPONENT)\t$(SIGNED_BY)", "Identifier: Packages"];

/// The part of Debian that all packages come from.
const COMPONENT: &str = "main";

/// The archive keys of all releases of Debian, where the machine's own sources name no keyring.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// The program of apt that fetches a file as apt does, with its proxies and such. Its package is that of `apt-get`.
const HELPER: &str = "/usr/lib/apt/apt-helper";

/// Fetches all packages with one call of the client.
pub(super) fn fetch(architecture: &str, debs: &[Deb], path: &OsStr, folder: &Path) -> Result<Vec<PathBuf>> {
    download(&Kind::Binary { architecture }, debs, path, folder)
}

/// Fetches the archive of a source package and returns it; the packager's own changes stay where they are.
pub(super) fn fetch_source(source: &Deb, path: &OsStr, folder: &Path) -> Result<PathBuf> {
    let mut files = download(&Kind::Source, std::slice::from_ref(source), path, folder)?;
    Ok(files.remove(0))
}

/// What kind of packages is fetched.
enum Kind<'a> {
    Binary { architecture: &'a str },
    Source,
}

fn download(kind: &Kind<'_>, debs: &[Deb], path: &OsStr, folder: &Path) -> Result<Vec<PathBuf>> {
    let client = Client::find("apt-get", "apt", path, Deb::shortly(debs))?;
    let mirror = mirror(&client, folder)?;
    let file = |deb: &Deb| folder.join(deb.file.rsplit('/').next().unwrap_or(&deb.file));
    let helper = Client { name: "apt-helper", path: HELPER.into(), coordinate: client.coordinate.clone() };
    let mut command = helper.command(folder);
    command.env("LC_ALL", "C").args(["-q", "-o", "APT::Sandbox::User=root", "download-file"]);
    for deb in debs {
        // The third word would be a digest; that is checked by whoever asked.
        command.arg(mirror.address(&deb.file)).arg(file(deb)).arg("");
    }
    helper.run(&mut command).map_err(|error| {
        let BuildError::Fetch { output, .. } = &error else { return error };
        let missing: Vec<Deb> = debs.iter().filter(|deb| !file(deb).exists()).cloned().collect();
        if missing.is_empty() {
            return error;
        }
        let index = Index::make(&mirror, kind, &missing, folder).ok();
        match index.and_then(|index| index.offers(&client, &missing, folder)) {
            Some(offered) => client.failed(explained(output, &missing, &offered)),
            None => error,
        }
    })?;
    Ok(debs.iter().map(file).collect())
}

/// Where this machine's Debian comes from.
fn mirror(client: &Client, folder: &Path) -> Result<Mirror> {
    let os = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let targets = client.run(client.command(folder).args(TARGETS))?;
    Mirror::of(&targets, &os).ok_or_else(|| {
        client.failed(
            "this machine's apt has no Debian release among its sources; add one, or fetch the build elsewhere \
                       and name its folder"
                .to_owned(),
        )
    })
}

/// Where the machine's own Debian comes from.
#[derive(Debug, PartialEq, Eq)]
struct Mirror {
    uri: String,
    keyring: String,
}

impl Mirror {
    fn address(&self, file: &str) -> String {
        format!("{}/{file}", self.uri.trim_end_matches('/'))
    }

    /// The source of the machine's own release, as listed by `apt-get indextargets` and `/etc/os-release`.
    fn of(targets: &str, os: &str) -> Option<Mirror> {
        let release = os.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="))?.trim_matches('"');
        let names = [release, "stable", "testing", "unstable", "sid"];
        os.lines().find(|line| *line == "ID=debian")?;
        let rows = targets.lines().map(|line| line.split('\t').collect::<Vec<_>>());
        let (uri, keyring) = rows.into_iter().find_map(|row| match row[..] {
            [uri, release, COMPONENT, keyring] if names.contains(&release) => Some((uri, keyring)),
            _ => None,
        })?;
        // apt leaves the word as it is where the source names no keyring.
        let keyring = if keyring.starts_with('/') { keyring } else { KEYRING };
        Some(Mirror { uri: uri.to_owned(), keyring: keyring.to_owned() })
    }
}

/// An index of the releases that are needed, in a folder of our own.
struct Index {
    folder: PathBuf,
    /// Sources have none.
    architecture: Option<String>,
}

impl Index {
    fn make(mirror: &Mirror, kind: &Kind<'_>, debs: &[Deb], folder: &Path) -> Result<Index> {
        let (word, architecture) = match kind {
            Kind::Binary { architecture } => ("deb", Some((*architecture).to_owned())),
            Kind::Source => ("deb-src", None),
        };
        let index = Index { folder: folder.join("apt"), architecture };
        for name in ["parts", "state/lists/partial", "cache/archives/partial"] {
            let folder = index.folder.join(name);
            fs::create_dir_all(&folder).map_err(BuildError::at("create", &folder))?;
        }
        let suites: BTreeSet<&str> = debs.iter().map(|deb| deb.suite.as_str()).collect();
        let line = |suite: &str| format!("{word} [signed-by={}] {} {suite} {COMPONENT}\n", mirror.keyring, mirror.uri);
        let sources: String = suites.into_iter().map(line).collect();
        for (name, text) in [("sources.list", sources), ("status", String::new()), ("apt.conf", index.configuration())]
        {
            let file = index.folder.join(name);
            fs::write(&file, text).map_err(BuildError::at("write", &file))?;
        }
        Ok(index)
    }

    /// What makes apt work with this index alone, read after the machine's own configuration: its proxies and such stay
    /// in force, but not what it does after an update of its own index.
    fn configuration(&self) -> String {
        let folder = self.folder.display();
        let architecture = self.architecture.as_ref().map_or_else(String::new, |architecture| {
            format!("APT::Architecture \"{architecture}\";\n#clear APT::Architectures;\n")
        });
        format!(
            "Dir::Etc::sourcelist \"{folder}/sources.list\";\n\
             Dir::Etc::sourceparts \"{folder}/parts\";\n\
             Dir::State \"{folder}/state\";\n\
             Dir::State::status \"{folder}/status\";\n\
             Dir::Cache \"{folder}/cache\";\n\
             {architecture}\
             APT::Sandbox::User \"root\";\n\
             Acquire::Languages \"none\";\n\
             Acquire::IndexTargets::deb::DEP-11::DefaultEnabled \"false\";\n\
             // The index of a release that is no longer kept up has run out; the catalog's digests hold all the
             // same.\n\
             Acquire::Check-Valid-Until \"false\";\n\
             #clear APT::Update::Pre-Invoke;\n\
             #clear APT::Update::Post-Invoke;\n\
             #clear APT::Update::Post-Invoke-Success;\n"
        )
    }

    fn options<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.env("LC_ALL", "C").args(["-q", "-c"]).arg(self.folder.join("apt.conf"))
    }

    /// What the mirror has of these names, as `apt-cache madison` says it.
    fn offers(&self, client: &Client, debs: &[Deb], folder: &Path) -> Option<String> {
        client.run(self.options(&mut client.command(folder)).arg("update")).ok()?;
        let cache = client.path.with_file_name("apt-cache");
        let asker = Client { name: "apt-cache", path: cache, coordinate: client.coordinate.clone() };
        let names = debs.iter().map(|deb| deb.name.as_str());
        asker.run(self.options(&mut asker.command(folder)).arg("madison").args(names)).ok()
    }
}

/// Why packages could not be fetched, given what apt said and what the mirror has.
fn explained(said: &str, missing: &[Deb], offered: &str) -> String {
    let gone = what_is_gone(missing, offered);
    if gone.is_empty() {
        return format!("{said}; the mirror's index still names it: try again later, or with another mirror");
    }
    let remedy = "a release of what is there can stand in a catalog file of your own (~/.config/rqps/catalog/)";
    format!("{}; {remedy}", gone.join("; "))
}

/// Compares what is missing with lines such as `mariadb-server | 1:10.11.18-0+deb12u1 | URI bookworm/main …`.
fn what_is_gone(debs: &[Deb], offered: &str) -> Vec<String> {
    let rows: Vec<Vec<&str>> = offered.lines().map(|line| line.split('|').map(str::trim).collect()).collect();
    // The index may hold several releases of Debian, each with a version of its own.
    let is_in = |place: &str, suite: &str| place.split_whitespace().any(|w| w == format!("{suite}/{COMPONENT}"));
    let versions = |deb: &Deb| -> Vec<&str> {
        let of_deb = |row: &&Vec<&str>| row.len() > 2 && row[0] == deb.name && is_in(row[2], &deb.suite);
        rows.iter().filter(of_deb).map(|row| row[1]).collect()
    };
    let reason = |deb: &Deb| {
        let offered = versions(deb);
        let offers = if offered.is_empty() { "nothing of this name".to_owned() } else { offered.join(", ") };
        let text = format!("{} no longer offers {} {}; it has {offers}", deb.suite, deb.name, deb.version);
        (!offered.contains(&deb.version.as_str())).then_some(text)
    };
    debs.iter().filter_map(reason).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OS: &str = "ID=debian\nVERSION_CODENAME=bookworm\n";

    #[test]
    fn takes_the_mirror_of_the_machines_own_release() {
        let targets = "http://m/tools/\tbookworm-tools\tmain\t$(SIGNED_BY)\nhttp://m/debian/\tbookworm\tmain\t$(SIGNED_BY)\n\
                       http://m/security/\tbookworm-security\tmain\t$(SIGNED_BY)\n";
        let mirror = Mirror::of(targets, OS).expect("found");
        assert_eq!((mirror.uri.as_str(), mirror.keyring.as_str()), ("http://m/debian/", KEYRING));
        let own = Mirror::of("file:/d/\tstable\tmain\t/k.gpg\n", OS).expect("found");
        assert_eq!((own.uri.as_str(), own.keyring.as_str()), ("file:/d/", "/k.gpg"));
        assert_eq!(Mirror::of(targets, "ID=ubuntu\nVERSION_CODENAME=bookworm\n"), None);
        assert_eq!(Mirror::of("http://m/debian/\tbookworm\tcontrib\t\n", OS), None);
    }

    #[test]
    fn names_the_versions_that_are_gone_and_what_there_is() {
        let deb = |name: &str, version: &str| {
            let [name, version, suite] = [name, version, "bookworm"].map(str::to_owned);
            Deb { name, version, suite, file: String::new(), sha256: String::new() }
        };
        let debs = [deb("a", "1:1-1"), deb("b", "2"), deb("c", "3")];
        let offered = "   a | 1:1-2 | m bookworm/main amd64 Packages\n   a | 1:1-3 | m bookworm/main amd64 Packages\n \
                       a | 1:1-1 | m sid/main amd64 Packages\n b | 2 | m bookworm/main amd64 Packages\n";
        assert_eq!(
            what_is_gone(&debs, offered),
            [
                "bookworm no longer offers a 1:1-1; it has 1:1-2, 1:1-3",
                "bookworm no longer offers c 3; it has nothing of this name"
            ]
        );
        let there = explained("404 Not Found", &debs[1..2], offered);
        assert_eq!(there, "404 Not Found; the mirror's index still names it: try again later, or with another mirror");
    }
}
