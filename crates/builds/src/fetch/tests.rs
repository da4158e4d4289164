//! Clients that are missing, that fail, and what is quoted of them.

use super::client::reason;
use super::*;
use crate::BuildError;

fn packages() -> [Package; 3] {
    let [name, version, suite, file] = ["d", "1:2-3", "s", "pool/d_2-3_all.deb"].map(str::to_owned);
    let deb = Deb { name, version, suite, file, sha256: String::new() };
    [
        Package::Maven {
            group: "g".into(),
            artifact: "a".into(),
            version: "1.0".into(),
            packaging: "jar".into(),
            classifier: None,
        },
        Package::Npm { name: "n".into(), version: "2.0".into() },
        Package::Apt { architecture: "amd64".into(), debs: vec![deb] },
    ]
}

fn fetch_with(package: &Package, path: &Path) -> BuildError {
    let found = match package {
        Package::Maven { .. } => maven::fetch(package, path.as_os_str(), path).map(drop),
        Package::Npm { .. } => npm::fetch(package, path.as_os_str(), path).map(drop),
        Package::Apt { architecture, debs } => apt::fetch(architecture, debs, path.as_os_str(), path).map(drop),
    };
    found.expect_err("not to be had")
}

#[test]
fn a_missing_client_is_named_with_its_package() {
    let folder = tempfile::tempdir().expect("a folder");
    let clients = [("mvn", "maven", "g:a:1.0:jar"), ("npm", "npm", "n@2.0"), ("apt-get", "apt", "s:d=1:2-3")];
    for (package, (client, name, coordinate)) in packages().iter().zip(clients) {
        let error = fetch_with(package, folder.path()).to_string();
        let expected =
            format!("`{client}` is needed to fetch {coordinate}, and is not installed; install the package `{name}`");
        assert_eq!(error, expected);
    }
    let file = folder.path().join("f");
    let error = curl::fetch("http://u:secret@localhost:1/f", folder.path().as_os_str(), &file).expect_err("not there");
    let error = error.to_string();
    assert!(error.starts_with("`curl` is needed to fetch http://localhost:1/f,"), "{error}");
}

#[test]
fn a_failing_client_is_quoted() {
    let clients = [("mvn", "--batch-mode"), ("npm", "--ignore-scripts"), ("apt-get", "REPO_URI")];
    for (package, (client, word)) in packages().iter().zip(clients) {
        let folder = tempfile::tempdir().expect("a folder");
        // A client that does not know the words.
        std::os::unix::fs::symlink("/bin/ls", folder.path().join(client)).expect("a link");
        let error = fetch_with(package, folder.path()).to_string();
        assert!(error.starts_with(&format!("`{client}` could not fetch ")) && error.contains(word), "{error}");
    }
}

#[test]
fn a_failed_curl_is_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let missing = format!("file://{}/absent.tar.gz", folder.path().display());
    let error = fetch_url(&missing, &folder.path().join("f")).expect_err("not there").to_string();
    assert!(error.contains("curl") && error.contains("absent.tar.gz"), "{error}");
    let error = fetch_url("ftp://localhost/f", &folder.path().join("f")).expect_err("refused").to_string();
    assert!(error.contains("rotocol"), "{error}");
    // Nothing listens there.
    let refused = "http://u:secret@127.0.0.1:1/f\"\\";
    let error = fetch_url(refused, &folder.path().join("f")).expect_err("refused").to_string();
    assert!(error.contains("http://127.0.0.1:1/f") && !error.contains("secret"), "{error}");
}

#[test]
fn messages_of_clients_are_plain_and_useful() {
    let said = "[\u{1b}[1;31mERROR\u{1b}[m] Could not find artifact g:a -> [Help 1]\n[ERROR] \n\
                [ERROR] Re-run Maven using the -X switch\n[ERROR] [Help 1] somewhere\n";
    assert_eq!(reason(said), "Could not find artifact g:a");
    assert_eq!(reason("npm error code E404\nnpm error A complete log of this run\n"), "code E404");
    let said =
        "NOTICE: packaging is maintained elsewhere\nErr:1 x\n  404 Not Found\nE: Failed to fetch x  404\nE: Some\n";
    assert_eq!(reason(said), "Failed to fetch x  404; Some");
    assert_eq!(reason("\n"), "it gave no reason");
}
