//! Archives made to break out, and archives broken on the way.

use super::*;
use std::io::Write;
use tar::{Builder, Header};

/// One entry of an archive made here: its type, raw path, mode and link target or content.
type Raw<'a> = (EntryType, &'a str, u32, &'a str);

/// Writes paths into the header byte by byte, since the tar library itself refuses to write evil ones.
fn tar_of(entries: &[Raw<'_>]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (kind, path, mode, content) in entries {
        let mut header = Header::new_ustar();
        header.as_mut_bytes()[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(*kind);
        header.set_mode(*mode);
        let link = matches!(kind, EntryType::Symlink | EntryType::Link);
        if link {
            header.as_mut_bytes()[157..157 + content.len()].copy_from_slice(content.as_bytes());
        }
        let body = if link { "" } else { content };
        header.set_size(body.len() as u64);
        header.set_cksum();
        builder.append(&header, body.as_bytes()).expect("appended");
    }
    builder.into_inner().expect("a tar")
}

const FILE: EntryType = EntryType::Regular;
const LINK: EntryType = EntryType::Symlink;
const HARD: EntryType = EntryType::Link;

fn unpack(entries: &[Raw<'_>]) -> (tempfile::TempDir, Result<()>) {
    let outer = tempfile::tempdir().expect("a folder");
    fs::create_dir(outer.path().join("in")).expect("a folder");
    let result = unpack_tar(&tar_of(entries)[..], "a.tar", &outer.path().join("in"));
    (outer, result)
}

#[test]
fn unpacks_files_folders_and_links_with_plain_modes() {
    let (outer, result) = unpack(&[
        (EntryType::Directory, "./lib/", 0o700, ""),
        (FILE, "./lib/libx.so.1", 0o4600, "x"),
        (LINK, "./lib/libx.so", 0o777, "libx.so.1"),
        (LINK, "bin/up", 0o777, "../lib/libx.so"),
        (FILE, "bin/run", 0o700, "run"),
        (HARD, "bin/same", 0o644, "bin/run"),
    ]);
    result.expect("unpacked");
    let root = outer.path().join("in");
    assert_eq!(fs::read_to_string(root.join("bin/up")).expect("through two links"), "x");
    assert_eq!(fs::read_to_string(root.join("bin/same")).expect("the hard link"), "run");
    for (path, mode) in [("lib", 0o755), ("bin", 0o755), ("lib/libx.so.1", 0o644), ("bin/run", 0o755)] {
        let found = fs::metadata(root.join(path)).expect("there").permissions().mode() & 0o7777;
        assert_eq!(found, mode, "{path}");
    }
}

#[test]
fn refuses_what_would_leave_the_folder() {
    let cases: [(&str, &[Raw<'_>]); 12] = [
        ("leads out", &[(FILE, "../evil", 0o644, "x")]),
        ("leads out", &[(FILE, "a/../../evil", 0o644, "x")]),
        ("leads out", &[(FILE, "/tmp/rqps-evil", 0o644, "x")]),
        ("leads out", &[(LINK, "l", 0o777, "../evil")]),
        ("leads out", &[(LINK, "l", 0o777, "/etc/passwd")]),
        ("leads out", &[(LINK, "a/l", 0o777, "../../evil")]),
        // A name followed by `..` may pass through the first link and land outside.
        ("leads out", &[(LINK, "a/b/c", 0o777, "../.."), (LINK, "m", 0o777, "a/b/c/..")]),
        ("behind", &[(LINK, "a/b/c", 0o777, "../.."), (LINK, "a/b/c/l", 0o777, "../../..")]),
        ("behind", &[(LINK, "d", 0o777, "e"), (FILE, "d/evil", 0o644, "x")]),
        ("behind", &[(LINK, "d", 0o777, "e"), (FILE, "d", 0o644, "x")]),
        ("hard link that leads out", &[(HARD, "h", 0o644, "../secret")]),
        ("neither", &[(EntryType::Char, "dev", 0o644, "")]),
    ];
    for (reason, entries) in cases {
        let (outer, result) = unpack(entries);
        let error = result.expect_err(reason).to_string();
        assert!(error.contains(reason) && error.starts_with("refused to unpack a.tar"), "{error}");
        assert_eq!(fs::read_dir(outer.path()).expect("listed").count(), 1, "nothing beside the folder: {error}");
    }
    assert!(!Path::new("/tmp/rqps-evil").exists());
    let through = unpack(&[(LINK, "s", 0o777, "f"), (HARD, "h", 0o644, "s")]).1.expect_err("refused").to_string();
    assert!(through.contains("to or through a symbolic link"), "{through}");
}

fn jar_of(member: &str, tar: &[u8]) -> Vec<u8> {
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
    xz.write_all(tar).expect("compressed");
    let mut zip = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
    zip.start_file(member, zip::write::SimpleFileOptions::default()).expect("started");
    zip.write_all(&xz.finish().expect("an xz")).expect("written");
    zip.finish().expect("a zip").into_inner()
}

#[test]
fn a_jar_is_read_to_its_end_or_refused() {
    let text = "0123456789abcdef".repeat(4000);
    let jar = jar_of("p.txz", &tar_of(&[(FILE, "bin/postgres", 0o755, &text)]));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("p.jar");
    let unpacked = |bytes: &[u8], inner: &str| {
        fs::write(&path, bytes).expect("written");
        let into = tempfile::tempdir().expect("a folder");
        unpack_jar(&path, inner, into.path())
            .map(|()| fs::read_to_string(into.path().join("bin/postgres")).expect("there"))
    };
    assert_eq!(unpacked(&jar, "p.txz").expect("whole"), text);
    let other = unpacked(&jar, "q.txz").expect_err("no such member").to_string();
    assert!(other.contains("it holds p.txz"), "{other}");
    for cut in [0, 1, jar.len() / 2, jar.len() - 1] {
        let error = unpacked(&jar[..cut], "p.txz").expect_err("cut short");
        assert!(matches!(error, ServerError::BrokenArchive { .. }), "{cut}: {error}");
    }
    let mut flipped = jar.clone();
    flipped[jar.len() / 3] ^= 0xff;
    assert!(matches!(unpacked(&flipped, "p.txz"), Err(ServerError::BrokenArchive { .. })));
}
